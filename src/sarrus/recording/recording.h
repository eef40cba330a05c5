// Recordings: the motion of a run as an HDF5 file that any HDF5 reader understands without our code, complete
// enough that a viewer draws from the file alone. Layout, format "sarrus-recording" version 2, T samples,
// n bodies, nj joints, nq coordinates, K contacts over all samples, SI units, quaternions (w, x, y, z):
//
//   /time (T)
//   /bodies/    names (n), mass (n), inertia (n,6), position (T,n,3), quaternion_wxyz (T,n,4), linear_velocity
//               (T,n,3), angular_velocity (T,n,3)                 centre-of-mass frames in the world
//   /joints/    names, type, base, follower, anchor_base, anchor_follower, axes_base_wxyz, axes_follower_wxyz,
//               length, closes_loop, first_coordinate, coordinate_count (by joint); coordinate_names (nq),
//               coordinates, rate_lag, rates, drive_efforts, drive_targets (T,nq); gap, angle (T,nj); reaction_force,
//               reaction_torque (T,nj,3); axes/ of serial joints: joint, angular, position, axis
//   /combinations/        names; lengths, rates, drive_efforts, drive_targets, if there are any
//   /scalars/   names, joint, angular, drive_mode, drive_name, lower, upper, target_lower, target_upper, effort_lower,
//               effort_upper, of coordinates and, after them, combinations
//   /couplings/ names, coordinate_a, coordinate_b
//   /loops/     offset (L+1): the cycle of the i-th joint that closes a loop is in rows offset[i] .. offset[i+1] of
//               joints, bodies
//   /geoms/     names, kind, body (-1: world), size, position, quaternion_wxyz (pose in the body frame)
//   /geoms/parts/         what to draw, a row per geom, per child of a compound and per visual: geom (-1: only seen),
//   body,
//                         kind, size, position, quaternion_wxyz (pose in the body frame), mesh, height_field
//                         (-1: none), colour (-1: none)
//   /geoms/meshes/        vertex_offset (M+1), vertices (V,3), triangle_offset (M+1), triangles (F,3): mesh i has the
//                         rows offset[i] .. offset[i+1]; triangles count its own vertices from 0
//   /geoms/height_fields/ columns, rows (H), spacing (H,2), offset (H+1), heights (by samples, row by row)
//   /contacts/  offset (T+1): the contacts of sample i are rows offset[i] .. offset[i+1] of
//               point (K,3), normal (K,3), impulse_world (K,3), force_world (K,3), gap, mu, mode, body_a, body_b,
//               geom_a, geom_b (K)
//   /residuals/ natural_map, error, joint_gap, joint_angle, penetration, limit_violation, iterations, status (T)
//   /energy/    kinetic, potential, work_in, dissipated, unaccounted (T)
//
// Every dataset has the string attributes `units` and `description`; the root has format, version, scene, dt,
// solver, integrator, gravity, sarrus_version, description, tolerance, acceptable, every (steps from sample to sample)
// and, when the run has ended, end_status and end_message. Version 1 (docs/recording-format.md) lacks some of it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/recording/run_summary.h"
#include "sarrus/recording/step_forces.h"
#include "sarrus/step/simulation.h"

namespace sarrus {

inline constexpr int kRecordingVersion = 2;

class RecordingWriter {
 public:
  // Creates the file. All failures here and below throw InputError naming the file. `every`: steps from one sample to
  // the next.
  RecordingWriter(const std::filesystem::path& file, const Model& model, const RunInfo& info, int every = 1);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  // Closes the file as it is if close() was not called; errors are then lost.
  ~RecordingWriter();

  // The state before the first step: no contacts, status -1.
  void add_initial(const State& state, const Energy& energy, const StepForces& forces);
  // A state and the step that led to it.
  void add(const State& state, const StepReport& report, const Energy& energy, std::span<const Contact> contacts,
           const StepForces& forces);

  // How the run ended, by its summary, and why it failed. Once.
  void end(const std::string& status, const std::string& message);

  // Writes what is buffered: the file on disk is then a recording of all samples so far.
  void flush();
  // Writes what is buffered and closes the file.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The motion read back: states, and the contact impulses of the steps between them.
struct RecordedContact {
  int geom_a = 0;
  int geom_b = 0;
  Vec3 impulse_W = Vec3::Zero();  // N s, on body B
};

struct RecordedMotion {
  double dt = 0;  // s, of the steps
  std::vector<State> states;
  std::vector<std::vector<RecordedContact>> contacts;  // by state: of the step that led to it
};

// Throws InputError naming the file and the data set that is missing, damaged or not of this model.
RecordedMotion load_recording(const std::filesystem::path& file, const Model& model);

}  // namespace sarrus
