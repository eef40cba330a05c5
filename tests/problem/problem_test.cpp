// The constraint problem's operators against dense algebra, and contact rows against the motion of a sphere.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/rows/rows.h"

namespace sarrus::problem_test {
namespace {

using testing::dense_blocks;
using testing::node_layouts;
using testing::random_problem;
using testing::random_vector;

// The Jacobian written down from the blocks, without the class's help.
MatX reference_jacobian(const ConstraintProblem& p) {
  MatX J = MatX::Zero(p.rows(), p.velocity_size());
  for (const ConstraintBlock& b : p.blocks) {
    for (int k = 0; k < b.nodes; ++k) {
      const auto node = static_cast<std::size_t>(b.node[k]);
      const int n = p.node_size[node];
      for (int r = 0; r < b.rows; ++r) {
        for (int c = 0; c < n; ++c) {
          J(b.row + r, p.node_offset[node] + c) = p.jacobian[static_cast<std::size_t>(b.jac[k] + r * n + c)];
        }
      }
    }
  }
  return J;
}

TEST(Operators, MatchDenseAlgebra) {
  std::mt19937 rng(1);
  for (const std::vector<int>& sizes : node_layouts()) {
    const ConstraintProblem p = random_problem(sizes, rng);
    const MatX J = reference_jacobian(p);
    const MatX M = dense_blocks(p, p.mass);
    const MatX W = dense_blocks(p, p.mass_inverse);
    const VecX u = random_vector(p.velocity_size(), rng);
    const VecX lambda = random_vector(p.rows(), rng);
    VecX rows = VecX::Constant(p.rows(), 1e9);  // outputs must be overwritten, not added to
    VecX velocities = VecX::Constant(p.velocity_size(), 1e9);
    p.multiply_J(u, rows);
    EXPECT_LT((rows - J * u).norm(), 1e-12);
    p.multiply_Jt({lambda.data(), static_cast<std::size_t>(lambda.size())}, velocities);
    EXPECT_LT((velocities - J.transpose() * lambda).norm(), 1e-12);
    p.multiply_M(u, velocities);
    EXPECT_LT((velocities - M * u).norm(), 1e-12);
    p.multiply_M_inverse(u, velocities);
    EXPECT_LT((velocities - W * u).norm(), 1e-12);
    MatX D = J * W * J.transpose();
    D.diagonal() += Eigen::Map<const VecX>(p.R.data(), p.rows());
    p.diagonal_D_plus_R(rows);
    EXPECT_LT((rows - D.diagonal()).norm(), 1e-11);
    EXPECT_LT((p.dense_J() - J).norm(), 1e-15);
    EXPECT_LT((p.dense_D_plus_R() - D).norm(), 1e-11);
    EXPECT_LT((p.v_free - (J * p.u_free + Eigen::Map<const VecX>(p.bias.data(), p.rows()))).norm(), 1e-12);
  }
}

TEST(Operators, CountRowsByKindAndClear) {
  std::mt19937 rng(2);
  ConstraintProblem p = random_problem({6, 6, 6, 6}, rng);
  EXPECT_EQ(p.rows_of(BlockKind::joint), 1 + 2 + 3 + 4 + 5 + 6 + 1 + 2);
  EXPECT_EQ(p.rows_of(BlockKind::soft), 4);
  EXPECT_EQ(p.rows_of(BlockKind::limit), 4);
  EXPECT_EQ(p.rows_of(BlockKind::contact), 12);
  EXPECT_EQ(p.rows(), 24 + 4 + 4 + 12);
  p.clear_constraints();
  EXPECT_EQ(p.rows(), 0);
  EXPECT_EQ(p.rows_of(BlockKind::joint), 0);
  EXPECT_EQ(p.velocity_size(), 24);
  const std::vector<int> node = {1};
  const ConstraintBlock& b = p.add_block(BlockKind::limit, 1, node);
  for (int c = 0; c < 6; ++c) EXPECT_EQ(p.jacobian_row(b, 0, 0)[c], 0.0);  // nothing left of the old numbers
  EXPECT_EQ(p.R[0], 0.0);
  EXPECT_EQ(p.bias[0], 0.0);
  EXPECT_TRUE(std::isinf(p.lower[0]) && p.lower[0] < 0);
  EXPECT_TRUE(std::isinf(p.upper[0]) && p.upper[0] > 0);
}

TEST(Operators, KeepTheFirstBlocks) {
  std::mt19937 rng(4);
  const ConstraintProblem p = random_problem({6, 3, 6, 6}, rng);
  for (const int count : {0, 1, 5, 8, 10, static_cast<int>(p.blocks.size())}) {
    ConstraintProblem kept = p;
    kept.keep_blocks(count);
    int rows = 0;
    for (int i = 0; i < count; ++i) rows += p.blocks[static_cast<std::size_t>(i)].rows;
    ASSERT_EQ(kept.rows(), rows);
    EXPECT_EQ(kept.rows_of(BlockKind::joint) + kept.rows_of(BlockKind::soft) + kept.rows_of(BlockKind::limit) +
                  kept.rows_of(BlockKind::contact),
              rows);
    EXPECT_EQ(kept.dense_J(), p.dense_J().topRows(rows));
    // What comes behind does not overlap with it.
    const ConstraintBlock& b = kept.add_block(BlockKind::contact, 3, std::vector<int>{0, 2});
    for (int k = 0; k < 2; ++k) std::fill_n(kept.jacobian_row(b, k, 0), 18, 1.0);
    EXPECT_EQ(kept.dense_J().topRows(rows), p.dense_J().topRows(rows));
  }
}

// --- contact frame -----------------------------------------------------------------------------------

Vec3 random_direction(std::mt19937& rng) { return Vec3(random_vector(3, rng)).normalized(); }

TEST(ContactFrame, IsRightHandedWithTheNormalLast) {
  std::mt19937 rng(3);
  std::vector<Vec3> normals = {Vec3::UnitX(),     Vec3::UnitY(),  Vec3::UnitZ(),    -Vec3::UnitX(),
                               -Vec3::UnitY(),    -Vec3::UnitZ(), Vec3(1, 0, -0.0), Vec3(1e-9, 0, -1).normalized(),
                               Vec3(0, 1, 1e-300)};
  for (int i = 0; i < 1000; ++i) normals.push_back(random_direction(rng));
  for (const Vec3& n : normals) {
    const Mat3 R = contact_frame(n);
    EXPECT_LT((R.transpose() * R - Mat3::Identity()).norm(), 1e-14) << n.transpose();
    EXPECT_NEAR(R.determinant(), 1.0, 1e-14);
    EXPECT_EQ(R.col(2), n);
  }
}

// Continuous within each half-space, the poles included; the jump lies on n_z = 0.
TEST(ContactFrame, IsContinuousInEachHemisphere) {
  std::mt19937 rng(4);
  for (int i = 0; i < 1000; ++i) {
    Vec3 n = i == 0 ? Vec3::UnitZ() : i == 1 ? Vec3(-Vec3::UnitZ()) : random_direction(rng);
    if (std::abs(n.z()) < 1e-3) continue;
    const Vec3 near = (n + 1e-7 * random_direction(rng)).normalized();
    EXPECT_LT((contact_frame(n) - contact_frame(near)).norm(), 1e-6);
  }
}

// --- contact rows ------------------------------------------------------------------------------------

constexpr double kRadius = 0.3;

struct Plane {
  Vec3 n;
  double height;
};

// The sphere (body 0) is B, the plane belongs to A: the world, or body 1 that carries the plane.
Contact sphere_on_plane(const Vec3& centre, const Plane& plane, int body_a) {
  Contact c;
  const double distance = plane.n.dot(centre) - plane.height;
  c.gap = distance - kRadius;
  c.n_W = plane.n;
  c.p_W = centre - distance * plane.n;
  c.body_a = body_a;
  c.body_b = 0;
  c.mu = 0.5;
  return c;
}

struct ContactRows {
  ConstraintProblem problem;
  double penetration = 0;
};

// Rows of contacts between free bodies at X.
ContactRows contact_rows(const std::vector<Contact>& contacts, const std::vector<Pose>& X, const VecX& u_minus,
                         const RowOptions& o, double dt) {
  ModelBuilder b("bodies");
  for (std::size_t i = 0; i < X.size(); ++i) b.add_body("body" + std::to_string(i), 1, Mat3::Identity(), X[i]);
  const Model model = b.build();
  const std::unique_ptr<Coordinates> maximal = maximal_coordinates(model);
  const JointKinematics none(model);
  ContactRows out;
  out.problem.set_nodes(maximal->node_sizes());
  out.problem.u_free = u_minus;
  const RowContext context{model,   *maximal, scheme_of(Integrator::semi_implicit), o, dt, none, none, none, X, {},
                           u_minus, {}};
  out.penetration = add_contact_rows(context, contacts, {}, out.problem);
  out.problem.finish();
  return out;
}

ConstraintProblem contact_problem(const Contact& c, const std::vector<Pose>& X, const VecX& u_minus,
                                  const RowOptions& o = {}, double dt = 1e-3) {
  return contact_rows({c}, X, u_minus, o, dt).problem;
}

TEST(ContactRows, NormalVelocityIsTheRateOfTheGap) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Vec3 n_A = random_direction(rng);  // in the frame of the body that carries the plane
    const double height = 0.1;
    const std::vector<Pose> X = {{Vec3(random_vector(3, rng)), so3_exp(Vec3(random_vector(3, rng)))},
                                 {Vec3(random_vector(3, rng)), so3_exp(Vec3(random_vector(3, rng)))}};
    const VecX u = random_vector(12, rng);
    const auto contact = [&](double h) {
      const Pose sphere = integrate_pose(X[0], u.head<6>(), h);
      const Pose carrier = integrate_pose(X[1], u.tail<6>(), h);
      const Vec3 n = carrier.q * n_A;
      return sphere_on_plane(sphere.p, {n, height + n.dot(carrier.p)}, 1);
    };
    const ConstraintProblem p = contact_problem(contact(0), X, VecX::Zero(12));
    const double rate = (contact(1e-6).gap - contact(-1e-6).gap) / 2e-6;
    VecX v(3);
    p.multiply_J(u, v);
    EXPECT_NEAR(v[2], rate, 1e-8);
  }
}

// Tangential rows: the velocity of the material point of B relative to that of A.
TEST(ContactRows, AreTheRelativeVelocityOfTheMaterialPoints) {
  std::mt19937 rng(6);
  const std::vector<Pose> X = {{Vec3(0.3, -0.2, 1.0), so3_exp(Vec3(1, 2, 3))}, {Vec3(-1, 0.5, 0.2), Quat::Identity()}};
  const Contact c = sphere_on_plane(X[0].p, {Vec3(1, 2, 3).normalized(), 0.2}, 1);
  const ConstraintProblem p = contact_problem(c, X, VecX::Zero(12));
  const VecX u = random_vector(12, rng);
  const auto point_velocity = [&](int body) {
    const Vec3 v = u.segment<3>(6 * body);
    const Vec3 w = u.segment<3>(6 * body + 3);
    return Vec3(v + w.cross(c.p_W - X[static_cast<std::size_t>(body)].p));
  };
  VecX v(3);
  p.multiply_J(u, v);
  EXPECT_LT((contact_frame(c.n_W).transpose() * (point_velocity(0) - point_velocity(1)) - v).norm(), 1e-14);
}

TEST(ContactRows, PositiveNormalImpulsesPushTheBodiesApart) {
  const std::vector<Pose> X = {{Vec3(0, 0, 1)}, {Vec3(0, 0, -1)}};
  const Contact c = sphere_on_plane(X[0].p, {Vec3::UnitZ(), 0.7}, 1);
  const ConstraintProblem p = contact_problem(c, X, VecX::Zero(12));
  const std::vector<double> lambda = {0, 0, 2};
  VecX impulse(12);
  p.multiply_Jt(lambda, impulse);
  EXPECT_LT((impulse.head<6>() - spatial(Vec3(0, 0, 2), Vec3::Zero())).norm(), 1e-15);
  EXPECT_LT((impulse.tail<6>() + spatial(Vec3(0, 0, 2), Vec3::Zero())).norm(), 1e-15);
}

TEST(ContactRows, TheWorldHasNoNode) {
  const std::vector<Pose> X = {{Vec3(0, 0, 0.3)}};
  Contact c = sphere_on_plane(X[0].p, {Vec3::UnitZ(), 0}, kWorld);
  const ConstraintProblem as_b = contact_problem(c, X, VecX::Zero(6));
  EXPECT_EQ(as_b.blocks[0].nodes, 1);
  EXPECT_EQ(as_b.blocks[0].mu, 0.5);
  std::swap(c.body_a, c.body_b);  // now the sphere is A
  const ConstraintProblem as_a = contact_problem(c, X, VecX::Zero(6));
  EXPECT_LT((as_a.dense_J() + as_b.dense_J()).norm(), 1e-15);
}

TEST(ContactRows, ReportTheDeepestPenetration) {
  const std::vector<Pose> X = {{Vec3(0, 0, 1)}};
  std::vector<Contact> contacts(3, sphere_on_plane(X[0].p, {Vec3::UnitZ(), 0.7}, kWorld));
  contacts[0].gap = 1e-3;
  contacts[1].gap = -2e-3;
  contacts[2].gap = -1e-3;
  EXPECT_EQ(contact_rows(contacts, X, VecX::Zero(6), {}, 1e-3).penetration, 2e-3);
  contacts.resize(1);
  EXPECT_EQ(contact_rows(contacts, X, VecX::Zero(6), {}, 1e-3).penetration, 0);
}

// The identity in files is of the geoms and of the whole feature key: triangles of one mesh differ in `hi` alone.
TEST(ContactRows, IdentityIsOfTheWholeFeatureKey) {
  const std::vector<Pose> X = {{Vec3(0, 0, 1)}};
  const Contact base = sphere_on_plane(X[0].p, {Vec3::UnitZ(), 0.7}, kWorld);
  std::set<std::uint64_t> ids;
  const auto add = [&](auto change) {
    Contact c = base;
    change(c);
    ids.insert(contact_problem(c, X, VecX::Zero(6)).blocks[0].id);
  };
  add([](Contact&) {});
  add([](Contact& c) { c.key.hi = 1; });
  add([](Contact& c) { c.key.hi = std::uint64_t{1} << 32; });
  add([](Contact& c) { c.key.lo = 1; });
  add([](Contact& c) { c.geom_a = 1; });
  add([](Contact& c) { c.geom_b = 1; });
  EXPECT_EQ(ids.size(), 6u);
}

// --- biases ------------------------------------------------------------------------------------------

TEST(Bias, UnilateralCases) {
  const double slop = 1e-3;
  const double dead = 1e-4;
  const Scheme& scheme = scheme_of(Integrator::semi_implicit);
  const auto bias = [&](double gap, double v_minus, double v_free, double restitution) {
    return unilateral_bias({gap, slop, v_minus, v_free, restitution, false, dead}, scheme, 0.5, 0.01);
  };
  EXPECT_NEAR(bias(0.02, -1, -1, 0), (0.02 - dead) / 0.01, 1e-12);  // open: may close by the gap
  EXPECT_EQ(bias(-0.006, -1, -1, 0), 0.0);                          // penetrating: goes no deeper, and nothing pushes
  for (const double gap : {-slop, -dead, 0.0, 0.99 * dead}) EXPECT_EQ(bias(gap, -1, -1, 0), 0.0);
  EXPECT_NEAR(bias(0, -2, -2, 0.5), -1.0, 1e-12);                       // touching and fast: v+ >= 1
  EXPECT_NEAR(bias(-0.006, -2, -2, 0.5), -1.0, 1e-12);                  // no more if it has sunk in
  EXPECT_EQ(bias(0, -0.4, -0.4, 0.5), 0.0);                             // slower than the threshold: no bounce
  EXPECT_EQ(bias(0, 1, 1, 0.5), 0.0);                                   // separating: no bounce
  EXPECT_NEAR(bias(0.019, -2, -2, 0.5), -1.0, 1e-12);                   // closes within the step: bounces at once
  EXPECT_NEAR(bias(0.021, -2, -2, 0.5), (0.021 - dead) / 0.01, 1e-12);  // would not reach the surface in this step
  EXPECT_NEAR(bias(0.021, -2, -2.2, 0.5), -1.0, 1e-12);                 // would, with the forces of the step
}

// Rows at the midpoint: what is sustained has its law on the mean velocity, what is open moves with u+ for half a step.
TEST(Bias, SustainedRowsOfTheMidpoint) {
  const double slop = 1e-3;
  const Scheme& scheme = scheme_of(Integrator::moreau);
  const auto bias = [&](double gap, double v_minus, bool sustained) {
    return unilateral_bias({gap, slop, v_minus, v_minus, 1.0, sustained, 1e-4}, scheme, 0.5, 0.01);
  };
  EXPECT_EQ(bias(0.5 * slop, -0.3, true), -0.3);
  EXPECT_EQ(bias(-slop, 0.2, true), 0.2);
  EXPECT_NEAR(bias(2 * slop, -0.3, true), (2 * slop - 1e-4) / 0.005, 1e-12);
  EXPECT_EQ(bias(-slop, -3, false), 0.0);  // restitution belongs to impact steps
}

TEST(Bias, ContactsUseTheNormalVelocityBeforeTheStep) {
  RowOptions o;
  o.contact_slop = 0;
  const std::vector<Pose> X = {{Vec3(0, 0, kRadius)}};
  Contact c = sphere_on_plane(X[0].p, {Vec3::UnitZ(), 0}, kWorld);
  c.restitution = 0.8;
  VecX u = VecX::Zero(6);
  u << 5, 0, -3, 0, 0, 0;  // the tangential part must not count
  const ConstraintProblem p = contact_problem(c, X, u, o, 0.01);
  EXPECT_EQ(p.bias[0], 0);
  EXPECT_EQ(p.bias[1], 0);
  EXPECT_NEAR(p.bias[2], -2.4, 1e-14);
  EXPECT_NEAR(p.v_free[2], -5.4, 1e-14);
}

}  // namespace
}  // namespace sarrus::problem_test
