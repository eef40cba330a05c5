// Assembly: the nearest pose in which all joints meet, and the pose that belongs to given coordinates
// (docs/theory/assembly.md).
//
//   min 1/2 |X (-) X_given|^2_M   s.t.  c(X) = 0,  g(X) >= 0
// c: residuals of rigid joints, rods, couplings, locked coordinates and pins q_a - value; g: limits, ropes, swings.
// X (-) Y = (r_X - r_Y, log(R_X R_Y')) by body, in the metric of the masses. Only bodies that joints connect move.
// Lengths in m, angles in rad. Everything is deterministic and bounded by the iterations of the options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"

namespace sarrus {

// A coordinate that has this value, m or rad (angles count turns).
struct CoordinateValue {
  int dof = 0;
  double value = 0;
};

struct AssemblyOptions {
  double tolerance = 1e-11;  // of every residual: in rad, and in m times the length of the mechanism
  // Redundant loops of rounded numbers contradict themselves: what is left of them may be that much and the pose still
  // counts as closed, rad, and m times the length of the mechanism.
  double snap = 1e-4;
  bool limits = true;        // false: limits, ropes and swing limits are not respected
  int max_iterations = 200;  // of Newton's method, for each time that loops are closed
  std::vector<CoordinateValue> pins = {};
};

enum class AssemblyStatus : std::uint8_t {
  already,            // nothing had to move
  assembled,          // closed to the tolerance
  assembled_inexact,  // closed up to the contradictions of redundant loops, above 1e-6 (AssemblyReport::residual)
  infeasible,         // the loops cannot close near here; the state is the one that leaves least open
  limits_conflict,    // they can, but not within the limits
  unreachable,        // forward kinematics: they do not reach the wanted values (AssemblyReport::reached)
  max_iterations,     // no verdict within the iterations
  non_finite,         // the given state is none
  too_large           // more than kMostAssemblyRows rows in one mechanism
};
std::string_view name_of(AssemblyStatus status);

// Closing is dense within a mechanism: one of so many rows takes seconds for each iteration.
inline constexpr int kMostAssemblyRows = 2000;
inline constexpr int kMostFreedomRows = 800;

struct AssemblyReport {
  AssemblyStatus status = AssemblyStatus::already;
  int iterations = 0;
  double gap_before = 0;  // the largest residual of the given state, m or rad
  double residual = 0;    // and that of the result
  int worst_joint = -1;   // the joint of that one; -1: a coupling, a pin or none

  struct Moved {
    int body = 0;
    double distance = 0;  // m, of the centre of mass
    double angle = 0;     // rad
  };
  std::vector<Moved> moved;      // the ten that moved most, by more than 1e-9
  std::vector<double> q_before;  // by dof
  std::vector<double> q_after;
  std::vector<int> limits_reached;  // dofs that end on a limit

  // Forward kinematics: how much of the way to the wanted values was gone, 0 to 1, and the smallest singular value of
  // the scaled rows (freedom of the mechanism with its driven coordinates) met on the way, relative to the largest.
  double reached = 1;
  double sigma_on_path = 1;

  // At the result, pins counted as rows: singular values of the rows, scaled to length 1 in the metric of the masses,
  // above 1e-9 and above 1e-4 of the largest. Mobility = 6 n - rank of the second kind.
  int rows = 0;
  int rank = -1;  // -1, as what follows from it: not computed, above kMostFreedomRows rows
  int loose_rank = -1;
  int mobility = -1;
  double sigma_min = 1;  // smallest of those above 1e-9
  // Where both ranks differ: whether the posture is singular (a dead point), or the rows are redundant but for
  // rounding.
  bool near_singular = false;
  bool rounded = false;
  std::vector<int> singular_joints;  // those that move most in the direction of sigma_min

  bool closed() const {
    return status == AssemblyStatus::already || status == AssemblyStatus::assembled ||
           status == AssemblyStatus::assembled_inexact;
  }
};

struct Assembly {
  State state;  // poses and coordinates; time and velocities as given
  AssemblyReport report;
};

// The nearest state in which all joints meet.
Assembly assemble(const Model& model, const State& given, const AssemblyOptions& options = {});

// The state with the wanted coordinates, all others following by continuation from the given state, which has to be
// assembled: the branch stays the same. Wanted coordinates may lie outside of their limits; others respect them.
Assembly forward_kinematics(const Model& model, const State& given, std::span<const CoordinateValue> wanted,
                            const AssemblyOptions& options = {});

// The model with this state as its reference pose.
Model with_reference(const Model& model, const State& state);

// One line for people: what happened, and for failures which joints, bodies and remedy.
std::string assembly_text(const Model& model, const AssemblyReport& report);

}  // namespace sarrus
