// What all stages of one solve of one island share: the problem, the factorisation, the tolerance, the budget, and the
// one best iterate, updated by every iterate that any stage evaluates (spec/newton.md §6).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "sarrus/solvers/ncp_problem.h"
#include "sarrus/solvers/ncp_system.h"

namespace sarrus {

class NcpSearch {
 public:
  NcpProblem problem;
  NcpSystem system;

  // Begins a solve of `problem`, which must be loaded. `budget`: factorisations allowed.
  void begin(double tolerance, int budget) {
    tolerance_ = tolerance;
    budget_ = budget;
    system.prepare(problem);
    system.reset_count();
    for (GrowingVector* v : {&best_, &answer_, &projected_, &sigma_}) v->resize(problem.rows());
    for (GrowingVector* v : {&u_, &scratch_}) v->resize(problem.padded_size());
    best_.setZero();
    best_residual_ = {std::numeric_limits<double>::infinity(), 1.0};
    found_ = false;
    converged_ = false;
    iterations = 0;
    attempts = 0;
    truncated = false;
    enter(0, {});
  }

  // An evaluated iterate. What counts is its projection on K, which is what a solver returns: where bodies are light a
  // projection by 1e-9 N s may change velocities by 1e-6 m/s. True if the projection meets the tolerance.
  bool offer(const GrowingVector& lambda, const NcpResidual& residual) {
    if (!std::isfinite(residual.natural)) return false;
    if (residual.relative() < best_residual_.relative()) {
      best_residual_ = residual;
      best_ = lambda;
    }
    if (found_ && residual.relative() >= answer_residual_.relative()) return false;
    projected_ = lambda;
    problem.project(projected_);
    const NcpResidual judged = projected_ == lambda ? residual : evaluate(projected_);
    if (!std::isfinite(judged.natural) || (found_ && judged.relative() >= answer_residual_.relative())) return false;
    found_ = true;
    answer_ = projected_;
    answer_residual_ = judged;
    if (!meets(judged)) return false;
    best_ = answer_;
    best_residual_ = judged;
    converged_ = true;
    return true;
  }
  // Evaluates and offers.
  bool consider(const GrowingVector& lambda) {
    last_residual_ = evaluate(lambda);
    return offer(lambda, last_residual_);
  }
  double tolerance() const { return tolerance_; }
  bool converged() const { return converged_; }
  const NcpResidual& last_residual() const { return last_residual_; }  // of the last consider()
  bool exhausted() const { return system.factorisations() >= budget_; }
  bool done() const { return converged() || exhausted(); }
  bool found() const { return found_; }
  const GrowingVector& best() const { return best_; }      // for stages to start from; it may be outside of K
  const GrowingVector& answer() const { return answer_; }  // the best projection; there is one if found()
  const NcpResidual& best_residual() const { return best_residual_; }
  // Absolute thresholds of the method are meant for numbers around 1; smaller problems need smaller ones.
  double threshold(double value, const GrowingVector& lambda) const {
    return value * std::min(1.0, problem.raw_size(lambda));
  }

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
  bool meets(const NcpResidual& residual) const { return residual.natural <= tolerance_ * residual.scale; }
  NcpResidual evaluate(const GrowingVector& lambda) {
    problem.evaluate(lambda, u_, sigma_, scratch_);
    return problem.residual(lambda, sigma_);
  }

  double tolerance_ = 0;
  int budget_ = 0;
  bool found_ = false;
  bool converged_ = false;
  GrowingVector best_, answer_, projected_;
  NcpResidual best_residual_, answer_residual_;
  NcpResidual last_residual_;
  GrowingVector u_, sigma_, scratch_;
};

}  // namespace sarrus
