#include "sarrus/recording/svg_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sarrus/files/picture.h"
#include "sarrus/math/tools.h"
#include "sarrus/recording/svg_drawing.h"

namespace sarrus {
namespace {

using svg::Box2;

constexpr double kPageWidth = 1200;  // px
constexpr double kMargin = 24;
constexpr double kGap = 12;            // between panels
constexpr double kHeader = 52;         // title
constexpr double kFooter = 64;         // caption, legend, scale bar
constexpr double kAspect = 2.4;        // width over height that the page aims at
constexpr int kSamples = 240;          // states kept over the duration, more for many frames
constexpr double kLabelHeight = 18;    // px added to panels for the time label
constexpr double kFollowTravel = 2.5;  // window follows if the travel exceeds this multiple of the size

// The windows of all frames: one size, one centre each.
struct Windows {
  Vec2 size = Vec2::Ones();
  std::vector<Vec2> centres;
  bool follows_right = false;
  bool follows_up = false;
};

Box2 frame_bounds(const svg::Scenery& scenery, const State& state) {
  Box2 box;
  for (std::size_t b = 0; b < scenery.parts.size(); ++b) {
    box.extend(svg::bounds(svg::draw_body(*scenery.model, scenery.parts[b], state.X_WB[b], scenery.view)));
  }
  for (const Joint& j : scenery.model->joints()) {
    if (j.base == kWorld && j.type != JointType::free) box.extend(scenery.view.project(j.p_BJ));
  }
  if (!box.isEmpty()) return box;
  // Nothing moves: the world itself is the picture.
  for (const svg::Outline& o : scenery.world.shapes) svg::extend(box, o);
  for (const svg::Ground& g : scenery.world.grounds) {
    for (const Vec2& p : g.top) box.extend(p);
  }
  if (box.isEmpty()) box.extend(Vec2(Vec2::Zero()));
  return box;
}

// The highest ground under the box; -inf if there is none.
double ground_height(const Box2& box, const svg::WorldDrawing& world) {
  double height = -kInf;
  for (const svg::EdgeOnPlane& plane : world.planes) {
    if (plane.normal.y() >= 0.99) height = std::max(height, plane.point.y());
  }
  for (const svg::Ground& ground : world.grounds) {
    for (const Vec2& p : ground.top) {
      const bool under = p.x() >= box.min().x() && p.x() <= box.max().x() && p.y() < box.max().y();
      if (under) height = std::max(height, p.y());
    }
  }
  return height;
}

// The floor belongs to the picture when the bodies are near it.
void include_floor(Box2& box, const svg::WorldDrawing& world) {
  const double floor = ground_height(box, world);
  const double height = box.min().y() - floor;
  if (height > 0 && height < 1.2 * box.sizes().maxCoeff()) box.extend(Vec2(box.center().x(), floor));
}

Windows choose_windows(const svg::Scenery& scenery, const std::vector<const SvgStrip::Frame*>& frames) {
  Windows w;
  Box2 all;
  Box2 centres;
  Vec2 size = Vec2::Zero();
  std::vector<Box2> boxes;
  for (const SvgStrip::Frame* f : frames) {
    Box2 box = frame_bounds(scenery, f->state);
    centres.extend(box.center());
    include_floor(box, scenery.world);
    all.extend(box);
    size = size.cwiseMax(box.sizes());
    boxes.push_back(box);
  }
  const double limit = kFollowTravel * size.maxCoeff();
  w.follows_right = centres.sizes().x() > limit;
  w.follows_up = centres.sizes().y() > limit;
  w.size = {w.follows_right ? size.x() : all.sizes().x(), w.follows_up ? size.y() : all.sizes().y()};
  for (const Box2& box : boxes) {
    w.centres.emplace_back(w.follows_right ? box.center().x() : all.center().x(),
                           w.follows_up ? box.center().y() : all.center().y());
  }
  const double largest = w.size.maxCoeff() > 0 ? w.size.maxCoeff() : 1.0;
  w.size += Vec2::Constant(0.14 * largest);
  // Very flat or very tall windows would leave no room for the labels.
  w.size = w.size.cwiseMax(0.4 * w.size.maxCoeff());
  return w;
}

// Columns for which the whole page comes nearest to the wanted aspect ratio with few empty cells.
int choose_columns(int frames, const Vec2& window) {
  int best = 1;
  double best_error = 1e300;
  for (int columns = 1; columns <= frames; ++columns) {
    const int rows = (frames + columns - 1) / columns;
    const double empty = static_cast<double>(columns * rows - frames) / columns;
    const double error = std::abs(std::log(columns * window.x() / (rows * window.y()) / kAspect)) + empty;
    if (error < best_error) {
      best = columns;
      best_error = error;
    }
  }
  return best;
}

double path_length(const std::vector<Vec2>& path) {
  double length = 0;
  for (std::size_t i = 1; i < path.size(); ++i) length += (path[i] - path[i - 1]).norm();
  return length;
}

// The path of the centre of mass that moves the farthest in the picture.
std::vector<Vec2> longest_path(const std::vector<SvgStrip::Frame>& samples, const svg::View& view) {
  std::vector<Vec2> longest;
  const std::size_t bodies = samples.empty() ? 0 : samples[0].state.X_WB.size();
  for (std::size_t b = 0; b < bodies; ++b) {
    std::vector<Vec2> path;
    path.reserve(samples.size());
    for (const SvgStrip::Frame& f : samples) path.push_back(view.project(f.state.X_WB[b].p));
    if (path_length(path) > path_length(longest)) longest = std::move(path);
  }
  return longest;
}

template <class... Args>
void print(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

void draw_header(std::string& out, double height, const std::string& title, const std::string& view) {
  const std::string scene = escape_xml(title);
  print(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>{2}</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        "<text x=\"{3:.0f}\" y=\"36\" font-size=\"20\" font-weight=\"bold\" fill=\"#1e2229\">{2}</text>\n"
        "<text x=\"{4:.0f}\" y=\"36\" font-size=\"13\" fill=\"#59606a\" text-anchor=\"end\">{5}</text>\n",
        kPageWidth, height, scene, kMargin, kPageWidth - kMargin, escape_xml(view));
}

void draw_scale_bar(std::string& out, double top, double scale, double panel_width) {
  const double length = svg::nice_length(0.5 * panel_width / scale);
  const double right = kPageWidth - kMargin;
  const double left = right - length * scale;
  print(out,
        "<g class=\"scale\"><path d=\"M{0:.2f} {1:.2f} v8 M{0:.2f} {2:.2f} H{3:.2f} M{3:.2f} {1:.2f} v8\" "
        "stroke=\"#2b3038\" stroke-width=\"1.4\" fill=\"none\"/><text x=\"{4:.2f}\" y=\"{5:.2f}\" font-size=\"12\" "
        "fill=\"#2b3038\" text-anchor=\"middle\">{6}</text></g>\n",
        left, top + 14, top + 18, right, 0.5 * (left + right), top + 38, svg::length_label(length));
}

void draw_footer(std::string& out, double top, const std::string& caption, bool contacts, bool loops) {
  print(out, "<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"13\" fill=\"#2b3038\">{}</text>\n", kMargin, top + 24,
        escape_xml(caption));
  double x = kMargin + 5;
  const double y = top + 46;
  const auto entry = [&](const char* text) {
    print(out, "<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"12\" fill=\"#59606a\">{}</text>\n", x + 10, y + 4, text);
    x += 120;
  };
  print(out, "<g class=\"legend\">\n");
  if (contacts) {
    svg::draw_contact_mark(out, {x, y});
    entry("contact");
  }
  if (loops) {
    svg::draw_loop_mark(out, {x, y});
    entry("loop joint");
  }
  out += "</g>\n";
}

}  // namespace

SvgStrip::SvgStrip(Model model, double begin, double end, SvgOptions options)
    : model_(std::move(model)), begin_(begin), end_(end), options_(options) {
  options_.frames = std::max(options_.frames, 2);
}

bool SvgStrip::wants(double time) const {
  // Slightly early, so that rounding in the clock does not delay a sample by a step.
  const int samples = std::max(kSamples, 4 * options_.frames);
  return time >= begin_ + (end_ - begin_) * (static_cast<double>(kept_.size()) / samples - 1e-9);
}

void SvgStrip::keep(const State& state, std::vector<Vec3> contacts) {
  Frame frame;
  frame.state.time = state.time;
  frame.state.X_WB = state.X_WB;
  frame.contacts = std::move(contacts);
  kept_.push_back(std::move(frame));
}

void SvgStrip::observe(const State& state, std::span<const Contact> contacts, std::span<const Vec3> impulses_W) {
  if (!wants(state.time)) return;
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (impulses_W[i].norm() > 0) points.push_back(contacts[i].p_W);
  }
  keep(state, std::move(points));
}

void SvgStrip::finish(const State& state) {
  if (kept_.empty() || kept_.back().state.time != state.time) keep(state, {});
}

std::string SvgStrip::to_svg(const RunSummary& run) const {
  const RunInfo& info = run.info();
  return to_svg(info.scene, fmt::format("{}, dt {:g} s, {}, {}, worst joint gap {:.2g} m, {}", info.scene,
                                        info.options.dt, info.options.solver, name_of(*info.options.integrator),
                                        run.worst_joint_gap(), run.status()));
}

std::string SvgStrip::to_svg(const std::string& title, const std::string& caption) const {
  const std::vector<std::size_t> chosen = svg::choose_frames(model_, kept_, static_cast<std::size_t>(options_.frames));
  std::vector<const Frame*> frames;
  frames.reserve(chosen.size());
  for (const std::size_t i : chosen) frames.push_back(&kept_[i]);

  svg::Scenery scenery;
  scenery.model = &model_;
  scenery.parts = svg::body_parts(model_);
  scenery.colours = svg::body_colours(model_);
  scenery.view =
      options_.viewpoint == SvgViewpoint::chosen ? svg::choose_view(model_, kept_) : svg::view_from(options_.viewpoint);
  scenery.world = svg::draw_world(model_, scenery.view);
  const Windows windows = choose_windows(scenery, frames);
  scenery.ticks_right = windows.follows_right;
  scenery.ticks_up = windows.follows_up;

  const int count = static_cast<int>(frames.size());
  const int columns = choose_columns(count, windows.size);
  const int rows = (count + columns - 1) / columns;
  svg::Panel panel;
  panel.width = (kPageWidth - 2 * kMargin - (columns - 1) * kGap) / columns;
  panel.scale = panel.width / windows.size.x();
  panel.height = windows.size.y() * panel.scale + kLabelHeight;
  const double footer_top = kHeader + rows * (panel.height + kGap);

  std::string out;
  draw_header(out, footer_top + kFooter, title, scenery.view.label);
  const std::vector<Vec2> path = longest_path(kept_, scenery.view);
  const double span = std::max(end_ - begin_, 1e-12);
  const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(span))), 0, 9);
  bool contacts = false;
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const int row = i / columns;
    panel.x = kMargin + (i - row * columns) * (panel.width + kGap);
    panel.y = kHeader + row * (panel.height + kGap);
    panel.seen = Box2(windows.centres[k] - 0.5 * windows.size, windows.centres[k] + 0.5 * windows.size);
    panel.seen.max().y() += kLabelHeight / panel.scale;
    contacts = contacts || !frames[k]->contacts.empty();
    svg::draw_panel(
        out, panel, scenery,
        {.frame = frames[k],
         .before = i > 0 ? frames[k - 1] : nullptr,
         .trail = std::span(path).first(std::min(chosen[k] + 1, path.size())),
         .index = i,
         .label = k < options_.labels.size() ? options_.labels[k]
                                             : fmt::format("t = {:.{}f} s", frames[k]->state.time, decimals)});
  }
  draw_footer(out, footer_top, caption, contacts, !model_.loop_joints().empty());
  draw_scale_bar(out, footer_top, panel.scale, panel.width);
  out += "</svg>\n";
  return out;
}

}  // namespace sarrus
