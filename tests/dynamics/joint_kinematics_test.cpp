// Joint rows, coordinates and limits of every type against finite differences along random twists of both bodies.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "dynamics/joint_fixture.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/rows/rows.h"
#include "support/dense.h"

namespace sarrus::joint_kinematics_test {
namespace {

using testing::all_joint_types;
using testing::JointPlace;
using testing::moved;
using testing::one_joint;
using testing::place_on_manifold;
using testing::poses_at;
using testing::Random;
using testing::random_velocity;

constexpr double kStep = 1e-5;      // of the central differences
constexpr double kAccuracy = 1e-7;  // their error: kStep^2 times third derivatives of order 100

// Calls f(label, model, poses, place, rng) for every type, unary and binary, at random places of the manifold.
using Visit =
    std::function<void(const std::string&, const Model&, const std::vector<Pose>&, const JointPlace&, Random&)>;
void for_every_joint(unsigned seed, const Visit& f) {
  Random rng(seed);
  for (const JointType type : all_joint_types()) {
    for (const bool binary : {false, true}) {
      for (int trial = 0; trial < 5; ++trial) {
        const Model model = one_joint(type, binary, rng);
        const JointPlace place = place_on_manifold(type, model.joints()[0].length, rng);
        const std::string label = std::string(joint_type_info(type).name) + (binary ? ", binary" : ", unary");
        f(label, model, poses_at(model, place, rng), place, rng);
      }
    }
  }
}

// Position rows at given poses; bias holds the residual.
ConstraintProblem position_rows(const Model& model, const std::vector<Pose>& X, const std::vector<double>& q) {
  ConstraintProblem p;
  const std::unique_ptr<Coordinates> maximal = maximal_coordinates(model);
  p.set_nodes(maximal->node_sizes());
  JointKinematics kinematics(model);
  kinematics.update(X);
  set_position_rows(model, *maximal, X, kinematics, q, p);
  return p;
}

VecX residual(const ConstraintProblem& p) { return Eigen::Map<const VecX>(p.bias.data(), p.rows()); }

std::vector<double> coordinates(const Model& model, const std::vector<Pose>& X) {
  std::vector<double> q(static_cast<std::size_t>(model.dof_count()), 0.0);
  JointKinematics kinematics(model);
  kinematics.update(X);
  kinematics.update_coordinates(q);
  return q;
}

// J u against the change of the residual, both by set_position_rows.
void expect_rows_match(const std::string& label, const Model& model, const std::vector<Pose>& X, Random& rng) {
  const std::vector<double> q = coordinates(model, X);
  const ConstraintProblem p = position_rows(model, X, q);
  for (int trial = 0; trial < 4 && p.rows() > 0; ++trial) {
    const VecX u = random_velocity(X.size(), rng);
    const VecX change = (residual(position_rows(model, moved(X, u, kStep), q)) -
                         residual(position_rows(model, moved(X, u, -kStep), q))) /
                        (2 * kStep);
    EXPECT_LT((p.dense_J() * u - change).cwiseAbs().maxCoeff(), kAccuracy) << label;
  }
}

TEST(JointRows, AreTheDerivativeOfTheResidual) {
  for_every_joint(1, [](const auto& label, const Model& m, const auto& X, const JointPlace&, Random& rng) {
    expect_rows_match(label, m, X, rng);
  });
}

// A problem that has the rows of another pose is written over: nothing is left of them.
TEST(JointRows, WrittenOverAreAsThoseOfANewProblem) {
  for_every_joint(
      7, [](const std::string& label, const Model& model, const std::vector<Pose>& X, const JointPlace&, Random& rng) {
        const std::vector<double> q = coordinates(model, X);
        const ConstraintProblem fresh = position_rows(model, X, q);
        const std::vector<Pose> other = moved(X, random_velocity(X.size(), rng), 0.1);
        ConstraintProblem p = position_rows(model, other, q);
        p.add_block(BlockKind::limit, 1, std::vector<int>{0});
        const std::unique_ptr<Coordinates> maximal = maximal_coordinates(model);
        JointKinematics kinematics(model);
        kinematics.update(X);
        set_position_rows(model, *maximal, X, kinematics, q, p);
        EXPECT_EQ(p.rows(), fresh.rows()) << label;
        EXPECT_EQ(p.rows_of(BlockKind::limit), 0) << label;
        EXPECT_EQ(p.jacobian, fresh.jacobian) << label;
        EXPECT_EQ(p.bias, fresh.bias) << label;
        EXPECT_EQ(p.R, fresh.R) << label;
      });
}

TEST(JointRows, ResidualVanishesOnTheManifold) {
  for_every_joint(2, [](const auto& label, const Model& m, const auto& X, const JointPlace&, Random&) {
    const ConstraintProblem p = position_rows(m, X, coordinates(m, X));
    EXPECT_EQ(p.rows(), joint_type_info(m.joints()[0].type).rows) << label;
    if (p.rows() > 0) {
      EXPECT_LT(residual(p).cwiseAbs().maxCoeff(), 5e-14) << label;
    }
  });
}

TEST(JointRows, ResidualVanishesAtTheReferencePose) {
  Random rng(3);
  for (const JointType type : all_joint_types()) {
    const Model m = one_joint(type, true, rng);
    const State s = State::initial(m);
    const ConstraintProblem p = position_rows(m, s.X_WB, s.q);
    if (p.rows() > 0) {
      EXPECT_LT(residual(p).cwiseAbs().maxCoeff(), 2e-15 * 10) << joint_type_info(type).name;
    }
    for (const double q : s.q) EXPECT_NEAR(q, 0.0, 1e-14) << joint_type_info(type).name;
  }
}

// Off the manifold the residuals are the relative position and rotation themselves, in base-joint axes.
TEST(JointRows, ResidualMeasuresTheError) {
  Random rng(4);
  const Model m = one_joint(JointType::fixed, true, rng);
  for (int trial = 0; trial < 20; ++trial) {
    JointPlace place;
    const Vec3 phi = 2.5 * rng.vector().normalized();
    place.X_BF = {rng.vector(), so3_exp(phi)};
    const VecX r = residual(position_rows(m, poses_at(m, place, rng), {}));
    EXPECT_LT((r.head<3>() - place.X_BF.p).norm(), 1e-13);
    EXPECT_LT((r.tail<3>() - phi).norm(), 1e-13);
  }
  const Model hinge = one_joint(JointType::revolute, true, rng);
  for (const double tilt : {1e-9, 1e-3, 1.0, 3.0}) {  // about z, after a turn of 2 rad about x
    JointPlace place;
    place.X_BF.q = so3_exp(Vec3(0, 0, tilt)) * so3_exp(Vec3(2, 0, 0));
    const std::vector<double> q = {2.0};
    const VecX r = residual(position_rows(hinge, poses_at(hinge, place, rng), q));
    EXPECT_NEAR(r[3], 0.0, 1e-14);
    EXPECT_NEAR(r[4], tilt, 1e-14);
  }
}

TEST(JointRows, ConstraintsAndDofsComplementEachOther) {
  for_every_joint(5, [](const auto& label, const Model& m, const auto& X, const JointPlace&, Random&) {
    const Joint& j = m.joints()[0];
    if (j.type == JointType::free || j.type == JointType::distance) return;
    JointKinematics kin(m);
    kin.update(X);
    JointAxis axes[6];
    const int rows = joint_type_info(j.type).rows;
    const int dofs = joint_type_info(j.type).dofs;
    ASSERT_EQ(rows + dofs, 6) << label;
    joint_constraint_axes(j, kin.frame(0), axes);
    joint_dof_axes(j, kin.frame(0), axes + rows);
    MatX S(6, 6);
    for (int k = 0; k < 6; ++k) S.col(k) = spatial(axes[k].linear, axes[k].angular);
    const VecX singular = test::singular_values(S);
    EXPECT_GT(singular[5], j.type == JointType::gimbal ? 0.1 : 0.99) << label;
    EXPECT_LT((S.leftCols(rows).transpose() * S.rightCols(dofs)).cwiseAbs().sum(), 1e-13) << label;
  });
}

// --- coordinates -------------------------------------------------------------------------------------

TEST(Coordinates, AreThoseThePlaceWasMadeWith) {
  for_every_joint(6, [](const auto& label, const Model& m, const auto& X, const JointPlace& place, Random&) {
    const std::vector<double> q = coordinates(m, X);
    for (int k = 0; k < m.dof_count(); ++k) {
      EXPECT_NEAR(q[static_cast<std::size_t>(k)], place.q[k], 2e-13) << label << k;
    }
  });
}

double row_rate(const DofRow& row, const VecX& u) {
  double rate = row.J_follower.dot(u.segment<6>(6 * row.follower));
  if (row.base != kWorld) rate += row.J_base.dot(u.segment<6>(6 * row.base));
  return rate;
}

// For arbitrary twists, not only along the manifold: true on the manifold for every type.
TEST(Coordinates, RatesAreTheDofRows) {
  for_every_joint(7, [](const auto& label, const Model& m, const auto& X, const JointPlace& place, Random& rng) {
    if (!joint_type_info(m.joints()[0].type).coordinates) return;
    JointKinematics here(m);
    JointKinematics plus(m);
    JointKinematics minus(m);
    here.update(X);
    const VecX u = random_velocity(X.size(), rng);
    plus.update(moved(X, u, kStep));
    minus.update(moved(X, u, -kStep));
    for (int k = 0; k < m.dof_count(); ++k) {
      const double rate = (plus.coordinate(k, place.q[k]) - minus.coordinate(k, place.q[k])) / (2 * kStep);
      EXPECT_NEAR(row_rate(dof_row(m, here, k), u), rate, 20 * kAccuracy) << label << k;
    }
  });
}

TEST(Coordinates, SphericalRatesAreTheRelativeAngularVelocity) {
  Random rng(8);
  const Model m = one_joint(JointType::spherical, true, rng);
  const auto relative = [&](const std::vector<Pose>& X) {
    JointKinematics kin(m);
    kin.update(X);
    return Mat3(kin.frame(0).A_B.transpose() * kin.frame(0).A_F);
  };
  for (int trial = 0; trial < 10; ++trial) {
    const std::vector<Pose> X = poses_at(m, place_on_manifold(JointType::spherical, 0, rng), rng);
    const VecX u = random_velocity(2, rng);
    const Mat3 turn = relative(moved(X, u, kStep)) * relative(moved(X, u, -kStep)).transpose();
    const Vec3 w = so3_log(Quat(turn)) / (2 * kStep);
    JointKinematics kin(m);
    kin.update(X);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(row_rate(dof_row(m, kin, k), u), w[k], 1e-6);
  }
}

// The gradient of |theta|^2/2 is theta: its rate is theta . w_rel.
TEST(Coordinates, SphericalOnesAreTheRotationVectorFromRest) {
  Random rng(18);
  for (int trial = 0; trial < 20; ++trial) {
    ModelData data = one_joint(JointType::spherical, true, rng).data();
    const Quat q_rest = data.joints[0].q_rest = rng.rotation();
    const Model m = finish_model(std::move(data));
    const JointPlace turned = place_on_manifold(JointType::spherical, 0, rng);
    const std::vector<Pose> X = poses_at(m, {{Vec3::Zero(), turned.X_BF.q * q_rest}}, rng);
    const std::vector<double> theta = coordinates(m, X);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(theta[k], turned.q[k], 1e-12);
    const VecX u = random_velocity(2, rng);
    const auto energy = [&](double dt) {
      const std::vector<double> q = coordinates(m, moved(X, u, dt));
      return 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    };
    JointKinematics kin(m);
    kin.update(X);
    double power = 0;
    for (int k = 0; k < 3; ++k) power += theta[static_cast<std::size_t>(k)] * row_rate(dof_row(m, kin, k), u);
    EXPECT_NEAR((energy(kStep) - energy(-kStep)) / (2 * kStep), power, 20 * kAccuracy);
  }
}

// Turns the follower about the joint's x axis through the anchor.
Model spinning_joint(JointType type, bool wrapped) {
  ModelBuilder b("spin");
  b.add_body("disc", 1, Mat3::Identity(), {});
  const int j = b.add_joint_at("axle", type, kWorld, 0, Vec3::Zero());
  for (int k = 0; k < joint_type_info(type).dofs; ++k)
    b.dof(j, k).wrapped = wrapped && joint_type_info(type).angular[k];
  return b.build();
}

TEST(Coordinates, CountTurnsUnlessWrapped) {
  for (const JointType type : {JointType::revolute, JointType::cylindrical, JointType::universal, JointType::gimbal}) {
    const std::size_t dof = type == JointType::cylindrical ? 1 : 0;
    for (const double sign : {1.0, -1.0}) {
      for (const bool wrapped : {false, true}) {
        const Model m = spinning_joint(type, wrapped);
        JointKinematics kin(m);
        std::vector<double> q(static_cast<std::size_t>(m.dof_count()), 0.0);
        for (int i = 1; i <= 40; ++i) {
          const double angle = sign * 0.9 * i;
          const std::vector<Pose> X = {{Vec3::Zero(), so3_exp(Vec3(angle, 0, 0))}};
          kin.update(X);
          kin.update_coordinates(q);
          EXPECT_NEAR(q[dof], wrapped ? wrap_angle(angle) : angle, 1e-12) << joint_type_info(type).name;
          // The same bits once more: a restored state finds its coordinates as they were.
          std::vector<double> again = q;
          kin.update_coordinates(again);
          EXPECT_EQ(again, q) << joint_type_info(type).name;
        }
      }
    }
  }
}

TEST(Coordinates, PlanarAngleCountsTurns) {
  const Model m = spinning_joint(JointType::planar, false);
  JointKinematics kin(m);
  std::vector<double> q(3, 0.0);
  for (int i = 1; i <= 20; ++i) {
    const std::vector<Pose> X = {{Vec3(0.1 * i, -0.2 * i, 0), so3_exp(Vec3(0, 0, -1.1 * i))}};
    kin.update(X);
    kin.update_coordinates(q);
  }
  EXPECT_NEAR(q[0], 2.0, 1e-12);
  EXPECT_NEAR(q[1], -4.0, 1e-12);
  EXPECT_NEAR(q[2], -22.0, 1e-12);
}

// --- couplings ---------------------------------------------------------------------------------------

TEST(Coupling, RowsOfGearsScrewsAndRacks) {
  Random rng(9);
  for (int trial = 0; trial < 10; ++trial) {
    ModelBuilder b("coupled");
    for (int i = 0; i < 4; ++i) b.add_body("body" + std::to_string(i), 1, Mat3::Identity(), rng.pose());
    const int hinge = b.add_joint_at("hinge", JointType::revolute, 0, 1, rng.vector(), rng.rotation());
    const int screw = b.add_joint_at("screw", JointType::cylindrical, 2, 3, rng.vector(), rng.rotation());
    const int slide = b.add_joint_at("slide", JointType::prismatic, 1, 2, rng.vector(), rng.rotation());
    b.add_coupling("gear", b.dof_index(hinge), b.dof_index(screw, 1), -2.5, 0.3);  // four bodies
    b.add_coupling("pitch", b.dof_index(screw, 0), b.dof_index(screw, 1), 0.02);   // one joint
    b.add_coupling("rack", b.dof_index(slide), b.dof_index(hinge), 0.5, -0.1);     // three bodies
    const Model m = b.build();
    const State s = State::initial(m);
    const std::vector<int> nodes = {4, 2, 3};
    const ConstraintProblem p = position_rows(m, s.X_WB, s.q);
    for (std::size_t i = 0; i < 3; ++i) {
      const ConstraintBlock& block = p.blocks[3 + i];
      EXPECT_EQ(block.source_kind, RowSource::coupling);
      EXPECT_EQ(block.nodes, nodes[i]);
    }
    EXPECT_NEAR(residual(p).tail<3>()[0], -0.3, 1e-13);
    expect_rows_match("couplings", m, s.X_WB, rng);
  }
}

// The residual counts turns: half a turn beyond a full one is not half a turn.
TEST(Coupling, UsesMultiTurnAngles) {
  ModelBuilder b("screw");
  b.add_body("nut", 1, Mat3::Identity(), {});
  const int j = b.add_joint_at("screw", JointType::cylindrical, kWorld, 0, Vec3::Zero());
  b.add_coupling("pitch", b.dof_index(j, 0), b.dof_index(j, 1), 0.01);
  const Model m = b.build();
  const double angle = 7.5 * std::numbers::pi;
  const std::vector<Pose> X = {{Vec3(0.01 * angle, 0, 0), so3_exp(Vec3(angle, 0, 0))}};
  const std::vector<double> q = {0.2, angle - 0.4};  // the coordinates of a step ago
  EXPECT_NEAR(residual(position_rows(m, X, q))[4], 0.0, 1e-13);
}

// --- limits, swing limits, ropes: gap = dt * bias while open ------------------------------------------------

struct LimitRows {
  ConstraintProblem problem;
  double violation = 0;
};

LimitRows limit_rows(const Model& m, const std::vector<Pose>& X, const std::vector<double>& near) {
  LimitRows out;
  const std::unique_ptr<Coordinates> maximal = maximal_coordinates(m);
  out.problem.set_nodes(maximal->node_sizes());
  JointKinematics kin(m);
  kin.update(X);
  std::vector<double> q = near;
  kin.update_coordinates(q);
  RowOptions o;
  o.limit_margin = 100;
  const VecX rest = VecX::Zero(out.problem.velocity_size());
  const std::vector<DriveInput> inputs(q.size());
  const Scheme& scheme = scheme_of(Integrator::semi_implicit);
  RowContext context{m, *maximal, scheme, o, 1.0, kin, kin, kin, X, q, rest, inputs};
  context.positions = true;  // the bias is the gap
  out.violation = add_limit_rows(context, out.problem).largest;
  return out;
}

void expect_limit_rows_match(const std::string& label, const Model& m, const std::vector<Pose>& X,
                             const std::vector<double>& q, Random& rng) {
  const ConstraintProblem p = limit_rows(m, X, q).problem;
  ASSERT_GT(p.rows(), 0) << label;
  for (int trial = 0; trial < 5; ++trial) {
    const VecX u = random_velocity(X.size(), rng);
    const VecX change = (residual(limit_rows(m, moved(X, u, kStep), q).problem) -
                         residual(limit_rows(m, moved(X, u, -kStep), q).problem)) /
                        (2 * kStep);
    EXPECT_LT((p.dense_J() * u - change).cwiseAbs().maxCoeff(), 20 * kAccuracy) << label;
  }
}

TEST(Limits, RowsAreTheDerivativeOfTheGaps) {
  Random rng(10);
  for (const JointType type : all_joint_types()) {
    if (!joint_type_info(type).coordinates) continue;
    const Model plain = one_joint(type, true, rng);
    ModelData data = plain.data();
    for (Dof& d : data.dofs) {
      d.limit.lower = -2.0;
      d.limit.upper = 2.5;
    }
    const Model m = finish_model(data);
    const JointPlace place = place_on_manifold(type, 0, rng);
    const std::vector<Pose> X = poses_at(m, place, rng);
    const std::vector<double> q(place.q, place.q + m.dof_count());
    const LimitRows rows = limit_rows(m, X, q);
    ASSERT_EQ(rows.problem.rows(), 2 * m.dof_count());
    double violation = 0;
    for (int k = 0; k < m.dof_count(); ++k) {
      EXPECT_NEAR(rows.problem.bias[static_cast<std::size_t>(k)], place.q[k] + 2.0, 1e-12);
      EXPECT_NEAR(rows.problem.bias[static_cast<std::size_t>(k + m.dof_count())], 2.5 - place.q[k], 1e-12);
      violation = std::max({violation, -2.0 - place.q[k], place.q[k] - 2.5});
    }
    EXPECT_NEAR(rows.violation, violation, 1e-12);
    expect_limit_rows_match(std::string(joint_type_info(type).name), m, X, q, rng);
  }
}

TEST(Limits, SwingRow) {
  Random rng(11);
  for (const bool binary : {false, true}) {
    ModelData data = one_joint(JointType::spherical, binary, rng).data();
    data.joints[0].swing_limit = 1.0;
    const Model m = finish_model(data);
    for (const double swing : {0.01, 0.5, 1.3, 3.0}) {
      JointPlace place;
      const double way = rng.uniform(-3, 3);
      place.X_BF.q = so3_exp(swing * Vec3(0, std::cos(way), std::sin(way))) * so3_exp(Vec3(rng.uniform(-3, 3), 0, 0));
      const std::vector<Pose> X = poses_at(m, place, rng);
      const std::vector<double> q(3, 0.0);
      EXPECT_NEAR(limit_rows(m, X, q).problem.bias[0], 1.0 - swing, 1e-13);
      EXPECT_NEAR(limit_rows(m, X, q).violation, std::max(0.0, swing - 1.0), 1e-13);
      // The rate of the swing angle turns with 1/sin(swing): differences are less accurate near 0 and pi.
      if (swing > 0.1) expect_limit_rows_match("swing", m, X, q, rng);
    }
  }
}

TEST(Distance, RodAndRopeHaveOppositeSigns) {
  Random rng(12);
  for (const bool binary : {false, true}) {
    const Model rod = one_joint(JointType::distance, binary, rng);
    ModelData data = rod.data();
    data.joints[0].rope = true;
    const Model rope = finish_model(data);
    for (const double stretch : {-0.5, 0.7}) {
      JointPlace place = place_on_manifold(JointType::distance, rod.joints()[0].length + stretch, rng);
      const std::vector<Pose> X = poses_at(rod, place, rng);
      const ConstraintProblem a = position_rows(rod, X, {});
      const LimitRows b = limit_rows(rope, X, {});
      EXPECT_NEAR(a.bias[0], stretch, 1e-13);
      EXPECT_NEAR(b.problem.bias[0], -stretch, 1e-13);
      EXPECT_NEAR(b.violation, std::max(0.0, stretch), 1e-13);
      EXPECT_LT((a.dense_J() + b.problem.dense_J()).norm(), 1e-15);
      EXPECT_EQ(position_rows(rope, X, {}).rows(), 0);
      expect_rows_match("rod", rod, X, rng);
      expect_limit_rows_match("rope", rope, X, {}, rng);
    }
  }
}

TEST(JointErrors, SeparatesMetresFromRadiansAndNamesTheWorst) {
  ModelBuilder b("two");
  b.add_body("a", 1, Mat3::Identity(), {});
  b.add_body("b", 1, Mat3::Identity(), {});
  b.add_joint_at("weld_a", JointType::fixed, kWorld, 0, Vec3::Zero());
  b.add_joint_at("weld_b", JointType::fixed, kWorld, 1, Vec3::Zero());
  b.add_distance("rope", kWorld, 0, Vec3::Zero(), Vec3(1, 0, 0), true);
  const Model m = b.build();
  JointKinematics kin(m);
  kin.update(std::vector<Pose>{{Vec3(-0.02, 0, 0), Quat::Identity()}, {Vec3(0, 0.01, 0), so3_exp(Vec3(0, 0, 0.3))}});
  const JointErrors e = joint_errors(m, kin, {});
  EXPECT_NEAR(e.gap, 0.02, 1e-15);  // the rope is slack and does not count
  EXPECT_NEAR(e.angle, 0.3, 1e-15);
  EXPECT_EQ(e.worst_joint, 1);
}

TEST(JointErrors, CountsLockedCoordinates) {
  ModelBuilder b("slider");
  b.add_body("a", 1, Mat3::Identity(), {});
  const int slide = b.add_joint_at("slide", JointType::prismatic, kWorld, 0, Vec3::Zero());
  b.dof(slide).limit.lower = b.dof(slide).limit.upper = 0.1;
  const std::vector<Pose> X = {{Vec3(0.3, 0, 0), Quat::Identity()}};
  const auto errors_of = [&X](const Model& m) {
    JointKinematics kin(m);
    kin.update(X);
    return joint_errors(m, kin, std::vector<double>{0.3});
  };
  const JointErrors e = errors_of(b.build());
  EXPECT_NEAR(e.angle, 0.2, 1e-15);
  EXPECT_EQ(e.worst_lock, 0);
  b.dof(slide).limit.compliance = Compliance::soft_mujoco();
  const JointErrors soft = errors_of(b.build());
  EXPECT_EQ(soft.angle, 0);
  EXPECT_EQ(soft.worst_lock, -1);
  EXPECT_NEAR(soft.compliant_angle, 0.2, 1e-15);
}

// 1 mm of slides whose bodies are 1 cm large is as far open as 0.13 rad; twice the coefficient is half the way.
TEST(JointErrors, LockedCombinationsOfSlidesAreMeasuredByTheSizeOfTheirJoints) {
  for (const double coefficient : {1.0, 2.0}) {
    ModelBuilder b("two");
    for (const char* name : {"a", "b"}) {
      const int body = b.add_sphere_body(name, 1, 0.01, {});
      b.add_joint_at(std::string("slide_") + name, JointType::prismatic, kWorld, body, Vec3::Zero());
    }
    Combination c;
    c.name = "sum";
    c.terms = {{0, coefficient}, {1, coefficient}};
    c.law.limit.lower = c.law.limit.upper = 0;
    b.add_combination(c);
    const Model m = b.build();
    JointKinematics kin(m);
    kin.update(std::vector<Pose>{{Vec3(1e-3, 0, 0), Quat::Identity()}, {}});
    const double length = m.joint_size(0);
    const JointErrors e = joint_errors(m, kin, std::vector<double>{1e-3, 0});
    EXPECT_NEAR(e.angle, coefficient * 1e-3, 1e-15);
    EXPECT_NEAR(e.open, 1e-3 / length, 1e-12);
    EXPECT_EQ(e.worst_lock, m.dof_count());
  }
}

TEST(JointErrors, WhatIsNotANumberIsNotClosed) {
  ModelBuilder b("one");
  b.add_sphere_body("a", 1, 0.1, {});
  b.add_joint_at("weld", JointType::fixed, kWorld, 0, Vec3::Zero());
  b.add_distance("rope", kWorld, 0, Vec3::Zero(), Vec3(1, 0, 0), true);
  const Model m = b.build();
  JointKinematics kin(m);
  kin.update(std::vector<Pose>{{Vec3(std::nan(""), 0, 0), Quat::Identity()}});
  const JointErrors e = joint_errors(m, kin, {});
  EXPECT_TRUE(std::isinf(e.gap));
  EXPECT_TRUE(std::isinf(e.open));
  EXPECT_TRUE(std::isinf(e.stretch));
  EXPECT_EQ(e.worst_joint, 0);
}

}  // namespace
}  // namespace sarrus::joint_kinematics_test
