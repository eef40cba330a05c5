// Every refusal of finish_model: the element is named and the message says what is wrong and what to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/builder.h"

namespace sarrus::validate_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum { kHinge, kSlide, kBall, kRod };           // joints
enum { kHingeAngle, kSlidePosition, kBallWx };  // dofs

// world -hinge- a -slide- b -ball- c -rod- world, a box each, one coupling between hinge and slide.
ModelBuilder valid_model() {
  ModelBuilder b("valid");
  const Vec3 half(0.1, 0.2, 0.3);
  b.add_box_body("a", 1.0, half, {Vec3(0, 0, 1)});
  b.add_box_body("b", 2.0, half, {Vec3(1, 0, 1)});
  b.add_box_body("c", 3.0, half, {Vec3(2, 0, 1)});
  b.add_joint_at("hinge", JointType::revolute, kWorld, 0, Vec3(0, 0, 1));
  b.add_joint_at("slide", JointType::prismatic, 0, 1, Vec3(0.5, 0, 1));
  b.add_joint_at("ball", JointType::spherical, 1, 2, Vec3(1.5, 0, 1));
  b.add_distance("rod", kWorld, 2, Vec3(2, 0, 3), Vec3(2, 0, 1));
  b.add_coupling("rack", kSlidePosition, kHingeAngle, 0.1);
  b.add_material("steel", 0.3, 0.5);
  b.set_material_pair(0, 1, 0.4, 0.1);
  b.add_floor();
  return b;
}

Joint plain_joint(std::string name, int base, int follower) {
  Joint j;
  j.name = std::move(name);
  j.type = JointType::revolute;
  j.base = base;
  j.follower = follower;
  return j;
}

struct Case {
  const char* name;
  std::function<void(ModelBuilder&)> spoil;
  std::string element;  // exact
  std::string problem;  // part of the message
  std::string remedy;   // part of the message
};

void expect_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    ModelBuilder b = valid_model();
    c.spoil(b);
    try {
      b.build();
      ADD_FAILURE() << c.name << ": accepted";
    } catch (const InputError& e) {
      const std::string what = e.what();
      EXPECT_EQ(e.element(), c.element) << c.name << ": " << what;
      EXPECT_EQ(what.find(c.element + ": "), 0u) << c.name << ": " << what;
      EXPECT_NE(what.find(c.problem), std::string::npos) << c.name << ": " << what;
      EXPECT_NE(what.find(c.remedy), std::string::npos) << c.name << ": " << what;
    }
  }
}

Mat3 diagonal(double x, double y, double z) { return Vec3(x, y, z).asDiagonal(); }

TEST(Validate, TheUnspoiledModelIsAccepted) {
  const Model m = valid_model().build();
  EXPECT_EQ(m.body_count(), 3);
  EXPECT_EQ(m.dof_count(), 5);
}

TEST(Validate, Bodies) {
  const std::string mass = "give a finite mass > 0";
  expect_refused({
      {"mass -1", [](auto& b) { b.body(0).mass = -1; }, "body 'a'", "mass is -1", mass},
      {"mass 0", [](auto& b) { b.body(1).mass = 0; }, "body 'b'", "mass is 0", mass},
      {"mass NaN", [](auto& b) { b.body(0).mass = kNan; }, "body 'a'", "nan", mass},
      {"mass inf", [](auto& b) { b.body(0).mass = kInf; }, "body 'a'", "inf", mass},
      {"inertia NaN", [](auto& b) { b.body(0).inertia_B(1, 2) = kNan; }, "body 'a'", "non-finite",
       "give finite numbers"},
      {"inertia asymmetric", [](auto& b) { b.body(0).inertia_B(0, 1) = 1e-3; }, "body 'a'", "not symmetric",
       "give a symmetric matrix"},
      {"inertia zero", [](auto& b) { b.body(0).inertia_B.setZero(); }, "body 'a'", "not positive definite",
       "needs three principal moments > 0"},
      {"inertia indefinite", [](auto& b) { b.body(0).inertia_B = diagonal(1, 1, -1); }, "body 'a'",
       "not positive definite", "needs three principal moments > 0"},
      {"triangle inequality", [](auto& b) { b.body(0).inertia_B = diagonal(1, 1, 2.1); }, "body 'a'",
       "triangle inequality", "recompute the inertia"},
      {"pose NaN", [](auto& b) { b.body(0).X_WB0.p.y() = kNan; }, "body 'a'", "pose position", "give finite numbers"},
      {"zero quaternion", [](auto& b) { b.body(0).X_WB0.q.coeffs().setZero(); }, "body 'a'", "not a rotation",
       "unit quaternion"},
      {"long quaternion", [](auto& b) { b.body(0).X_WB0.q.coeffs() *= 1.5; }, "body 'a'", "norm 1.5",
       "unit quaternion"},
      {"velocity inf", [](auto& b) { b.body(0).v0_W.x() = kInf; }, "body 'a'", "initial velocity", "finite"},
      {"spin NaN", [](auto& b) { b.body(0).w0_W.x() = kNan; }, "body 'a'", "initial angular velocity", "finite"},
      {"duplicate", [](auto& b) { b.body(2).name = "a"; }, "body 'a'", "same name", "rename one of them"},
      {"gravity_scale NaN", [](auto& b) { b.body(1).gravity_scale = kNan; }, "body 'b'", "gravity_scale is nan",
       "finite"},
      {"nameless", [](auto& b) { b.body(1).name.clear(); }, "body #1", "has no name", "unique name"},
      {"reserved", [](auto& b) { b.body(1).name = "world"; }, "body 'world'", "reserved", "choose another"},
  });
}

TEST(Validate, TriangleInequalityAllowsRoundOff) {
  ModelBuilder b = valid_model();
  b.body(0).inertia_B = diagonal(1, 1, 2);  // a flat plate, exactly on the bound
  EXPECT_NO_THROW(b.build());
}

TEST(Validate, JointFrames) {
  expect_refused({
      {"same body", [](auto& b) { b.joint(kSlide).base = 1; }, "joint 'slide'", "the same body", "two different"},
      {"follower world", [](auto& b) { b.joint(kHinge).follower = kWorld; }, "joint 'hinge'", "follower is the world",
       "make the world the base"},
      {"bad base", [](auto& b) { b.add_joint(plain_joint("x", 7, 0)); }, "joint 'x'", "base refers to body 7",
       "the model has 3 bodies"},
      {"bad follower", [](auto& b) { b.add_joint(plain_joint("x", 0, 3)); }, "joint 'x'", "follower refers to body 3",
       "the model has 3 bodies"},
      {"negative body", [](auto& b) { b.add_joint(plain_joint("x", -2, 0)); }, "joint 'x'", "base refers to body -2",
       "the model has 3 bodies"},
      {"base anchor NaN", [](auto& b) { b.joint(kHinge).p_BJ.x() = kNan; }, "joint 'hinge'", "base anchor", "finite"},
      {"anchor inf", [](auto& b) { b.joint(kHinge).p_FJ.z() = kInf; }, "joint 'hinge'", "follower anchor", "finite"},
      {"zero base axes", [](auto& b) { b.joint(kBall).q_BJ.coeffs().setZero(); }, "joint 'ball'", "base axes",
       "unit quaternion"},
      {"NaN axes", [](auto& b) { b.joint(kBall).q_FJ.w() = kNan; }, "joint 'ball'", "follower axes", "unit quaternion"},
      {"duplicate", [](auto& b) { b.joint(kBall).name = "hinge"; }, "joint 'hinge'", "same name", "rename"},
      {"nameless", [](auto& b) { b.joint(kSlide).name.clear(); }, "joint #1", "has no name", "unique name"},
      {"erp 2", [](auto& b) { b.joint(kHinge).erp = 2; }, "joint 'hinge'", "erp is 2", "in [0, 1]"},
      {"erp NaN", [](auto& b) { b.joint(kHinge).erp = kNan; }, "joint 'hinge'", "erp is nan", "in [0, 1]"},
      {"length 0", [](auto& b) { b.joint(kRod).length = 0; }, "joint 'rod'", "length 0", "use spherical"},
      {"length NaN", [](auto& b) { b.joint(kRod).length = kNan; }, "joint 'rod'", "length nan", "finite length > 0"},
      {"length -1", [](auto& b) { b.joint(kRod).length = -1; }, "joint 'rod'", "length -1", "finite length > 0"},
      {"rope hinge", [](auto& b) { b.joint(kHinge).rope = true; }, "joint 'hinge'", "rope", "only a distance joint"},
      {"swing on hinge", [](auto& b) { b.joint(kHinge).swing_limit = 1; }, "joint 'hinge'", "swing_limit belongs",
       "use coordinate limits"},
      {"swing 0", [](auto& b) { b.joint(kBall).swing_limit = 0; }, "joint 'ball'", "swing_limit is 0", "(0, pi)"},
      {"swing NaN", [](auto& b) { b.joint(kBall).swing_limit = kNan; }, "joint 'ball'", "swing_limit is nan",
       "(0, pi)"},
      {"shifted dofs", [](auto& b) { b.joint(kSlide).first_dof = 0; }, "joint 'slide'", "not grouped", "ModelBuilder"},
  });
}

TEST(Validate, Coordinates) {
  const std::string hinge = "joint 'hinge', coordinate 'angle'";
  const std::string ball = "joint 'ball', coordinate 'wx'";
  const std::string number = "finite number >= 0";
  expect_refused({
      {"reversed",
       [](auto& b) {
         b.dof(kHinge).limit = {1, -1};
       },
       hinge, "reversed", "lower <= upper"},
      {"lower NaN", [](auto& b) { b.dof(kHinge).limit.lower = kNan; }, hinge, "limit is NaN", "leave it out"},
      {"upper NaN", [](auto& b) { b.dof(kHinge).limit.upper = kNan; }, hinge, "limit is NaN", "leave it out"},
      {"limit restitution", [](auto& b) { b.dof(kHinge).limit.restitution = 2; }, hinge, "restitution is 2", "[0, 1]"},
      {"damping", [](auto& b) { b.dof(kHinge).damping = -1; }, hinge, "damping is -1", number},
      {"damping inf", [](auto& b) { b.dof(kHinge).damping = kInf; }, hinge, "damping is inf", number},
      {"stiffness", [](auto& b) { b.dof(kHinge).stiffness = kNan; }, hinge, "stiffness is nan", number},
      {"armature", [](auto& b) { b.dof(kHinge).armature = -1; }, hinge, "armature is -1", number},
      {"friction", [](auto& b) { b.dof(kHinge).dry_friction = -1; }, hinge, "dry_friction is -1", number},
      {"rest", [](auto& b) { b.dof(kHinge).rest = kInf; }, hinge, "spring rest is inf", "finite"},
      {"kp", [](auto& b) { b.dof(kHinge).drive.kp = -1; }, hinge, "kp is -1", number},
      {"kd", [](auto& b) { b.dof(kHinge).drive.kd = kNan; }, hinge, "kd is nan", number},
      {"effort", [](auto& b) { b.dof(kHinge).drive.effort_limit = 0; }, hinge, "effort_limit is 0", "> 0"},
      {"target", [](auto& b) { b.dof(kHinge).drive.target.rate = kNan; }, hinge, "drive target", "finite"},
      {"servo without kp", [](auto& b) { b.dof(kHinge).drive.mode = DriveMode::position; }, hinge, "kp = 0",
       "use a velocity drive"},
      {"motor without kd", [](auto& b) { b.dof(kHinge).drive.mode = DriveMode::velocity; }, hinge, "kd = 0",
       "give kd > 0"},
      {"ball limit", [](auto& b) { b.dof(kBall).limit.lower = -1; }, ball, "no scalar coordinate", "use swing_limit"},
      {"ball spring", [](auto& b) { b.dof(kBall).stiffness = 1; }, "joint 'ball'", "stiffnesses 1, 0 and 0",
       "one for all three axes"},
      {"ball stiffness", [](auto& b) { b.set_ball_spring(kBall, -1, 0); }, "joint 'ball'", "stiffness is -1", number},
      {"ball stiffness NaN", [](auto& b) { b.set_ball_spring(kBall, kNan, 0); }, "joint 'ball'", "stiffness is nan",
       number},
      {"ball damping", [](auto& b) { b.set_ball_spring(kBall, 1, -2); }, ball, "damping is -2", number},
      {"ball rest", [](auto& b) { b.dof(kBall).rest = 1; }, ball, "rests at an orientation", "q_rest"},
      {"ball rest axes", [](auto& b) { b.set_ball_spring(kBall, 1, 0, Quat(2, 0, 0, 0)); }, "joint 'ball'",
       "spring rest has norm 2", "unit quaternion"},
      {"hinge rest axes", [](auto& b) { b.joint(kHinge).q_rest = Quat(0, 1, 0, 0); }, "joint 'hinge'",
       "belongs to the spring of spherical joints", "rest of a coordinate"},
      {"ball servo",
       [](auto& b) {
         b.dof(kBall).drive.mode = DriveMode::position;
         b.dof(kBall).drive.kp = 1;
       },
       ball, "no scalar coordinate", "use gimbal"},
  });
}

TEST(Validate, DrivesAndInitialValues) {
  const std::string hinge = "joint 'hinge', coordinate 'angle'";
  expect_refused({
      {"efforts", [](auto& b) { b.dof(kHinge).drive.effort_lower = b.dof(kHinge).drive.effort_upper = 2; }, hinge,
       "efforts from 2 to 2 leave no room", "effort_lower < effort_upper"},
      {"both kinds",
       [](auto& b) {
         b.dof(kHinge).drive.effort_limit = 1;
         b.dof(kHinge).drive.effort_lower = 2;
       },
       hinge, "efforts from 2 to 1", "effort_lower < effort_upper"},
      {"effort NaN", [](auto& b) { b.dof(kHinge).drive.effort_upper = kNan; }, hinge, "leave no room", "give"},
      {"effort lower NaN", [](auto& b) { b.dof(kHinge).drive.effort_lower = kNan; }, hinge, "leave no room", "give"},
      {"targets", [](auto& b) { b.dof(kHinge).drive.target_lower = 1, b.dof(kHinge).drive.target_upper = 0; }, hinge,
       "targets from 1 to 0 leave no room", "target_lower <= target_upper"},
      {"target NaN", [](auto& b) { b.dof(kHinge).drive.target_lower = kNan; }, hinge, "leave no room", "give"},
      {"target inf", [](auto& b) { b.dof(kHinge).drive.target_lower = kInf; }, hinge, "leave no room", "give"},
      {"two of a name", [](auto& b) { b.dof(kHinge).drive.name = b.dof(kSlide).drive.name = "motor"; }, "drive 'motor'",
       "same name", "rename"},
      {"initial NaN", [](auto& b) { b.dof(kHinge).initial = kNan; }, hinge, "initial value is nan", "finite"},
      {"initial wrapped", [](auto& b) { b.dof(kHinge).wrapped = true, b.dof(kHinge).initial = 4; }, hinge,
       "a wrapped angle stays in (-pi, pi]", "remove 'wrapped'"},
      {"initial of a ball", [](auto& b) { b.dof(kBall).initial = 0; }, "joint 'ball', coordinate 'wx'",
       "no scalar coordinate", "use gimbal"},
  });
}

TEST(Validate, VisualsAndFrames) {
  expect_refused({
      {"body", [](auto& b) { b.add_visual(3, Shape::sphere(1)); }, "visual 'visual0'", "body refers to body 3",
       "the model has 3 bodies"},
      {"name of a shape", [](auto& b) { b.add_visual(0, Shape::sphere(1), {}, {}, "geom0"); }, "visual 'geom0'",
       "same name", "rename"},
      {"two of a name",
       [](auto& b) {
         b.add_visual(0, Shape::sphere(1), {}, {}, "x");
         b.add_visual(0, Shape::sphere(1), {}, {}, "x");
       },
       "visual 'x'", "same name", "rename"},
      {"size", [](auto& b) { b.add_visual(0, Shape::sphere(-1)); }, "visual 'visual0'", "radius is -1", "size > 0"},
      {"plane on a body", [](auto& b) { b.add_visual(0, Shape::plane()); }, "visual 'visual0'", "belong to the world",
       "use a box"},
      {"mesh without triangles",
       [](auto& b) { b.visual(b.add_visual(0, Shape::sphere(1))).shape.kind = ShapeKind::mesh; }, "visual 'visual0'",
       "without data", "Shape::triangles"},
      {"pose",
       [](auto& b) {
         b.add_visual(0, Shape::sphere(1), {Vec3(kNan, 0, 0), {}});
       },
       "visual 'visual0'", "pose position", "finite"},
      {"colour",
       [](auto& b) {
         b.add_visual(0, Shape::sphere(1), {}, {1.5, 0, 0});
       },
       "visual 'visual0'", "component 1.5", "from 0 to 1"},
      {"colour of a shape",
       [](auto& b) {
         b.geom(0).colour = Colour{0, kNan, 0};
       },
       "shape 'geom0'", "component nan", "from 0 to 1"},
      {"frame's body", [](auto& b) { b.add_frame("x", -2); }, "frame 'x'", "body refers to body -2",
       "the model has 3 bodies"},
      {"frame's name", [](auto& b) { b.add_frame("", 0); }, "frame #0", "has no name", "unique name"},
      {"two frames", [](auto& b) { b.add_frame("x", 0), b.add_frame("x", 1); }, "frame 'x'", "same name", "rename"},
      {"frame's pose",
       [](auto& b) {
         b.add_frame("x", 0, {Vec3(0, kInf, 0), {}});
       },
       "frame 'x'", "pose position", "finite"},
  });
}

TEST(Model, FindsFramesAndDrivesByName) {
  ModelBuilder b = valid_model();
  b.add_frame("lab", kWorld);
  b.add_frame("tool", 2, {Vec3(0, 0, 1), {}});
  b.dof(kSlide).drive.name = "puller";
  const Model m = b.build();
  EXPECT_EQ(m.frames()[static_cast<std::size_t>(m.frame("tool"))].body, 2);
  EXPECT_EQ(m.frames()[static_cast<std::size_t>(m.frame("lab"))].body, kWorld);
  EXPECT_EQ(m.drive("puller"), kSlidePosition);
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([&] { m.frame("tol"); }), "frame 'tol': no frame has this name; did you mean 'tool'?");
  EXPECT_EQ(message([&] { m.drive("pulley"); }), "drive 'pulley': no drive has this name; did you mean 'puller'?");
  EXPECT_EQ(message([&] { m.drive(""); }), "drive '': no drive has this name");
}

TEST(Validate, LimitsThatCannotBeMeant) {
  const std::string hinge = "joint 'hinge', coordinate 'angle'";
  expect_refused({
      {"limit erp 5", [](auto& b) { b.dof(kHinge).limit.erp = 5; }, hinge, "erp is 5", "in [0, 1]"},
      {"limit erp NaN", [](auto& b) { b.dof(kHinge).limit.erp = kNan; }, hinge, "erp is nan", "in [0, 1]"},
      {"lower +inf",
       [](auto& b) {
         b.dof(kHinge).limit = {kInf, kInf};
       },
       hinge, "inf", "lower"},
      {"upper -inf",
       [](auto& b) {
         b.dof(kHinge).limit = {-kInf, -kInf};
       },
       hinge, "inf", "upper"},
      {"wrapped slide", [](auto& b) { b.dof(kSlide).wrapped = true; }, "joint 'slide', coordinate 'position'",
       "only an angle", "remove 'wrapped'"},
  });
}

TEST(Validate, Couplings) {
  expect_refused({
      {"spherical", [](auto& b) { b.add_coupling("x", kHingeAngle, kBallWx, 1); }, "coupling 'x'",
       "joint 'ball' is spherical", "no scalar coordinate to couple"},
      {"itself", [](auto& b) { b.add_coupling("x", kHingeAngle, kHingeAngle, 1); }, "coupling 'x'", "with itself",
       "two different"},
      {"out of range", [](auto& b) { b.add_coupling("x", kHingeAngle, 99, 1); }, "coupling 'x'", "coordinate 99",
       "the model has 5"},
      {"negative", [](auto& b) { b.add_coupling("x", -1, kHingeAngle, 1); }, "coupling 'x'", "coordinate -1",
       "the model has 5"},
      {"wrapped", [](auto& b) { b.dof(kHinge).wrapped = true; }, "coupling 'rack'", "wrapped angle",
       "remove 'wrapped'"},
      {"ratio", [](auto& b) { b.add_coupling("x", 1, 0, kNan); }, "coupling 'x'", "ratio is nan", "finite"},
      {"offset", [](auto& b) { b.add_coupling("x", 1, 0, 1, kInf); }, "coupling 'x'", "offset is inf", "finite"},
      {"polynomial", [](auto& b) { b.coupling(0).higher[1] = kNan; }, "coupling 'rack'",
       "polynomial coefficient is nan", "finite"},
      {"duplicate", [](auto& b) { b.add_coupling("rack", 1, 0, 1); }, "coupling 'rack'", "same name", "rename"},
      {"nameless", [](auto& b) { b.add_coupling("", 1, 0, 1); }, "coupling #1", "has no name", "unique name"},
  });
}

TEST(Validate, Combinations) {
  const auto tendon = [](std::vector<CombinationTerm> terms) {
    return Combination{.name = "tendon", .terms = std::move(terms), .law = {}};
  };
  const std::string element = "combination 'tendon'";
  expect_refused({
      {"no terms", [&](auto& b) { b.add_combination(tendon({})); }, element, "no terms", "at least one"},
      {"nameless",
       [&](auto& b) {
         b.add_combination({.name = {}, .terms = {{kHingeAngle, 1}}, .law = {}});
       },
       "combination #0", "has no name", "unique name"},
      {"bad dof",
       [&](auto& b) {
         b.add_combination(tendon({{17, 1}}));
       },
       element, "coordinate 17", "dof_index()"},
      {"negative dof",
       [&](auto& b) {
         b.add_combination(tendon({{-1, 1}}));
       },
       element, "coordinate -1", "dof_index()"},
      {"ball",
       [&](auto& b) {
         b.add_combination(tendon({{kBallWx, 1}}));
       },
       element, "no scalar coordinate", "joint"},
      {"twice",
       [&](auto& b) {
         b.add_combination(tendon({{kHingeAngle, 1}, {kHingeAngle, 2}}));
       },
       element, "twice", "add its coefficients"},
      {"zero",
       [&](auto& b) {
         b.add_combination(tendon({{kHingeAngle, 0}}));
       },
       element, "is 0", "leave the term out"},
      {"NaN",
       [&](auto& b) {
         b.add_combination(tendon({{kHingeAngle, kNan}}));
       },
       element, "coefficient is nan", "finite"},
      {"offset",
       [&](auto& b) {
         b.combination(b.add_combination(tendon({{kHingeAngle, 1}}))).offset = kInf;
       },
       element, "offset is inf", "finite"},
      {"wrapped coordinate",
       [&](auto& b) {
         b.add_combination(tendon({{kHingeAngle, 1}}));
         b.dof(kHinge).wrapped = true;
         b.coupling(0).dof_b = kSlidePosition;
         b.coupling(0).dof_a = kSlidePosition;
       },
       "coupling 'rack'", "with itself", "two different"},
      {"armature",
       [&](auto& b) {
         b.combination(b.add_combination(tendon({{kHingeAngle, 1}}))).law.armature = 1;
       },
       element, "no armature", "give it to the coordinates"},
      {"wrapped",
       [&](auto& b) {
         b.combination(b.add_combination(tendon({{kHingeAngle, 1}}))).law.wrapped = true;
       },
       element, "neither wrapping", "remove them"},
      {"limits",
       [&](auto& b) {
         b.combination(b.add_combination(tendon({{kHingeAngle, 1}}))).law.limit = {.lower = 1, .upper = 0};
       },
       element, "reversed", "lower <= upper"},
      {"drive name",
       [&](auto& b) {
         b.combination(b.add_combination(tendon({{kHingeAngle, 1}}))).law.drive.name = "m";
         b.dof(kSlide).drive.name = "m";
       },
       "drive 'm'", "same name", "rename"},
      {"too many bodies",
       [&](auto& b) {
         std::vector<CombinationTerm> terms;
         for (int i = 0; i < 9; ++i) {
           const int body = b.add_box_body("more" + std::to_string(i), 1, Vec3(1, 1, 1), {});
           const int joint =
               b.add_joint_at("joint" + std::to_string(i), JointType::revolute, kWorld, body, Vec3::Zero());
           terms.push_back({b.dof_index(joint), 1});
         }
         b.add_combination(tendon(terms));
       },
       element, "move 9 bodies, but at most 8", "split it"},
  });
}

TEST(Validate, SerialJoints) {
  const auto serial = [](ModelBuilder& b, std::vector<SerialAxis> axes) {
    b.add_joint({.name = "s", .type = JointType::serial, .base = 0, .follower = 2, .axes = std::move(axes)});
  };
  const SerialAxis x{.name = {}, .axis_J = Vec3::UnitX()};
  expect_refused({
      {"one axis", [&](auto& b) { serial(b, {x}); }, "joint 's'", "has 1 axes", "2 to 5"},
      {"six axes",
       [&](auto& b) {
         serial(b, {x, x, x, x, x, x});
       },
       "joint 's'", "has 6 axes", "2 to 5"},
      {"zero direction",
       [&](auto& b) {
         serial(b, {x, {.name = {}, .axis_J = Vec3::Zero()}});
       },
       "joint 's', axis 1", "length 0", "unit vector"},
      {"long direction",
       [&](auto& b) {
         serial(b, {x, {.name = {}, .axis_J = Vec3(0, 2, 0)}});
       },
       "joint 's', axis 1", "length 2", "unit vector"},
      {"NaN point",
       [&](auto& b) {
         serial(b, {{.name = {}, .p_J = Vec3(kNan, 0, 0)}, x});
       },
       "joint 's', axis 0", "point", "finite"},
      {"far point",
       [&](auto& b) {
         serial(b, {{.name = {}, .p_J = Vec3(1e7, 0, 0)}, x});
       },
       "joint 's', axis 0", "m away", "near"},
      {"reference",
       [&](auto& b) {
         serial(b, {{.name = {}, .reference = kInf}, x});
       },
       "joint 's', axis 0", "reference", "finite"},
      {"names",
       [&](auto& b) {
         serial(b, {{.name = "q2"}, x});
       },
       "joint 's'", "named 'q2'", "rename"},
      {"wrapped",
       [&](auto& b) {
         serial(b, {x, x}), b.dof(4, 1).wrapped = true;
       },
       "joint 's', coordinate 'q2'", "count turns", "remove 'wrapped'"},
      {"axes of a hinge",
       [&](auto& b) {
         b.joint(kHinge).axes = {x, x};
       },
       "joint 'hinge'", "belong to serial joints", "remove them"},
  });
  ModelBuilder b = valid_model();
  EXPECT_THROW(b.add_serial_at("none", kWorld, 0, {}), InputError);
  serial(b, {{.name = {}, .axis_J = Vec3(0, 1.0001, 0)}, x, {.name = {}, .angular = false, .axis_J = Vec3::UnitZ()}});
  const Model m = b.build();
  EXPECT_NEAR(m.joints()[4].axes[0].axis_J.norm(), 1, 1e-15);
  EXPECT_EQ(joint_rows(m.joints()[4]), 3);
  EXPECT_EQ(m.dof_name(m.dof_count() - 1), "s.q3");
}

TEST(Validate, ContactPairs) {
  const std::string first = "contact pair #0";
  expect_refused({
      {"bad shape", [](auto& b) { b.add_contact_pair({.a = 0, .b = 99}); }, first, "does not exist", "add_geom"},
      {"negative", [](auto& b) { b.add_contact_pair({.a = -1, .b = 1}); }, first, "does not exist", "add_geom"},
      {"one body", [](auto& b) { b.add_contact_pair({.a = 0, .b = 0}); }, first, "belong to one body", "two bodies"},
      {"world", [](auto& b) { b.add_contact_pair({.a = 3, .b = b.add_floor()}); }, first, "belong to the world",
       "two bodies"},
      {"twice", [](auto& b) { b.add_contact_pair({.a = 0, .b = 1}), b.add_contact_pair({.a = 1, .b = 0}); },
       "contact pair #1", "paired twice", "keep one"},
      {"mu", [](auto& b) { b.add_contact_pair({.a = 0, .b = 1, .mu = -1}); }, first, "mu is -1", ">= 0"},
      {"restitution", [](auto& b) { b.add_contact_pair({.a = 0, .b = 1, .restitution = 2}); }, first,
       "restitution is 2", "[0, 1]"},
      {"margin", [](auto& b) { b.add_contact_pair({.a = 0, .b = 1, .margin = -3}); }, first, "margin is -3", ">= 0"},
      {"compliance",
       [](auto& b) { b.add_contact_pair({.a = 0, .b = 1, .compliance = Compliance::soft_physical(-1, 0)}); }, first,
       "stiffness is -1", "> 0"},
  });
}

TEST(Validate, Materials) {
  const std::string number = "finite number >= 0";
  expect_refused({
      {"mu -1", [](auto& b) { b.add_material("x", -1); }, "material 'x'", "mu is -1", number},
      {"mu NaN", [](auto& b) { b.add_material("x", kNan); }, "material 'x'", "mu is nan", number},
      {"mu inf", [](auto& b) { b.add_material("x", kInf); }, "material 'x'", "mu is inf", number},
      {"restitution 2", [](auto& b) { b.add_material("x", 1, 2); }, "material 'x'", "restitution is 2", "[0, 1]"},
      {"restitution NaN", [](auto& b) { b.add_material("x", 1, kNan); }, "material 'x'", "restitution", "[0, 1]"},
      {"duplicate", [](auto& b) { b.add_material("steel", 1); }, "material 'steel'", "same name", "rename"},
      {"nameless", [](auto& b) { b.add_material("", 1); }, "material #2", "has no name", "unique name"},
      {"pair twice", [](auto& b) { b.set_material_pair(1, 0, 1, 0); }, "material pair #1", "listed twice",
       "keep one entry"},
      {"pair unknown", [](auto& b) { b.set_material_pair(0, 9, 1, 0); }, "material pair #1", "material",
       "does not exist"},
      {"pair mu", [](auto& b) { b.set_material_pair(1, 1, -1, 0); }, "material pair #1", "mu is -1", number},
      {"pair restitution", [](auto& b) { b.set_material_pair(1, 1, 1, -1); }, "material pair #1", "restitution is -1",
       "[0, 1]"},
  });
}

TEST(Validate, GeomsAndPairs) {
  const std::string size = "give a size > 0";
  const auto add = [](const Shape& s, int body = 0) {
    return [s, body](ModelBuilder& b) { b.add_geom(body, s, {}, 0, "x"); };
  };
  expect_refused({
      {"sphere 0", add(Shape::sphere(0)), "shape 'x'", "radius is 0", size},
      {"sphere -1", add(Shape::sphere(-1)), "shape 'x'", "radius is -1", size},
      {"sphere NaN", add(Shape::sphere(kNan)), "shape 'x'", "size", "finite"},
      {"capsule radius", add(Shape::capsule(0, 1)), "shape 'x'", "radius is 0", size},
      {"capsule length", add(Shape::capsule(1, -1)), "shape 'x'", "half length is -1", size},
      {"box 0", add(Shape::box(Vec3(1, 0, 1))), "shape 'x'", "half extent is 0", size},
      {"box inf", add(Shape::box(Vec3(1, 1, kInf))), "shape 'x'", "size", "finite"},
      {"plane on a body", add(Shape::plane()), "shape 'x'", "only belong to the world", "use a box"},
      {"geom body", add(Shape::sphere(1), 5), "shape 'x'", "refers to body 5", "the model has 3 bodies"},
      {"material", [](auto& b) { b.geom(0).material = 8; }, "shape 'geom0'", "material 8", "the model has 2"},
      {"material -1", [](auto& b) { b.geom(0).material = -1; }, "shape 'geom0'", "material -1", "the model has 2"},
      {"pose", [](auto& b) { b.geom(1).X_BG.p.x() = kNan; }, "shape 'geom1'", "pose position", "finite"},
      {"orientation", [](auto& b) { b.geom(1).X_BG.q.coeffs().setZero(); }, "shape 'geom1'", "not a rotation", "unit"},
      {"duplicate", [](auto& b) { b.geom(0).name = b.geom(1).name = "g"; }, "shape 'g'", "same name", "rename"},
      {"exclude same", [](auto& b) { b.exclude(1, 1); }, "exclude #0", "same body twice", "two different"},
      {"exclude unknown", [](auto& b) { b.exclude(1, 4); }, "exclude #0", "second refers to body 4", "3 bodies"},
      {"include same", [](auto& b) { b.include(kWorld, kWorld); }, "include #0", "same body twice", "two different"},
  });
}

std::shared_ptr<const ConvexHull> tetrahedron() {
  const std::vector<Vec3> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  return ConvexHull::build(corners, "tetrahedron");
}

std::shared_ptr<const TriangleMesh> triangle() {
  const std::vector<Vec3> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const std::vector<TriangleMesh::Triangle> triangles = {{0, 1, 2}};
  return TriangleMesh::build(corners, triangles, "triangle");
}

std::shared_ptr<const HeightField> field() {
  const std::vector<double> heights(4, 0.0);
  return HeightField::build(2, 2, 1, 1, heights, "field");
}

TEST(Validate, SizesOfRoundShapes) {
  const std::string size = "give a size > 0";
  const auto add = [](const Shape& s) { return [s](ModelBuilder& b) { b.add_geom(0, s, {}, 0, "x"); }; };
  expect_refused({
      {"cylinder radius", add(Shape::cylinder(0, 1)), "shape 'x'", "radius is 0", size},
      {"cylinder length", add(Shape::cylinder(1, -2)), "shape 'x'", "half length is -2", size},
      {"cylinder NaN", add(Shape::cylinder(kNan, 1)), "shape 'x'", "size", "finite"},
      {"cylinder huge", add(Shape::cylinder(1, 2e6)), "shape 'x'", "half length is 2000000", "scale the model"},
      {"ellipsoid 0", add(Shape::ellipsoid({1, 1, 0})), "shape 'x'", "semi-axis is 0", size},
      {"ellipsoid -1", add(Shape::ellipsoid({1, -1, 1})), "shape 'x'", "semi-axis is -1", size},
      {"ellipsoid inf", add(Shape::ellipsoid({kInf, 1, 1})), "shape 'x'", "size", "finite"},
      {"ellipsoid huge", add(Shape::ellipsoid({1, 1, 1e7})), "shape 'x'", "semi-axis is 1", "scale the model"},
  });
}

TEST(Validate, ShapesWithData) {
  const auto add = [](const Shape& s, int body = 0) {
    return [s, body](ModelBuilder& b) { b.add_geom(body, s, {}, 0, "x"); };
  };
  expect_refused({
      {"hull", add(Shape::convex(nullptr)), "shape 'x'", "a hull without data", "Shape::convex"},
      {"mesh", add(Shape::triangles(nullptr)), "shape 'x'", "a mesh without data", "Shape::triangles"},
      {"field", add(Shape::terrain(nullptr), kWorld), "shape 'x'", "a height_field without data", "Shape::terrain"},
      {"field on a body", add(Shape::terrain(field())), "shape 'x'", "a height_field can only belong to the world",
       "use a box"},
      {"no children", add(Shape::compound({})), "shape 'x'", "at least one child", "add children"},
  });
}

TEST(Validate, Compounds) {
  const auto add = [](CompoundChild child, int body = 0) {
    return [child, body](ModelBuilder& b) {
      b.add_geom(body, Shape::compound({{Shape::sphere(1), {}}, child}), {}, 0, "x");
    };
  };
  const std::string element = "shape 'x', child 1";
  const std::string part = "make it a shape of its own";
  const Shape inner = Shape::compound({{Shape::sphere(1), {}}});
  expect_refused({
      {"plane", add({Shape::plane(), {}}, kWorld), element, "a plane cannot be part", part},
      {"field", add({Shape::terrain(field()), {}}, kWorld), element, "a height_field cannot be part", part},
      {"nested", add({inner, {}}), element, "a compound cannot be part", part},
      {"size", add({Shape::cylinder(1, 0), {}}), element, "half length is 0", "give a size > 0"},
      {"data", add({Shape::convex(nullptr), {}}), element, "without data", "Shape::convex"},
      {"pose", add({Shape::sphere(1), {Vec3(0, kNan, 0)}}), element, "pose position", "finite"},
      {"turn", add({Shape::sphere(1), {Vec3::Zero(), Quat(0, 0, 0, 0)}}), element, "not a rotation", "unit"},
  });
}

TEST(Validate, Margins) {
  const std::string number = "finite number >= 0";
  expect_refused({
      {"margin -2", [](auto& b) { b.geom(0).margin = -2; }, "shape 'geom0'", "margin is -2", number},
      {"margin NaN", [](auto& b) { b.geom(0).margin = kNan; }, "shape 'geom0'", "margin is nan", number},
      {"margin inf", [](auto& b) { b.geom(0).margin = kInf; }, "shape 'geom0'", "margin is inf", number},
  });
  ModelBuilder b = valid_model();
  b.geom(0).margin = 0;
  b.geom(1).margin = kUseDefault;
  EXPECT_EQ(b.build().geoms()[0].margin, 0);
}

TEST(Validate, AcceptsEveryShape) {
  ModelBuilder b = valid_model();
  const Shape compound = Shape::compound({{Shape::cylinder(1, 2), {}}, {Shape::triangles(triangle()), {}}});
  for (const Shape& s : {Shape::cylinder(1, 2), Shape::ellipsoid({1, 2, 3}), Shape::convex(tetrahedron()),
                         Shape::triangles(triangle()), compound}) {
    b.add_geom(0, s);
    b.add_geom(kWorld, s);
  }
  b.add_geom(kWorld, Shape::terrain(field()));
  const Model m = b.build();
  EXPECT_EQ(m.geoms().size(), 4u + 11u);
  // Data is shared, not copied.
  EXPECT_EQ(m.geoms()[8].shape.hull, m.geoms()[9].shape.hull);
}

// Numbers without a meaning would get lost in files.
TEST(Validate, ZeroesUnusedSizes) {
  ModelBuilder b = valid_model();
  Shape can = Shape::cylinder(1, 2);
  can.size[2] = 7;
  Shape hull = Shape::convex(tetrahedron());
  hull.size = Vec3(1, 2, 3);
  b.add_geom(0, can, {}, 0, "can");
  b.add_geom(0, Shape::compound({{can, {}}, {hull, {Vec3::Zero(), Quat(1.0001, 0, 0, 0)}}}), {}, 0, "both");
  const Model m = b.build();
  EXPECT_EQ(m.geoms()[4].shape.size, Vec3(1, 2, 0));
  EXPECT_EQ((*m.geoms()[5].shape.children)[0].shape.size, Vec3(1, 2, 0));
  EXPECT_EQ((*m.geoms()[5].shape.children)[1].shape.size, Vec3(0, 0, 0));
  EXPECT_EQ((*m.geoms()[5].shape.children)[1].X_SC.q.norm(), 1);
}

// A solid's frame is at its centre of mass whatever the frame of its shape.
TEST(Builder, SolidsOfAnyShape) {
  ModelBuilder b("solids");
  const Pose X_WS = {Vec3(1, 2, 3), Quat(0.5, 0.5, 0.5, 0.5)};
  b.add_solid("tetrahedron", 6, Shape::convex(tetrahedron()), X_WS);
  b.add_solid("can", 3, Shape::cylinder(1, 2), X_WS);
  const Model m = b.build();
  EXPECT_LT((m.bodies()[0].X_WB0.p - X_WS * Vec3(0.25, 0.25, 0.25)).norm(), 1e-15);
  EXPECT_LT((m.geoms()[0].X_BG.p + Vec3(0.25, 0.25, 0.25)).norm(), 1e-15);
  EXPECT_NEAR(m.bodies()[0].inertia_B(0, 0), 6 * 3.0 / 40, 1e-14);  // m a^2 3/40 about the centre, legs a = 1
  EXPECT_EQ(m.bodies()[1].inertia_B, solid_inertia(Shape::cylinder(1, 2), 3));
  EXPECT_THROW(b.add_solid("open", 1, Shape::triangles(triangle()), {}), InputError);
  EXPECT_THROW(b.add_solid("plane", 1, Shape::plane(), {}), InputError);
}

TEST(Validate, ModelNumbers) {
  expect_refused({
      {"gravity", [](auto& b) { b.set_gravity(Vec3(0, kNan, 0)); }, "model", "gravity", "finite"},
      {"dt 0", [](auto& b) { b.set_defaults({.dt = 0}); }, "model", "dt is 0", "finite step > 0"},
      {"dt NaN", [](auto& b) { b.set_defaults({.dt = kNan}); }, "model", "dt is nan", "finite step > 0"},
      {"duration", [](auto& b) { b.set_defaults({.duration = kInf}); }, "model", "duration is inf", "finite time > 0"},
  });
}

TEST(Validate, NormalisesQuaternionsAndSortsPairs) {
  ModelBuilder b = valid_model();
  b.body(0).X_WB0.q.coeffs() *= 1.001;
  b.exclude(2, 0);
  b.exclude(1, kWorld);
  const Model m = b.build();
  EXPECT_NEAR(m.bodies()[0].X_WB0.q.norm(), 1.0, 1e-15);
  EXPECT_EQ(m.excludes()[0], (BodyPair{0, 2}));
  EXPECT_EQ(m.excludes()[1], (BodyPair{kWorld, 1}));
}

TEST(Validate, KeepsTheBitsOfUnitQuaternions) {
  ModelBuilder b = valid_model();
  const Quat q = Quat(0.1, 0.7, -0.3, 0.2).normalized();
  b.body(0).X_WB0.q = q;
  EXPECT_EQ(b.build().bodies()[0].X_WB0.q.coeffs(), q.coeffs());
}

}  // namespace
}  // namespace sarrus::validate_test
