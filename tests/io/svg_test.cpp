// The SVG strip: well-formed, finite, complete; and the geometry behind it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "io/shape_test_data.h"
#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/builder.h"
#include "sarrus/recording/svg_drawing.h"
#include "sarrus/recording/svg_strip.h"

namespace sarrus::svg_test {
namespace {

// A four-bar of bodies without shapes in the x-z plane, a box <&> a capsule and a ball on a floor.
Model mixed_model() {
  ModelBuilder b("mixed <&> \"quoted\"");
  b.add_floor();
  const Mat3 I = 0.01 * Mat3::Identity();
  const Quat axis_y(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitZ()));
  const int crank = b.add_body("crank <1>", 1, I, {{0, 0, 0.75}});
  const int rod = b.add_body("rod", 1, I, {{0.5, 0, 1}});
  const int rocker = b.add_body("rocker", 1, I, {{1, 0, 0.75}});
  b.add_joint_at("a", JointType::revolute, kWorld, crank, {0, 0, 0.5}, axis_y);
  b.add_joint_at("b", JointType::revolute, crank, rod, {0, 0, 1}, axis_y);
  b.add_joint_at("c", JointType::revolute, rod, rocker, {1, 0, 1}, axis_y);
  b.add_joint_at("d", JointType::revolute, kWorld, rocker, {1, 0, 0.5}, axis_y);
  b.add_box_body("box", 1, {0.1, 0.1, 0.1}, {{-0.5, 0, 0.1}});
  b.add_capsule_body("capsule", 1, 0.05, 0.1, {{-0.5, 0, 0.5}, axis_y});
  b.add_sphere_body("ball", 1, 0.1, {{1.5, 0, 0.1}});
  return b.build();
}

State moved(const Model& model, double time, const Vec3& by) {
  State s = State::initial(model);
  s.time = time;
  for (Pose& X : s.X_WB) X.p += by;
  return s;
}

RunSummary summary_of(const Model& model) {
  RunInfo info;
  info.scene = model.name();
  info.options.dt = 0.01;
  info.options.integrator = Integrator::semi_implicit;
  return RunSummary(info, State::initial(model), {});
}

std::string strip(const Model& model, const Vec3& velocity, bool contacts, int frames = 6,
                  SvgViewpoint viewpoint = SvgViewpoint::chosen) {
  SvgStrip svg(model, 0, 1, {frames, viewpoint});
  const std::vector<Contact> points(2);
  const std::vector<Vec3> impulses = {Vec3(0, 0, 1), Vec3::Zero()};
  for (int i = 0; i <= 100; ++i) {
    const double t = 0.01 * i;
    const State s = moved(model, t, velocity * t);
    if (contacts) {
      svg.observe(s, points, impulses);
    } else {
      svg.observe(s, {}, {});
    }
  }
  return svg.to_svg(summary_of(model));
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// Checks that every tag is closed in order and that text and attributes hold no stray markup.
testing::AssertionResult well_formed(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while ((at = xml.find('<', at)) != std::string::npos) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return testing::AssertionFailure() << "unclosed tag at " << at;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return testing::AssertionFailure() << "'<' inside " << tag;
    if (count(tag, "\"") % 2 != 0) return testing::AssertionFailure() << "odd quotes in " << tag;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return testing::AssertionFailure() << "stray </" << tag;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
    at = end;
  }
  for (std::size_t amp = xml.find('&'); amp != std::string::npos; amp = xml.find('&', amp + 1)) {
    const std::string entity = xml.substr(amp, xml.find(';', amp) - amp + 1);
    if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
      return testing::AssertionFailure() << "bad entity " << entity;
    }
  }
  if (!open.empty()) return testing::AssertionFailure() << "not closed: " << open.back();
  return testing::AssertionSuccess();
}

void expect_sound(const std::string& svg) {
  EXPECT_TRUE(well_formed(svg));
  for (const char* bad : {"nan", "inf", "NaN"}) EXPECT_EQ(svg.find(std::string(bad)), std::string::npos) << bad;
}

TEST(SvgStrip, IsWellFormedWithAllMarks) {
  const std::string svg = strip(mixed_model(), {0.3, 0, 0}, true);
  expect_sound(svg);
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  EXPECT_NE(svg.find("viewBox="), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"frame\""), 6);
  // One contact of two carries an impulse, one joint of four closes the loop; the legend shows each once more.
  EXPECT_EQ(count(svg, "class=\"contact\""), 6 + 1);
  EXPECT_EQ(count(svg, "class=\"loop-joint\""), 6 + 1);
  EXPECT_EQ(count(svg, "class=\"joint\""), 6 * 3);
  EXPECT_EQ(count(svg, "class=\"plane\""), 6);
  EXPECT_EQ(count(svg, "class=\"trail\""), 5);  // there is no path yet in the first frame
  EXPECT_NE(svg.find("t = 0.20 s"), std::string::npos);
  EXPECT_NE(svg.find("worst joint gap"), std::string::npos);
}

TEST(SvgStrip, DrawsAsManyFramesAsAsked) {
  EXPECT_EQ(count(strip(mixed_model(), {0.3, 0, 0}, false, 9), "class=\"frame\""), 9);
}

TEST(SvgStrip, FollowsLongTravelWithTicks) {
  EXPECT_EQ(count(strip(mixed_model(), {0.3, 0, 0}, false), "class=\"tick\""), 0);
  ModelBuilder b("rolling");
  b.add_floor();
  b.add_sphere_body("ball", 1, 0.1, {{0, 0, 0.1}});
  const std::string svg = strip(b.build(), {10, 0, 0}, false);
  expect_sound(svg);
  EXPECT_GE(count(svg, "class=\"tick\""), 6);
}

// Whatever the travel, every tick has its number.
TEST(SvgStrip, HasNoTickWithoutItsLabel) {
  ModelBuilder b("rolling");
  b.add_floor();
  b.add_sphere_body("ball", 1, 0.1, {{0, 0, 0.1}});
  for (double travel = 1; travel < 40; travel *= 1.17) {
    for (const Vec3& direction : {Vec3(1, 0, 0), Vec3(0.7, 0, 0.7), Vec3(0, 0, 1)}) {
      const std::string svg = strip(b.build(), travel * direction, false);
      EXPECT_EQ(count(svg, "class=\"tick\""), count(svg, "class=\"tick-label\"")) << travel;
    }
  }
}

// Only an oblique view shows the rim of a cylinder besides its outline.
TEST(SvgStrip, DrawsTheNearRimOfACylinder) {
  ModelBuilder b("can");
  b.add_solid("can", 1, Shape::cylinder(0.1, 0.2), {});
  for (const auto& [viewpoint, rims] :
       {std::pair(SvgViewpoint::front, 0), std::pair(SvgViewpoint::top, 0), std::pair(SvgViewpoint::iso, 3)}) {
    EXPECT_EQ(count(strip(b.build(), {0.1, 0, 0}, false, 3, viewpoint), "class=\"rim\""), rims);
  }
}

TEST(SvgStrip, IsSeenFromWhereAsked) {
  struct Case {
    const char* name;
    const char* label;
    Vec3 right, up;
  };
  const double s2 = std::sqrt(0.5);
  const double s6 = std::sqrt(1.0 / 6);
  const Case cases[] = {{"front", "front view, x right, z up", Vec3::UnitX(), Vec3::UnitZ()},
                        {"side", "side view, y right, z up", Vec3::UnitY(), Vec3::UnitZ()},
                        {"top", "view from above, x right, y up", Vec3::UnitX(), Vec3::UnitY()},
                        {"iso", "isometric view", Vec3(s2, s2, 0), Vec3(-s6, s6, 2 * s6)}};
  for (const Case& c : cases) {
    const SvgViewpoint viewpoint = svg_viewpoint_from_name(c.name);
    const svg::View view = svg::view_from(viewpoint);
    EXPECT_LT((view.right - c.right).norm() + (view.up - c.up).norm(), 1e-12) << c.name;
    const std::string drawing = strip(mixed_model(), {0.3, 0, 0}, true, 3, viewpoint);
    expect_sound(drawing);
    EXPECT_EQ(count(drawing, "class=\"frame\""), 3);
    EXPECT_NE(drawing.find(c.label), std::string::npos) << c.name;
  }
  EXPECT_EQ(svg_viewpoint_from_name("auto"), SvgViewpoint::chosen);
  EXPECT_THROW(svg_viewpoint_from_name("fornt"), InputError);
}

TEST(SvgStrip, EndsWithTheLastStateOfARunThatStoppedEarly) {
  const Model model = mixed_model();
  SvgStrip strip(model, 0, 10);
  strip.observe(moved(model, 0, Vec3::Zero()), {}, {});
  strip.finish(moved(model, 0.7, Vec3::Zero()));
  const std::string svg = strip.to_svg(summary_of(model));
  expect_sound(svg);
  EXPECT_EQ(count(svg, "class=\"frame\""), 2);
  EXPECT_NE(svg.find("t = 0.7 s"), std::string::npos);
}

// Six frames of 241 samples of a cube whose position along x is f(share of the time).
template <class F>
std::vector<double> chosen_times(F f) {
  ModelBuilder b("cubes");
  b.add_box_body("fixed", 1, {0.1, 0.1, 0.1}, {});
  b.add_box_body("moving", 1, {0.1, 0.1, 0.1}, {});
  const Model model = b.build();
  std::vector<SvgStrip::Frame> frames;
  for (int i = 0; i <= 240; ++i) {
    frames.push_back({State::initial(model), {}});
    frames.back().state.time = i / 240.0;
    frames.back().state.X_WB[1].p.x() = f(i / 240.0);
  }
  std::vector<double> times;
  for (const std::size_t i : svg::choose_frames(model, frames, 6)) times.push_back(frames[i].state.time);
  return times;
}

TEST(SvgFrames, AreEvenlySpacedWhenNothingMoves) {
  const std::vector<double> times = chosen_times([](double) { return 0.0; });
  ASSERT_EQ(times.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(times[i], 0.2 * static_cast<double>(i), 1e-9);
}

TEST(SvgFrames, ShowALongRestOnlyBriefly) {
  const std::vector<double> times = chosen_times([](double t) { return std::min(10 * t, 1.0); });
  EXPECT_EQ(times.front(), 0);
  EXPECT_EQ(times.back(), 1);
  EXPECT_GE(std::count_if(times.begin(), times.end(), [](double t) { return t <= 0.11; }), 3);
}

TEST(SvgFrames, AvoidCatchingPeriodicMotionAtOnePhase) {
  // Five whole periods: even spacing would draw the same picture six times.
  const auto f = [](double t) { return std::sin(10 * std::numbers::pi * t); };
  const std::vector<double> times = chosen_times(f);
  for (std::size_t i = 1; i + 1 < times.size(); ++i) EXPECT_GT(std::abs(f(times[i]) - f(times[i - 1])), 0.5) << i;
}

TEST(SvgStrip, DrawsABodyWithoutShapesAndJointsAtRest) {
  ModelBuilder b("point");
  b.add_body("point", 1, Mat3::Identity(), {});
  expect_sound(strip(b.build(), Vec3::Zero(), false));
}

// Visuals are what a body without shapes looks like; beside shapes they are not drawn.
TEST(SvgStrip, DrawsVisualsOfBodiesWithoutShapes) {
  ModelBuilder b("look");
  b.add_body("look", 1, Mat3::Identity(), {});
  const std::string bare = strip(b.build(), Vec3::Zero(), false);
  b.add_visual(0, Shape::box({0.1, 0.2, 0.3}));
  const std::string seen = strip(b.build(), Vec3::Zero(), false);
  expect_sound(seen);
  EXPECT_GT(seen.size(), bare.size());
  b.add_geom(0, Shape::sphere(0.2));
  const std::string both = strip(b.build(), Vec3::Zero(), false);
  ModelData shape = b.data();
  shape.visuals.clear();
  EXPECT_EQ(both, strip(finish_model(shape), Vec3::Zero(), false));
}

TEST(SvgView, LooksAtThePlaneOfTheMotion) {
  const auto view_of = [](const Vec3& direction, const Vec3& other) {
    ModelBuilder b("cube");
    b.add_box_body("cube", 1, {0.1, 0.1, 0.1}, {});
    const Model model = b.build();
    std::vector<SvgStrip::Frame> frames;
    for (int i = 0; i < 6; ++i) frames.push_back({moved(model, i, i * direction + (i % 2) * other), {}});
    return svg::choose_view(model, frames);
  };
  EXPECT_EQ(view_of(Vec3::UnitX(), Vec3::UnitZ()).right, Vec3::UnitX());
  EXPECT_EQ(view_of(Vec3::UnitY(), Vec3::UnitZ()).right, Vec3::UnitY());
  EXPECT_EQ(view_of(Vec3::UnitZ(), Vec3::UnitZ()).up, Vec3::UnitZ());
  EXPECT_EQ(view_of(Vec3::UnitX(), 4 * Vec3::UnitY()).up, Vec3::UnitY());
  const Vec3 oblique = Vec3(1, 1, 0).normalized();
  EXPECT_NEAR(view_of(2 * oblique, Vec3::UnitZ()).right.dot(oblique), 1, 1e-9);
}

svg::Outline only_silhouette(const Shape& shape, const Pose& X, const svg::View& view) {
  const std::vector<svg::Outline> outlines = svg::silhouettes(shape, X, view);
  EXPECT_EQ(outlines.size(), 1u);
  return outlines.front();
}

svg::Box2 box_of(const Shape& shape, const Pose& X, const svg::View& view) {
  svg::Box2 box;
  for (const svg::Outline& o : svg::silhouettes(shape, X, view)) svg::extend(box, o);
  return box;
}

TEST(SvgView, SilhouettesAreHulls) {
  const svg::View view;
  EXPECT_EQ(only_silhouette(Shape::box({1, 2, 3}), {}, view).points.size(), 4u);
  const Pose tilted = {Vec3::Zero(), Quat(Eigen::AngleAxisd(0.5, Vec3(1, 1, 1).normalized()))};
  EXPECT_EQ(only_silhouette(Shape::box({1, 2, 3}), tilted, view).points.size(), 6u);
  const svg::Box2 bounds = box_of(Shape::capsule(0.5, 2), {}, view);
  EXPECT_NEAR(bounds.sizes().y(), 5, 1e-12);
  EXPECT_NEAR(bounds.sizes().x(), 1, 1e-12);
  EXPECT_EQ(svg::convex_hull({{0, 0}, {1, 0}, {0.5, 0}}).size(), 2u);
  EXPECT_EQ(svg::convex_hull({{0, 0}, {0, 0}}).size(), 1u);
  EXPECT_TRUE(svg::silhouettes(Shape::plane(), {}, view).empty());
}

// Half widths of the shadow along the view axes are the half extents of the box around the turned shape
// (docs/theory/collision.md §1).
TEST(SvgView, SilhouettesOfRoundShapes) {
  const svg::View view;
  for (const double angle : {0.0, 0.3, 1.0, 1.5}) {
    const Pose X = {Vec3(1, 2, 3), Quat(Eigen::AngleAxisd(angle, Vec3(1, 2, -1).normalized()))};
    const Mat3 R = X.R();
    const double r = 0.4;
    const double h = 0.7;
    const svg::Box2 cylinder = box_of(Shape::cylinder(r, h), X, view);
    const svg::Box2 ellipsoid = box_of(Shape::ellipsoid({0.2, 0.5, 0.9}), X, view);
    for (const int axis : {0, 2}) {
      const int k = axis == 0 ? 0 : 1;
      const double a = R(axis, 2);
      EXPECT_NEAR(0.5 * cylinder.sizes()[k], h * std::abs(a) + r * std::sqrt(1 - a * a), 1e-3 * r);
      EXPECT_NEAR(0.5 * ellipsoid.sizes()[k], (R.row(axis).transpose().cwiseProduct(Vec3(0.2, 0.5, 0.9))).norm(), 1e-3);
      EXPECT_NEAR(cylinder.center()[k], X.p[axis], 1e-12);
      EXPECT_NEAR(ellipsoid.center()[k], X.p[axis], 1e-12);
    }
  }
  // Seen from the side it has four corners, however it is rolled, and although rounding tilts its ends by a little.
  for (const double tilt : {0.0, 1e-16, -1e-14, 1e-12, -1e-11, 1e-10}) {
    for (double turn = 0; turn < 3.2; turn += 0.1) {
      for (double roll = 0; roll < 1; roll += 0.13) {
        const Quat in_plane(Eigen::AngleAxisd(turn, Vec3::UnitY()));
        const Quat from_side(Eigen::AngleAxisd(tilt, Vec3::UnitX()));
        const Pose X = {Vec3(1, 2, 3), in_plane * from_side * Quat(Eigen::AngleAxisd(roll, Vec3::UnitZ()))};
        const std::vector<Vec2> corners = only_silhouette(Shape::cylinder(0.4, 0.7), X, view).points;
        ASSERT_EQ(corners.size(), 4u) << tilt << " " << turn << " " << roll;
        for (const Vec2& p : corners) {
          const Vec3 local = in_plane.conjugate() * (Vec3(p.x(), 2, p.y()) - X.p);
          EXPECT_NEAR(std::abs(local.x()), 0.4, 3e-4) << tilt << " " << turn << " " << roll;
          EXPECT_NEAR(std::abs(local.z()), 0.7, 1e-9) << tilt << " " << turn << " " << roll;
        }
      }
    }
  }
  // Seen end-on a cylinder is its circle.
  const Pose end_on = {Vec3::Zero(), Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()))};
  for (const Vec2& p : only_silhouette(Shape::cylinder(0.4, 0.7), end_on, view).points)
    EXPECT_NEAR(p.norm(), 0.4, 1e-12);
}

TEST(SvgView, SilhouettesOfPointsAndCompounds) {
  const svg::View view;
  EXPECT_EQ(only_silhouette(test::l_mesh(), {}, view).points.size(), 5u);  // the hull of the L
  const svg::View from_x = {Vec3::UnitY(), Vec3::UnitZ(), ""};
  EXPECT_EQ(only_silhouette(test::l_mesh(), {}, from_x).points.size(), 4u);
  const Shape compound =
      Shape::compound({{Shape::sphere(0.5), {}}, {Shape::box({1, 1, 1}), {Vec3(3, 0, 0)}}, {test::l_mesh(), {}}});
  const std::vector<svg::Outline> outlines = svg::silhouettes(compound, {Vec3(0, 0, 5)}, view);
  ASSERT_EQ(outlines.size(), 3u);
  EXPECT_EQ(outlines[0].radius, 0.5);
  EXPECT_EQ(outlines[0].points[0], Vec2(0, 5));
  EXPECT_EQ(outlines[1].points.size(), 4u);
}

// The profile of terrain: the highest points over depth. A ridge along y at x = 1 and a bump behind it.
TEST(SvgView, ProfilesOfHeightFields) {
  ModelBuilder b("terrain");
  const std::vector<double> heights = {0, 1, 0, 0, 0, 0, 1, 0, 0, 0.5};  // 5 x 2
  b.add_geom(kWorld, Shape::terrain(HeightField::build(5, 2, 1, 1, heights, "field")), {Vec3(0, 0, 10)});
  const Model model = b.build();
  const std::vector<svg::Ground> side = svg::grounds(model.geoms()[0], svg::View{});
  ASSERT_EQ(side.size(), 1u);
  EXPECT_TRUE(side[0].bottom.empty());
  const auto height = [&](double x) {
    const auto& top = side[0].top;
    for (std::size_t i = 1; i < top.size(); ++i) {
      if (x > top[i].x()) continue;
      const double t = (x - top[i - 1].x()) / (top[i].x() - top[i - 1].x());
      return top[i - 1].y() + t * (top[i].y() - top[i - 1].y());
    }
    return kInf;
  };
  EXPECT_NEAR(height(-2), 10, 1e-9);
  EXPECT_NEAR(height(-1), 11, 0.02);
  EXPECT_NEAR(height(-1.5), 10.5, 0.02);
  EXPECT_NEAR(height(0.5), 10, 1e-2);
  EXPECT_NEAR(height(1.8), 10.4, 0.02);
  EXPECT_LT(side[0].top.size(), 30u);  // straight parts are lines
  const svg::View from_above = {Vec3::UnitX(), Vec3::UnitY(), ""};
  EXPECT_TRUE(svg::grounds(model.geoms()[0], from_above).empty());
  EXPECT_EQ(svg::draw_world(model, from_above).shapes.size(), 1u);
}

TEST(SvgView, ProfilesOfMeshesOfTheWorld) {
  ModelBuilder b("mesh");
  b.add_geom(kWorld, test::l_mesh());
  const std::vector<svg::Ground> side = svg::grounds(b.build().geoms()[0], svg::View{});
  ASSERT_EQ(side.size(), 1u);
  svg::Box2 top;
  svg::Box2 bottom;
  for (const Vec2& p : side[0].top) top.extend(p);
  for (const Vec2& p : side[0].bottom) bottom.extend(p);
  EXPECT_NEAR(top.min().y(), 1, 1e-9);
  EXPECT_NEAR(top.max().y(), 2, 1e-9);
  EXPECT_NEAR(bottom.max().y(), 0, 1e-9);
  EXPECT_NEAR(top.sizes().x(), 2, 1e-9);
  // A wall seen edge-on has no width to go along.
  ModelBuilder wall("wall");
  const std::vector<Vec3> corners = {{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}};
  const std::vector<TriangleMesh::Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  wall.add_geom(kWorld, Shape::triangles(TriangleMesh::build(corners, triangles, "wall")));
  EXPECT_TRUE(svg::grounds(wall.build().geoms()[0], svg::View{}).empty());
  expect_sound(strip(wall.build(), Vec3::Zero(), false));
}

// Every kind at once, on bodies and on the world.
Model shapes_model() {
  ModelBuilder b("every shape");
  std::mt19937 random(8);
  std::vector<double> heights;
  for (int j = 0; j < 40; ++j) {
    for (int i = 0; i < 60; ++i) heights.push_back(-0.3 + 0.2 * std::sin(0.25 * i) + 0.02 * j);
  }
  b.add_geom(kWorld, Shape::terrain(HeightField::build(60, 40, 0.2, 0.1, heights, "field")));
  b.add_geom(kWorld, test::l_mesh(), {Vec3(4, 0, 1)});
  b.add_geom(kWorld, Shape::cylinder(0.3, 0.6), {Vec3(-5.2, 0, 0.9)});
  const auto turn = [](double angle, const Vec3& axis) { return Quat(Eigen::AngleAxisd(angle, axis.normalized())); };
  const Shape shapes[] = {Shape::sphere(0.4),
                          Shape::capsule(0.2, 0.4),
                          Shape::box({0.3, 0.4, 0.2}),
                          Shape::cylinder(0.4, 0.3),
                          Shape::ellipsoid({0.6, 0.3, 0.3}),
                          test::random_hull(random, 20),
                          test::l_mesh(),
                          Shape::compound({{Shape::box({0.2, 0.2, 0.2}), {Vec3(0, 0, 0.6)}},
                                           {Shape::cylinder(0.06, 0.5), {}},
                                           {Shape::sphere(0.15), {Vec3(0, 0, -0.6)}}})};
  for (int i = 0; i < 8; ++i) {
    const Shape& s = shapes[i];
    b.add_solid("body" + std::to_string(i), 1, s,
                {Vec3(-4.2 + 1.25 * i, 0, 1.4), turn(0.4 + 0.3 * i, Vec3(1, 1, 0.3))});
  }
  const Quat end_on = turn(std::numbers::pi / 2, Vec3::UnitX());
  b.add_solid("wheel", 1, Shape::cylinder(0.5, 0.1), {Vec3(-2.5, 0, 2.8), end_on});
  return b.build();
}

TEST(SvgStrip, DrawsEveryShape) {
  const std::string svg = strip(shapes_model(), {0.2, 0, -0.3}, true, 2);
  expect_sound(svg);
  EXPECT_EQ(count(svg, "class=\"terrain\""), 2 * 2);
  EXPECT_EQ(count(svg, "<title>body"), 2 * 8);
  if (const char* file = std::getenv("SARRUS_TEST_SVG")) std::ofstream(file) << svg;
}

TEST(SvgText, ScaleBarsHaveRoundLengths) {
  EXPECT_DOUBLE_EQ(svg::nice_length(0.73), 0.5);
  EXPECT_DOUBLE_EQ(svg::nice_length(4.9), 2);
  EXPECT_DOUBLE_EQ(svg::nice_length(10), 10);
  EXPECT_EQ(svg::length_label(0.2), "20 cm");
  EXPECT_EQ(svg::length_label(5), "5 m");
  EXPECT_EQ(svg::length_label(0.005), "5 mm");
}

}  // namespace
}  // namespace sarrus::svg_test
