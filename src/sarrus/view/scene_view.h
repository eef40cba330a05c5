// What a viewer has to know of a scene besides its motion: names, shapes, joints, loops, and what is worked out here
// once instead of in every viewer: limbs, sizes of glyphs, the box to look at. One type for live models and recordings.
//
// Units SI; poses of parts in the body frame, body -1 is the world (docs/motion-format.md).
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sarrus/model/model.h"
#include "sarrus/recording/run_summary.h"
#include "sarrus/recording/scene_parts.h"

namespace sarrus::view {

struct Body {
  std::string name;
  double mass = 0;                // kg
  Mat3 inertia_B = Mat3::Zero();  // kg m^2, body axes
  int limb = -1;                  // -1: hub
  bool shaft = false;
};

struct Joint {
  std::string name;
  std::string type;  // name of the JointType, or "rope"
  int base = kWorld;
  int follower = kWorld;
  Vec3 p_BJ = Vec3::Zero();
  Vec3 p_FJ = Vec3::Zero();
  Quat q_BJ = Quat::Identity();
  Quat q_FJ = Quat::Identity();
  double length = 0;  // m, of rods and ropes
  bool closes_loop = false;
  int first_dof = 0;
  int dofs = 0;
  std::vector<SerialAxis> axes = {};  // of serial joints
  double glyph_radius = 0;            // m, of the pin
  double glyph_half_width = 0;        // m
};

// joints[i] connects bodies[i] and bodies[i+1], the last one bodies.back() and bodies[0]; joints[0] closes it.
struct LoopCycle {
  std::vector<int> joints;
  std::vector<int> bodies;
};

struct CouplingLine {
  std::string name;
  int dof_a = 0;
  int dof_b = 0;
};

// A joint coordinate or, after them, a combination of some. Limits may be infinite.
struct Scalar {
  std::string name;
  bool angular = false;
  int joint = -1;  // -1: combination
  DriveMode mode = DriveMode::none;
  Limit limit = {};
  double target_lower = -kUnlimited;
  double target_upper = kUnlimited;
  double effort_lower = -kUnlimited;
  double effort_upper = kUnlimited;
  std::string drive = {};  // name of the actuator
};

struct GeomName {
  std::string name;
  int body = kWorld;
};

struct Scene {
  std::string name;
  std::string description;
  Vec3 gravity = Vec3::Zero();
  std::vector<Body> bodies;
  bool has_inertia = true;
  std::vector<Joint> joints;
  std::vector<LoopCycle> loops;
  std::vector<CouplingLine> couplings;
  std::vector<Scalar> scalars;
  std::vector<GeomName> geoms;
  SceneParts drawn;

  // Half the diagonal of what moves at the first frame, and its middle, m.
  double radius = 0.5;
  Vec3 centre = Vec3::Zero();
  int follow = -1;              // body that the camera goes with, -1: none
  std::optional<double> floor;  // height of a horizontal plane, m
  double weight = 0;            // N, of all bodies

  int joint_count() const { return static_cast<int>(joints.size()); }
};

std::string_view mode_name(DriveMode mode);  // none, force, position, velocity

// X_WB: poses of the first frame, by body.
Scene scene_of(const Model& model, std::span<const Pose> X_WB);

// Fills limbs, shafts, loops, glyphs and the box from the rest.
void complete(Scene& scene, std::span<const Pose> X_WB);

// How it was simulated.
struct RunFacts {
  double dt = 0;  // s
  std::string solver;
  std::string integrator;
  double tolerance = 0;   // 0: not known
  double acceptable = 0;  // likewise
  std::string version;    // of Sarrus
};
RunFacts facts_of(const RunInfo& info);

}  // namespace sarrus::view
