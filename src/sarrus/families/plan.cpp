#include "sarrus/families/plan.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "sarrus/dynamics/coordinates.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/so3.h"
#include "sarrus/rows/rows.h"

namespace sarrus::families {
namespace {

// The world-anchor constructor closes every loop up to round-off; what is left is not handed to the solver, since
// redundant rows would turn it into a contradiction.
void close_joints(ConstraintProblem& p) {
  for (double& residual : p.bias) {
    if (!(std::abs(residual) < 1e-12)) throw std::logic_error("family: a joint is open at the generated pose");
    residual = 0;
  }
}

}  // namespace

int Plan::add_box(double mass, const Vec3& half_extents, const Pose& X_WB) {
  const int body =
      model_.add_body(fmt::format("b{}", bodies_), mass, solid_inertia(Shape::box(half_extents), mass), X_WB);
  bodies_ = body + 1;
  return body;
}

int Plan::add_bar(double mass, const Vec3& from, const Vec3& to, double width) {
  const Vec3 half(0.5 * (to - from).norm(), 0.5 * width, 0.5 * width);
  return add_box(mass, half, {0.5 * (from + to), frame_with_x(to - from)});
}

int Plan::add_joint(JointType type, int base, int follower, const Vec3& anchor_W, const Quat& axes_W) {
  return model_.add_joint_at(fmt::format("j{}", joints_++), type, base, follower, anchor_W, axes_W);
}

int Plan::add_hinge(int base, int follower, const Vec3& anchor_W, const Vec3& axis_W) {
  return add_joint(JointType::revolute, base, follower, anchor_W, frame_with_x(axis_W));
}

void Plan::add_contact(int below, int above, const Vec3& point_W, double mu, double gap) {
  Contact c;
  c.p_W = point_W;
  c.gap = gap;
  c.mu = mu;
  c.body_a = below;
  c.body_b = above;
  c.key.lo = contacts_.size() + 1;
  contacts_.push_back(c);
}

void Plan::set_mass(int body, double mass) {
  Body& b = model_.body(body);
  b.inertia_B *= mass / b.mass;
  b.mass = mass;
}

ConstraintProblem Plan::assemble(Random& random) const {
  const Model model = model_.build();
  const State state = State::initial(model);
  const std::unique_ptr<Coordinates> coordinates = maximal_coordinates(model);
  JointKinematics kinematics(model);
  kinematics.update(state.X_WB, state.q);

  ConstraintProblem p;
  p.dt = kStep;
  p.set_nodes(coordinates->node_sizes());
  coordinates->gather(state.X_WB, state.twist, p.u_free);
  for (int i = 0; i < p.velocity_size(); i += 6) p.u_free.segment<3>(i) += kStep * model.gravity_on(i / 6);
  add_noise(p, noise_, random);
  set_position_rows(model, *coordinates, state.X_WB, kinematics, state.q, p);
  close_joints(p);
  for (const PlannedLimit& l : limits_) {
    const int dof = model_.dof_index(l.joint);
    const ConstraintBlock& b =
        add_dof_block(*coordinates, BlockKind::limit, l.side > 0 ? RowSource::limit_lower : RowSource::limit_upper, dof,
                      dof_row(model, kinematics, dof), l.side, p);
    p.bias[static_cast<std::size_t>(b.row)] = l.gap / kStep;
  }
  RowOptions options;
  options.erp_joint = model.defaults().erp_joint;
  options.contact_slop = 0;
  const VecX at_rest = VecX::Zero(p.velocity_size());  // only restitution would look at it
  add_contact_rows({model,
                    *coordinates,
                    scheme_of(Integrator::semi_implicit),
                    options,
                    kStep,
                    kinematics,
                    kinematics,
                    kinematics,
                    state.X_WB,
                    state.q,
                    at_rest,
                    {}},
                   contacts_, {}, p);
  p.finish();
  return p;
}

Quadrilateral quadrilateral(const Vec3& A, const Vec3& e1, const Vec3& e2, double ground, double crank, double coupler,
                            double rocker, double angle) {
  const Vec2 d(ground, 0);
  const Vec2 b = crank * Vec2(std::cos(angle), std::sin(angle));
  const double distance = (d - b).norm();
  const Vec2 along = (d - b) / distance;
  const Vec2 left(-along.y(), along.x());
  const double x = (distance * distance + coupler * coupler - rocker * rocker) / (2 * distance);
  const Vec2 c = b + x * along + std::sqrt(coupler * coupler - x * x) * left;
  return {A, A + b.x() * e1 + b.y() * e2, A + c.x() * e1 + c.y() * e2, A + ground * e1};
}

FourBar add_fourbar(Plan& plan, int ground, const Quadrilateral& q, const Vec3& axis_W, JointType closure) {
  FourBar f{};
  f.crank = plan.add_bar(1.0, q.A, q.B);
  f.coupler = plan.add_bar(1.0, q.B, q.C);
  f.rocker = plan.add_bar(1.0, q.C, q.D);
  f.crank_joint = plan.add_hinge(ground, f.crank, q.A, axis_W);
  plan.add_hinge(f.crank, f.coupler, q.B, axis_W);
  plan.add_hinge(f.coupler, f.rocker, q.C, axis_W);
  plan.add_joint(closure, ground, f.rocker, q.D, frame_with_x(axis_W));
  return f;
}

void add_corner_contacts(Plan& plan, int below, int above, const Vec3& centre_W, const Vec3& half_x, const Vec3& half_y,
                         double mu) {
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) plan.add_contact(below, above, centre_W + x * half_x + y * half_y, mu);
  }
}

void add_noise(ConstraintProblem& p, double nu, Random& random) {
  for (int i = 0; i < p.velocity_size(); ++i) p.u_free[i] += (i % 6 < 3 ? nu : 2 * nu) * random.uniform(-1, 1);
}

}  // namespace sarrus::families
