// Bad scene files: each gives one InputError of one line that names the file, the element and the remedy.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "io/scene_test_models.h"
#include "sarrus/math/error.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus::scene_malformed_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The message, or "" if the scene loads. Anything but InputError escapes and fails the test.
std::string error_of(std::string_view text) {
  try {
    parse_scene(text, "bad.json");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

void expect_message(const std::string& what, const std::string& element, const std::string& phrase) {
  EXPECT_EQ(what.find("bad.json: " + element), 0u) << what;
  EXPECT_NE(what.find(phrase), std::string::npos) << "expected '" << phrase << "' in: " << what;
  EXPECT_NE(what.find("; "), std::string::npos) << "no remedy: " << what;
  EXPECT_EQ(what.find('\n'), std::string::npos) << "more than one line: " << what;
}

// A change of the hand-written scene: a JSON pointer and the new value ("" removes it).
struct Change {
  const char* pointer;
  const char* value;
  const char* element;
  const char* phrase;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.pointer << " = " << change.value; }

std::string changed_scene(const Change& change) {
  json scene = json::parse(test::kHandWritten);
  const json::json_pointer pointer(change.pointer);
  if (*change.value != '\0') {
    scene[pointer] = json::parse(change.value);
  } else {
    scene = scene.patch({{{"op", "remove"}, {"path", change.pointer}}});
  }
  return scene.dump(1);
}

class Malformed : public ::testing::TestWithParam<Change> {};

TEST_P(Malformed, NamesElementAndRemedy) {
  expect_message(error_of(changed_scene(GetParam())), GetParam().element, GetParam().phrase);
}

const Change kTopLevel[] = {
    {"/format", "", "scene", "\"format\": \"sarrus-scene\""},
    {"/format", "\"urdf\"", "scene", "not a sarrus scene"},
    {"/format", "7", "scene", "format must be a string, is a number"},
    {"/version", "", "scene", "key 'version' is missing"},
    {"/version", "2", "scene", "reads version 1"},
    {"/angle_unit", "", "scene", "add \"angle_unit\": \"deg\" or"},
    {"/angle_unit", "\"degrees\"", "scene", "use one of deg, rad"},
    {"/angle_unit", "\"grad\"", "scene", "did you mean 'rad'?"},
    {"/name", "[]", "scene", "name must be a string, is an array"},
    {"/gravty", "[0, 0, 1]", "scene", "unknown key 'gravty'; did you mean 'gravity'?"},
    {"/include", "\"other.json\"", "scene", "did you mean 'includes'?"},
    {"/gravity", "[0, 0]", "scene", "gravity must be an array of 3 numbers, has 2 entries"},
    {"/gravity", "[0, 0, \"x\"]", "scene", "gravity[2] must be a number, is a string"},
    {"/gravity", "9.81", "scene", "is a number; write it like [1, 1, 1]"},
    {"/gravity", "[0, 0, null]", "scene", "is null"},
    {"/run", "[]", "scene", "run must be an object, is an array"},
    {"/run/dt", "0", "scene", "run.dt is 0; give a number > 0"},
    {"/run/dt", "true", "scene", "run.dt must be a number, is a boolean"},
    {"/run/duration", "-1", "scene", "run.duration is -1"},
    {"/run/integrator", "5", "scene", "run.integrator must be a string, is a number"},
    {"/run/steps", "5", "scene", "unknown key 'run.steps'"},
    {"/defaults/bodies", "{}", "scene", "unknown key 'defaults.bodies'; use one of body, joint, shape"},
    {"/defaults/body/mass", "1", "scene", "unknown key 'defaults.body.mass'"},
    {"/defaults/body/density", "0", "scene", "defaults.body.density is 0"},
    {"/defaults/joint/dampng", "1", "scene", "did you mean 'damping'?"},
    {"/defaults/joint/limit/upper", "1", "scene", "unknown key 'defaults.joint.limit.upper'"},
    {"/defaults/joint/damping", "-1", "joint 'hinge', coordinate 'angle'", "damping is -1"},
    {"/defaults/shape/material", "\"ruber\"", "scene", "did you mean 'rubber'?"},
    {"/excludes/0", "[\"rod\"]", "scene", "excludes[0] must be two body names"},
    {"/excludes/0/1", "\"dics\"", "scene", "names body 'dics', which does not exist; did you mean 'disc'?"},
    {"/excludes/0/1", "\"rod\"", "exclude #0", "name two different bodies"},
    {"/includes/0", "5", "scene", "includes[0] must be two body names"},
    {"/includes", "{}", "scene", "includes must be an array, is an object"},
    {"/shape_order/0", "\"flor\"", "scene", "did you mean 'floor'?"},
    {"/shape_order/0", "\"left\"", "scene", "names shape 'left' twice"},
    {"/shape_order/0", "", "scene", "leaves out shape 'floor'"},
    {"/shape_order/0", "3", "scene", "shape_order[0] must be a string"},
    {"/world_shapes/0/name", "", "scene", "name every shape"},
    {"/world_shapes/0/type", "\"plain\"", "world shape 'floor'", "did you mean 'plane'?"},
    {"/materials", "{}", "scene", "materials must be an array"},
    {"/materials/0", "1", "material #0", "must be an object, is a number"},
    {"/materials/0/name", "", "material #0", "\"name\": \"steel\""},
    {"/materials/0/mu", "-1", "material 'steel'", "give a finite number >= 0"},
    {"/materials/1/name", "\"steel\"", "material 'steel'", "another material has the same name"},
    {"/material_pairs/0/materials", "[\"steel\"]", "material pair #0", "must be an array of 2 strings, has 1"},
    {"/material_pairs/0/materials/0", "\"stel\"", "material pair #0", "did you mean 'steel'?"},
    {"/material_pairs/0/restitution", "2", "material pair #0", "give a number in [0, 1]"},
    {"/material_pairs/1/materials/0", "\"steel\"", "material pair #1", "keep one entry"},
};
INSTANTIATE_TEST_SUITE_P(TopLevel, Malformed, ::testing::ValuesIn(kTopLevel));

const Change kCompliance[] = {
    {"/materials/1/compliance", "\"soft\"", "material 'rubber'", "compliance must be an object, is a string"},
    {"/materials/1/compliance", "{}", "material 'rubber'", "key 'compliance.model' is missing"},
    {"/materials/1/compliance/model", "\"phisical\"", "material 'rubber'",
     "compliance.model 'phisical' is unknown; did you mean 'physical'?"},
    {"/materials/1/compliance/model", "\"jelly\"", "material 'rubber'", "use one of cfm_erp, hertz, mujoco"},
    {"/materials/1/compliance/stiffness", "", "material 'rubber'", "key 'compliance.stiffness' is missing"},
    {"/materials/1/compliance/stiffness", "-5", "material 'rubber'",
     "compliance stiffness is -5; give a finite number > 0"},
    {"/materials/1/compliance/stiffness", "\"NaN\"", "material 'rubber'", "compliance.stiffness must be a number"},
    {"/materials/1/compliance/dissipation", "-1", "material 'rubber'", "compliance dissipation is -1"},
    {"/materials/1/compliance/stifness", "5", "material 'rubber'", "did you mean 'stiffness'?"},
    {"/materials/1/compliance/damping", "5", "material 'rubber'", "unknown key 'compliance.damping'"},
    {"/material_pairs/0/compliance/radius", "0", "material pair #0", "compliance radius is 0; give"},
    {"/material_pairs/0/compliance/modulus", "", "material pair #0", "key 'compliance.modulus' is missing"},
    {"/material_pairs/0/compliance/unit_factor", "1", "material pair #0", "must be true or false"},
    {"/joints/0/limit/compliance/d0", "1", "joint 'hinge', coordinate 'angle'",
     "compliance d0 is 1; give an impedance in [0.0001, 0.9999]"},
    {"/joints/0/limit/compliance/dw", "0", "joint 'hinge', coordinate 'angle'",
     "compliance dw is 0; give an impedance"},
    {"/joints/0/limit/compliance/power", "0.5", "joint 'hinge', coordinate 'angle'", "give a finite number >= 1"},
    {"/joints/0/limit/compliance/midpoint", "1", "joint 'hinge', coordinate 'angle'", "a number between 0 and 1"},
    {"/joints/0/limit/compliance/time_constant", "0", "joint 'hinge', coordinate 'angle'", "time_constant is 0"},
    {"/joints/2/compliance", R"({"model": "hertz", "modulus": 1, "radius": 1})", "joint 'tube'",
     "law of contacts; use spring_damper or physical"},
    {"/joints/2/compliance", R"({"model": "spring_damper", "stiffness": 0})", "joint 'tube'",
     "neither stiffness nor damping; give one of them > 0"},
    {"/joints/2/compliance/length", "0", "joint 'tube'", "compliance length is 0; give"},
    {"/couplings/1/compliance/cfm", "0", "coupling 'screw'", "compliance cfm is 0; give a finite number > 0"},
    {"/couplings/1/compliance/erp", "2", "coupling 'screw'", "compliance erp is 2; give a number in [0, 1]"},
};
INSTANTIATE_TEST_SUITE_P(Compliance, Malformed, ::testing::ValuesIn(kCompliance));

const Change kBodies[] = {
    {"/bodies", "{}", "scene", "bodies must be an array, is an object"},
    {"/bodies/0", "\"rod\"", "body #0", "must be an object, is a string"},
    {"/bodies/0/name", "", "body #0", "key 'name' is missing; add it"},
    {"/bodies/0/name", "\"\"", "body #0", "give every body a unique name"},
    {"/bodies/3/name", "\"world\"", "body 'world'", "is reserved; choose another"},
    {"/bodies/3/name", "\"rod\"", "body 'rod'", "another body has the same name; rename one of them"},
    {"/bodies/2/mass", "\"2\"", "body 'plate'", "mass must be a number, is a string"},
    {"/bodies/2/mass", "-2", "body 'plate'", "mass is -2; give a number > 0"},
    {"/bodies/2/mass", "", "body 'plate'", "inertia is given without mass; add mass"},
    {"/bodies/2/inertia", "", "body 'plate'", "add \"inertia\": [ixx, iyy, izz] or \"shapes\""},
    {"/bodies/2/inertia", "[1, 1, 3]", "body 'plate'", "recompute the inertia"},
    {"/bodies/2/inertia", "[1, 1]", "body 'plate'", "array of 3 or 6 or 9 numbers, has 2 entries"},
    {"/bodies/2/inertia", "[1, 1, -1]", "body 'plate'", "three principal moments > 0"},
    {"/bodies/2/inertia", "[1, 0, 0, 1, 1, 0, 0, 0, 1]", "body 'plate'", "give a symmetric matrix"},
    {"/bodies/2/density", "5", "body 'plate'", "density is given together with mass; keep one"},
    {"/bodies/3/shapes", "[]", "body 'disc'", "add shapes, or mass and inertia"},
    {"/bodies/3/density", "-5", "body 'disc'", "density is -5; give a number > 0"},
    {"/bodies/3/mas", "5", "body 'disc'", "unknown key 'mas'; did you mean 'mass'?"},
    {"/bodies/0/shapes/0/pose/p", "[-2, 0, 0]", "body 'rod'", "add [0.5, 0, 0] to the pose.p of every shape"},
    {"/bodies/0/shapes/0/radius", "\"big\"", "shape 'left' of body 'rod'", "radius must be a number"},
    {"/bodies/0/shapes/0/radius", "0", "shape 'left' of body 'rod'", "radius is 0; give a number > 0"},
    {"/bodies/0/shapes/0/radius", "", "shape 'left' of body 'rod'", "key 'radius' is missing"},
    {"/bodies/0/shapes/0/half_length", "1", "shape 'left' of body 'rod'", "unknown key 'half_length'"},
    {"/bodies/0/shapes/0/type", "\"cube\"", "shape 'left' of body 'rod'",
     "use one of box, capsule, compound, cylinder"},
    {"/bodies/0/shapes/0/type", "\"plane\"", "shape 'left' of body 'rod'", "move it to world_shapes"},
    {"/bodies/0/shapes/0/group", "[32]", "shape 'left' of body 'rod'", "integers from 0 to 31"},
    {"/bodies/0/shapes/0/group", "1", "shape 'left' of body 'rod'", "write it like [0, 3]"},
    {"/bodies/0/shapes/0/collides_with", "[-1]", "shape 'left' of body 'rod'", "integers from 0 to 31"},
    {"/bodies/0/shapes/0/material", "\"steal\"", "shape 'left' of body 'rod'", "did you mean 'steel'?"},
    {"/bodies/0/shapes/0/name", "\"right\"", "scene", "names shape 'left', which does not exist"},
    {"/bodies/1/shapes/0/half_extents", "[1, 1, 0]", "shape 'box' of body 'bar'", "give three sizes > 0"},
    {"/bodies/0/pose/q", "[1, 0, 0, 0]", "body 'rod'", "pose gives the orientation twice; keep one of q"},
    {"/bodies/0/pose/euler_xyz", "[1, 0]", "body 'rod'", "pose.euler_xyz must be an array of 3 numbers"},
    {"/bodies/0/pose/position", "[1, 0, 0]", "body 'rod'", "unknown key 'pose.position'"},
    {"/bodies/2/pose/q", "[0, 0, 0, 0]", "body 'plate'", "give a unit quaternion [w, x, y, z]"},
    {"/bodies/2/pose/q", "[1, 1, 0, 0]", "body 'plate'", "pose.q has norm 1.41421"},
    {"/bodies/2/pose/q", "[1e200, 0, 0, 0]", "body 'plate'", "pose.q has norm 1e+200"},
    {"/bodies/1/pose/x_axis", "[0, 0, 0]", "body 'bar'", "length 0; give a direction such as [0, 0, 1]"},
    {"/bodies/1/pose/x_axis", "[0, 2, 0]", "body 'bar'", "has length 2, not 1; write \"x_axis\": [0, 1, 0]"},
    {"/bodies/1/pose/x_axis", "[1, 0, 0]", "body 'bar'", "not perpendicular; choose another z_axis"},
    {"/bodies/1/pose/x_axis", "[0.6, 0.8, 0]", "body 'bar'", "write \"z_axis\": [0.8, -0.6, 0]"},
    {"/bodies/1/pose/y_axis", "[0, 0, 1]", "body 'bar'", "give one or two, the others follow"},
    {"/bodies/1/pose", "{\"y_axis\": [0, 0, 1]}", "body 'bar'", "add x_axis or z_axis"},
    {"/bodies/1/gravity_scale", "\"half\"", "body 'bar'", "gravity_scale must be a number"},
    {"/bodies/1/shapes/0/rgba", "[1, 1]", "shape 'box' of body 'bar'", "rgba must be an array of 3 or 4 numbers"},
    {"/bodies/1/shapes/0/rgba", "[1, 1, 2]", "shape 'box' of body 'bar'",
     "rgba has a component 2; give numbers from 0"},
    {"/bodies/1/visuals/0/rgba", "[0, -1, 0, 1]", "visual 'knob' of body 'bar'", "rgba has a component -1"},
    {"/bodies/1/visuals/0/material", "\"steel\"", "visual 'knob' of body 'bar'", "belongs to shapes that collide"},
    {"/bodies/1/visuals/0/name", "\"box\"", "visual 'box'", "another visual or shape has the same name"},
    {"/bodies/1/visuals/0/radius", "0", "visual 'knob' of body 'bar'", "radius is 0; give a number > 0"},
    {"/bodies/1/visuals/0/type", "\"plane\"", "visual 'knob' of body 'bar'", "can only belong to the world"},
    {"/bodies/1/frames/0/name", "\"lab\"", "world frame 'lab'", "another frame has the same name"},
    {"/bodies/1/frames/0/name", "", "frame #0 of body 'bar'", "key 'name' is missing"},
    {"/bodies/1/frames/0/p", "[0, 0, 1]", "frame 'grip' of body 'bar'", "unknown key 'p'; use one of name, pose"},
    {"/joints/1/drive/effort_lower", "60", "joint 'motor', coordinate 'angle'", "efforts from 60 to 50 leave no room"},
    {"/joints/1/drive/target_upper", "true", "joint 'motor'", "drive.target_upper must be a number"},
    {"/joints/1/drive/name", "7", "joint 'motor'", "drive.name must be a string"},
    {"/joints/0/initial", "\"once\"", "joint 'hinge'", "initial must be a number"},
    {"/joints/4/initial", "0", "joint 'ball'", "initial belongs to one coordinate"},
    {"/bodies/0/linear_damping", "-1", "body 'rod'", "linear_damping is -1"},
    {"/bodies/0/angular_damping", "\"x\"", "body 'rod'", "angular_damping must be a number"},
    {"/bodies/0/velocity", "[1, 2, 3, 4]", "body 'rod'", "has 4 entries"},
};
INSTANTIATE_TEST_SUITE_P(Bodies, Malformed, ::testing::ValuesIn(kBodies));

// A required key with a slip: one message, which names both.
TEST(MisspeltKeys, AreCalledMisspelt) {
  struct Slip {
    const char* object;
    const char* key;
    const char* wrong;
    const char* element;
    const char* full;  // as messages name it
  };
  const Slip slips[] = {
      {"/bodies/2", "mass", "masss", "body 'plate'", "mass"},
      {"/bodies/2", "mass", "mas", "body 'plate'", "mass"},
      {"/bodies/2", "inertia", "inertai", "body 'plate'", "inertia"},
      {"/bodies/2", "name", "nmae", "body #2", "name"},
      {"/bodies/0/shapes/0", "radius", "raduis", "shape 'left' of body 'rod'", "radius"},
      {"/joints/0", "type", "tpye", "joint 'hinge'", "type"},
      {"/joints/0", "follower", "folower", "joint 'hinge'", "follower"},
      {"/joints/0", "axis", "axsi", "joint 'hinge'", "axis"},
      {"/joints/0/drive", "mode", "mod", "joint 'hinge'", "drive.mode"},
      {"/joints/0/spring", "stiffness", "stifness", "joint 'hinge'", "spring.stiffness"},
      {"/couplings/0", "ratio", "ration", "coupling 'gear'", "ratio"},
      {"", "angle_unit", "angle_units", "scene", "angle_unit"},
      {"", "version", "verison", "scene", "version"},
  };
  for (const Slip& s : slips) {
    json scene = json::parse(test::kHandWritten);
    json& object = scene[json::json_pointer(s.object)];
    object[s.wrong] = object[s.key];
    object.erase(s.key);
    const std::string full = s.full;
    const std::string path = full.substr(0, full.size() - std::string(s.key).size());
    expect_message(error_of(scene.dump(1)), s.element,
                   "'" + path + s.wrong + "' is unknown; did you mean the required '" + full + "'?");
  }
}

const Change kJoints[] = {
    {"/joints/0/type", "\"hinge\"", "joint 'hinge'", "type 'hinge' is unknown; use one of cartesian, cylindrical"},
    {"/joints/0/type", "\"revolut\"", "joint 'hinge'", "did you mean 'revolute'?"},
    {"/joints/0/base", "\"wrld\"", "joint 'hinge'",
     "base names body 'wrld', which does not exist; did you mean 'world'?"},
    {"/joints/0/base", "\"rod\"", "joint 'hinge'", "name two different ones"},
    {"/joints/0/base", "", "joint 'hinge'", "key 'base' is missing; add it, for example \"base\": \"world\""},
    {"/joints/0/follower", "\"world\"", "joint 'hinge'", "make the world the base"},
    {"/joints/0/name", "\"motor\"", "joint 'motor'", "rename one of them"},
    {"/joints/0/name", "5", "joint #0", "name must be a string"},
    {"/joints/7/name", "\"cable\"", "joint 'cable'", "rename one of them"},
    {"/joints/0/at", "", "joint 'hinge'", "axis goes with \"at\"; add it"},
    {"/joints/4/at", "", "joint 'ball'", "has no anchor; add at, or base_frame and follower_frame"},
    {"/joints/0/axis", "", "joint 'hinge'", "add for example \"axis\": [0, 0, 1]"},
    {"/joints/0/axis", "[0, 0, 0]", "joint 'hinge'", "axis has length 0"},
    {"/joints/0/axis", "[1, 1, 0]", "joint 'hinge'", "write \"axis\": [0.707106781, 0.707106781, 0]"},
    {"/joints/0/axes", "[1, 0, 0, 0]", "joint 'hinge'", "keep axis or the other keys"},
    {"/joints/0/base_frame", "{}", "joint 'hinge'", "keep at or the two frames"},
    {"/joints/0/base_at", "[0, 0, 0]", "joint 'hinge'", "use \"at\": [x, y, z]"},
    {"/joints/4/axis", "[0, 0, 1]", "joint 'ball'", "use x_axis, y_axis or z_axis"},
    {"/joints/6/base_frame", "", "joint 'cable'", "add the other, or use base_at and follower_at"},
    {"/joints/5/at", "[0, 0, 0]", "joint 'rod end'", "use base_at and follower_at"},
    {"/joints/5/follower_at", "", "joint 'rod end'", "key 'follower_at' is missing"},
    {"/joints/5/axis", "[0, 0, 1]", "joint 'rod end'", "no meaning for a distance joint; remove it"},
    {"/joints/5/follower_at", "[0, 3, 0]", "joint 'rod end'", "give a finite length > 0"},
    {"/joints/6/length", "0", "joint 'cable'", "length is 0; give a number > 0"},
    {"/joints/6/rope", "1", "joint 'cable'", "rope must be true or false, is a number"},
    {"/joints/0/length", "1", "joint 'hinge'", "length belongs to distance joints; remove it"},
    {"/joints/0/rope", "true", "joint 'hinge'", "rope belongs to distance joints"},
    {"/joints/0/swing_limit", "10", "joint 'hinge'", "use coordinate limits here"},
    {"/joints/0/erp", "2", "joint 'hinge'", "give a number in [0, 1]"},
    {"/joints/0/limit", "[0, 1]", "joint 'hinge'", "limit must be an object, is an array"},
    {"/joints/0/limit/uper", "1", "joint 'hinge'", "unknown key 'limit.uper'; did you mean 'upper'?"},
    {"/joints/0/limit/upper", "\"1\"", "joint 'hinge'", "limit.upper must be a number"},
    {"/joints/0/limit/lower", "50", "joint 'hinge'", "the limits [50 deg, 45 deg] are reversed; give lower <= upper"},
    {"/joints/0/limit/erp", "-3", "joint 'hinge'", "limit.erp is -3; give a number in [0, 1]"},
    {"/joints/0/limit/restitution", "1.5", "joint 'hinge'", "give a number in [0, 1]"},
    {"/joints/0/spring", "5", "joint 'hinge'", "spring must be an object"},
    {"/joints/0/spring/stiffness", "", "joint 'hinge'", "key 'spring.stiffness' is missing"},
    {"/joints/0/spring/damping", "1", "joint 'hinge'", "unknown key 'spring.damping'"},
    {"/joints/0/drive/mode", "", "joint 'hinge'", "key 'drive.mode' is missing"},
    {"/joints/0/drive/mode", "\"torque\"", "joint 'hinge'", "use one of force, none, position, velocity"},
    {"/joints/0/drive/kp", "", "joint 'hinge'", "give kp > 0"},
    {"/joints/0/drive/effort_limit", "-1", "joint 'hinge'", "drive.effort_limit is -1"},
    {"/joints/0/drive/target", "\"fast\"", "joint 'hinge'", "drive.target must be a number, is a string"},
    {"/joints/0/drive/target/interpolation", "\"cubic\"", "joint 'hinge'", "interpolation goes with a table; add"},
    {"/joints/0/drive/target/table", "[]", "joint 'hinge'", "drive.target.table has no points"},
    {"/joints/0/drive/target/table", "5", "joint 'hinge'", "drive.target.table must be an array"},
    {"/joints/0/drive/target/table", "[[0, 1], 5]", "joint 'hinge'", "table[1] must be a time and a value"},
    {"/joints/0/drive/target/table", "[[0, 1, 2]]", "joint 'hinge'", "table[0] must be a time and a value"},
    {"/joints/0/drive/target/table", "[[0, \"1\"]]", "joint 'hinge'", "table[0] must be a time and a value"},
    {"/joints/0/drive/target/table", "[[0, 1], [1, 1], [1, 2]]", "joint 'hinge', coordinate 'angle'",
     "point 2 of the drive target's table is at 1 s, not after the one before"},
    {"/joints/0/drive/target/table", "[[0, 1e308], [1e-300, -1e308]]", "joint 'hinge'", "too large to compute with"},
    {"/joints/0/drive/target/freq", "1", "joint 'hinge'", "unknown key 'drive.target.freq'"},
    {"/joints/0/coordinates", "{}", "joint 'hinge'", "move it to \"coordinates\": {\"angle\": { ... }}"},
    {"/joints/2/damping", "1", "joint 'tube'", "move it to \"coordinates\": {\"position\" or \"angle\": { ... }}"},
    {"/joints/2/coordinates/angel", "{}", "joint 'tube'", "did you mean 'angle'?"},
    {"/joints/2/coordinates/angle/limt", "{}", "joint 'tube', coordinate 'angle'", "did you mean 'limit'?"},
    {"/joints/2/coordinates/angle", "7", "joint 'tube', coordinate 'angle'", "must be an object"},
    {"/joints/4/coordinates", R"({"wx": {"limit": {"upper": 1}}})", "joint 'ball', coordinate 'wx'", "use swing_limit"},
    {"/joints/4/coordinates/wx", R"({"spring": {"stiffness": 1}})", "joint 'ball', coordinate 'wx'",
     "move it to the joint"},
    {"/joints/4/spring/stiffness", "-3", "joint 'ball'", "spring stiffness is -3; give a finite number >= 0"},
    {"/joints/4/spring/stiffness", "", "joint 'ball'", "key 'spring.stiffness' is missing"},
    {"/joints/4/spring/rest", "10", "joint 'ball'", "give rest_wxyz, a unit quaternion"},
    {"/joints/4/spring/rest_wxyz", "[1, 1, 0, 0]", "joint 'ball'", "spring.rest_wxyz has norm 1.41421; give a unit"},
    {"/joints/4/spring/rest_wxyz", "[1, 0, 0]", "joint 'ball'", "spring.rest_wxyz"},
    {"/joints/4/spring/euler_xyz", "[1, 0, 0]", "joint 'ball'", "gives the orientation twice; keep one of rest_wxyz"},
    {"/joints/4/spring/rest_xyzw", "[0, 0, 0, 1]", "joint 'ball'", "unknown key 'spring.rest_xyzw'"},
    {"/joints/4/damping", "-1", "joint 'ball', coordinate 'wx'", "damping is -1; give a finite number >= 0"},
    {"/joints/4/dry_friction", "1", "joint 'ball'", "belongs to one coordinate"},
    {"/joints/0/spring/rest_wxyz", "[1, 0, 0, 0]", "joint 'hinge'", "unknown key 'spring.rest_wxyz'"},
    {"/joints/5/damping", "1", "joint 'rod end'", "a distance joint has no coordinates; remove it"},
    {"/joints/0/anchor", "[0, 0, 0]", "joint 'hinge'", "unknown key 'anchor'"},
    {"/couplings/0/a", "\"moter\"", "coupling 'gear'", "did you mean 'motor'?"},
    {"/couplings/0/a", "\"tube\"", "coupling 'gear'", "a names coordinate 'tube', which does not exist"},
    {"/couplings/0/a", "\"hinge\"", "coupling 'gear'", "name two different ones"},
    {"/couplings/0/ratio", "", "coupling 'gear'", "key 'ratio' is missing"},
    {"/couplings/2/ratio", "1", "coupling 'cam'", "ratio is part of the polynomial"},
    {"/couplings/2/polynomial", "[1]", "coupling 'cam'", "polynomial must be an array of 2 or 3 or 4 or 5 numbers"},
    {"/couplings/2/polynomial", "[1, 2, 3, 4, 5, 6]", "coupling 'cam'", "has 6 entries"},
    {"/couplings/2/a", "\"ankle.q9\"", "coupling 'cam'", "did you mean 'ankle.q2'?"},
    {"/combinations/0/terms", "", "combination 'tendon'", "add \"terms\": [{\"coordinate\""},
    {"/combinations/0/terms", "[]", "combination 'tendon'", "has no terms"},
    {"/combinations/0/terms/0/coordinate", "\"moter\"", "term #0 of combination 'tendon'", "did you mean 'motor'?"},
    {"/combinations/0/terms/0/coefficient", "0", "combination 'tendon'", "coefficient of joint 'motor' is 0"},
    {"/combinations/0/terms/1/coordinate", "\"motor\"", "combination 'tendon'",
     "names a coordinate of joint 'motor' twice"},
    {"/combinations/0/terms/1/coordinate", "\"ball.wx\"", "combination 'tendon'", "no scalar coordinate to couple"},
    {"/combinations/0/armature", "1", "combination 'tendon'", "armature belongs to coordinates"},
    {"/combinations/0/limit/lower", "2", "combination 'tendon'", "are reversed"},
    {"/combinations/0/drive/name", "\"puller\"", "drive 'puller'", "another drive has the same name"},
    {"/contact_pairs/0/shapes", "[\"left\"]", "contact pair #0", "must be an array of 2 strings"},
    {"/contact_pairs/0/shapes/1", "\"flor\"", "contact pair #0", "did you mean 'floor'?"},
    {"/contact_pairs/0/shapes/1", "\"right\"", "contact pair #0", "belong to one body"},
    {"/contact_pairs/0/mu", "-1", "contact pair #0", "mu is -1"},
    {"/contact_pairs/0/margin", "-1", "contact pair #0", "margin is -1; give a length >= 0"},
    {"/contact_pairs/1/shapes", "[\"floor\", \"left\"]", "contact pair #1", "are paired twice"},
    {"/joints/8/sequence", "", "joint 'ankle'", "a serial joint needs its axes; add \"sequence\""},
    {"/joints/8/sequence", "[]", "joint 'ankle'", "has 0 axes; give 2 to 5"},
    {"/joints/8/sequence/0/type", "\"ball\"", "axis 'roll' of joint 'ankle'", "use one of prismatic, revolute"},
    {"/joints/8/sequence/0/at", "", "axis 'roll' of joint 'ankle'", "key 'at' is missing"},
    {"/joints/8/sequence/0/axis", "[0, 0, 2]", "axis 'roll' of joint 'ankle'", "axis has length 2, not 1"},
    {"/joints/8/sequence/0/axis", "[0, 0, 0]", "axis 'roll' of joint 'ankle'", "has length 0"},
    {"/joints/8/sequence/0/name", "\"q2\"", "joint 'ankle'", "two of its axes are named 'q2'"},
    {"/joints/8/sequence/2/wrapped", "true", "joint 'ankle', coordinate 'pitch'", "count turns"},
    {"/joints/8/limit", "{}", "joint 'ankle'", "belongs to one axis; move it into the sequence"},
    {"/joints/8/coordinates", "{}", "joint 'ankle'", "is not for serial joints"},
    {"/joints/0/sequence", "[]", "joint 'hinge'", "belongs to serial joints"},
    {"/couplings/0/ration", "1", "coupling 'gear'", "did you mean 'ratio'?"},
    {"/joints/1/wrapped", "true", "coupling 'gear'", "wrapped"},
};
INSTANTIATE_TEST_SUITE_P(Joints, Malformed, ::testing::ValuesIn(kJoints));

struct Text {
  const char* text;
  const char* element;
  const char* phrase;
};

TEST(MalformedText, NamesPlaceAndRemedy) {
  const Text texts[] = {
      {"", "line 1, column 1", "unexpected end of input"},
      {"   ", "line 1", "complete it"},
      {"[]", "scene", "must be an object, is an array"},
      {"5", "scene", "must be an object, is a number"},
      {"null", "scene", "must be an object, is null"},
      {"{\n  \"a\": 1,\n}", "line 3, column 1", "unexpected '}'"},
      {"{\n  \"a\": 1 \"b\": 2}", "line 2, column 12", "expected '}'"},
      {"{\"a\": [1, 2}", "line 1, column 12", "expected ']'"},
      {"{} {}", "line 1, column 4", "expected end of input"},
      {"{\"a\": NaN}", "line 1, column 7", "leave the key out"},
      {"{\"a\": Infinity}", "line 1, column 7", "leave the key out"},
      {"{\"a\": .5}", "line 1, column 7", "use a number"},
      {"{'a': 5}", "line 1, column 2", "quoted string"},
      {"{\"a\": 1e999}", "line 1", "too large for a double"},
      {"{\"a\": -1e999}", "line 1", "give a finite number"},
      {"{\"a\": 1, // comment\n \"b\": 2}", "line 1, column 10", "remove the comment"},
      {"{\"a\": 1, /* comment */ \"b\": 2}", "line 1", "remove the comment"},
      {"# comment\n{}", "line 1, column 1", "remove the comment"},
      {"{\"a\": \"\xff\"}", "line 1, column 8", "save the file as UTF-8"},
      {"{\"a\": \"x\xc3(\"}", "line 1", "save the file as UTF-8"},
      {"\xff\xfe{\0}", "line 1", "JSON"},
      {"{\"a\": \"x\n\"}", "line 1", "control character"},
      {"{\"a\": 1, \"a\": 2}", "scene", "key 'a' appears twice; keep one"},
      {R"({"bodies": [{}, {"pose": {"p": 1, "p": 2}}]})", "bodies[1].pose", "key 'p' appears twice"},
      {R"({"a\nb": 1, "a\nb": 2})", "scene", "key 'a\\x0ab' appears twice"},
  };
  for (const Text& t : texts) {
    SCOPED_TRACE(t.text);
    expect_message(error_of(t.text), t.element, t.phrase);
  }
}

TEST(MalformedText, DeepNestingIsRefusedEarly) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += open;
    EXPECT_NE(error_of(text).find("nested more than 32 deep"), std::string::npos);
  }
}

TEST(MalformedText, LongAndControlTextIsShownShort) {
  json scene = json::parse(test::kHandWritten);
  scene["bodies"][0]["name"] = "two\nlines\t" + std::string(100'000, 'x');
  scene["bodies"][0][std::string(100'000, 'y') + "\n"] = 1;
  const std::string what = error_of(scene.dump());
  EXPECT_EQ(what.find('\n'), std::string::npos);
  EXPECT_LT(what.size(), 1000u);
}

// Every object of the format refuses a key that it does not know, in the reader as in the schema.
void expect_unknown_keys_fail(const json& scene) {
  const json flat = scene.flatten();
  std::set<std::string> objects = {""};
  for (const auto& [path, value] : flat.items()) {
    for (json::json_pointer p(path); !p.empty(); p.pop_back()) {
      if (scene[p].is_object()) objects.insert(p.to_string());
    }
  }
  EXPECT_GT(objects.size(), 30u);
  for (const std::string& object : objects) {
    json changed = scene;
    changed[json::json_pointer(object)]["no_such_key"] = 1;
    expect_message(error_of(changed.dump()), "", "no_such_key");
  }
}

TEST(MalformedText, UnknownKeysFailInEveryObject) {
  expect_unknown_keys_fail(json::parse(test::kHandWritten));
  expect_unknown_keys_fail(json::parse(scene_to_json(test::RandomModel(7).make_rich())));
}

// Any value in the place of any other must be loaded or refused, never crash.
TEST(MalformedText, WrongValuesAnywhereAreInputErrors) {
  const json scene = json::parse(test::kHandWritten);
  std::set<std::string> places;
  const json flat = scene.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (json::json_pointer p(path); !p.empty(); p.pop_back()) places.insert(p.to_string());
  }
  for (const std::string& place : places) {
    for (const char* value : {"null", "true", "-1", "1e308", "1e-320", "\"\"", "\"world\"", "[]", "{}", "[[]]"}) {
      json changed = scene;
      changed[json::json_pointer(place)] = json::parse(value);
      const std::string what = error_of(changed.dump());
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }
}

TEST(MalformedText, TruncatedScenesAreRefused) {
  const std::string text = test::kHandWritten;
  for (std::size_t n = 0; n < text.size(); n += 3) {
    expect_message(error_of(std::string_view(text).substr(0, n)), "line ", "JSON syntax error");
  }
}

TEST(MalformedText, FlippedBytesLoadOrGiveInputErrors) {
  const std::string scenes[] = {test::kHandWritten, scene_to_json(test::RandomModel(7).make_rich())};
  std::mt19937 random(12345);
  int loaded = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = scenes[i % 2];
    const int flips = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < flips; ++k) {
      char& c = text[random() % text.size()];
      c = static_cast<char>(static_cast<unsigned char>(c) ^ (1u << (random() % 8)));
    }
    const std::string what = error_of(text);
    if (what.empty()) ++loaded;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_LT(what.size(), 2000u) << what;
  }
  EXPECT_GT(loaded, 0);
  EXPECT_LT(loaded, 4000);
}

class MalformedFile : public ::testing::Test {
 protected:
  MalformedFile() : folder_(fs::path(::testing::TempDir()) / ("sarrus_malformed_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~MalformedFile() override { fs::remove_all(folder_); }

  static void expect_load_error(const fs::path& file, const std::string& phrase) {
    try {
      load_scene(file);
      ADD_FAILURE() << "loaded " << file;
    } catch (const InputError& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.find(file.string() + ": "), 0u) << what;
      EXPECT_NE(what.find(phrase), std::string::npos) << what;
    }
  }

  fs::path folder_;
};

TEST_F(MalformedFile, RefusesWhatIsNoSceneFile) {
  expect_load_error(folder_ / "missing.json", "does not exist; check the path");
  expect_load_error(folder_, "is a directory; give the path of a scene file");
  expect_load_error("/dev/zero", "not a regular file");
  std::ofstream(folder_ / "empty.json").close();
  expect_load_error(folder_ / "empty.json", "unexpected end of input");
}

TEST_F(MalformedFile, RefusesLargeFilesBeforeReadingThem) {
  const fs::path file = folder_ / "large.json";
  std::ofstream(file).close();
  fs::resize_file(file, (std::uintmax_t{256} << 20) + 1);  // sparse
  expect_load_error(file, "limit of 256 MB");
}

}  // namespace
}  // namespace sarrus::scene_malformed_test
