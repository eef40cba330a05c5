#include <algorithm>
#include <cmath>

#include "sarrus/rows/compliance.h"
#include "sarrus/rows/writer.h"

namespace sarrus {
namespace {

// Identity of a contact in files: geoms and the whole feature key.
std::uint64_t contact_id(const Contact& c) {
  std::uint64_t h = static_cast<std::uint64_t>(c.geom_a) << 32 | static_cast<std::uint32_t>(c.geom_b);
  for (const std::uint64_t word : {c.key.hi, c.key.lo}) {
    h = (h ^ h >> 29) * 0x9e3779b97f4a7c15ULL ^ word;
  }
  return (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
}

// Row r of a body: the velocity of its material point along column first + r of the frame, times sign.
void write_body(const RowContext& c, const Contact& contact, int body, double sign, const Mat3& R,
                const NodeList& nodes, const ConstraintBlock& b, ConstraintProblem& p, int first) {
  if (body == kWorld) return;
  const Vec3 arm = contact.p_W - c.X_WB[static_cast<std::size_t>(body)].p;
  const BodyMap& map = c.coordinates.map(body);
  if (map.X != nullptr) {
    for (int r = first; r < 3; ++r) {
      add_body_row(c.coordinates, p, b, nodes, body, r - first, spatial(R.col(r), arm.cross(R.col(r))), sign);
    }
    return;
  }
  double* J = p.jacobian.data() + b.jac[nodes.find(map.node)];
  for (int r = first; r < 3; ++r, J += 6) {
    const double x = sign * R(0, r);
    const double y = sign * R(1, r);
    const double z = sign * R(2, r);
    J[0] = x;
    J[1] = y;
    J[2] = z;
    J[3] = arm.y() * z - arm.z() * y;
    J[4] = arm.z() * x - arm.x() * z;
    J[5] = arm.x() * y - arm.y() * x;
  }
}

// The velocity of B's material point relative to A's.
void write_contact(const RowContext& c, const Contact& contact, const Mat3& R, const NodeList& nodes,
                   const ConstraintBlock& b, ConstraintProblem& p, int first = 0) {
  write_body(c, contact, contact.body_a, -1, R, nodes, b, p, first);
  write_body(c, contact, contact.body_b, 1, R, nodes, b, p, first);
}

NodeList nodes_of(const RowContext& c, const Contact& contact) {
  NodeList nodes;
  nodes.add(c.coordinates, contact.body_a);
  nodes.add(c.coordinates, contact.body_b);
  return nodes;
}

// Room for blocks of at most three rows.
void make_room(const RowContext& c, std::span<const Contact> contacts, ConstraintProblem& p) {
  int entries = 0;
  for (const Contact& contact : contacts) {
    for (const int body : {contact.body_a, contact.body_b}) {
      if (body != kWorld) entries += 3 * c.coordinates.map(body).size;
    }
  }
  p.make_room(3 * static_cast<int>(contacts.size()), entries);
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

void set_rigid_contact(const RowContext& c, const Contact& contact, const Sustained& last, const ConstraintBlock& b,
                       ConstraintProblem& p) {
  const Scheme& scheme = c.scheme_between(contact.body_a, contact.body_b);
  double* bias = p.bias.data() + b.row;
  if (last.stuck && scheme.sustained_law != 0) {
    for (int r = 0; r < 2; ++r) bias[r] = scheme.sustained_law * row_velocity(p, b, r, c.u_minus);
  }
  const double slop = contact_slop(c.options, contact);
  // Others have no use for velocities.
  const bool may_bounce = contact.restitution > 0;
  const double v_minus = may_bounce || last.loaded ? row_velocity(p, b, 2, c.u_minus) : 0.0;
  const double v_free = may_bounce ? row_velocity(p, b, 2, p.u_free) : 0.0;
  bias[2] = unilateral_bias({contact.gap, slop, v_minus, v_free, contact.restitution, last.loaded, 0.1 * slop}, scheme,
                            c.options.restitution_threshold, c.dt);
}

// What rigid contacts give way by option: R_n = min(rho D, e_v / lambda) and a tenth of it along the surface, D the
// mean diagonal and lambda what the pair carried before.
void add_compliance(const RowContext& c, double load, const ConstraintBlock& b, ConstraintProblem& p) {
  constexpr double kTangential = 0.1;
  const double most = c.options.contact_compliance * block_delassus(p, b).trace() / 3;
  const double lambda = load * c.dt;
  const double R = most * lambda > c.options.contact_give ? c.options.contact_give / lambda : most;
  double* row = p.R.data() + b.row;
  row[0] = row[1] = kTangential * R;
  row[2] = R;
}

}  // namespace

Vec3 contact_velocity(const Contact& c, std::span<const Vec6> twist, std::span<const Pose> X_WB) {
  Vec3 v = Vec3::Zero();
  for (const auto& [body, sign] : {std::pair(c.body_a, -1.0), std::pair(c.body_b, 1.0)}) {
    if (body == kWorld) continue;
    const Vec6& u = twist[static_cast<std::size_t>(body)];
    const Vec3 arm = c.p_W - X_WB[static_cast<std::size_t>(body)].p;
    v += sign * (u.head<3>() + Vec3(u.tail<3>()).cross(arm));
  }
  return v;
}

double add_contact_rows(const RowContext& c, std::span<const Contact> contacts, std::span<const Compliance> compliances,
                        ConstraintProblem& p) {
  double penetration = 0;
  make_room(c, contacts, p);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    penetration = std::max(penetration, -contact.gap);
    const NodeList nodes = nodes_of(c, contact);
    ConstraintBlock& b = add_labelled_block(p, BlockKind::contact, 3, nodes, RowSource::contact, static_cast<int>(i));
    b.mu = contact.mu;
    b.id = contact_id(contact);
    write_contact(c, contact, contact_frame(contact.n_W), nodes, b, p);
    if (contact.compliance >= 0) {
      set_compliant_contact(c, contact, compliances[static_cast<std::size_t>(contact.compliance)], b, p);
    } else {
      set_rigid_contact(c, contact, c.sustained.empty() ? Sustained{} : c.sustained[i], b, p);
      if (c.options.contact_compliance > 0) add_compliance(c, c.pair_load.empty() ? 0.0 : c.pair_load[i], b, p);
    }
  }
  p.make_room(0, 0);
  return penetration;
}

void add_contact_normals(const RowContext& c, std::span<const Contact> contacts, ConstraintProblem& p) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    if (contact.compliance >= 0) continue;
    const NodeList nodes = nodes_of(c, contact);
    const ConstraintBlock& b =
        add_labelled_block(p, BlockKind::limit, 1, nodes, RowSource::contact, static_cast<int>(i));
    write_contact(c, contact, contact_frame(contact.n_W), nodes, b, p, 2);
    p.bias[static_cast<std::size_t>(b.row)] = contact.gap;
  }
}

void add_sustained_rows(const RowContext& c, std::span<const Contact> contacts, ConstraintProblem& p) {
  add_sustained_limits(c, p);
  make_room(c, contacts, p);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    const Sustained& last = c.sustained[i];
    if (!last.loaded || contact.gap > contact_slop(c.options, contact)) continue;
    const int rows = last.stuck ? 3 : 1;
    const NodeList nodes = nodes_of(c, contact);
    const ConstraintBlock& b =
        add_labelled_block(p, BlockKind::joint, rows, nodes, RowSource::contact, static_cast<int>(i));
    write_contact(c, contact, contact_frame(contact.n_W), nodes, b, p, 3 - rows);
  }
  p.make_room(0, 0);
}

}  // namespace sarrus
