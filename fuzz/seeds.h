// Good files to begin with, made by the writers of today: no seed grows old.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "targets.h"

namespace sarrus::fuzz {

inline std::string bytes_of(const fs::path& file) { return read_file(file, "a seed"); }

// To six digits.
inline void shorten_numbers(nlohmann::ordered_json& value) {
  if (value.is_number_float()) {
    value = std::strtod(fmt::format("{:.6g}", value.get<double>()).c_str(), nullptr);
  } else if (value.is_structured()) {
    for (auto& child : value) shorten_numbers(child);
  }
}

// Small ones, without spaces and in short numbers: reading is as long as the file, and what is changed in it means
// more.
inline std::vector<std::string> scene_seeds() {
  constexpr std::size_t kMost = 4000;
  std::vector<std::string> out;
  const auto take = [&](const Model& model) {
    nlohmann::ordered_json scene = nlohmann::ordered_json::parse(scene_to_json(model));
    shorten_numbers(scene);
    const std::string text = scene.dump();
    try {
      parse_scene(text, "a seed", "/nonexistent");
    } catch (const InputError&) {
      return;  // its numbers have to be exact
    }
    if (text.size() < kMost) out.push_back(text);
  };
  for (const char* name : {"box_on_plane", "fourbar_swing", "slider_crank", "winch", "spring_cylinder"})
    take(make_scene(name));
  // Every kind of joint, shape, drive and compliance is in some of these.
  for (std::uint64_t seed = 1; seed <= 100; ++seed) take(random_world(seed, RandomWorldKind::any).model);
  return out;
}

inline std::vector<std::string> mjcf_seeds() {
  return {
      R"(<mujoco model="a"><compiler angle="radian" eulerseq="zyx"/><option timestep="0.001" gravity="0 0 -9.8"/>)"
      R"(<default><joint damping="0.1"/><geom friction="0.5"/><default class="c"><geom type="capsule" size="0.1 0.2"/>)"
      R"(</default></default><worldbody><geom type="plane" size="1 1 1"/><body name="b" pos="0 0 1" euler="0.1 0.2 0.3">)"
      R"(<freejoint/><geom class="c"/><site name="s" pos="0.1 0 0"/><body name="l" pos="0.3 0 0"><joint name="j" axis="0 1 0")"
      R"( range="-1 1" ref="0.1"/><geom type="box" size="0.1 0.1 0.1"/></body><body name="r" pos="-0.3 0 0"><joint name="k")"
      R"( axis="0 1 0"/><joint name="m" axis="1 0 0"/><geom size="0.1" mass="2"/><site name="t"/></body></body></worldbody>)"
      R"(<equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality><actuator><position name="p" joint="j" kp="5")"
      R"( dampratio="1" ctrlrange="-1 1"/><motor joint="k" gear="2"/></actuator><contact><exclude body1="b" body2="l"/></contact>)"
      R"(<keyframe><key name="h" qpos="0 0 1 1 0 0 0 0 0 0"/></keyframe></mujoco>)",
      R"(<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1 1 -1"/></asset><worldbody><replicate count="2")"
      R"( offset="1 0 0" sep="_"><body name="a"><joint type="slide"/><joint/><geom type="mesh" mesh="m"/><body name="b">)"
      R"(<inertial pos="0 0 0.1" mass="1" fullinertia="1 1 1 0 0 0.1"/></body></body></replicate><body name="x"><joint type="ball"/>)"
      R"(<geom type="cylinder" size="0.1" fromto="0 0 0 0 0 1"/></body></worldbody><equality><connect body1="x" anchor="0 0 1"/>)"
      R"(</equality></mujoco>)"};
}

inline std::vector<std::string> urdf_seeds() {
  return {
      R"(<robot name="a"><link name="base"><inertial><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><mass value="2"/>)"
      R"(<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial><collision><geometry>)"
      R"(<box size="0.2 0.2 0.2"/></geometry></collision></link><link name="l"><inertial><mass value="1"/>)"
      R"(<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><sphere radius="0.1"/>)"
      R"(</geometry><material name="m"><color rgba="1 0 0 1"/></material></visual></link><link name="r"><inertial>)"
      R"(<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin)"
      R"( xyz="0 0 0.2"/><geometry><cylinder radius="0.1" length="0.3"/></geometry></collision></link><joint name="j")"
      R"( type="revolute"><parent link="base"/><child link="l"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/><limit lower="-1")"
      R"( upper="1" effort="10" velocity="2"/><dynamics damping="0.1" friction="0.2"/></joint><joint name="k" type="continuous">)"
      R"(<parent link="base"/><child link="r"/><origin xyz="-0.3 0 0"/><axis xyz="0 1 0"/><mimic joint="j" multiplier="-1")"
      R"( offset="0.1"/></joint><transmission name="t"><joint name="j"/><actuator name="motor"><mechanicalReduction>5)"
      R"(</mechanicalReduction></actuator></transmission></robot>)",
      R"(<robot name="loop"><link name="world"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1")"
      R"( ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1")"
      R"( ixy="0" ixz="0" iyz="0"/></inertial></link><link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1")"
      R"( ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="wa" type="revolute"><parent link="world"/><child link="a"/>)"
      R"(<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="0" velocity="1"/></joint><joint name="ab" type="prismatic">)"
      R"(<parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1")"
      R"( velocity="1"/></joint><joint name="wc" type="planar"><parent link="world"/><child link="c"/><axis xyz="0 1 0"/>)"
      R"(</joint><loop_joint name="closing" type="spherical"><link1 link="b" xyz="0.1 0 0" rpy="0 0 0"/><link2 link="c")"
      R"( xyz="0.1 0 1" rpy="0 0 0"/><axis xyz="0 1 0"/></loop_joint></robot>)"};
}

inline std::vector<std::string> sdf_seeds() {
  return {
      R"(<sdf version="1.7"><model name="a"><link name="base"><pose>0 0 1 0 0 0</pose><inertial><mass>2</mass><inertia><ixx>0.1)"
      R"(</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial><collision name="c"><geometry><box><size>0.2 0.2 0.2</size></box>)"
      R"(</geometry><surface><friction><ode><mu>0.7</mu></ode></friction></surface></collision></link><link name="l"><pose)"
      R"( relative_to="base">0.3 0 0 0.1 0 0</pose><visual name="v"><geometry><sphere><radius>0.1</radius></sphere></geometry>)"
      R"(</visual></link><joint name="j" type="revolute"><parent>base</parent><child>l</child><axis><xyz>0 1 0</xyz><limit>)"
      R"(<lower>-1</lower><upper>1</upper><effort>5</effort></limit><dynamics><damping>0.1</damping><friction>0.1</friction>)"
      R"(</dynamics></axis></joint></model></sdf>)",
      R"(<sdf version="1.6"><world name="w"><gravity>0 0 -5</gravity><model name="m"><static>true</static><link name="floor">)"
      R"(<collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model><model name="n">)"
      R"(<link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link><link name="c"><pose>1 0 0 0 0 0</pose></link>)"
      R"(<joint name="wa" type="ball"><parent>world</parent><child>a</child></joint><joint name="ab" type="universal">)"
      R"(<parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint><joint name="bc")"
      R"( type="prismatic"><parent>b</parent><child>c</child><axis><xyz>0 0 1</xyz></axis></joint><joint name="loop" type="fixed">)"
      R"(<parent>c</parent><child>a</child></joint></model></world></sdf>)"};
}

inline std::vector<std::string> mesh_seeds() {
  std::string stl(85, '\0');
  stl[0] = '\0';
  stl[81] = 4;
  for (const auto& t : {std::array{0, 2, 1}, std::array{0, 1, 3}, std::array{1, 2, 3}, std::array{0, 3, 2}}) {
    stl.append(12, '\0');
    for (const int v : t) {
      for (int k = 1; k <= 3; ++k) {
        const float x = v == k ? 1.0F : 0.0F;
        stl.append(reinterpret_cast<const char*>(&x), 4);
      }
    }
    stl.append(2, '\0');
  }
  return {
      stl, std::string("\1v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"),
      std::string("\2") +
          R"(<COLLADA version="1.4.1"><asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset><library_geometries>)"
          R"(<geometry id="g"><mesh><source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>)"
          R"(<technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>)"
          R"(<vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="4">)"
          R"(<input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles></mesh>)"
          R"(</geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node>)"
          R"(<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>)"
          R"(<scene><instance_visual_scene url="#s"/></scene></COLLADA>)"};
}

inline Simulation moved_box() {
  Simulation sim(box_model());
  for (int i = 0; i < 5; ++i) sim.step();
  return sim;
}

inline std::vector<std::string> problem_seeds() {
  const Simulation sim = moved_box();
  const InputFile file("", "seed");
  save_problem(file.path(), sim.problem(), sim.warm_start_impulses(), sim.impulses());
  return {bytes_of(file.path())};
}

inline std::vector<std::string> recording_seeds() {
  Simulation sim(box_model());
  const InputFile file("", "seed");
  RecordingWriter writer(file.path(), sim.model(), {"box_on_plane", 0.01, sim.options(), "fuzz"});
  for (int i = 0; i < 3; ++i) {
    sim.step();
    writer.add(sim.state(), sim.report(), energy(sim.model(), sim.state()), sim.contacts(), forces_of(sim));
  }
  writer.close();
  return {bytes_of(file.path())};
}

// One contact; local, and global with a body of six coordinates.
inline std::vector<std::string> fclib_seeds() {
  std::vector<std::string> out;
  for (const bool global : {false, true}) {
    const hdf5::File file("seed", hdf5::create_image());
    const std::string root = global ? "/fclib_global" : "/fclib_local";
    const auto ints = [&](const std::string& name, const std::vector<std::int32_t>& v) {
      file.table<std::int32_t>(name, {v.size()}, v, {"", ""});
    };
    const auto doubles = [&](const std::string& name, const std::vector<double>& v) {
      file.table<double>(name, {v.size()}, v, {"", ""});
    };
    // The first rows of a unit matrix, by columns.
    const auto unit = [&](const std::string& name, int rows, int columns) {
      file.group(name);
      std::vector<std::int32_t> p{0}, i;
      for (int c = 0; c < columns; ++c) {
        i.push_back(c);
        p.push_back(c + 1);
      }
      ints(name + "/m", {rows});
      ints(name + "/n", {columns});
      ints(name + "/nz", {-1});
      ints(name + "/p", p);
      ints(name + "/i", i);
      doubles(name + "/x", std::vector<double>(i.size(), 1));
    };
    file.group(root);
    file.group(root + "/vectors");
    ints(root + "/spacedim", {3});
    doubles(root + "/vectors/mu", {0.5});
    if (global) {
      unit(root + "/M", 6, 6);
      unit(root + "/H", 6, 3);
      doubles(root + "/vectors/f", {-1, 0, 0, 0, 0, 0});
      doubles(root + "/vectors/w", {0, 0, 0});
    } else {
      unit(root + "/W", 3, 3);
      doubles(root + "/vectors/q", {-1, 0.1, 0});
    }
    out.push_back(hdf5::image_bytes(file.handle()));
  }
  return out;
}

inline std::vector<std::string> checkpoint_seeds() {
  const Simulation sim = moved_box();
  const InputFile file("", "seed");
  save_checkpoint(file.path(), sim.snapshot());
  return {bytes_of(file.path()), sim.snapshot().bytes()};
}

}  // namespace sarrus::fuzz
