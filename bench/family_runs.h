// One solver on one family of problems: cold, warm and in sequences, judged and timed.
//
// A problem counts as solved if the judge's error (problem/judge.h) is within the tolerance.
// Every solve is repeated from the same start: the time is the smallest, the answers must agree bit for bit. Times are
// CPU times of the thread: what others do on the machine does not count.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "sarrus/math/statistics.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::bench {

struct Measured {
  std::uint64_t seed = 0;
  int step = 0;  // of a sequence
  SolveStatus status = SolveStatus::max_iterations;
  int factorisations = 0;
  int iterations = 0;
  double microseconds = std::numeric_limits<double>::infinity();
  double natural_map = 0;
  double error = 0;  // the judge's
  bool solved = false;
  bool repeatable = true;
};

struct Protocol {
  double tolerance = 1e-9;
  int repeats = 3;
  SolverParameters parameters;
};

// Those that the solver has.
inline SolverParameters parameters_of(const SolverInfo& info, const SolverParameters& given) {
  SolverParameters out;
  for (const ParameterInfo& p : info.parameters) {
    const auto found = given.find(p.name);
    if (found != given.end()) out.insert(*found);
  }
  return out;
}

inline double cpu_microseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

// Same numbers and same counts; NaN never equals itself, so bits are compared.
inline bool identical(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

class Runner {
 public:
  Runner(const SolverInfo& info, const Protocol& protocol)
      : info_(info), protocol_(protocol), solver_(make_solver(info.id, parameters_of(info, protocol.parameters))) {}

  Measured cold(const ConstraintProblem& problem, std::uint64_t seed) {
    Measured best;
    for (int i = 0; i < protocol_.repeats; ++i) {
      solver_->reset();
      lambda_.assign(static_cast<std::size_t>(problem.rows()), 0.0);
      take(best, i, first_lambda_, solve(problem));
    }
    best.seed = seed;
    return best;
  }

  Measured warm(const WarmPair& pair, std::uint64_t seed) {
    Measured best;
    for (int i = 0; i < protocol_.repeats; ++i) {
      solver_->reset();
      lambda_.assign(static_cast<std::size_t>(pair.first.rows()), 0.0);
      solve(pair.first);
      take(best, i, first_lambda_, solve(pair.second));
    }
    best.seed = seed;
    return best;
  }

  std::vector<Measured> sequence(const std::vector<ConstraintProblem>& steps, std::uint64_t seed) {
    std::vector<Measured> best(steps.size());
    std::vector<std::vector<double>> first(steps.size());
    for (int i = 0; i < protocol_.repeats; ++i) {
      solver_->reset();
      lambda_.assign(static_cast<std::size_t>(steps.front().rows()), 0.0);
      for (std::size_t k = 0; k < steps.size(); ++k) {
        take(best[k], i, first[k], solve(steps[k]));
        best[k].seed = seed;
        best[k].step = static_cast<int>(k);
      }
    }
    return best;
  }

 private:
  // From lambda_ to lambda_.
  Measured solve(const ConstraintProblem& problem) {
    const double start = cpu_microseconds();
    const SolveReport report = solver_->solve(problem, protocol_.tolerance, lambda_);
    const double end = cpu_microseconds();
    const Residuals r = judge(problem, lambda_, judge_);
    Measured m;
    m.microseconds = end - start;
    m.status = report.status;
    m.factorisations = report.factorisations;
    m.iterations = report.iterations;
    m.natural_map = r.natural_map_of(info_.law);
    m.error = r.error(info_.law);
    if (!r.finite) m.natural_map = m.error = std::numeric_limits<double>::infinity();
    m.solved = meets(r, info_.law, protocol_.tolerance);
    return m;
  }

  void take(Measured& best, int repeat, std::vector<double>& first, const Measured& now) const {
    if (repeat == 0) {
      best = now;
      first = lambda_;
      return;
    }
    best.microseconds = std::min(best.microseconds, now.microseconds);
    best.repeatable = best.repeatable && identical(first, lambda_) && best.iterations == now.iterations &&
                      best.factorisations == now.factorisations && best.status == now.status;
  }

  const SolverInfo& info_;
  Protocol protocol_;
  std::unique_ptr<Solver> solver_;
  JudgeWorkspace judge_;
  std::vector<double> lambda_;
  std::vector<double> first_lambda_;
};

enum class Mode : std::uint8_t { cold, warm, sequence };
inline constexpr Mode kModes[] = {Mode::cold, Mode::warm, Mode::sequence};
inline std::string_view name_of(Mode mode) {
  constexpr std::string_view kNames[] = {"cold", "warm", "sequence"};
  return kNames[static_cast<std::size_t>(mode)];
}

// All solves of one family by one solver in one mode.
struct Batch {
  std::string family;
  std::string solver;
  Mode mode = Mode::cold;
  std::vector<Measured> runs;
};

struct Summary {
  std::size_t count = 0;
  int solved = 0;
  double factorisations[2] = {};  // median, p90
  double iterations[2] = {};
  double microseconds[2] = {};
  double worst = 0;
};

inline Summary summarise(const std::vector<Measured>& runs) {
  Summary s;
  std::vector<double> factorisations;
  std::vector<double> iterations;
  std::vector<double> microseconds;
  s.count = runs.size();
  for (const Measured& m : runs) {
    s.solved += m.solved;
    s.worst = std::max(s.worst, m.error);
    factorisations.push_back(m.factorisations);
    iterations.push_back(m.iterations);
    microseconds.push_back(m.microseconds);
  }
  constexpr double kQuantiles[2] = {0.5, 0.9};
  for (int i = 0; i < 2; ++i) {
    s.factorisations[i] = percentile(factorisations, kQuantiles[i]);
    s.iterations[i] = percentile(iterations, kQuantiles[i]);
    s.microseconds[i] = percentile(microseconds, kQuantiles[i]);
  }
  return s;
}

}  // namespace sarrus::bench
