// The rules of MJCF, one small file each (docs/robots.md).
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "mjcf_text.h"
#include "sarrus/collision/filter.h"
#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus::mjcf_rules_test {
namespace {

using test::accepting;
using test::hinge;
using test::ModelFolder;

constexpr double pi = std::numbers::pi;

const Dof& only_dof(const Model& m) { return m.dofs().at(0); }
const Body& body(const Model& m, const std::string& name) { return m.bodies().at(at(m.body(name))); }

TEST(MjcfRules, DegreesAreTheDefaultForHinges) {
  const ModelFolder f;
  const std::string range = "range='-90 45' springref='30' stiffness='1'";
  const Dof degrees = only_dof(f.mjcf(hinge(range)).model);
  EXPECT_NEAR(degrees.limit.lower, -pi / 2, 1e-15);
  EXPECT_NEAR(degrees.rest, pi / 6, 1e-15);
  const Dof radians = only_dof(f.mjcf("<compiler angle='radian'/>" + hinge("range='-1 1'")).model);
  EXPECT_EQ(radians.limit.upper, 1);
  const Dof slide = only_dof(f.mjcf(hinge("type='slide' range='-1 1'")).model);
  EXPECT_EQ(slide.limit.upper, 1);
}

TEST(MjcfRules, TheLastSettingWinsAlsoForTextBeforeIt) {
  const ModelFolder f;
  EXPECT_EQ(only_dof(f.mjcf(hinge("range='-1 1'") + "<compiler angle='degree'/><compiler angle='radian'/>").model)
                .limit.upper,
            1);
}

TEST(MjcfRules, RangesAreLimitsUnlessTheFlagSaysOtherwise) {
  const ModelFolder f;
  EXPECT_TRUE(only_dof(f.mjcf(hinge("range='-1 1'")).model).limit.active());
  EXPECT_FALSE(only_dof(f.mjcf(hinge("range='-1 1' limited='false'")).model).limit.active());
  EXPECT_FALSE(only_dof(f.mjcf(hinge("range='0 0'")).model).limit.active());
  EXPECT_FALSE(
      only_dof(f.mjcf("<option><flag limit='disable'/></option>" + hinge("range='-1 1'")).model).limit.active());
}

TEST(MjcfRules, EulerSequencesMoveWithTheFrameInLowerCase) {
  const ModelFolder f;
  const auto pose = [&](const std::string& sequence) {
    return body(f.mjcf("<compiler eulerseq='" + sequence +
                       "'/><worldbody><body name='b' euler='90 90 0'><freejoint/>"
                       "<geom size='.1'/></body></worldbody>")
                    .model,
                "b")
        .X_WB0.q;
  };
  const Quat x = so3_exp(Vec3(pi / 2, 0, 0));
  const Quat y = so3_exp(Vec3(0, pi / 2, 0));
  EXPECT_LE(so3_log(pose("xyz").conjugate() * (x * y)).norm(), 1e-14);
  EXPECT_LE(so3_log(pose("XYZ").conjugate() * (y * x)).norm(), 1e-14);
  EXPECT_LE(so3_log(pose("yxz").conjugate() * (y * x)).norm(), 1e-14);
}

TEST(MjcfRules, OtherOrientations) {
  const ModelFolder f;
  const auto turned = [&](const std::string& attribute) {
    return body(f.mjcf("<worldbody><body name='b' " + attribute + "><freejoint/><geom size='.1'/></body></worldbody>")
                    .model,
                "b")
        .X_WB0.q;
  };
  const Quat z90 = so3_exp(Vec3(0, 0, pi / 2));
  EXPECT_LE(so3_log(turned("axisangle='0 0 2 90'").conjugate() * z90).norm(), 1e-14);
  EXPECT_LE(so3_log(turned("xyaxes='0 1 0 -1 1 0'").conjugate() * z90).norm(), 1e-14);
  EXPECT_LE((turned("zaxis='3 0 0'") * Vec3::UnitZ() - Vec3::UnitX()).norm(), 1e-14);
  EXPECT_LE((turned("zaxis='0 0 -1'") * Vec3::UnitZ() + Vec3::UnitZ()).norm(), 1e-14);
  EXPECT_LE(so3_log(turned("quat='2 0 0 2'").conjugate() * z90).norm(), 1e-14);
}

TEST(MjcfRules, ClassesNestAndTheNearestOneCounts) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<default><geom density='1'/><default class='a'><geom density='2'/>"
                       "<default class='aa'><geom size='1'/></default></default></default>"
                       "<worldbody><body name='main'><freejoint/><geom size='1'/></body>"
                       "<body name='a' childclass='a'><freejoint/><geom size='1'/></body>"
                       "<body name='aa' childclass='a'><freejoint/><geom class='aa'/></body>"
                       "<body name='own' childclass='a'><freejoint/><geom size='1' density='3'/></body></worldbody>")
                      .model;
  const double volume = 4.0 / 3 * pi;
  EXPECT_NEAR(body(m, "main").mass, volume, 1e-13);
  EXPECT_NEAR(body(m, "a").mass, 2 * volume, 1e-13);
  EXPECT_NEAR(body(m, "aa").mass, 2 * volume, 1e-13);
  EXPECT_NEAR(body(m, "own").mass, 3 * volume, 1e-13);
}

TEST(MjcfRules, EulerOfAClassBeatsTheQuaternionOfTheElement) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<default><geom euler='0 90 0'/></default><worldbody><body><freejoint/>"
                       "<geom type='box' size='.1 .2 .3' quat='1 0 0 0'/></body></worldbody>")
                      .model;
  EXPECT_LE((m.geoms()[0].X_BG.q * Vec3::UnitZ() - Vec3::UnitX()).norm(), 1e-14);
}

TEST(MjcfRules, AListOverwritesAsManyInheritedNumbersAsItHas) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<default><geom type='box' size='.1 .2 .3'/></default><worldbody><body><freejoint/>"
                       "<geom size='.5'/></body></worldbody>")
                      .model;
  EXPECT_EQ(m.geoms()[0].shape.size, Vec3(.5, .2, .3));
}

TEST(MjcfRules, FreejointTakesNoDefaultsOfJoints) {
  const ModelFolder f;
  const std::string damped = "<default><joint damping='2'/></default><worldbody><body>";
  const std::string rest = "<geom size='.1'/></body></worldbody>";
  EXPECT_NO_THROW(f.mjcf(damped + "<freejoint/>" + rest));
  EXPECT_THROW(f.mjcf(damped + "<joint type='free'/>" + rest), InputError);
  EXPECT_NO_THROW(f.mjcf(damped + "<joint type='free'/>" + rest, accepting("free-joint-load")));
}

TEST(MjcfRules, FramesComposeAndVanish) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<worldbody><frame pos='1 0 0' euler='0 0 90'><body name='b' pos='1 0 0'>"
                       "<frame euler='90 0 0'><joint name='j' axis='0 0 1' pos='0 1 0'/></frame>"
                       "<geom size='.1'/></body></frame></worldbody>")
                      .model;
  EXPECT_LE((body(m, "b").X_WB0.p - Vec3(1, 1, 0)).norm(), 1e-15);
  // The axis: -y of the body, which is x of the world; the anchor: z of the body.
  const Joint& j = m.joints()[0];
  EXPECT_LE((j.q_BJ * Vec3::UnitX() - Vec3(1, 0, 0)).norm(), 1e-14);
  EXPECT_LE((j.p_BJ - Vec3(1, 1, 1)).norm(), 1e-14);
}

TEST(MjcfRules, ReplicateCountsWithDigitsAndTurnsTheOffset) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<worldbody><replicate count='10' offset='1 0 0' euler='0 0 90' sep='-'>"
                       "<body name='b'><joint name='j' range='-1 1'/><geom size='.1'/></body></replicate></worldbody>"
                       "<actuator><motor name='m' joint='j'/></actuator>")
                      .model;
  EXPECT_EQ(m.body_count(), 10);
  EXPECT_LE((body(m, "b-02").X_WB0.p - Vec3(1, 1, 0)).norm(), 1e-14);
  EXPECT_EQ(m.drive("m-09"), m.dof("j-09"));
}

TEST(MjcfRules, AttachedModelsKeepTheirSettings) {
  const ModelFolder f;
  f.write("child.xml",
          "<mujoco model='c'><compiler angle='radian'/><default><geom density='1'/></default><worldbody>"
          "<body name='arm'><joint name='j' range='-1 1'/><geom size='1'/></body><body name='other'/>"
          "</worldbody><actuator><motor name='m' joint='j'/></actuator></mujoco>");
  const Model m = f.mjcf(
                       "<asset><model name='c' file='child.xml'/></asset><worldbody><body name='base' pos='1 0 0'>"
                       "<freejoint/><geom size='1'/><attach model='c' body='arm' prefix='p_'/></body></worldbody>")
                      .model;
  EXPECT_NEAR(body(m, "p_arm").mass, 4.0 / 3 * pi, 1e-13);
  EXPECT_NEAR(body(m, "base").mass, 4000.0 / 3 * pi, 1e-9);
  EXPECT_EQ(m.dofs()[at(m.dof("p_j"))].limit.upper, 1);
  EXPECT_EQ(m.drive("p_m"), m.dof("p_j"));
}

TEST(MjcfRules, AttachedFramesBringWhatIsInThem) {
  const ModelFolder f;
  f.write(
      "child.xml",
      "<mujoco model='c'><worldbody><body name='left'/><frame name='tools' pos='0 0 1'><body name='arm' pos='0 1 0'>"
      "<joint name='j'/><geom size='1' mass='1'/></body><body name='second'><joint name='k'/><geom size='1' "
      "mass='1'/></body></frame></worldbody><actuator><motor name='m' joint='j'/></actuator></mujoco>");
  const std::string assets = "<asset><model name='c' file='child.xml'/></asset>";
  const Model m =
      f.mjcf(assets + "<worldbody><frame pos='5 0 0'><attach model='c' frame='tools' prefix='p_'/></frame></worldbody>")
          .model;
  ASSERT_EQ(m.body_count(), 2);
  EXPECT_LE((body(m, "p_arm").X_WB0.p - Vec3(5, 1, 1)).norm(), 1e-14);
  EXPECT_EQ(m.drive("p_m"), m.dof("p_j"));
  EXPECT_EQ(m.dof_count(), 2);
}

TEST(MjcfRules, VisualGeomsWeighAndWorldGeomsDoNot) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<worldbody><geom size='1'/><body name='b'><freejoint/>"
                       "<geom size='.1' contype='0' conaffinity='0'/></body></worldbody>")
                      .model;
  EXPECT_NEAR(body(m, "b").mass, 1000 * 4.0 / 3 * pi * 1e-3, 1e-13);
  EXPECT_EQ(m.geoms().size(), 1u);
  EXPECT_EQ(m.visuals().size(), 1u);
}

TEST(MjcfRules, MassOfACapsuleAndOfGroups) {
  const ModelFolder f;
  const Model m =
      f.mjcf(
           "<compiler inertiagrouprange='0 1'/><worldbody><body name='b'><freejoint/>"
           "<geom type='capsule' size='.1 .2'/><geom size='1' group='2'/><geom size='1' mass='0'/></body></worldbody>")
          .model;
  EXPECT_NEAR(body(m, "b").mass, 1000 * (pi * .01 * .4 + 4.0 / 3 * pi * 1e-3), 1e-12);
}

TEST(MjcfRules, InertialEntriesAndOrientation) {
  const ModelFolder f;
  const auto inertia = [&](const std::string& attributes) {
    return body(f.mjcf("<worldbody><body name='b'><freejoint/><inertial pos='0 0 0' mass='1' " + attributes +
                       "/></body></worldbody>")
                    .model,
                "b")
        .inertia_B;
  };
  Mat3 full;
  full << 2, .1, .2, .1, 3, .3, .2, .3, 4;
  EXPECT_LE((inertia("fullinertia='2 3 4 .1 .2 .3'") - full).norm(), 1e-15);
  EXPECT_LE((inertia("diaginertia='1 2 2.5' euler='0 0 90'") - Mat3(Vec3(2, 1, 2.5).asDiagonal())).norm(), 1e-14);
}

TEST(MjcfRules, BoundsBalanceAndTotalOfMasses) {
  const ModelFolder f;
  const auto read = [&](const std::string& compiler, const std::string& inertia) {
    return body(f.mjcf("<compiler " + compiler +
                       "/><worldbody><body name='b'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='" +
                       inertia + "'/></body></worldbody>")
                    .model,
                "b");
  };
  EXPECT_EQ(read("boundmass='3'", "1 1 1").mass, 3);
  EXPECT_LE((read("boundinertia='2'", "1 1 1").inertia_B - 2 * Mat3::Identity()).norm(), 1e-14);
  EXPECT_LE((read("balanceinertia='true'", "1 1 4").inertia_B - 2 * Mat3::Identity()).norm(), 1e-14);
  EXPECT_EQ(read("settotalmass='5'", "1 1 1").mass, 5);
  EXPECT_LE((read("settotalmass='5'", "1 1 1").inertia_B - 5 * Mat3::Identity()).norm(), 1e-14);
}

// Six hundred cubes of 1 m as a mesh: all ways to weigh a convex body with consistent faces agree, but for the shell.
TEST(MjcfRules, WaysToWeighAMesh) {
  const ModelFolder f;
  const auto mass = [&](const std::string& way) {
    return body(
        f.mjcf("<asset><mesh name='m' inertia='" + way +
               "' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3'/></asset>"
               "<worldbody><body name='b'><freejoint/><geom type='mesh' mesh='m' density='6'/></body></worldbody>")
            .model,
        "b");
  };
  for (const char* way : {"legacy", "exact", "convex"}) {
    EXPECT_NEAR(mass(way).mass, 1, 1e-14) << way;
    EXPECT_LE((mass(way).X_WB0.p - Vec3::Constant(.25)).norm(), 1e-14) << way;
  }
  EXPECT_NEAR(mass("shell").mass, 6 * (1.5 + std::sqrt(3.0) / 2), 1e-13);
}

TEST(MjcfRules, MeshesAreMovedTurnedThenScaled) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<asset><mesh name='m' refpos='1 0 0' refquat='1 0 0 1' scale='2 1 1'"
                       " vertex='1 0 0 2 0 0 1 1 0 1 0 1'/></asset><worldbody><geom type='mesh' mesh='m'/></worldbody>")
                      .model;
  // (1 0 0) goes to the origin; x becomes -y; y becomes x, times 2.
  Vec3 most = Vec3::Zero();
  Vec3 least = Vec3::Zero();
  for (const Vec3& v : m.geoms()[0].shape.hull->vertices()) {
    most = most.cwiseMax(v);
    least = least.cwiseMin(v);
  }
  EXPECT_LE((most - Vec3(2, 0, 1)).norm(), 1e-14);
  EXPECT_LE((least - Vec3(0, -1, 0)).norm(), 1e-14);
}

TEST(MjcfRules, AMeshWithoutATypeIsASphereFittedToIt) {
  const ModelFolder f;
  const std::string cube =
      "<asset><mesh name='m' vertex='-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1'/></asset>";
  const Model sphere = f.mjcf(cube + "<worldbody><geom mesh='m' pos='0 0 3'/></worldbody>").model;
  EXPECT_EQ(sphere.geoms()[0].shape.kind, ShapeKind::sphere);
  EXPECT_NEAR(sphere.geoms()[0].shape.size[0], 1, 1e-14);
  EXPECT_LE((sphere.geoms()[0].X_BG.p - Vec3(0, 0, 3)).norm(), 1e-14);
  const Model box = f.mjcf(cube + "<worldbody><geom type='box' mesh='m' fitscale='.5'/></worldbody>").model;
  EXPECT_NEAR(box.geoms()[0].shape.size[2], .5, 1e-14);
}

TEST(MjcfRules, FromtoPointsBackwards) {
  const ModelFolder f;
  const Model m = f.mjcf("<worldbody><geom type='capsule' size='.1' fromto='0 0 0 1 0 0'/></worldbody>").model;
  EXPECT_EQ(m.geoms()[0].shape.size[1], .5);
  EXPECT_LE((m.geoms()[0].X_BG.q * Vec3::UnitZ() + Vec3::UnitX()).norm(), 1e-14);
  EXPECT_EQ(m.geoms()[0].X_BG.p, Vec3(.5, 0, 0));
}

TEST(MjcfRules, HeightFieldsListTheFarRowFirst) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<asset><hfield name='h' nrow='2' ncol='3' size='2 1 .5 .1' elevation='4 4 4 0 1 2'/></asset>"
                       "<worldbody><geom type='hfield' hfield='h'/></worldbody>")
                      .model;
  double z = -1;
  const auto& field = *m.geoms()[0].shape.height_field;
  EXPECT_TRUE(field.height_at(2, -1, z));
  EXPECT_NEAR(z, .25, 1e-15);  // 2 of 4, times 0.5
  EXPECT_TRUE(field.height_at(-2, 1, z));
  EXPECT_NEAR(z, .5, 1e-15);
}

struct Composite {
  const char* joints;
  JointType type;
};

TEST(MjcfRules, JointsOfOneBodyBecomeOneWhereThereIsOne) {
  const ModelFolder f;
  const Composite table[] = {
      {"<joint axis='1 0 0'/><joint axis='0 1 0'/>", JointType::universal},
      {"<joint axis='1 0 0'/><joint axis='0 0 1'/><joint axis='0 1 0'/>", JointType::gimbal},
      {"<joint type='slide' axis='1 0 0'/><joint axis='-1 0 0'/>", JointType::cylindrical},
      {"<joint axis='1 0 0'/><joint type='slide' axis='1 0 0'/>", JointType::cylindrical},
      {"<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint axis='0 0 -1'/>", JointType::planar},
      {"<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/><joint type='slide' axis='0 1 0'/>",
       JointType::cartesian},
      {"<joint type='ball'/>", JointType::spherical},
      {"<joint type='slide' axis='0 1 0'/>", JointType::prismatic}};
  for (const Composite& row : table) {
    const Model m =
        f.mjcf(std::string("<worldbody><body>") + row.joints + "<geom size='.1'/></body></worldbody>").model;
    ASSERT_EQ(m.joint_count(), 1) << row.joints;
    EXPECT_EQ(m.joints()[0].type, row.type) << row.joints;
  }
}

// Whatever joint the axes become: at the pose of a key its coordinates are those of the key, and it is closed.
TEST(MjcfRules, CoordinatesKeepTheValuesOfTheFile) {
  const ModelFolder f;
  const char* joints[] = {
      "<joint name='a' axis='1 0 0' ref='20'/><joint name='b' axis='0 1 0' ref='-10'/>",
      "<joint name='a' axis='1 0 0' ref='20'/><joint name='b' axis='0 0 1'/><joint name='c' axis='0 1 0' ref='5'/>",
      "<joint name='a' type='slide' axis='1 0 0' ref='.1'/><joint name='b' axis='-1 0 0' ref='7'/>",
      "<joint name='a' axis='1 0 0' ref='9'/><joint name='b' type='slide' axis='-1 0 0' ref='.2'/>",
      "<joint name='a' type='slide' axis='1 0 0' ref='1'/><joint name='b' type='slide' axis='0 1 0'/><joint name='c' "
      "axis='0 0 -1' ref='3'/>",
      "<joint name='a' type='slide' axis='1 0 0'/><joint name='b' type='slide' axis='0 0 1' ref='2'/><joint name='c' "
      "type='slide' axis='0 1 0' ref='.5'/>",
      "<joint name='a' axis='1 0 0' ref='30'/>",
      "<joint name='a' type='slide' axis='1 1 0' ref='.3'/>",
      "<joint name='a' axis='1 0 0' ref='30'/><joint name='b' axis='1 1 0'/>",
      "<joint name='a' axis='1 0 0'/><joint name='b' axis='0 1 0' pos='0 0 .1'/><joint name='c' type='slide' axis='0 1 "
      "1' ref='.1'/>"};
  const double q[] = {.3, -.4, .7};
  for (const char* text : joints) {
    SCOPED_TRACE(text);
    const int n = std::string(text).find("'c'") != std::string::npos   ? 3
                  : std::string(text).find("'b'") != std::string::npos ? 2
                                                                       : 1;
    std::string qpos;
    for (int i = 0; i < n; ++i) qpos += std::to_string(q[i]) + " ";
    ImportOptions options;
    options.key = "k";
    const ImportResult r = f.mjcf(
        "<worldbody><body pos='1 2 3' euler='10 20 30'><geom size='.1'/><freejoint/><body name='b' pos='.1 .2 .3' "
        "euler='40 50 60'>" +
            std::string(text) +
            "<geom size='.1' pos='.3 0 .1'/></body></body></worldbody>"
            "<keyframe><key name='k' qpos='0 0 1 .5 .5 .5 .5 " +
            qpos + "'/></keyframe>",
        options);
    const State s = State::initial(r.model);
    JointKinematics kinematics(r.model);
    kinematics.update(s.X_WB);
    EXPECT_LE(joint_errors(r.model, kinematics, s.q).gap, 1e-14);
    EXPECT_LE(joint_errors(r.model, kinematics, s.q).angle, 1e-14);
    const char* names[] = {"a", "b", "c"};
    for (int i = 0; i < n; ++i) {
      const ImportedCoordinate& c = r.report.coordinates.at(names[i]);
      EXPECT_NEAR(s.q[at(r.model.dof(c.coordinate))], c.sign * q[i], 1e-14) << names[i];
    }
  }
}

// Rates of a key: what the bodies do is what the joints do.
TEST(MjcfRules, RatesOfAKeyBecomeTwists) {
  const ModelFolder f;
  ImportOptions options;
  options.key = "0";
  const Model m = f.mjcf(
                       "<worldbody><body name='a'><joint axis='0 0 1'/><geom size='.1'/><body name='b' pos='1 0 0'>"
                       "<joint axis='0 0 1'/><geom size='.1' pos='1 0 0'/></body></body></worldbody>"
                       "<keyframe><key qpos='0 0' qvel='2 3'/></keyframe>",
                       options)
                      .model;
  EXPECT_LE((body(m, "b").w0_W - Vec3(0, 0, 5)).norm(), 1e-14);
  EXPECT_LE((body(m, "b").v0_W - Vec3(0, 2 + 5, 0)).norm(), 1e-14);
}

// A body that is aligned with its inertia: qpos and qvel of a key are those of the inertial frame.
TEST(MjcfRules, RatesOfAnAlignedBodyAreThoseOfItsInertialFrame) {
  const ModelFolder f;
  ImportOptions options;
  options.key = "0";
  const auto twist = [&](const char* align) {
    const Model m = f.mjcf("<worldbody><body name='b' pos='0 0 1'><freejoint align='" + std::string(align) +
                               "'/><inertial pos='.2 0 0' quat='.70710678118654757 0 .70710678118654757 0' mass='1' "
                               "diaginertia='1 2 2.5'/></body></worldbody>"
                               "<keyframe><key qpos='1 2 3 .70710678118654757 0 0 .70710678118654757' "
                               "qvel='1 2 3 4 5 6'/></keyframe>",
                           options)
                        .model;
    return std::pair(body(m, "b").v0_W, body(m, "b").w0_W);
  };
  // Of the inertial frame: a quarter turn about z takes (4, 5, 6) to (-5, 4, 6); the velocity is that of the centre.
  EXPECT_LE((twist("true").first - Vec3(1, 2, 3)).norm(), 1e-14);
  EXPECT_LE((twist("true").second - Vec3(-5, 4, 6)).norm(), 1e-14);
  // Of the body's frame: the centre of mass is 0.2 m along its x axis, now the world's y axis.
  EXPECT_LE((twist("false").second - Vec3(-5, 4, 6)).norm(), 1e-14);
  EXPECT_LE((twist("false").first - Vec3(1, 2, 3) - Vec3(-5, 4, 6).cross(Vec3(0, .2, 0))).norm(), 1e-14);
}

TEST(MjcfRules, ManyTurnsOfAKeyAreKept) {
  const ModelFolder f;
  ImportOptions options;
  options.key = "0";
  const Model m = f.mjcf(hinge("range='-1000 1000'", "<keyframe><key qpos='8'/></keyframe>"), options).model;
  EXPECT_NEAR(State::initial(m).q[0], 8, 1e-14);
}

TEST(MjcfRules, EqualitiesOfJointsAreOfDeviations) {
  const ModelFolder f;
  const std::string two =
      "<worldbody><body><joint name='a' ref='10'/><geom size='.1'/></body><body pos='1 0 0'><joint name='b' ref='20'/>"
      "<geom size='.1'/></body></worldbody>";
  const Model m = f.mjcf(two + "<equality><joint joint1='a' joint2='b' polycoef='.1 2 0 0 0'/></equality>",
                         [] {
                           ImportOptions o;
                           o.assemble = ImportAssembly::never;
                           return o;
                         }())
                      .model;
  const Coupling& c = m.couplings().at(0);
  EXPECT_NEAR(c.ratio, 2, 1e-15);
  EXPECT_NEAR(c.offset, 10 * pi / 180 + .1 - 2 * 20 * pi / 180, 1e-14);
  const Model locked = f.mjcf(two + "<equality><joint joint1='a' polycoef='.1 0 0 0 0'/></equality>").model;
  EXPECT_TRUE(locked.dofs()[0].limit.locked());
  EXPECT_NEAR(locked.dofs()[0].limit.lower, 10 * pi / 180 + .1, 1e-14);
}

const char* const kTwoBodies =
    "<worldbody><body name='a' pos='1 0 0'><freejoint/><geom size='.1'/><site name='s' pos='0 0 1'/></body>"
    "<body name='b' pos='0 1 0' euler='0 0 90'><freejoint/><geom size='.1'/><site name='t'/></body></worldbody>";

TEST(MjcfRules, ConnectsAndWelds) {
  const ModelFolder f;
  const auto joint = [&](const std::string& equality) {
    ImportOptions never;
    never.assemble = ImportAssembly::never;
    return f.mjcf(kTwoBodies + ("<equality>" + equality + "</equality>"), never).model.joints().at(0);
  };
  const Joint connect = joint("<connect body1='a' body2='b' anchor='0 0 2'/>");
  EXPECT_EQ(connect.type, JointType::spherical);
  EXPECT_LE((connect.p_FJ - Vec3(-1, -1, 2)).norm(), 1e-14);  // where the point lies at qpos0
  EXPECT_LE((joint("<connect site1='s' site2='t'/>").p_BJ - Vec3(0, 0, 1)).norm(), 1e-15);
  const Joint weld = joint("<weld body1='a' body2='b' relpose='0 0 1 1 0 0 0' anchor='0 1 0'/>");
  EXPECT_EQ(weld.type, JointType::fixed);
  EXPECT_EQ(weld.p_BJ, Vec3(0, 0, 1));
  EXPECT_EQ(weld.p_FJ, Vec3(0, 1, 0));
  EXPECT_EQ(joint("<weld body1='a' body2='b' torquescale='0'/>").type, JointType::spherical);
  EXPECT_EQ(joint("<weld body1='a'/>").base, kWorld);
}

TEST(MjcfRules, PairsOfConnectsAreAHingeAndThreeAreRigid) {
  const ModelFolder f;
  const std::string two = "<connect body1='a' body2='b' anchor='0 0 0'/><connect body2='a' body1='b' anchor='0 0 1'/>";
  const auto read = [&](const std::string& text, ImportLoops loops) {
    ImportOptions options;
    options.loops = loops;
    return f
        .mjcf(
            "<worldbody><body name='a'><freejoint/><geom size='.1'/></body><body name='b'><freejoint/><geom "
            "size='.1'/></body></worldbody>"
            "<equality>" +
                text + "</equality>",
            options)
        .model;
  };
  const Model hinge_model = read(two, ImportLoops::automatic);
  ASSERT_EQ(hinge_model.joint_count(), 1);
  EXPECT_EQ(hinge_model.joints()[0].type, JointType::revolute);
  EXPECT_LE((hinge_model.joints()[0].q_BJ * Vec3::UnitX() - Vec3::UnitZ()).norm(), 1e-14);
  EXPECT_EQ(read(two, ImportLoops::as_written).joint_count(), 2);
  const Model rigid = read(two + "<connect body1='a' body2='b' anchor='1 0 0'/>", ImportLoops::automatic);
  ASSERT_EQ(rigid.joint_count(), 1);
  EXPECT_EQ(rigid.joints()[0].type, JointType::fixed);
}

TEST(MjcfRules, TendonsOfOneCoordinateFold) {
  const ModelFolder f;
  const Dof d = only_dof(
      f.mjcf(hinge("",
                   "<tendon><fixed name='t' range='-1 2' stiffness='3' damping='5' frictionloss='7' springlength='.5'>"
                   "<joint joint='j' coef='-2'/></fixed></tendon>"
                   "<actuator><position name='p' tendon='t' kp='10'/></actuator>"))
          .model);
  EXPECT_EQ(d.limit.lower, -1);
  EXPECT_EQ(d.limit.upper, .5);
  EXPECT_EQ(d.stiffness, 12);
  EXPECT_EQ(d.rest, -.25);
  EXPECT_EQ(d.damping, 20);
  EXPECT_EQ(d.dry_friction, 14);
  EXPECT_EQ(d.drive.kp, 40);
}

struct ActuatorRow {
  const char* actuator;
  DriveMode mode;
  double kp, kd, target;
};

TEST(MjcfRules, ActuatorsBecomeDrives) {
  const ModelFolder f;
  ImportOptions options;
  options.key = "k";  // control 0.5
  const ActuatorRow table[] = {
      {"<motor joint='j' gear='3'/>", DriveMode::force, 0, 0, 1.5},
      {"<position joint='j' kp='7' kv='2' gear='3'/>", DriveMode::position, 63, 18, .5 / 3},
      {"<velocity joint='j' kv='2' gear='3'/>", DriveMode::velocity, 0, 18, .5 / 3},
      {"<general joint='j' gainprm='80' biastype='affine' biasprm='0 -100 -10'/>", DriveMode::position, 100, 10, .4},
      {"<general joint='j' gainprm='5'/>", DriveMode::force, 0, 0, 2.5},
      {"<damper joint='j' kv='4' ctrlrange='0 1'/>", DriveMode::velocity, 0, 2, 0},
      {"<position joint='j' kp='7' ctrlrange='-.2 .2'/>", DriveMode::position, 7, 0, .2},
      {"<position joint='j' kp='7' ctrlrange='-.2 .2' ctrllimited='false'/>", DriveMode::position, 7, 0, .5}};
  for (const ActuatorRow& row : table) {
    SCOPED_TRACE(row.actuator);
    const Drive d = only_dof(f.mjcf(hinge("", std::string("<actuator>") + row.actuator +
                                                  "</actuator><keyframe><key name='k' ctrl='.5'/></keyframe>"),
                                    options)
                                 .model)
                        .drive;
    EXPECT_EQ(d.mode, row.mode);
    EXPECT_NEAR(d.kp, row.kp, 1e-12);
    EXPECT_NEAR(d.kd, row.kd, 1e-12);
    EXPECT_NEAR(d.target.offset, row.target, 1e-14);
  }
}

TEST(MjcfRules, DefaultsOfOneKindOfActuatorReachTheOthers) {
  const ModelFolder f;
  const auto drive = [&](const std::string& element) {
    return only_dof(f.mjcf("<default><position kp='7'/></default>" + hinge("", "<actuator>" + element + "</actuator>"))
                        .model)
        .drive;
  };
  EXPECT_EQ(drive("<velocity joint='j'/>").kd, 7);
  EXPECT_EQ(drive("<general joint='j'/>").kp, 7);
  EXPECT_EQ(drive("<motor joint='j'/>").mode, DriveMode::force);
}

TEST(MjcfRules, DampingRatiosTakeTheInertiaThatTheJointFeels) {
  const ModelFolder f;
  // A sphere of mass m at the distance 1: I = m + 2/5 m r^2 and the armature.
  const Drive d = only_dof(f.mjcf("<worldbody><body><joint name='j' armature='1'/><geom size='.1' mass='2' pos='1 0 "
                                  "0'/></body></worldbody>"
                                  "<actuator><position joint='j' kp='9' dampratio='1'/></actuator>")
                               .model)
                      .drive;
  EXPECT_NEAR(d.kd, 2 * std::sqrt(9 * (2 + .4 * 2 * .01 + 1)), 1e-12);
}

// Springs of springdamper make the joint that feels the inertia I oscillate with its time: I = 1/(M^-1)_ii.
TEST(MjcfRules, SpringdampersTakeTheInverseInertiaOfTheTree) {
  const ModelFolder f;
  // Two pendulums in a row about y, point masses 2 and 3 kg at the ends of 1 and 0.5 m, small spheres and an armature.
  const Model m = f.mjcf(
                       "<worldbody><body><joint name='a' axis='0 1 0' springdamper='.5 2'/><geom size='.01' mass='2' "
                       "pos='1 0 0'/><body pos='1 0 0'><joint name='b' axis='0 1 0' armature='.1'/><geom size='.01' "
                       "mass='3' pos='.5 0 0'/></body></body></worldbody>")
                      .model;
  const double sphere2 = .4 * 2 * 1e-4, sphere3 = .4 * 3 * 1e-4;
  const double M22 = sphere3 + 3 * .25, M12 = sphere3 + 3 * (.25 + .5), M11 = sphere2 + 2 + sphere3 + 3 * 2.25;
  const double I = M11 - M12 * M12 / (M22 + .1);
  EXPECT_NEAR(m.dofs()[at(m.dof("a"))].stiffness, I / (.25 * 4), 1e-12);
  EXPECT_NEAR(m.dofs()[at(m.dof("a"))].damping, 2 * I / .5, 1e-12);
  // On a body that floats, it turns both ends: 1/(1/I1 + 1/I2) of two equal bars about their common centre.
  const Model floating = f.mjcf(
                              "<worldbody><body><freejoint/><geom size='.1' mass='1'/><body><joint name='j' axis='0 0 "
                              "1' springdamper='1 1'/><geom size='.2' mass='1'/></body></body></worldbody>")
                             .model;
  const double I1 = .4 * .01, I2 = .4 * .04;
  EXPECT_NEAR(floating.dofs()[at(floating.dof("j"))].stiffness, 1 / (1 / I1 + 1 / I2), 1e-12);
  // Many axes take memory and time for themselves, not for each other.
  const Model many = f.mjcf(
                          "<worldbody><replicate count='5000' offset='1 0 0'><body><joint springdamper='1 1' axis='0 0 "
                          "1'/><geom size='.1' mass='1'/></body></replicate></worldbody>")
                         .model;
  ASSERT_EQ(many.dof_count(), 5000);
  EXPECT_NEAR(many.dofs()[4999].stiffness, .4 * .01, 1e-12);
}

TEST(MjcfRules, BoundsOfEffort) {
  const ModelFolder f;
  const auto drive = [&](const std::string& joint, const std::string& actuator) {
    return only_dof(f.mjcf(hinge(joint, "<actuator><" + actuator + " joint='j'/></actuator>")).model).drive;
  };
  EXPECT_EQ(drive("", "motor gear='16' ctrlrange='-12.2 12.2'").largest_effort(), 16 * 12.2);
  EXPECT_EQ(drive("", "position kp='1' forcerange='-2 3' gear='-2'").largest_effort(), 4);
  EXPECT_EQ(drive("", "position kp='1' forcerange='-2 3' gear='-2'").least_effort(), -6);
  EXPECT_EQ(drive("actuatorfrcrange='-1 1'", "position kp='1' forcerange='-2 3'").largest_effort(), 1);
  EXPECT_EQ(drive("range='-90 90'", "position kp='1' inheritrange='1'").target_upper, pi / 2);
}

TEST(MjcfRules, StaticBodiesAreTheWorldUnlessAnExcludeNamesThem) {
  const ModelFolder f;
  const std::string bodies =
      "<worldbody><geom type='plane' size='1 1 1'/><body name='base'><geom name='g' size='.1'/>"
      "<body name='arm'><joint/><geom name='h' size='.1'/></body></body></worldbody>";
  const Model world = f.mjcf(bodies).model;
  EXPECT_EQ(world.body_count(), 1);
  EXPECT_TRUE(PairFilter(world).allowed(1, 2));  // a child of the world meets it
  const Model named = f.mjcf(bodies + "<contact><exclude body1='base' body2='arm'/></contact>").model;
  EXPECT_EQ(named.body_count(), 2);
  const PairFilter filter(named);
  const auto geom = [&](const char* name) {
    for (std::size_t i = 0; i < named.geoms().size(); ++i) {
      if (named.geoms()[i].name == name) return static_cast<int>(i);
    }
    return -1;
  };
  EXPECT_FALSE(filter.allowed(geom("g"), geom("h")));
  EXPECT_TRUE(filter.allowed(0, geom("h")));  // the floor
}

TEST(MjcfRules, FrictionIsTheLargerOneUnlessThePriorityDiffers) {
  const ModelFolder f;
  const auto mu = [&](const std::string& a, const std::string& b) {
    const Model m = f.mjcf("<worldbody><geom type='plane' size='1 1 1' " + a + "/><body><freejoint/><geom size='.1' " +
                           b + "/></body></worldbody>")
                        .model;
    return ContactLaws(m).between(0, 1).mu;
  };
  EXPECT_EQ(mu("friction='.3'", "friction='.8'"), .8);
  EXPECT_EQ(mu("friction='.3' priority='1'", "friction='.8'"), .3);
  EXPECT_EQ(mu("condim='1'", "friction='.8'"), 1);
  EXPECT_EQ(mu("condim='1'", "friction='.8' condim='1'"), 0);
  EXPECT_EQ(mu("condim='1' priority='1'", "friction='.8'"), 0);
}

TEST(MjcfRules, WeldedBodiesMergeAboutTheirCommonCentre) {
  const ModelFolder f;
  const ImportResult r = f.mjcf(
      "<worldbody><body name='a'><freejoint/><geom size='.1' mass='1'/><body name='b' pos='1 0 0' euler='0 0 90'>"
      "<geom size='.1' mass='3'/><site name='tip' pos='1 0 0'/></body></body></worldbody>");
  ASSERT_EQ(r.model.body_count(), 1);
  EXPECT_EQ(r.model.bodies()[0].mass, 4);
  EXPECT_LE((r.model.bodies()[0].X_WB0.p - Vec3(.75, 0, 0)).norm(), 1e-15);
  EXPECT_NEAR(r.model.bodies()[0].inertia_B(2, 2), 4 * .4 * .01 + 1 * .75 * .75 + 3 * .25 * .25, 1e-14);
  EXPECT_EQ(r.report.names.at("b").body, "a");
  EXPECT_LE((r.model.frames()[at(r.model.frame("tip"))].X_BF.p - Vec3(.25, 1, 0)).norm(), 1e-14);
  ImportOptions apart;
  apart.merge_fixed = false;
  EXPECT_EQ(f.mjcf("<worldbody><body name='a'><freejoint/><geom size='.1'/><body name='b' pos='1 0 0'><geom "
                   "size='.1'/></body></body></worldbody>",
                   apart)
                .model.joints()
                .at(0)
                .type,
            JointType::fixed);
}

TEST(MjcfRules, MasslessMovingBodiesWithMassiveParts) {
  const ModelFolder f;
  EXPECT_NO_THROW(f.mjcf("<worldbody><body><joint/><body><geom size='.1'/></body></body></worldbody>"));
  EXPECT_THROW(f.mjcf("<worldbody><body name='b'><joint/><body><joint/><geom size='.1'/></body></body></worldbody>"),
               InputError);
}

TEST(MjcfRules, InertiasThatNoMassHasAreRepairedUnlessRefused) {
  const ModelFolder f;
  const std::string bad =
      "<worldbody><body name='b'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/></body></worldbody>";
  const ImportResult r = f.mjcf(bad);
  const Vec3 p = r.model.bodies()[0].inertia_B.diagonal();
  EXPECT_NEAR(p[0] + p[1], p[2], 1e-12);
  EXPECT_EQ(r.report.warnings(), 1);
  ImportOptions strict;
  strict.strict = true;
  EXPECT_THROW(f.mjcf(bad, strict), InputError);
  ImportOptions refuse;
  refuse.repair_inertia = false;
  EXPECT_THROW(f.mjcf(bad, refuse), InputError);
}

TEST(MjcfRules, SoftParametersAreOnlyKeptOnRequest) {
  const ModelFolder f;
  const std::string text = hinge("range='-1 1' solreflimit='.1 .5'");
  EXPECT_FALSE(only_dof(f.mjcf(text).model).limit.compliance.compliant());
  ImportOptions soft;
  soft.compliance = ImportCompliance::source;
  EXPECT_EQ(only_dof(f.mjcf(text, soft).model).limit.compliance.time_constant, .1);
  // Direct: k = 400, b = 20: T = 2/b, zeta = b/(2 sqrt k).
  const Compliance direct = only_dof(f.mjcf(hinge("range='-1 1' solreflimit='-400 -20'"), soft).model).limit.compliance;
  EXPECT_NEAR(direct.time_constant, .1, 1e-15);
  EXPECT_NEAR(direct.damping_ratio, .5, 1e-15);
}

TEST(MjcfRules, PairsCollideWithTheirOwnParameters) {
  const ModelFolder f;
  const Model m =
      f.mjcf(
           "<worldbody><geom name='floor' type='plane' size='1 1 1' contype='0' conaffinity='0'/><body><freejoint/>"
           "<geom name='foot' size='.1' friction='.2'/></body></worldbody>"
           "<contact><pair geom1='floor' geom2='foot' friction='.6 .5' margin='.01'/></contact>")
          .model;
  ASSERT_EQ(m.contact_pairs().size(), 1u);
  EXPECT_EQ(m.contact_pairs()[0].mu, .5);
  EXPECT_EQ(m.contact_pairs()[0].margin, .01);
  EXPECT_TRUE(PairFilter(m).allowed(0, 1));
}

TEST(MjcfRules, TendonsOfSeveralCoordinatesAreCombinations) {
  const ModelFolder f;
  const Model m =
      f.mjcf(
           "<worldbody><body><joint name='a'/><geom size='.1'/><body pos='1 0 0'><joint name='b'/><geom "
           "size='.1'/></body>"
           "</body></worldbody><tendon><fixed name='t' range='-1 2' stiffness='3'><joint joint='a' coef='2'/>"
           "<joint joint='b' coef='-1'/></fixed></tendon><actuator><position name='p' tendon='t' kp='10'/></actuator>")
          .model;
  ASSERT_EQ(m.combinations().size(), 1u);
  const Combination& c = m.combinations()[0];
  EXPECT_EQ(c.terms[0].coefficient, 2);
  EXPECT_EQ(c.terms[1].coefficient, -1);
  EXPECT_EQ(c.law.limit.upper, 2);
  EXPECT_EQ(c.law.stiffness, 3);
  EXPECT_EQ(c.law.drive.kp, 10);
  EXPECT_EQ(c.law.drive.name, "p");
}

TEST(MjcfRules, PolynomialsOfDeviationsKeepTheirDegree) {
  const ModelFolder f;
  ImportOptions never;
  never.assemble = ImportAssembly::never;
  const Coupling c = f.mjcf(
                          "<compiler angle='radian'/><worldbody><body><joint name='a' ref='.3'/><geom "
                          "size='.1'/></body><body pos='1 0 0'>"
                          "<joint name='b' ref='.2'/><geom size='.1'/></body></worldbody>"
                          "<equality><joint joint1='a' joint2='b' polycoef='.1 .2 .3 .4 .5'/></equality>",
                          never)
                         .model.couplings()
                         .at(0);
  for (const double b : {-.7, .1, 1.3}) {
    const double x = b - .2;
    EXPECT_NEAR(c.residual(.3 + .1 + x * (.2 + x * (.3 + x * (.4 + x * .5))), b), 0, 1e-14);
  }
}

TEST(MjcfRules, OtherAxesOfOneBodyAreSerialAndBallsGetBodiesBetween) {
  const ModelFolder f;
  const Model m =
      f.mjcf(
           "<worldbody><body name='b'><joint name='x' axis='1 0 0'/><joint name='y' axis='0 1 0' pos='0 0 .1'/>"
           "<geom size='.1'/></body></worldbody>")
          .model;
  ASSERT_EQ(m.joint_count(), 1);
  EXPECT_EQ(m.joints()[0].type, JointType::serial);
  EXPECT_EQ(m.body_count(), 1);
  const ImportResult ball = f.mjcf(
      "<worldbody><body name='b'><joint name='x' type='slide'/><joint name='y' type='ball'/>"
      "<geom size='.1'/></body></worldbody>");
  EXPECT_EQ(ball.model.body_count(), 2);
  EXPECT_EQ(ball.report.warnings(), 1);
}

TEST(MjcfRules, WhatCannotBeRepresentedIsListedAtOnceAndCanBeAccepted) {
  const ModelFolder f;
  const std::string text = "<option density='1'/>" +
                           hinge("", "<worldbody><site name='s'/></worldbody><actuator><motor site='s'/></actuator>");
  try {
    f.mjcf(text);
    FAIL();
  } catch (const InputError& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("fluid"), std::string::npos);
    EXPECT_NE(what.find("site"), std::string::npos);
    EXPECT_NE(what.find("--accept"), std::string::npos);
  }
  EXPECT_THROW(f.mjcf(text, accepting("fluid")), InputError);
  EXPECT_NO_THROW(f.mjcf(text, accepting("all")));
}

TEST(MjcfRules, IncludesAreSplicedWhereTheyStand) {
  const ModelFolder f;
  f.write("parts/arm.xml", "<mujocoinclude><body name='arm'><joint name='j'/><geom size='.1'/></body></mujocoinclude>");
  f.write("common.xml", "<mujoco><compiler angle='radian'/><default><joint range='-1 1'/></default></mujoco>");
  const Model m = f.mjcf("<Include file='common.xml'/><worldbody><include file='parts/arm.xml'/></worldbody>").model;
  EXPECT_EQ(only_dof(m).limit.upper, 1);
}

TEST(MjcfRules, ConvertedModelsAreTheSameToTheBit) {
  const ModelFolder f;
  const Model m = f.mjcf(
                       "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1.1'/></asset><worldbody><geom "
                       "type='plane' size='1 1 1' friction='.3'/>"
                       "<body name='b' pos='0 0 1' euler='10 20 30'><freejoint/><geom type='mesh' mesh='m'/><site "
                       "name='s' pos='.1 .2 .3'/>"
                       "<body name='c' pos='1 0 0'><joint name='j' axis='1 2 3' range='-50 70' damping='.1'/><geom "
                       "size='.1' rgba='1 0 0 .5'/></body></body></worldbody>"
                       "<actuator><position name='p' joint='j' kp='3' forcerange='-1 2'/></actuator>")
                      .model;
  const std::string text = scene_to_json(m);
  const Model again = parse_scene(text, "again");
  EXPECT_EQ(scene_to_json(again), text);
  EXPECT_EQ(State::initial(again).hash(), State::initial(m).hash());
}

}  // namespace
}  // namespace sarrus::mjcf_rules_test
