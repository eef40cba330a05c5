// What keeps a step from creating energy where its scheme would (docs/theory/integrators.md §13).
//
// The step of moreau is passive but for errors of order dt^3 in each step: rows turn within it, rotation is corrected
// after the solve, positions are projected. They swing about zero where dt resolves the motion, and add up where it
// does not (a light link that turns by a radian per step, a stiff spring near a limit). By assembly (bodies that joints
// connect) the gain of a step is
//   sum over bodies (T+ - T_solved + V+ - V- - dt m g v_m) + change of springs and armatures + work of their rows
//   + work of joints on the mean velocity + work of the gyroscopic torque that was assumed, likewise
//   + what contacts and limits did of positive work
// T_solved the kinetic energy of the velocity that was solved for; the rest of the step's energy is work by name
// (energy_account.h). The gains add up to G, kept above -A; where G exceeds A, velocities are shortened until it does
// not. With T_max the largest kinetic energy of the assembly so far and w its fastest rotation or oscillation,
//   A = min(max((dt w)^2, 1e-6), 3e-4) T_max,   5e-7 T_max of bodies without joints
// So the energy of a passive assembly never rises by more than 2 A above its lowest. Assemblies without a joint to the
// world keep the velocity of their centre of mass.
// Compliant joints and limits hold what they are given by the work of their impulses on the mean velocity, less what
// they give back, and at most twice the energy of their deformation, force times length over two. What they give beyond
// that is gain. They are not passive by that: the deformation of rows far too stiff for the step is what positions are
// off by, and counts as held (a mass ratio of 100 at a cfm of 1e-9 leaves 2.8 % of the energy of a fall). Above 1 % of
// the largest kinetic energy the step tells of it (StepReport::creates_energy).
// What springs or compliant rows gained beyond all that velocities are worth is owed: its step is taken in parts, if
// parts remain.
#pragma once

#include <span>
#include <vector>

#include "sarrus/step/assembler.h"
#include "sarrus/step/energy_account.h"
#include "sarrus/step/step_part.h"

namespace sarrus {

class EnergyGovernor {
 public:
  struct Step {
    std::span<const Pose> X_before;
    std::span<const Pose> X_after;
    std::span<const double> q_before, q_after;        // by dof
    std::span<const double> rate_before, rate_after;  // by dof, of those with armature
    std::span<const double> correction;               // by assembly, J
    const JointKinematics& kinematics;                // after the step
    std::span<const double> lambda;
    const MeanMotion& mean;
    const Inputs& inputs;
    double dt;
    const StepPart& part;  // others stand still, and their energy is left alone
    bool first;            // of the state: what compliant rows hold is not known
    const VecX& u_solved;
  };

  explicit EnergyGovernor(const Model& model, const StepModes& modes);
  // The masses of the model have changed (model/numbers.h).
  void read_again();

  // Shortens u+ and the rates of armatures as needed; returns what was taken, J. `swing` is by body.
  double take_back(Assembler& assembler, const Step& step, std::span<State::EnergySwing> swing, VecX& u_plus,
                   std::span<double> rate);
  // Whether some assembly of the model can come to owe: there are springs or compliant rows.
  bool may_owe() const { return has_compliance_ || has_springs_; }
  // Whether the assembly of a body owes energy after the last take_back(), more than A that this step added.
  bool owes(int body) const { return owes_[assembly(body)] != 0; }

 private:
  void add_bodies(Assembler& assembler, const Step& step, const VecX& u_plus);
  bool is_free(Assembler& assembler, const Step& step, int body) const;
  void add_rotation(Assembler& assembler, const Step& step);
  void add_rows(Assembler& assembler, const Step& step);
  void add_storage(const Step& step);
  void add_compliance(Assembler& assembler, const Step& step, std::span<State::EnergySwing> swing);
  double deformation(const Step& step, const ConstraintBlock& block, int row) const;
  std::size_t assembly(int body) const { return static_cast<std::size_t>(modes_.assembly(body)); }
  std::size_t assembly_of_joint(int joint) const;

  Model model_;
  const StepModes& modes_;
  std::vector<bool> anchored_;          // by assembly: a joint holds it to the world
  std::vector<bool> jointed_;           // by assembly: some joint is on it
  std::vector<double> mass_;            // by assembly
  std::vector<double> gain_, kinetic_;  // by assembly, of the step
  std::vector<double> fastest_;         // by assembly, rad/s
  std::vector<double> factor_;          // by assembly
  std::vector<std::uint8_t> owes_;      // by assembly
  std::vector<double> present_;         // by assembly, J: kinetic, and what springs of coordinates hold
  std::vector<double> sprung_;          // by assembly, J: what springs and compliant rows gained in the step
  std::vector<double> most_held_;       // by assembly, J
  bool has_compliance_ = false;         // of joints or limits
  bool has_springs_ = false;            // of scalars
  std::vector<std::uint8_t> gives_;     // by assembly: some compliant row is on it
  VecX residual_;                       // by row
  std::vector<Vec3> v_centre_;          // by assembly; zero if anchored
  struct OfBody {
    double kinetic = 0, present = 0, gain = 0;  // J
    double speed = 0;                           // rad/s
    bool free = false;                          // no row and no torque acts on it
  };
  std::vector<OfBody> of_body_;
  std::vector<Vec6> twist_solved_, twist_after_;
  VecX turned_;
};

}  // namespace sarrus
