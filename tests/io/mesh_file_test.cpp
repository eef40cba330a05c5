// Mesh files: what is read, and that damaged, huge or foreign files give one message with a remedy.
#include "sarrus/scene_files/mesh_file.h"
#include "effort.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "io/shape_test_data.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/error.h"

namespace sarrus::mesh_file_test {
namespace {

namespace fs = std::filesystem;
using test::Surface;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::string text_stl(const Surface& s) {
  std::string out = "solid part of a test\n";
  for (const auto& t : s.triangles()) {
    out += "  facet normal 0 0 0\n    outer loop\n";
    for (const int v : t) {
      const Vec3& p = s.vertices[static_cast<std::size_t>(v)];
      out += fmt::format("      vertex {:.9g} {:.9e} {:.9g}\n", p.x(), p.y(), p.z());
    }
    out += "    endloop\n  endfacet\n";
  }
  return out + "endsolid part of a test\n";
}

void put(std::string& out, std::uint32_t x) {
  for (int k = 0; k < 4; ++k) out += static_cast<char>(x >> 8 * k & 0xFF);
}

// The header may begin like a text file.
std::string binary_stl(const Surface& s, std::string header = "solid exported") {
  std::string out = header;
  out.resize(80, ' ');
  const auto triangles = s.triangles();
  put(out, static_cast<std::uint32_t>(triangles.size()));
  for (const auto& t : triangles) {
    out.append(12, '\0');
    for (const int v : t) {
      for (const double x : s.vertices[static_cast<std::size_t>(v)]) {
        put(out, std::bit_cast<std::uint32_t>(static_cast<float>(x)));
      }
    }
    out.append(2, '\0');
  }
  return out;
}

// With all that such a file may have besides.
std::string obj(const Surface& s) {
  std::string out = "# a part\nmtllib none.mtl\no part\nv 9 9 9\n";
  for (const Vec3& p : s.vertices) out += fmt::format("v {:.9g} {:.9g} {:.9g} # vertex\n", p.x(), p.y(), p.z());
  out += "vn 0 0 1\nvt 0 0\ng group\nusemtl steel\ns off\nl 2 3\np 4\n";
  const auto n = static_cast<int>(s.vertices.size());
  for (std::size_t i = 0; i < s.faces.size(); ++i) {
    out += "f";
    for (const int v : s.faces[i]) {
      const int number = v + 2;
      out += i % 4 == 0   ? fmt::format(" {}", number)
             : i % 4 == 1 ? fmt::format(" {}//1", number)
             : i % 4 == 2 ? fmt::format(" {}/1/1", number)
                          : fmt::format(" \\\n {}", number - n - 2);
    }
    out += "\n";
  }
  return out;
}

// Positions interleaved with a number more, normals, one node with the transform.
std::string dae(const Surface& s, const std::string& nodes, const std::string& unit = "") {
  std::string positions;
  for (const Vec3& p : s.vertices) positions += fmt::format("7 {:.9g} {:.9g} {:.9g} ", p.x(), p.y(), p.z());
  std::string counts;
  std::string indices;
  for (const auto& face : s.faces) {
    counts += fmt::format("{} ", face.size());
    for (const int v : face) indices += fmt::format("0 {} ", v);
  }
  return fmt::format(R"(<?xml version="1.0" encoding="utf-8"?>
<!-- a part --><!DOCTYPE COLLADA>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset>{5}<up_axis>Z_UP</up_axis></asset>
  <library_effects><effect id="e"><profile_COMMON/></effect></library_effects>
  <library_geometries>
    <geometry id="part"><mesh>
      <source id="n"><float_array id="na" count="3">0 0 1</float_array><technique_common>
        <accessor source="#na" count="1" stride="3"><param name="X" type="float"/></accessor></technique_common></source>
      <source id="p"><float_array id="pa" count="{0}">{1}</float_array><technique_common>
        <accessor source="#pa" count="{2}" stride="4"><param type="float"/><param name="X" type="float"/>
          <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
      <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
      <lines count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></lines>
      <polylist count="{3}"><input semantic="NORMAL" source="#n" offset="0"/>
        <input semantic="VERTEX" source="#v" offset="1"/><vcount>{4}</vcount><p>{6}</p></polylist>
    </mesh></geometry>
  </library_geometries>
  <library_nodes><node id="pair"><translate>0 10 0</translate><instance_geometry url="#part"/></node></library_nodes>
  <library_visual_scenes><visual_scene id="scene">{7}</visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
)",
                     4 * s.vertices.size(), positions, s.vertices.size(), s.faces.size(), counts, unit, indices, nodes);
}

const char* const kPlainNode = R"(<node><instance_geometry url="#part"/></node>)";

class MeshFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("sarrus_mesh_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  MeshFile load(const std::string& name, const std::string& bytes, const MeshFileOptions& options = {}) const {
    return load_mesh_file(write(name, bytes), options);
  }
  // The message for the file, "" if it loads.
  static std::string error_of(const fs::path& file) {
    try {
      load_mesh_file(file);
      return "";
    } catch (const InputError& error) {
      EXPECT_EQ(error.element(), file.string());
      return error.what();
    }
  }
  void expect_error(const std::string& name, const std::string& bytes, const std::string& phrase) const {
    const std::string what = error_of(write(name, bytes));
    EXPECT_NE(what.find(phrase), std::string::npos) << "expected '" << phrase << "' in: " << what;
    EXPECT_NE(what.find("; "), std::string::npos) << "no remedy: " << what;
  }

  fs::path folder_;
};

MassProperties solid_of(const MeshFile& m) {
  return TriangleMesh::build(m.vertices, m.triangles, "test")->mass_properties("test");
}

// The L: volume 3 and a known centre, in whichever order vertices and triangles come.
void expect_l(const MeshFile& m, const Vec3& by = Vec3::Zero()) {
  EXPECT_EQ(m.vertices.size(), 12u);
  EXPECT_EQ(m.triangles.size(), 20u);
  const MassProperties solid = solid_of(m);
  EXPECT_NEAR(solid.volume, 3, 1e-6);
  EXPECT_LT((solid.centre - by - Vec3(2.5 / 3, 0.5, 2.5 / 3)).norm(), 1e-6);
}

Surface l_of_triangles() {
  Surface s = test::l_surface();
  s.faces.clear();
  for (const auto& t : test::l_triangles()) s.faces.push_back({t[0], t[1], t[2]});
  return s;
}

TEST_F(MeshFileTest, ReadsEveryFormat) {
  expect_l(load("text.stl", text_stl(l_of_triangles())));
  expect_l(load("binary.STL", binary_stl(l_of_triangles())));
  expect_l(load("binary2.stl", binary_stl(l_of_triangles(), "COLOR=red")));
  // The six-cornered faces of the L are not convex: a fan would be wrong.
  expect_l(load("polygons.obj", obj(test::l_surface())));
  expect_l(load("polygons.dae", dae(test::l_surface(), kPlainNode)));
}

TEST_F(MeshFileTest, CoordinatesAreThoseOfTheFile) {
  Surface s = test::box_surface({-0.1, -0.2, -0.3}, {0.1, 0.2, 0.3});
  s.vertices[7] = Vec3(0.123456789, 1e-7, 123.456);
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"a.stl", text_stl(s)}, {"b.stl", binary_stl(s)}, {"c.obj", obj(s)}, {"d.dae", dae(s, kPlainNode)}}) {
    const MeshFile m = load(name, bytes);
    ASSERT_EQ(m.vertices.size(), 8u) << name;
    for (const Vec3& v : s.vertices) {
      double nearest = kInf;
      for (const Vec3& x : m.vertices) nearest = std::min(nearest, (x - v).cwiseAbs().maxCoeff() / v.norm());
      EXPECT_LT(nearest, name == "b.stl" ? 1.2e-7 : 1e-9) << name;  // binary STL has single precision
    }
  }
}

TEST_F(MeshFileTest, ReadsTextOfOtherEditors) {
  std::string stl = text_stl(l_of_triangles());
  std::string shouted = stl;
  std::transform(shouted.begin(), shouted.end(), shouted.begin(), [](unsigned char c) { return std::toupper(c); });
  expect_l(load("upper.stl", shouted));
  expect_l(load("two.stl", "\xEF\xBB\xBF" + stl));
  std::string dos;
  for (const char c : obj(test::l_surface())) dos += c == '\n' ? "\r\n" : std::string(1, c);
  expect_l(load("dos.obj", "\xEF\xBB\xBF" + dos));
  // Normals do not matter, exporters write anything for triangles without area.
  const std::size_t normal = stl.find("normal 0 0 0");
  stl.replace(normal, 12, "normal -nan(ind) 1.#QNAN inf");
  expect_l(load("nan.stl", stl));
  // Several solids in one file.
  const MeshFile both = load("both.stl", text_stl(test::box_surface({0, 0, 0}, {1, 1, 1})) + "\n" +
                                             text_stl(test::box_surface({2, 0, 0}, {3, 1, 1})));
  EXPECT_EQ(both.triangles.size(), 24u);
  EXPECT_EQ(both.vertices.size(), 16u);
}

TEST_F(MeshFileTest, AppliesNodesAndUnitsOfColladaFiles) {
  const Surface l = test::l_surface();
  expect_l(load("moved.dae", dae(l, "<node><translate>1 2 3</translate><instance_geometry url=\"#part\"/></node>")),
           Vec3(1, 2, 3));
  // Outer rotation of the inner translation; the transforms of a node apply from last to first.
  const MeshFile turned = load("nested.dae", dae(l,
                                                 "<node><rotate>0 0 1 90</rotate><node><matrix>1 0 0 1 0 1 0 0 0 0 1 0 "
                                                 "0 0 0 1</matrix><instance_geometry url=\"#part\"/></node></node>"));
  EXPECT_LT((solid_of(turned).centre - Vec3(-0.5, 1 + 2.5 / 3, 2.5 / 3)).norm(), 1e-6);
  // A mirrored node keeps its outside outside.
  const MeshFile mirrored =
      load("mirror.dae", dae(l, "<node><scale>-2 1 1</scale><instance_geometry url=\"#part\"/></node>"));
  EXPECT_NEAR(solid_of(mirrored).volume, 6, 1e-6);
  // Metres, whatever the unit of the file; the up axis is left alone.
  const MeshFile inches = load("inch.dae", dae(l, kPlainNode, "<unit name=\"inch\" meter=\"0.0254\"/>"));
  EXPECT_NEAR(solid_of(inches).volume, 3 * std::pow(0.0254, 3), 1e-11);
  EXPECT_NEAR(inches.vertices[0].norm() + inches.vertices[1].norm(), 2 * 0.0254, 1e-8);
  // One mesh at two places.
  const MeshFile two = load("two.dae", dae(l, std::string(kPlainNode) + "<node><instance_node url=\"#pair\"/></node>"));
  EXPECT_EQ(two.triangles.size(), 40u);
  EXPECT_NEAR(solid_of(two).centre.y(), 5.5, 1e-6);
}

TEST_F(MeshFileTest, ReadsEveryColladaPrimitive) {
  const auto primitive = [&](const std::string& element) {
    std::string text = dae(test::box_surface({0, 0, 0}, {1, 1, 1}), kPlainNode);
    const std::size_t begin = text.find("<polylist");
    const std::string end = "</polylist>";
    text.replace(begin, text.find(end) + end.size() - begin, element);
    return load("primitive.dae", text);
  };
  const std::string input = R"(<input semantic="VERTEX" source="#v"/>)";
  EXPECT_EQ(primitive("<triangles count=\"2\">" + input + "<p>0 1 5 0 5 4</p></triangles>").triangles.size(), 2u);
  EXPECT_EQ(primitive("<polygons count=\"2\">" + input + "<p>0 1 5 4</p><p>0 2 3 1</p></polygons>").triangles.size(),
            4u);
  EXPECT_EQ(primitive("<trifans count=\"1\">" + input + "<p>0 1 5 4</p></trifans>").triangles.size(), 2u);
  const MeshFile strip = primitive("<tristrips count=\"1\">" + input + "<p>0 1 4 5</p></tristrips>");
  ASSERT_EQ(strip.triangles.size(), 2u);
  // Both triangles of a strip face the same way.
  for (const auto& t : strip.triangles) {
    const Vec3& a = strip.vertices[static_cast<std::size_t>(t[0])];
    const Vec3& b = strip.vertices[static_cast<std::size_t>(t[1])];
    const Vec3& c = strip.vertices[static_cast<std::size_t>(t[2])];
    EXPECT_LT(((b - a).cross(c - a) - Vec3(0, -1, 0)).norm(), 1e-12);
  }
}

TEST_F(MeshFileTest, ScalesMirrorsAndFlips) {
  const std::string bytes = binary_stl(l_of_triangles());
  EXPECT_NEAR(solid_of(load("a.stl", bytes, {Vec3(1, 2, 3), false})).volume, 18, 1e-9);
  EXPECT_NEAR(solid_of(load("a.stl", bytes, {Vec3(-1, 2, 3), false})).volume, 18, 1e-9);
  EXPECT_NEAR(solid_of(load("a.stl", bytes, {Vec3(-1, -2, 3), false})).volume, 18, 1e-9);
  EXPECT_NEAR(solid_of(load("a.stl", bytes, {Vec3(-1, -2, -3), false})).volume, 18, 1e-9);
  EXPECT_THROW(solid_of(load("a.stl", bytes, {Vec3::Ones(), true})), InputError);  // inside out
  Surface inverted = l_of_triangles();
  for (auto& f : inverted.faces) std::swap(f[1], f[2]);
  EXPECT_NEAR(solid_of(load("b.stl", binary_stl(inverted), {Vec3(-1, 1, 1), true})).volume, 3, 1e-9);
  for (const double bad : {0.0, std::nan(""), kInf}) {
    EXPECT_THROW(load("a.stl", bytes, {Vec3(1, bad, 1), false}), InputError);
  }
}

TEST_F(MeshFileTest, EqualVerticesAreJoined) {
  Surface s;  // a grid of quads, each with corners of its own
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 30; ++j) {
      const int first = static_cast<int>(s.vertices.size());
      for (const auto& [x, y] : {std::pair(0, 0), {1, 0}, {1, 1}, {0, 1}})
        s.vertices.emplace_back(i + x - 15, j + y, -0.0);
      s.faces.push_back({first, first + 1, first + 2, first + 3});
    }
  }
  for (const MeshFile& m : {load("grid.stl", binary_stl(s)), load("grid.obj", obj(s))}) {
    EXPECT_EQ(m.vertices.size(), 31u * 31u);
    EXPECT_EQ(m.triangles.size(), 2u * 900u);
  }
}

TEST_F(MeshFileTest, RefusesWhatIsNoMeshFile) {
  const auto expect = [](const fs::path& file, const std::string& phrase) {
    const std::string what = error_of(file);
    EXPECT_NE(what.find(phrase), std::string::npos) << what;
  };
  expect(folder_ / "missing.stl", "does not exist; check the path");
  fs::create_directories(folder_ / "folder.stl");
  expect(folder_ / "folder.stl", "is a directory; give the path of a mesh file");
  fs::create_symlink("/dev/zero", folder_ / "zero.stl");
  expect(folder_ / "zero.stl", "not a regular file");
  expect(write("part.step", "x"), "the extension '.step' is not that of a mesh file; give an .stl, .obj or .dae file");
  expect(write("part", "x"), "the extension '' is not");
  expect(write("empty.stl", ""), "is empty; export it again");
  expect(write("empty.obj", ""), "is empty");
  expect(write("empty.dae", ""), "is empty");
  if (::geteuid() != 0) {
    fs::permissions(write("closed.stl", "x"), fs::perms::none);
    expect(folder_ / "closed.stl", "check its permissions");
  }
}

TEST_F(MeshFileTest, RefusesHugeFilesAtOnce) {
  const fs::path file = write("huge.stl", "solid");
  std::error_code error;
  fs::resize_file(file, std::uintmax_t{10} << 30, error);  // sparse
  if (error) GTEST_SKIP() << "the file system holds no file of 10 GB: " << error.message();
  const std::string what = error_of(file);
  EXPECT_NE(what.find("has 10240 MB, more than the limit of 512 MB; simplify"), std::string::npos) << what;
}

TEST_F(MeshFileTest, RefusesDamagedStl) {
  const std::string binary = binary_stl(l_of_triangles(), "exported");
  const std::string text = text_stl(l_of_triangles());
  for (const std::size_t n : {10ul, 83ul, 84ul, 100ul, binary.size() - 1}) {
    expect_error("cut.stl", binary.substr(0, n), n < 84 ? "too few for an STL file" : "is no whole STL file");
  }
  expect_error("long.stl", binary + "x", "need 1084 bytes, it has 1085; export it again");
  std::string many = binary;
  many[83] = '\x7f';  // two thousand million triangles
  expect_error("many.stl", many, "is no whole STL file");
  std::string nan = binary;
  nan.replace(84 + 50 * 7 + 20, 4, std::string("\x00\x00\xc0\x7f", 4));
  expect_error("nan.stl", nan, "triangle 7 has a coordinate that is not finite");
  expect_error("none.stl", binary_stl({}), "has no triangles");
  expect_error("none2.stl", "solid\nendsolid\n", "has no triangles");
  expect_error("cut2.stl", text.substr(0, text.size() / 2), "cut off");
  expect_error("cut3.stl", text.substr(0, text.find("endsolid")), "cut off before 'facet' or 'endsolid'");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string t = text;
    return t.replace(t.find(from), from.size(), to);
  };
  expect_error("word.stl", changed("outer", "inner"), "line 3: 'inner' stands where 'outer' is due");
  expect_error("number.stl", changed("vertex 0", "vertex zero"), "'zero' is not a finite number");
  expect_error("nan2.stl", changed("vertex 0", "vertex nan"), "'nan' is not a finite number");
  expect_error("big.stl", changed("vertex 0", "vertex 1e39"), "'1e39' is not a finite number");
  expect_error("four.stl", changed("    endloop", "      vertex 0 0 0\n    endloop"),
               "'vertex' stands where 'endloop'");
}

TEST_F(MeshFileTest, RefusesDamagedObj) {
  const std::string cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  expect_error("a.obj", cube, "has no triangles");
  expect_error("a.obj", "hello world\n", "has no triangles");
  expect_error("a.obj", cube + "l 1 2\np 1\n", "has no triangles");
  expect_error("a.obj", cube + "f 1 2\n", "has no triangles");
  expect_error("a.obj", cube + "f 1 2 9\n", "line 5: a face has the vertex 9, but the file has 4; export it again");
  expect_error("a.obj", cube + "f 1 2 -5\n", "line 5: a face has the corner '-5', which is no vertex");
  expect_error("a.obj", cube + "f 1 2 0\n", "the corner '0', which is no vertex");
  expect_error("a.obj", cube + "f 1 2 x\n", "the corner 'x', which is no vertex");
  expect_error("a.obj", cube + "f 1 2 99999999999\n", "which is no vertex");
  expect_error("a.obj", cube + "v 1 2\nf 1 2 3\n", "line 5: a vertex has 2 coordinates; export the file again");
  expect_error("a.obj", cube + "v 1 2 nan\nf 1 2 3\n", "line 5: 'nan' is not a finite number");
  expect_error("a.obj", cube + "v 1 2 1,5\nf 1 2 3\n", "'1,5' is not a finite number");
  // Faces may come before their vertices.
  EXPECT_EQ(load("a.obj", "f 1 2 3\n" + cube).triangles.size(), 1u);
}

TEST_F(MeshFileTest, RefusesDamagedCollada) {
  const std::string text = dae(test::l_surface(), kPlainNode);
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& phrase) {
    SCOPED_TRACE(from + " -> " + to);
    std::string t = text;
    ASSERT_NE(t.find(from), std::string::npos);
    expect_error("a.dae", t.replace(t.find(from), from.size(), to), phrase);
  };
  expect_error("a.dae", text.substr(0, text.size() / 2), "line ");
  expect_error("a.dae", "{}", "no Collada file; export it again");
  expect_error("a.dae", "<x/>", "the root element is <x>, not <COLLADA>");
  expect_error("a.dae", "<COLLADA/>", "has no triangles");
  expect_error("a.dae", "<COLLADA/><COLLADA/>", "one root element");
  expect("</mesh>", "", "closes no element");
  expect("<!DOCTYPE COLLADA>", "<!DOCTYPE COLLADA [<!ENTITY a \"b\">]>", "declares names of its own");
  expect("<!-- a part -->", "<!-- a part ", "cut off within a comment");
  expect("stride=\"4\"", "stride=\"40\"", "12 vertices are announced, but there are numbers for 1");
  expect("stride=\"4\"", "stride=\"2\"", "a vertex has 2 numbers, too few");
  expect("stride=\"4\"", "stride=\"-4\"", "'-4' in <accessor> is no index or count");
  expect("count=\"12\" stride", "count=\"13\" stride", "13 vertices are announced, but there are numbers for 12");
  expect("count=\"48\"", "count=\"47\"", "48 numbers are announced as '47'");
  expect("source=\"#pa\"", "source=\"#na\"", "the positions name no source with numbers");
  expect("source=\"#p\"", "source=\"#q\"", "the positions name no source with numbers");
  expect("source=\"#p\"", "source=\"other.dae#p\"", "is no reference within the file");
  expect("POSITION", "POSITIONS", "has no vertices with positions");
  expect("semantic=\"VERTEX\" source=\"#v\" offset=\"1\"", "semantic=\"OTHER\" source=\"#v\" offset=\"1\"",
         "<polylist> has no vertices");
  expect("<vcount>6", "<vcount>7", "do not fill the faces");
  expect("<vcount>6 ", "<vcount>", "<vcount> has no size for face 7");
  expect("<p>0 0", "<p>0 12", "a face has the vertex 12, but the mesh has 12");
  expect("<p>0 0", "<p>0", "for groups of 2");
  expect("<p>0 0", "<p>0 x", "'x' in <p> is no index");
  expect("count=\"8\"><input", "count=\"9\"><input", "8 faces are announced as '9'");
  expect("7 0 0 0", "7 0 0 inf", "'inf' in <float_array> is not a finite number");
  expect("<node><instance_geometry url=\"#part\"", "<node><instance_geometry url=\"#party\"",
         "'#party' names no mesh of this file");
  expect("<node><", "<node><skew>0 0 0 0 0 0 0</skew><", "<skew> is not supported; apply the transforms");
  expect("<node><", "<node><matrix>1 2 3</matrix><", "<matrix> has 3 numbers, not 16");
  expect("<node><instance_geometry", "<node><instance_node url=\"#none\"/><instance_geometry", "names nothing");
  expect("<node><instance_geometry", "<node><instance_controller url=\"#c\"/><instance_geometry", "is rigid");
}

TEST_F(MeshFileTest, RefusesColladaNodesThatContainThemselves) {
  const std::string self = R"(<node id="a"><instance_geometry url="#part"/><instance_node url="#a"/></node>)";
  expect_error("self.dae", dae(test::l_surface(), self), "contain each other");
  // Forty doublings are a million million copies.
  std::string doubling = R"(<node id="n0"><instance_geometry url="#part"/></node>)";
  for (int i = 1; i <= 40; ++i) {
    doubling +=
        fmt::format(R"(<node id="n{0}"><instance_node url="#n{1}"/><instance_node url="#n{1}"/></node>)", i, i - 1);
  }
  expect_error("bomb.dae", dae(test::l_surface(), doubling), "with its instances");
  // Sixteen doublings stay below the bounds of nodes and of meshes, and are 3 kB.
  const std::size_t few = doubling.find(R"(<node id="n17")");
  const std::string small =
      dae(test::l_surface(), doubling.substr(0, few) + R"(<node><instance_node url="#n16"/></node>)");
  EXPECT_LT(small.size(), 5000u);
  expect_error("small_bomb.dae", small, "vertices with its instances, in a file of this size");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<node>";
  expect_error("deep.dae", dae(test::l_surface(), deep), "nested more than 100 deep");
}

// A comb with as many teeth: every second corner is concave.
std::string comb(int teeth) {
  std::string vertices;
  std::string face = "f";
  int n = 0;
  const auto add = [&](double x, double y) {
    vertices += fmt::format("v {} {} 0\n", x, y);
    face += fmt::format(" {}", ++n);
  };
  add(teeth, -1);
  for (int i = teeth; i-- > 0;) {
    add(i + 0.75, 1);
    add(i, 0);
  }
  add(0, -1);
  return vertices + face + "\n";
}

TEST_F(MeshFileTest, CutsConcaveFaces) {
  SARRUS_FULL_SIZE_ONLY();
  for (const int teeth : {1, 2, 3, 50, 300}) {
    const MeshFile m = load("comb.obj", comb(teeth));
    EXPECT_EQ(m.triangles.size(), 2u * static_cast<std::size_t>(teeth));
    double area = 0;
    for (const auto& t : m.triangles) {
      const Vec3& a = m.vertices[static_cast<std::size_t>(t[0])];
      const Vec3& b = m.vertices[static_cast<std::size_t>(t[1])];
      const Vec3& c = m.vertices[static_cast<std::size_t>(t[2])];
      const double part = 0.5 * (b - a).cross(c - a).z();
      EXPECT_GE(part, 0);
      area += part;
    }
    EXPECT_NEAR(area, 1.5 * teeth - 0.125, 1e-9);
  }
  // Each triangle costs a look at all corners: a face of a million would take days.
  expect_error("comb.obj", comb(500'000), "too many corners; cut them into triangles");
}

TEST_F(MeshFileTest, HostileXmlTakesNoTime) {
  std::string attributes = "<COLLADA";
  for (int i = 0; i < 200'000; ++i) attributes += fmt::format(" a{}='>'", i);
  expect_error("a.dae", attributes + "/>", "attributes in one; simplify it");
  std::string elements = "<COLLADA>";
  for (int i = 0; i < 4'000'000; ++i) elements += "<a/>";
  expect_error("a.dae", elements + "</COLLADA>", "has more than 4000000 elements");
  expect_error("a.dae", dae(test::l_surface(), kPlainNode) + std::string(1, '\0'), "bytes that are no text");
}

std::string mutated(std::string bytes, std::mt19937_64& random) {
  const int changes = 1 + static_cast<int>(random() % 4);
  for (int k = 0; k < changes && !bytes.empty(); ++k) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << (random() % 8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, 1 + random() % 8);
        break;
      default:
        bytes.insert(at, bytes.substr(random() % bytes.size(), 1 + random() % 16));
    }
  }
  return bytes;
}

// Whatever the bytes: a mesh that can be built or refused, or one message.
TEST_F(MeshFileTest, RandomDamageGivesAMeshOrAnInputError) {
  const Surface box = test::box_surface({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5});
  const struct {
    const char* name;
    std::string bytes;
    int rounds;
  } files[] = {{"text.stl", text_stl(box), 3000},
               {"binary.stl", binary_stl(box), 3000},
               {"box.obj", obj(box), 3000},
               {"box.dae", dae(box, std::string(kPlainNode) + "<node><instance_node url=\"#pair\"/></node>"), 3000}};
  for (const auto& file : files) {
    std::mt19937_64 random(99);
    int loaded = 0;
    for (int i = 0; i < test::samples(file.rounds); ++i) {
      const fs::path path = write(file.name, mutated(file.bytes, random));
      try {
        const MeshFile m = load_mesh_file(path);
        ++loaded;
        EXPECT_FALSE(m.triangles.empty());
        for (const Vec3& v : m.vertices) ASSERT_TRUE(v.allFinite());
        TriangleMesh::build(m.vertices, m.triangles, "mutated");
      } catch (const InputError& error) {
        const std::string what = error.what();
        EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      }
    }
    EXPECT_GT(loaded, 0) << file.name;
    EXPECT_LT(loaded, test::samples(file.rounds)) << file.name;
  }
}

TEST_F(MeshFileTest, CutAnywhereGivesAMeshOrAnInputError) {
  const Surface box = test::box_surface({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5});
  const auto cut = [&](const std::string& name, const std::string& bytes, std::size_t last_needed) {
    for (std::size_t n = 1; n + last_needed < bytes.size(); n += 7) {
      EXPECT_NE(error_of(write(name, bytes.substr(0, n))), "") << name << " cut to " << n;
    }
  };
  cut("cut.stl", text_stl(box), 30);  // the name after endsolid may be missing
  cut("cut2.stl", binary_stl(box), 0);
  cut("cut.dae", dae(box, kPlainNode), 3);
}

// Nothing may be written to the terminal.
TEST_F(MeshFileTest, IsQuiet) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  load("l.obj", obj(test::l_surface()));
  load("l.dae", dae(test::l_surface(), kPlainNode));
  error_of(write("bad.obj", "f 1 2 3\n"));
  error_of(write("bad.dae", "<COLLADA>"));
  EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
}

// Every mesh of the robots beside the repository, if they are there.
TEST_F(MeshFileTest, ReadsTheMeshesOfRobots) {
  const fs::path data = fs::path(SARRUS_SOURCE_DIR).parent_path() / "shared" / "data";
  if (!fs::is_directory(data)) GTEST_SKIP() << "there is no " << data;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    std::string extension = entry.path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (extension != ".stl" && extension != ".obj" && extension != ".dae") continue;
    EXPECT_EQ(error_of(entry.path()), "");
    ++files;
  }
  if (files == 0) GTEST_SKIP() << "there are no meshes in " << data;
}

}  // namespace
}  // namespace sarrus::mesh_file_test
