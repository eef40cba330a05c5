#include "sarrus/analysis/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sarrus/geometry/aabb.h"
#include "sarrus/model/unit_hints.h"

namespace sarrus {
namespace {

constexpr double kPi = std::numbers::pi;

// What a suspicion is about: the first number that raised it, and how many more.
class Suspicion {
 public:
  void add(std::string what) {
    if (count_++ == 0) first_ = std::move(what);
  }
  int count() const { return count_; }
  std::string text() const { return count_ == 1 ? first_ : fmt::format("{} (and {} more)", first_, count_ - 1); }

 private:
  std::string first_;
  int count_ = 0;
};

struct AngleSuspicions {
  Suspicion degrees;
  Suspicion radians;

  void check(const std::string& what, double x) {
    if (looks_like_degrees(x)) degrees.add(fmt::format("{} is {:.6g} rad", what, x));
    const double in_degrees = x * 180 / kPi;
    if (looks_like_radians(in_degrees)) radians.add(fmt::format("{} is {:.5g} degrees", what, in_degrees));
  }
};

void check_dof_angles(const std::string& name, const Dof& dof, AngleSuspicions& s) {
  const std::string of = fmt::format("of '{}'", name);
  if (std::isfinite(dof.limit.lower)) s.check("the lower limit " + of, dof.limit.lower);
  if (std::isfinite(dof.limit.upper)) s.check("the upper limit " + of, dof.limit.upper);
  if (dof.stiffness > 0) s.check("the rest of the spring " + of, dof.rest);
  if (dof.drive.mode != DriveMode::position) return;
  const Signal& target = dof.drive.target;
  s.check("the drive target " + of, target.offset);
  s.check("the amplitude of the drive target " + of, target.amplitude);
  s.check("the phase of the drive target " + of, target.phase);
  for (const TablePoint& p : target.table) s.check("a value in the table of the drive target " + of, p.value);
}

void add_angle_warnings(const Model& model, std::vector<std::string>& warnings) {
  AngleSuspicions s;
  for (const Joint& j : model.joints()) {
    for (int k = 0; k < joint_dofs(j); ++k) {
      const int i = j.first_dof + k;
      if (coordinate_is_angular(j, k))
        check_dof_angles(model.dof_name(i), model.dofs()[static_cast<std::size_t>(i)], s);
    }
    if (!std::isfinite(j.swing_limit)) continue;
    s.check(fmt::format("the swing limit of '{}'", j.name), j.swing_limit);
    if (j.swing_limit >= kPi && !looks_like_degrees(j.swing_limit)) {
      warnings.push_back(
          fmt::format("the swing limit of '{}' is {:.6g} rad: it is never reached from pi on", j.name, j.swing_limit));
    }
  }
  for (const Coupling& c : model.couplings()) {
    const Joint& j = model.joints()[static_cast<std::size_t>(model.joint_of_dof(c.dof_a))];
    if (coordinate_is_angular(j, c.dof_a - j.first_dof)) {
      s.check(fmt::format("the offset of the coupling '{}'", c.name), c.offset);
    }
  }
  if (s.degrees.count() > 0) {
    warnings.push_back(
        fmt::format("{}: looks like degrees; set \"angle_unit\": \"deg\", or give radians", s.degrees.text()));
  }
  if (s.radians.count() > 0) {
    warnings.push_back(
        fmt::format("{}: looks like radians; set \"angle_unit\": \"rad\", or give degrees", s.radians.text()));
  }
}

// Lengths and volumes of a body, whatever they are known by.
struct BodySize {
  double length = 0;  // m, largest distance from the centre of mass
  double volume = 0;  // m^3 of the boxes around its shapes: open meshes have no other
};

std::vector<BodySize> body_sizes(const Model& model) {
  std::vector<BodySize> sizes(model.bodies().size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Body& b = model.bodies()[i];
    sizes[i].length = std::sqrt(0.5 * b.inertia_B.trace() / b.mass);
  }
  for (const Geom& g : model.geoms()) {
    if (g.body == kWorld) continue;
    BodySize& s = sizes[static_cast<std::size_t>(g.body)];
    const Aabb box = shape_box(g.shape);
    s.length = std::max(s.length, (g.X_BG * box.centre()).norm() + 0.5 * box.diagonal());
    s.volume += (box.hi - box.lo).prod();
  }
  for (const Joint& j : model.joints()) {
    if (j.type == JointType::free) continue;
    if (j.base != kWorld) {
      BodySize& s = sizes[static_cast<std::size_t>(j.base)];
      s.length = std::max(s.length, j.p_BJ.norm());
    }
    BodySize& s = sizes[static_cast<std::size_t>(j.follower)];
    s.length = std::max(s.length, j.p_FJ.norm());
  }
  return sizes;
}

void add_length_and_mass_warnings(const Model& model, std::vector<std::string>& warnings) {
  constexpr double kLong = 20;            // m
  constexpr double kVeryLong = 100;       // m
  constexpr double kThin = 1e-3;          // kg/m^3
  constexpr double kHeaviest = 100'000.;  // kg/m^3; osmium has 22600, wood in grams 500000
  const std::vector<BodySize> sizes = body_sizes(model);
  Suspicion millimetres;
  Suspicion grams;
  int with_volume = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Body& b = model.bodies()[i];
    const BodySize& s = sizes[i];
    if (s.length > kVeryLong || (s.length > kLong && b.mass < kThin * std::pow(s.length, 3))) {
      millimetres.add(fmt::format("body '{}' of {:.4g} kg reaches {:.4g} m from its centre", b.name, b.mass, s.length));
    }
    if (!(s.volume > 0)) continue;
    ++with_volume;
    if (b.mass > kHeaviest * s.volume) {
      grams.add(fmt::format("body '{}' of {:.4g} kg has {:.4g} kg/m^3", b.name, b.mass, b.mass / s.volume));
    }
  }
  if (millimetres.count() > 0) {
    warnings.push_back(
        fmt::format("{}: looks like millimetres; give metres (mesh files: \"scale\": 0.001)", millimetres.text()));
  }
  // One dense body is a shape that stands for a part of it; a file in grams has no other ones.
  if (grams.count() > 0 && grams.count() == with_volume) {
    warnings.push_back(fmt::format("{}: looks like grams; give kilograms", grams.text()));
  }
}

}  // namespace

void add_unit_warnings(const Model& model, std::vector<std::string>& warnings) {
  add_angle_warnings(model, warnings);
  add_length_and_mass_warnings(model, warnings);
}

}  // namespace sarrus
