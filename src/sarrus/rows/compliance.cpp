#include "sarrus/rows/compliance.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sarrus/math/six.h"

namespace sarrus {
namespace {

// [D] 6: friction as a stiff damper without memory; with B_T = 1e6/dt this is R_T = 1e-6.
constexpr double kFrictionDamping = 1e6;
// Depth below which a Hertz contact keeps its tangent stiffness, m; at zero depth it would have none.
constexpr double kHertzDepth = 1e-9;

double near_rigid_R(const Compliance& c, double w) {
  return c.near_rigid * c.near_rigid / (4 * std::numbers::pi * std::numbers::pi) * w;
}

// The time constant is kept resolvable and the stiffness bounded: a stiffer row would bring more than its error back in
// a step, and coupled rows would gain energy by it.
CompliantRow mujoco_row(const Compliance& c, const RowMotion& row, double margin) {
  const double d = mujoco_impedance(c, row.phi - margin);
  const double T = std::max(c.time_constant, 2 * row.dt);
  const double b = 2 / (c.dw * T);
  const double k = std::min(d / std::pow(c.dw * T * c.damping_ratio, 2), 1 / (row.dt * row.dt));
  const double q = 1 + row.dt * b + row.dt * row.dt * k;
  return {(1 - d) / d * row.D / q, (-row.v_minus + row.dt * k * (row.phi - margin)) / q};
}

CompliantRow hertz_row(const Compliance& c, double gap, double dt) {
  const double depth = std::max(0.0, -gap);
  const double K = c.hertz_stiffness();
  const double tangent = std::max(1.5 * K * std::sqrt(depth), K * std::sqrt(kHertzDepth));
  return spring_damper_row(tangent, c.damping, -2.0 / 3.0 * depth, dt);
}

// The row of the models that are laws of a force or of a share of the residual: all but mujoco. w is the inverse mass
// of the near-rigid switch.
CompliantRow force_row(const Compliance& c, double phi, double dt, double w, double scale) {
  switch (c.model) {
    case ComplianceModel::cfm_erp:
      return {c.cfm / scale, c.erp * phi / dt};
    case ComplianceModel::physical: {
      const double k = scale * c.stiffness;
      CompliantRow row = spring_damper_row(k, c.dissipation * k, phi, dt);
      row.R = std::max(row.R, near_rigid_R(c, w));
      return row;
    }
    case ComplianceModel::hertz:
      return hertz_row(c, phi, dt);
    default:
      return spring_damper_row(scale * c.stiffness, scale * c.damping, phi, dt);
  }
}

double friction_R(const Compliance& c, double dt, double w) {
  switch (c.model) {
    case ComplianceModel::cfm_erp:
      return c.cfm;
    case ComplianceModel::physical:
      return c.stiction * w;
    default:
      return 1 / (c.friction_damping == kUseDefault ? kFrictionDamping : dt * c.friction_damping);
  }
}

CompliantRow unilateral_row(const Compliance& c, const RowMotion& row, double w) {
  if (c.model == ComplianceModel::mujoco) {
    CompliantRow result = mujoco_row(c, row, c.margin);
    const double open = row.phi - c.margin;
    if (open > 0) result.bias = open / row.dt + std::max(0.0, -row.v_free);
    return result;
  }
  CompliantRow result = force_row(c, row.phi, row.dt, w, 1.0);
  if (row.phi > 0) result.bias = row.phi / row.dt;
  return result;
}

}  // namespace

CompliantRow spring_damper_row(double stiffness, double damping, double phi, double dt) {
  const double rate = dt * stiffness + damping;
  return {1 / (dt * rate), stiffness * phi / rate};
}

double mujoco_impedance(const Compliance& c, double distance) {
  if (c.d0 == c.dw || !(c.width > 0)) return 0.5 * (c.d0 + c.dw);
  const double x = std::abs(distance) / c.width;
  if (x >= 1) return c.dw;
  double y = x;
  if (c.power != 1) {
    const double m = c.midpoint;
    y = x <= m ? std::pow(x, c.power) * std::pow(m, 1 - c.power)
               : 1 - std::pow(1 - x, c.power) * std::pow(1 - m, 1 - c.power);
  }
  return c.d0 + y * (c.dw - c.d0);
}

CompliantRow bilateral_row(const Compliance& c, const RowMotion& row, bool angular) {
  if (c.model == ComplianceModel::mujoco) return mujoco_row(c, row, 0.0);
  return force_row(c, row.phi, row.dt, row.D, angular ? c.length * c.length : 1.0);
}

CompliantRow unilateral_row(const Compliance& c, const RowMotion& row) { return unilateral_row(c, row, row.D); }

CompliantContact compliant_contact(const Compliance& c, double dt, double gap, const Vec3& v_minus, const Vec3& v_free,
                                   const Mat3& W) {
  const double w = W.norm() / 3;
  CompliantContact rows;
  for (int r = 0; r < 2; ++r) {
    if (c.model == ComplianceModel::mujoco) {
      const CompliantRow row = mujoco_row(c, {dt, 0.0, v_minus[r], v_free[r], W(r, r)}, 0.0);
      rows.R[r] = row.R;
      // Beyond the margin the cone has no room for friction anyway; without the shift of sigma_T the normal is left
      // alone.
      if (gap <= c.margin) rows.bias[r] = row.bias;
    } else {
      rows.R[r] = friction_R(c, dt, w);
    }
  }
  const CompliantRow normal = unilateral_row(c, {dt, gap, v_minus[2], v_free[2], W(2, 2)}, w);
  rows.R[2] = normal.R;
  rows.bias[2] = normal.bias;
  return rows;
}

BlockMatrix block_delassus(const ConstraintProblem& p, const ConstraintBlock& b) {
  BlockMatrix D = BlockMatrix::Zero(b.rows, b.rows);
  for (int k = 0; k < b.nodes; ++k) {
    const auto node = static_cast<std::size_t>(b.node[k]);
    const int n = p.node_size[node];
    const double* J = p.jacobian.data() + b.jac[k];
    const double* W = p.mass_inverse.data() + p.mass_offset[node];
    for (int i = 0; i < b.rows; ++i) {
      for (int c = 0; c < n; ++c) {
        double s = 0;  // (M^-1 J_i')_c
        for (int r = 0; r < n; ++r) s += W[c * n + r] * J[i * n + r];
        for (int j = 0; j < b.rows; ++j) D(i, j) += s * J[j * n + c];
      }
    }
  }
  return D;
}

double row_velocity(const ConstraintProblem& p, const ConstraintBlock& b, int r, const VecX& u) {
  double v = 0;
  for (int k = 0; k < b.nodes; ++k) {
    const auto node = static_cast<std::size_t>(b.node[k]);
    const int n = p.node_size[node];
    const double* J = p.jacobian.data() + b.jac[k] + r * n;
    const double* uk = u.data() + p.node_offset[node];
    if (n == 6) {
      v += Six::load(J).dot(uk);
    } else {
      for (int c = 0; c < n; ++c) v += J[c] * uk[c];
    }
  }
  return v;
}

}  // namespace sarrus
