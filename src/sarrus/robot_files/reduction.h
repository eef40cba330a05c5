// How a graph becomes a model, for the sources that do it: reduce.cpp (links that are one body, shapes, names),
// reduce_joints.cpp and reduce_ties.cpp (what ties coordinates, pairs that touch).
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/graph.h"

namespace sarrus::robot {

// Names that nothing else has: of bodies, joints and so on, each.
class Names {
 public:
  explicit Names(Findings& findings) : findings_(findings) {}

  std::string unique(const std::string& kind, const std::string& wanted, const xml::Place& place) {
    if (used_.insert(wanted).second) return wanted;
    int& next = next_.try_emplace(wanted, 2).first->second;  // many may have one name
    while (true) {
      std::string name = fmt::format("{}_{}", wanted, next++);
      if (!used_.insert(name).second) continue;
      findings_.add(ImportSeverity::note, "renamed", place.text(), fmt::format("{} {}", kind, in_quotes(wanted)),
                    fmt::format("another {} has this name; it is called '{}'", kind, name), "");
      return name;
    }
  }

 private:
  Findings& findings_;
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> next_;  // by name that is taken: the number to try
};

class Reduction {
 public:
  Reduction(Graph graph, Findings& findings)
      : g_(std::move(graph)),
        findings_(findings),
        body_names_(findings),
        joint_names_(findings),
        geom_names_(findings),
        drive_names_(findings),
        visual_names_(findings),
        frame_names_(findings) {}
  ModelData run();

 private:
  struct Group {
    std::vector<int> links;  // the first one has the axes of the body
    bool on_world = false;   // a body that is fixed to the world
  };

  const Link& link(int i) const { return g_.links[at(i)]; }
  std::string label(const Link& l) const { return fmt::format("link {}", in_quotes(l.name)); }

  // ---- links that are one body -------------------------------------------------------------------------------------
  int find(int i);
  int slot(int l) const { return l == kWorld ? 0 : l + 1; }
  bool merges(const Joint& j) const;
  void group_links();

  // ---- bodies ------------------------------------------------------------------------------------------------------
  void header();
  std::string body_name(std::size_t group, const Link& first);
  void add_body(std::size_t index);
  std::string place_of(const Link& l) const;
  Pose X_first(int l) const;
  int body_of(int l) const { return l == kWorld ? kWorld : group_[at(l)]; }
  Pose X_BL(int l) const;

  // ---- shapes ------------------------------------------------------------------------------------------------------
  void add_shape(const LinkShape& s, int l, int index);
  static Colour colour_of(const LinkShape& s);
  void add_visual(const LinkShape& s, int l);
  void add_shapes();

  // ---- joints ------------------------------------------------------------------------------------------------------
  void add_joints();
  void push(sarrus::Joint joint, const std::vector<Coordinate>& coordinates);
  std::string joint_name(const Joint& j);
  void put_world_first(Joint& j);
  static bool has_ball(const Joint& j);
  static bool is_chain(const Joint& j);
  void add_joint(std::size_t index);
  void report_coordinate(const Coordinate& c, const std::string& joint_in_file, const std::string& coordinate);
  static void set_frames(sarrus::Joint& joint, const Pose& base, const Pose& follower);
  static bool is_angle(const Joint& j, std::size_t k);
  static void keep_turns(Joint& j);
  static Pose motion_of(const SerialAxis& s, double q);
  void add_chain(std::size_t index);

  Pose pose_of(int body) const { return body == kWorld ? Pose{} : d_.bodies[at(body)].X_WB0; }
  // ---- couplings, pairs, names -------------------------------------------------------------------------------------

  struct DofRef {
    int dof;
    double flip;  // of the model's coordinate in that of the graph
  };
  const DofRef* dof_of(const CoordinateRef& ref) const;
  void add_couplings();
  void add_combinations();
  void exclude(int a, int b);
  void add_pairs();
  void add_frame(const std::string& name, int l, const Pose& X_LF);
  void add_names();

  Graph g_;
  Findings& findings_;
  ModelData d_;
  std::vector<int> parent_;
  std::vector<int> group_;  // by link; kWorld: part of the world
  std::vector<Group> groups_;
  std::vector<Vec3> com_;  // by group, in the frame of its first link
  std::vector<std::vector<DofRef>> dof_;
  std::set<std::pair<int, int>> excluded_;
  std::map<std::pair<int, int>, int> geom_of_;  // by link and the number of its shape
  std::set<std::pair<int, int>> paired_;
  std::map<std::string, int> unnamed_shapes_;
  std::map<std::string, int> unnamed_visuals_;
  Names body_names_;
  Names joint_names_;
  Names geom_names_;
  Names drive_names_;
  Names visual_names_;
  Names frame_names_;
};

}  // namespace sarrus::robot
