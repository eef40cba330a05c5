#include "sarrus/step/energy_governor.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/workers.h"

namespace sarrus {
namespace {

constexpr double kLeast = 1e-6;
constexpr double kMost = 3e-4;
constexpr double kAlone = 5e-7;  // of bodies without joints

// Kinetic energy of the rotation.
double spinning(const Body& b, const Quat& q_WB, const Vec3& w_W) {
  const Vec3 w_B = q_WB.conjugate() * w_W;
  return 0.5 * w_B.dot(b.inertia_B * w_B);
}

// What the sums over assemblies are made of, on any thread; they are added up in the order of bodies.
template <class F>
void for_bodies(std::size_t count, const F& f) {
  constexpr int kBodies = 64;  // that are worth a thread
  Workers::here().ranges(static_cast<int>(count), kBodies, [&f](int begin, int end) {
    for (int i = begin; i < end; ++i) f(static_cast<std::size_t>(i));
  });
}

}  // namespace

EnergyGovernor::EnergyGovernor(const Model& model, const StepModes& modes)
    : model_(model),
      modes_(modes),
      anchored_(model.bodies().size(), false),
      jointed_(model.bodies().size(), false),
      mass_(model.bodies().size(), 0.0),
      gain_(model.bodies().size()),
      kinetic_(model.bodies().size()),
      fastest_(model.bodies().size()),
      factor_(model.bodies().size()),
      owes_(model.bodies().size()),
      present_(model.bodies().size()),
      sprung_(model.bodies().size()),
      v_centre_(model.bodies().size()),
      of_body_(model.bodies().size()),
      twist_solved_(model.bodies().size()),
      twist_after_(model.bodies().size()) {
  read_again();
  most_held_.resize(model.bodies().size());
  gives_.resize(model.bodies().size());
  for (const Joint& j : model.joints()) has_compliance_ = has_compliance_ || j.compliance.compliant();
  for (const Dof& d : model.scalars()) has_compliance_ = has_compliance_ || d.limit.compliance.compliant();
  for (const Coupling& c : model.couplings()) has_compliance_ = has_compliance_ || c.compliance.compliant();
  for (const Joint& j : model.joints()) {
    if (joint_rows(j) == 0) continue;
    jointed_[assembly(j.follower == kWorld ? j.base : j.follower)] = true;
    if (j.base == kWorld) anchored_[assembly(j.follower)] = true;
    if (j.follower == kWorld) anchored_[assembly(j.base)] = true;
  }
}

void EnergyGovernor::read_again() {
  std::fill(mass_.begin(), mass_.end(), 0.0);
  for (int i = 0; i < model_.body_count(); ++i) mass_[assembly(i)] += model_.bodies()[static_cast<std::size_t>(i)].mass;
  has_springs_ = std::ranges::any_of(model_.scalars(), [](const Dof& d) { return d.stiffness != 0; });
}

std::size_t EnergyGovernor::assembly_of_joint(int joint) const {
  const Joint& j = model_.joints()[static_cast<std::size_t>(joint)];
  return assembly(j.follower == kWorld ? j.base : j.follower);
}

// Free motion creates no energy: of a body that no row and no torque acts on there is nothing to add up. Bodies that
// share a node move each other.
bool EnergyGovernor::is_free(Assembler& assembler, const Step& step, int body) const {
  if (assembler.coordinates().map(body).X != nullptr) return false;
  return assembler.problem().islands.of_node(assembler.coordinates().map(body).node) < 0 &&
         step.inputs.wrenches_W[static_cast<std::size_t>(body)].tail<3>().isZero(0);
}

void EnergyGovernor::add_bodies(Assembler& assembler, const Step& step, const VecX& u_plus) {
  Coordinates& coordinates = assembler.coordinates();
  coordinates.scatter(assembler.row_poses(), step.u_solved, twist_solved_);
  coordinates.scatter(step.X_after, u_plus, twist_after_);
  std::fill(v_centre_.begin(), v_centre_.end(), Vec3::Zero());
  for (std::size_t i = 0; i < twist_after_.size(); ++i) {
    const auto k = assembly(static_cast<int>(i));
    if (!anchored_[k]) v_centre_[k] += model_.bodies()[i].mass / mass_[k] * twist_after_[i].head<3>();
  }
  for_bodies(of_body_.size(), [&](std::size_t i) {
    const Body& b = model_.bodies()[i];
    const auto k = assembly(static_cast<int>(i));
    const Vec6& after = twist_after_[i];
    const double spin = spinning(b, step.X_after[i].q, after.tail<3>());
    OfBody& own = of_body_[i];
    own.kinetic = 0.5 * b.mass * (after.head<3>() - v_centre_[k]).squaredNorm() + spin;
    own.present =
        0.5 * b.mass * std::max(after.head<3>().squaredNorm(), twist_solved_[i].head<3>().squaredNorm()) + spin;
    own.speed = after.tail<3>().norm();
    own.free = is_free(assembler, step, static_cast<int>(i));
    if (own.free) return;
    const Vec6& solved = twist_solved_[i];
    const Vec3 way = step.X_after[i].p - step.X_before[i].p - step.dt * step.mean.twist[i].head<3>();
    own.gain = 0.5 * b.mass * (after.head<3>().squaredNorm() - solved.head<3>().squaredNorm()) + spin -
               spinning(b, assembler.row_poses()[i].q, solved.tail<3>()) -
               b.mass * model_.gravity_on(static_cast<int>(i)).dot(way);
  });
  for (std::size_t i = 0; i < of_body_.size(); ++i) {
    const auto k = assembly(static_cast<int>(i));
    kinetic_[k] += of_body_[i].kinetic;
    present_[k] += of_body_[i].present;
    fastest_[k] = std::max(fastest_[k], of_body_[i].speed);
    if (!of_body_[i].free) gain_[k] += of_body_[i].gain;
  }
}

void EnergyGovernor::add_rotation(Assembler& assembler, const Step& step) {
  const ConstraintProblem& p = assembler.problem();
  if (std::ranges::all_of(of_body_, [](const OfBody& b) { return b.free; })) return;
  turned_ = assembler.u_minus();
  assembler.coordinates().rotate_freely(assembler.free_motion(step.inputs, step.dt), Rotation::middle, turned_);
  turned_ -= assembler.u_minus();
  for_bodies(of_body_.size(), [&](std::size_t k) {
    const auto i = static_cast<int>(k);
    const BodyMap& map = assembler.coordinates().map(i);
    // Nodes of several bodies have one assembly: the first of them counts.
    of_body_[k].gain = 0;
    if ((map.size != 6 && modes_.assembly(i) != i) || of_body_[k].free) return;
    const Eigen::Map<const MatX> M(p.mass.data() + p.mass_offset[static_cast<std::size_t>(map.node)], map.size,
                                   map.size);
    const auto change = turned_.segment(map.offset, map.size);
    const auto mean = step.mean.u.segment(map.offset, map.size);
    // Of a body alone nothing but its rotation has changed.
    of_body_[k].gain = map.X == nullptr ? mean.tail<3>().dot(M.bottomRightCorner<3, 3>() * change.tail<3>())
                                        : mean.dot(M.lazyProduct(change));
  });
  for (std::size_t i = 0; i < of_body_.size(); ++i) gain_[assembly(static_cast<int>(i))] += of_body_[i].gain;
}

// In an impact step the work of contacts counts as a whole: where in the step they close, and so what gravity does
// before and after, is not resolved.
void EnergyGovernor::add_rows(Assembler& assembler, const Step& step) {
  const ConstraintProblem& p = assembler.problem();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const ConstraintBlock& b = p.blocks[i];
    const double work = step.mean.work[i];
    // Rows that are released of a rigid joint have R, too.
    const bool rigid =
        b.kind == BlockKind::joint ? !is_compliant(model_, b) : p.R[static_cast<std::size_t>(b.row + b.rows - 1)] == 0;
    switch (b.source_kind) {
      case RowSource::joint:
        if (rigid) gain_[assembly_of_joint(b.source)] += work;
        break;
      case RowSource::coupling:
        if (rigid) {
          const Coupling& c = model_.couplings()[static_cast<std::size_t>(b.source)];
          gain_[assembly_of_joint(model_.joint_of_dof(c.dof_a))] += work;
        }
        break;
      case RowSource::passive:
        gain_[assembly_of_joint(model_.joint_of_dof(b.source))] += work;
        break;
      case RowSource::locked_dof:
        if (rigid) gain_[assembly_of_joint(model_.joint_of_dof(b.source))] += work;
        break;
      case RowSource::limit_lower:
      case RowSource::limit_upper: {
        const auto k = assembly_of_joint(model_.joint_of_dof(b.source));
        if (rigid) gain_[k] += modes_.is_impact(static_cast<int>(k)) ? work : std::max(0.0, work);
        break;
      }
      case RowSource::swing_limit:
      case RowSource::rope: {
        const auto k = assembly_of_joint(b.source);
        if (rigid) gain_[k] += modes_.is_impact(static_cast<int>(k)) ? work : std::max(0.0, work);
        break;
      }
      case RowSource::contact: {
        const Contact& c = assembler.contacts()[static_cast<std::size_t>(b.source)];
        if (!rigid) break;
        const double share = c.body_a == kWorld || c.body_b == kWorld ? 1.0 : 0.5;
        for (const int body : {c.body_a, c.body_b}) {
          if (body == kWorld) continue;
          gain_[assembly(body)] += share * (modes_.is_impact(body) ? work : std::max(0.0, work));
        }
        break;
      }
      case RowSource::servo:
      case RowSource::dry_friction:
      case RowSource::drag:
        break;
    }
  }
}

void EnergyGovernor::add_storage(const Step& step) {
  for (int i = 0; i < model_.scalar_count(); ++i) {
    const auto d = static_cast<std::size_t>(i);
    const Dof& dof = model_.scalars()[d];
    if (dof.stiffness == 0 && dof.armature == 0) continue;
    const double before = model_.scalar_value(i, step.q_before) - dof.rest;
    const double after = model_.scalar_value(i, step.q_after) - dof.rest;
    const auto k = assembly_of_joint(model_.joint_of_dof(i));
    gain_[k] += 0.5 * dof.stiffness * (after * after - before * before);
    sprung_[k] += 0.5 * dof.stiffness * (after * after - before * before);
    present_[k] += 0.5 * dof.stiffness * std::max(after * after, before * before);
    if (dof.armature == 0) continue;
    const double rate = step.rate_after[d];
    gain_[k] += 0.5 * dof.armature * (rate * rate - step.rate_before[d] * step.rate_before[d]);
    kinetic_[k] += 0.5 * dof.armature * rate * rate;
  }
}

// Of a compliant row after the step, m or rad; joints have left theirs in residual_.
double EnergyGovernor::deformation(const Step& step, const ConstraintBlock& b, int row) const {
  const auto i = static_cast<std::size_t>(b.source);
  switch (b.source_kind) {
    case RowSource::limit_lower:
    case RowSource::limit_upper: {
      const Limit& l = model_.scalars()[i].limit;
      const double q = model_.scalar_value(b.source, step.q_after);
      // A limit with a margin pushes from there on.
      const double beyond = b.source_kind == RowSource::limit_lower ? l.lower - q : q - l.upper;
      return std::max(0.0, l.compliance.margin + beyond);
    }
    case RowSource::rope:
      return std::max(0.0, -unilateral_joint(model_.joints()[i], step.kinematics.frame(b.source)).gap);
    default:
      return std::abs(residual_[b.row + row]);
  }
}

void EnergyGovernor::add_compliance(Assembler& assembler, const Step& step, std::span<State::EnergySwing> swing) {
  const ConstraintProblem& p = assembler.problem();
  const auto joints = static_cast<std::size_t>(
      std::ranges::find_if(p.blocks, [](const ConstraintBlock& b) { return b.kind != BlockKind::joint; }) -
      p.blocks.begin());
  residual_.resize(p.rows_of(BlockKind::joint));
  position_residuals(model_, {p.blocks.data(), joints}, false, step.kinematics, step.q_after, residual_);
  std::ranges::fill(most_held_, 0.0);
  std::ranges::fill(gives_, 0);
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const ConstraintBlock& b = p.blocks[i];
    const bool limit = b.kind == BlockKind::limit;
    if (limit ? p.R[static_cast<std::size_t>(b.row)] == 0 : b.kind != BlockKind::joint || !is_compliant(model_, b)) {
      continue;
    }
    int joint = b.source;
    if (b.source_kind == RowSource::coupling) {
      joint = model_.joint_of_dof(model_.couplings()[static_cast<std::size_t>(b.source)].dof_a);
    } else if (b.source_kind != RowSource::joint && b.source_kind != RowSource::rope) {
      joint = model_.joint_of_dof(b.source);
    }
    const auto k = assembly_of_joint(joint);
    gives_[k] = 1;
    swing[k].held -= step.mean.work[i];
    for (int r = 0; r < b.rows; ++r) {
      const auto row = static_cast<std::size_t>(b.row + r);
      if (p.R[row] == 0) continue;
      const double way = deformation(step, b, r);
      // A damper may take of the force what the spring pulls with.
      const double pull = std::abs(p.bias[row]) / (p.R[row] * step.dt);
      most_held_[k] += std::max(std::abs(step.lambda[row]) / step.dt, pull) * way;
      const double before = way + step.dt * std::abs(step.mean.v[b.row + r]);
      if (step.first && !(limit && p.bias[row] > 0)) swing[k].held += 0.5 * pull * before;
    }
  }
  for (std::size_t k = 0; k < gives_.size(); ++k) {
    if (gives_[k] == 0 || !step.part.has(static_cast<int>(k))) continue;
    double& held = swing[k].held;
    gain_[k] += std::max(0.0, -held);
    sprung_[k] += std::max(0.0, -held);
    held = std::clamp(held, 0.0, most_held_[k]);
  }
}

double EnergyGovernor::take_back(Assembler& assembler, const Step& step, std::span<State::EnergySwing> swing,
                                 VecX& u_plus, std::span<double> rate) {
  for (std::size_t k = 0; k < gain_.size(); ++k) {
    gain_[k] = -step.correction[k];
    kinetic_[k] = 0;
    fastest_[k] = std::sqrt(modes_.stiffness(static_cast<int>(k)));
    factor_[k] = 1;
    present_[k] = sprung_[k] = 0;
    owes_[k] = 0;
  }
  add_bodies(assembler, step, u_plus);
  add_rotation(assembler, step);
  add_rows(assembler, step);
  add_storage(step);
  if (has_compliance_) add_compliance(assembler, step, swing);
  double taken = 0;
  bool any = false;
  for (std::size_t k = 0; k < gain_.size(); ++k) {
    if (modes_.assembly(static_cast<int>(k)) != static_cast<int>(k) || !step.part.has(static_cast<int>(k))) continue;
    swing[k].largest = std::max(swing[k].largest, kinetic_[k]);
    const double turn = step.dt * fastest_[k];
    const double share = jointed_[k] ? std::clamp(turn * turn, kLeast, kMost) : kAlone;
    const double allowed = share * swing[k].largest;
    double& G = swing[k].gain;
    G = std::max(G + gain_[k], -allowed);
    if (!(G > allowed)) continue;
    const double take = std::min(G - allowed, kinetic_[k]);
    // What hardly moves within itself has no energy to measure by but these.
    const double fall = step.dt * model_.largest_gravity();
    const double least = 0.5 * mass_[k] * fall * fall + kLeast * present_[k];
    owes_[k] = jointed_[k] && sprung_[k] > 0.5 * std::abs(gain_[k]) && G - allowed - take > std::max(allowed, least);
    if (take == 0) continue;
    factor_[k] = std::sqrt(1 - take / kinetic_[k]);
    G -= take;
    taken += take;
    any = true;
  }
  if (!any) return 0;
  for (std::size_t i = 0; i < twist_after_.size(); ++i) {
    const auto k = assembly(static_cast<int>(i));
    if (factor_[k] == 1) continue;
    twist_after_[i].head<3>() = v_centre_[k] + factor_[k] * (twist_after_[i].head<3>() - v_centre_[k]);
    twist_after_[i].tail<3>() *= factor_[k];
  }
  assembler.coordinates().gather(step.X_after, twist_after_, u_plus);
  for (const int i : assembler.armature_dofs()) {
    rate[static_cast<std::size_t>(i)] *= factor_[assembly_of_joint(model_.joint_of_dof(i))];
  }
  return taken;
}

}  // namespace sarrus
