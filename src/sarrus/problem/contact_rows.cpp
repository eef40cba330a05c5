#include "sarrus/problem/contact_rows.h"

#include <algorithm>
#include <cmath>

#include "sarrus/problem/compliance_rows.h"

namespace sarrus {
namespace {

void set_compliant_contact(const Contact& contact, const Compliance& compliance, double dt, const VecX& u_minus,
                           const ConstraintBlock& b, ConstraintProblem& p) {
  Vec3 v_minus;
  Vec3 v_free;
  for (int r = 0; r < 3; ++r) {
    v_minus[r] = row_velocity(p, b, r, u_minus);
    v_free[r] = row_velocity(p, b, r, p.u_free);
  }
  const CompliantContact rows = compliant_contact(compliance, dt, contact.gap, v_minus, v_free, block_delassus(p, b));
  for (int r = 0; r < 3; ++r) {
    p.R[static_cast<std::size_t>(b.row + r)] = rows.R[r];
    p.bias[static_cast<std::size_t>(b.row + r)] = rows.bias[r];
  }
}

}  // namespace

Mat3 contact_frame(const Vec3& n) {
  const double s = n.z() >= 0 ? 1.0 : -1.0;
  const double a = -1.0 / (s + n.z());
  const double b = n.x() * n.y() * a;
  Mat3 R;
  R.col(0) = Vec3(1.0 + s * n.x() * n.x() * a, s * b, -s * n.x());
  R.col(1) = Vec3(b, s + n.y() * n.y() * a, -n.y());
  R.col(2) = n;
  return R;
}

double add_contact_rows(std::span<const Contact> contacts, std::span<const Pose> X_WB, const VecX& u_minus,
                        const RowOptions& options, ConstraintProblem& p, std::span<const Compliance> compliances) {
  double penetration = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    penetration = std::max(penetration, -c.gap);
    const Mat3 R = contact_frame(c.n_W);
    int nodes[2];
    double sign[2];
    std::size_t count = 0;
    if (c.body_a >= 0) {
      nodes[count] = c.body_a;
      sign[count++] = -1;
    }
    if (c.body_b >= 0) {
      nodes[count] = c.body_b;
      sign[count++] = 1;
    }
    ConstraintBlock& b = p.add_block(BlockKind::contact, 3, std::span<const int>(nodes, count));
    b.source_kind = RowSource::contact;
    b.source = static_cast<int>(i);
    b.mu = c.mu;
    b.id = c.key.lo ^ (static_cast<std::uint64_t>(c.geom_a) << 40) ^ (static_cast<std::uint64_t>(c.geom_b) << 20);
    double v_minus = 0;
    double v_free = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto body = static_cast<std::size_t>(nodes[k]);
      const Vec3 arm = c.p_W - X_WB[body].p;
      const int o = p.node_offset[body];
      for (int r = 0; r < 3; ++r) {
        double* J = p.jacobian_row(b, static_cast<int>(k), r);
        Eigen::Map<Vec6> row(J);
        row.head<3>() = sign[k] * R.col(r);
        row.tail<3>() = sign[k] * arm.cross(R.col(r));
        if (r == 2) {
          v_minus += row.dot(u_minus.segment<6>(o));
          v_free += row.dot(p.u_free.segment<6>(o));
        }
      }
    }
    if (c.compliance >= 0) {
      set_compliant_contact(c, compliances[static_cast<std::size_t>(c.compliance)], options.dt, u_minus, b, p);
      continue;
    }
    p.bias[static_cast<std::size_t>(b.row + 2)] =
        unilateral_bias(c.gap, options.contact_slop, v_minus, v_free, c.restitution, options.erp_contact, options);
  }
  return penetration;
}

}  // namespace sarrus
