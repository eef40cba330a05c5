// What a Simulation tells of its joints: rates, and the wrenches of the last step.
#include <fmt/format.h>

#include <algorithm>

#include "sarrus/math/error.h"
#include "sarrus/step/simulation_impl.h"

namespace sarrus {
namespace {

Vec6 wrench_of(const JointAxis& axis) { return spatial(axis.linear, axis.angular); }

// Sums the impulses on the followers of joints at p_F: rows and degrees of freedom are unit wrenches there
// (dynamics/joint_kinematics.h).
class ReactionSum {
 public:
  // q: coordinates nearby, by dof.
  ReactionSum(const Model& model, const JointKinematics& kinematics, std::span<const double> q, std::span<Vec6> impulse)
      : model_(model), kinematics_(kinematics), q_(q), impulse_(impulse) {}

  void add(const ConstraintBlock& b, const double* lambda) {
    switch (b.source_kind) {
      case RowSource::joint:
        add_joint(b.source, lambda);
        break;
      case RowSource::coupling: {
        const Coupling& c = model_.couplings()[static_cast<std::size_t>(b.source)];
        add_dof(c.dof_a, lambda[0]);
        const double q_b = kinematics_.coordinate(c.dof_b, q_[static_cast<std::size_t>(c.dof_b)]);
        add_dof(c.dof_b, -c.slope(q_b) * lambda[0]);
        break;
      }
      case RowSource::locked_dof:
      case RowSource::servo:
      case RowSource::passive:
      case RowSource::dry_friction:
      case RowSource::limit_lower:
        add_dof(b.source, lambda[0]);
        break;
      case RowSource::limit_upper:
        add_dof(b.source, -lambda[0]);
        break;
      case RowSource::swing_limit: {
        const Vec3 swing = joint_swing_W(kinematics_.frame(b.source));
        of(b.source).tail<3>() -= lambda[0] * swing.normalized();
        break;
      }
      case RowSource::rope:
        add_pull(b.source, -lambda[0]);
        break;
      case RowSource::contact:
        break;
    }
  }

  void add_dof(int dof, double impulse) {
    if (model_.is_combination(dof)) {
      for (const CombinationTerm& t : model_.combination_of(dof).terms) add_dof(t.dof, t.coefficient * impulse);
      return;
    }
    const int joint = model_.joint_of_dof(dof);
    const Joint& j = model_.joints()[static_cast<std::size_t>(joint)];
    JointAxis axes[kMaxJointDofs];
    kinematics_.dof_axes(joint, axes);
    of(joint) += impulse * wrench_of(axes[dof - j.first_dof]);
  }

 private:
  void add_joint(int joint, const double* lambda) {
    const Joint& j = model_.joints()[static_cast<std::size_t>(joint)];
    if (j.type == JointType::distance) {
      add_pull(joint, lambda[0]);
      return;
    }
    JointAxis axes[kMaxBlockRows];
    kinematics_.constraint_axes(joint, axes);
    for (int r = 0; r < joint_rows(j); ++r) of(joint) += lambda[r] * wrench_of(axes[r]);
  }

  void add_pull(int joint, double impulse) {
    const Joint& j = model_.joints()[static_cast<std::size_t>(joint)];
    of(joint).head<3>() += impulse * distance_row(j, kinematics_.frame(joint)).J_follower.head<3>();
  }

  Vec6& of(int joint) { return impulse_[static_cast<std::size_t>(joint)]; }

  const Model& model_;
  const JointKinematics& kinematics_;
  std::span<const double> q_;
  std::span<Vec6> impulse_;
};

}  // namespace

std::vector<Vec6> Simulation::joint_reactions() const {
  const ConstraintProblem& p = problem();
  std::vector<Vec6> reactions(model().joints().size(), Vec6::Zero());
  if (!(p.dt > 0)) return reactions;
  Assembler& assembler = impl_->assembler;
  const JointKinematics& kinematics = assembler.row_kinematics();
  ReactionSum sum(model(), kinematics, state().q, reactions);
  for (const ConstraintBlock& b : p.blocks) sum.add(b, impl_->lambda.data() + b.row);
  // What acts on scalars without a row.
  for (int i = 0; i < model().scalar_count(); ++i) {
    double force = assembler.explicit_effort(i);
    if (assembler.scheme().force == 0) {
      const double q = kinematics.scalar(i, state().q);
      const double rate = with_scalar_row(model(), kinematics, i, [&](const auto& row) {
        return dof_rate(assembler.coordinates(), row, assembler.u_minus());
      });
      force += explicit_passive_force(model().scalars()[static_cast<std::size_t>(i)], q, rate);
    }
    if (force != 0) sum.add_dof(i, force * p.dt);
  }
  for (Vec6& reaction : reactions) reaction /= p.dt;
  return reactions;
}

Vec6 Simulation::joint_reaction(int joint) const {
  if (joint < 0 || joint >= model().joint_count()) {
    throw InputError("joint_reaction",
                     fmt::format("joint {} does not exist; the model has {}", joint, model().joint_count()));
  }
  return joint_reactions()[static_cast<std::size_t>(joint)];
}

double Simulation::joint_rate(int dof) const {
  impl_->check_dof(dof, "joint_rate");
  if (model().is_combination(dof)) {
    double sum = 0;
    for (const CombinationTerm& t : model().combination_of(dof).terms) sum += t.coefficient * joint_rate(t.dof);
    return sum;
  }
  const int joint = model().joint_of_dof(dof);
  const Joint& j = model().joints()[static_cast<std::size_t>(joint)];
  const auto pose = [&](int body) { return body == kWorld ? Pose{} : state().X_WB[static_cast<std::size_t>(body)]; };
  const Pose base = pose(j.base);
  const Pose follower = pose(j.follower);
  const JointFrame frame{base * j.p_BJ,
                         follower * j.p_FJ,
                         base.p,
                         follower.p,
                         (base.q * j.q_BJ).toRotationMatrix(),
                         (follower.q * j.q_FJ).toRotationMatrix()};
  JointAxis axes[kMaxJointDofs];
  if (j.type == JointType::serial) {
    SerialSolution s;
    SerialJoint(j).solve(frame, state().q.data() + j.first_dof, s);
    std::copy_n(s.dof_axes, kMaxJointDofs, axes);
  } else {
    joint_dof_axes(j, frame, axes);
  }
  const JointAxis& axis = axes[dof - j.first_dof];
  double rate = follower_row(frame, axis).dot(state().twist[static_cast<std::size_t>(j.follower)]);
  if (j.base != kWorld) rate += base_row(frame, axis).dot(state().twist[static_cast<std::size_t>(j.base)]);
  return rate;
}

Vec3 Simulation::contact_force_W(int contact) const { return contact_impulse_W(contact) / problem().dt; }

}  // namespace sarrus
