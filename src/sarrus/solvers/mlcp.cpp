#include "sarrus/solvers/mlcp.h"

#include <algorithm>
#include <cmath>

namespace sarrus {
namespace {

constexpr int kCouplings = 500;  // couplings in which the best residual must halve

}  // namespace

void Mlcp::resize(int n) {
  rows = n;
  for (GrowingVector* v : {&b, &lower, &upper, &diagonal, &x, &w}) v->resize(n);
  A.resize(static_cast<Eigen::Index>(n) * n);
  x.setZero();
  state.assign(static_cast<std::size_t>(n), RowState::basic);
  contacts.clear();
}

void Mlcp::load(const ConstraintProblem& p, std::span<const double> lambda, bool dense) {
  rows = p.rows();
  for (GrowingVector* v : {&b, &lower, &upper, &diagonal, &x, &w}) v->resize(rows);
  state.resize(static_cast<std::size_t>(rows));
  contacts.clear();
  b = p.v_free;
  diagonal = p.diagonal;
  for (int i = 0; i < rows; ++i) {
    const auto k = static_cast<std::size_t>(i);
    x[i] = std::isfinite(lambda[k]) ? lambda[k] : 0.0;
    lower[i] = p.lower[k];
    upper[i] = p.upper[k];
  }
  for (const ConstraintBlock& block : p.blocks) {
    if (block.kind == BlockKind::limit) lower.segment(block.row, block.rows).setZero();
    if (block.kind == BlockKind::contact) {
      lower[block.row + 2] = 0;
      contacts.push_back({block.row, block.mu});
    }
  }
  for (int i = 0; i < rows; ++i) {
    // A row that moves nothing needs no impulse, and has no pivot.
    if (!(diagonal[i] > 0)) lower[i] = upper[i] = std::clamp(0.0, lower[i], upper[i]);
  }
  if (dense) assemble(p);
  bound_friction_first();
  if (x.isZero(0)) {
    std::fill(state.begin(), state.end(), RowState::basic);
  } else {
    classify();
  }
}

void Mlcp::assemble(const ConstraintProblem& p) {
  A.resize(static_cast<Eigen::Index>(rows) * rows);
  A.setZero();
  if (node_uses_.size() < p.node_size.size()) node_uses_.resize(p.node_size.size());
  for (std::vector<int>& uses : node_uses_) uses.clear();
  for (std::size_t k = 0; k < p.blocks.size(); ++k) {
    for (int place = 0; place < p.blocks[k].nodes; ++place) {
      node_uses_[static_cast<std::size_t>(p.blocks[k].node[place])].push_back(static_cast<int>(k) * kMaxBlockNodes +
                                                                              place);
    }
  }
  for (std::size_t i = 0; i < p.node_size.size(); ++i) couple(p, static_cast<int>(i), node_uses_[i]);
  for (int i = 0; i < rows; ++i) column(i)[i] += p.R[static_cast<std::size_t>(i)];
}

// A += J_i M_i^-1 J_i' of the blocks that touch node i.
void Mlcp::couple(const ConstraintProblem& p, int node, const std::vector<int>& uses) {
  const int n = p.node_size[static_cast<std::size_t>(node)];
  const Eigen::Map<const MatX> W(p.mass_inverse.data() + p.mass_offset[static_cast<std::size_t>(node)], n, n);
  MinvJt_.resize(n);
  for (const int first : uses) {
    const ConstraintBlock& from = p.blocks[static_cast<std::size_t>(first / kMaxBlockNodes)];
    for (int c = 0; c < from.rows; ++c) {
      const Eigen::Map<const VecX> j(p.jacobian.data() + from.jac[first % kMaxBlockNodes] + c * n, n);
      MinvJt_.noalias() = W * j;
      double* a = column(from.row + c);
      for (const int second : uses) {
        const ConstraintBlock& to = p.blocks[static_cast<std::size_t>(second / kMaxBlockNodes)];
        const double* J = p.jacobian.data() + to.jac[second % kMaxBlockNodes];
        for (int r = 0; r < to.rows; ++r) a[to.row + r] += Eigen::Map<const VecX>(J + r * n, n).dot(MinvJt_);
      }
    }
  }
}

void Mlcp::bound_friction() {
  for (const Contact& c : contacts) set_bound(c, x[c.row + 2]);
}

void Mlcp::bound_friction_first() {
  for (const Contact& c : contacts) {
    const int n = c.row + 2;
    set_bound(c, x[n] > 0 ? x[n] : -b[n] / std::max(1e-300, diagonal[n]));
  }
}

void Mlcp::set_bound(const Contact& c, double normal) {
  const double bound = c.mu * std::max(0.0, normal);
  lower.segment<2>(c.row).setConstant(-bound);
  upper.segment<2>(c.row).setConstant(bound);
}

void Mlcp::project(GrowingVector& out) const {
  out.resize(rows);
  for (int i = 0; i < rows; ++i) out[i] = std::clamp(x[i], lower[i], upper[i]);
  for (const Contact& c : contacts) {
    const double bound = c.mu * out[c.row + 2];
    for (int k = c.row; k < c.row + 2; ++k) out[k] = std::clamp(x[k], -bound, bound);
  }
}

void Mlcp::classify() {
  for (int i = 0; i < rows; ++i) state[static_cast<std::size_t>(i)] = state_of(i);
}

void Mlcp::hold_friction() {
  for (const Contact& c : contacts) {
    for (int i = c.row; i < c.row + 2; ++i) state[static_cast<std::size_t>(i)] = RowState::held;
  }
}

void Mlcp::multiply() {
  w = b;
  for (int j = 0; j < rows; ++j) {
    if (x[j] != 0) w += x[j] * Eigen::Map<const VecX>(column(j), rows);
  }
}

// --- sweeps ----------------------------------------------------------------------------------------------

void BoxSweep::synchronise(const Mlcp& m) {
  rows_.w.setZero();
  for (const SweepBlock& b : rows_.blocks) {
    for (int r = 0; r < b.rows; ++r) {
      if (m.x[b.row + r] != 0) rows_.add_impulse(b, r, m.x[b.row + r]);
    }
  }
}

double BoxSweep::sweep(Mlcp& m) {
  double largest = 0;
  for (const SweepBlock& b : rows_.blocks) {
    for (int r = 0; r < b.rows; ++r) {
      const int row = b.row + r;
      const double old = m.x[row];
      const double step = m.diagonal[row] > 0 ? residual(m, b, r) / m.diagonal[row] : 0.0;
      const double dx = std::clamp(old - step, m.lower[row], m.upper[row]) - old;
      if (dx == 0) continue;
      change(m, b, r, dx);
      largest = std::max(largest, std::abs(dx));
    }
  }
  return largest;
}

int BoxSweep::run(Mlcp& m, int limit, double delta_x) {
  // Anew each time: rounding errors of v do not pile up over couplings.
  synchronise(m);
  int sweeps = 0;
  while (sweeps < limit) {
    ++sweeps;
    if (!(sweep(m) > std::max(delta_x, 1e-16 * m.x.cwiseAbs().maxCoeff()))) break;
  }
  return sweeps;
}

// --- couplings -------------------------------------------------------------------------------------------

bool MlcpSolver::add(const Inner& inner, SolveReport& report) const {
  report.iterations += inner.iterations;
  report.factorisations += inner.factorisations;
  if (!inner.failed && mlcp_.x.allFinite()) return true;
  report.status = mlcp_.x.allFinite() ? SolveStatus::stalled : SolveStatus::non_finite;
  return false;
}

SolveReport MlcpSolver::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  if (keeper_.settle(p, lambda, report)) return report;
  mlcp_.load(p, lambda, dense_);
  previous_.resize(mlcp_.rows);
  mlcp_.project(candidate_);
  if (keeper_.consider(p, goal, view(candidate_), lambda, report)) return report;
  const int budget = limits_.max_iterations > 0 ? limits_.max_iterations : 1 << 30;
  if (!add(begin(p, budget), report)) return report;
  if (report.iterations > 0) {
    mlcp_.project(candidate_);
    if (keeper_.consider(p, goal, view(candidate_), lambda, report)) return report;
  }
  report.status = SolveStatus::max_iterations;
  const int couplings = or_unlimited(limits_.k_cpl);
  double last_best = report.residuals.error(Law::box);
  for (int c = 0; c < couplings && report.iterations < budget; ++c) {
    previous_ = mlcp_.x;
    if (report.iterations > 0) mlcp_.bound_friction();
    if (!add(solve_bounded(c, budget - report.iterations), report)) return report;
    mlcp_.project(candidate_);
    if (keeper_.consider(p, goal, view(candidate_), lambda, report)) return report;
    const double change = (mlcp_.x - previous_).cwiseAbs().maxCoeff();
    const double best = report.residuals.error(Law::box);
    const bool review = (c + 1) % kCouplings == 0;
    if (change <= 1e-15 * mlcp_.x.cwiseAbs().maxCoeff() || (review && best > 0.5 * last_best)) {
      report.status = SolveStatus::stalled;
      return report;
    }
    if (review) last_best = best;
  }
  return report;
}

}  // namespace sarrus
