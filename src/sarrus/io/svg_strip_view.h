// Plane geometry of the SVG strip: the choice of view and of frames, what bodies and the world look like. Internal
// to the strip. World points are metres; projected points are metres in the view plane, y up.
#pragma once

#include <span>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/io/svg_strip.h"
#include "sarrus/io/svg_strip_outline.h"

namespace sarrus::svg {

View choose_view(const Model& model, std::span<const SvgStrip::Frame> frames);

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
// The world, which looks the same in all frames.
struct WorldDrawing {
  std::vector<EdgeOnPlane> planes;
  std::vector<Ground> grounds;
  std::vector<Outline> shapes;
};
WorldDrawing draw_world(const Model& model, const View& view);

}  // namespace sarrus::svg
