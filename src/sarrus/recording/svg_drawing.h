// The parts of the SVG strip, internal to it: what shapes look like (svg_outline.cpp), the choice of view and of frames
// and what bodies and the world look like (svg_view.cpp), and a panel of the strip (svg_panel.cpp).
//
// World points are metres; projected points are metres in the view plane, y up.
#pragma once

#include <Eigen/Geometry>
#include <span>
#include <string>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"
#include "sarrus/recording/svg_strip.h"

namespace sarrus::svg {

using Box2 = Eigen::AlignedBox2d;

// Orthographic projection on the plane of two orthonormal world vectors; right x up points to the viewer.
struct View {
  Vec3 right = Vec3::UnitX();
  Vec3 up = Vec3::UnitZ();
  std::string label = "view x-z";

  Vec2 project(const Vec3& p) const { return {right.dot(p), up.dot(p)}; }
  double depth(const Vec3& p) const { return right.cross(up).dot(p); }
};

// Outline of a projected convex shape: a polygon (radius 0), a circle (one point) or a stadium (two points).
struct Outline {
  std::vector<Vec2> points;
  double radius = 0;
};
void extend(Box2& box, const Outline& outline);

// Exact up to a quarter of a thousandth of the size. A mesh is drawn as its hull, a compound as its children; a plane
// has no outline.
std::vector<Outline> silhouettes(const Shape& shape, const Pose& X_WG, const View& view);

// Points that stand for the extent of a shape.
std::vector<Vec3> extent_points(const Shape& shape, const Pose& X_WG);

// Convex hull, counter-clockwise; one point or two for degenerate input.
std::vector<Vec2> convex_hull(std::vector<Vec2> points);

// Terrain seen from the side: the highest points of a mesh or height field of the world from left to right, and the
// lowest ones of a mesh. A height field is ground down to any depth.
struct Ground {
  std::vector<Vec2> top;
  std::vector<Vec2> bottom;  // empty for a height field
  Vec2 normal;               // unit, away from the ground
};
// Height fields and meshes of the world. Fields that are seen from above have none: they are drawn as outlines.
std::vector<Ground> grounds(const Geom& geom, const View& view);

View choose_view(const Model& model, std::span<const SvgStrip::Frame> frames);
// Of a viewpoint that needs no choice.
View view_from(SvgViewpoint viewpoint);

// Indices of at most `count` frames, first and last included, spread over time and over the motion: rest is
// shown briefly, and frames that would repeat another one, as even spacing does with periodic motion, move aside
// to a moment that looks different.
std::vector<std::size_t> choose_frames(const Model& model, std::span<const SvgStrip::Frame> frames, std::size_t count);

// Pose of a body or the world.
Pose pose_of(const State& state, int body);
// Ends of a joint on its base and follower, world.
struct JointEnds {
  Vec3 base;
  Vec3 follower;
};
JointEnds joint_ends(const Joint& joint, const State& state);

// What belongs to a body, gathered once.
struct BodyParts {
  std::vector<int> geoms;
  std::vector<int> visuals;   // of bodies without geoms
  std::vector<Vec3> anchors;  // of its joints, body frame
};
std::vector<BodyParts> body_parts(const Model& model);

// As the page of motions has them: a hue for each limb (for each body of the only mechanism, where nothing is a hub),
// the colour of the model where it has one; light to fill, dark for lines.
struct BodyColour {
  std::string fill;
  std::string line;
};
std::vector<BodyColour> body_colours(const Model& model);

// Everything of one body in one frame.
struct BodyDrawing {
  std::vector<Outline> shapes;
  std::vector<Vec2> skeleton;  // hull of its joint anchors (with the centre of mass if there is only one)
  Vec2 centre;                 // of mass
  double depth = 0;            // larger: nearer to the viewer
};
BodyDrawing draw_body(const Model& model, const BodyParts& parts, const Pose& X_WB, const View& view);
Box2 bounds(const BodyDrawing& drawing);

// A plane that is seen edge-on: a point of it and its outward normal in the view plane.
struct EdgeOnPlane {
  Vec2 point;
  Vec2 normal;
};
// The world, which looks the same in all frames.
struct WorldDrawing {
  std::vector<EdgeOnPlane> planes;
  std::vector<Ground> grounds;
  std::vector<Outline> shapes;
};
WorldDrawing draw_world(const Model& model, const View& view);

// 1, 2 or 5 times a power of ten, at most `length`.
double nice_length(double length);
// A length with the unit that suits it: "50 cm", "2 m".
std::string length_label(double metres);

// A panel: the window `seen` of the view plane [m], drawn in the rectangle at (x, y) [px] with one scale.
struct Panel {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  double scale = 1;  // px per m
  Box2 seen;

  Vec2 pixel(const Vec2& p) const {
    return {x + (p.x() - seen.min().x()) * scale, y + (seen.max().y() - p.y()) * scale};
  }
};

// What all panels share.
struct Scenery {
  const Model* model = nullptr;
  std::vector<BodyParts> parts;     // by body
  std::vector<BodyColour> colours;  // likewise
  View view;
  WorldDrawing world;
  bool ticks_right = false;  // the window follows the motion along this direction
  bool ticks_up = false;
};

// One moment of the motion.
struct Moment {
  const SvgStrip::Frame* frame = nullptr;
  const SvgStrip::Frame* before = nullptr;  // drawn as a faint ghost, may be null
  std::span<const Vec2> trail;              // path of one point up to now
  int index = 0;
  std::string label;
};

// Frame, scenery, bodies, joints and contacts of one moment.
void draw_panel(std::string& out, const Panel& panel, const Scenery& scenery, const Moment& moment);

// Marks used by panels and by the legend.
void draw_contact_mark(std::string& out, const Vec2& pixel, double radius = 2.6);
void draw_loop_mark(std::string& out, const Vec2& pixel);

}  // namespace sarrus::svg
