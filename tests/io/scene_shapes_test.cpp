// Shapes with points in scene files: their meaning, mesh files, masses, recentring, errors, round trips.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "io/scene_test_models.h"
#include "sarrus/math/error.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus::scene_shapes_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::text_of;

class SceneShapes : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("sarrus_shapes_" + name + std::to_string(::getpid()));
    fs::create_directories(folder_ / "parts");
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  // An OBJ file of the L, moved.
  fs::path write_l(const std::string& name, const Vec3& by = Vec3::Zero()) const {
    std::string text;
    const test::Surface s = test::l_surface();
    for (const Vec3& v : s.vertices) {
      const Vec3 p = v + by;
      text += "v " + std::to_string(p.x()) + " " + std::to_string(p.y()) + " " + std::to_string(p.z()) + "\n";
    }
    for (const auto& face : s.faces) {
      text += "f";
      for (const int v : face) text += " " + std::to_string(v + 1);
      text += "\n";
    }
    return write(name, text);
  }
  static json scene_with(const json& shape, bool recenter = true) {
    return {{"format", "sarrus-scene"},
            {"version", 1},
            {"angle_unit", "rad"},
            {"bodies", {{{"name", "body"}, {"density", 2}, {"recenter", recenter}, {"shapes", {shape}}}}}};
  }
  Model load(const json& scene) const { return load_scene(write("scene.json", scene.dump())); }
  std::string error_of(const json& scene) const {
    try {
      load(scene);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }

  fs::path folder_;
};

const Geom& geom(const Model& m, const std::string& name) {
  for (const Geom& g : m.geoms()) {
    if (g.name == name) return g;
  }
  throw std::runtime_error("no geom " + name);
}

void expect_round_trip(const Model& model) {
  const std::string saved = scene_to_json(model);
  const Model loaded = parse_scene(saved, "saved");
  EXPECT_EQ(text_of(loaded), text_of(model));
  EXPECT_EQ(scene_to_json(loaded), saved);
}

TEST_F(SceneShapes, ReadsEveryKind) {
  const Model m = parse_scene(test::kShapesScene, "shapes");
  EXPECT_FALSE(m.self_collision());
  EXPECT_EQ(m.bodies()[0].ccd, Ccd::off);
  EXPECT_EQ(m.bodies()[1].ccd, Ccd::speculative);
  EXPECT_EQ(geom(m, "tin").shape.kind, ShapeKind::cylinder);
  EXPECT_EQ(geom(m, "tin").shape.size, Vec3(0.1, 0.2, 0));
  EXPECT_EQ(geom(m, "tin").margin, 0.004);
  EXPECT_EQ(geom(m, "shell").shape.size, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(geom(m, "shell").margin, 0);
  EXPECT_EQ(geom(m, "point").shape.hull->vertex_count(), 4);
  EXPECT_EQ(geom(m, "corner").shape.mesh->triangle_count(), 4);
  EXPECT_EQ(geom(m, "corner").shape.mesh, geom(m, "copy").shape.mesh);
  const auto& children = *geom(m, "tool").shape.children;
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[1].shape.kind, ShapeKind::cylinder);
  EXPECT_LT((children[1].X_SC.R().col(2) - Vec3(0, -1, 0)).norm(), 1e-15);
  const HeightField& hills = *geom(m, "hills").shape.height_field;
  EXPECT_EQ(hills.columns(), 3);
  EXPECT_EQ(hills.rows(), 2);
  EXPECT_EQ(hills.vertex(3), Vec3(-0.5, 0.5, 0.2));
  const HeightField& dunes = *geom(m, "dunes").shape.height_field;
  EXPECT_EQ(dunes.columns(), 3);
  EXPECT_TRUE(std::equal(hills.heights().begin(), hills.heights().end(), dunes.heights().begin()));
  expect_round_trip(m);
}

TEST_F(SceneShapes, MassesOfTheNewKinds) {
  const Model m = parse_scene(test::kShapesScene, "shapes");
  const double pi = std::acos(-1.0);
  const Body& can = m.bodies()[0];
  EXPECT_DOUBLE_EQ(can.mass, 1000 * 2 * pi * 0.01 * 0.2);
  EXPECT_EQ(can.inertia_B, solid_inertia(Shape::cylinder(0.1, 0.2), can.mass));
  EXPECT_DOUBLE_EQ(m.bodies()[1].mass, 1000 * 4.0 / 3.0 * pi * 0.006);
  EXPECT_NEAR(m.bodies()[2].mass, 1000.0 / 6, 1e-10);
  // Two tetrahedra, 2 m apart.
  EXPECT_NEAR(m.bodies()[3].mass, 2000.0 / 6, 1e-10);
  const Body& hammer = m.bodies()[4];
  const double head = 1000 * 0.2 * 0.2 * 0.4;
  const double handle = 1000 * pi * 0.0025 * 0.6;
  EXPECT_NEAR(hammer.mass, head + handle, 1e-10);
  EXPECT_NEAR(hammer.inertia_B(1, 1), head * (0.01 + 0.04) / 3 + handle * 0.0025 / 2, 1e-10);
}

// The origin moves to the centre of mass; shapes and local anchors stay where they are in the world.
TEST_F(SceneShapes, RecenterMovesTheFrameAndNothingElse) {
  const Model m = parse_scene(test::kShapesScene, "shapes");
  const Body& wedge = m.bodies()[2];
  const Pose file = {Vec3(1, 0, 0), wedge.X_WB0.q};
  const Vec3 centre(0.25, 0.25, 0.25);
  EXPECT_LT((wedge.X_WB0.p - file * centre).norm(), 1e-15);
  EXPECT_LT((geom(m, "point").X_BG.p + centre).norm(), 1e-15);
  const Joint& hinge = m.joints()[0];
  EXPECT_LT((wedge.X_WB0 * hinge.p_BJ - file * Vec3(1, 0, 0)).norm(), 1e-15);
  EXPECT_LT((m.bodies()[3].X_WB0 * hinge.p_FJ - Vec3(0, 1, 0)).norm(), 1e-15);
  EXPECT_LT((wedge.X_WB0 * m.joints()[1].p_FJ - Vec3(1, 1, 1)).norm(), 1e-15);

  // The same as the builder's solid, whose frame is at the centre of mass by construction.
  ModelBuilder b("wedge");
  b.add_solid("wedge", wedge.mass, geom(m, "point").shape, file);
  const Model built = b.build();
  EXPECT_LT((built.bodies()[0].X_WB0.p - wedge.X_WB0.p).norm(), 1e-15);
  EXPECT_LT((built.bodies()[0].inertia_B - wedge.inertia_B).norm(), 1e-13 * wedge.inertia_B.norm());

  // Two equal tetrahedra at 0 and 2 m: parallel axes.
  const Body& block = m.bodies()[3];
  EXPECT_LT((block.X_WB0.p - Vec3(1.25, 0.25, 0.25)).norm(), 1e-15);
  const Mat3 one = solid_inertia(geom(m, "corner").shape, block.mass / 2);
  EXPECT_NEAR(block.inertia_B(0, 0), 2 * one(0, 0), 1e-10);
  EXPECT_NEAR(block.inertia_B(1, 1), 2 * one(1, 1) + block.mass, 1e-10);
}

TEST_F(SceneShapes, RecentredBodiesSaveTheirNewFrame) {
  const Model m = parse_scene(test::kShapesScene, "shapes");
  const std::string saved = scene_to_json(m);
  EXPECT_EQ(saved.find("recenter"), std::string::npos);
  EXPECT_EQ(text_of(parse_scene(saved, "saved")), text_of(m));
}

TEST_F(SceneShapes, ReadsMeshFilesBesideTheScene) {
  write_l("parts/l.obj");
  const Model m = load(scene_with({{"name", "l"}, {"type", "mesh"}, {"file", "parts/l.obj"}}));
  EXPECT_EQ(m.geoms()[0].shape.mesh->triangle_count(), 20);
  EXPECT_NEAR(m.bodies()[0].mass, 6, 1e-12);
  const Vec3 centre = Vec3(0.5 + 1.5 + 0.5, 1.5, 0.5 + 0.5 + 1.5) / 3;
  EXPECT_LT((m.bodies()[0].X_WB0.p - centre).norm(), 1e-12);

  const Model hull = load(scene_with({{"name", "l"}, {"type", "hull"}, {"file", "parts/l.obj"}, {"scale", 2}}));
  EXPECT_EQ(hull.geoms()[0].shape.hull->vertex_count(), 10);
  EXPECT_NEAR(hull.bodies()[0].mass, 2 * 8 * 3.5, 1e-10);

  const Model mirrored =
      load(scene_with({{"type", "mesh"}, {"file", "parts/l.obj"}, {"scale", {-1, 1, 2}}, {"mass_from", "hull"}}));
  EXPECT_NEAR(mirrored.bodies()[0].mass, 2 * 2 * 3.5, 1e-10);
  EXPECT_EQ(mirrored.geoms()[0].shape.mesh->surface(), TriangleMesh::Surface::closed);
  EXPECT_LT(mirrored.geoms()[0].shape.mesh->box().lo.x(), -1.9);
  expect_round_trip(mirrored);

  json scene = scene_with({{"type", "mesh"}, {"file", (folder_ / "parts" / "l.obj").string()}});
  EXPECT_EQ(parse_scene(scene.dump(), "absolute").geoms()[0].shape.mesh->triangle_count(), 20);
  scene["bodies"][0]["shapes"][0]["file"] = "l.obj";
  EXPECT_EQ(parse_scene(scene.dump(), "folder", folder_ / "parts").geoms()[0].shape.mesh->triangle_count(), 20);
}

TEST_F(SceneShapes, ReadsAFileOnceForAllShapesThatUseItAlike) {
  write_l("l.obj");
  json shapes = json::array();
  for (int i = 0; i < 50; ++i) {
    shapes.push_back({{"type", "mesh"}, {"file", i % 2 == 0 ? "l.obj" : "parts/../l.obj"}});
    shapes.push_back({{"type", "hull"}, {"file", "l.obj"}});
  }
  shapes.push_back({{"type", "mesh"}, {"file", "l.obj"}, {"scale", 2}});
  json scene = scene_with({});
  scene["bodies"][0]["shapes"] = shapes;
  const Model m = load(scene);
  std::set<const void*> meshes;
  std::set<const void*> hulls;
  for (const Geom& g : m.geoms()) {
    if (g.shape.mesh != nullptr) meshes.insert(g.shape.mesh.get());
    if (g.shape.hull != nullptr) hulls.insert(g.shape.hull.get());
  }
  EXPECT_EQ(meshes.size(), 2u);
  EXPECT_EQ(hulls.size(), 1u);
  // Saved once each, and shared again when loaded.
  const std::string saved = scene_to_json(m);
  const json document = json::parse(saved);
  int with_points = 0;
  for (const json& s : document["bodies"][0]["shapes"]) with_points += s.contains("points") || s.contains("vertices");
  EXPECT_EQ(with_points, 3);
  const Model loaded = parse_scene(saved, "saved");
  EXPECT_EQ(loaded.geoms()[0].shape.mesh, loaded.geoms()[98].shape.mesh);
  EXPECT_EQ(text_of(loaded), text_of(m));
}

// A hull is saved as its vertices: its faces and all that follows from them must come out the same.
TEST_F(SceneShapes, HullsKeepEveryBit) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    ModelBuilder b("hull");
    b.add_geom(kWorld, test::random_hull(random, 4 + i));
    expect_round_trip(b.build());
  }
}

TEST_F(SceneShapes, LargeListsArePrintedCompactly) {
  std::mt19937 random(6);
  ModelBuilder b("terrain");
  b.add_geom(kWorld, test::random_terrain(random, 100, 100));
  b.add_geom(kWorld, test::random_hull(random, 2000));
  const std::string saved = scene_to_json(b.build());
  const auto lines = std::count(saved.begin(), saved.end(), '\n');
  EXPECT_LT(lines, 10000 / 4 + 2000 + 40);
  std::size_t longest = 0;
  std::size_t start = 0;
  for (std::size_t end = saved.find('\n'); end != std::string::npos; end = saved.find('\n', start)) {
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  EXPECT_LE(longest, 110u);
}

// A change of the scene of shapes: a JSON pointer and the new value ("" removes it).
struct Change {
  const char* pointer;
  const char* value;
  const char* element;
  const char* phrase;
};

const Change kChanges[] = {
    {"/self_collision", "1", "scene", "self_collision must be true or false"},
    {"/defaults/body/ccd", "\"of\"", "scene", "did you mean 'off'?"},
    {"/defaults/shape/margin", "-1", "scene", "defaults.shape.margin is -1; give a length >= 0"},
    {"/bodies/0/ccd", "\"always\"", "body 'can'", "use one of cast, off, speculative"},
    {"/bodies/1/shapes/0/margin", "-1", "shape 'shell' of body 'egg'", "margin is -1; give a length >= 0"},
    {"/bodies/0/shapes/0/radius", "0", "shape 'tin' of body 'can'", "radius is 0; give a number > 0"},
    {"/bodies/0/shapes/0/half_length", "", "shape 'tin' of body 'can'", "key 'half_length' is missing"},
    {"/bodies/0/shapes/0/length", "1", "shape 'tin' of body 'can'", "unknown key 'length'"},
    {"/bodies/1/shapes/0/semi_axes", "[1, 0, 1]", "shape 'shell' of body 'egg'", "give three sizes > 0"},
    {"/bodies/1/shapes/0/semi_axis", "[1, 1, 1]", "shape 'shell' of body 'egg'", "did you mean 'semi_axes'?"},
    {"/bodies/2/shapes/0/points", "", "shape 'point' of body 'wedge'", "has neither points nor file; add \"points\""},
    {"/bodies/2/shapes/0/points/2", "[1, 2]", "shape 'point' of body 'wedge'",
     "points[2] must be an array of 3 numbers"},
    {"/bodies/2/shapes/0/points/2/1", "null", "shape 'point' of body 'wedge'", "points[2] must be"},
    {"/bodies/2/shapes/0/points/3", "[1, 1, 0]", "shape 'point' of body 'wedge'", "the points lie in a plane"},
    {"/bodies/2/shapes/0/points/3", "[1e9, 1, 0]", "shape 'point' of body 'wedge'", "check the unit of length"},
    {"/bodies/2/shapes/0/points", "[[0, 0, 0]]", "shape 'point' of body 'wedge'", "give at least four"},
    {"/bodies/2/shapes/0/file", "\"a.stl\"", "shape 'point' of body 'wedge'", "points is given together with file"},
    {"/bodies/2/shapes/0/scale", "2", "shape 'point' of body 'wedge'", "scale goes with file"},
    {"/bodies/2/shapes/0/flip", "true", "shape 'point' of body 'wedge'", "unknown key 'flip'"},
    {"/bodies/2/recenter", "false", "body 'wedge'", "set \"recenter\": true, or add [-0.25, -0.25, -0.25] to the"},
    {"/bodies/2/recenter", "1", "body 'wedge'", "recenter must be true or false"},
    {"/bodies/3/shapes/0/vertices", "", "shape 'corner' of body 'block'", "use indices from 0"},
    {"/bodies/3/shapes/0/triangles", "[]", "shape 'corner' of body 'block'", "give at least one"},
    {"/bodies/3/shapes/0/triangles/0", "[0, 1, 9]", "shape 'corner' of body 'block'", "use indices from 0 to 3"},
    {"/bodies/3/shapes/0/triangles/0", "[0, 1, -1]", "shape 'corner' of body 'block'",
     "triangles[0] must be an array of 3 vertex numbers; write it like [0, 1, 2]"},
    {"/bodies/3/shapes/0/triangles/0", "[0, 1, 1.5]", "shape 'corner' of body 'block'", "triangles[0] must be"},
    {"/bodies/3/shapes/0/triangles/0", "", "shape 'corner' of body 'block'", "the mesh is not closed"},
    {"/bodies/3/shapes/0/flip", "true", "shape 'corner' of body 'block'", "inside out"},
    {"/bodies/3/shapes/0/mass_from", "\"hul\"", "shape 'corner' of body 'block'", "did you mean 'hull'?"},
    {"/bodies/3/shapes/0/file", "\"a.stl\"", "shape 'corner' of body 'block'", "vertices is given together with file"},
    {"/bodies/3/shapes/1/same_as", "\"korner\"", "shape 'copy' of body 'block'", "did you mean 'corner'?"},
    {"/bodies/3/shapes/1/same_as", "\"copy\"", "shape 'copy' of body 'block'", "which is no mesh before this shape"},
    {"/bodies/3/shapes/1/same_as", "\"point\"", "shape 'copy' of body 'block'", "which is no mesh before this shape"},
    {"/bodies/3/shapes/1/vertices", "[]", "shape 'copy' of body 'block'", "unknown key 'vertices'"},
    {"/bodies/4/shapes/0/children", "[]", "shape 'tool' of body 'hammer'", "needs at least one child"},
    {"/bodies/4/shapes/0/children/1/radius", "-1", "shape 'tool' of body 'hammer', child 1", "give a number > 0"},
    {"/bodies/4/shapes/0/children/1/type", "\"plane\"", "shape 'tool' of body 'hammer', child 1",
     "a plane cannot be part of a compound"},
    {"/bodies/4/shapes/0/children/1/type", "\"compound\"", "shape 'tool' of body 'hammer', child 1",
     "a compound cannot be part of a compound"},
    {"/bodies/4/shapes/0/children/1/type", "\"cilinder\"", "shape 'tool' of body 'hammer', child 1",
     "did you mean 'cylinder'?"},
    {"/bodies/4/shapes/0/children/1/material", "\"default\"", "shape 'tool' of body 'hammer', child 1",
     "unknown key 'material'"},
    {"/bodies/4/shapes/0/children/0/name", "\"head\"", "shape 'tool' of body 'hammer', child 0",
     "name belongs to whole shapes"},
    {"/bodies/4/shapes/0/children/0", "5", "shape 'tool' of body 'hammer', child 0", "must be an object"},
    {"/bodies/4/shapes/0/children/0/pose", R"({"p": [0, 0, 1]})", "body 'hammer'", "set \"recenter\": true"},
    {"/world_shapes/0/columns", "", "world shape 'hills'", "key 'columns' is missing"},
    {"/world_shapes/0/columns", "1", "world shape 'hills'", "columns is 1; give a whole number from 2"},
    {"/world_shapes/0/columns", "2.5", "world shape 'hills'", "columns is 2.5; give a whole number"},
    {"/world_shapes/0/columns", "4", "world shape 'hills'", "height"},
    {"/world_shapes/0/heights", "", "world shape 'hills'", "key 'heights' is missing"},
    {"/world_shapes/0/heights/3", "\"x\"", "world shape 'hills'", "heights[3] is not made of numbers"},
    {"/world_shapes/0/spacing", "[1, 0]", "world shape 'hills'", "; "},
    {"/world_shapes/0/spacing", "1", "world shape 'hills'", "spacing must be an array of 2 numbers"},
    {"/world_shapes/1/heights/1", "[1, 2]", "world shape 'dunes'", "give rows of equal length"},
    {"/world_shapes/1/heights/1/0", "true", "world shape 'dunes'", "heights[1] is not made of numbers"},
    {"/world_shapes/1/rows", "3", "world shape 'dunes'", "; "},
};

class MalformedShapes : public ::testing::TestWithParam<Change> {};

TEST_P(MalformedShapes, NamesElementAndRemedy) {
  const Change& change = GetParam();
  json scene = json::parse(test::kShapesScene);
  if (*change.value != '\0') {
    scene[json::json_pointer(change.pointer)] = json::parse(change.value);
  } else {
    scene = scene.patch({{{"op", "remove"}, {"path", change.pointer}}});
  }
  try {
    parse_scene(scene.dump(), "bad.json");
    ADD_FAILURE() << "loaded " << change.pointer << " = " << change.value;
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find("bad.json: " + std::string(change.element) + ": "), 0u) << what;
    EXPECT_NE(what.find(change.phrase), std::string::npos) << "expected '" << change.phrase << "' in: " << what;
    EXPECT_NE(what.find("; "), std::string::npos) << "no remedy: " << what;
  }
}
INSTANTIATE_TEST_SUITE_P(All, MalformedShapes, ::testing::ValuesIn(kChanges));

TEST_F(SceneShapes, FieldsAndPlanesBelongToTheWorld) {
  const json field = {{"name", "f"}, {"type", "height_field"}, {"spacing", {1, 1}}, {"heights", {{0, 0}, {0, 0}}}};
  const std::string what = error_of(scene_with(field));
  EXPECT_NE(what.find("shape 'f' of body 'body': a height_field can only belong to the world; move it to"),
            std::string::npos)
      << what;
}

TEST_F(SceneShapes, MeshFileErrorsNameSceneShapeAndFile) {
  const auto expect = [&](const json& shape, const std::vector<std::string>& phrases) {
    const std::string what = error_of(scene_with(shape));
    EXPECT_EQ(what.find((folder_ / "scene.json").string() + ": shape 's' of body 'body'"), 0u) << what;
    for (const std::string& p : phrases) EXPECT_NE(what.find(p), std::string::npos) << "no '" << p << "' in " << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  };
  const auto mesh = [](const std::string& file) { return json{{"name", "s"}, {"type", "mesh"}, {"file", file}}; };
  expect(mesh("none.stl"), {(folder_ / "none.stl").string(), "does not exist; check the path"});
  expect(mesh("parts"), {"extension '' is not", ".stl, .obj or .dae"});
  write("a.ply", "ply");
  expect(mesh("a.ply"), {"extension '.ply'", "give an .stl, .obj or .dae file"});
  write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
  expect(mesh("open.obj"), {"open.obj: the mesh is not closed", "\"mass_from\": \"hull\""});
  write("inverted.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
  expect(mesh("inverted.obj"), {"inverted.obj: the mesh is inside out", "\"flip\": true"});
  json flipped = mesh("inverted.obj");
  flipped["flip"] = true;
  EXPECT_NEAR(load(scene_with(flipped)).bodies()[0].mass, 2.0 / 6, 1e-12);
  write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  expect({{"name", "s"}, {"type", "hull"}, {"file", "flat.obj"}}, {"flat.obj: ", "give at least four"});
  json scaled = mesh("inverted.obj");
  scaled["scale"] = {1, 0, 1};
  expect(scaled, {"scale has a factor 0; give factors other than 0"});
  scaled["scale"] = "big";
  expect(scaled, {"scale must be an array of 3 numbers"});
  json child = {{"name", "s"}, {"type", "compound"}, {"children", {{{"type", "mesh"}, {"file", "open.obj"}}}}};
  expect(child, {", child 0, file ", "open.obj: the mesh is not closed"});
}

TEST_F(SceneShapes, RecenterNeedsAMassFromShapes) {
  json scene = scene_with({{"type", "box"}, {"half_extents", {1, 1, 1}}, {"pose", {{"p", {1, 0, 0}}}}});
  scene["bodies"][0].erase("density");
  scene["bodies"][0]["mass"] = 2;
  EXPECT_LT((load(scene).bodies()[0].X_WB0.p - Vec3(1, 0, 0)).norm(), 1e-15);
  scene["bodies"][0]["inertia"] = {1, 1, 1};
  const std::string what = error_of(scene);
  EXPECT_NE(what.find("recenter takes the centre of mass from the shapes, but the inertia is given; remove one"),
            std::string::npos)
      << what;
}

// Any value in the place of any other must be loaded or refused, never crash.
TEST_F(SceneShapes, WrongValuesAnywhereAreInputErrors) {
  const json scene = json::parse(test::kShapesScene);
  std::set<std::string> places;
  const json flat = scene.flatten();
  for (const auto& [path, value] : flat.items()) {
    for (json::json_pointer p(path); !p.empty(); p.pop_back()) places.insert(p.to_string());
  }
  for (const std::string& place : places) {
    for (const char* value : {"null", "true", "-1", "3", "1e308", "1e-320", "\"\"", "\"mesh\"", "\"hull\"", "[]", "{}",
                              "[[]]", "[1,2,3]"}) {
      json changed = scene;
      changed[json::json_pointer(place)] = json::parse(value);
      try {
        parse_scene(changed.dump(), "bad.json");
      } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::scene_shapes_test
