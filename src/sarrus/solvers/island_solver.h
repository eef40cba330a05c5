// Solves the islands of a problem, the connected components of its node graph, one by one or on threads
// (docs/theory/newton.md §1), and has the whole answer judged.
//
// An island is solved from its own data alone: the result does not depend on the other islands, on the thread or on the
// number of threads, so the bits are the same for any of them.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>

#include "sarrus/solvers/ncp_problem.h"
#include "sarrus/solvers/normal_matrix.h"
#include "sarrus/solvers/solver.h"

namespace sarrus {

// What all stages of one solve of one island share: the problem, the factorisation, the goal, the budget, and the one
// best iterate, updated by every iterate that any stage evaluates.
class NcpSearch {
 public:
  NcpProblem problem;
  NormalMatrix system;

  // Begins a solve of `problem`, which must be loaded. `budget`: factorisations allowed.
  void begin(const Goal& goal, int budget) {
    goal_ = goal;
    budget_ = budget;
    timed_ = goal.timed();
    problem.criterion = goal.criterion;
    system.prepare(problem);
    system.reset_count();
    for (GrowingVector* v : {&best_, &answer_, &projected_, &sigma_}) v->resize(problem.rows());
    for (GrowingVector* v : {&u_, &scratch_}) v->resize(problem.padded_size());
    best_.setZero();
    best_error_ = answer_error_ = std::numeric_limits<double>::infinity();
    converged_ = false;
    iterations = 0;
    attempts = 0;
    truncated = false;
    enter(0, {});
  }

  // An iterate and its error. What counts is its projection on K, which is what a solver returns: where bodies are
  // light a projection by 1e-9 N s may change velocities by 1e-6 m/s. True if the projection meets the goal.
  bool offer(const GrowingVector& lambda, double error) {
    if (error < best_error_) {
      best_error_ = error;
      best_ = lambda;
    }
    if (!(error < answer_error_)) return false;
    projected_ = lambda;
    problem.project(projected_);
    if (projected_ != lambda) error = evaluate(projected_);
    if (!(error < answer_error_)) return false;
    answer_ = projected_;
    answer_error_ = error;
    if (!goal_.met_by(error)) return false;
    best_ = answer_;
    best_error_ = error;
    converged_ = true;
    return true;
  }
  // The error of lambda; leaves its velocities, and memory of their size.
  double evaluate(const GrowingVector& lambda) {
    const double size = problem.evaluate(lambda, u_, sigma_, scratch_);
    return problem.error(lambda, sigma_, size);
  }
  GrowingVector& velocities() { return u_; }
  GrowingVector& scratch() { return scratch_; }
  // Evaluates and offers.
  bool consider(const GrowingVector& lambda) {
    last_error_ = evaluate(lambda);
    return offer(lambda, last_error_);
  }
  const Goal& goal() const { return goal_; }
  bool converged() const { return converged_; }
  double last_error() const { return last_error_; }  // of the last consider()
  bool exhausted() const { return system.factorisations() >= budget_ || (timed_ && goal_.out_of_time()); }
  bool done() const { return converged() || exhausted(); }
  bool found() const { return std::isfinite(answer_error_); }
  const GrowingVector& best() const { return best_; }      // for stages to start from; it may be outside of K
  const GrowingVector& answer() const { return answer_; }  // the best projection; there is one if found()
  double best_error() const { return best_error_; }

  int iterations = 0;
  int attempts = 0;        // of the semismooth Newton method
  bool truncated = false;  // the method stopped at an iteration limit of its own
  // Of a method with stages: rank and name of the last one entered.
  void enter(int rank, std::string_view name) {
    stage = rank;
    stage_name = name;
  }
  int stage = 0;
  std::string_view stage_name;

 private:
  Goal goal_;
  int budget_ = 0;
  bool timed_ = false;
  bool converged_ = false;
  GrowingVector best_, answer_, projected_;
  double best_error_ = 0, answer_error_ = 0, last_error_ = 0;
  GrowingVector u_, sigma_, scratch_;
};

// A method for one island. Each thread has an object of its own, for its memory: what a solve leaves in it must not
// change the next one.
class IslandMethod {
 public:
  virtual ~IslandMethod() = default;
  // From lambda (scaled, in K; zero: cold) on; every evaluated iterate is offered to `search`, whose best one counts.
  virtual void solve(NcpSearch& search, GrowingVector& lambda) = 0;
};

struct IslandOptions {
  int threads = 1;
  int budget = 0;      // factorisations per island; 0: the goal's
  Law law = Law::ncp;  // ncp or ccp
  // First try to eliminate the linear rows (reduction.h); the method has what that does not solve. For the law ncp and
  // the criterion energy.
  bool reduce = false;
};

std::unique_ptr<Solver> make_island_solver(std::function<std::unique_ptr<IslandMethod>()> make_method,
                                           const IslandOptions& options);

}  // namespace sarrus
