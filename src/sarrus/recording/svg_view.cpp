#include "sarrus/recording/svg_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>

#include "sarrus/files/picture.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/joint_graph.h"

namespace sarrus::svg {
namespace {

// A point that moves with a body: centre of mass, joint anchor or corner of a shape.
struct BodyPoint {
  std::size_t body;
  Vec3 p_B;
};

std::vector<BodyPoint> body_points(const Model& model) {
  std::vector<BodyPoint> points;
  const std::vector<BodyParts> parts = body_parts(model);
  for (std::size_t b = 0; b < parts.size(); ++b) {
    points.push_back({b, Vec3::Zero()});
    for (const Vec3& a : parts[b].anchors) points.push_back({b, a});
    for (const int g : parts[b].geoms) {
      const Geom& geom = model.geoms()[static_cast<std::size_t>(g)];
      for (const Vec3& p : extent_points(geom.shape, geom.X_BG)) points.push_back({b, p});
    }
  }
  return points;
}

std::vector<Vec3> world_points(const std::vector<BodyPoint>& points, const State& state) {
  std::vector<Vec3> world;
  world.reserve(points.size());
  for (const BodyPoint& p : points) world.push_back(state.X_WB[p.body] * p.p_B);
  return world;
}

// Second moments of the points about their mean.
Mat3 scatter(const std::vector<Vec3>& points) {
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : points) mean += p / static_cast<double>(points.size());
  Mat3 S = Mat3::Zero();
  for (const Vec3& p : points) S += (p - mean) * (p - mean).transpose() / static_cast<double>(points.size());
  return S;
}

// How much there is to see along each direction: the motion of all points over time, plus a little of the
// extent, which decides when nothing moves.
Mat3 visible_moments(const Model& model, std::span<const SvgStrip::Frame> frames) {
  const std::vector<BodyPoint> points_B = body_points(model);
  std::vector<std::vector<Vec3>> by_frame;
  const std::size_t stride = std::max<std::size_t>(1, frames.size() / 30);  // enough to see where things go
  for (std::size_t i = 0; i < frames.size(); i += stride) by_frame.push_back(world_points(points_B, frames[i].state));
  Mat3 motion = Mat3::Zero();
  Mat3 extent = Mat3::Zero();
  const std::size_t count = by_frame.empty() ? 0 : by_frame[0].size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Vec3> track;
    track.reserve(by_frame.size());
    for (const auto& points : by_frame) track.push_back(points[i]);
    motion += scatter(track) / static_cast<double>(count);
  }
  for (const auto& points : by_frame) extent += scatter(points) / static_cast<double>(by_frame.size());
  return motion + 0.1 * extent;
}

// Horizontal direction with the largest moment; a world axis if it is near one or nothing is preferred.
double azimuth_of(const Mat3& S) {
  // The moments of the two principal directions are mean +- spread.
  const double mean = (S(0, 0) + S(1, 1)) / 2;
  const double spread = std::hypot((S(0, 0) - S(1, 1)) / 2, S(0, 1));
  if (mean + spread < 1.5 * (mean - spread)) return 1.2 * S(0, 0) >= S(1, 1) ? 0.0 : std::numbers::pi / 2;
  double angle = std::atan2(2 * S(0, 1), S(0, 0) - S(1, 1)) / 2;
  if (angle <= -std::numbers::pi / 4) angle += std::numbers::pi;
  if (angle > 3 * std::numbers::pi / 4) angle -= std::numbers::pi;
  const double snapped = std::round(angle / (std::numbers::pi / 2)) * (std::numbers::pi / 2);
  return std::abs(angle - snapped) < 0.25 ? snapped : angle;
}

// Root mean square distance of the points of two frames, without their common translation: a mechanism that
// walked on looks the same.
double change(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  std::vector<Vec3> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = b[i] - a[i];
  return std::sqrt(scatter(difference).trace());
}

// By frame, from 0 to 1: half the share of the time and half that of all motion up to there.
std::vector<double> progress(std::span<const SvgStrip::Frame> frames, const std::vector<BodyPoint>& points_B) {
  std::vector<double> moved = {0};
  std::vector<Vec3> last = world_points(points_B, frames[0].state);
  for (std::size_t i = 1; i < frames.size(); ++i) {
    std::vector<Vec3> next = world_points(points_B, frames[i].state);
    double step = 0;
    for (std::size_t k = 0; k < next.size(); ++k) step += (next[k] - last[k]).norm();
    moved.push_back(moved.back() + step);
    last = std::move(next);
  }
  const double begin = frames.front().state.time;
  const double span = frames.back().state.time - begin;
  std::vector<double> result;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const double time_share = span > 0 ? (frames[i].state.time - begin) / span : 0;
    result.push_back(moved.back() > 0 ? 0.5 * time_share + 0.5 * moved[i] / moved.back() : time_share);
  }
  return result;
}

}  // namespace

View choose_view(const Model& model, std::span<const SvgStrip::Frame> frames) {
  const Mat3 S = visible_moments(model, frames);
  const double azimuth = azimuth_of(S);
  View side;
  side.right = Vec3(std::cos(azimuth), std::sin(azimuth), 0);
  if (azimuth == 0) side.right = Vec3::UnitX();
  if (azimuth == std::numbers::pi / 2) side.right = Vec3::UnitY();
  side.label = azimuth == 0 ? "side view, x right, z up"
               : azimuth == std::numbers::pi / 2
                   ? "side view, y right, z up"
                   : fmt::format("side view, {:.0f}° from x to y right, z up", azimuth * 180 / std::numbers::pi);
  // Readers expect gravity to point down: the view from above has to show clearly more.
  const double seen_from_side = side.right.dot(S * side.right) + S(2, 2);
  const double seen_from_above = S(0, 0) + S(1, 1);
  if (seen_from_above <= 1.5 * seen_from_side) return side;
  return {Vec3::UnitX(), Vec3::UnitY(), "view from above, x right, y up"};
}

View view_from(SvgViewpoint viewpoint) {
  switch (viewpoint) {
    case SvgViewpoint::side:
      return {Vec3::UnitY(), Vec3::UnitZ(), "side view, y right, z up"};
    case SvgViewpoint::top:
      return {Vec3::UnitX(), Vec3::UnitY(), "view from above, x right, y up"};
    case SvgViewpoint::iso:
      return {Vec3(1, 1, 0).normalized(), Vec3(-1, 1, 2).normalized(), "isometric view from (1, -1, 1), z up"};
    case SvgViewpoint::chosen:
    case SvgViewpoint::front:
      break;
  }
  return {Vec3::UnitX(), Vec3::UnitZ(), "front view, x right, z up"};
}

std::vector<std::size_t> choose_frames(const Model& model, std::span<const SvgStrip::Frame> frames, std::size_t count) {
  std::vector<std::size_t> chosen;
  if (frames.size() <= count) {
    for (std::size_t i = 0; i < frames.size(); ++i) chosen.push_back(i);
    return chosen;
  }
  const std::vector<BodyPoint> points_B = body_points(model);
  const std::vector<double> at = progress(frames, points_B);
  const double spacing = 1.0 / static_cast<double>(count - 1);
  // Changes well below this do not matter: frames stay evenly spaced.
  const double visible = 1e-3 * std::sqrt(scatter(world_points(points_B, frames[0].state)).trace()) + 1e-12;
  chosen.push_back(0);
  std::vector<std::vector<Vec3>> seen = {world_points(points_B, frames.front().state),
                                         world_points(points_B, frames.back().state)};
  for (std::size_t slot = 1; slot + 1 < count; ++slot) {
    std::size_t best = std::min(chosen.back() + 1, frames.size() - 2);
    double best_score = -1;
    for (std::size_t i = chosen.back() + 1; i + 1 < frames.size(); ++i) {
      const double aside = std::abs(at[i] / spacing - static_cast<double>(slot));
      if (aside > 0.4) continue;
      const std::vector<Vec3> points = world_points(points_B, frames[i].state);
      double least = kInf;
      for (const std::vector<Vec3>& other : seen) least = std::min(least, change(other, points));
      const double score = (1 - aside) * (visible + least);
      if (score > best_score) {
        best = i;
        best_score = score;
      }
    }
    chosen.push_back(best);
    seen.push_back(world_points(points_B, frames[best].state));
  }
  chosen.push_back(frames.size() - 1);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

Pose pose_of(const State& state, int body) {
  return body == kWorld ? Pose{} : state.X_WB[static_cast<std::size_t>(body)];
}

JointEnds joint_ends(const Joint& joint, const State& state) {
  return {pose_of(state, joint.base) * joint.p_BJ, pose_of(state, joint.follower) * joint.p_FJ};
}

std::vector<BodyParts> body_parts(const Model& model) {
  std::vector<BodyParts> parts(model.bodies().size());
  for (std::size_t g = 0; g < model.geoms().size(); ++g) {
    const int body = model.geoms()[g].body;
    if (body != kWorld) parts[static_cast<std::size_t>(body)].geoms.push_back(static_cast<int>(g));
  }
  for (std::size_t v = 0; v < model.visuals().size(); ++v) {
    const int body = model.visuals()[v].body;
    if (body == kWorld || !parts[static_cast<std::size_t>(body)].geoms.empty()) continue;
    parts[static_cast<std::size_t>(body)].visuals.push_back(static_cast<int>(v));
  }
  for (const Joint& j : model.joints()) {
    if (j.type == JointType::free) continue;
    if (j.base != kWorld) parts[static_cast<std::size_t>(j.base)].anchors.push_back(j.p_BJ);
    parts[static_cast<std::size_t>(j.follower)].anchors.push_back(j.p_FJ);
  }
  return parts;
}

std::vector<BodyColour> body_colours(const Model& model) {
  constexpr double kFill = 0.55;  // of white
  constexpr double kLine = 0.38;  // of black
  const JointGraph graph(model);
  const std::vector<int> limbs = graph.limbs();
  const std::vector<int> shafts = graph.shafts();
  std::map<int, int> bodies_of;
  for (const int limb : limbs) ++bodies_of[limb];
  const auto several = std::ranges::count_if(bodies_of, [](const auto& x) { return x.second > 1; });
  const bool apart = several == 1 && !bodies_of.contains(-1);
  // The heaviest body carries the others, it is no shaft of theirs.
  const auto heaviest =
      static_cast<std::size_t>(std::ranges::max_element(model.bodies(), {}, &Body::mass) - model.bodies().begin());
  std::vector<BodyColour> colours;
  for (std::size_t b = 0; b < limbs.size(); ++b) {
    const std::size_t hue = apart ? b : static_cast<std::size_t>(std::max(0, limbs[b]));
    const char* base = limbs[b] >= 0                     ? picture::kLimbs[hue % picture::kLimbs.size()]
                       : shafts[b] != 0 && b != heaviest ? picture::kShaft
                                                         : picture::kHub;
    colours.push_back({picture::tint(base, kFill), picture::shade(base, kLine)});
  }
  // The model's own, where one was chosen: that of a shape which touches before one that is only seen.
  const auto paint = [&](int body, const Colour& c) {
    if (body == kWorld || !(c.alpha > 0) || c == Colour{}) return;
    const std::string base = picture::hex(c.red, c.green, c.blue);
    colours[static_cast<std::size_t>(body)] = {picture::tint(base, 0.25), picture::shade(base, kLine)};
  };
  for (const Visual& v : model.visuals()) paint(v.body, v.colour);
  for (const Geom& g : model.geoms()) {
    if (g.colour) paint(g.body, *g.colour);
  }
  return colours;
}

BodyDrawing draw_body(const Model& model, const BodyParts& parts, const Pose& X_WB, const View& view) {
  BodyDrawing drawing;
  for (const int g : parts.geoms) {
    const Geom& geom = model.geoms()[static_cast<std::size_t>(g)];
    for (Outline& o : silhouettes(geom.shape, X_WB * geom.X_BG, view)) drawing.shapes.push_back(std::move(o));
  }
  for (const int v : parts.visuals) {
    const Visual& visual = model.visuals()[static_cast<std::size_t>(v)];
    for (Outline& o : silhouettes(visual.shape, X_WB * visual.X_BG, view)) drawing.shapes.push_back(std::move(o));
  }
  for (const Vec3& a : parts.anchors) drawing.skeleton.push_back(view.project(X_WB * a));
  drawing.centre = view.project(X_WB.p);
  if (drawing.skeleton.size() == 1 && drawing.shapes.empty()) drawing.skeleton.push_back(drawing.centre);
  drawing.skeleton = convex_hull(std::move(drawing.skeleton));
  drawing.depth = view.depth(X_WB.p);
  return drawing;
}

Box2 bounds(const BodyDrawing& drawing) {
  Box2 box;
  box.extend(drawing.centre);
  for (const Outline& o : drawing.shapes) extend(box, o);
  for (const Vec2& p : drawing.skeleton) box.extend(p);
  return box;
}

WorldDrawing draw_world(const Model& model, const View& view) {
  WorldDrawing drawing;
  for (const Geom& g : model.geoms()) {
    if (g.body != kWorld) continue;
    if (g.shape.kind == ShapeKind::plane) {
      const Vec2 n = view.project(g.X_BG.q * Vec3::UnitZ());
      if (n.norm() > 0.999) drawing.planes.push_back({view.project(g.X_BG.p), n.normalized()});
      continue;
    }
    std::vector<Ground> ground = grounds(g, view);
    if (ground.empty()) {
      for (Outline& o : silhouettes(g.shape, g.X_BG, view)) drawing.shapes.push_back(std::move(o));
    } else {
      std::move(ground.begin(), ground.end(), std::back_inserter(drawing.grounds));
    }
  }
  return drawing;
}

}  // namespace sarrus::svg

namespace sarrus {

SvgViewpoint svg_viewpoint_from_name(std::string_view name) {
  const std::vector<std::string> names = {"auto", "front", "side", "top", "iso"};
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<SvgViewpoint>(it - names.begin());
  throw InputError("--svg-view", fmt::format("{} is unknown; {}", in_quotes(name), suggestion(name, names, "view")));
}

}  // namespace sarrus
