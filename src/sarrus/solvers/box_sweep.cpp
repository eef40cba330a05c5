#include "sarrus/solvers/box_sweep.h"

#include <algorithm>
#include <cmath>

namespace sarrus {

void BoxSweep::load(const ConstraintProblem& p) {
  MinvJt_.resize(p.jacobian.size());
  for (const ConstraintBlock& b : p.blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      const auto node = static_cast<std::size_t>(b.node[k]);
      const int n = p.node_size[node];
      const double* W = p.mass_inverse.data() + p.mass_offset[node];
      for (int r = 0; r < b.rows; ++r) {
        const double* J = p.jacobian.data() + b.jac[k] + r * n;
        double* out = MinvJt_.data() + b.jac[k] + r * n;
        std::fill(out, out + n, 0.0);
        for (int c = 0; c < n; ++c) {
          for (int i = 0; i < n; ++i) out[i] += W[c * n + i] * J[c];
        }
      }
    }
  }
}

void BoxSweep::synchronise(const ConstraintProblem& p, const Mlcp& m) {
  impulse_.resize(p.velocity_size());
  v_.resize(p.velocity_size());
  p.multiply_Jt(view(m.x), impulse_);
  p.multiply_M_inverse(impulse_, v_);
}

double BoxSweep::residual(const ConstraintProblem& p, const Mlcp& m, const ConstraintBlock& b, int r) const {
  const int row = b.row + r;
  double w = m.b[row] + p.R[static_cast<std::size_t>(row)] * m.x[row];
  for (int k = 0; k < b.nodes; ++k) {
    const auto node = static_cast<std::size_t>(b.node[k]);
    const int n = p.node_size[node];
    const double* J = p.jacobian.data() + b.jac[k] + r * n;
    const double* v = v_.data() + p.node_offset[node];
    for (int c = 0; c < n; ++c) w += J[c] * v[c];
  }
  return w;
}

void BoxSweep::change(const ConstraintProblem& p, Mlcp& m, const ConstraintBlock& b, int r, double dx) {
  m.x[b.row + r] += dx;
  for (int k = 0; k < b.nodes; ++k) {
    const auto node = static_cast<std::size_t>(b.node[k]);
    const int n = p.node_size[node];
    const double* Y = MinvJt_.data() + b.jac[k] + r * n;
    double* v = v_.data() + p.node_offset[node];
    for (int c = 0; c < n; ++c) v[c] += Y[c] * dx;
  }
}

double BoxSweep::sweep(const ConstraintProblem& p, Mlcp& m) {
  double largest = 0;
  for (const ConstraintBlock& b : p.blocks) {
    for (int r = 0; r < b.rows; ++r) {
      const int row = b.row + r;
      const double old = m.x[row];
      const double step = m.diagonal[row] > 0 ? residual(p, m, b, r) / m.diagonal[row] : 0.0;
      const double dx = std::clamp(old - step, m.lower[row], m.upper[row]) - old;
      if (dx == 0) continue;
      change(p, m, b, r, dx);
      largest = std::max(largest, std::abs(dx));
    }
  }
  return largest;
}

int BoxSweep::run(const ConstraintProblem& p, Mlcp& m, int limit, double delta_x) {
  // Anew each time: rounding errors of v do not pile up over couplings.
  synchronise(p, m);
  int sweeps = 0;
  while (sweeps < limit) {
    ++sweeps;
    if (!(sweep(p, m) > std::max(delta_x, 1e-16 * m.x.cwiseAbs().maxCoeff()))) break;
  }
  return sweeps;
}

}  // namespace sarrus
