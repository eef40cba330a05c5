// Bodies, joints, geoms and sites of an MJCF file with their values resolved: what the rest of the reader works on.
//
// Body 0 is the world. Poses at qpos0, where all joints have their reference values.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sarrus/robot_files/graph.h"
#include "sarrus/robot_files/mjcf_mesh.h"
#include "sarrus/robot_files/mjcf_tree.h"

namespace sarrus::robot::mjcf {

enum class JointKind : std::uint8_t { free, ball, slide, hinge };

struct SoftParameters {
  std::array<double, 2> solref = {0.02, 1};
  std::array<double, 5> solimp = {0.9, 0.95, 0.001, 0.5, 2};

  bool operator==(const SoftParameters&) const = default;
  bool operator<(const SoftParameters& o) const { return std::tie(solref, solimp) < std::tie(o.solref, o.solimp); }
};

struct SourceJoint {
  std::string name;
  xml::Node node;
  int body = 0;
  JointKind kind = JointKind::hinge;
  Vec3 pos_B = Vec3::Zero();
  Vec3 axis_B = Vec3::UnitZ();
  double ref = 0;
  double springref = 0;
  double stiffness = 0;
  double damping = 0;
  double dry_friction = 0;
  double armature = 0;
  std::array<double, 2> springdamper = {0, 0};
  bool limited = false;
  std::array<double, 2> range = {0, 0};
  bool force_limited = false;
  std::array<double, 2> force_range = {0, 0};
  SoftParameters limit_soft;
  double margin = 0;
  int qpos = 0;  // first of its numbers in qpos, and in qvel
  int qvel = 0;
  CoordinateRef coordinate;  // in the graph, for hinges and slides
  double sign = 1;           // q = sign qpos there

  int positions() const { return kind == JointKind::free ? 7 : kind == JointKind::ball ? 4 : 1; }
  int velocities() const { return kind == JointKind::free ? 6 : kind == JointKind::ball ? 3 : 1; }
};

struct SourceGeom {
  std::string name;
  xml::Node node;
  int context = 0;
  int body = 0;
  Pose X_BG;
  Shape shape;  // primitives, planes and fields; hulls and triangles only if they collide
  bool is_mesh = false;
  bool has_shape = true;
  std::string mesh;              // name of the mesh, also of one to which the shape is fitted
  Vec3 mass_box = Vec3::Zero();  // height fields: half sizes of the box that they weigh as
  bool colliding = false;
  unsigned contype = 1, conaffinity = 1;
  int condim = 3;
  int group = 0;
  int priority = 0;
  std::array<double, 3> friction = {1, 0.005, 0.0001};
  double solmix = 1;
  SoftParameters soft;
  double margin = 0;
  double gap = 0;
  std::array<double, 4> rgba = {0.5, 0.5, 0.5, 1};
  double mass = 0;
  Vec3 com_G = Vec3::Zero();
  Mat3 inertia_G = Mat3::Zero();  // about the centre of mass
  int link_shape = -1;            // in the link (or the world) of the graph
};

struct SourceSite {
  int body = 0;
  Pose X_BS;
};

struct SourceBody {
  std::string name;
  xml::Node node;
  int parent = 0;
  Pose X_PB;
  Pose X_WB0;
  double mass = 0;
  Vec3 com_B = Vec3::Zero();
  Mat3 inertia_B = Mat3::Zero();
  Quat inertial_q = Quat::Identity();  // orientation of the inertial frame, where the file gives it
  bool explicit_inertia = false;
  bool mocap = false;
  double gravcomp = 0;
  std::vector<int> joints;
  std::vector<int> geoms;
  bool has_children = false;
  bool align = false;

  // A free joint's qpos and qvel are those of the inertial frame.
  bool inertial_frame() const { return align && !has_children; }
};

struct Source {
  Tree tree;
  std::vector<SourceBody> bodies;
  std::vector<SourceJoint> joints;
  std::vector<SourceGeom> geoms;
  std::map<std::string, int> body_of;
  std::map<std::string, int> joint_of;
  std::map<std::string, int> geom_of;
  std::map<std::string, SourceSite> sites;
  int nq = 0;
  int nv = 0;
  std::vector<double> qpos0;
  std::unique_ptr<Meshes> meshes;
  bool spring_disabled = false, damper_disabled = false, limit_disabled = false, friction_disabled = false,
       equality_disabled = false, contact_disabled = false, actuation_disabled = false, parent_filter_disabled = false;
  int disabled_actuator_groups = 0;
  Vec3 gravity = Vec3(0, 0, -9.81);
  double timestep = 0.002;

  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const Context& context_of(const xml::Node& node) const;
  // The attributes of an element of a section, with those of its class.
  Attributes attributes(const xml::Node& node, const std::string& default_element) const;
  // "prefix/name" of what an attribute of a section's element refers to; an index, or an error with the nearest name.
  int body_named(const xml::Node& node, const std::string& attribute, const std::string& name) const;
  int joint_named(const xml::Node& node, const std::string& attribute, const std::string& name) const;
  int geom_named(const xml::Node& node, const std::string& attribute, const std::string& name) const;
  const SourceSite& site_named(const xml::Node& node, const std::string& attribute, const std::string& name) const;
  // Poses of all bodies at qpos (the motion of each joint is q - ref).
  std::vector<Pose> kinematics(const std::vector<double>& qpos) const;
  // A body after one of its joints has moved it.
  static Pose moved(Pose X, const SourceJoint& j, const double* q);
};

// What <option> says, and its flags.
void read_options(Source& s, Findings& findings);

// Everything but equalities, tendons, actuators, contacts and keys.
std::unique_ptr<Source> read_bodies(Tree tree, const Folders& folders, Findings& findings);

SoftParameters read_soft(const Attributes& a, const std::string& solref, const std::string& solimp,
                         const SoftParameters& fallback);
// The compliance that the parameters mean in Sarrus. Throws InputError for direct parameters without damping.
Compliance compliance_of(const SoftParameters& soft, double margin, const xml::Node& at);

// Whether a range is a limit: "true", "false", or "auto": the range is not empty.
bool is_limited(const Attributes& a, const Compiler& compiler, const std::string& flag, const std::string& range,
                const std::array<double, 2>& values);

}  // namespace sarrus::robot::mjcf
