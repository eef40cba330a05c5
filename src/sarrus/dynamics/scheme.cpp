#include "sarrus/dynamics/scheme.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus {
namespace {

// The two-stage theta-scheme: forces at q0 + dt theta v_pos and theta v + (1 - theta) v0, positions by
// v_pos = theta_vq v + (1 - theta_vq) v0. Since J u- = 0, a curvature of 1/theta_vq brings positions onto the
// manifold; explicit Euler moves them with u- alone, and 2 makes its u+ tangent at the new pose.
constexpr Scheme theta_scheme(Integrator integrator, std::string_view name, double theta, double theta_vq) {
  Scheme s;
  s.integrator = integrator;
  s.name = name;
  s.curvature = s.rate_curvature = 1 / (theta_vq > 0.5 ? theta_vq : 0.5);
  s.force = theta;
  s.spring = {theta * theta_vq, theta * (1 - theta_vq)};
  s.position = theta_vq;
  s.rotation = Rotation::stage;
  return s;
}

constexpr Scheme kSemiImplicit{.integrator = Integrator::semi_implicit, .name = "semi-implicit"};

// What moreau does where something closes: rows at s, all laws on u+, positions by u+, so that a body stops at the
// surface. No curvature: rows of joints do no work then, and the projection closes them.
constexpr Scheme kImpact{
    .integrator = Integrator::moreau, .name = "moreau", .curvature = 0, .rotation = Rotation::free, .finish = true};

constexpr Scheme kSchemes[] = {
    kSemiImplicit,
    // Impulses of joints and of sustained contacts and limits do no work on the mean velocity. A spring is taken at the
    // mean of the positions before and after, s_r + dt/4 (u+ - u-), where it neither gains nor loses energy, dampers at
    // the mean velocity; stiffer ones would ring there.
    {.integrator = Integrator::moreau,
     .name = "moreau",
     .row_pose = 0.5,
     .joint_law = 1,
     .sustained_law = 1,
     .curvature = 0,
     .force = 0.5,
     .spring = {0.25, -0.25},
     .position = 0.5,
     .attitude = AttitudeMap::cayley,
     .finish = true,
     .impact = &kImpact,
     .stiff = &kSemiImplicit},
    theta_scheme(Integrator::explicit_euler, "explicit-euler", 0, 0),
    theta_scheme(Integrator::symplectic_euler, "symplectic-euler", 0, 1),
    theta_scheme(Integrator::implicit_euler, "implicit-euler", 1, 1),
    theta_scheme(Integrator::midpoint, "midpoint", 0.5, 0.5),
};

const Scheme* find_scheme(std::string_view name) {
  const auto* s =
      std::find_if(std::begin(kSchemes), std::end(kSchemes), [&](const Scheme& x) { return x.name == name; });
  return s == std::end(kSchemes) ? nullptr : s;
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const Scheme& s : kSchemes) names.emplace_back(s.name);
  return names;
}

}  // namespace

std::span<const Scheme> schemes() { return kSchemes; }
const Scheme& scheme_of(Integrator integrator) { return kSchemes[static_cast<std::size_t>(integrator)]; }
std::string_view name_of(Integrator integrator) { return scheme_of(integrator).name; }

Integrator integrator_from_name(std::string_view name) {
  if (const Scheme* s = find_scheme(name)) return s->integrator;
  throw InputError("", fmt::format("unknown integrator '{}'; use one of {}", name, fmt::join(scheme_names(), ", ")));
}

Integrator recommended_integrator(const Model& model) {
  const std::string& name = model.defaults().integrator;
  if (const Scheme* s = find_scheme(name)) return s->integrator;
  const std::string& file = model.source();
  throw InputError(
      file.empty() ? "scene" : printable(file, file.size()) + ": scene",
      fmt::format("run.integrator {} is unknown; {}", in_quotes(name), suggestion(name, scheme_names(), "integrator")));
}

}  // namespace sarrus
