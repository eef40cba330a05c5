#include "sarrus/recording/svg_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>

#include "sarrus/files/picture.h"

namespace sarrus::svg {
namespace {

constexpr const char* kWorldFill = "#e9ebee";
constexpr const char* kWorldLine = "#a3a9b1";
// More bodies than this and ghosts become clutter themselves.
constexpr int kMaxGhosts = 24;
// Contact points of this many are drawn small.
constexpr std::size_t kManyContacts = 30;
constexpr double kTickLabelRoom = 20;  // px on either side of a tick for its label, else there is neither

template <class... Args>
void print(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string path_of(const Panel& panel, std::span<const Vec2> points) {
  std::string d;
  for (const Vec2& p : points) {
    const Vec2 q = panel.pixel(p);
    print(d, "{}{:.2f} {:.2f}", d.empty() ? "M" : " L", q.x(), q.y());
  }
  return d;
}

std::string outline_element(const Panel& panel, const Outline& o) {
  const double r = o.radius * panel.scale;
  const Vec2 a = panel.pixel(o.points.front());
  const Vec2 b = panel.pixel(o.points.back());
  if (o.radius > 0 && (o.points.size() == 1 || (b - a).norm() < 0.01)) {
    return fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\"/>", a.x(), a.y(), r);
  }
  if (o.radius > 0) {
    const Vec2 side = r * Vec2(a.y() - b.y(), b.x() - a.x()).normalized();
    return fmt::format(
        "<path d=\"M{:.2f} {:.2f} L{:.2f} {:.2f} A{:.2f} {:.2f} 0 0 0 {:.2f} {:.2f} L{:.2f} {:.2f} "
        "A{:.2f} {:.2f} 0 0 0 {:.2f} {:.2f} Z\"/>",
        a.x() + side.x(), a.y() + side.y(), b.x() + side.x(), b.y() + side.y(), r, r, b.x() - side.x(),
        b.y() - side.y(), a.x() - side.x(), a.y() - side.y(), r, r, a.x() + side.x(), a.y() + side.y());
  }
  return fmt::format("<path d=\"{} Z\"/>", path_of(panel, o.points));
}

void draw_ghost(std::string& out, const Panel& panel, const Scenery& scenery, const SvgStrip::Frame& before) {
  if (scenery.model->body_count() > kMaxGhosts) return;
  print(out, "<g class=\"ghost\" fill=\"none\" stroke=\"#c9ced6\" stroke-width=\"1\" stroke-linejoin=\"round\">");
  for (std::size_t b = 0; b < scenery.parts.size(); ++b) {
    const BodyDrawing d = draw_body(*scenery.model, scenery.parts[b], before.state.X_WB[b], scenery.view);
    for (const Outline& o : d.shapes) out += outline_element(panel, o);
    if (d.shapes.empty() && d.skeleton.size() > 1) print(out, "<path d=\"{} Z\"/>", path_of(panel, d.skeleton));
  }
  out += "</g>\n";
}

void draw_planes(std::string& out, const Panel& panel, const Scenery& scenery) {
  const double far = panel.seen.diagonal().norm();
  for (const EdgeOnPlane& plane : scenery.world.planes) {
    const Vec2 along(plane.normal.y(), -plane.normal.x());
    const Vec2 middle = plane.point + along * along.dot(panel.seen.center() - plane.point);
    const Vec2 a = middle - far * along;
    const Vec2 b = middle + far * along;
    print(out, "<path class=\"plane\" d=\"{} Z\" fill=\"#eef0f3\"/>",
          path_of(panel, std::array<Vec2, 4>{a, b, b - far * plane.normal, a - far * plane.normal}));
    print(out, "<path d=\"{}\" stroke=\"#6b727c\" stroke-width=\"1.4\" fill=\"none\"/>\n",
          path_of(panel, std::array{a, b}));
  }
}

// Terrain: a mesh is an area with a border, a height field goes on below the panel.
void draw_grounds(std::string& out, const Panel& panel, const Scenery& scenery) {
  constexpr const char* line = "stroke=\"#6b727c\" stroke-width=\"1.4\" stroke-linejoin=\"round\"";
  for (const Ground& ground : scenery.world.grounds) {
    std::vector<Vec2> area = ground.top;
    if (!ground.bottom.empty()) {
      area.insert(area.end(), ground.bottom.rbegin(), ground.bottom.rend());
      print(out, "<path class=\"terrain\" d=\"{} Z\" fill=\"#eef0f3\" {}/>\n", path_of(panel, area), line);
      continue;
    }
    const double far = panel.seen.diagonal().norm() + (ground.top.front() - panel.seen.center()).norm();
    area.emplace_back(ground.top.back() - far * ground.normal);
    area.emplace_back(ground.top.front() - far * ground.normal);
    print(out, "<path class=\"terrain\" d=\"{} Z\" fill=\"#eef0f3\"/>", path_of(panel, area));
    print(out, "<path d=\"{}\" fill=\"none\" {}/>\n", path_of(panel, ground.top), line);
  }
}

void draw_world_shapes(std::string& out, const Panel& panel, const Scenery& scenery) {
  print(out, "<g fill=\"{}\" stroke=\"{}\" stroke-width=\"1\" fill-opacity=\"0.6\">", kWorldFill, kWorldLine);
  for (const Outline& o : scenery.world.shapes) out += outline_element(panel, o);
  out += "</g>\n";
}

void draw_ticks(std::string& out, const Panel& panel, const Scenery& scenery) {
  const double step = nice_length(0.3 * std::max(panel.seen.sizes().x(), panel.seen.sizes().y()));
  for (int axis = 0; axis < 2; ++axis) {
    if (!(axis == 0 ? scenery.ticks_right : scenery.ticks_up)) continue;
    for (double k = std::ceil(panel.seen.min()[axis] / step); k * step <= panel.seen.max()[axis]; ++k) {
      Vec2 at = panel.seen.min();
      at[axis] = k * step;
      const Vec2 p = panel.pixel(at);
      const double to_edge = axis == 0 ? std::min(p.x() - panel.x, panel.x + panel.width - p.x())
                                       : std::min(p.y() - panel.y, panel.y + panel.height - p.y());
      if (to_edge < kTickLabelRoom) continue;
      const Vec2 end = axis == 0 ? Vec2(p.x(), p.y() - 7) : Vec2(p.x() + 7, p.y());
      print(out, "<path class=\"tick\" d=\"M{:.2f} {:.2f} L{:.2f} {:.2f}\" stroke=\"#6b727c\" stroke-width=\"1.2\"/>\n",
            p.x(), p.y(), end.x(), end.y());
      print(out,
            "<text class=\"tick-label\" x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"10.5\" fill=\"#59606a\" "
            "text-anchor=\"{}\">{:g} m</text>\n",
            axis == 0 ? p.x() : p.x() + 10, axis == 0 ? p.y() - 10 : p.y() + 3.5, axis == 0 ? "middle" : "start",
            k * step + 0.0);  // no "-0"
    }
  }
}

void draw_trail(std::string& out, const Panel& panel, std::span<const Vec2> trail) {
  if (trail.size() < 2) return;
  print(out,
        "<path class=\"trail\" d=\"{}\" fill=\"none\" stroke=\"#aeb6c1\" stroke-width=\"1.2\" "
        "stroke-linejoin=\"round\"/>\n",
        path_of(panel, trail));
}

// A link without shapes: a bar with a dark edge, or a plate through three and more anchors.
void draw_skeleton(std::string& out, const Panel& panel, const BodyDrawing& d, const BodyColour& c) {
  const std::string path = path_of(panel, d.skeleton);
  if (!d.shapes.empty()) {
    if (d.skeleton.size() > 1) {
      print(out, "<path d=\"{} Z\" fill=\"none\" stroke=\"{}\" stroke-width=\"1\" stroke-opacity=\"0.55\"/>", path,
            c.line);
    }
  } else if (d.skeleton.size() > 2) {
    print(out, "<path d=\"{} Z\" fill=\"{}\" fill-opacity=\"0.75\" stroke=\"{}\" stroke-width=\"2\"/>", path, c.fill,
          c.line);
  } else if (d.skeleton.size() == 2) {
    print(out, "<path d=\"{}\" stroke=\"{}\" stroke-width=\"5.5\"/><path d=\"{}\" stroke=\"{}\" stroke-width=\"2.8\"/>",
          path, c.line, path, c.fill);
  } else {
    const Vec2 p = panel.pixel(d.centre);
    print(out, "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4\" fill=\"{}\" stroke=\"{}\"/>", p.x(), p.y(), c.fill, c.line);
  }
}

// The outline of a cylinder that is seen obliquely is that of a capsule: the rim of its near end tells them apart.
void draw_rims(std::string& out, const Panel& panel, const Scenery& scenery, const BodyParts& parts, const Pose& X_WB,
               const BodyColour& c) {
  constexpr double kOblique = 0.05;  // sines of the angles to the view plane and to its normal
  for (const int g : parts.geoms) {
    const Geom& geom = scenery.model->geoms()[static_cast<std::size_t>(g)];
    if (geom.shape.kind != ShapeKind::cylinder) continue;
    const Pose X = X_WB * geom.X_BG;
    const double axis = scenery.view.depth(X.q * Vec3::UnitZ());
    if (std::abs(axis) < kOblique || axis * axis > 1 - kOblique * kOblique) continue;
    constexpr int kPoints = 48;
    std::vector<Vec2> rim;
    for (int i = 0; i < kPoints; ++i) {
      const double a = 2 * std::numbers::pi * i / kPoints;
      rim.push_back(scenery.view.project(X * Vec3(geom.shape.size[0] * std::cos(a), geom.shape.size[0] * std::sin(a),
                                                  std::copysign(geom.shape.size[1], axis))));
    }
    print(out, "<path class=\"rim\" d=\"{} Z\" fill=\"none\" stroke=\"{}\" stroke-width=\"1\" stroke-opacity=\"0.6\"/>",
          path_of(panel, rim), c.line);
  }
}

// Spheres look alike from all sides, and cylinders that are seen end-on; a radius shows that they roll.
void draw_roll_marks(std::string& out, const Panel& panel, const Scenery& scenery, const BodyParts& parts,
                     const Pose& X_WB, const BodyColour& c) {
  for (const int g : parts.geoms) {
    const Geom& geom = scenery.model->geoms()[static_cast<std::size_t>(g)];
    const Pose X = X_WB * geom.X_BG;
    const double axis = scenery.view.depth(X.q * Vec3::UnitZ());
    const bool end_on = geom.shape.kind == ShapeKind::cylinder && std::abs(axis) > 0.7;
    if (geom.shape.kind != ShapeKind::sphere && !end_on) continue;
    const double end = end_on ? std::copysign(geom.shape.size[1], axis) : 0;
    const std::array radius = {scenery.view.project(X * Vec3(0, 0, end)),
                               scenery.view.project(X * Vec3(geom.shape.size[0], 0, end))};
    print(out, "<path d=\"{}\" stroke=\"{}\" stroke-width=\"1\" stroke-opacity=\"0.6\"/>", path_of(panel, radius),
          c.line);
  }
}

void draw_bodies(std::string& out, const Panel& panel, const Scenery& scenery, const State& state) {
  const Model& model = *scenery.model;
  std::vector<std::pair<BodyDrawing, std::size_t>> drawings;
  for (std::size_t b = 0; b < scenery.parts.size(); ++b) {
    drawings.emplace_back(draw_body(model, scenery.parts[b], state.X_WB[b], scenery.view), b);
  }
  std::stable_sort(drawings.begin(), drawings.end(),
                   [](const auto& a, const auto& b) { return a.first.depth < b.first.depth; });
  print(out, "<g class=\"bodies\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n");
  for (const auto& [d, body] : drawings) {
    const BodyColour& c = scenery.colours[body];
    print(out, "<g><title>{}</title><g fill=\"{}\" stroke=\"{}\" stroke-width=\"1.3\" fill-opacity=\"0.82\">",
          escape_xml(model.bodies()[body].name), c.fill, c.line);
    for (const Outline& o : d.shapes) out += outline_element(panel, o);
    out += "</g>";
    draw_skeleton(out, panel, d, c);
    draw_rims(out, panel, scenery, scenery.parts[body], state.X_WB[body], c);
    draw_roll_marks(out, panel, scenery, scenery.parts[body], state.X_WB[body], c);
    out += "</g>\n";
  }
  out += "</g>\n";
}

void draw_joints(std::string& out, const Panel& panel, const Scenery& scenery, const State& state) {
  const Model& model = *scenery.model;
  std::vector<bool> loop(model.joints().size(), false);
  for (const int j : model.loop_joints()) loop[static_cast<std::size_t>(j)] = true;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const Joint& joint = model.joints()[i];
    if (joint.type == JointType::free) continue;
    const JointEnds ends = joint_ends(joint, state);
    const Vec2 a = panel.pixel(scenery.view.project(ends.base));
    const Vec2 b = panel.pixel(scenery.view.project(ends.follower));
    if ((a - b).norm() > 0.5) {
      // Rods, ropes and sliders have their two anchors apart.
      print(out,
            "<path d=\"M{:.2f} {:.2f} L{:.2f} {:.2f}\" stroke=\"#4a515b\" stroke-width=\"1.2\" fill=\"none\"{}/>\n",
            a.x(), a.y(), b.x(), b.y(),
            joint.rope || joint.type != JointType::distance ? " stroke-dasharray=\"4 3\"" : "");
    }
    if (joint.base == kWorld) {
      print(out, "<path class=\"ground\" d=\"M{0:.2f} {1:.2f} l-6 9 h12 Z\" fill=\"#ccd1d8\" stroke=\"#6b727c\"/>\n",
            a.x(), a.y());
    }
    if (loop[i]) {
      draw_loop_mark(out, b);
    } else {
      print(out, "<circle class=\"joint\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2\" fill=\"#2b3038\"/>\n", b.x(), b.y());
    }
  }
}

}  // namespace

double nice_length(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length)));
  const double mantissa = length / power;
  return power * (mantissa >= 5 ? 5 : mantissa >= 2 ? 2 : 1);
}

std::string length_label(double metres) {
  // Ten significant digits hide the rounding of powers of ten.
  if (metres >= 1) return fmt::format("{:.10g} m", metres);
  if (metres >= 0.01) return fmt::format("{:.10g} cm", 100 * metres);
  return fmt::format("{:.10g} mm", 1000 * metres);
}

void draw_contact_mark(std::string& out, const Vec2& pixel, double radius) {
  print(out, "<circle class=\"contact\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", pixel.x(), pixel.y(),
        radius, picture::kContact);
}

void draw_loop_mark(std::string& out, const Vec2& pixel) {
  print(out,
        "<circle class=\"loop-joint\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3.6\" fill=\"{}\" stroke=\"{}\" "
        "stroke-width=\"1.5\"/>\n",
        pixel.x(), pixel.y(), picture::kDisc, picture::kRing);
}

void draw_panel(std::string& out, const Panel& panel, const Scenery& scenery, const Moment& moment) {
  const SvgStrip::Frame& frame = *moment.frame;
  print(out,
        "<g class=\"frame\">\n<clipPath id=\"panel{0}\"><rect x=\"{1:.2f}\" y=\"{2:.2f}\" width=\"{3:.2f}\" "
        "height=\"{4:.2f}\" rx=\"4\"/></clipPath>\n<g clip-path=\"url(#panel{0})\">\n",
        moment.index, panel.x, panel.y, panel.width, panel.height);
  draw_planes(out, panel, scenery);
  draw_grounds(out, panel, scenery);
  draw_world_shapes(out, panel, scenery);
  if (moment.before != nullptr) draw_ghost(out, panel, scenery, *moment.before);
  draw_trail(out, panel, moment.trail);
  draw_bodies(out, panel, scenery, frame.state);
  draw_joints(out, panel, scenery, frame.state);
  const double radius = frame.contacts.size() > kManyContacts ? 1.6 : 2.6;
  for (const Vec3& p : frame.contacts) draw_contact_mark(out, panel.pixel(scenery.view.project(p)), radius);
  draw_ticks(out, panel, scenery);
  print(out,
        "</g>\n<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" rx=\"4\" fill=\"none\" "
        "stroke=\"#d5d9df\"/>\n<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"13\" fill=\"#2b3038\">{}</text>\n</g>\n",
        panel.x, panel.y, panel.width, panel.height, panel.x + 10, panel.y + 20, escape_xml(moment.label));
}

}  // namespace sarrus::svg
