// Turns the parsed JSON of a scene into a Model; the keys are those of docs/scene-format.md.
// scene_load.cpp reads the document, bodies, shapes and materials, scene_load_joints.cpp joints and couplings.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sarrus/model/builder.h"
#include "sarrus/scene_files/scene_shapes.h"
#include "sarrus/scene_files/scene_values.h"

namespace sarrus::scene {

class SceneLoader {
 public:
  // The model is told where it comes from; mesh files are looked for in this folder, that of the scene.
  SceneLoader(std::string source, std::filesystem::path folder) : shape_reader_(std::move(folder)) {
    builder_.set_source(std::move(source));
  }

  // Throws InputError without the file name.
  Model load(const Json& document);

 private:
  // Values under "defaults": each is used where an element leaves the key out.
  struct Defaults {
    std::optional<double> density;
    Ccd ccd = Ccd::cast;
    double erp = kUseDefault;
    Dof dof;      // damping, dry_friction, armature
    Limit limit;  // restitution, erp
    Geom shape;   // material, group, collides_with, margin
  };
  using Names = std::unordered_map<std::string, int>;

  void read_header(ObjectReader& r);
  void read_run(ObjectReader r);
  void read_materials(ObjectReader& r);
  void read_material_pair(ObjectReader r);
  void read_defaults(ObjectReader r);
  void read_body(ObjectReader r);
  void read_mass(ObjectReader& r, int body, bool has_shapes);
  void read_shapes(ObjectReader& r, std::string_view key, int body);
  Geom read_shape(ObjectReader& r, int body);
  void read_visuals(ObjectReader& r, std::string_view key, int body);
  void read_frames(ObjectReader& r, int body);
  static void read_contact_keys(ObjectReader& r, Geom& geom);
  void read_shape_order(ObjectReader& r);
  // Calls add(a, b) for the pairs of bodies of a list.
  template <class Add>
  void read_body_pairs(ObjectReader& r, std::string_view key, Add add);

  void read_joint(ObjectReader r);
  static void reject_misplaced_anchors(ObjectReader& r, const Joint& joint);
  void read_anchors(ObjectReader& r, Joint& joint);
  Quat read_joint_axes(ObjectReader& r, const Joint& joint);
  // The axes of a serial joint; returns what its coordinates have.
  std::vector<Dof> read_sequence(ObjectReader& r, Joint& joint);
  void read_dofs(ObjectReader& r, int joint);
  void read_ball_spring(ObjectReader& r, int joint);
  void read_dof(ObjectReader& r, bool angular, Dof& dof);
  Limit read_limit(ObjectReader r, bool angular);
  Drive read_drive(ObjectReader r, bool angular);
  static void read_table(ObjectReader& r, double unit, Signal& signal);
  void read_coupling(ObjectReader r);
  void read_combination(ObjectReader r);
  void read_contact_pair(ObjectReader r);
  void name_dofs();

  // The required name of an element, registered under its index; refuses empty and used ones.
  static std::string read_name(ObjectReader& r, std::string_view kind, std::string_view example, Names& names,
                               std::size_t index);
  int resolve_body(const ObjectReader& r, std::string_view key, const std::string& name) const;
  int resolve_material(const ObjectReader& r, std::string_view key, const std::string& name) const;
  int resolve_dof(ObjectReader& r, std::string_view key) const;
  int resolve_shape(const ObjectReader& r, std::string_view key, const std::string& name) const;
  // The pose of a body at the reference configuration.
  Pose reference_pose(int body) const {
    return body == kWorld ? Pose{} : data().bodies[static_cast<std::size_t>(body)].X_WB0;
  }
  const ModelData& data() const { return builder_.data(); }

  // Local anchors are given in the frame of the file, from which "recenter" has moved the body frame.
  Vec3 in_body(int body, const Vec3& p_file) const {
    return body == kWorld ? p_file : Vec3(p_file - recentred_[static_cast<std::size_t>(body)]);
  }

  ModelBuilder builder_;
  ShapeReader shape_reader_;
  double angle_unit_ = 1;  // rad per unit of the file
  Defaults defaults_;
  std::vector<Vec3> recentred_;            // by body: origin of the body frame in that of the file
  std::vector<std::string> shape_labels_;  // by geom, for messages
  Names bodies_;
  Names materials_;
  Names joints_;
  Names frames_;
  Names dofs_;
  std::vector<bool> dof_angular_;
};

}  // namespace sarrus::scene
