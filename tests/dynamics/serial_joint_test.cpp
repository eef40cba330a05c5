// Serial joints: coordinates found from poses, rows and directions against finite differences, singular axes.
#include "sarrus/dynamics/serial_joint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/random.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"

namespace sarrus::serial_joint_test {
namespace {

// Written here and not taken from the engine: the pose of the follower's joint frame in that of the base.
Pose chain(const std::vector<SerialAxis>& axes, const std::vector<double>& q) {
  Pose X;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const SerialAxis& a = axes[k];
    const double way = q[k] - a.reference;
    if (a.angular) {
      const Quat E = so3_exp(way * a.axis_J);
      X = X * Pose{a.p_J - E * a.p_J, E};
    } else {
      X = X * Pose{way * a.axis_J, Quat::Identity()};
    }
  }
  return X;
}

struct Case {
  Model model;
  std::vector<double> q;
  std::vector<Pose> X_WB;
};

// A serial joint of random axes between two bodies, or the world and a body, at random coordinates.
Case random_case(Random& r, int dofs, bool two_bodies) {
  ModelBuilder b("serial");
  const auto pose = [&] { return Pose{r.in_box(1), so3_exp(r.in_box(2))}; };
  b.add_body("base", 1.0, Mat3::Identity(), pose());
  b.add_body("follower", 1.0, Mat3::Identity(), pose());
  Joint j{.name = "serial", .type = JointType::serial, .base = two_bodies ? 0 : kWorld, .follower = 1};
  j.p_BJ = r.in_box(0.5);
  j.q_BJ = so3_exp(r.in_box(2));
  j.p_FJ = r.in_box(0.5);
  j.q_FJ = so3_exp(r.in_box(2));
  Case c;
  for (int k = 0; k < dofs; ++k) {
    SerialAxis a;
    a.angular = r.chance(0.75);
    a.p_J = r.in_box(0.3);
    a.axis_J = r.direction();
    a.reference = r.uniform(-1, 1);
    j.axes.push_back(a);
    c.q.push_back(a.angular ? r.uniform(-8, 8) : r.uniform(-0.5, 0.5));
  }
  b.add_joint(j);
  c.model = b.build();
  c.X_WB = {c.model.bodies()[0].X_WB0, {}};
  const Pose X_WJ = (two_bodies ? c.X_WB[0] : Pose{}) * Pose{j.p_BJ, j.q_BJ} * chain(j.axes, c.q);
  c.X_WB[1] = X_WJ * Pose{j.p_FJ, j.q_FJ}.inverse();
  return c;
}

// Calls f for cases whose axes are independent.
template <class F>
void for_each_case(std::uint64_t seed, const F& f) {
  Random r(seed);
  int kept = 0;
  for (int i = 0; i < 120; ++i) {
    const Case c = random_case(r, 2 + i % 4, i % 8 < 4);
    JointKinematics kin(c.model);
    kin.update(c.X_WB, c.q);
    if (kin.conditioning(0) < 1) continue;  // another test
    ++kept;
    f(c, kin, r);
  }
  EXPECT_GT(kept, 80);
}

TEST(SerialJoint, FindsItsCoordinatesFromNearby) {
  for_each_case(1, [](const Case& c, JointKinematics&, Random& r) {
    std::vector<double> near = c.q;
    for (double& q : near) q += r.uniform(-0.05, 0.05);
    JointKinematics kin(c.model);
    kin.update(c.X_WB, near);
    for (int k = 0; k < c.model.dof_count(); ++k) {
      EXPECT_NEAR(kin.coordinate(k, 0), c.q[static_cast<std::size_t>(k)], 1e-11);
    }
    double residual[6];
    kin.residual(0, residual);
    for (int i = 0; i < 6 - c.model.dof_count(); ++i) EXPECT_NEAR(residual[i], 0, 1e-12);
    // The same values again leave the bits alone.
    std::vector<double> q(near.size());
    kin.update_coordinates(q);
    kin.update(c.X_WB, q);
    for (int k = 0; k < c.model.dof_count(); ++k) EXPECT_EQ(kin.coordinate(k, 0), q[static_cast<std::size_t>(k)]);
  });
}

TEST(SerialJoint, RowsAreReciprocalToTheAxesAndComplementThem) {
  for_each_case(2, [](const Case& c, JointKinematics& kin, Random&) {
    const int dofs = c.model.dof_count();
    JointAxis rows[6], axes[kMaxJointDofs];
    const int translational = kin.constraint_axes(0, rows);
    kin.dof_axes(0, axes);
    EXPECT_LE(translational, 3);
    constexpr double h = 1e-6;
    for (int k = 0; k < dofs; ++k) {
      // The twist of a coordinate at p_F, by differences of the chain.
      std::vector<double> q = c.q;
      const Joint& j = c.model.joints()[0];
      q[static_cast<std::size_t>(k)] += h;
      const Pose plus = chain(j.axes, q);
      q[static_cast<std::size_t>(k)] -= 2 * h;
      const Pose minus = chain(j.axes, q);
      const Mat3& A = kin.frame(0).A_B;
      const Vec3 v = A * (plus.p - minus.p) / (2 * h);
      const Vec3 w = A * so3_log(plus.q * minus.q.conjugate()) / (2 * h);
      for (int i = 0; i < 6 - dofs; ++i) EXPECT_NEAR(rows[i].linear.dot(v) + rows[i].angular.dot(w), 0, 1e-7);
      for (int i = 0; i < dofs; ++i) {
        EXPECT_NEAR(axes[i].linear.dot(v) + axes[i].angular.dot(w), i == k ? 1 : 0, 1e-7);
      }
    }
  });
}

// For arbitrary twists, not only along the manifold.
TEST(SerialJoint, ResidualsAndCoordinatesHaveTheRatesOfTheirRows) {
  for_each_case(3, [](const Case& c, JointKinematics& kin, Random& r) {
    std::vector<Vec6> u;
    for (int i = 0; i < 2; ++i) {
      const Vec3 v = r.in_box(1);
      u.push_back(spatial(v, r.in_box(1)));
    }
    constexpr double h = 1e-6;
    const auto moved = [&](double t) {
      std::vector<Pose> X;
      for (std::size_t i = 0; i < 2; ++i) X.push_back(integrate_pose(c.X_WB[i], u[i], t));
      return X;
    };
    JointKinematics plus(c.model), minus(c.model);
    plus.update(moved(h), c.q);
    minus.update(moved(-h), c.q);
    double r_plus[6], r_minus[6];
    plus.residual(0, r_plus);
    minus.residual(0, r_minus);
    const Joint& j = c.model.joints()[0];
    JointAxis rows[6];
    kin.constraint_axes(0, rows);
    for (int i = 0; i < 6 - c.model.dof_count(); ++i) {
      double rate = follower_row(kin.frame(0), rows[i]).dot(u[1]);
      if (j.base != kWorld) rate += base_row(kin.frame(0), rows[i]).dot(u[0]);
      EXPECT_NEAR((r_plus[i] - r_minus[i]) / (2 * h), rate, 1e-6);
    }
    for (int k = 0; k < c.model.dof_count(); ++k) {
      EXPECT_NEAR((plus.coordinate(k, 0) - minus.coordinate(k, 0)) / (2 * h), kin.rate(k, u), 1e-6);
    }
  });
}

TEST(SerialJoint, StateStartsAtTheReferenceOrTheInitialValues) {
  ModelBuilder b("foot");
  b.add_body("foot", 1.0, Mat3::Identity(), {Vec3(0, 0, -0.1)});
  const int joint = b.add_serial_at("ankle", kWorld, 0,
                                    {{.name = "roll", .p_J = Vec3(0, 0, 0), .axis_J = Vec3::UnitX(), .reference = 0.3},
                                     {.name = {}, .p_J = Vec3(0, 0, -0.04), .axis_J = Vec3::UnitY()}});
  const State s = State::initial(b.build());
  EXPECT_NEAR(s.q[0], 0.3, 1e-15);
  EXPECT_NEAR(s.q[1], 0, 1e-15);
  EXPECT_EQ(b.build().dof_name(0), "ankle.roll");
  EXPECT_EQ(b.build().dof_name(1), "ankle.q2");
  b.dof(joint, 1).initial = 4 * std::numbers::pi;
  EXPECT_NEAR(State::initial(b.build()).q[1], 4 * std::numbers::pi, 1e-12);
}

// Three turning axes through one point whose outer two coincide: a coordinate too many. Rates stay finite, and far from
// there the joint is a ball.
TEST(SerialJoint, DependentAxesAreToldAndStayFinite) {
  ModelBuilder b("wrist");
  b.add_body("hand", 1.0, Mat3::Identity(), {});
  b.add_serial_at("wrist", kWorld, 0,
                  {{.name = {}, .axis_J = Vec3::UnitX()},
                   {.name = {}, .axis_J = Vec3::UnitY()},
                   {.name = {}, .axis_J = Vec3::UnitX()}});
  const Model m = b.build();
  JointKinematics kin(m);
  std::vector<double> q = {0.1, 0, 0.2};
  for (const double tilt : {0.0, 1e-9, 1e-4, 0.005, 0.3}) {
    q[1] = tilt;
    const Pose X = chain(m.joints()[0].axes, q);
    kin.update({&X, 1}, q);
    if (tilt < 0.007) {
      EXPECT_NEAR(kin.conditioning(0), tilt / std::sqrt(2.0), 1e-3 * tilt + 1e-12);
    } else {
      EXPECT_EQ(kin.conditioning(0), 1);
    }
    JointAxis axes[kMaxJointDofs], rows[6];
    kin.dof_axes(0, axes);
    kin.constraint_axes(0, rows);
    for (int k = 0; k < 3; ++k) {
      EXPECT_LE(axes[k].angular.norm(), 1.01 / SerialJoint::kLeast);
      EXPECT_TRUE(rows[k].linear.isApprox(Vec3::Unit(k), 1e-12)) << "three translations stay constrained";
    }
  }
}

}  // namespace
}  // namespace sarrus::serial_joint_test
