// Plane geometry of the SVG strip: the choice of view, silhouettes of shapes, what bodies look like.
// Internal to the strip. World points are metres; projected points are metres in the view plane, y up.
#pragma once

#include <Eigen/Geometry>
#include <span>
#include <string>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/io/svg_strip.h"

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
View choose_view(const Model& model, std::span<const SvgStrip::Frame> frames);

// Indices of at most `count` frames, first and last included, spread over time and over the motion: rest is
// shown briefly, and frames that would repeat another one, as even spacing does with periodic motion, move aside
// to a moment that looks different.
std::vector<std::size_t> choose_frames(const Model& model, std::span<const SvgStrip::Frame> frames, std::size_t count);

// Outline of a projected convex shape: a polygon (radius 0), a circle (one point) or a stadium (two points).
struct Outline {
  std::vector<Vec2> points;
  double radius = 0;
};
Outline silhouette(const Shape& shape, const Pose& X_WG, const View& view);
void extend(Box2& box, const Outline& outline);

// Convex hull, counter-clockwise; one point or two for degenerate input.
std::vector<Vec2> convex_hull(std::vector<Vec2> points);

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
  std::vector<Vec3> anchors;  // of its joints, body frame
};
std::vector<BodyParts> body_parts(const Model& model);

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
std::vector<EdgeOnPlane> edge_on_planes(const Model& model, const View& view);

}  // namespace sarrus::svg
