#include "sarrus/assembly/mechanisms.h"

#include <numeric>

#include "sarrus/math/tools.h"

namespace sarrus {

Mechanisms::Mechanisms(const Model& model)
    : model_(model), of_body_(model.bodies().size(), -1), body_in_part_(model.bodies().size()) {
  std::vector<int> parent(model.bodies().size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](int i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  const auto connect = [&](int a, int b) {
    if (a != kWorld && b != kWorld) parent[at(root(a))] = root(b);
  };
  const auto body_of = [&](int dof) {
    const Joint& j = model.joints()[at(model.joint_of_dof(dof))];
    return j.follower == kWorld ? j.base : j.follower;
  };
  for (const Joint& j : model.joints()) connect(j.base, j.follower);
  for (const Coupling& c : model.couplings()) connect(body_of(c.dof_a), body_of(c.dof_b));
  for (const Combination& c : model.combinations()) {
    for (const CombinationTerm& t : c.terms) connect(body_of(c.terms[0].dof), body_of(t.dof));
  }
  std::vector<int> of_root(model.bodies().size(), -1);
  for (int i = 0; i < model.body_count(); ++i) {
    int& k = of_root[at(root(i))];
    if (k < 0) {
      k = count();
      members_.emplace_back();
    }
    of_body_[at(i)] = k;
    body_in_part_[at(i)] = static_cast<int>(members_[at(k)].bodies.size());
    members_[at(k)].bodies.push_back(i);
  }
  std::vector<int> dofs(members_.size(), 0);
  dof_in_part_.resize(model.dofs().size());
  for (int i = 0; i < model.joint_count(); ++i) {
    const int k = of_joint(i);
    members_[at(k)].joints.push_back(i);
    const Joint& j = model.joints()[at(i)];
    for (int d = 0; d < joint_dofs(j); ++d) dof_in_part_[at(j.first_dof + d)] = dofs[at(k)]++;
  }
  for (const int i : model.loop_joints()) members_[at(of_joint(i))].closes = true;
  for (std::size_t i = 0; i < model.couplings().size(); ++i) {
    Members& m = members_[at(of(body_of(model.couplings()[i].dof_a)))];
    m.couplings.push_back(static_cast<int>(i));
    m.closes = true;
  }
  for (std::size_t i = 0; i < model.combinations().size(); ++i) {
    members_[at(of(body_of(model.combinations()[i].terms.at(0).dof)))].combinations.push_back(static_cast<int>(i));
  }
}

int Mechanisms::of_joint(int joint) const {
  const Joint& j = model_.joints()[at(joint)];
  return of(j.follower == kWorld ? j.base : j.follower);
}

Model Mechanisms::part(int k) const {
  const Members& members = members_[at(k)];
  ModelData d;
  d.source = model_.source();
  d.gravity = model_.gravity();
  const auto body = [&](int i) { return i == kWorld ? kWorld : body_in_part_[at(i)]; };
  for (const int i : members.bodies) d.bodies.push_back(model_.bodies()[at(i)]);
  for (const int i : members.joints) {
    Joint j = model_.joints()[at(i)];
    for (int n = 0; n < joint_dofs(j); ++n) d.dofs.push_back(model_.dofs()[at(j.first_dof + n)]);
    j.first_dof = static_cast<int>(d.dofs.size()) - joint_dofs(j);
    j.base = body(j.base);
    j.follower = body(j.follower);
    d.joints.push_back(std::move(j));
  }
  for (const int i : members.couplings) {
    Coupling c = model_.couplings()[at(i)];
    c.dof_a = dof_in_part_[at(c.dof_a)];
    c.dof_b = dof_in_part_[at(c.dof_b)];
    d.couplings.push_back(std::move(c));
  }
  for (const int i : members.combinations) {
    Combination c = model_.combinations()[at(i)];
    for (CombinationTerm& t : c.terms) t.dof = dof_in_part_[at(t.dof)];
    d.combinations.push_back(std::move(c));
  }
  return finish_model(std::move(d));
}

State Mechanisms::part_state(int k, const State& state) const {
  State s;
  for (const int i : members_[at(k)].bodies) s.X_WB.push_back(state.X_WB[at(i)]);
  s.twist.resize(s.X_WB.size(), Vec6::Zero());
  for (const int i : members_[at(k)].joints) {
    const Joint& j = model_.joints()[at(i)];
    for (int n = 0; n < joint_dofs(j); ++n) s.q.push_back(state.q[at(j.first_dof + n)]);
  }
  return s;
}

}  // namespace sarrus
