#include "sarrus/step/assembler.h"

#include <algorithm>

#include "sarrus/assembly/rounded_rows.h"
#include "sarrus/step/stopwatch.h"

namespace sarrus {
namespace {

// Where coordinates hold joints by themselves, rows are others.
std::vector<std::uint8_t> rows_to_release(const Model& model, const Coordinates& coordinates) {
  for (int i = 0; i < model.joint_count(); ++i) {
    if (coordinates.holds(i)) return {};
  }
  return rounded_rows(model);
}

}  // namespace

Assembler::Assembler(Model model, SimulationOptions options, std::unique_ptr<Coordinates> coordinates)
    : model_(std::move(model)),
      options_(complete_options(std::move(options), model_)),
      scheme_(scheme_of(*options_.integrator)),
      coordinates_(coordinates ? std::move(coordinates) : maximal_coordinates(model_)),
      detector_(model_, options_.collision),
      released_(rows_to_release(model_, *coordinates_)),
      projection_(model_, *coordinates_, factor_, released_),
      modes_(model_, scheme_),
      start_(model_),
      end_(start_),
      kinematics_(start_),
      row_poses_(model_.bodies().size()),
      predicted_poses_(row_poses_),
      row_twists_(row_poses_.size()),
      u_minus_(VecX::Zero(coordinates_->velocity_size())),
      armature_rate_(model_.dofs().size(), 0.0),
      rate_curvature_(model_.dofs().size(), 0.0),
      drives_(model_.scalars().size()),
      explicit_effort_(model_.scalars().size(), 0.0) {
  problem_.set_nodes(coordinates_->node_sizes());
  for (int i = 0; i < model_.dof_count(); ++i) {
    if (model_.dofs()[static_cast<std::size_t>(i)].armature > 0) armature_dofs_.push_back(i);
  }
  // Geoms that are only drawn meet nothing.
  const auto collides = [](const Geom& g) { return g.group != 0 || g.collides_with != 0; };
  const auto geoms = static_cast<std::size_t>(std::ranges::count_if(model_.geoms(), collides));
  for (std::vector<Contact>* c : {&start_contacts_, &contacts_, &end_contacts_, &moved_contacts_})
    c->reserve(64 + 2 * geoms);
  for (auto* c : {&start_pairs_, &end_pairs_}) c->reserve(64 + 2 * geoms);
}

FreeMotion Assembler::free_motion(const Inputs& inputs, double dt) const {
  return {modes_.scheme(), row_poses_, row_twists_, inputs.wrenches_W, dt};
}

void Assembler::assemble(const State& state, const Inputs& inputs, double dt, WarmStart* last) {
  seconds_projection_ = 0;
  Stopwatch watch;
  coordinates_->gather(state.X_WB, state.twist, u_minus_);
  start_known_ = end_known_;
  if (start_known_) {
    std::swap(start_, end_);
    start_.update_serial(state.q);
  } else {
    start_.update(state.X_WB, state.q);
  }
  end_known_ = false;  // the next state is another one
  seconds_assembly_ = watch.lap();
  find_events(state, dt);
  seconds_collision_ = watch.lap();
  read_inputs(state, inputs, dt);
  place_rows(state, dt);
  seconds_assembly_ += watch.lap() - seconds_projection_;
  place_contacts(state, dt, last);
  seconds_collision_ += watch.lap();
  problem_.dt = dt;
  const FreeMotion motion = free_motion(inputs, dt);
  coordinates_->free_velocity(motion, problem_.mass, problem_.mass_inverse, problem_.u_free);
  if (modes_.any_curvature() || !armature_dofs_.empty()) {
    coordinates_->move(motion, state.X_WB, u_minus_, predicted_poses_);
    end_.update(predicted_poses_, state.q);
  }
  if (modes_.any_impact()) coordinates_->rotate_freely(motion, Rotation::free, u_minus_);
  read_rates(state);
  add_forces(dt);
  coordinates_->damp(problem_.mass, dt, problem_.u_free);
  build_rows(inputs, dt, last);
  seconds_assembly_ += watch.lap();
}

// Contacts before the step are those after the last one, unless that was taken with another dt.
void Assembler::find_events(const State& state, double dt) {
  if (start_dt_ != dt) detector_.detect(state.X_WB, state.twist, dt, start_contacts_, &start_pairs_);
  start_dt_ = 0;  // the next state is another one
  modes_.decide(state, start_, start_contacts_, options_.rows, dt);
}

std::span<const Contact> Assembler::detect_after(std::span<const Pose> X_WB, std::span<const Vec6> twist, double dt) {
  detector_.detect(X_WB, twist, dt, end_contacts_, &end_pairs_);
  end_dt_ = dt;
  return end_contacts_;
}

// Velocities may have changed, too, but only become less.
void Assembler::detect_moved(std::span<const Pose> X_WB, std::span<const Vec6> twist, double dt,
                             std::span<const std::uint8_t> moved) {
  const auto has_moved = [&](int body) { return body != kWorld && moved[static_cast<std::size_t>(body)] != 0; };
  detector_.move(X_WB, twist, dt);
  moved_contacts_.clear();
  const Contact* first = end_contacts_.data();
  std::size_t kept = 0;
  for (const CollisionDetector::ClosePair& pair : end_pairs_) {
    const std::size_t size = moved_contacts_.size();
    if (has_moved(first->body_a) || has_moved(first->body_b)) {
      detector_.detect_again(pair.colliders, moved_contacts_);
    } else {
      moved_contacts_.insert(moved_contacts_.end(), first, first + pair.contacts);
    }
    first += pair.contacts;
    const auto count = static_cast<int>(moved_contacts_.size() - size);
    if (count > 0) end_pairs_[kept++] = {pair.colliders, count};
  }
  end_pairs_.resize(kept);
  end_contacts_.swap(moved_contacts_);
}

void Assembler::advance() {
  end_known_ = true;
  start_contacts_.swap(end_contacts_);
  start_pairs_.swap(end_pairs_);
  start_dt_ = end_dt_;
  end_dt_ = 0;
}

RowContext Assembler::context_at(std::span<const Pose> X_WB, const JointKinematics& kinematics,
                                 std::span<const double> q, double dt) const {
  return {model_,     *coordinates_, scheme_, options_.rows, dt,      kinematics,    kinematics,
          kinematics, X_WB,          q,       u_minus_,      drives_, armature_rate_};
}

// Whether the midpoint differs from the start for the bodies of a contact: what is at rest need not be found again.
bool Assembler::moves(const State& state, const Contact& c, double dt) const {
  constexpr double kStill = 1e-9;  // of the size of the shapes, per step
  for (const int body : {c.body_a, c.body_b}) {
    if (body == kWorld || modes_.starts(body)) continue;
    const Vec6& u = state.twist[static_cast<std::size_t>(body)];
    if (dt * (u.head<3>().norm() + u.tail<3>().norm() * c.size) > kStill * c.size) return true;
  }
  return false;
}

// Contacts at the midpoint; false if nothing moves.
bool Assembler::find_moved_contacts(const State& state, double dt) {
  detector_.move(row_poses_, row_twists_, dt);
  contacts_.clear();
  bool any = false;
  const Contact* first = start_contacts_.data();
  for (const CollisionDetector::ClosePair& pair : start_pairs_) {
    if (moves(state, *first, dt)) {
      any = true;
      detector_.detect_again(pair.colliders, contacts_);
    } else {
      contacts_.insert(contacts_.end(), first, first + pair.contacts);
    }
    first += pair.contacts;
  }
  return any;
}

// Contacts found at the midpoint are sustained if those before the step are that they continue.
void Assembler::place_contacts(const State& state, double dt, WarmStart* last) {
  sustained_ = modes_.sustained();
  if (rows_at_start_) {
    contacts_ = start_contacts_;
  } else if (find_moved_contacts(state, dt)) {
    marks_.mark(start_contacts_, modes_.sustained(), state.X_WB);
    sustained_ = marks_.match(contacts_, row_poses_);
  }
  pair_load_ = {};
  if (last == nullptr) return;
  last->match(contacts_, row_poses_);
  pair_load_ = last->pair_load();
}

void Assembler::read_inputs(const State& state, const Inputs& inputs, double dt) {
  for (std::size_t i = 0; i < drives_.size(); ++i) {
    const Drive& d = model_.scalars()[i].drive;
    const Inputs::Target& o = inputs.targets[i];
    const auto at = [&](double t) {
      DriveTarget aim{o.target, o.rate};
      if (!o.active) aim = {d.target.value(t), d.target.derivative(t)};
      if (aim.target >= d.target_lower && aim.target <= d.target_upper) return aim;
      return DriveTarget{std::clamp(aim.target, d.target_lower, d.target_upper), 0};
    };
    drives_[i].force = inputs.joint_forces[i];
    if (d.mode == DriveMode::none) continue;
    drives_[i].end = at(state.time + dt);
    if (scheme_.row_pose != 0 && !modes_.all_start()) drives_[i].middle = at(state.time + 0.5 * dt);
    // Forces act as of the time of the rows.
    if (d.mode == DriveMode::force) {
      drives_[i].force += d.clamp_effort(at(state.time + scheme_.row_pose * dt).target);
    }
  }
}

// Rows beside the manifold are no good: those that are redundant on it (a Bennett loop) are independent and nearly
// singular O(dt^2) away from it. So a pose of the rows other than s is projected; even 1e-9 m beside the manifold the
// impulses of a Bennett loop lose a digit.
void Assembler::place_rows(const State& state, double dt) {
  row_q_ = state.q;
  rows_at_start_ = scheme_.row_pose == 0 || modes_.all_start();
  if (rows_at_start_) {
    std::copy(state.X_WB.begin(), state.X_WB.end(), row_poses_.begin());
    std::copy(state.twist.begin(), state.twist.end(), row_twists_.begin());
    // Those of serial joints are found again, by the choice of components that all rows of this step share.
    if (!start_known_ || start_.has_serial()) start_.update_coordinates(row_q_);
    return;
  }
  coordinates_->integrate(state.X_WB, u_minus_, scheme_.row_pose * dt, scheme_.attitude, row_poses_);
  for (int i = 0; i < model_.body_count(); ++i) {
    if (modes_.starts(i)) row_poses_[static_cast<std::size_t>(i)] = state.X_WB[static_cast<std::size_t>(i)];
  }
  kinematics_.update(row_poses_, state.q);
  if (options_.projection) {
    const Stopwatch watch;
    projection_.begin(options_.warm_start);
    projection_.project_poses(row_poses_, kinematics_, state.q, options_.projection_tolerance,
                              options_.projection_iterations);
    seconds_projection_ = watch.seconds();
  }
  kinematics_.update_coordinates(row_q_);
  coordinates_->carry(state.X_WB, row_poses_, u_minus_);
  coordinates_->scatter(row_poses_, u_minus_, row_twists_);
}

void Assembler::read_rates(const State& state) {
  for (const int i : armature_dofs_) {
    const auto k = static_cast<std::size_t>(i);
    const double rate = start_.rate(i, state.twist);
    const double kappa = 0.5 * (end_.rate(i, state.twist) - rate);
    const Joint& joint = model_.joints()[static_cast<std::size_t>(model_.joint_of_dof(i))];
    const Scheme& scheme =
        *modes_.scheme()[static_cast<std::size_t>(joint.follower == kWorld ? joint.base : joint.follower)];
    rate_curvature_[k] = scheme.rate_curvature * kappa;
    // From the pose of the rows to the new one J u+ grows by 2 (1 - row_pose) kappa: what of it q'+ leaves out is the
    // lag of steady motion.
    const double steady = (scheme.rate_curvature - 2 * (1 - scheme.row_pose)) * kappa;
    armature_rate_[k] = rate + (state.rate_lag.empty() ? steady : state.rate_lag[k]) - rate_curvature_[k];
  }
}

void Assembler::rates_after(const VecX& u_plus, std::span<double> rate) const {
  for (const int i : armature_dofs_) {
    const auto k = static_cast<std::size_t>(i);
    rate[k] = dof_rate(*coordinates_, dof_row(model_, row_kinematics(), i), u_plus) + rate_curvature_[k];
  }
}

void Assembler::rates_before(const State& state, std::span<double> rate) const {
  for (const int i : armature_dofs_) {
    const auto k = static_cast<std::size_t>(i);
    rate[k] = start_.rate(i, state.twist) + (state.rate_lag.empty() ? 0.0 : state.rate_lag[k]);
  }
}

void Assembler::add_forces(double dt) {
  const bool explicit_forces = scheme_.force == 0;  // no scheme has them in one mode only
  for (int i = 0; i < model_.scalar_count(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    double force = explicit_effort_[k] = drives_[k].force;
    if (force == 0 && !explicit_forces) continue;
    with_scalar_row(model_, row_kinematics(), i, [&](const auto& row) {
      if (explicit_forces) {
        const Dof& dof = model_.scalars()[k];
        const double q = model_.scalar_value(i, row_q_);
        const double rate = dof_rate(*coordinates_, row, u_minus_);
        explicit_effort_[k] += explicit_servo_force(dof, drives_[k], q, rate);
        force = explicit_effort_[k] + explicit_passive_force(dof, q, rate);
      }
      add_dof_impulse(*coordinates_, row, dt * force, problem_, problem_.u_free);
    });
  }
}

// Soft rows that are eliminated together with the joints. Poses are then brought onto the joints in the metric of
// masses and soft rows: what is driven stays where its drive holds it. That is another tangent motion of O(dt^2), too
// much for schemes of second order.
void Assembler::take_soft_rows_along(const RowContext& context, const WarmStart* last) {
  const WarmStart none;
  taken_along_.assign(problem_.blocks.size(), 0);
  for (std::size_t i = 0; i < problem_.blocks.size(); ++i) {
    const ConstraintBlock& b = problem_.blocks[i];
    if (b.kind != BlockKind::soft) continue;
    const auto scheme_of = [&]() -> const Scheme& {
      if (b.source_kind == RowSource::drag) return context.scheme_at(b.source);
      const Joint& j = model_.joints()[static_cast<std::size_t>(model_.joint_of_dof(b.source))];
      return context.scheme_between(j.base, j.follower);
    };
    if (scheme_of().integrator != Integrator::semi_implicit) continue;
    taken_along_[i] = (last != nullptr ? *last : none).stays_inside(b, problem_) ? 1 : 0;
  }
  factor_.take_along(problem_, taken_along_);
}

void Assembler::build_rows(const Inputs& inputs, double dt, const WarmStart* last) {
  RowContext context{model_, *coordinates_, scheme_, options_.rows, dt,      row_kinematics(), start_,
                     end_,   row_poses_,    row_q_,  u_minus_,      drives_, armature_rate_};
  context.body_scheme = modes_.scheme();
  context.sustained = sustained_;
  context.pair_load = pair_load_;
  context.sustained_limits = modes_.sustained_limits();
  context.projected = options_.projection;
  context.drag = &inputs.drag;
  factor_.forget();
  set_joint_rows(context, problem_);
  add_soft_rows(context, problem_);
  take_soft_rows_along(context, last);
  release_rows(released_, problem_);
  problem_.measure_rows();
  projection_.use_joints(problem_);
  // Without curvature the biases of an island are J u- or nothing, and in the range of J as they are.
  if (modes_.any_curvature() || !options_.projection) projection_.make_consistent(problem_);
  limit_violation_ = add_limit_rows(context, problem_).largest;
  penetration_ = add_contact_rows(context, contacts_, detector_.compliances(), problem_);
  problem_.finish();
  find_bounces(context);
}

// Where laws are on the end velocity, nothing but restitution makes a bias negative.
void Assembler::find_bounces(const RowContext& context) {
  bounced_.assign(contacts_.size(), 0);
  bounced_limits_.clear();
  const auto is_joint = [](const ConstraintBlock& b) { return b.kind == BlockKind::joint; };
  const auto others = std::ranges::partition_point(problem_.blocks, is_joint);
  for (const ConstraintBlock& b : std::ranges::subrange(others, problem_.blocks.end())) {
    const auto last = static_cast<std::size_t>(b.row + b.rows - 1);
    if (problem_.bias[last] >= 0 || problem_.R[last] > 0) continue;
    if (b.kind == BlockKind::contact) {
      const Contact& c = contacts_[static_cast<std::size_t>(b.source)];
      const bool on_end = context.scheme_between(c.body_a, c.body_b).sustained_law == 0;
      bounced_[static_cast<std::size_t>(b.source)] = on_end && c.restitution > 0;
    } else if (b.source_kind == RowSource::limit_lower || b.source_kind == RowSource::limit_upper) {
      const Joint& j = model_.joints()[static_cast<std::size_t>(model_.joint_of_dof(b.source))];
      if (context.scheme_between(j.base, j.follower).sustained_law == 0) bounced_limits_.push_back(b.id);
    }
  }
}

}  // namespace sarrus
