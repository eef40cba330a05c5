// The mechanisms of a model, each as a model of its own: bodies that joints, couplings or combinations connect. What is
// dense algebra on a mechanism then costs what the mechanism does, however many others there are.
#pragma once

#include <span>
#include <vector>

#include "sarrus/dynamics/state.h"
#include "sarrus/model/model.h"

namespace sarrus {

class Mechanisms {
 public:
  // `model` must outlive this.
  explicit Mechanisms(const Model& model);

  int count() const { return static_cast<int>(members_.size()); }
  int of(int body) const { return of_body_[static_cast<std::size_t>(body)]; }
  // Indices of its joints in the whole model, in the order of part(k).
  std::span<const int> joints(int k) const { return members_[static_cast<std::size_t>(k)].joints; }
  // Whether anything in it can be redundant: it has a loop or a coupling.
  bool closes(int k) const { return members_[static_cast<std::size_t>(k)].closes; }
  // Bodies, joints, couplings and combinations alone, in the order in which the whole has them.
  Model part(int k) const;
  // Poses and coordinates of part(k) in a state of the whole.
  State part_state(int k, const State& state) const;

 private:
  struct Members {
    std::vector<int> bodies, joints, couplings, combinations;
    bool closes = false;
  };
  int of_joint(int joint) const;

  const Model& model_;
  std::vector<int> of_body_;
  std::vector<int> body_in_part_, dof_in_part_;
  std::vector<Members> members_;
};

}  // namespace sarrus
