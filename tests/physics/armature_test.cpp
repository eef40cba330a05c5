// Armature is the inertia of a coordinate: T = 1/2 a q'^2 besides that of the bodies, whatever the axes of the joint
// do. Each system stands on a table that turns freely about z, where the axes turn with it, and is compared with the
// Lagrangian equations of its coordinates, integrated here from a mass matrix and a potential alone.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "support/dense.h"

namespace sarrus::armature_test {
namespace {

using testing::energy_of;
using testing::EnergyDrift;
using testing::expect_near;
using testing::expect_within;
using testing::options_with;
using testing::order_of;
using testing::pose;
using testing::run;

using MassMatrix = std::function<MatX(const VecX&)>;
using Potential = std::function<double(const VecX&)>;

constexpr double kGravity = 9.81;
constexpr double kDuration = 1;      // s
constexpr double kTable = 0.4;       // kg m^2, inertia of the table about z
constexpr double kTurning = 3;       // rad/s, its initial rate
constexpr double kTableRotor = 0.1;  // kg m^2, armature of its hinge

VecX vector_of(const std::vector<double>& x) { return Eigen::Map<const VecX>(x.data(), static_cast<int>(x.size())); }
Mat3 diagonal(double x, double y, double z) { return Vec3(x, y, z).asDiagonal(); }

// --- the reference ---------------------------------------------------------------------------------------

struct Motion {
  VecX q;
  VecX rate;
};

//   M q'' = -M' q' + 1/2 grad (q' M q') - grad V,   derivatives of M and V by central differences
VecX acceleration(const MassMatrix& mass, const Potential& potential, const Motion& m) {
  constexpr double kStep = 1e-5;
  VecX force = VecX::Zero(m.q.size());
  for (int k = 0; k < m.q.size(); ++k) {
    VecX step = VecX::Zero(m.q.size());
    step[k] = kStep;
    const MatX dM = (mass(m.q + step) - mass(m.q - step)) / (2 * kStep);
    force -= m.rate[k] * (dM * m.rate);
    force[k] += 0.5 * m.rate.dot(dM * m.rate) - (potential(m.q + step) - potential(m.q - step)) / (2 * kStep);
  }
  return test::solve_spd(mass(m.q), force);
}

// Runge and Kutta's method of fourth order from q = 0.
Motion lagrangian_motion(const MassMatrix& mass, const Potential& potential, const VecX& rate) {
  constexpr int kSteps = 1000;
  const double h = kDuration / kSteps;
  Motion m{VecX::Zero(rate.size()), rate};
  const auto moved = [&](const Motion& slope, double dt) {
    return Motion{m.q + dt * slope.q, m.rate + dt * slope.rate};
  };
  const auto slope = [&](const Motion& at) { return Motion{at.rate, acceleration(mass, potential, at)}; };
  for (int i = 0; i < kSteps; ++i) {
    const Motion a = slope(m);
    const Motion b = slope(moved(a, h / 2));
    const Motion c = slope(moved(b, h / 2));
    const Motion d = slope(moved(c, h));
    m.q += h / 6 * (a.q + 2 * b.q + 2 * c.q + d.q);
    m.rate += h / 6 * (a.rate + 2 * b.rate + 2 * c.rate + d.rate);
  }
  return m;
}

// --- the systems -----------------------------------------------------------------------------------------

// The first coordinates of the model, in its order, are those of the mass matrix; all are 0 at the beginning.
struct System {
  std::string name;
  ModelBuilder builder;
  MassMatrix mass;
  Potential potential;
  VecX rate;  // at the beginning
};

System on_a_table(const std::string& name, const std::vector<double>& rate) {
  System s{name, ModelBuilder(name), {}, [](const VecX&) { return 0.0; }, vector_of(rate)};
  s.builder.set_gravity(Vec3::Zero());
  const int table = s.builder.add_body("table", 1, kTable * Mat3::Identity(), {});
  s.builder.set_velocity(table, Vec3::Zero(), Vec3(0, 0, rate[0]));
  const int hinge =
      s.builder.add_joint_at("turn", JointType::revolute, kWorld, table, Vec3::Zero(), frame_with_x(Vec3::UnitZ()));
  s.builder.dof(hinge).armature = kTableRotor;
  return s;
}

// A body on the table (body 0) with the armatures of its joint, moving relative to the table with v and w.
int add_follower(System& s, JointType type, double mass, const Mat3& inertia, const Vec3& p_W, const Vec3& anchor_W,
                 const Quat& axes_W, const std::vector<double>& armature, const Vec3& v, const Vec3& w) {
  const int body = s.builder.add_body("follower", mass, inertia, {p_W});
  const Vec3 turning(0, 0, s.rate[0]);
  s.builder.set_velocity(body, turning.cross(p_W) + v, turning + w);
  const int joint = s.builder.add_joint_at("joint", type, 0, body, anchor_W, axes_W);
  for (std::size_t k = 0; k < armature.size(); ++k) s.builder.dof(joint, static_cast<int>(k)).armature = armature[k];
  return joint;
}

// A pendulum that hangs from the rim of the table: turning, angle theta from the vertical, which begins at 0.6.
System hinge() {
  const double m = 1.5, l = 0.4, rim = 0.2, inertia = 0.03, a = 0.25, theta0 = 0.6, rate = 1;
  System s = on_a_table("hinge", {kTurning, rate});
  s.builder.set_gravity(Vec3(0, 0, -kGravity));
  const Vec3 arm(l * std::sin(theta0), 0, -l * std::cos(theta0));
  const Vec3 pivot(rim, 0, 0), w(0, -rate, 0);
  add_follower(s, JointType::revolute, m, inertia * Mat3::Identity(), pivot + arm, pivot, frame_with_x(-Vec3::UnitY()),
               {a}, w.cross(arm), w);
  s.mass = [=](const VecX& q) {
    const double r = rim + l * std::sin(theta0 + q[1]);
    return MatX(Vec2(kTable + kTableRotor + inertia + m * r * r, m * l * l + inertia + a).asDiagonal());
  };
  s.potential = [=](const VecX& q) { return -m * kGravity * l * std::cos(theta0 + q[1]); };
  return s;
}

// A bead on a spoke of the table, 0.1 m from its centre.
System slide() {
  const double m = 1, inertia = 0.01, a = 3, r0 = 0.1;
  System s = on_a_table("slide", {kTurning, 0.2});
  add_follower(s, JointType::prismatic, m, inertia * Mat3::Identity(), Vec3(r0, 0, 0), Vec3(r0, 0, 0), Quat::Identity(),
               {a}, Vec3(0.2, 0, 0), Vec3::Zero());
  s.mass = [=](const VecX& q) {
    const double r = r0 + q[1];
    return MatX(Vec2(kTable + kTableRotor + inertia + m * r * r, m + a).asDiagonal());
  };
  return s;
}

// The bead may turn about its spoke, too, and is no ball.
System cylindrical() {
  const double m = 1, r0 = 0.3, a = 2, rotor = 0.04;
  const Vec3 I(0.02, 0.05, 0.04);
  System s = on_a_table("cylindrical", {kTurning, -0.3, 2});
  add_follower(s, JointType::cylindrical, m, I.asDiagonal(), Vec3(r0, 0, 0), Vec3(r0, 0, 0), Quat::Identity(),
               {a, rotor}, Vec3(-0.3, 0, 0), Vec3(2, 0, 0));
  s.mass = [=](const VecX& q) {
    const double r = r0 + q[1], c = std::cos(q[2]), si = std::sin(q[2]);
    const double about_z = I[1] * si * si + I[2] * c * c;
    return MatX(Vec3(kTable + kTableRotor + about_z + m * r * r, m + a, I[0] + rotor).asDiagonal());
  };
  return s;
}

// As a screw: position = pitch/(2 pi) angle. The mass matrix is in the turning and the position.
System screw() {
  const double m = 1, r0 = 0.1, a = 0.5, rotor = 0.02, inertia = 0.01, lead = 0.15, rate = 0.2;
  System s = on_a_table("screw", {kTurning, rate});
  const int joint =
      add_follower(s, JointType::cylindrical, m, inertia * Mat3::Identity(), Vec3(r0, 0, 0), Vec3(r0, 0, 0),
                   Quat::Identity(), {a, rotor}, Vec3(rate, 0, 0), Vec3(rate / lead, 0, 0));
  s.builder.add_coupling("screw", s.builder.dof_index(joint, 0), s.builder.dof_index(joint, 1), lead);
  s.mass = [=](const VecX& q) {
    const double r = r0 + q[1];
    return MatX(
        Vec2(kTable + kTableRotor + inertia + m * r * r, m + a + (inertia + rotor) / (lead * lead)).asDiagonal());
  };
  return s;
}

// A bead on a spoke that turns a flywheel at the centre by a rack: r = radius angle, the rotor on the wheel.
System rack() {
  const double m = 1, r0 = 0.2, a = 0.3, rotor = 0.01, inertia = 0.01, radius = 0.1, rate = 0.5;
  System s = on_a_table("rack", {kTurning, rate});
  const int bead = add_follower(s, JointType::prismatic, m, inertia * Mat3::Identity(), Vec3(r0, 0, 0), Vec3(r0, 0, 0),
                                Quat::Identity(), {a}, Vec3(rate, 0, 0), Vec3::Zero());
  const int wheel = s.builder.add_body("wheel", 1, inertia * Mat3::Identity(), {});
  s.builder.set_velocity(wheel, Vec3::Zero(), Vec3(rate / radius, 0, kTurning));
  const int axle = s.builder.add_joint_at("axle", JointType::revolute, 0, wheel, Vec3::Zero());
  s.builder.dof(axle).armature = rotor;
  s.builder.add_coupling("rack", s.builder.dof_index(bead), s.builder.dof_index(axle), radius);
  s.mass = [=](const VecX& q) {
    const double r = r0 + q[1];
    return MatX(Vec2(kTable + kTableRotor + 2 * inertia + m * r * r, m + a + (inertia + rotor) / (radius * radius))
                    .asDiagonal());
  };
  return s;
}

// A pendulum geared to a rotor: its inertia counts n^2 times.
System gear() {
  const double m = 1, l = 0.5, inertia = 0.02, wheel = 0.001, rotor = 0.004, a = 0.1, n = 6, angle0 = 1.0;
  System s{"gear", ModelBuilder("gear"), {}, {}, vector_of({0})};
  s.builder.set_gravity(Vec3(0, 0, -kGravity));
  const int bob =
      s.builder.add_body("bob", m, inertia * Mat3::Identity(), {Vec3(l * std::sin(angle0), 0, -l * std::cos(angle0))});
  const int motor = s.builder.add_body("motor", 1, wheel * Mat3::Identity(), {});
  const Quat axes = frame_with_x(-Vec3::UnitY());
  const int slow = s.builder.add_joint_at("slow", JointType::revolute, kWorld, bob, Vec3::Zero(), axes);
  const int fast = s.builder.add_joint_at("fast", JointType::revolute, kWorld, motor, Vec3::Zero(), axes);
  s.builder.dof(slow).armature = a;
  s.builder.dof(fast).armature = rotor;
  s.builder.add_coupling("gear", s.builder.dof_index(fast), s.builder.dof_index(slow), -n);
  s.mass = [=](const VecX&) { return MatX::Constant(1, 1, m * l * l + inertia + a + n * n * (wheel + rotor)); };
  s.potential = [=](const VecX& q) { return -m * kGravity * l * std::cos(angle0 + q[0]); };
  return s;
}

// A disk that slides and turns on the table, with another armature along each axis.
System planar() {
  const double m = 1, inertia = 0.02;
  const Vec3 a(2, 0.5, 0.03), p0(0.2, 0.1, 0), v(0.1, -0.4, 0);
  System s = on_a_table("planar", {kTurning, v[0], v[1], 1});
  add_follower(s, JointType::planar, m, inertia * Mat3::Identity(), p0, p0, Quat::Identity(), {a[0], a[1], a[2]}, v,
               Vec3(0, 0, 1));
  s.mass = [=](const VecX& q) {
    const double x = p0[0] + q[1], y = p0[1] + q[2];
    MatX V = MatX::Zero(3, 4);  // rates to [velocity; angular velocity]
    V << -y, 1, 0, 0, x, 0, 1, 0, 1, 0, 0, 1;
    MatX M = V.transpose() * diagonal(m, m, inertia) * V;
    M.diagonal() += Eigen::Vector4d(kTable + kTableRotor, a[0], a[1], a[2]);
    return M;
  };
  return s;
}

// A box on three slides of the table, falling along the third.
System cartesian() {
  const double m = 1, inertia = 0.02;
  const Vec3 a(0.4, 3, 1), p0(-0.2, 0.1, 0), v(0.5, 0.2, 0.3);
  System s = on_a_table("cartesian", {kTurning, v[0], v[1], v[2]});
  s.builder.set_gravity(Vec3(0, 0, -kGravity));
  add_follower(s, JointType::cartesian, m, inertia * Mat3::Identity(), p0, p0, Quat::Identity(), {a[0], a[1], a[2]}, v,
               Vec3::Zero());
  s.mass = [=](const VecX& q) {
    const double x = p0[0] + q[1], y = p0[1] + q[2];
    MatX V = MatX::Zero(3, 4);  // rates to velocity
    V << -y, 1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1;
    MatX M = m * V.transpose() * V;
    M.diagonal() += Eigen::Vector4d(kTable + kTableRotor + inertia, a[0], a[1], a[2]);
    return M;
  };
  s.potential = [=](const VecX& q) { return m * kGravity * q[3]; };
  return s;
}

Mat3 turn(const Vec3& axis, double angle) { return Eigen::AngleAxisd(angle, axis).toRotationMatrix(); }
Mat3 gimbal_rotation(double alpha, double beta, double gamma) {
  return turn(Vec3::UnitX(), alpha) * turn(Vec3::UnitY(), beta) * turn(Vec3::UnitZ(), gamma);
}
// Rates of the table and of the angles to the angular velocity, in the axes of the follower.
MatX gimbal_velocities(double alpha, double beta, double gamma) {
  const Mat3 z = turn(Vec3::UnitZ(), -gamma);
  MatX W(3, 4);
  W.col(0) = gimbal_rotation(alpha, beta, gamma).transpose() * Vec3::UnitZ();
  W.col(1) = z * turn(Vec3::UnitY(), -beta) * Vec3::UnitX();
  W.col(2) = z * Vec3::UnitY();
  W.col(3) = Vec3::UnitZ();
  return W;
}

// A club on a universal joint.
System universal() {
  const double m = 1;
  const Vec3 c(0.1, 0.05, -0.2), a(0, 0.15, 0.08), w(1.5, -1, 0);
  const Mat3 I = diagonal(0.02, 0.03, 0.01);
  System s = on_a_table("universal", {kTurning, w[0], w[1]});
  s.builder.set_gravity(Vec3(0, 0, -kGravity));
  add_follower(s, JointType::universal, m, I, c, Vec3::Zero(), Quat::Identity(), {a[1], a[2]}, w.cross(c), w);
  const Mat3 at_pivot = I + m * (c.squaredNorm() * Mat3::Identity() - c * c.transpose());
  s.mass = [=](const VecX& q) {
    const MatX W = gimbal_velocities(q[1], q[2], 0).leftCols(3);
    MatX M = W.transpose() * at_pivot * W;
    M.diagonal() += Vec3(kTable + kTableRotor, a[1], a[2]);
    return M;
  };
  s.potential = [=](const VecX& q) { return m * kGravity * (gimbal_rotation(q[1], q[2], 0) * c).z(); };
  return s;
}

// Another armature on each angle of a gimbal, or the same on the three of a spherical joint, where it is that of a
// ball.
System gimbal(JointType type) {
  const bool ball = type == JointType::spherical;
  const Vec3 a = ball ? Vec3::Constant(0.05) : Vec3(0.05, 0.02, 0.1);
  const Vec3 w(1, 0.5, 2);
  const Mat3 I = diagonal(0.02, 0.05, 0.03);
  System s = on_a_table(ball ? "spherical" : "gimbal", {kTurning, w[0], w[1], w[2]});
  add_follower(s, type, 1, I, Vec3::Zero(), Vec3::Zero(), Quat::Identity(), {a[0], a[1], a[2]}, Vec3::Zero(), w);
  s.mass = [=](const VecX& q) {
    const MatX W = gimbal_velocities(q[1], q[2], q[3]);
    MatX M = W.transpose() * I * W;
    M(0, 0) += kTable + kTableRotor;
    const MatX J = W.rightCols(3);
    M.bottomRightCorner(3, 3) += ball ? MatX(a[0] * J.transpose() * J) : MatX(a.asDiagonal());
    return M;
  };
  return s;
}

std::vector<System> systems() {
  return {hinge(), slide(),  cylindrical(), screw(),     rack(),
          gear(),  planar(), cartesian(),   universal(), gimbal(JointType::gimbal)};
}

Simulation simulate(const System& s, double dt, Integrator integrator) {
  SimulationOptions o = options_with(dt, integrator);
  o.tolerance = 1e-12;
  return Simulation(s.builder.build(), o);
}
int steps_of(double dt) { return static_cast<int>(std::lround(kDuration / dt)); }

double order_expected(Integrator integrator) { return integrator == Integrator::moreau ? 2 : 1; }

// error(dt) of the motion after one second falls with the order of the scheme.
template <class Error>
void expect_order(const std::string& name, Integrator integrator, double limit, Error error) {
  const std::string tag = fmt::format("{}_{}", name, name_of(integrator));
  const double coarse = error(1e-3), fine = error(5e-4);
  expect_within(tag + "_error", fine, limit);
  EXPECT_GT(order_of(coarse, fine), order_expected(integrator) - 0.25) << tag << " " << coarse << " " << fine;
}

constexpr Integrator kIntegrators[] = {Integrator::semi_implicit,  Integrator::moreau,
                                       Integrator::explicit_euler, Integrator::symplectic_euler,
                                       Integrator::implicit_euler, Integrator::midpoint};

TEST(ArmatureReference, EveryJointTypeFollowsItsLagrangianEquations) {
  int combination = 0;
  for (const System& s : systems()) {
    const VecX expected = lagrangian_motion(s.mass, s.potential, s.rate).q;
    for (const Integrator integrator : kIntegrators) {
      if (combination++ % std::min(5, test::sample_divisor()) != 0) continue;  // the short run has a fifth of them
      expect_order(s.name, integrator, integrator == Integrator::moreau ? 2e-6 : 5e-3, [&](double dt) {
        Simulation sim = simulate(s, dt, integrator);
        run(sim, steps_of(dt));
        const VecX q = vector_of(sim.state().q).head(expected.size());
        return (q - expected).cwiseAbs().maxCoeff();
      });
    }
  }
}

// Spherical joints have no coordinates: the orientation relative to the table counts.
TEST(ArmatureReference, ASphericalJointHasTheInertiaOfABall) {
  const System s = gimbal(JointType::spherical);
  const VecX q = lagrangian_motion(s.mass, s.potential, s.rate).q;
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    expect_order(s.name, integrator, integrator == Integrator::moreau ? 2e-6 : 5e-3, [&](double dt) {
      Simulation sim = simulate(s, dt, integrator);
      run(sim, steps_of(dt));
      const Mat3 Q = (pose(sim, 0).q.conjugate() * pose(sim, 1).q).toRotationMatrix();
      return (Q - gimbal_rotation(q[1], q[2], q[3])).norm();
    });
  }
}

// r = r0 cosh(w t sqrt(m/(m + a))) on a rod that turns at w whatever the bead does: 3 kg of armature on 1 kg.
TEST(ArmatureReference, ABeadOnATurningRodIsSlowedByItsArmature) {
  const double r0 = 0.1, w = 3;
  const auto r = [&](double armature, double dt, Integrator integrator) {
    ModelBuilder b("bead");
    b.set_gravity(Vec3::Zero());
    const int rod = b.add_body("rod", 1, 1e6 * Mat3::Identity(), {});
    const int bead = b.add_body("bead", 1, 0.01 * Mat3::Identity(), {Vec3(r0, 0, 0)});
    b.set_velocity(rod, Vec3::Zero(), Vec3(0, 0, w));
    b.set_velocity(bead, Vec3(0, w * r0, 0), Vec3(0, 0, w));
    b.add_joint_at("turn", JointType::revolute, kWorld, rod, Vec3::Zero(), frame_with_x(Vec3::UnitZ()));
    const int joint = b.add_joint_at("slide", JointType::prismatic, rod, bead, Vec3::Zero());
    b.dof(joint).armature = armature;
    Simulation sim(b.build(), options_with(dt, integrator));
    run(sim, steps_of(dt));
    return r0 + sim.state().q[1];
  };
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    for (const double a : {0.0, 3.0}) {
      const double exact = r0 * std::cosh(w * kDuration / std::sqrt(1 + a));
      for (const double dt : {4e-3, 2e-3, 1e-3}) {
        const std::string tag = fmt::format("{}_a_{}_dt_{}_m", name_of(integrator), a, dt);
        expect_near(tag, r(a, dt, integrator), exact, integrator == Integrator::moreau ? 4 * dt * dt : dt);
      }
      const double coarse = std::abs(r(a, 2e-3, integrator) - exact), fine = std::abs(r(a, 1e-3, integrator) - exact);
      EXPECT_GT(order_of(coarse, fine), order_expected(integrator) - 0.1) << name_of(integrator) << " " << a;
    }
  }
}

// The energy that is reported counts 1/2 a q'^2: as in the mass matrix at the beginning, and conserved.
TEST(ArmatureEnergy, IsThatOfTheMassMatrixAndConserved) {
  std::vector<System> all = systems();
  all.push_back(gimbal(JointType::spherical));
  int combination = 0;
  for (const System& s : all) {
    const double kinetic = 0.5 * s.rate.dot(s.mass(VecX::Zero(s.rate.size())) * s.rate);
    for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
      if (combination++ % std::min(5, test::sample_divisor()) != 0) continue;
      const std::string tag = fmt::format("{}_{}", s.name, name_of(integrator));
      Simulation sim = simulate(s, 1e-3, integrator);
      expect_near(tag + "_kinetic_J", energy_of(sim).kinetic, kinetic, 1e-12);
      EnergyDrift drift(sim);
      run(sim, 2000, [&](const StepReport&) { drift.add(sim); });
      expect_within(tag + "_drift", drift.worst(), integrator == Integrator::moreau ? 3e-6 : 3e-3);
    }
  }
}

// A pendulum with half of its inertia in the rotor over many swings.
TEST(ArmatureEnergy, OfAPendulumStaysOverManySwings) {
  SARRUS_FULL_SIZE_ONLY();
  const double m = 1, l = 0.5, inertia = 0.02;
  ModelBuilder b("pendulum");
  const int bob = b.add_body("bob", m, inertia * Mat3::Identity(), {Vec3(l, 0, 0)});
  const int pivot =
      b.add_joint_at("pivot", JointType::revolute, kWorld, bob, Vec3::Zero(), frame_with_x(Vec3::UnitY()));
  b.dof(pivot).armature = m * l * l + inertia;
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    SimulationOptions o = options_with(1e-3, integrator);
    o.tolerance = 1e-12;
    Simulation sim(b.build(), o);
    EnergyDrift drift(sim);
    double fastest = 0;
    run(sim, 20000, [&](const StepReport&) {
      drift.add(sim);
      fastest = std::max(fastest, std::abs(sim.state().twist[0][4]));
    });
    expect_within(fmt::format("{}_drift", name_of(integrator)), drift.worst(),
                  integrator == Integrator::moreau ? 3e-6 : 3e-3);
    // All of m g l becomes kinetic energy of bob and rotor.
    expect_near(fmt::format("{}_fastest", name_of(integrator)), fastest,
                std::sqrt(2 * m * kGravity * l / (2 * (m * l * l + inertia))), 1e-2);
  }
}

// A bead on a spring swings along its turning spoke: the energy error of explicit springs stays where it is after a few
// swings, armature adds no drift to it.
TEST(ArmatureEnergy, OfATurningSpringSwingsAndDoesNotDrift) {
  System s = slide();
  s.builder.dof(1).stiffness = 60;
  for (const Integrator integrator : {Integrator::symplectic_euler, Integrator::moreau}) {
    Simulation sim = simulate(s, 2e-3, integrator);
    EnergyDrift drift(sim);
    run(sim, test::samples(15000), [&](const StepReport&) { drift.add(sim); });
    expect_within(fmt::format("{}_drift", name_of(integrator)), drift.worst(),
                  integrator == Integrator::moreau ? 1e-5 : 1e-3);
  }
}

// A state is whole: set in another simulation it continues in the same bits.
TEST(ArmatureState, ContinuesInTheSameBits) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    const System s = universal();
    SimulationOptions o = options_with(1e-3, integrator);
    o.warm_start = false;
    Simulation original(s.builder.build(), o);
    run(original, 100);
    Simulation restored(s.builder.build(), o);
    restored.set_state(original.state());
    run(original, 100);
    run(restored, 100);
    EXPECT_EQ(original.state().hash(), restored.state().hash()) << name_of(integrator);
  }
}

}  // namespace
}  // namespace sarrus::armature_test
