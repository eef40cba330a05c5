// Reads URDF into the graph of a robot (docs/robots.md): links and joints (urdf.cpp), their shapes (urdf_shapes.cpp),
// and what closes loops, in the spellings that are in use (urdf_loops.cpp).
//
// Links stand at coordinates 0: X_child = X_parent X_origin. A root link is fixed to the world unless ImportBase::free.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sarrus/robot_files/elements.h"
#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/folders.h"
#include "sarrus/robot_files/graph.h"
#include "sarrus/robot_files/mesh_shapes.h"

namespace sarrus::robot {

class UrdfReader {
 public:
  UrdfReader(const xml::Node& root, const Folders& folders, Findings& findings)
      : root_(root), folders_(folders), findings_(findings) {}
  Graph read();

 private:
  struct TreeJoint {
    const xml::Node* node;
    std::string name, type;
    std::string parent, child;
    Pose X_PC;  // of the child link's frame in the parent's, at q = 0
    bool closure = false;
  };

  // urdf.cpp
  void refuse_xacro(const xml::Node& node) const;
  void note_unknown() const;
  void read_compiler();
  void read_links();
  void read_inertial(const xml::Node& node, Link& link);
  void bound_masses();
  void read_joints();
  void place_links();
  void add_joint(const TreeJoint& joint);
  void read_limits(const xml::Node& node, const std::string& type, Dof& dof);
  void read_dynamics(const xml::Node& node, Dof& dof);
  void read_mimic(const TreeJoint& joint);
  void read_transmissions();
  void read_transmission(const xml::Node& node);
  void read_filters();
  int require_link(const xml::Node& node, const std::string& name) const;
  int joint_index(const std::string& name) const;  // into Graph::joints; -1: none

  // urdf_shapes.cpp
  void read_shapes();
  void read_materials();
  void add_shape(const xml::Node& element, int link, bool collides);
  bool read_geometry(const xml::Node& element, const xml::Node& geometry, bool world, bool collides, LinkShape& shape);
  bool read_mesh(const xml::Node& mesh, bool world, bool collides, LinkShape& shape);
  int material_of(const xml::Node& element, int link);
  bool is_world(int link) const { return link == kWorld || on_world_[static_cast<std::size_t>(link)]; }

  // urdf_loops.cpp
  void read_loops();
  void read_loop_joint(const xml::Node& node);
  void read_ball_constraint(const xml::Node& node);
  void read_distance_constraint(const xml::Node& node);
  void read_bushing(const xml::Node& node);
  void read_gazebo_joint(const xml::Node& node);
  void read_closing_frames();
  void read_listed_loops();
  void add_closure(const xml::Node& node, const std::string& name, const std::string& type, int base, int follower,
                   const Pose& X_BJ, const Pose& X_FJ, const Vec3& axis, const Vec3* axis2);
  void add_point_constraint(const xml::Node& node, const std::string& name, int a, const Vec3& p_A, int b,
                            const Vec3& p_B);
  void spelling(const xml::Node& node, const std::string& kind);
  // A link, or a frame on one.
  std::pair<int, Pose> frame_named(const xml::Node& node, const std::string& name) const;

  const xml::Node& root_;
  const Folders& folders_;
  Findings& findings_;
  Graph g_;
  MeshShapes meshes_;
  std::map<std::string, int> links_;        // by name; the world by kWorld
  std::vector<bool> on_world_;              // by link: fixed to the world
  std::vector<TreeJoint> joints_;           // in the order of the file
  std::map<std::string, int> joint_of_;     // by name, into joints_
  std::vector<int> walked_;                 // by joint: the mimic joint whose leaders it is one of, or -1
  std::map<std::string, int> graph_joint_;  // by name, into Graph::joints
  std::map<std::string, std::array<double, 4>> colours_;
  std::map<double, int> material_of_mu_;
  std::map<std::string, double> link_mu_;  // of gazebo elements
  std::map<std::string, double> efforts_;  // by joint: the bound of its drives
  std::vector<std::string> spellings_;
  double bound_mass_ = 0;
  double bound_inertia_ = 0;
  bool balance_inertia_ = false;
  bool strip_path_ = false;
  std::string mesh_folder_;
};

Graph read_urdf(xml::Node root, const Folders& folders, Findings& findings);

}  // namespace sarrus::robot
