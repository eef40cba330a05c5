// Each element is taken apart into all of its members: whoever adds one is told by the compiler to decide here whether
// motion depends on it.
#include "sarrus/model/fingerprint.h"

#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/hash.h"

namespace sarrus {
namespace {

class Print {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (add(values), ...);
  }
  std::uint64_t value() const { return hash_.value(); }

 private:
  template <class T>
  requires std::integral<T> || std::is_enum_v<T>
  void add(T x) { hash_.add(static_cast<std::uint64_t>(x)); }
  void add(double x) { hash_.add(x); }
  void add(const std::string& s) {
    add(s.size());
    hash_.bytes(s.data(), s.size());
  }
  template <class Derived>
  void add(const Eigen::PlainObjectBase<Derived>& m) {
    for (Eigen::Index i = 0; i < m.size(); ++i) add(m.data()[i]);
  }
  void add(const Quat& q) { add(q.coeffs()); }
  void add(const Pose& X) { (*this)(X.p, X.q); }
  template <class T>
  void add(const std::optional<T>& x) {
    add(x.has_value());
    if (x) add(*x);
  }
  template <class T, std::size_t N>
  void add(std::span<T, N> list) {
    add(list.size());
    for (const auto& x : list) add(x);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(std::span(list));
  }
  template <class T, std::size_t N>
  void add(const std::array<T, N>& list) {
    add(std::span(list));
  }

  void add(const Body& b) {
    const auto& [name, mass, inertia_B, X_WB0, v0_W, w0_W, ccd, gravity_scale, linear_damping, angular_damping] = b;
    (*this)(name, mass, inertia_B, X_WB0, v0_W, w0_W, ccd, gravity_scale, linear_damping, angular_damping);
  }
  void add(const TablePoint& p) {
    const auto& [time, value] = p;
    (*this)(time, value);
  }
  void add(const Signal& s) {
    const auto& [offset, rate, amplitude, frequency, phase, table, interpolation] = s;
    (*this)(offset, rate, amplitude, frequency, phase, table, interpolation);
  }
  void add(const Drive& d) {
    const auto& [mode, kp, kd, effort_limit, target, effort_lower, effort_upper, target_lower, target_upper, name] = d;
    (*this)(mode, kp, kd, effort_limit, target, effort_lower, effort_upper, target_lower, target_upper, name);
  }
  void add(const Compliance& c) {
    const auto& [model, cfm, erp, d0, dw, width, midpoint, power, time_constant, damping_ratio, margin, stiffness,
                 dissipation, near_rigid, stiction, damping, friction_damping, modulus, radius, unit_factor, length] =
        c;
    (*this)(model, cfm, erp, d0, dw, width, midpoint, power, time_constant, damping_ratio, margin, stiffness,
            dissipation, near_rigid, stiction, damping, friction_damping, modulus, radius, unit_factor, length);
  }
  void add(const Limit& l) {
    const auto& [lower, upper, restitution, erp, compliance] = l;
    (*this)(lower, upper, restitution, erp, compliance);
  }
  void add(const Dof& d) {
    const auto& [limit, drive, armature, stiffness, rest, damping, dry_friction, wrapped, initial] = d;
    (*this)(limit, drive, armature, stiffness, rest, damping, dry_friction, wrapped, initial);
  }
  void add(const SerialAxis& a) {
    const auto& [name, angular, p_J, axis_J, reference] = a;
    (*this)(name, angular, p_J, axis_J, reference);
  }
  void add(const Joint& j) {
    const auto& [name, type, base, follower, p_BJ, p_FJ, q_BJ, q_FJ, length, rope, swing_limit, q_rest, erp, compliance,
                 first_dof, axes] = j;
    (*this)(name, type, base, follower, p_BJ, p_FJ, q_BJ, q_FJ, length, rope, swing_limit, q_rest, erp, compliance,
            first_dof, axes);
  }
  void add(const Coupling& c) {
    const auto& [name, dof_a, dof_b, ratio, offset, higher, erp, compliance] = c;
    (*this)(name, dof_a, dof_b, ratio, offset, higher, erp, compliance);
  }
  void add(const CombinationTerm& t) {
    const auto& [dof, coefficient] = t;
    (*this)(dof, coefficient);
  }
  void add(const Combination& c) {
    const auto& [name, terms, offset, law] = c;
    (*this)(name, terms, offset, law);
  }
  void add(const Material& m) {
    const auto& [name, mu, restitution, compliance] = m;
    (*this)(name, mu, restitution, compliance);
  }
  void add(const MaterialPair& m) {
    const auto& [a, b, mu, restitution, compliance] = m;
    (*this)(a, b, mu, restitution, compliance);
  }
  void add(const BodyPair& p) {
    const auto& [a, b] = p;
    (*this)(a, b);
  }
  void add(const ContactPair& p) {
    const auto& [a, b, mu, restitution, compliance, margin] = p;
    (*this)(a, b, mu, restitution, compliance, margin);
  }
  void add(const Geom& g) {
    const auto& [name, body, shape, X_BG, material, group, collides_with, margin, colour] = g;
    (*this)(name, body, shape, X_BG, material, group, collides_with, margin);
  }
  void add(const CompoundChild& c) {
    const auto& [shape, X_SC] = c;
    (*this)(shape, X_SC);
  }
  void add(const Shape& s) {
    const auto& [kind, size, hull, mesh, height_field, children, mass_from_hull] = s;
    (*this)(kind, size, mass_from_hull);
    if (hull) add_once(hull.get(), [](Print& p, const ConvexHull& h) { p(h.vertices()); });
    if (mesh) add_once(mesh.get(), [](Print& p, const TriangleMesh& m) { p(m.vertices(), m.triangles()); });
    if (height_field) {
      add_once(height_field.get(),
               [](Print& p, const HeightField& f) { p(f.columns(), f.rows(), f.dx(), f.dy(), f.heights()); });
    }
    if (children) add(*children);
  }

  // Many geoms may share what is large.
  template <class T, class F>
  void add_once(const T* what, const F& f) {
    const auto [found, is_new] = known_.try_emplace(what, 0);
    if (is_new) {
      Print of_it;
      f(of_it, *what);
      found->second = of_it.value();
    }
    add(found->second);
  }

  Hash64 hash_;
  std::unordered_map<const void*, std::uint64_t> known_;
};

}  // namespace

std::uint64_t fingerprint(const ModelData& data) {
  const auto& [name, description, source, gravity, defaults, bodies, joints, dofs, couplings, combinations, materials,
               material_pairs, geoms, visuals, frames, excludes, contact_pairs, includes, self_collision] = data;
  Print print;
  print(gravity, bodies, joints, dofs, couplings, combinations, materials, material_pairs, geoms, excludes,
        contact_pairs, includes, self_collision);
  return print.value();
}

}  // namespace sarrus
