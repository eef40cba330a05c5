// Parameters of a model by name: what sweeps vary and what worlds of a batch may differ in.
//
//   gravity.x | y | z                                                          m/s^2
//   body.NAME.mass (the inertia grows with it) | inertia_scale (a factor) | gravity_scale | linear_damping |
//        angular_damping                                                       kg, 1, 1, N s/m, N m s/rad
//   material.NAME.friction | restitution
//   material_pair.A,B.friction | restitution                                   of materials
//   contact_pair.A,B.friction | restitution                                    of geoms
//   dof.NAME.stiffness | rest | damping | dry_friction | armature | lower | upper      of coordinates and combinations
//   drive.NAME.kp | kd | effort_limit | offset | rate | amplitude | frequency | phase  NAME: of the drive, or its dof
// Units are those of model.h. A NAME may be *: all of its kind that have the parameter.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

struct ParameterChange {
  std::string parameter;
  double value = 0;
  bool factor = false;  // the value multiplies what the model has
};

// A model with other numbers, checked like any. Throws InputError for names it does not have (with the nearest one) and
// for values that no model may have.
Model changed(const Model& model, std::span<const ParameterChange> changes);

// The value of one parameter (of several by *: of the first).
double parameter(const Model& model, std::string_view name);

// All of them, in the order above.
std::vector<std::string> parameter_names(const Model& model);

// Empty if worlds of both models may share a simulation: all is equal but numbers, and of these what is zero, infinite
// or locked in one is so in the other. Else what differs, "drive of 'crank': kp is 0 in one of them".
std::string structural_difference(const Model& a, const Model& b);

}  // namespace sarrus
