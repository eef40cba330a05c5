#include "sarrus/scene_files/scene_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "sarrus/math/so3.h"

namespace sarrus::scene {
namespace {

constexpr double kDirectionTolerance = 1e-3;

std::string to_text(const Vec3& x) { return fmt::format("[{:.9g}, {:.9g}, {:.9g}]", x[0], x[1], x[2]); }

// Keeps the bits of a quaternion that is normalised already, like finish_model: saved files load exactly.
Quat read_quaternion(ObjectReader& r, std::string_view key) {
  const std::vector<double> x = r.numbers(key, {4});
  Quat q(x[0], x[1], x[2], x[3]);
  const double norm = q.coeffs().stableNorm();
  if (!(std::abs(norm - 1.0) <= kDirectionTolerance)) {
    r.fail(fmt::format("{} has norm {:.6g}; give a unit quaternion [w, x, y, z]", r.full(key), norm));
  }
  if (std::abs(q.squaredNorm() - 1.0) > 4e-15) q.normalize();
  return q;
}

// Intrinsic x, y', z'': R = Rx(a) Ry(b) Rz(c), the convention of the gimbal joint.
Quat read_euler(ObjectReader& r, double angle_unit) {
  const Vec3 a = r.vec3("euler_xyz") * angle_unit;
  return so3_exp(Vec3(a[0], 0, 0)) * so3_exp(Vec3(0, a[1], 0)) * so3_exp(Vec3(0, 0, a[2]));
}

Quat read_axes(ObjectReader& r, bool has_x, bool has_y, bool has_z) {
  const auto perpendicular = [&r](std::string_view key_a, std::string_view key_b) {
    const Vec3 a = read_direction(r, key_a);
    const Vec3 b = read_direction(r, key_b);
    if (std::abs(a.dot(b)) > kDirectionTolerance) {
      const Vec3 projected = b - a.dot(b) * a;
      r.fail(fmt::format("{} and {} are not perpendicular; {}", r.full(key_a), r.full(key_b),
                         projected.norm() > 1e-6
                             ? fmt::format("write \"{}\": {}", key_b, to_text(projected.normalized()))
                             : fmt::format("choose another {}", key_b)));
    }
    return std::pair(a, b);
  };
  if (has_x && has_y && has_z) r.fail(r.self() + " gives three axes; give one or two, the others follow");
  if (has_x && has_y) {
    const auto [x, y] = perpendicular("x_axis", "y_axis");
    return frame_with_xy(x, y);
  }
  if (has_x && has_z) {
    const auto [x, z] = perpendicular("x_axis", "z_axis");
    return frame_with_xy(x, z.cross(x));
  }
  if (has_y && has_z) {
    const auto [y, z] = perpendicular("y_axis", "z_axis");
    return frame_with_xy(y.cross(z), y);
  }
  if (has_y) r.fail(r.full("y_axis") + " alone does not fix the frame; add x_axis or z_axis");
  return has_x ? frame_with_x(read_direction(r, "x_axis")) : frame_with_z(read_direction(r, "z_axis"));
}

// Calls f(key, parameter, required) for the numbers of a model: the one list of keys for reading and writing.
template <class F>
void for_each_number(ComplianceModel model, F f) {
  using C = Compliance;
  switch (model) {
    case ComplianceModel::rigid:
      return;
    case ComplianceModel::cfm_erp:
      f("cfm", &C::cfm, false);
      f("erp", &C::erp, false);
      break;
    case ComplianceModel::mujoco:
      f("d0", &C::d0, false);
      f("dw", &C::dw, false);
      f("width", &C::width, false);
      f("midpoint", &C::midpoint, false);
      f("power", &C::power, false);
      f("time_constant", &C::time_constant, false);
      f("damping_ratio", &C::damping_ratio, false);
      f("margin", &C::margin, false);
      return;
    case ComplianceModel::physical:
      f("stiffness", &C::stiffness, true);
      f("dissipation", &C::dissipation, false);
      f("near_rigid", &C::near_rigid, false);
      f("stiction", &C::stiction, false);
      break;
    case ComplianceModel::spring_damper:
      f("stiffness", &C::stiffness, true);
      f("damping", &C::damping, false);
      f("friction_damping", &C::friction_damping, false);
      break;
    case ComplianceModel::hertz:
      f("modulus", &C::modulus, true);
      f("radius", &C::radius, true);
      f("damping", &C::damping, false);
      f("friction_damping", &C::friction_damping, false);
      return;
  }
  f("length", &C::length, false);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  names.reserve(kComplianceModelCount);
  for (int i = 0; i < kComplianceModelCount; ++i) names.emplace_back(name_of(static_cast<ComplianceModel>(i)));
  return names;
}

}  // namespace

Vec3 read_direction(ObjectReader& r, std::string_view key) {
  const Vec3 d = r.vec3(key);
  const double length = d.stableNorm();
  if (length < 1e-12) r.fail(fmt::format("{} has length 0; give a direction such as [0, 0, 1]", r.full(key)));
  Vec3 unit = (d / d.cwiseAbs().maxCoeff()).normalized();
  if (!(std::abs(length - 1.0) <= kDirectionTolerance)) {
    r.fail(fmt::format("{} has length {:.6g}, not 1; write \"{}\": {}", r.full(key), length, key, to_text(unit)));
  }
  return unit;
}

std::optional<Quat> read_orientation(ObjectReader& r, std::string_view quaternion_key, double angle_unit) {
  const bool quaternion = r.has(quaternion_key);
  const bool euler = r.has("euler_xyz");
  const bool x = r.has("x_axis");
  const bool y = r.has("y_axis");
  const bool z = r.has("z_axis");
  if (int{quaternion} + int{euler} + int{x || y || z} > 1) {
    r.fail(fmt::format("{} gives the orientation twice; keep one of {}, euler_xyz or the axis keys", r.self(),
                       quaternion_key));
  }
  if (quaternion) return read_quaternion(r, quaternion_key);
  if (euler) return read_euler(r, angle_unit);
  if (x || y || z) return read_axes(r, x, y, z);
  return std::nullopt;
}

Pose read_frame(ObjectReader r, double angle_unit) {
  Pose X;
  X.p = r.vec3("p", Vec3::Zero());
  X.q = read_orientation(r, "q", angle_unit).value_or(Quat::Identity());
  r.finish();
  return X;
}

Colour read_colour(ObjectReader& r) {
  const std::vector<double> c = r.numbers("rgba", {3, 4});
  for (const double x : c) {
    if (!(x >= 0 && x <= 1)) r.fail(fmt::format("{} has a component {}; give numbers from 0 to 1", r.full("rgba"), x));
  }
  return {c[0], c[1], c[2], c.size() == 4 ? c[3] : 1.0};
}

Compliance read_compliance(ObjectReader& owner, const Compliance& fallback) {
  if (!owner.has("compliance")) return fallback;
  ObjectReader r = owner.object("compliance");
  Compliance c;
  c.model = static_cast<ComplianceModel>(r.choice("model", model_names()));
  for_each_number(c.model, [&](const char* key, double Compliance::*parameter, bool required) {
    c.*parameter = required ? r.number(key) : r.number(key, c.*parameter);
  });
  if (c.model == ComplianceModel::hertz) c.unit_factor = r.flag("unit_factor", false);
  r.finish();
  return c;
}

OrderedJson compliance_json(const Compliance& c) {
  OrderedJson out;
  out["model"] = std::string(name_of(c.model));
  for_each_number(c.model, [&](const char* key, double Compliance::*parameter, bool) {
    // There is no number for "default" in a file: the key is left out.
    if (c.*parameter != kUseDefault) out[key] = c.*parameter;
  });
  if (c.unit_factor && c.model == ComplianceModel::hertz) out["unit_factor"] = true;
  return out;
}

}  // namespace sarrus::scene
