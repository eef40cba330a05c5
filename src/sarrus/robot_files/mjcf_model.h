// The parts of the way from an MJCF file's source to the graph. Each adds to the graph at qpos0; the initial state
// comes last.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sarrus/robot_files/graph.h"
#include "sarrus/robot_files/mjcf_source.h"

namespace sarrus::robot::mjcf {

// A fixed tendon: L = sum of coef qpos. Spatial ones have no terms.
struct Tendon {
  std::string name;
  bool spatial = false;
  struct Term {
    int joint = 0;
    double coef = 1;
  };
  std::vector<Term> terms;
  double length0 = 0;    // at qpos0
  int combination = -1;  // into Graph::combinations; of fixed ones
};

// Link of a body: body 0 is the world.
inline int link_of(int body) { return body - 1; }

void add_joints(Source& s, Graph& g, Findings& findings);
std::vector<Tendon> add_tendons(const Source& s, Graph& g, Findings& findings);
void add_equalities(const Source& s, const std::vector<Tendon>& tendons, Graph& g, Findings& findings);
void add_contacts(Source& s, Graph& g, Findings& findings);
// The controls and activations of the key, empty without one.
void add_actuators(const Source& s, const std::vector<Tendon>& tendons, const std::vector<double>& ctrl,
                   const std::vector<double>& act, Graph& g, Findings& findings);

// Joint-space inertia of the trees at qpos0 with armature, loops ignored: nv x nv.
MatX joint_inertia(const Source& s);

}  // namespace sarrus::robot::mjcf
