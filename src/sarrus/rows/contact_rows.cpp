#include <algorithm>
#include <cmath>

#include "sarrus/math/hash.h"
#include "sarrus/rows/compliance.h"
#include "sarrus/rows/writer.h"

namespace sarrus {
namespace {

// Identity of a contact in files: geoms and the whole feature key.
std::uint64_t contact_id(const Contact& c) {
  Hash64 h;
  h.add(static_cast<std::uint64_t>(c.geom_a) << 32 | static_cast<std::uint32_t>(c.geom_b));
  h.add(c.key.hi);
  h.add(c.key.lo);
  return h.value();
}

// Row r of the two bodies: the velocity of B's material point relative to A's along column r of the frame.
void write_contact(const RowContext& c, const Contact& contact, const Mat3& R, const NodeList& nodes,
                   const ConstraintBlock& b, ConstraintProblem& p) {
  for (const auto& [body, sign] : {std::pair(contact.body_a, -1.0), std::pair(contact.body_b, 1.0)}) {
    if (body == kWorld) continue;
    const Vec3 arm = contact.p_W - c.X_WB[static_cast<std::size_t>(body)].p;
    for (int r = 0; r < 3; ++r) {
      add_body_row(c.coordinates, p, b, nodes, body, r, spatial(R.col(r), arm.cross(R.col(r))), sign);
    }
  }
}

void set_compliant_contact(const RowContext& c, const Contact& contact, const Compliance& compliance,
                           const ConstraintBlock& b, ConstraintProblem& p) {
  Vec3 v_minus;
  Vec3 v_free;
  for (int r = 0; r < 3; ++r) {
    v_minus[r] = row_velocity(p, b, r, c.u_minus);
    v_free[r] = row_velocity(p, b, r, p.u_free);
  }
  const CompliantContact rows = compliant_contact(compliance, c.dt, contact.gap, v_minus, v_free, block_delassus(p, b));
  for (int r = 0; r < 3; ++r) {
    p.R[static_cast<std::size_t>(b.row + r)] = rows.R[r];
    p.bias[static_cast<std::size_t>(b.row + r)] = rows.bias[r];
  }
}

void set_rigid_contact(const RowContext& c, const Contact& contact, const ConstraintBlock& b, ConstraintProblem& p) {
  double* bias = p.bias.data() + b.row;
  const double v_minus = row_velocity(p, b, 2, c.u_minus);
  if (c.scheme.contact_law != 0) {
    for (int r = 0; r < 2; ++r) bias[r] = c.scheme.contact_law * row_velocity(p, b, r, c.u_minus);
  }
  bias[2] = unilateral_bias(contact.gap, c.options.contact_slop, v_minus, row_velocity(p, b, 2, p.u_free),
                            contact.restitution, c.options.erp_contact, c.options.restitution_threshold, c.dt) +
            c.scheme.contact_law * v_minus;
}

}  // namespace

double add_contact_rows(const RowContext& c, std::span<const Contact> contacts, std::span<const Compliance> compliances,
                        ConstraintProblem& p) {
  double penetration = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    penetration = std::max(penetration, -contact.gap);
    NodeList nodes;
    nodes.add(c.coordinates, contact.body_a);
    nodes.add(c.coordinates, contact.body_b);
    ConstraintBlock& b = add_labelled_block(p, BlockKind::contact, 3, nodes, RowSource::contact, static_cast<int>(i));
    b.mu = contact.mu;
    b.id = contact_id(contact);
    write_contact(c, contact, contact_frame(contact.n_W), nodes, b, p);
    if (contact.compliance >= 0) {
      set_compliant_contact(c, contact, compliances[static_cast<std::size_t>(contact.compliance)], b, p);
    } else {
      set_rigid_contact(c, contact, b, p);
    }
  }
  return penetration;
}

}  // namespace sarrus
