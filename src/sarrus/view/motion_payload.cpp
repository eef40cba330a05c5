#include "sarrus/view/motion_payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sarrus/view/container.h"
#include "sarrus/view/deflate.h"

namespace sarrus::view {
namespace {

// Nine digits are enough to draw with, and a third of the bytes of all of them.
double rounded(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(x))) - 8);
  return unit >= 1 ? std::round(x / unit) * unit : std::round(x / unit) / std::round(1 / unit);
}

Json number(double x) { return std::isfinite(x) ? Json(rounded(x)) : Json(nullptr); }

template <class V>
Json vector(const V& v) {
  Json out = Json::array();
  for (Eigen::Index i = 0; i < v.size(); ++i) out.push_back(number(v[i]));
  return out;
}

Json quaternion(const Quat& q) { return {number(q.w()), number(q.x()), number(q.y()), number(q.z())}; }

// One array of what each element has.
template <class Elements, class F>
Json each(const Elements& elements, F f) {
  Json out = Json::array();
  for (const auto& e : elements) out.push_back(f(e));
  return out;
}

Json colour(const std::optional<Colour>& c) {
  if (!c) return nullptr;
  const auto byte = [](double x) { return static_cast<int>(std::lround(255 * std::clamp(x, 0.0, 1.0))); };
  return fmt::format("#{:02x}{:02x}{:02x}{:02x}", byte(c->red), byte(c->green), byte(c->blue), byte(c->alpha));
}

Json axes(const Joint& j) {
  if (j.axes.empty()) return nullptr;
  return each(j.axes, [](const SerialAxis& a) {
    return Json{{"angular", a.angular}, {"position", vector(a.p_J)}, {"axis", vector(a.axis_J)}};
  });
}

Json bodies(const Scene& s) {
  const auto inertia = [](const Body& b) {
    const Mat3& I = b.inertia_B;
    return vector((Vec6() << I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)).finished());
  };
  return {{"names", each(s.bodies, [](const Body& b) { return Json(b.name); })},
          {"mass", each(s.bodies, [](const Body& b) { return number(b.mass); })},
          {"inertia", s.has_inertia ? each(s.bodies, inertia) : Json::array()},
          {"limb", each(s.bodies, [](const Body& b) { return Json(b.limb); })},
          {"shaft", each(s.bodies, [](const Body& b) { return Json(b.shaft ? 1 : 0); })}};
}

Json joints(const Scene& s) {
  return {{"names", each(s.joints, [](const Joint& j) { return Json(j.name); })},
          {"type", each(s.joints, [](const Joint& j) { return Json(j.type); })},
          {"base", each(s.joints, [](const Joint& j) { return Json(j.base); })},
          {"follower", each(s.joints, [](const Joint& j) { return Json(j.follower); })},
          {"anchor_base", each(s.joints, [](const Joint& j) { return vector(j.p_BJ); })},
          {"anchor_follower", each(s.joints, [](const Joint& j) { return vector(j.p_FJ); })},
          {"axes_base", each(s.joints, [](const Joint& j) { return quaternion(j.q_BJ); })},
          {"axes_follower", each(s.joints, [](const Joint& j) { return quaternion(j.q_FJ); })},
          {"length", each(s.joints, [](const Joint& j) { return number(j.length); })},
          {"closes_loop", each(s.joints, [](const Joint& j) { return Json(j.closes_loop ? 1 : 0); })},
          {"first_dof", each(s.joints, [](const Joint& j) { return Json(j.first_dof); })},
          {"dofs", each(s.joints, [](const Joint& j) { return Json(j.dofs); })},
          {"glyph", each(s.joints,
                         [](const Joint& j) {
                           return Json{number(j.glyph_radius), number(j.glyph_half_width)};
                         })},
          {"axes", each(s.joints, axes)}};
}

Json dofs(const Scene& s) {
  const auto numbers = [&](double Scalar::*x) {
    return each(s.scalars, [x](const Scalar& d) { return number(d.*x); });
  };
  return {{"names", each(s.scalars, [](const Scalar& d) { return Json(d.name); })},
          {"unit", each(s.scalars, [](const Scalar& d) { return Json(d.angular ? "rad" : "m"); })},
          {"joint", each(s.scalars, [](const Scalar& d) { return Json(d.joint); })},
          {"mode", each(s.scalars, [](const Scalar& d) { return Json(mode_name(d.mode)); })},
          {"lower", each(s.scalars, [](const Scalar& d) { return number(d.limit.lower); })},
          {"upper", each(s.scalars, [](const Scalar& d) { return number(d.limit.upper); })},
          {"target_lower", numbers(&Scalar::target_lower)},
          {"target_upper", numbers(&Scalar::target_upper)},
          {"effort_lower", numbers(&Scalar::effort_lower)},
          {"effort_upper", numbers(&Scalar::effort_upper)},
          {"drive", each(s.scalars, [](const Scalar& d) { return Json(d.drive); })}};
}

Json parts(const SceneParts& drawn) {
  const auto& all = drawn.parts;
  return {{"body", each(all, [](const ScenePart& p) { return Json(p.body); })},
          {"geom", each(all, [](const ScenePart& p) { return Json(p.geom); })},
          {"kind", each(all, [](const ScenePart& p) { return Json(name_of(p.kind)); })},
          {"size", each(all, [](const ScenePart& p) { return vector(p.size); })},
          {"position", each(all, [](const ScenePart& p) { return vector(p.X_B.p); })},
          {"quaternion", each(all, [](const ScenePart& p) { return quaternion(p.X_B.q); })},
          {"mesh", each(all, [](const ScenePart& p) { return Json(p.mesh); })},
          {"height_field", each(all, [](const ScenePart& p) { return Json(p.height_field); })},
          {"colour", each(all, [](const ScenePart& p) { return colour(p.colour); })}};
}

// All that does not depend on frames; `timing` comes where the format has it.
Json header(const Scene& s, const RunFacts& facts, const char* kind, const Json& timing) {
  Json h = {{"version", 1},
            {"kind", kind},
            {"scene", s.name},
            {"description", s.description},
            {"dt", facts.dt},
            {"solver", facts.solver},
            {"integrator", facts.integrator},
            {"tolerance", facts.tolerance},
            {"acceptable", facts.acceptable},
            {"gravity", vector(s.gravity)},
            {"sarrus_version", facts.version}};
  h.update(timing);
  h["bodies"] = bodies(s);
  h["joints"] = joints(s);
  h["loops"] = each(s.loops, [](const LoopCycle& l) { return Json{{"joints", l.joints}, {"bodies", l.bodies}}; });
  h["couplings"] = each(s.couplings, [](const CouplingLine& c) {
    return Json{{"name", c.name}, {"a", c.dof_a}, {"b", c.dof_b}};
  });
  h["dofs"] = dofs(s);
  h["geoms"] = {{"names", each(s.geoms, [](const GeomName& g) { return Json(g.name); })},
                {"body", each(s.geoms, [](const GeomName& g) { return Json(g.body); })}};
  h["parts"] = parts(s.drawn);
  h["meshes"] = s.drawn.meshes.size();
  h["height_fields"] = each(s.drawn.height_fields, [](const SceneHeightField& f) {
    return Json{{"columns", f.columns}, {"rows", f.rows}, {"dx", number(f.dx)}, {"dy", number(f.dy)}};
  });
  h["view"] = {{"radius", number(s.radius)},
               {"centre", vector(s.centre)},
               {"follow", s.follow},
               {"floor", s.floor ? number(*s.floor) : Json(nullptr)},
               {"weight", number(s.weight)}};
  return h;
}

void add_surfaces(const SceneParts& drawn, Container& out) {
  if (!drawn.meshes.empty()) {
    std::vector<std::uint32_t> vertex_offset = {0};
    std::vector<std::uint32_t> triangle_offset = {0};
    std::vector<float> vertices;
    std::vector<std::uint32_t> triangles;
    for (const SceneMesh& mesh : drawn.meshes) {
      for (const Vec3& v : mesh.vertices) {
        for (int i = 0; i < 3; ++i) vertices.push_back(static_cast<float>(v[i]));
      }
      for (const auto& t : mesh.triangles) {
        for (const int v : t) triangles.push_back(static_cast<std::uint32_t>(v));
      }
      vertex_offset.push_back(static_cast<std::uint32_t>(vertices.size() / 3));
      triangle_offset.push_back(static_cast<std::uint32_t>(triangles.size() / 3));
    }
    out.plain("mesh.vertex_offset", {vertex_offset.size()}, vertex_offset);
    out.plain("mesh.triangle_offset", {triangle_offset.size()}, triangle_offset);
    out.plain("mesh.vertices", {vertices.size() / 3, 3}, vertices);
    out.plain("mesh.triangles", {triangles.size() / 3, 3}, triangles);
  }
  if (drawn.height_fields.empty()) return;
  std::vector<std::uint32_t> offset = {0};
  std::vector<float> heights;
  for (const SceneHeightField& field : drawn.height_fields) {
    for (const double z : field.heights) heights.push_back(static_cast<float>(z));
    offset.push_back(static_cast<std::uint32_t>(heights.size()));
  }
  out.plain("height_field.offset", {offset.size()}, offset);
  out.plain("height_field.heights", {heights.size()}, heights);
}

// How fine a page has to show what changes: finer steps would store the noise of the last digits.
constexpr double kLeastWay = 5e-5;   // of the radius of the scene
constexpr double kLeastTurn = 1e-4;  // rad, of coordinates
constexpr double kLeastQuaternion = 1.5e-4;
constexpr int kRateBits = 10;            // of the range of a rate
constexpr int kPlotBits = 12;            // of the range of an effort or a target
constexpr double kLeastOpening = 1e-13;  // m and rad: below is the rounding of poses
constexpr int kGapSteps = 4;             // to a decade
constexpr int kForceSteps = 8;

class MotionSections {
 public:
  MotionSections(const Scene& scene, const Motion& motion, Container& out)
      : scene_(scene), motion_(motion), out_(out), missing_(motion.missing.begin(), motion.missing.end()) {}

  void add() {
    const std::size_t n = motion_.layout().width(Column::position) / 3;
    out_.plain("time", {frames()}, numbers<double>([](const Frame& f) { return f.time; }));
    out_.plain("steps", {frames()}, numbers<std::uint32_t>([](const Frame& f) { return f.steps; }));
    if (n > 0) {
      const std::vector<double> way(3 * n, kLeastWay * scene_.radius);
      const std::vector<double> turn(4 * n, kLeastQuaternion);
      out_.delta("position", {frames(), n, 3}, column(Column::position), way);
      out_.delta("quaternion", {frames(), n, 4}, continuous(column(Column::quaternion)), turn);
    }
    std::vector<double> least;
    for (const Scalar& s : scene_.scalars) least.push_back(s.angular ? kLeastTurn : kLeastWay * scene_.radius);
    delta("coordinates", Column::coordinates, least, kDeltaBits);
    delta("rates", Column::rates, {}, kRateBits);
    delta("efforts", Column::efforts, {}, kPlotBits);
    delta("targets", Column::targets, {}, kPlotBits);
    logarithmic("joint_gap", Column::joint_gap, 1, kGapSteps, kLeastOpening);
    logarithmic("joint_angle", Column::joint_angle, 1, kGapSteps, kLeastOpening);
    logarithmic("reactions", Column::reactions, 2, kForceSteps, 0);
    series("residual.natural_map", &Frame::natural_map);
    series("residual.error", &Frame::error);
    series("residual.joint_gap", &Frame::joint_gap);
    series("residual.joint_angle", &Frame::joint_angle);
    series("residual.penetration", &Frame::penetration);
    series("residual.limit_violation", &Frame::limit_violation);
    if (has("iterations")) {
      out_.plain("iterations", {frames()}, numbers<std::uint32_t>([](const Frame& f) { return f.iterations; }));
    }
    out_.plain("status", {frames()}, numbers<std::uint8_t>([](const Frame& f) { return f.status; }));
    series("energy.kinetic", &Frame::kinetic);
    series("energy.potential", &Frame::potential);
    series("energy.work_in", &Frame::work_in);
    series("energy.dissipated", &Frame::dissipated);
    series("energy.unaccounted", &Frame::unaccounted);
    add_contacts();
  }

 private:
  std::size_t frames() const { return motion_.frames().size(); }
  bool has(std::string_view name) const { return missing_.count(name) == 0; }

  template <class T, class F>
  std::vector<T> numbers(F f) const {
    std::vector<T> out;
    out.reserve(frames());
    for (const Frame& frame : motion_.frames()) out.push_back(static_cast<T>(f(frame)));
    return out;
  }
  void series(std::string_view name, double Frame::*x) {
    if (has(name)) out_.plain(name, {frames()}, numbers<float>([x](const Frame& f) { return f.*x; }));
  }
  std::vector<double> column(Column c) const {
    const std::size_t first = motion_.layout().first(c);
    const std::size_t width = motion_.layout().width(c);
    std::vector<double> out;
    out.reserve(frames() * width);
    for (const Frame& f : motion_.frames()) {
      out.insert(out.end(), f.row.begin() + static_cast<std::ptrdiff_t>(first),
                 f.row.begin() + static_cast<std::ptrdiff_t>(first + width));
    }
    return out;
  }
  // A quaternion and its negative are one rotation: that is taken which is nearer to the one before.
  std::vector<double> continuous(std::vector<double> q) const {
    const std::size_t width = motion_.layout().width(Column::quaternion);
    for (std::size_t i = width; i < q.size(); i += 4) {
      double dot = 0;
      for (std::size_t k = i; k < i + 4; ++k) dot += q[k] * q[k - width];
      for (std::size_t k = i; dot < 0 && k < i + 4; ++k) q[k] = -q[k];
    }
    return q;
  }
  void delta(std::string_view name, Column c, std::span<const double> least, int bits) {
    const std::size_t width = motion_.layout().width(c);
    if (has(name) && width > 0) out_.delta(name, {frames(), width}, column(c), least, bits);
  }
  void logarithmic(std::string_view name, Column c, std::size_t each, int steps, double least) {
    const std::size_t count = motion_.layout().width(c) / each;
    if (!has(name) || count == 0) return;
    std::vector<double> sizes = column(c);
    for (double& x : sizes) x = x == 0 ? 0 : std::max(x, least);
    if (each == 1) {
      out_.logarithmic(name, {frames(), count}, sizes, steps);
    } else {
      out_.logarithmic(name, {frames(), count, each}, sizes, steps);
    }
  }

  void add_contacts() {
    std::vector<std::uint32_t> offset = {0};
    std::vector<double> point, normal, force, gap;
    std::vector<float> mu;
    std::vector<std::uint8_t> mode;
    std::vector<std::int32_t> geoms;
    for (const Frame& f : motion_.frames()) {
      for (const FrameContact& c : f.contacts) {
        point.insert(point.end(), {c.point.x(), c.point.y(), c.point.z()});
        normal.insert(normal.end(), {c.normal.x(), c.normal.y(), c.normal.z()});
        const Vec3 mean = f.interval > 0 ? Vec3(c.impulse_W / f.interval) : Vec3(Vec3::Zero());
        force.insert(force.end(), {mean.x(), mean.y(), mean.z()});
        gap.push_back(c.gap);
        mu.push_back(static_cast<float>(c.mu));
        mode.push_back(static_cast<std::uint8_t>(c.mode));
        geoms.insert(geoms.end(), {c.geom_a, c.geom_b});
      }
      offset.push_back(static_cast<std::uint32_t>(gap.size()));
    }
    if (gap.empty()) return;
    out_.plain("contacts.offset", {offset.size()}, offset);
    out_.quantised("contacts.point", {gap.size(), 3}, point);
    out_.quantised("contacts.normal", {gap.size(), 3}, normal);
    out_.quantised("contacts.force", {gap.size(), 3}, force);
    out_.quantised("contacts.gap", {gap.size()}, gap);
    if (has("contacts.mu")) out_.plain("contacts.mu", {gap.size()}, mu);
    out_.plain("contacts.mode", {gap.size()}, mode);
    out_.plain("contacts.geoms", {gap.size(), 2}, geoms);
  }

  const Scene& scene_;
  const Motion& motion_;
  Container& out_;
  std::set<std::string, std::less<>> missing_;
};

}  // namespace

std::string scene_payload(const Scene& scene, const RunFacts& facts) {
  Container out;
  add_surfaces(scene.drawn, out);
  return gzip(out.finish(header(scene, facts, "scene", Json::object())));
}

std::string motion_payload(const Scene& scene, const RunFacts& facts, const Motion& motion) {
  const std::vector<Frame>& frames = motion.frames();
  const double begin = frames.empty() ? 0 : frames.front().time;
  const Json timing = {{"begin", begin},
                       {"duration", frames.empty() ? 0 : frames.back().time - begin},
                       {"samples", motion.samples()},
                       {"frames", frames.size()},
                       {"frame_rate", motion.rate()},
                       {"every_step", motion.every_step},
                       {"end", {{"status", motion.end_status()}, {"message", motion.end_message()}}},
                       {"missing", motion.missing}};
  Container out;
  MotionSections(scene, motion, out).add();
  add_surfaces(scene.drawn, out);
  return gzip(out.finish(header(scene, facts, "motion", timing)));
}

std::string fitted_payload(const Scene& scene, const RunFacts& facts, Motion motion) {
  constexpr std::size_t kWanted = std::size_t{4} << 20;
  constexpr std::size_t kStill = std::size_t{16} << 20;  // for 120 frames a second
  constexpr double kSmooth = 120;
  while (true) {
    std::string payload = motion_payload(scene, facts, motion);
    const bool slow = motion.rate() > 0 && motion.rate() <= kSmooth;
    const bool fits = payload.size() <= (slow ? kStill : kWanted);
    if (fits || motion.rate_was_chosen() || motion.frames().size() <= 2) return payload;
    motion = motion.thinner();
  }
}

}  // namespace sarrus::view
