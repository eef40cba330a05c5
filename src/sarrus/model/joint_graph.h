// Bodies as nodes, joints as edges, the world as one more node: loops, limbs and shafts of a mechanism, told from who
// is connected with whom alone, so that they are the same for a model and for a recording of it.
#pragma once

#include <span>
#include <vector>

#include "sarrus/model/constants.h"
#include "sarrus/model/model.h"

namespace sarrus {

// A closed chain: joints[i] connects bodies[i] and bodies[i + 1], the last one bodies.back() and bodies[0].
struct Loop {
  std::vector<int> joints;
  std::vector<int> bodies;  // kWorld for the world
};

class JointGraph {
 public:
  struct Edge {
    int base = kWorld;
    int follower = kWorld;
    JointType type = JointType::fixed;  // free joints connect nothing
  };

  JointGraph(int bodies, std::vector<Edge> joints);
  explicit JointGraph(const Model& model);

  // The shortest loop through a joint, which is its last one; empty if the joint is in none. Not for several threads.
  Loop shortest_loop(int joint) const;

  // By body. Hubs, -1, have more joints than max(4, twice the median of all); what is left without them and the world
  // falls into limbs, numbered from 0 in the order of their first bodies.
  std::vector<int> limbs() const;
  // By body: 1 if it is on one hinge to the world or a hub and carries two or more further hinges, all parallel or not.
  std::vector<int> shafts() const;
  // By body: number of the component that joints connect, the world's (which may have no bodies) being 0.
  std::vector<int> components() const;

 private:
  std::size_t slot(int body) const { return body == kWorld ? bodies_ : static_cast<std::size_t>(body); }
  std::span<const int> joints_of(int body) const;
  std::vector<int> hubs() const;

  std::size_t bodies_;
  std::vector<Edge> edges_;
  std::vector<int> first_, joints_;  // by body and the world: their joints
  // Of the search for loops.
  struct Step {
    int joint = -1;
    int from = kWorld;
  };
  mutable std::vector<int> seen_;  // number of the search
  mutable std::vector<Step> reached_;
  mutable std::vector<int> queue_;
  mutable int search_ = 0;
};

}  // namespace sarrus
