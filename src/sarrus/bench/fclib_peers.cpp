// Siconos and our default solver on FCLIB problems.
//
// Siconos is given the local problem u = W r + q of the contacts, made from the same constraint problem that our
// solvers get: W = D_cc - D_ce D_ee^-1 D_ec and q = v_c - D_ce D_ee^-1 v_e with the equality rows e eliminated, whose
// impulses -D_ee^-1 (v_e + D_ec r) go back into the answer before it is judged. D = J M^-1 J' + R, v = J u_f + v*.
// Exchange by number files (trajectory.h):
//   problem   header: contacts, solver, tolerance; numbers: mu by contact, q, W column by column, order (n, t1, t2)
//   answer    header: seconds, iterations, info (Siconos' own verdict, 0 = converged); numbers: r
// Siconos measures its error by another norm: it is asked for `tolerance`, and if the judge is not content, for
// tolerance / 100 and tolerance / 10^4. Its first answer that passes counts, with the time of that call alone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sarrus/bench/child_process.h"
#include "sarrus/bench/peers.h"
#include "sarrus/math/dense.h"
#include "sarrus/math/error.h"
#include "sarrus/problem/judge.h"
#include "sarrus/problem_files/fclib_file.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

constexpr int kRepeats = 5;            // of a solve; the shortest time counts
constexpr double kRepeatBudget = 0.5;  // s, no further repeat after this

struct LocalProblem {
  int contacts = 0;
  int equalities = 0;
  std::vector<double> mu;
  MatX W;
  VecX q;
  // Impulses of the equalities: -(l_e + L_ec r), of the impulses r of the contacts, [L_ec l_e] = D_ee^-1 [D_ec v_e].
  MatX L_ec;
  VecX l_e;
};

// Row of our contact rows [t1, t2, n] for component j of (n, t1, t2).
Eigen::Index ours(Eigen::Index i) { return 3 * (i / 3) + (i % 3 == 0 ? 2 : i % 3 - 1); }

LocalProblem make_local(const ConstraintProblem& p) {
  LocalProblem out;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::contact) out.mu.push_back(b.mu);
  }
  out.contacts = static_cast<int>(out.mu.size());
  out.equalities = p.rows() - 3 * out.contacts;
  const Eigen::Index e = out.equalities;
  const Eigen::Index c = 3 * out.contacts;
  const MatX D = p.dense_D_plus_R();
  VecX v(p.rows());
  p.multiply_J(p.u_free, v);
  for (Eigen::Index i = 0; i < v.size(); ++i) v[i] += p.bias[static_cast<std::size_t>(i)];
  MatX W = D.bottomRightCorner(c, c);
  VecX q = v.tail(c);
  if (e > 0) {
    const MatX D_ec = D.topRightCorner(e, c);
    MatX right(e, c + 1);
    right << D_ec, v.head(e);
    const MatX solution = solve_semidefinite(D.topLeftCorner(e, e), right);
    out.L_ec = solution.leftCols(c);
    out.l_e = solution.col(c);
    W -= D_ec.transpose() * out.L_ec;
    q -= D_ec.transpose() * out.l_e;
  }
  out.W.resize(c, c);
  out.q.resize(c);
  for (Eigen::Index k = 0; k < c; ++k) {
    for (Eigen::Index i = 0; i < c; ++i) out.W(i, k) = W(ours(i), ours(k));
    out.q[k] = q[ours(k)];
  }
  return out;
}

std::vector<double> to_lambda(const LocalProblem& local, const std::vector<double>& r) {
  VecX contact(static_cast<Eigen::Index>(r.size()));
  for (Eigen::Index i = 0; i < contact.size(); ++i) contact[ours(i)] = r[static_cast<std::size_t>(i)];
  std::vector<double> lambda;
  if (local.equalities > 0) {
    const VecX l = -(local.l_e + local.L_ec * contact);
    lambda.assign(l.data(), l.data() + l.size());
  }
  lambda.insert(lambda.end(), contact.data(), contact.data() + contact.size());
  return lambda;
}

void judge_answer(const ConstraintProblem& p, const std::vector<double>& lambda, double tolerance, FclibRun& run) {
  JudgeWorkspace workspace;
  const Residuals r = judge(p, lambda, workspace);
  run.error = r.finite ? r.error() : std::numeric_limits<double>::infinity();
  run.success = r.finite && run.error <= tolerance;
}

void solve_ours(const ConstraintProblem& p, double tolerance, FclibRun& run) {
  using Clock = std::chrono::steady_clock;
  run.solver = SimulationOptions{}.solver;
  const std::unique_ptr<Solver> solver = make_solver(run.solver);
  std::vector<double> lambda;
  run.seconds = std::numeric_limits<double>::infinity();
  const Clock::time_point start = Clock::now();
  const auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  for (int i = 0; i < kRepeats && (i == 0 || since(start) < kRepeatBudget); ++i) {
    lambda.assign(static_cast<std::size_t>(p.rows()), 0.0);
    solver->reset();
    const Clock::time_point begin = Clock::now();
    const SolveReport report = solver->solve(p, tolerance, lambda);
    run.seconds = std::min(run.seconds, since(begin));
    run.iterations = report.iterations;
  }
  run.status = "ok";
  judge_answer(p, lambda, tolerance, run);
}

void save_local(const fs::path& path, const LocalProblem& local, const std::string& solver, double tolerance) {
  NumberFile file;
  file.header = nlohmann::json{{"contacts", local.contacts},
                               {"solver", solver},
                               {"tolerance", tolerance},
                               {"repeats", kRepeats},
                               {"repeat_budget", kRepeatBudget}}
                    .dump();
  file.numbers = local.mu;
  file.numbers.insert(file.numbers.end(), local.q.data(), local.q.data() + local.q.size());
  file.numbers.insert(file.numbers.end(), local.W.data(), local.W.data() + local.W.size());
  save_numbers(path, file);
}

enum class Called { no_answer, gave_up, content };

// One call, and whether Siconos itself is content.
Called call_siconos(const fs::path& program, const ConstraintProblem& p, const LocalProblem& local, double asked,
                    const FclibOptions& options, FclibRun& run) {
  const ScratchFolder scratch;
  const fs::path input = scratch.path() / "problem";
  const fs::path output = scratch.path() / "answer";
  const std::string prefix = "siconos ";
  save_local(input, local, run.solver.substr(prefix.size()), asked);
  const ChildResult child = run_child(program, {input.string(), output.string()}, options.timeout, scratch.path());
  if (!child.ok) {
    run.status = child.status + (child.message.empty() ? "" : ": " + child.message);
    return Called::no_answer;
  }
  try {
    const NumberFile file = load_numbers(output);
    const nlohmann::json header = nlohmann::json::parse(file.header);
    if (file.numbers.size() != 3 * local.mu.size()) throw InputError("answer", "has another size than the problem");
    run.seconds = header.at("seconds").get<double>();
    run.iterations = header.at("iterations").get<double>();
    run.status = "ok";
    judge_answer(p, to_lambda(local, file.numbers), options.tolerance, run);
    return header.at("info").get<int>() == 0 ? Called::content : Called::gave_up;
  } catch (const std::exception& e) {
    run.status = fmt::format("unreadable answer: {}", e.what());
    return Called::no_answer;
  }
}

void solve_siconos(const fs::path& program, const ConstraintProblem& p, const LocalProblem& local,
                   const FclibOptions& options, FclibRun& run) {
  if (program.empty()) {
    run.status = "not found: no program sarrus-peer-siconos; make bench-peers builds it";
    return;
  }
  FclibRun best = run;
  bool any = false;
  for (const double asked : {options.tolerance, 1e-2 * options.tolerance, 1e-4 * options.tolerance}) {
    FclibRun attempt = run;
    const Called called = call_siconos(program, p, local, asked, options, attempt);
    if (!any || attempt.error < best.error) best = attempt;
    any = true;
    // Who did not get there will not get further.
    if (attempt.success || called != Called::content) break;
  }
  run = best;
}

std::vector<fs::path> problem_files(const FclibOptions& options) {
  std::error_code error;
  if (!fs::is_directory(options.folder, error)) {
    throw InputError("--fclib " + options.folder.string(),
                     "there is no such folder; give that of the FCLIB collection");
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(options.folder)) {
    if (entry.path().extension() != ".hdf5" || !entry.is_regular_file()) continue;
    if (!options.quick || entry.file_size() <= 100000) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<FclibRun> run_fclib_peers(const FclibOptions& options, const PeerProgress& progress) {
  const fs::path program = find_peer("siconos", options.programs);
  const std::vector<fs::path> files = problem_files(options);
  std::vector<FclibRun> runs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = fs::relative(files[i], options.folder).replace_extension().string();
    if (progress) progress(static_cast<int>(i), static_cast<int>(files.size()), name);
    FclibProblem loaded;
    try {
      loaded = load_fclib(files[i]);
    } catch (const InputError&) {
      continue;  // 2D, rolling friction: not the problem that these solvers solve
    }
    const ConstraintProblem& p = loaded.stored.problem;
    FclibRun run;
    run.problem = name;
    run.contacts = loaded.info.contacts;
    run.equalities = loaded.info.equalities;
    FclibRun mine = run;
    solve_ours(p, options.tolerance, mine);
    runs.push_back(mine);
    const LocalProblem local = make_local(p);
    for (const char* solver : {"siconos NSGS", "siconos NSN-AC", "siconos ADMM"}) {
      FclibRun theirs = run;
      theirs.solver = solver;
      solve_siconos(program, p, local, options, theirs);
      runs.push_back(theirs);
    }
  }
  return runs;
}

}  // namespace sarrus
