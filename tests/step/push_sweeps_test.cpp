// Sweeps that push bodies without joints out of what they have sunk into: what they reach, and what they leave to the
// solver.
#include <gtest/gtest.h>

#include <vector>

#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/step/push_sweeps.h"

namespace sarrus::push_sweeps_test {
namespace {

struct Scene {
  explicit Scene(Model m) : model(std::move(m)), kinematics(model) {
    for (const Body& b : model.bodies()) poses.push_back(b.X_WB0);
    coordinates = maximal_coordinates(model);
    kinematics.update(poses);
    u = VecX::Zero(coordinates->velocity_size());
    d = u;
  }
  RowContext context() const {
    return {model,
            *coordinates,
            scheme_of(Integrator::moreau),
            options,
            1e-3,
            kinematics,
            kinematics,
            kinematics,
            poses,
            q,
            u,
            {}};
  }
  double opens(const Contact& c) const {
    double v = 0;
    for (const auto& [body, sign] : {std::pair(c.body_a, -1.0), std::pair(c.body_b, 1.0)}) {
      if (body == kWorld) continue;
      const auto k = static_cast<std::size_t>(body);
      const Vec3 turn = d.segment<3>(6 * body + 3);
      v += sign * c.n_W.dot(d.segment<3>(6 * body) + turn.cross(c.p_W - poses[k].p));
    }
    return v;
  }

  Model model;
  RowOptions options;
  std::unique_ptr<Coordinates> coordinates;
  JointKinematics kinematics;
  std::vector<Pose> poses;
  std::vector<double> q;
  VecX u, d;
};

Contact contact(int a, int b, const Vec3& p, const Vec3& n = Vec3::UnitZ()) {
  Contact c;
  c.body_a = a;
  c.body_b = b;
  c.p_W = p;
  c.n_W = n;
  return c;
}

// A box on four corners goes up as it lies, by what is asked.
TEST(PushSweeps, LiftsABoxWithoutTurningIt) {
  ModelBuilder b("box", "");
  b.add_solid("box", 2.0, Shape::box(Vec3(0.2, 0.1, 0.05)), {Vec3(0, 0, 0.05), Quat::Identity()});
  Scene s(b.build());
  std::vector<Contact> contacts;
  for (const double x : {-0.2, 0.2}) {
    for (const double y : {-0.1, 0.1}) contacts.push_back(contact(kWorld, 0, Vec3(x, y, 0)));
  }
  PushSweeps sweeps;
  sweeps.take_memory(s.model, contacts.size());
  ASSERT_TRUE(sweeps.run(s.context(), contacts, std::vector<double>(4, 1e-5), s.d));
  EXPECT_NEAR(s.d[2], 1e-5, 1e-8);
  EXPECT_LE((s.d - s.d[2] * VecX::Unit(6, 2)).norm(), 1e-8);
  EXPECT_EQ(sweeps.moved()[0], 1);
}

// The upper of two balls is deep in the lower one, which lies on the floor: it alone can give way, since the floor
// lets the lower one in by its own tolerance at most. A ball that touches neither stays.
TEST(PushSweeps, NothingElseIsPushedIn) {
  ModelBuilder b("balls", "");
  b.add_solid("lower", 1.0, Shape::sphere(0.1), {Vec3(0, 0, 0.1), Quat::Identity()});
  b.add_solid("upper", 1.0, Shape::sphere(0.1), {Vec3(0, 0, 0.3), Quat::Identity()});
  b.add_solid("far", 1.0, Shape::sphere(0.1), {Vec3(3, 0, 0.1), Quat::Identity()});
  Scene s(b.build());
  const std::vector<Contact> contacts = {contact(kWorld, 0, Vec3::Zero()), contact(0, 1, Vec3(0, 0, 0.2)),
                                         contact(kWorld, 2, Vec3(3, 0, 0))};
  const std::vector<double> aim = {-1e-6, 1e-4, -1e-6};
  PushSweeps sweeps;
  sweeps.take_memory(s.model, contacts.size());
  ASSERT_TRUE(sweeps.run(s.context(), contacts, aim, s.d));
  for (std::size_t i = 0; i < contacts.size(); ++i) EXPECT_GE(s.opens(contacts[i]), aim[i] - 0.03 * 1e-4) << i;
  EXPECT_LE(s.opens(contacts[1]), 1.03 * 1e-4);
  EXPECT_EQ(sweeps.moved()[2], 0);
}

// Bodies with joints are the solver's.
TEST(PushSweeps, LeavesJointsToTheSolver) {
  ModelBuilder b("pendulum", "");
  const int body = b.add_solid("bob", 1.0, Shape::sphere(0.1), {Vec3(0, 0, 0.1), Quat::Identity()});
  b.add_joint_at("hinge", JointType::revolute, kWorld, body, Vec3(0, 0, 1));
  Scene s(b.build());
  PushSweeps sweeps;
  sweeps.take_memory(s.model, 1);
  EXPECT_FALSE(sweeps.run(s.context(), std::vector{contact(kWorld, 0, Vec3::Zero())}, std::vector{1e-5}, s.d));
}

}  // namespace
}  // namespace sarrus::push_sweeps_test
