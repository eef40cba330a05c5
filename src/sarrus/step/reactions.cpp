// What a Simulation tells of its joints and contacts: rates, errors, what drives aim at, and the wrenches and modes of
// the last step.
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
      case RowSource::drag:
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

JointFrame frame_at(const Joint& j, const State& state) {
  const auto pose = [&](int body) { return body == kWorld ? Pose{} : state.X_WB[static_cast<std::size_t>(body)]; };
  const Pose base = pose(j.base);
  const Pose follower = pose(j.follower);
  return {base * j.p_BJ,
          follower * j.p_FJ,
          base.p,
          follower.p,
          (base.q * j.q_BJ).toRotationMatrix(),
          (follower.q * j.q_FJ).toRotationMatrix()};
}

void check_joint(const Model& model, int joint, const char* call) {
  if (joint >= 0 && joint < model.joint_count()) return;
  throw InputError(call, fmt::format("joint {} does not exist; the model has {}", joint, model.joint_count()));
}

void check_joints(const Model& model, std::size_t size, const char* call) {
  if (size == model.joints().size()) return;
  throw InputError(call, fmt::format("there is room for {} joints; the model has {}", size, model.joint_count()));
}

}  // namespace

std::vector<Vec6> Simulation::joint_reactions() const {
  std::vector<Vec6> reactions(model().joints().size());
  joint_reactions(reactions);
  return reactions;
}

void Simulation::joint_reactions(std::span<Vec6> reactions) const {
  const ConstraintProblem& p = problem();
  check_joints(model(), reactions.size(), "joint_reactions");
  std::fill(reactions.begin(), reactions.end(), Vec6::Zero());
  if (!(p.dt > 0)) return;
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
}

Vec6 Simulation::joint_reaction(int joint) const {
  check_joint(model(), joint, "joint_reaction");
  return joint_reactions()[static_cast<std::size_t>(joint)];
}

JointOpening Simulation::joint_opening(int joint) const {
  check_joint(model(), joint, "joint_opening");
  const Joint& j = model().joints()[static_cast<std::size_t>(joint)];
  const JointFrame frame = frame_at(j, state());
  double residual[6];
  int translational = 0;
  if (j.type == JointType::serial) {
    SerialSolution s;
    SerialJoint(j).solve(frame, state().q.data() + j.first_dof, s);
    std::copy_n(s.residual, joint_rows(j), residual);
    translational = s.translational;
  } else {
    translational = joint_residual(j, frame, residual);
  }
  if (j.rope) return {std::max(0.0, residual[0]), 0};
  JointOpening open;
  for (int k = 0; k < joint_rows(j); ++k) {
    double& most = k < translational ? open.gap : open.angle;
    most = std::max(most, std::abs(residual[k]));
  }
  return open;
}

void Simulation::joint_openings(std::span<JointOpening> out) const {
  check_joints(model(), out.size(), "joint_openings");
  for (int i = 0; i < model().joint_count(); ++i) out[static_cast<std::size_t>(i)] = joint_opening(i);
}

double Simulation::drive_target(int dof) const {
  impl_->check_dof(dof, "drive_target");
  const Drive& d = model().scalars()[static_cast<std::size_t>(dof)].drive;
  if (d.mode == DriveMode::none) return 0;
  const Inputs::Target& input = impl_->inputs.targets[static_cast<std::size_t>(dof)];
  return std::clamp(input.active ? input.target : d.target.value(time()), d.target_lower, d.target_upper);
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
  const JointFrame frame = frame_at(j, state());
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

ContactMode Simulation::contact_mode(int contact) const {
  const Vec3 impulse = contact_impulse(contact);
  const ConstraintProblem& p = problem();
  const double scale = p.scale[p.rows() - p.rows_of(BlockKind::contact) + 3 * contact];
  const Contact& c = contacts()[static_cast<std::size_t>(contact)];
  const ContactMode mode = sarrus::contact_mode(impulse, c.mu, options().tolerance * scale * scale);
  if (mode != ContactMode::sliding || c.mu == 0) return mode;
  // Where several contacts share a load, one that stands may be given an impulse on its cone.
  const auto velocity = [&](int body) -> Vec3 {
    if (body == kWorld) return Vec3::Zero();
    const auto b = static_cast<std::size_t>(body);
    const Vec6& u = state().twist[b];
    return u.head<3>() + u.tail<3>().cross(c.p_W - state().X_WB[b].p);
  };
  const Vec3 slip = velocity(c.body_b) - velocity(c.body_a);
  const double still = std::min(100 * options().tolerance, 1e-6);  // m/s; a loose tolerance says nothing of slipping
  return (slip - slip.dot(c.n_W) * c.n_W).norm() <= still ? ContactMode::sticking : mode;
}

}  // namespace sarrus
