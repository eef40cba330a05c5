#include "sarrus/step/push_out.h"

#include <algorithm>
#include <cmath>

#include "sarrus/assembly/rounded_rows.h"
#include "sarrus/solvers/registry.h"

namespace sarrus {
namespace {

constexpr int kBudget = 50;                // factorisations: what it does not solve by then stays for the next step
constexpr double kDiagonalsPerSecond = 5;  // of the smaller shape
constexpr double kRadiansPerSecond = 5;    // of limits; sizes of the joint of slides

// What has sunk in beyond its slop comes back to this share of it: brought back to the slop itself, a body that rolls
// would be beyond it again, and pushed out, in every step.
constexpr double kSettled = 0.5;

// Of the size of the shapes: bodies that are moved by less need not be looked for among others than before.
constexpr double kLittle = 1e-3;

double limit_erp(const Model& model, const ConstraintBlock& b, double fallback) {
  const bool of_dof = b.source_kind == RowSource::limit_lower || b.source_kind == RowSource::limit_upper;
  const auto i = static_cast<std::size_t>(b.source);
  const double erp = of_dof ? model.scalars()[i].limit.erp : model.joints()[i].erp;
  return erp == kUseDefault ? fallback : erp;
}

}  // namespace

PushOut::PushOut(const Model& model, Coordinates& coordinates, const StepModes& modes,
                 std::span<const std::uint8_t> released)
    : model_(model),
      coordinates_(coordinates),
      modes_(modes),
      released_(released),
      unpaid_(model.bodies().size(), 0.0),
      solver_(make_solver("cascade")) {
  rows_.physical = false;
  for (const Dof& d : model.scalars()) {
    has_limits_ = has_limits_ || (!d.limit.locked() && (std::isfinite(d.limit.lower) || std::isfinite(d.limit.upper)));
  }
  for (const Joint& j : model.joints()) has_limits_ = has_limits_ || j.rope || std::isfinite(j.swing_limit);
  if (has_limits_) take_memory();
}

PushOut::~PushOut() = default;

void PushOut::take_memory() {
  if (!twist_.empty()) return;
  rows_.set_nodes(coordinates_.node_sizes());
  step_ = impulse_ = VecX::Zero(coordinates_.velocity_size());
  for (std::vector<double>* v : {&gained_, &kinetic_}) v->resize(model_.bodies().size());
  twist_.resize(model_.bodies().size());
}

void PushOut::take_memory(std::size_t contacts) {
  if (contacts == 0) return;
  take_memory();
  if (aim_.capacity() < contacts) aim_.reserve(contacts + contacts / 4);
  sweeps_.take_memory(model_, contacts);
}

bool PushOut::any_deep(const RowOptions& options, std::span<const Contact> contacts) {
  return std::any_of(contacts.begin(), contacts.end(),
                     [&](const Contact& c) { return c.compliance < 0 && -c.gap > contact_slop(options, c); });
}

bool PushOut::needed(const RowContext& at, std::span<const Contact> contacts) {
  deep_limits_ = false;
  if (has_limits_) {
    rows_.clear_constraints();
    deep_limits_ = add_limit_rows(at, rows_).share > kLimitSlop;
  }
  return deep_limits_ || any_deep(at.options, contacts);
}

// What J d is to be at least, positive where something has sunk in.
void PushOut::find_aims(const RowContext& at, std::span<const Contact> contacts, std::span<const Vec6> twist) {
  const RowOptions& o = at.options;
  const auto spin = [&](int body) {
    return body == kWorld ? 0.0 : twist[static_cast<std::size_t>(body)].tail<3>().norm();
  };
  aim_.clear();
  for (const Contact& c : contacts) {
    const double excess = -c.gap - kSettled * contact_slop(o, c);
    // A corner that comes round within the step sinks in as fast as its body turns.
    const double rate = excess > 0 ? std::max({kDiagonalsPerSecond, spin(c.body_a), spin(c.body_b)}) : 0;
    const double speed = o.push_out_speed == kUseDefault ? rate * c.size : o.push_out_speed;
    aim_.push_back(excess > 0 ? std::min(o.erp_contact * excess, speed * at.dt) : excess);
  }
}

bool PushOut::run(const RowContext& at, std::span<const Contact> contacts, std::span<const Vec6> twist,
                  std::span<Pose> X_WB) {
  find_aims(at, contacts, twist);
  little_ = {};
  if (!deep_limits_ && sweeps_.run(at, contacts, aim_, step_)) {
    bool little = true;
    for (std::size_t i = 0; i < contacts.size(); ++i) little = little && aim_[i] <= kLittle * contacts[i].size;
    if (little) little_ = sweeps_.moved();
  } else if (!solve(at, contacts, X_WB)) {
    return false;
  }
  coordinates_.retract(X_WB, step_, X_WB);
  return true;
}

bool PushOut::solve(const RowContext& at, std::span<const Contact> contacts, std::span<const Pose> X_WB) {
  set_position_rows(model_, coordinates_, X_WB, at.kinematics, at.q, rows_);
  for (int n = 0; n < rows_.node_count(); ++n) {
    const auto k = static_cast<std::size_t>(n);
    if (rows_.node_size[k] != 6) continue;
    Eigen::Map<Mat6>(rows_.mass.data() + rows_.mass_offset[k]).bottomRightCorner<3, 3>() *= kInertiaFactor;
    Eigen::Map<Mat6>(rows_.mass_inverse.data() + rows_.mass_offset[k]).bottomRightCorner<3, 3>() /= kInertiaFactor;
  }
  rows_.u_free.setZero();
  rows_.dt = at.dt;
  release_rows(released_, rows_);
  add_limit_rows(at, rows_);
  add_contact_normals(at, contacts, rows_);
  const RowOptions& o = at.options;
  for (const ConstraintBlock& b : rows_.blocks) {
    if (b.kind != BlockKind::limit) continue;
    double& bias = rows_.bias[static_cast<std::size_t>(b.row)];
    if (b.source_kind == RowSource::contact) {
      bias = -aim_[static_cast<std::size_t>(b.source)];
      continue;
    }
    const bool of_joint = b.source_kind == RowSource::rope || b.source_kind == RowSource::swing_limit;
    const double size = model_.joint_size(of_joint ? b.source : model_.joint_of_dof(b.source));
    const double reach = block_reach(model_, at.kinematics, b).first;
    const double speed = (o.push_out_speed == kUseDefault ? kRadiansPerSecond * size : o.push_out_speed) / reach;
    const double excess = -bias - kSettled * kLimitSlop * size / reach;
    bias = excess > 0 ? -std::min(limit_erp(model_, b, o.erp_limit) * excess, speed * at.dt) : -excess;
  }
  rows_.finish();
  lambda_.assign(static_cast<std::size_t>(rows_.rows()), 0.0);
  solver_->reset();
  constexpr double kTolerance = 1e-6;
  constexpr double kAcceptable = 1e-2;  // what is left is corrected in the next step
  Goal goal = kTolerance;
  goal.acceptable = kAcceptable;
  goal.budget = kBudget;
  const SolveReport answer = solver_->solve(rows_, goal, lambda_);
  if (!usable(answer.residuals, Law::ncp, goal)) return false;
  rows_.multiply_Jt(lambda_, impulse_);
  rows_.multiply_M_inverse(impulse_, step_);
  return step_.allFinite();
}

double PushOut::take_work(std::span<const Pose> before, std::span<const Pose> after, double credit, VecX& u) {
  std::fill(gained_.begin(), gained_.end(), 0.0);
  std::fill(kinetic_.begin(), kinetic_.end(), 0.0);
  coordinates_.scatter(after, u, twist_);
  double total = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const Body& b = model_.bodies()[i];
    const auto k = static_cast<std::size_t>(modes_.assembly(static_cast<int>(i)));
    const double work = -b.mass * model_.gravity_on(static_cast<int>(i)).dot(after[i].p - before[i].p);
    const Vec3 w_B = after[i].q.conjugate() * twist_[i].tail<3>();
    gained_[k] += work;
    total += work;
    kinetic_[k] += 0.5 * (b.mass * twist_[i].head<3>().squaredNorm() + w_B.dot(b.inertia_B * w_B));
  }
  std::copy(gained_.begin(), gained_.end(), unpaid_.begin());
  if (total <= credit) return total;
  double rise = 0;
  for (const double g : gained_) rise += std::max(0.0, g);
  const double share = std::min(1.0, (total - std::max(0.0, credit)) / rise);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto k = static_cast<std::size_t>(modes_.assembly(static_cast<int>(i)));
    if (gained_[k] > 0 && kinetic_[k] > 0) twist_[i] *= std::sqrt(std::max(0.0, 1 - share * gained_[k] / kinetic_[k]));
  }
  for (std::size_t k = 0; k < unpaid_.size(); ++k) {
    if (gained_[k] > 0) unpaid_[k] -= std::min(share * gained_[k], kinetic_[k]);
  }
  coordinates_.gather(after, twist_, u);
  return total;
}

}  // namespace sarrus
