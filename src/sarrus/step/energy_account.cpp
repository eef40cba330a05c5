#include "sarrus/step/energy_account.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/workers.h"
#include "sarrus/rows/compliance.h"

namespace sarrus {
namespace {

constexpr int kLeastShared = 256;  // bodies or blocks that are worth a thread

}  // namespace

void MeanMotion::set(Assembler& assembler, std::span<const double> lambda, const VecX& u_solved) {
  const ConstraintProblem& p = assembler.problem();
  u = 0.5 * (assembler.u_minus() + u_solved);
  assembler.coordinates().scatter(assembler.row_poses(), u, twist);
  v.resize(p.rows());
  p.multiply_J(u, v);
  work.resize(p.blocks.size());
  Workers::here().ranges(static_cast<int>(work.size()), kLeastShared, [&](int begin, int end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const ConstraintBlock& b = p.blocks[i];
      double sum = 0;
      for (int r = b.row; r < b.row + b.rows; ++r) sum += lambda[static_cast<std::size_t>(r)] * v[r];
      work[i] = sum;
    }
  });
}

EnergyAccount::EnergyAccount(const Model& model) : model_(model) {
  for (const Body& b : model.bodies()) body_damping_ = body_damping_ || b.linear_damping > 0 || b.angular_damping > 0;
}

EnergyAccount::Stored EnergyAccount::stored(std::span<const Pose> X_WB, std::span<const Vec6> twist,
                                            std::span<const double> q, std::span<const double> rate) {
  of_body_.resize(X_WB.size());
  Workers::here().ranges(static_cast<int>(X_WB.size()), kLeastShared, [&](int begin, int end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const Body& b = model_.bodies()[i];
      const Vec3 w_B = X_WB[i].q.conjugate() * twist[i].tail<3>();
      of_body_[i].kinetic = 0.5 * (b.mass * twist[i].head<3>().squaredNorm() + w_B.dot(b.inertia_B * w_B));
      of_body_[i].weight = b.mass * model_.gravity_on(static_cast<int>(i)).dot(X_WB[i].p);
    }
  });
  Stored e;
  for (const OfBody& b : of_body_) {
    e.kinetic += b.kinetic;
    e.gravity -= b.weight;
  }
  for (int i = 0; i < model_.scalar_count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Dof& dof = model_.scalars()[k];
    const double stretch = model_.scalar_value(i, q) - dof.rest;
    e.springs += 0.5 * dof.stiffness * stretch * stretch;
    if (k < rate.size()) e.armature += 0.5 * dof.armature * rate[k] * rate[k];
  }
  return e;
}

double EnergyAccount::forces_work(Assembler& assembler, const MeanMotion& mean, double dt) const {
  double work = 0;
  for (int i = 0; i < model_.scalar_count(); ++i) {
    const double effort = assembler.explicit_effort(i);
    if (effort == 0) continue;
    with_scalar_row(model_, assembler.row_kinematics(), i,
                    [&](const auto& row) { work += dt * effort * dof_rate(assembler.coordinates(), row, mean.u); });
  }
  return work;
}

// Of the normal alone of contacts. Positions move by w u+ + (1 - w) u-, w = Scheme::position, in place of u_m.
double EnergyAccount::work_on_way(Assembler& assembler, const ConstraintBlock& b, std::span<const double> lambda,
                                  const MeanMotion& mean) const {
  const ConstraintProblem& p = assembler.problem();
  int body = kWorld;
  if (b.kind == BlockKind::contact) {
    const Contact& c = assembler.contacts()[static_cast<std::size_t>(b.source)];
    body = std::max(c.body_a, c.body_b);
  } else {
    int joint = b.source;
    if (b.source_kind == RowSource::coupling) {
      joint = model_.joint_of_dof(model_.couplings()[static_cast<std::size_t>(b.source)].dof_a);
    } else if (b.source_kind == RowSource::passive || b.source_kind == RowSource::locked_dof ||
               b.source_kind == RowSource::limit_lower || b.source_kind == RowSource::limit_upper) {
      joint = model_.joint_of_dof(b.source);
    }
    const Joint& j = model_.joints()[static_cast<std::size_t>(joint)];
    body = std::max(j.base, j.follower);
  }
  const double ahead = 2 * assembler.modes().scheme()[static_cast<std::size_t>(body)]->position - 1;
  double work = 0;
  for (int r = b.kind == BlockKind::contact ? 2 : 0; r < b.rows; ++r) {
    const double v = mean.v[b.row + r];
    const double way = ahead == 0 ? v : v + ahead * (v - row_velocity(p, b, r, assembler.u_minus()));
    work += lambda[static_cast<std::size_t>(b.row + r)] * way;
  }
  return work;
}

EnergyFlow EnergyAccount::flow(Assembler& assembler, const Inputs& inputs, std::span<const double> lambda,
                               const MeanMotion& mean, double dt, const Stored& before, const Stored& after,
                               double correction, double taken_back) const {
  const ConstraintProblem& p = assembler.problem();
  EnergyFlow f;
  f.change = after.total() - before.total();
  f.correction = correction;
  f.taken_back = -taken_back;
  const bool impact = assembler.modes().any_impact();
  double passive = 0;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const ConstraintBlock& b = p.blocks[i];
    const double work = mean.work[i];
    // Rows that are released of a rigid joint have R, too.
    const bool soft =
        b.kind == BlockKind::joint ? is_compliant(model_, b) : p.R[static_cast<std::size_t>(b.row + b.rows - 1)] > 0;
    if (soft && b.source_kind != RowSource::servo && b.source_kind != RowSource::drag) {
      (b.kind == BlockKind::soft ? f.springs : f.compliance) += work_on_way(assembler, b, lambda, mean);
    }
    switch (b.source_kind) {
      case RowSource::joint:
      case RowSource::locked_dof:
      case RowSource::coupling:
        (soft ? f.damping : f.impacts) += soft || impact ? work : 0.0;
        break;
      case RowSource::servo:
        f.drives += work;
        break;
      case RowSource::drag:
        f.external += work;
        break;
      case RowSource::passive:
        passive += work;
        break;
      case RowSource::dry_friction:
        f.friction += work;
        break;
      case RowSource::contact: {
        const int n = b.row + 2;
        const double normal = lambda[static_cast<std::size_t>(n)] * mean.v[n];
        (soft ? f.damping : f.impacts) += normal;
        f.friction += work - normal;
        break;
      }
      default:
        (soft ? f.damping : f.impacts) += work;
        break;
    }
  }
  f.drives += forces_work(assembler, mean, dt);
  for (std::size_t i = 0; i < mean.twist.size(); ++i) f.external += dt * inputs.wrenches_W[i].dot(mean.twist[i]);
  const double stored = (after.springs - before.springs) + (after.armature - before.armature);
  f.damping += passive + stored;
  f.springs += stored;
  const double known = f.drives + f.external + f.friction + f.impacts + f.damping + f.correction + f.taken_back;
  f.unaccounted = f.change - known;
  // Damping of bodies is no row: it is what they lost. The loss of an impact is what its step lost: where in the step
  // it happened, and so what gravity did before and after it, is not resolved.
  if (body_damping_ && f.unaccounted < 0) {
    f.damping += f.unaccounted;
    f.unaccounted = 0;
  }
  if (impact) {
    const double share = std::min(f.unaccounted, std::max(0.0, -f.impacts));
    f.impacts += share;
    f.unaccounted -= share;
  }
  return f;
}

}  // namespace sarrus
