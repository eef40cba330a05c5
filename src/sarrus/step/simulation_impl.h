// What a Simulation is made of: its model, state and inputs, and the workspaces of one step. step.cpp has the step,
// simulation.cpp the rest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/problem/joint_rows.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/projection.h"
#include "sarrus/step/simulation.h"
#include "sarrus/step/warm_start.h"

namespace sarrus {

struct Simulation::Impl {
  Impl(Model model_in, SimulationOptions options_in);

  void step();
  bool advance(double dt, int depth);
  bool attempt(double dt);
  void assemble(double dt);

  void read_inputs(double dt);
  void pose_rows(double dt);
  void detect_events(double dt);
  void free_velocity(double dt);
  void add_drive_forces(double dt);
  void build_rows(double dt);
  bool solve();
  bool converged(const Residuals& r, Law by) const;
  bool acceptable(const Residuals& r, Law by) const;
  void integrate(double dt);
  bool project(double dt);
  void correct_gyroscopic(double dt);
  bool commit(double dt);
  void report_failure();
  std::string describe(const ConstraintBlock& block) const;
  void check_dof(int dof, std::string_view call) const;

  Model model;
  SimulationOptions options;
  State state;
  StepReport report;
  std::string message;
  SolveStatus failed_status = SolveStatus::converged;  // of the last attempt that was rejected
  Residuals failed_residuals;
  JointErrors failed_joints;  // where the projection did not close the joints
  double step_scale = 0;      // largest S of the attempts of this step

  // Inputs.
  struct TargetOverride {
    bool active = false;
    double target = 0;
    double rate = 0;
  };
  std::vector<TargetOverride> overrides;  // by dof
  std::vector<double> joint_forces;       // by dof
  std::vector<Vec6> wrenches;             // by body
  std::vector<DriveInput> inputs;         // by dof, evaluated
  std::vector<double> explicit_effort;    // by dof, of servos that are not rows (theta = 0)

  // Workspaces of one step.
  std::vector<Mat3> inertia_inverse_B;
  std::vector<Pose> row_poses;        // where rows are evaluated: s, or the midpoint
  std::vector<Pose> predicted_poses;  // s + dt u-
  std::vector<Pose> mid_poses;        // where the second part of the motion starts
  std::vector<Pose> new_poses;
  std::vector<double> row_q;
  std::vector<double> new_q;
  VecX u_minus, u_plus;
  JointKinematics start, rows_kinematics, predicted;
  CollisionDetector detector;
  std::vector<Contact> contacts;
  ConstraintProblem problem;
  std::vector<double> lambda, fallback_lambda;
  std::vector<double> warm_lambda;  // what `lambda` was when the solver got it
  JudgeWorkspace judge_workspace;
  WarmStart warm;
  Projector projector;
  std::unique_ptr<Solver> solver, fallback;
  Law law, fallback_law;
  std::vector<State> saved;  // one per sub-step depth

  bool moreau() const { return *options.integrator == Integrator::moreau; }
};

}  // namespace sarrus
