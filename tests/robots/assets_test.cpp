// Scenes whose meshes stay files: the JSON with its files is the import, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "effort.h"
#include "mjcf_text.h"
#include "robots/shared_robots.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/error.h"
#include "sarrus/robot_files/assets.h"
#include "sarrus/step/simulation.h"

namespace sarrus::assets_test {
namespace {

namespace fs = std::filesystem;
using test::accepting;
using test::ModelFolder;

// A tetrahedron, binary STL.
std::string stl(float size) {
  std::string out(80, ' ');
  const auto put = [&](const auto& x) { out.append(reinterpret_cast<const char*>(&x), sizeof x); };
  put(std::uint32_t{4});
  const float corners[4][3] = {{0.1F, 0.2F, 0.3F}, {size, 0, 0}, {0, size, 0.1F}, {0, 0.05F, size}};
  const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  for (const auto& face : faces) {
    for (int k = 0; k < 3; ++k) put(0.0F);
    for (const int v : face) {
      for (const float x : corners[v]) put(x);
    }
    put(std::uint16_t{0});
  }
  return out;
}

std::uint64_t hash_after(const Model& model, int steps) {
  Simulation sim(model);
  for (int i = 0; i < steps; ++i) sim.step();
  return sim.state().hash();
}

// Meshes as they are, mirrored, moved, given as points; seen, collided with, shared; of equal names.
ImportResult several(const ModelFolder& f) {
  f.write("meshes/a.stl", stl(1));
  f.write("other/a.stl", stl(0.7F));
  return f.mjcf(
      "<asset><mesh name='a' file='meshes/a.stl' scale='.1 .1 .1'/><mesh name='m' file='meshes/a.stl' scale='.1 -.1 "
      ".1'/>"
      "<mesh name='o' file='other/a.stl' scale='.2 .1 .1'/><mesh name='r' file='meshes/a.stl' refpos='.1 0 0' "
      "scale='.1 .1 .1'/><mesh name='p' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .11'/></asset><worldbody>"
      "<geom type='plane' size='1 1 1'/><body name='b' pos='0 0 .3' euler='10 20 30'><freejoint/><geom name='g1' "
      "type='mesh' mesh='a'/><geom name='g2' type='mesh' mesh='m' pos='.1 0 0'/><geom name='g3' type='mesh' mesh='a' "
      "pos='0 .1 0'/><geom name='seen' type='mesh' mesh='o' contype='0' conaffinity='0'/></body>"
      "<body name='c' pos='1 0 .3'><freejoint/><geom name='g4' type='mesh' mesh='r'/><geom name='g5' type='mesh' "
      "mesh='p' "
      "pos='0 0 .1'/></body></worldbody>");
}

TEST(Assets, CopiesGiveTheSameModelAndMotionToTheBit) {
  const ModelFolder f;
  const ImportResult import = several(f);
  const fs::path folder = f.write("out/marker", "").parent_path();
  const SceneWithAssets scene = scene_with_assets(import, folder, folder / "assets");
  EXPECT_EQ(scene.copied, 2);   // two files, whatever uses them
  EXPECT_EQ(scene.written, 2);  // the moved one and the points
  EXPECT_EQ(scene.in_scene, 0);
  EXPECT_TRUE(fs::exists(folder / "assets/a.stl"));
  EXPECT_TRUE(fs::exists(folder / "assets/a_2.stl"));
  EXPECT_EQ(scene.json.find("vertices"), std::string::npos);
  EXPECT_EQ(scene.json.find("points"), std::string::npos);
  const Model again = parse_scene(scene.json, "again", folder);
  EXPECT_EQ(scene_to_json(again), scene_to_json(import.model));
  EXPECT_EQ(hash_after(again, 100), hash_after(import.model, 100));
  // The folder can be moved with the scene.
  fs::rename(folder, folder.parent_path() / "moved");
  EXPECT_EQ(scene_to_json(parse_scene(scene.json, "again", folder.parent_path() / "moved")), scene_to_json(again));
}

TEST(Assets, FilesMayStayWhereTheyAre) {
  const ModelFolder f;
  const ImportResult import = several(f);
  const fs::path folder = f.write("out/marker", "").parent_path();
  const SceneWithAssets scene = scene_with_assets(import, folder, "");
  EXPECT_EQ(scene.named, 3);  // the hulls and triangles of the two files
  EXPECT_EQ(scene.in_scene, 2);
  EXPECT_NE(scene.json.find("\"../meshes/a.stl\""), std::string::npos);
  const Model again = parse_scene(scene.json, "again", folder);
  EXPECT_EQ(scene_to_json(again), scene_to_json(import.model));
  EXPECT_EQ(hash_after(again, 100), hash_after(import.model, 100));
  // A file that has changed since does not stand for what was read.
  f.write("meshes/a.stl", stl(1.5F));
  EXPECT_EQ(scene_with_assets(import, folder, "").in_scene, 4);
}

TEST(Assets, TheFolderOfTheMeshesIsLeftAsItIs) {
  const ModelFolder f;
  const ImportResult import = several(f);
  const fs::path model = f.write("model.xml", "").parent_path();
  const SceneWithAssets scene = scene_with_assets(import, model, model / "meshes");
  EXPECT_EQ(scene_to_json(parse_scene(scene.json, "again", model)), scene_to_json(import.model));
  std::ifstream in(model / "meshes/a.stl", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), stl(1));
}

TEST(Assets, WhatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  const ModelFolder f;
  const ImportResult import = several(f);
  const fs::path file = f.write("out/taken", "x");
  EXPECT_THROW(scene_with_assets(import, file.parent_path(), file), InputError);
  // Its second file cannot be written: the first is removed again.
  const fs::path folder = file.parent_path() / "assets";
  fs::create_directories(folder / "a_2.stl");
  EXPECT_THROW(scene_with_assets(import, file.parent_path(), folder), InputError);
  EXPECT_FALSE(fs::exists(folder / "a.stl"));
}

TEST(Assets, RobotsRunLikeTheirImports) {
  SARRUS_NEEDS_ROBOTS();
  SARRUS_FULL_SIZE_ONLY();
  const ModelFolder f;
  for (const char* robot : {"mjcf/agility_cassie/scene.xml", "mjcf/robotiq_2f85/2f85.xml",
                            "mjcf/wonik_allegro/scene_right.xml", "urdf/h1_description/urdf/h1.urdf"}) {
    SCOPED_TRACE(robot);
    const fs::path file = test::shared_robots() / robot;
    if (!fs::exists(file)) continue;
    const ImportResult import = import_model(file, accepting("all"));
    const fs::path folder = f.write(fs::path(robot).stem().string() + "/marker", "").parent_path();
    const SceneWithAssets scene = scene_with_assets(import, folder, folder / "assets");
    EXPECT_EQ(scene.in_scene, 0);
    const Model again = parse_scene(scene.json, "again", folder);
    EXPECT_EQ(scene_to_json(again), scene_to_json(import.model));
    EXPECT_EQ(hash_after(again, 30), hash_after(import.model, 30));
  }
}

}  // namespace
}  // namespace sarrus::assets_test
