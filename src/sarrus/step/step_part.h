// The bodies that an attempt at a step moves: all of them, or those of some islands while the others stand still
// (substeps.cpp). Bodies that joints connect are in it together, and so are those that constraints connect.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/model/model.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

class StepPart {
 public:
  explicit StepPart(const Model& model) : model_(model), has_(model.bodies().size(), 1) {}

  void take_all() {
    std::fill(has_.begin(), has_.end(), 1);
    all_ = true;
  }
  // By body.
  void take(std::span<const std::uint8_t> bodies) {
    std::copy(bodies.begin(), bodies.end(), has_.begin());
    all_ = std::find(has_.begin(), has_.end(), 0) == has_.end();
  }
  bool all() const { return all_; }
  std::span<const std::uint8_t> bodies() const { return has_; }

  // The world is in no part.
  bool has(int body) const { return body != kWorld && has_[static_cast<std::size_t>(body)] != 0; }
  bool has_joint(int joint) const {
    const Joint& j = model_.joints()[static_cast<std::size_t>(joint)];
    return has(j.follower) || has(j.base);
  }
  bool has_dof(int dof) const { return has_joint(model_.joint_of_dof(dof)); }
  bool has_geoms(int a, int b) const { return has(body_of(a)) || has(body_of(b)); }
  // Of a block that is no contact, by what it came from.
  bool has_source(RowSource kind, int source) const;

 private:
  int body_of(int geom) const { return model_.geoms()[static_cast<std::size_t>(geom)].body; }

  Model model_;
  std::vector<std::uint8_t> has_;
  bool all_ = true;
};

}  // namespace sarrus
