// What two models must agree in to share a simulation.
#include <fmt/format.h>

#include <cmath>

#include "sarrus/model/fingerprint.h"
#include "sarrus/model/parameters.h"

namespace sarrus {
namespace {

// Numbers become what must agree of them.
void keep_sign(double& x) { x = x > 0 ? 1 : 0; }
void keep_infinity(double& x) { x = std::isfinite(x) ? 0 : x; }

void keep_kind(Dof& d) {
  const bool locked = d.limit.locked();
  keep_infinity(d.limit.lower);
  keep_infinity(d.limit.upper);
  if (!locked && d.limit.lower == 0 && d.limit.upper == 0) d.limit.upper = 1;
  d.limit.restitution = 0;
  for (double* x : {&d.armature, &d.stiffness, &d.damping, &d.dry_friction, &d.drive.kp, &d.drive.kd}) keep_sign(*x);
  d.rest = 0;
  if (d.initial) d.initial = 0.0;
  Drive& v = d.drive;
  for (double* x : {&v.effort_limit, &v.effort_lower, &v.effort_upper, &v.target_lower, &v.target_upper}) {
    keep_infinity(*x);
  }
  v.target.offset = v.target.rate = v.target.amplitude = v.target.frequency = v.target.phase = 0;
}

template <class List>
void keep_laws(List& list) {
  for (auto& law : list) law.mu = law.restitution = 0;
}

ModelData structure_of(const Model& model) {
  ModelData d = model.data();
  d.gravity = Vec3::Zero();
  for (Body& b : d.bodies) {
    b.mass = b.gravity_scale = 1;
    b.inertia_B = Mat3::Identity();
    b.X_WB0 = Pose{};
    b.v0_W = b.w0_W = Vec3::Zero();
    keep_sign(b.linear_damping);
    keep_sign(b.angular_damping);
  }
  for (Dof& x : d.dofs) keep_kind(x);
  for (Combination& c : d.combinations) keep_kind(c.law);
  keep_laws(d.materials);
  keep_laws(d.material_pairs);
  keep_laws(d.contact_pairs);
  return d;
}

std::string name_at(const ModelData&, const ModelData& of, std::vector<Dof> ModelData::*, std::size_t i) {
  for (const Joint& j : of.joints) {
    const auto first = static_cast<std::size_t>(j.first_dof);
    if (i >= first && i < first + static_cast<std::size_t>(joint_dofs(j))) {
      return fmt::format("of joint '{}'", j.name);
    }
  }
  return fmt::format("{}", i);
}

template <class T>
std::string name_at(const ModelData&, const ModelData& of, std::vector<T> ModelData::*list, std::size_t i) {
  if constexpr (requires(T x) { x.name; }) {
    return fmt::format("'{}'", (of.*list)[i].name);
  } else {
    return fmt::format("{}", i);
  }
}

// Of one list: the first element that is another one in `b`.
template <class T>
std::string difference_of(std::string_view what, std::vector<T> ModelData::*list, const ModelData& a,
                          const ModelData& b) {
  ModelData mixed = a;
  mixed.*list = b.*list;
  if (fingerprint(mixed) == fingerprint(a)) return {};
  const std::size_t n = (a.*list).size();
  if (n != (b.*list).size()) return fmt::format("{} of kind {} in one, {} in the other", n, what, (b.*list).size());
  // By halves: the fingerprint up to the first difference agrees.
  std::size_t low = 0, high = n;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    mixed.*list = a.*list;
    const auto end = static_cast<std::ptrdiff_t>(middle);
    std::copy((b.*list).begin(), (b.*list).begin() + end, (mixed.*list).begin());
    (fingerprint(mixed) == fingerprint(a) ? low : high) = middle;
  }
  return fmt::format(
      "{} {} is another one, or what is 0, infinite or locked in one of the models is not so in the other", what,
      name_at(b, a, list, low));
}

}  // namespace

std::string structural_difference(const Model& a, const Model& b) {
  if (&a.data() == &b.data()) return {};
  const ModelData x = structure_of(a), y = structure_of(b);
  if (fingerprint(x) == fingerprint(y)) return {};
  for (const std::string& found :
       {difference_of("body", &ModelData::bodies, x, y), difference_of("joint", &ModelData::joints, x, y),
        difference_of("degree of freedom", &ModelData::dofs, x, y),
        difference_of("coupling", &ModelData::couplings, x, y),
        difference_of("combination", &ModelData::combinations, x, y),
        difference_of("material", &ModelData::materials, x, y),
        difference_of("material pair", &ModelData::material_pairs, x, y),
        difference_of("geom", &ModelData::geoms, x, y), difference_of("exclude", &ModelData::excludes, x, y),
        difference_of("include", &ModelData::includes, x, y),
        difference_of("contact pair", &ModelData::contact_pairs, x, y)}) {
    if (!found.empty()) return found;
  }
  return "self_collision is not the same";
}

}  // namespace sarrus
