#include "sarrus/solvers/splitting.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <limits>

namespace sarrus {
namespace {

using SmallMatrix = SweepRows::SmallMatrix;

double inverse_or_zero(double x) { return x > 0 ? 1.0 / x : 0.0; }

// (D_kk + R_k)^-1, of a singular block shifted by 1e-12 of its trace.
SmallMatrix block_inverse(const SmallMatrix& D) {
  const auto n = D.rows();
  const double trace = D.trace();
  Eigen::LDLT<SmallMatrix> ldlt(D);
  if (ldlt.info() != Eigen::Success || !(ldlt.vectorD().minCoeff() > 1e-13 * trace)) {
    ldlt.compute(D + (1e-12 * trace) * SmallMatrix::Identity(n, n));
  }
  SmallMatrix inverse = ldlt.solve(SmallMatrix::Identity(n, n));
  if (!inverse.allFinite()) inverse.setZero();
  return inverse;
}

// Of a positive semidefinite matrix, so that padding with zeros changes nothing.
double largest_eigenvalue(const SmallMatrix& D) {
  static_assert(kMaxBlockRows == 6);
  Mat6 padded = Mat6::Zero();
  padded.topLeftCorner(D.rows(), D.cols()) = D;
  return Eigen::SelfAdjointEigenSolver<Mat6>(padded, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

}  // namespace

void project_on_cones(const ConstraintProblem& p, std::span<double> lambda) {
  for (const ConstraintBlock& b : p.blocks) {
    for (int i = b.row; i < b.row + b.rows; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (b.kind == BlockKind::soft) lambda[k] = project_interval(lambda[k], p.lower[k], p.upper[k]);
      if (b.kind == BlockKind::limit) lambda[k] = std::max(0.0, lambda[k]);
    }
    if (b.kind == BlockKind::contact) {
      Eigen::Map<Vec3> l(lambda.data() + b.row);
      l = project_cone(l, b.mu);
    }
  }
}

// --- data of the sweeps ----------------------------------------------------------------------------------

void SweepState::resize(const ConstraintProblem& p) {
  lambda.resize(p.rows());
  w.resize(p.velocity_size());
}

void SweepState::prepare(const ConstraintProblem& p, SweepOrder order, bool exact_joints) {
  load(p);
  contacts_.clear();
  inverse_.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) prepare_block(blocks[i], p.blocks[i].mu, exact_joints);
  if (order == SweepOrder::bottom_up) sort_contacts(p);
}

void SweepState::prepare_block(SweepBlock& b, double mu, bool exact_joints) {
  const SmallMatrix D = diagonal_block(b);
  if (b.kind == BlockKind::contact) {
    b.local = static_cast<int>(contacts_.size());
    contacts_.emplace_back().set(D, mu);
    return;
  }
  b.local = static_cast<int>(inverse_.size());
  if (b.kind != BlockKind::joint) {
    for (int r = 0; r < b.rows; ++r) inverse_.push_back(inverse_or_zero(D(r, r)));
    return;
  }
  const SmallMatrix inverse =
      exact_joints ? block_inverse(D)
                   : SmallMatrix(inverse_or_zero(largest_eigenvalue(D)) * SmallMatrix::Identity(b.rows, b.rows));
  inverse_.insert(inverse_.end(), inverse.data(), inverse.data() + inverse.size());
}

// Levels grow from the nodes that touch the world, until nothing changes; counting sort, since std::stable_sort would
// allocate.
void SweepState::sort_contacts(const ConstraintProblem& p) {
  constexpr int kFar = std::numeric_limits<int>::max();
  node_level_.assign(p.node_size.size(), kFar);
  block_level_.assign(blocks.size(), kFar);
  int level = 0;
  for (bool grew = true; grew; ++level) {
    grew = false;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const ConstraintBlock& b = p.blocks[i];
      if (b.kind != BlockKind::contact || block_level_[i] != kFar) continue;
      bool reached = level == 0 && b.nodes == 1;
      for (int k = 0; k < b.nodes; ++k) reached = reached || node_level_[static_cast<std::size_t>(b.node[k])] < level;
      if (reached) block_level_[i] = level;
      grew = grew || reached || level == 0;
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (block_level_[i] != level) continue;
      for (int k = 0; k < p.blocks[i].nodes; ++k) {
        int& node = node_level_[static_cast<std::size_t>(p.blocks[i].node[k])];
        node = std::min(node, level);
      }
    }
  }
  sorted_.clear();
  for (const SweepBlock& b : blocks) {
    if (b.kind != BlockKind::contact) sorted_.push_back(b);
  }
  for (int l = 0; l <= level; ++l) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool here = block_level_[i] == (l < level ? l : kFar);
      if (here && blocks[i].kind == BlockKind::contact) sorted_.push_back(blocks[i]);
    }
  }
  blocks.swap(sorted_);
}

void SweepState::update_joint(const SweepBlock& b, const SweepFactors& f, SweepChange& out) {
  double v[kMaxBlockRows];
  for (int r = 0; r < b.rows; ++r) {
    v[r] = velocity(b, r);
    out.natural = std::max(out.natural, std::abs(v[r]));
  }
  const double* inverse = inverse_.data() + b.local;
  const double factor = f.omega * f.row_step;
  double gain = 0;
  for (int r = 0; r < b.rows; ++r) {
    double s = 0;
    for (int q = 0; q < b.rows; ++q) s += inverse[r * b.rows + q] * v[q];
    const double change = -factor * s;
    gain += change * v[r];
    lambda[b.row + r] += change;
    note(b, r, change, out);
    add_impulse(b, r, change);
  }
  out.energy += (1 - 0.5 * factor) * gain;
}

void SweepState::update_rows(const SweepBlock& b, const SweepFactors& f, SweepChange& out) {
  for (int r = 0; r < b.rows; ++r) {
    const int row = b.row + r;
    const double lower = b.kind == BlockKind::limit ? 0.0 : problem_->lower[static_cast<std::size_t>(row)];
    const double upper = b.kind == BlockKind::limit ? std::numeric_limits<double>::infinity()
                                                    : problem_->upper[static_cast<std::size_t>(row)];
    const double old = lambda[row];
    const double v = velocity(b, r);
    const double d = weight(row);
    out.natural = std::max(out.natural, natural_map(d * old, v, d * lower, d * upper));
    const double inverse = inverse_[static_cast<std::size_t>(b.local + r)];
    double l = project_interval(old - f.row_step * inverse * v, lower, upper);
    l = project_interval((1 - f.omega) * old + f.omega * l, lower, upper);
    const double change = l - old;
    lambda[row] = l;
    if (inverse > 0) out.energy += change * (v + 0.5 * change / inverse);
    note(b, r, change, out);
    add_impulse(b, r, change);
  }
}

// --- the loop --------------------------------------------------------------------------------------------

// Judges the projected iterate, keeps it if it is the best so far, renews w. True if the goal is met.
bool SplittingSolver::consider(const ConstraintProblem& p, const Goal& goal, std::span<double> best,
                               SolveReport& report, double& error) {
  const std::span<double> lambda(state_.lambda.data(), static_cast<std::size_t>(state_.lambda.size()));
  project_on_cones(p, lambda);
  const bool met = keeper_.consider(p, goal, lambda, best, report);
  if (!keeper_.last().finite) return false;
  state_.w = keeper_.workspace().du;
  error = keeper_.last().error(law_, goal.criterion);
  return met;
}

SolveStatus SplittingSolver::run(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda,
                                 SolveReport& report) {
  constexpr int kJudgeEvery = 25;  // best-iterate bookkeeping when the running natural map does not fire
  constexpr double kDiverged = 1e12;
  // The judged error is the running natural map times a ratio that varies little from sweep to sweep; `margin` is
  // tightened whenever that promised too much.
  double ratio = 1.0;
  double margin = 1.0;
  double omega = common_.omega0;
  for (int it = 1; it <= common_.max_iterations; ++it) {
    const bool backward = common_.order == static_cast<int>(SweepOrder::symmetric) && it % 2 == 0;
    const SweepChange change = sweep(omega, backward);
    omega = next_omega(omega);
    report.iterations = it;
    // A NaN is invisible to max; the energy, which is a sum, shows it.
    if (!std::isfinite(change.energy) || !(change.size < kDiverged)) {
      return std::isfinite(change.energy) ? SolveStatus::stalled : SolveStatus::non_finite;
    }
    const bool promising = ratio * change.natural <= margin * goal.tolerance;
    const bool still = change.impulse <= 1e-14 * change.size;
    const bool last = finished(change) || still;
    if (promising || last || it % kJudgeEvery == 0) {
      double judged = 0;
      if (consider(p, goal, lambda, report, judged)) return SolveStatus::converged;
      if (change.natural > 0) ratio = judged / change.natural;
      if (promising) margin *= 0.9;
    }
    if (last && !(still && recover())) return SolveStatus::stalled;
  }
  double judged = 0;
  return consider(p, goal, lambda, report, judged) ? SolveStatus::converged : SolveStatus::max_iterations;
}

SolveReport SplittingSolver::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  auto start = Eigen::Map<VecX>(lambda.data(), static_cast<Eigen::Index>(lambda.size()));
  if (!start.allFinite()) start.setZero();
  if (keeper_.settle(p, lambda, report)) return report;
  state_.resize(p);
  state_.lambda = start;
  double error = 0;
  const bool met = consider(p, goal, lambda, report, error);
  if (met || !report.residuals.finite) {
    report.status = met ? SolveStatus::converged : SolveStatus::non_finite;
    return report;
  }
  state_.prepare(p, static_cast<SweepOrder>(common_.order), exact_joints());
  begin(p);
  report.status = run(p, goal, lambda, report);
  return report;
}

}  // namespace sarrus
