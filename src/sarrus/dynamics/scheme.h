// Integrators as data: what a scheme does in one step from (s, u-) to (s+, u+) over dt (docs/theory/integrators.md §8).
//
//   rows        at the pose s_r = s + row_pose dt u-
//   law         a row's law acts on J (u+ + beta u-): beta = 0 the velocity after the step, 1 twice the mean velocity
//   curvature   v* of rigid joints and ropes holds  curvature ((r(s + dt u-) - r(s))/dt - J u-)
//   armature    its coordinate moves at  q'+ = J u+ + rate_curvature (J(s + dt u-) - J(s)) u-/2  after the step
//   forces      dampers and servos act at the velocity theta u+ + (1 - theta) u-; theta = 0: explicit forces, no rows
//   springs     act at the position s_r + dt (plus u+ + minus u-)
//   positions   move with position u+ + (1 - position) u-
//   rotation    how w x I w enters the free velocity
//   finish      velocities are made tangent at the new pose to the joints and to what is sustained: contacts and limits
//               that carried load. It shortens u in the kinetic metric, so it only takes energy.
//   impact      the numbers for islands in which a contact or limit closes with a speed, and
//   stiff       for those with springs, dampers and servos that dt does not resolve, which would ring or gain energy at
//               the mean (docs/theory/integrators.md §11)
// Adding an integrator is one entry of the table in scheme.cpp and its name in the enum; rows and steps read these
// numbers and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sarrus/model/model.h"

namespace sarrus {

enum class Integrator : std::uint8_t {
  semi_implicit,
  moreau,
  explicit_euler,
  symplectic_euler,
  implicit_euler,
  midpoint
};

// exponential: q+ = exp(dt w) q.  cayley: q+ = cay(dt w) q, with which the midpoint rule keeps angular momentum.
enum class AttitudeMap : std::uint8_t { exponential, cayley };

// The torque w x I w is taken at the middle of the torque-free motion, and angular velocities are carried along with
// the bodies (coordinates.h: energy and angular momentum are kept to round-off), or together with the external torque
// at the stage theta of the scheme. Middle: the mean velocity is then corrected to the one that impulses lead to. Free:
// the torque-free motion comes first, and impulses act on what it leaves: an impact is no small change of velocity.
enum class Rotation : std::uint8_t { middle, free, stage };

struct SpringPoint {
  double plus = 1;
  double minus = 0;
};

struct Scheme {
  Integrator integrator = Integrator::semi_implicit;
  std::string_view name = {};
  double row_pose = 0;
  double joint_law = 0;      // beta of rigid joints
  double sustained_law = 0;  // beta of limits and contacts that carried load in the last step
  double curvature = 1;
  double rate_curvature = 1;
  double force = 1;  // theta
  SpringPoint spring = {};
  double position = 1;
  AttitudeMap attitude = AttitudeMap::exponential;
  Rotation rotation = Rotation::middle;
  bool finish = false;
  const Scheme* impact = nullptr;  // null: this one
  const Scheme* stiff = nullptr;   // likewise

  bool second_order() const { return position == 0.5; }  // of smooth motion
};

std::span<const Scheme> schemes();
const Scheme& scheme_of(Integrator integrator);
std::string_view name_of(Integrator integrator);
// Throws InputError with the known names.
Integrator integrator_from_name(std::string_view name);
// That of RunDefaults::integrator. A model keeps the name alone: here it is checked, and the InputError names the file,
// the key and the remedy.
Integrator recommended_integrator(const Model& model);

}  // namespace sarrus
