// Broken and hostile MJCF: one clear error that names the place and what to do, in bounded time and memory.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "effort.h"
#include "mjcf_text.h"
#include "sarrus/math/error.h"
#include "sarrus/robot_files/mesh_shapes.h"

namespace sarrus::mjcf_malformed_test {
namespace {

using test::hinge;
using test::ModelFolder;

std::string message_of(const ModelFolder& f, const std::string& text, const ImportOptions& options = {}) {
  try {
    f.import(text, options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

struct Case {
  std::string inside;  // of <mujoco>
  const char* says;    // part of the message
};

std::string body(const std::string& inside) { return "<worldbody><body name='b'>" + inside + "</body></worldbody>"; }
std::string free_body(const std::string& inside) { return body("<freejoint/>" + inside); }

TEST(MjcfMalformed, EveryMistakeIsNamed) {
  const ModelFolder f;
  const std::string ball = "<geom size='.1'/>";
  const Case table[] = {
      // elements and attributes
      {"<worldbdy/>", "did you mean 'worldbody'"},
      {body("<jiont/>"), "did you mean 'joint'"},
      {body("<joint axsi='0 0 1'/>" + ball), "did you mean 'axis'"},
      {"<worldbody><geom siz='1'/></worldbody>", "did you mean 'size'"},
      {"<compiler angel='radian'/>", "did you mean 'angle'"},
      {"<option timstep='1'/>", "timestep"},
      {"<actuator><motr joint='j'/></actuator>", "motor"},
      {"<default><geom class='a'/></default>", "no attribute 'class'"},
      // values
      {"<worldbody><geom size='x'/></worldbody>", "not finite numbers"},
      {"<worldbody><geom size='1 2 3 4'/></worldbody>", "4 numbers"},
      {"<worldbody><geom size='nan'/></worldbody>", "not finite"},
      {"<worldbody><geom size='inf'/></worldbody>", "not finite"},
      {"<worldbody><geom size='1e999'/></worldbody>", "not finite"},
      {"<worldbody><geom size='0x10'/></worldbody>", "not finite"},
      {"<worldbody><geom size='1,2'/></worldbody>", "not finite"},
      {"<worldbody><geom size='1' pos='1 2'/></worldbody>", "pos has 2 numbers"},
      {"<worldbody><geom size='-1'/></worldbody>", "positive"},
      {"<worldbody><geom type='box' size='1'/></worldbody>", "positive"},
      {"<worldbody><geom type='cube' size='1'/></worldbody>", "type is 'cube'"},
      {"<worldbody><geom size='1' condim='2'/></worldbody>", "condim"},
      {"<worldbody><geom size='1' contype='.5'/></worldbody>", "32 bits"},
      {"<worldbody><geom size='1' group='1e12'/></worldbody>", "whole number"},
      {free_body("<geom size='1' mass='-1'/>"), "mass"},
      {free_body("<geom size='1' density='-1'/>"), "density"},
      {"<compiler angle='degrees'/>", "angle"},
      {"<compiler eulerseq='xy'/>", "eulerseq"},
      {"<compiler coordinate='global'/>", "global"},
      {"<compiler autolimits='yes'/>", "autolimits"},
      {"<option timestep='0'/>", "timestep"},
      {"<compiler boundmass='-1'/>", "boundmass"},
      // orientations
      {"<worldbody><geom size='1' quat='0 0 0 0'/></worldbody>", "quat is zero"},
      {"<worldbody><geom size='1' quat='1 0 0 0' euler='0 0 0'/></worldbody>", "several orientations"},
      {"<worldbody><geom size='1' axisangle='0 0 0 1'/></worldbody>", "zero axis"},
      {"<worldbody><geom size='1' zaxis='0 0 0'/></worldbody>", "zaxis"},
      {"<worldbody><geom size='1' xyaxes='1 0 0 2 0 0'/></worldbody>", "xyaxes"},
      {"<worldbody><geom type='capsule' size='1' fromto='0 0 0 0 0 0'/></worldbody>", "fromto"},
      {"<worldbody><geom type='capsule' size='1' fromto='0 0 0 1 0 0' pos='1 0 0'/></worldbody>", "fromto and pos"},
      {"<worldbody><geom type='sphere' size='1' fromto='0 0 0 1 0 0'/></worldbody>", "fromto"},
      // classes
      {"<default class='x'/>", "main"},
      {"<default><default/></default>", "without a name"},
      {"<default><default class='a'/><default class='a'/></default>", "rename"},
      {"<worldbody><geom size='1' class='a'/></worldbody>", "no class 'a'"},
      // bodies and joints
      {"<worldbody><joint/></worldbody>", "world"},
      {body("<joint axis='0 0 0'/>" + ball), "axis is zero"},
      {body("<body><freejoint/>" + ball + "</body>"), "free"},
      {body("<freejoint/><joint/>" + ball), "free"},
      {body("<joint/><freejoint/>" + ball), "free"},
      {body("<joint type='ball'/><joint/>" + ball), "ball"},
      {body("<joint/><joint/><joint/><joint/>" + ball), "more than three"},
      {body("<joint range='1 -1' limited='true'/>" + ball), "range is empty"},
      {"<compiler autolimits='false'/>" + body("<joint range='-1 1'/>" + ball), "autolimits"},
      {body("<joint type='ball' range='10 20'/>" + ball), "begins at 0"},
      {body("<joint damping='-1'/>" + ball), "0 or more"},
      {body("<joint/>"), "mass"},
      {body("<joint name='j'/>" + ball + "<body><joint name='j'/>" + ball + "</body>"), "same name"},
      {body(ball) + body(ball), "same name"},
      {body("<geom name='g' size='1'/><geom name='g' size='1'/>"), "same name"},
      {body("<site name='s'/><site name='s'/>"), "same name"},
      {body("<body mocap='true'/>"), "mocap"},
      {body("<joint/><geom type='plane' size='1 1 1'/>" + ball), "plane"},
      {body("<composite/>"), "not rigid"},
      {"<deformable><flex/></deformable>", "deformable"},
      // inertias
      {free_body("<inertial mass='1'/>"), "mass and pos"},
      {free_body("<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>"), "mass"},
      {free_body("<inertial pos='0 0 0' mass='1'/>"), "diaginertia"},
      {free_body("<inertial pos='0 0 0' mass='1' diaginertia='1 1 -1'/>"), "negative"},
      {free_body("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 5 0 0'/>"), "not positive"},
      {free_body("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' quat='1 0 0 0'/>"), "keep one"},
      {free_body("<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><inertial pos='0 0 0' mass='1'/>"), "second"},
      // assets
      {"<worldbody><geom type='mesh'/></worldbody>", "mesh"},
      {"<worldbody><geom type='mesh' mesh='m'/></worldbody>", "no mesh 'm'"},
      {"<asset><mesh file='absent.stl'/></asset><worldbody><geom type='mesh' mesh='absent'/></worldbody>", "not there"},
      {"<asset><mesh/></asset>", "neither a name nor a file"},
      {"<asset><mesh name='m' vertex='0 0 0'/></asset><worldbody><geom type='mesh' mesh='m'/></worldbody>",
       "four vertices"},
      {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 9'/></asset><worldbody><geom type='mesh' "
       "mesh='m'/></worldbody>",
       "vertex 9"},
      {"<asset><mesh name='m' scale='0 1 1' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody><geom type='mesh' "
       "mesh='m'/></worldbody>",
       "scale"},
      {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/></asset><worldbody><geom type='mesh' "
       "mesh='m'/></worldbody>",
       "lie in a plane"},
      {"<asset><mesh name='m' inertia='exact' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 2 0 1 3 0 3 2 1 2 "
       "3'/></asset>" +
           free_body("<geom type='mesh' mesh='m'/>"),
       "inside out"},
      {"<asset><mesh file='http://example.org/a.stl' name='m'/></asset><worldbody><geom type='mesh' "
       "mesh='m'/></worldbody>",
       "network"},
      {"<asset><mesh file='/etc/passwd' name='m'/></asset><worldbody><geom type='mesh' mesh='m'/></worldbody>",
       "outside"},
      {"<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 3'/></asset><worldbody><geom "
       "type='hfield' hfield='h'/></worldbody>",
       "3 numbers"},
      {"<worldbody><geom type='hfield' hfield='h'/></worldbody>", "hfield"},
      // references
      {"<contact><exclude body1='a' body2='b'/></contact>", "no body 'a'"},
      {"<contact><pair geom1='a' geom2='b'/></contact>", "no geom 'a'"},
      {"<equality><connect body1='x' anchor='0 0 0'/></equality>", "no body 'x'"},
      {free_body(ball) + "<equality><connect body1='b'/></equality>", "anchor"},
      {free_body(ball) + "<equality><connect anchor='0 0 0'/></equality>", "body1"},
      {"<equality><weld site1='x' site2='y'/></equality>", "no site 'x'"},
      {hinge("") + "<equality><joint joint1='j' joint2='k'/></equality>", "no joint 'k'"},
      {hinge("") + "<equality><joint joint1='j' joint2='j'/></equality>", "itself"},
      {hinge("type='ball'") + "<equality><joint joint1='j'/></equality>", "scalar"},
      {"<equality><flex flex='f'/></equality>", "deformable"},
      {hinge("") + "<tendon><fixed name='t'/></tendon>", "no joints"},
      {hinge("") + "<actuator><motor/></actuator>", "acts on nothing"},
      {hinge("") + "<actuator><motor joint='k'/></actuator>", "no joint 'k'"},
      {hinge("") + "<actuator><motor tendon='k'/></actuator>", "no tendon 'k'"},
      {hinge("") + "<actuator><position joint='j' kp='-1'/></actuator>", "0 or more"},
      {hinge("") + "<actuator><position joint='j' kv='1' dampratio='1'/></actuator>", "keep one"},
      {hinge("") + "<actuator><motor joint='j' ctrlrange='1 -1' ctrllimited='true'/></actuator>", "empty"},
      // files
      {"<include/>", "names no file"},
      {"<include file='absent.xml'/>", "not there"},
      {"<include file='../../../../../../etc/hostname'/>", ""},
      {"<worldbody><attach model='m' body='b' prefix='p'/></worldbody>", "no <model>"},
      {"<asset><model name='m' file='model.xml'/></asset><worldbody><attach model='m' prefix='p'/></worldbody>",
       "cycle"},
      {"<worldbody><replicate count='0'><geom size='1'/></replicate></worldbody>", "count"},
      {"<worldbody><replicate count='1e6'><replicate count='1e6'><geom size='1'/></replicate></replicate></worldbody>",
       "elements"},
      {"<worldbody><replicate count='100000'><replicate count='100'><geom "
       "size='1'/></replicate></replicate></worldbody>",
       "elements"},
  };
  for (const Case& c : table) {
    const std::string text = message_of(f, "<mujoco>" + c.inside + "</mujoco>");
    EXPECT_NE(text, "no error") << c.inside;
    EXPECT_NE(text.find(c.says), std::string::npos) << c.inside << "\n  " << text;
    EXPECT_NE(text.find("model.xml"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(MjcfMalformed, XmlThatIsNone) {
  const ModelFolder f;
  const char* texts[] = {"<mujoco>",
                         "<mujoco></mujok>",
                         "<mujoco><worldbody></mujoco>",
                         "<mujoco a=1/>",
                         "<mujoco/><mujoco/ ",
                         "<!DOCTYPE x [<!ENTITY a 'b'>]><mujoco/>",
                         "<?xml version='1.0'?><!DOCTYPE x [ <!ENTITY a \"&a;&a;\"> ]><mujoco>&a;</mujoco>",
                         "<unknown/>",
                         "<"};
  for (const char* text : texts) EXPECT_NE(message_of(f, text), "no error") << text;
}

TEST(MjcfMalformed, DeepNestingIsRefused) {
  const ModelFolder f;
  for (const char* element : {"body", "frame", "default class='x'"}) {
    std::string text = element[0] == 'd' ? "<mujoco>" : "<mujoco><worldbody>";
    for (int i = 0; i < 100000; ++i) text += std::string("<") + element + ">";
    EXPECT_NE(message_of(f, text), "no error") << element;
  }
  // As deep, and closed.
  std::string closed;
  for (int i = 0; i < 400; ++i) closed += "<body>";
  for (int i = 0; i < 400; ++i) closed += "</body>";
  EXPECT_NE(message_of(f, "<mujoco><worldbody>" + closed + "</worldbody></mujoco>").find("nested"), std::string::npos);
}

TEST(MjcfMalformed, ManyAttributesAreRefusedBeforeTheyAreCompared) {
  const ModelFolder f;
  std::string text = "<mujoco ";
  for (int i = 0; i < 100000; ++i) text += "a" + std::to_string(i) + "='1' ";
  EXPECT_NE(message_of(f, text + "/>").find("attributes"), std::string::npos);
}

TEST(MjcfMalformed, CyclesOfIncludesAndModels) {
  const ModelFolder f;
  f.write("a.xml", "<mujoco><include file='b.xml'/></mujoco>");
  f.write("b.xml", "<mujoco><include file='a.xml'/></mujoco>");
  EXPECT_NE(message_of(f, "<mujoco><include file='a.xml'/></mujoco>").find("only once"), std::string::npos);
  f.write("c.xml",
          "<mujoco model='c'><asset><model name='c' file='c.xml'/></asset><worldbody><attach model='c' prefix='a'/>"
          "<attach model='c' prefix='b'/></worldbody></mujoco>");
  EXPECT_NE(message_of(f,
                       "<mujoco><asset><model name='c' file='c.xml'/></asset><worldbody><attach model='c' "
                       "prefix='a'/></worldbody></mujoco>"),
            "no error");
}

// Each model that is attached has its own assets, which count as copies.
TEST(MjcfMalformed, AssetsOfAttachedModelsAreCounted) {
  SARRUS_FULL_SIZE_ONLY();  // a million elements
  const ModelFolder f;
  std::string assets, attached;
  for (int i = 0; i < 3000; ++i) assets += "<texture name='t" + std::to_string(i) + "' builtin='flat'/>";
  for (int i = 0; i < 400; ++i) attached += "<attach model='c' body='b' prefix='p" + std::to_string(i) + "'/>";
  f.write("c.xml", "<mujoco model='c'><asset>" + assets + "</asset><worldbody><body name='b'/></worldbody></mujoco>");
  EXPECT_NE(message_of(f, "<mujoco><asset><model name='c' file='c.xml'/></asset><worldbody>" + attached +
                              "</worldbody></mujoco>")
                .find("more than 1000000 elements"),
            std::string::npos);
}

TEST(MjcfMalformed, MeshesAreBoundedTogether) {
  robot::MeshBudget budget;
  MeshFile large;
  large.triangles.resize(robot::MeshBudget::kMostTriangles / 2 + 1);
  xml::Node node;
  node.name = "mesh";
  budget.add(large, node);
  EXPECT_THROW(budget.add(large, node), InputError);
}

TEST(MjcfMalformed, FilesOutsideAreReadOnlyIfAllowed) {
  const ModelFolder f;
  const std::string far =
      std::filesystem::temp_directory_path().string() + "/sarrus_far_" + std::to_string(::getpid()) + ".xml";
  std::ofstream(far) << "<mujoco/>";
  const std::string text = "<mujoco><include file='" + far + "'/></mujoco>";
  EXPECT_NE(message_of(f, text).find("outside"), std::string::npos);
  ImportOptions allow;
  allow.allow_outside = true;
  EXPECT_EQ(message_of(f, text, allow), "no error");
  // A link is judged by where it leads.
  std::filesystem::create_symlink(far, f.write("x", "").parent_path() / "link.xml");
  EXPECT_NE(message_of(f, "<mujoco><include file='link.xml'/></mujoco>").find("outside"), std::string::npos);
  std::filesystem::remove(far);
}

TEST(MjcfMalformed, KeysThatDoNotFit) {
  const ModelFolder f;
  ImportOptions options;
  options.key = "home";
  const std::string keys = "<keyframe><key name='home' qpos='1 2'/></keyframe>";
  EXPECT_NE(message_of(f, "<mujoco>" + hinge("", keys) + "</mujoco>", options).find("needs 1"), std::string::npos);
  options.key = "hmoe";
  EXPECT_NE(message_of(f, "<mujoco>" + hinge("", keys) + "</mujoco>", options).find("'home'"), std::string::npos);
}

}  // namespace
}  // namespace sarrus::mjcf_malformed_test
