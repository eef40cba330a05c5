// Containers for the tests of the page in viewer/test: a scene and a motion with every kind of part, joint and section,
// and what their sections hold, as JSON. To write them anew after the format has changed:
//   SARRUS_WRITE_FIXTURES=1 build/release/tests/view_test --gtest_filter='Fixtures.*'
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sarrus/files/whole_file.h"
#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/view/motion_payload.h"
#include "view/decode.h"

namespace sarrus::fixtures_test {
namespace {

namespace fs = std::filesystem;

const view::RunFacts kFacts{0.001, "cascade", "moreau", 1e-9, 1e-3, "0.1.0"};

// A four-bar with a rope, a ball, a slider geared to its crank and a combination; names that want to be more than text.
Model fixture_model() {
  ModelBuilder b("</script><img src=x onerror=alert(1)>");
  const auto bar = [&](const char* name, double x, double z) {
    return b.add_box_body(name, 1.5, Vec3(0.25, 0.02, 0.03), {Vec3(x, 0, z)});
  };
  const int crank = bar("</script><script>alert(\"crank\")</script>", 0.25, 1);
  const int coupler = bar("\xE2\x80\xAE\xE2\x81\xA6 right to left", 0.75, 1);
  const int rocker = bar("'quote\" & <b>bold</b> \x01\n\t", 1.25, 1);
  const int ball = b.add_sphere_body(std::string("no UTF-8 \xff\xfe"), 0.5, 0.1, {Vec3(2, 0, 1)});
  const int slide = b.add_box_body("slide", 2, Vec3(0.1, 0.1, 0.1), {Vec3(0, 1, 1)});
  const Quat y = frame_with_x(Vec3::UnitY());
  b.add_joint_at("crank", JointType::revolute, kWorld, crank, Vec3(0, 0, 1), y);
  b.add_joint_at("knee", JointType::revolute, crank, coupler, Vec3(0.5, 0, 1), y);
  b.add_joint_at("ankle", JointType::revolute, coupler, rocker, Vec3(1, 0, 1), y);
  b.add_joint_at("ground", JointType::revolute, kWorld, rocker, Vec3(1.5, 0, 1), y);
  b.add_joint_at("ball", JointType::spherical, rocker, ball, Vec3(1.9, 0, 1), Quat::Identity());
  b.add_joint_at("slide", JointType::prismatic, kWorld, slide, Vec3(0, 1, 1), Quat::Identity());
  b.dof(0).drive.mode = DriveMode::position;
  b.dof(0).drive.kp = 10;
  b.dof(0).drive.effort_limit = 5;
  b.dof(0).drive.name = "<motor>";
  b.dof(0).limit = {.lower = -1.5, .upper = 2.5};
  b.add_geom(kWorld, Shape::plane(), {}, 0, "floor");
  Geom coloured;
  coloured.name = "cap";
  coloured.body = ball;
  coloured.shape = Shape::capsule(0.05, 0.1);
  coloured.colour = Colour{0.2, 0.4, 0.6, 0.5};
  b.add_geom(coloured);
  const std::vector<Vec3> corners = {Vec3(0, 0, 0), Vec3(0.2, 0, 0), Vec3(0, 0.2, 0), Vec3(0, 0, 0.2)};
  b.add_geom(slide, Shape::convex(ConvexHull::build(corners, "fixture")));
  return b.build();
}

// Polynomials and roots alone, so that every machine has the same digits.
view::Motion fixture_motion(const view::Scene& scene) {
  const view::Layout layout(scene);
  view::Motion motion(layout);
  constexpr int kFrames = 12;
  for (int i = 0; i < kFrames; ++i) {
    const double t = 0.125 * i;
    view::Frame f;
    f.time = t;
    f.interval = i == 0 ? 0 : 0.125;
    f.steps = i == 0 ? 0 : 125;
    f.row.assign(layout.size(), 0.0);
    for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
      double* p = f.row.data() + layout.first(view::Column::position) + 3 * b;
      p[0] = t * t - static_cast<double>(b);
      p[1] = 0.25 * t;
      p[2] = 1;  // constant: exact
      double* q = f.row.data() + layout.first(view::Column::quaternion) + 4 * b;
      const double turn = (i % 2 == 0 ? 1 : -1) * (0.125 * i + 0.0625 * static_cast<double>(b));
      const double norm = std::sqrt(1 + turn * turn);
      const double sign = i % 3 == 0 ? -1 : 1;  // the encoder makes them continuous
      q[0] = sign / norm;
      q[2] = sign * turn / norm;
    }
    for (std::size_t k = layout.first(view::Column::coordinates); k < layout.first(view::Column::joint_gap); ++k) {
      f.row[k] = static_cast<double>(k % 5) * t * (2 - t);
    }
    for (std::size_t k = layout.first(view::Column::joint_gap); k < layout.size(); ++k) {
      f.row[k] = k % 4 == 0 ? 0 : 1e-12 * static_cast<double>((i + 1) * static_cast<int>(k % 7));
    }
    for (int c = 0; c < i % 3; ++c) {
      view::FrameContact contact;
      contact.geom_a = 0;
      contact.geom_b = 1 + c;
      contact.point = Vec3(0.1 * i, 0.2 * c, 0);
      contact.normal = Vec3(0, 0, 1);
      contact.impulse_W = f.interval * Vec3(c, 0, 10 + i);
      contact.gap = -1e-5 * i;
      contact.mu = 0.5;
      contact.mode = static_cast<ContactMode>((i + c) % 4);
      f.contacts.push_back(contact);
    }
    f.natural_map = 1e-9 * i;
    f.error = 1e-10 * i;
    f.joint_gap = 1e-12 * i;
    f.joint_angle = 2e-12 * i;
    f.penetration = 1e-5 * i;
    f.limit_violation = 0;
    f.iterations = static_cast<std::uint32_t>(3 * i);
    f.status = i == 0 ? view::kNoStep : static_cast<std::uint8_t>(i % 4);
    f.kinetic = t;
    f.potential = 20 - t;
    f.work_in = 0.5 * t;
    f.dissipated = 0.25 * t;
    f.unaccounted = 1e-9 * i;
    motion.add(std::move(f));
  }
  motion.end("failed", "joint '</script>' would open");
  return motion;
}

nlohmann::json expected_of(const test::Decoded& d) {
  nlohmann::json out = {{"header", d.header}, {"sections", nlohmann::json::object()}};
  for (const auto& [name, values] : d.sections) {
    out["sections"][name] = {{"shape", d.shapes.at(name)}, {"values", values}};
  }
  return out;
}

void expect_fixture(const std::string& name, const std::string& payload) {
  const fs::path folder = fs::path(SARRUS_SOURCE_DIR) / "viewer" / "test" / "fixtures";
  const fs::path container = folder / (name + ".srv1.gz");
  const fs::path json = folder / (name + ".json");
  const nlohmann::json expected = expected_of(test::decode(payload));
  if (std::getenv("SARRUS_WRITE_FIXTURES") != nullptr) {
    fs::create_directories(folder);
    std::ofstream(container, std::ios::binary) << payload;
    std::ofstream(json) << expected.dump() << '\n';
  }
  // The bytes of gzip may differ from version to version of zlib; what is in them may not.
  EXPECT_EQ(test::inflate(read_file(container, "a fixture")), test::inflate(payload))
      << "the format has changed: write the fixtures anew, as said in tests/view/fixtures_test.cpp";
  EXPECT_EQ(nlohmann::json::parse(read_file(json, "a fixture")), expected);
}

TEST(Fixtures, OfThePageAreWhatIsWritten) {
  const Model model = fixture_model();
  const view::Scene scene = view::scene_of(model, State::initial(model).X_WB);
  expect_fixture("scene", view::scene_payload(scene, kFacts));
  expect_fixture("motion", view::motion_payload(scene, kFacts, fixture_motion(scene)));
}

}  // namespace
}  // namespace sarrus::fixtures_test
