// The immutable, validated description of a mechanism: bodies, joints of any topology, drives, shapes.
// Build one with ModelBuilder (builder.h) or load a scene file (scene_files/scene_file.h).
//
// Frames. The body frame B has its origin at the centre of mass; `X_WB0` is its reference (initial) pose.
// A joint connects a base B and a follower F (base = world: unary) and stores one joint frame in each:
// anchors p_BJ, p_FJ [m] and axis frames q_BJ, q_FJ (docs/theory/model.md §2.1: x_B, x_F, X_B, X_F). Single-axis
// joints use the joint frame's x axis; planar uses z as its normal. Coordinates are measured from base to
// follower, in base-joint axes (docs/theory/model.md §2.2).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/math/types.h"
#include "sarrus/model/compliance.h"
#include "sarrus/model/constants.h"
#include "sarrus/model/shape.h"

namespace sarrus {

// What stops a body from passing another one within a step (docs/theory/collision.md §7).
//   off:          contacts within the margin only.
//   speculative:  contacts that the motion along their own normal can close within a step.
//   cast:         the same, but those beyond the margin only if the motion of both bodies really makes them touch.
// A pair takes the stronger of its two bodies.
enum class Ccd : std::uint8_t { off, speculative, cast };
std::string_view name_of(Ccd ccd);

struct Body {
  std::string name;
  double mass = 0;                // kg
  Mat3 inertia_B = Mat3::Zero();  // kg m^2, about the centre of mass, body axes
  Pose X_WB0;                     // reference pose
  Vec3 v0_W = Vec3::Zero();       // initial velocity of the centre of mass, m/s
  Vec3 w0_W = Vec3::Zero();       // initial angular velocity, rad/s
  Ccd ccd = Ccd::cast;
  double gravity_scale = 1;    // share of the model's gravity that acts on it; 0: none, negative: it is lifted
  double linear_damping = 0;   // N s/m: the force -c v at the centre of mass
  double angular_damping = 0;  // N m s/rad: the torque -c omega
};

// How a table goes on between its points. Cubic: Hermite polynomials with the slopes of Fritsch and Butland, so that
// the value is monotone wherever the points are and never leaves their range; the slope is 0 at both ends, so that the
// rate is continuous everywhere.
enum class Interpolation : std::uint8_t { linear, cubic };
std::string_view name_of(Interpolation interpolation);

struct TablePoint {
  double time = 0;  // s
  double value = 0;
};

// offset + rate t + amplitude sin(2 pi frequency t + phase) + table(t)
struct Signal {
  double offset = 0;
  double rate = 0;  // 1/s
  double amplitude = 0;
  double frequency = 0;  // Hz
  double phase = 0;      // rad
  // Times ascend. The first value holds before its time and the last one after; nothing is added without points.
  std::vector<TablePoint> table = {};
  Interpolation interpolation = Interpolation::linear;

  double value(double t) const;
  // At a corner of a linear table: that of the line which begins there.
  double derivative(double t) const;
};

enum class DriveMode : std::uint8_t { none, force, position, velocity };

// force:    the target is a force or torque, clamped to the efforts below (explicit).
// position: implicit PD with target q_d(t) and its derivative (docs/theory/model.md §5).
// velocity: implicit damper kd towards the target velocity.
struct Drive {
  DriveMode mode = DriveMode::none;
  double kp = 0;                     // N/m or N m/rad
  double kd = 0;                     // N s/m or N m s/rad
  double effort_limit = kUnlimited;  // N or N m, in both directions
  Signal target = {};
  double effort_lower = -kUnlimited;  // N or N m, besides: for actuators that pull more than they push
  double effort_upper = kUnlimited;
  // Targets beyond these are taken as these, with the rate 0; in the units of the target.
  double target_lower = -kUnlimited;
  double target_upper = kUnlimited;
  std::string name = {};  // of the actuator; empty, or unique among the drives

  double least_effort() const { return std::max(-effort_limit, effort_lower); }
  double largest_effort() const { return std::min(effort_limit, effort_upper); }
  double clamp_effort(double effort) const { return std::clamp(effort, least_effort(), largest_effort()); }
};

struct Limit {
  double lower = -kUnlimited;  // m or rad
  double upper = kUnlimited;
  double restitution = 0;
  double erp = kUseDefault;
  Compliance compliance = {};  // of both limits; equal limits (a locked dof) take it too

  bool active() const { return lower > -kUnlimited || upper < kUnlimited; }
  bool locked() const { return upper - lower < 1e-9; }
};

// One scalar degree of freedom of a joint. Spherical joints have three, the rotations about the axes of the base joint
// frame: damping, dry friction, armature, force and velocity drives work there, limits and position servos do not (use
// swing_limit). Their spring is one for all three: the same stiffness in each, rest 0, and Joint::q_rest
// (ModelBuilder::set_ball_spring).
struct Dof {
  Limit limit;
  Drive drive;
  double armature = 0;      // kg or kg m^2, reflected rotor inertia
  double stiffness = 0;     // N/m or N m/rad
  double rest = 0;          // spring rest coordinate, m or rad
  double damping = 0;       // N s/m or N m s/rad
  double dry_friction = 0;  // N or N m, Coulomb bound
  bool wrapped = false;     // keep the angle in (-pi, pi] instead of counting turns
  // The coordinate at the reference poses, m or rad: which turn of an angle State::q starts with. It has to be what the
  // poses say, but for whole turns (State::initial checks it). None: angles start in (-pi, pi].
  std::optional<double> initial = {};
};

enum class JointType : std::uint8_t {
  free,
  fixed,
  revolute,
  prismatic,
  cylindrical,
  universal,
  spherical,
  gimbal,
  planar,
  cartesian,
  distance,
  serial
};
inline constexpr int kJointTypeCount = 12;
inline constexpr int kPlainJointTypeCount = 11;  // all but serial ones, whose rows and dofs are those of their axes
inline constexpr int kMaxJointDofs = 5;

// Static facts of a joint type (docs/theory/model.md §2.2, table).
struct JointTypeInfo {
  JointType type;
  std::string_view name;
  int rows;          // constrained rows m_j (serial: see joint_rows())
  int dofs;          // scalar degrees of freedom with an axis S_a (0 for free and distance; serial: see joint_dofs())
  bool coordinates;  // the dofs are integrable coordinates (not for spherical)
  std::string_view dof_name[3];
  bool angular[3];  // the dof is a rotation
};
const JointTypeInfo& joint_type_info(JointType type);
// Throws InputError with a suggestion if the name is unknown.
JointType joint_type_from_name(std::string_view name);

// One of the axes in sequence of a serial joint. In the joint frame, which is the same in base and follower where all
// coordinates are at their reference: the follower is at  E_1(q_1 - r_1) E_2(q_2 - r_2) ...,  E_k the turn about the
// axis or the way along it (docs/theory/model.md §2.5).
struct SerialAxis {
  std::string name;     // of the coordinate; empty: q1, q2, ...
  bool angular = true;  // turns about the axis, else slides along it
  Vec3 p_J = Vec3::Zero();
  Vec3 axis_J = Vec3::UnitX();
  double reference = 0;  // r_k, m or rad
};

struct Joint {
  std::string name;
  JointType type = JointType::fixed;
  int base = kWorld;
  int follower = kWorld;
  Vec3 p_BJ = Vec3::Zero();
  Vec3 p_FJ = Vec3::Zero();
  Quat q_BJ = Quat::Identity();
  Quat q_FJ = Quat::Identity();
  double length = 0;                // distance joints: rod length or rope length, m
  bool rope = false;                // distance joints: |p_F - p_B| <= length instead of =
  double swing_limit = kUnlimited;  // spherical joints: largest swing of the follower's x axis, rad
  // Spherical joints: the follower's joint axes in those of the base where the spring is at rest. Its torque on the
  // follower is -k theta, theta the rotation vector from there, at most pi: the shorter way back.
  Quat q_rest = Quat::Identity();
  double erp = kUseDefault;
  Compliance compliance = {};         // of the rows of the joint (rods and ropes too); swing limits stay rigid
  int first_dof = 0;                  // into Model::dofs()
  std::vector<SerialAxis> axes = {};  // serial joints: 2 to 5, that nearest the base first
};

// Rows, dofs and coordinates of a joint of any type.
int joint_rows(const Joint& joint);
int joint_dofs(const Joint& joint);
bool coordinate_is_angular(const Joint& joint, int k);
std::string_view coordinate_name(const Joint& joint, int k);

// q_a = P(q_b) on two joint coordinates,  P(b) = offset + ratio b + c_2 b^2 + c_3 b^3 + c_4 b^4: gears (angle, angle),
// screws (position, angle of one cylindrical joint, ratio = pitch / 2 pi), racks (position, angle), cams and linkages
// that are known by a polynomial.
struct Coupling {
  std::string name;
  int dof_a = 0;  // into Model::dofs()
  int dof_b = 0;
  double ratio = 1;
  double offset = 0;
  std::array<double, 3> higher = {0, 0, 0};  // c_2, c_3, c_4
  double erp = kUseDefault;
  Compliance compliance = {};

  bool linear() const { return higher == std::array<double, 3>{0, 0, 0}; }
  double residual(double a, double b) const {
    return a - ratio * b - offset - b * b * (higher[0] + b * (higher[1] + b * higher[2]));
  }
  double slope(double b) const {  // P'
    return ratio + b * (2 * higher[0] + b * (3 * higher[1] + b * 4 * higher[2]));
  }
};

// L = sum c_i q_i + offset over joint coordinates, with all that a coordinate may have: limits (equal ones: L is held),
// drive, spring, damper, dry friction (a tendon over pulleys, a differential). Its Jacobian is sum c_i J(q_i). In
// Model::scalars() combinations come after the dofs.
struct CombinationTerm {
  int dof = 0;  // into Model::dofs()
  double coefficient = 1;
};
struct Combination {
  std::string name;
  std::vector<CombinationTerm> terms;
  double offset = 0;
  Dof law;  // without armature, wrapping and initial value
};
inline constexpr int kMaxCombinationBodies = 8;  // that the joints of one combination move

struct Material {
  std::string name;
  double mu = 0.7;
  double restitution = 0;
  Compliance compliance = {};
};

// Contact parameters between two materials. Defaults: mu = sqrt(mu_a mu_b), restitution = max, compliance =
// combine_compliances().
struct MaterialPair {
  int a = 0;
  int b = 0;
  double mu = 0.7;
  double restitution = 0;
  std::optional<Compliance> compliance = {};  // none: combine_compliances() of the two
};

// Two geoms that collide with this law whatever masks, excludes and joints say, and whatever their materials are.
struct ContactPair {
  int a = 0;  // into Model::geoms()
  int b = 0;
  double mu = 0.7;
  double restitution = 0;
  Compliance compliance = {};
  double margin = kUseDefault;  // m, in place of those of the two geoms
};

// What a viewer shows; nothing else depends on it. Each in [0, 1].
struct Colour {
  double red = 0.5;
  double green = 0.5;
  double blue = 0.5;
  double alpha = 1;  // opacity
  bool operator==(const Colour&) const = default;
};

struct Geom {
  std::string name;
  int body = kWorld;
  Shape shape;
  Pose X_BG;  // pose in the body frame (world frame for body = world)
  int material = 0;
  std::uint32_t group = 1;            // bits this geom belongs to
  std::uint32_t collides_with = ~0u;  // bits it collides with; a pair needs one match in either direction
  double margin = kUseDefault;        // m, contacts closer than this are reported; the larger one of a pair counts
  std::optional<Colour> colour = {};
};

// A shape that is only seen: it has no mass and touches nothing.
struct Visual {
  std::string name;
  int body = kWorld;
  Shape shape;
  Pose X_BG;  // pose in the body frame (world frame for body = world)
  Colour colour;
};

// A named frame on a body or the world: where a sensor sits, a tool is held, a link of the source file began.
struct Frame {
  std::string name;
  int body = kWorld;
  Pose X_BF;
};

// Body pairs (kWorld allowed), each stored with first < second.
struct BodyPair {
  int a = kWorld;
  int b = kWorld;
  bool operator==(const BodyPair&) const = default;
};

// How several impacts at once are resolved (docs/theory/rows.md §5).
enum class RestitutionLaw : std::uint8_t {
  simultaneous,  // all contacts at once: Newton's law on each
  sequential     // one after the other, fastest first, as in a cradle
};

// What the author of a scene recommends; the command line and SimulationOptions override it. The last six are explained
// where they are used, in rows/options.h.
struct RunDefaults {
  double dt = 1e-3;                   // s
  double duration = 5.0;              // s
  std::string integrator = "moreau";  // checked by recommended_integrator() of dynamics/scheme.h
  double erp_joint = 0.1;
  double erp_limit = 0.1;
  double erp_contact = 0.1;
  double contact_slop = kUseDefault;    // m
  double push_out_speed = kUseDefault;  // m/s
  RestitutionLaw restitution = RestitutionLaw::simultaneous;
};

struct ModelData {
  std::string name;
  std::string description;
  std::string source;  // the file it was read from, for messages; empty if there is none
  Vec3 gravity = Vec3(0, 0, -9.81);
  RunDefaults defaults;
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<Dof> dofs;  // grouped by joint, in joint order
  std::vector<Coupling> couplings;
  std::vector<Combination> combinations;
  std::vector<Material> materials;
  std::vector<MaterialPair> material_pairs;
  std::vector<Geom> geoms;
  std::vector<Visual> visuals;     // of a Model: by body, the world last
  std::vector<Frame> frames;       // likewise
  std::vector<BodyPair> excludes;  // pairs that never collide
  std::vector<ContactPair> contact_pairs;
  std::vector<BodyPair> includes;  // pairs that collide although a joint connects them
  bool self_collision = true;      // false: bodies of one mechanism (connected by joints) never collide
};

class Model {
 public:
  const std::string& name() const { return d_->data.name; }
  const std::string& description() const { return d_->data.description; }
  const std::string& source() const { return d_->data.source; }
  const Vec3& gravity() const { return d_->data.gravity; }
  const RunDefaults& defaults() const { return d_->data.defaults; }
  const std::vector<Body>& bodies() const { return d_->data.bodies; }
  const std::vector<Joint>& joints() const { return d_->data.joints; }
  const std::vector<Dof>& dofs() const { return d_->data.dofs; }
  const std::vector<Coupling>& couplings() const { return d_->data.couplings; }
  const std::vector<Combination>& combinations() const { return d_->data.combinations; }
  const std::vector<Material>& materials() const { return d_->data.materials; }
  const std::vector<MaterialPair>& material_pairs() const { return d_->data.material_pairs; }
  const std::vector<Geom>& geoms() const { return d_->data.geoms; }
  const std::vector<Visual>& visuals() const { return d_->data.visuals; }
  const std::vector<Frame>& frames() const { return d_->data.frames; }
  const std::vector<BodyPair>& excludes() const { return d_->data.excludes; }
  const std::vector<BodyPair>& includes() const { return d_->data.includes; }
  const std::vector<ContactPair>& contact_pairs() const { return d_->data.contact_pairs; }
  bool self_collision() const { return d_->data.self_collision; }
  const ModelData& data() const { return d_->data; }

  // The most of what follows, m/s^2.
  double largest_gravity() const { return d_->largest_gravity; }
  // What acts on a body, m/s^2.
  Vec3 gravity_on(int body) const {
    return d_->data.bodies[static_cast<std::size_t>(body)].gravity_scale * d_->data.gravity;
  }

  int body_count() const { return static_cast<int>(d_->data.bodies.size()); }
  int joint_count() const { return static_cast<int>(d_->data.joints.size()); }
  int dof_count() const { return static_cast<int>(d_->data.dofs.size()); }
  // The dofs, and after them the laws of the combinations: whatever may have a limit, a drive, a spring or friction.
  std::span<const Dof> scalars() const { return d_->scalars; }
  int scalar_count() const { return static_cast<int>(d_->scalars.size()); }
  bool is_combination(int scalar) const { return scalar >= dof_count(); }
  const Combination& combination_of(int scalar) const {
    return d_->data.combinations[static_cast<std::size_t>(scalar - dof_count())];
  }
  // Value of a scalar from the coordinates by dof.
  template <class Coordinates>
  double scalar_value(int scalar, const Coordinates& q) const {
    if (!is_combination(scalar)) return q[static_cast<std::size_t>(scalar)];
    const Combination& c = combination_of(scalar);
    double sum = c.offset;
    for (const CombinationTerm& t : c.terms) sum += t.coefficient * q[static_cast<std::size_t>(t.dof)];
    return sum;
  }

  // Index of a named element; throws InputError with the nearest known name.
  int body(std::string_view name) const;
  int joint(std::string_view name) const;
  int frame(std::string_view name) const;
  // Index in scalars(): of the drive with this name; of a combination.
  int drive(std::string_view name) const;
  int combination(std::string_view name) const;
  // Dof "joint" (single-dof joints) or "joint.coordinate", for example "leg3.angle".
  int dof(std::string_view name) const;
  // Joint that owns a dof, and the dof's full name. Of a scalar that is a combination: the joint of its first dof, and
  // its own name.
  int joint_of_dof(int dof) const { return d_->joint_of_dof[static_cast<std::size_t>(dof)]; }
  // What lengths of a joint are small or large against, m: the size of the smaller one of its bodies, but at least a
  // millionth of the other's. Size of a body: hypot(distance of its farthest joint from its centre of mass, radius of
  // gyration); the world has none.
  double joint_size(int joint) const { return d_->joint_size[static_cast<std::size_t>(joint)]; }
  // How far a unit of a scalar moves something, m: 1 for lengths, the size of its joint for angles.
  double reach(int scalar) const { return d_->reach[static_cast<std::size_t>(scalar)]; }
  std::string dof_name(int dof) const;

  // Joints that close loops: all joints but those of a spanning forest found breadth first from the world
  // (docs/theory/model.md §7). Couplings are not counted.
  const std::vector<int>& loop_joints() const { return d_->loop_joints; }
  // Number of connected components of bodies not attached to the world by joints ("floating" groups).
  int floating_components() const { return d_->floating_components; }

 private:
  friend Model finish_model(ModelData data);
  friend class ModelNumbers;  // numbers.h
  // Shared by all copies: every part of a simulation has one.
  struct Frozen {
    ModelData data;
    std::vector<int> joint_of_dof;          // by scalar
    std::vector<double> joint_size, reach;  // by joint; by scalar
    std::vector<Dof> with_combinations;     // empty without them
    std::span<const Dof> scalars;
    std::vector<int> loop_joints;
    int floating_components = 0;
    double largest_gravity = 0;
  };
  static void measure_joints(Frozen& frozen);
  std::shared_ptr<const Frozen> d_;
};

// Validates and freezes. Throws InputError naming the element and the remedy.
Model finish_model(ModelData data);

}  // namespace sarrus
