// The parts of the way from an MJCF file's source to the graph. Each adds to the graph at qpos0; the initial state
// comes last.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sarrus/math/types.h"
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

// Joint-space inertia M of the trees at qpos0 with armature, loops ignored; by index in qvel.
class JointInertia {
 public:
  explicit JointInertia(const Source& s);

  double diagonal(int velocity) const { return axes_[static_cast<std::size_t>(velocity)].diagonal; }  // M_ii
  double inverse(int velocity) const;  // (M^-1)_ii; not finite where nothing has mass

 private:
  // Of each velocity: the axes before it move its parent.
  struct Axis {
    Vec6 motion = Vec6::Zero();   // S
    Mat6 inertia = Mat6::Zero();  // articulated, I_A
    Vec6 force = Vec6::Zero();    // I_A S
    double articulated = 0;       // S' I_A S + armature
    double diagonal = 0;
    double armature = 0;
    int parent = -1;
  };
  std::vector<Axis> axes_;
};

}  // namespace sarrus::robot::mjcf
