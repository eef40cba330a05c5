// Positions that have sunk in are corrected by a pass that moves poses and no velocities (docs/theory/integrators.md
// §12).
//
//   min 1/2 d' M_s d   s.t.   r + J d = 0 (joints),   J d >= min(erp e, v_max dt) where e = -gap - slop/2 > 0,
//                             J d >= -(gap + slop/2) elsewhere
// once something is deeper than its slop (m, rad); gaps in m, d in m and rad, world axes. Frictionless, with the masses
// M_s of the bodies and 100 times their inertias: a pass that turns bodies as easily as it shifts them does more work
// on them. It creates no velocity; the potential energy that it adds is booked as correction. Bodies without joints are
// as a rule moved by a few sweeps over the few contacts that feel it (push_sweeps.h), at a twentieth of the cost.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "sarrus/rows/rows.h"
#include "sarrus/solvers/solver.h"
#include "sarrus/step/modes.h"
#include "sarrus/step/push_sweeps.h"

namespace sarrus {

class PushOut {
 public:
  static constexpr double kInertiaFactor = 100;

  PushOut(const Model& model, Coordinates& coordinates, const StepModes& modes, std::span<const std::uint8_t> released);
  ~PushOut();

  // The masses of the model have changed (model/numbers.h).
  void read_again() { sweeps_.read_again(model_); }
  // For so many contacts: when they come, not when something is deep for the first time.
  void take_memory(std::size_t contacts);
  // False if nothing can be violated, at less cost than needed().
  bool may_be_needed(const RowOptions& options, std::span<const Contact> contacts) const {
    return has_limits_ || any_deep(options, contacts);
  }
  // Whether something is violated beyond its slop at these poses.
  bool needed(const RowContext& at, std::span<const Contact> contacts);
  // Moves the poses of bodies with these twists, after needed() said so of the same arguments; false if nothing
  // acceptable was found.
  bool run(const RowContext& at, std::span<const Contact> contacts, std::span<const Vec6> twist, std::span<Pose> X_WB);
  // Whether the last run() moved a little a few bodies without joints, namely those with a 1 here. None: anything.
  std::span<const std::uint8_t> little() const { return little_; }
  // Potential energy that bodies gained between the two poses, J. What of it exceeds `credit`, J, is taken from their
  // velocities u, by assembly (bodies that joints connect): u is shortened until it has as much less kinetic energy, or
  // none.
  double take_work(std::span<const Pose> before, std::span<const Pose> after, double credit, VecX& u);
  // By assembly, of the last take_work() since clear(): what was not taken from velocities, J.
  std::span<const double> unpaid() const { return unpaid_; }
  void clear() { std::fill(unpaid_.begin(), unpaid_.end(), 0.0); }

 private:
  void take_memory();
  static bool any_deep(const RowOptions& options, std::span<const Contact> contacts);
  void find_aims(const RowContext& at, std::span<const Contact> contacts, std::span<const Vec6> twist);
  bool solve(const RowContext& at, std::span<const Contact> contacts, std::span<const Pose> X_WB);

  Model model_;
  Coordinates& coordinates_;
  const StepModes& modes_;
  bool has_limits_ = false;
  bool deep_limits_ = false;
  PushSweeps sweeps_;
  std::vector<double> aim_;  // by contact, m
  std::span<const std::uint8_t> little_;
  std::span<const std::uint8_t> released_;         // Assembler::released_rows()
  std::vector<double> gained_, kinetic_, unpaid_;  // J, by assembly
  std::vector<Vec6> twist_;
  std::unique_ptr<Solver> solver_;
  ConstraintProblem rows_;
  std::vector<double> lambda_;
  VecX step_, impulse_;
};

}  // namespace sarrus
