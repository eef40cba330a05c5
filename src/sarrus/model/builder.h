// Builds a Model, in C++ or by a loader of scene files: every model comes from here. Every add_* returns the index of
// the new element.
//
//   ModelBuilder b("pendulum");
//   int rod = b.add_box_body("rod", 1.0, {0.02, 0.02, 0.25}, {{0, 0, 0.75}});
//   b.add_joint_at("pivot", JointType::revolute, kWorld, rod, {0, 0, 1}, frame_with_x({0, 1, 0}));
//   Model model = b.build();
//
// add_joint_at is the world-anchor constructor (docs/theory/model.md §2.1): given the anchor and the axis frame in
// the world at the reference pose, both local frames follow, so the joint residual is zero by construction
// whatever loops it closes. Numbers are checked by build(), not by the add_* calls.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name = {}, std::string description = {});

  void set_name(std::string name, std::string description);
  void set_source(std::string file) { d_.source = std::move(file); }
  void set_gravity(const Vec3& gravity_W) { d_.gravity = gravity_W; }
  void set_defaults(const RunDefaults& defaults) { d_.defaults = defaults; }

  int add_body(Body body);
  int add_body(std::string name, double mass, const Mat3& inertia_B, const Pose& X_WB0);
  // A body that is one homogeneous solid, and the geom for it. X_WS is the pose of the shape's frame; the body frame
  // has the same axes and its origin at the centre of mass. Throws for a shape without a volume.
  int add_solid(std::string name, double mass, const Shape& shape, const Pose& X_WS, int material = 0);
  // The same for shapes whose frame is at the centre of mass.
  int add_box_body(std::string name, double mass, const Vec3& half_extents, const Pose& X_WB0, int material = 0);
  int add_sphere_body(std::string name, double mass, double radius, const Pose& X_WB0, int material = 0);
  int add_capsule_body(std::string name, double mass, double radius, double half_length, const Pose& X_WB0,
                       int material = 0);
  void set_velocity(int body, const Vec3& v_W, const Vec3& w_W);

  // To be called when the shapes of the body, and no others, were the last that were added. They are homogeneous solids
  // whose volumes add up, children of compounds one by one. The label names what has no volume in messages; `child` is
  // -1 for a shape that is no compound.
  using SolidLabel = std::function<std::string(int geom, int child)>;
  double volume_of_shapes(int body, const SolidLabel& label) const;  // m^3
  // Sets the mass and the inertia about the common centre of mass, which is returned (body frame, m; zero if it is the
  // origin but for rounding): the body frame has to be moved there.
  Vec3 set_mass_of_shapes(int body, double mass, const SolidLabel& label);
  // Moves the origin of the body frame to a point of it, without moving anything in the world: its shapes, visuals and
  // frames, which must be the last that were added.
  void move_origin(int body, const Vec3& to_B);

  // Material 0 is there from the start ("default"); a loader may overwrite it.
  int add_material(std::string name, double mu, double restitution = 0, const Compliance& compliance = {});
  void set_material_pair(int a, int b, double mu, double restitution, std::optional<Compliance> compliance = {});
  int add_geom(Geom geom);
  int add_geom(int body, const Shape& shape, const Pose& X_BG = {}, int material = 0, std::string name = {});
  // Horizontal floor at the given height, facing up.
  int add_floor(double height = 0, int material = 0);
  // Indices of visuals and frames are those of data(): a model has them in the order of their bodies.
  int add_visual(Visual visual);
  int add_visual(int body, const Shape& shape, const Pose& X_BG = {}, const Colour& colour = {}, std::string name = {});
  int add_frame(std::string name, int body, const Pose& X_BF = {});
  // Puts geom order[i] at place i: contacts come in the order of the geoms.
  void reorder_geoms(const std::vector<int>& order);

  int add_joint(Joint joint);
  // Sets both frames of a joint from a world frame at the reference poses; for distance joints from two world points.
  void anchor_at(Joint& joint, const Vec3& anchor_W, const Quat& axes_W) const;
  void anchor_at(Joint& joint, const Vec3& anchor_base_W, const Vec3& anchor_follower_W) const;
  int add_joint_at(std::string name, JointType type, int base, int follower, const Vec3& anchor_W,
                   const Quat& axes_W = Quat::Identity());
  // Spring and damper of a spherical joint about all axes alike, N m/rad and N m s/rad; at rest where the follower's
  // joint axes have this orientation in those of the base.
  void set_ball_spring(int joint, double stiffness, double damping, const Quat& q_rest = Quat::Identity());
  // Rod (|p_F - p_B| = length) or rope (<= length) between two world points; the length is their distance.
  int add_distance(std::string name, int base, int follower, const Vec3& anchor_base_W, const Vec3& anchor_follower_W,
                   bool rope = false);
  // Axes in sequence, the first that nearest the base, with points and directions in the world at the reference poses,
  // where the coordinates are at the references of the axes.
  int add_serial_at(std::string name, int base, int follower, std::vector<SerialAxis> axes_W);
  int add_coupling(Coupling coupling);
  int add_coupling(std::string name, int dof_a, int dof_b, double ratio, double offset = 0);

  int add_combination(Combination combination);

  int add_contact_pair(ContactPair pair);
  void exclude(int body_a, int body_b);
  void include(int body_a, int body_b);
  void set_self_collision(bool on) { d_.self_collision = on; }

  Body& body(int i) { return d_.bodies[static_cast<std::size_t>(i)]; }
  Joint& joint(int i) { return d_.joints[static_cast<std::size_t>(i)]; }
  Material& material(int i) { return d_.materials[static_cast<std::size_t>(i)]; }
  Combination& combination(int i) { return d_.combinations[static_cast<std::size_t>(i)]; }
  Coupling& coupling(int i) { return d_.couplings[static_cast<std::size_t>(i)]; }
  Visual& visual(int i) { return d_.visuals[static_cast<std::size_t>(i)]; }
  Geom& geom(int i) { return d_.geoms[static_cast<std::size_t>(i)]; }
  // k-th dof of a joint, and its index in Model::dofs().
  Dof& dof(int joint, int k = 0) { return d_.dofs[static_cast<std::size_t>(dof_index(joint, k))]; }
  int dof_index(int joint, int k = 0) const { return d_.joints[static_cast<std::size_t>(joint)].first_dof + k; }

  // What has been added so far.
  const ModelData& data() const { return d_; }

  Model build() const { return finish_model(d_); }

 private:
  Pose reference_pose(const std::string& joint, int body) const;

  ModelData d_;
};

}  // namespace sarrus
