// Draws one panel of the SVG strip. Internal to the strip.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sarrus/io/svg_strip_view.h"

namespace sarrus::svg {

std::string escape_xml(std::string_view text);
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
  std::vector<BodyParts> parts;  // by body
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
