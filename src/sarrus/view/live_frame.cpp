#include "sarrus/view/live_frame.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace sarrus::view {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are sent as they lie in memory");

class FrameWriter {
 public:
  explicit FrameWriter(std::size_t bytes) { out_.reserve(bytes); }

  template <class T>
  void raw(T x) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &x, sizeof(T));
    out_.append(bytes, sizeof(T));
  }
  void u8(std::uint8_t x) { raw(x); }
  void u32(std::uint32_t x) { raw(x); }
  void f64(double x) { raw(x); }
  void f32(double x) {
    constexpr double kMost = std::numeric_limits<float>::max();
    raw(static_cast<float>(std::clamp(x, -kMost, kMost)));
  }
  void f32(const Vec3& v) {
    for (int i = 0; i < 3; ++i) f32(v[i]);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void write_head(const LiveFrame& live, const Frame& f, FrameWriter& out) {
  out.u8(2);
  out.u8(live.flags);
  out.u8(f.status);
  out.u8(live.solve_status);
  out.u32(live.sequence);
  out.f64(f.time);
  for (int i = 0; i < 3; ++i) out.f64(live.origin[i]);
  out.f64(live.earliest);
  out.f64(std::max(live.latest, f.time));
  out.u32(live.index);
  out.u32(f.steps);
  out.f32(live.speed_asked);
  out.f32(live.speed_reached);
  for (const double x : {f.natural_map, f.error, f.joint_gap, f.joint_angle, f.penetration, f.limit_violation}) {
    out.f32(x);
  }
  out.f32(static_cast<double>(f.iterations));
  for (const double x : {f.kinetic, f.potential, f.work_in, f.dissipated, f.unaccounted}) out.f32(x);
}

void write_contact(const FrameContact& c, double interval, const Vec3& origin, FrameWriter& out) {
  out.f32(c.point - origin);
  out.f32(c.normal);
  out.f32(interval > 0 ? Vec3(c.impulse_W / interval) : Vec3(Vec3::Zero()));
  out.f32(c.gap);
  out.f32(c.mu);
  out.raw(static_cast<std::int32_t>(c.geom_a));
  out.raw(static_cast<std::int32_t>(c.geom_b));
  out.u8(static_cast<std::uint8_t>(c.mode));
  for (int i = 0; i < 3; ++i) out.u8(0);
}

}  // namespace

std::string encode_frame(const LiveFrame& live, const Layout& layout, const Frame& f) {
  const std::size_t bodies = layout.width(Column::position) / 3;
  const std::size_t dofs = layout.width(Column::coordinates);
  const std::size_t joints = live.joints ? layout.width(Column::joint_gap) : 0;
  const std::size_t contacts = live.contacts ? f.contacts.size() : 0;
  FrameWriter out(184 + 28 * bodies + 16 * dofs + 16 * joints + 56 * contacts);
  write_head(live, f, out);
  for (const std::size_t n : {bodies, dofs, joints, contacts}) out.u32(static_cast<std::uint32_t>(n));
  out.raw(static_cast<std::int32_t>(live.dragged));
  const bool dragging = live.dragged != kWorld;
  out.f32(dragging ? Vec3(live.held_W - live.origin) : Vec3(Vec3::Zero()));
  out.f32(dragging ? Vec3(live.target_W - live.origin) : Vec3(Vec3::Zero()));
  out.f32(live.drag_force_W);
  out.f64(live.forget);
  const auto column = [&](Column c) { return f.row.data() + layout.first(c); };
  const double* p = column(Column::position);
  const double* q = column(Column::quaternion);
  for (std::size_t i = 0; i < bodies; ++i) {
    for (int k = 0; k < 3; ++k) out.f32(p[3 * i + static_cast<std::size_t>(k)] - live.origin[k]);
    for (std::size_t k = 0; k < 4; ++k) out.f32(q[4 * i + k]);
  }
  for (std::size_t i = 0; i < dofs; ++i) {
    for (const Column c : {Column::coordinates, Column::rates, Column::efforts, Column::targets}) out.f32(column(c)[i]);
  }
  for (std::size_t i = 0; i < joints; ++i) {
    out.f32(column(Column::joint_gap)[i]);
    out.f32(column(Column::joint_angle)[i]);
    out.f32(column(Column::reactions)[2 * i]);
    out.f32(column(Column::reactions)[2 * i + 1]);
  }
  for (std::size_t i = 0; i < contacts; ++i) write_contact(f.contacts[i], f.interval, live.origin, out);
  return out.take();
}

}  // namespace sarrus::view
