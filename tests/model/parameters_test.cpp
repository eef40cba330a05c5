// Parameters by name: every one can be read and written, bad names and values are refused, structure is compared.
#include "sarrus/model/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"

namespace sarrus::parameters_test {
namespace {

Model arm() {
  ModelBuilder b("arm");
  const int steel = b.add_material("steel", 0.4);
  const int base = b.add_box_body("link.one", 2.0, Vec3(0.1, 0.1, 0.1), {Vec3(0, 0, 1)}, steel);
  const int tip = b.add_box_body("tip", 1.0, Vec3(0.1, 0.1, 0.1), {Vec3(1, 0, 1)}, steel);
  b.set_material_pair(steel, 0, 0.2, 0.1);
  const int shoulder =
      b.add_joint_at("shoulder", JointType::revolute, kWorld, base, Vec3(0, 0, 1), frame_with_x(Vec3::UnitY()));
  b.add_joint_at("elbow", JointType::revolute, base, tip, Vec3(0.5, 0, 1), frame_with_x(Vec3::UnitY()));
  Drive drive;
  drive.mode = DriveMode::position;
  drive.kp = 100;
  drive.kd = 5;
  b.dof(shoulder).drive = drive;
  return b.build();
}

TEST(Parameters, EveryOneIsReadAndWritten) {
  const Model model = arm();
  const std::vector<std::string> names = parameter_names(model);
  EXPECT_GT(names.size(), 30U);
  for (const std::string& name : names) {
    const double before = parameter(model, name);
    // Values that each of them may have.
    const double wanted = name.ends_with("lower") ? -1.5 : name.ends_with("upper") ? 1.5 : 0.75;
    const std::vector<ParameterChange> change = {{name, wanted}};
    const Model other = changed(model, change);
    if (name.ends_with("inertia_scale")) {
      EXPECT_EQ(other.bodies()[0].inertia_B(0, 0) != model.bodies()[0].inertia_B(0, 0), name.find("tip") == name.npos);
      continue;
    }
    EXPECT_EQ(parameter(other, name), wanted) << name;
    EXPECT_EQ(parameter(model, name), before) << name;
    for (const std::string& rest : names) {
      if (rest == name) continue;
      EXPECT_EQ(parameter(other, rest), parameter(model, rest)) << name << " changes " << rest;
    }
  }
}

TEST(Parameters, TheInertiaGrowsWithTheMass) {
  const Model model = arm();
  const std::vector<ParameterChange> change = {{"body.link.one.mass", 3.0}, {"body.*.mass", 2.0, true}};
  const Model other = changed(model, change);
  EXPECT_EQ(other.bodies()[0].mass, 6.0);
  EXPECT_EQ(other.bodies()[1].mass, 2.0);
  EXPECT_LT((other.bodies()[0].inertia_B - 3 * model.bodies()[0].inertia_B).norm(), 1e-15);
}

TEST(Parameters, DrivesAreFoundByTheirJoint) {
  const Model model = arm();
  EXPECT_EQ(parameter(model, "drive.shoulder.kp"), 100);
  EXPECT_EQ(parameter(model, "drive.shoulder.angle.kp"), 100);
  EXPECT_EQ(parameter(model, "material_pair.steel,default.friction"), 0.2);
}

TEST(Parameters, BadNamesAndValuesAreRefused) {
  const Model model = arm();
  const auto refusal = [&](const ParameterChange& change) {
    try {
      (void)changed(model, std::span(&change, 1));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal({"body.tpi.mass", 1}).find("did you mean 'body.tip.mass'?"), std::string::npos);
  for (const char* name :
       {"", ".", "body", "body.", "body.tip", "body..mass", "gravity.w", "body.tip.mass.", "*.*.*"}) {
    EXPECT_NE(refusal({name, 1}), "") << name;
  }
  EXPECT_NE(refusal({"body.tip.mass", 0}), "");
  EXPECT_NE(refusal({"body.tip.mass", std::numeric_limits<double>::infinity()}), "");
  EXPECT_NE(refusal({"body.tip.inertia_scale", -1}), "");
  EXPECT_NE(refusal({"material.steel.friction", -1}), "");
  EXPECT_NE(refusal({"dof.elbow.damping", std::numeric_limits<double>::quiet_NaN()}), "");
  EXPECT_NE(refusal({"drive.shoulder.kp", 0}), "");
}

TEST(Parameters, StructureIsAllButNumbers) {
  const Model model = arm();
  const auto difference = [&](const char* name, double value) {
    const ParameterChange change{name, value};
    return structural_difference(model, changed(model, std::span(&change, 1)));
  };
  EXPECT_EQ(difference("body.*.mass", 3), "");
  EXPECT_EQ(difference("material.*.friction", 0), "");
  EXPECT_EQ(difference("gravity.x", 1), "");
  EXPECT_EQ(difference("drive.shoulder.kp", 7), "");
  EXPECT_NE(difference("dof.elbow.stiffness", 1).find("of joint 'elbow'"), std::string::npos);
  EXPECT_NE(difference("dof.elbow.upper", 1), "");
  ModelData more = model.data();
  more.bodies.push_back(more.bodies.back());
  more.bodies.back().name = "third";
  EXPECT_NE(structural_difference(model, finish_model(more)).find("2 of kind body in one, 3 in the other"),
            std::string::npos);
}

}  // namespace
}  // namespace sarrus::parameters_test
