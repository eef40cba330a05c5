#include "sarrus/sweep/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>

#include "sarrus/assembly/assembly.h"
#include "sarrus/math/error.h"
#include "sarrus/model/parameters.h"

namespace sarrus {
namespace {

// A target that is no parameter of the model.
struct StateTarget {
  enum class What : std::uint8_t { coordinate, position, velocity, spin, control };
  What what;
  int index;  // dof, body, or scalar of the drive
  int axis;   // of a vector
};

bool is_parameter(const std::string& target) {
  return !target.starts_with("state.") && !target.starts_with("control.");
}

// What joints connect with a body; the world is not among them.
std::vector<int> connected(const Model& model, int body, const std::string& target) {
  std::vector<int> found = {body};
  std::vector<bool> known(model.bodies().size(), false);
  known[static_cast<std::size_t>(body)] = true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Joint& j : model.joints()) {
      if (j.type == JointType::free || (j.base != found[i] && j.follower != found[i])) continue;
      const int other = j.base == found[i] ? j.follower : j.base;
      if (other == kWorld) {
        throw InputError(
            fmt::format("target '{}'", target),
            fmt::format("joint '{}' holds what it would move to the world; vary state.q of a coordinate", j.name));
      }
      if (known[static_cast<std::size_t>(other)]) continue;
      known[static_cast<std::size_t>(other)] = true;
      found.push_back(other);
    }
  }
  return found;
}

StateTarget parse_target(const Model& model, const std::string& target) {
  using What = StateTarget::What;
  if (target.starts_with("control.")) {
    const Batch one(model, 1, {.threads = 1});
    return {What::control, one.control_scalars()[static_cast<std::size_t>(one.control(target.substr(8)))], 0};
  }
  const std::string rest = target.substr(6);
  if (rest.starts_with("q.")) return {What::coordinate, model.dof(rest.substr(2)), 0};
  const std::size_t last = rest.rfind('.');
  const bool vector = rest.size() > 4 && rest[1] == '.' && last > 1 && last + 2 == rest.size();
  const std::size_t what = std::string("pvw").find(rest.empty() ? ' ' : rest[0]);
  const std::size_t axis = std::string("xyz").find(rest.empty() ? ' ' : rest.back());
  if (!vector || what == std::string::npos || axis == std::string::npos) {
    throw InputError(fmt::format("target '{}'", target),
                     "is no state; write state.q.COORDINATE, or state.p.BODY.x, state.v.BODY.x, state.w.BODY.x (x, y "
                     "or z)");
  }
  const int body = model.body(rest.substr(2, last - 2));
  connected(model, body, target);
  constexpr What kWhat[] = {What::position, What::velocity, What::spin};
  return {kWhat[what], body, static_cast<int>(axis)};
}

// What joints connect moves as one.
void move_rigidly(const Model& model, const StateTarget& t, const std::string& target, double value, State& state) {
  const std::vector<int> bodies = connected(model, t.index, target);
  const Vec3 centre = state.X_WB[static_cast<std::size_t>(t.index)].p;
  Vec6 u = state.twist[static_cast<std::size_t>(t.index)];
  if (t.what == StateTarget::What::velocity) u[t.axis] = value;
  if (t.what == StateTarget::What::spin) u[3 + t.axis] = value;
  for (const int i : bodies) {
    const auto k = static_cast<std::size_t>(i);
    if (t.what == StateTarget::What::position) {
      state.X_WB[k].p[t.axis] += value - centre[t.axis];
      continue;
    }
    const Vec3 v = u.head<3>() + u.tail<3>().cross(state.X_WB[k].p - centre);
    state.twist[k] << v, u.tail<3>();
  }
}

// The model and its state at the start.
struct Start {
  Model model;
  std::optional<State> state;
  std::vector<std::pair<int, double>> controls;
};

Start start_of(const SweepPlan& plan, int run) {
  const std::vector<double> values = plan.values(run);
  const std::vector<SweepAxis>& axes = plan.spec().axes;
  std::vector<ParameterChange> changes;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (is_parameter(axes[k].target)) changes.push_back({axes[k].target, values[k], axes[k].factor});
  }
  Start start{changed(plan.model(), changes), {}, {}};
  std::vector<CoordinateValue> coordinates;
  struct Motion {
    StateTarget target;
    std::size_t axis;
  };
  std::vector<Motion> motions;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (is_parameter(axes[k].target)) continue;
    const StateTarget t = parse_target(start.model, axes[k].target);
    if (t.what == StateTarget::What::control) {
      start.controls.emplace_back(t.index, values[k]);
    } else if (t.what == StateTarget::What::coordinate) {
      coordinates.push_back({t.index, values[k]});
    } else {
      motions.push_back({t, k});
    }
  }
  if (coordinates.empty() && motions.empty()) return start;
  State state = Simulation(start.model, plan.spec().options).state();
  if (!coordinates.empty()) {
    Assembly moved = forward_kinematics(start.model, state, coordinates);
    if (!moved.report.closed()) throw InputError("state.q", assembly_text(start.model, moved.report));
    state = std::move(moved.state);
  }
  // Places before velocities, which turn about them.
  for (const bool places : {true, false}) {
    for (const Motion& m : motions) {
      if ((m.target.what == StateTarget::What::position) != places) continue;
      move_rigidly(start.model, m.target, axes[m.axis].target, values[m.axis], state);
    }
  }
  start.state = std::move(state);
  return start;
}

std::vector<double> copy(std::span<const double> list) { return {list.begin(), list.end()}; }

void simulate(const SweepPlan& plan, int run, SweepRun& record) {
  const Start start = start_of(plan, run);
  Batch batch(start.model, 1, {.simulation = plan.spec().options, .threads = 1});
  if (start.state) batch.set_state(0, *start.state);
  std::vector<double> targets(static_cast<std::size_t>(batch.control_count()),
                              std::numeric_limits<double>::quiet_NaN());
  for (const auto& [scalar, value] : start.controls) {
    const auto at = std::ranges::find(batch.control_scalars(), scalar) - batch.control_scalars().begin();
    targets[static_cast<std::size_t>(at)] = value;
  }
  batch.set_controls(targets);
  std::ranges::copy(batch.energy(), record.energy_before);
  if (plan.spec().record_every > 0) {
    record.recording =
        batch.rollout({}, {.steps = plan.steps(), .every = plan.spec().record_every, .keep = plan.spec().keep});
  } else {
    batch.step(plan.steps());
  }
  const WorldReport& r = batch.reports()[0];
  if (r.status == WorldStatus::failed) {
    record.status = SweepRunStatus::failed;
    record.message = batch.message(0);
  }
  record.steps = r.steps;
  record.accepted = r.accepted;
  record.fallback = r.fallback;
  record.substepped = r.substepped;
  record.iterations = r.iterations;
  record.time = batch.time()[0];
  record.error = r.error;
  record.joint_gap = r.joint_gap;
  record.penetration = r.penetration;
  record.creates_energy = r.creates_energy;
  std::ranges::copy(batch.energy(), record.energy_after);
  record.position = copy(batch.position());
  record.quaternion = copy(batch.quaternion());
  record.twist = copy(batch.twist());
  record.q = copy(batch.q());
  record.qd = copy(batch.qd());
}

}  // namespace

SweepRun execute(const SweepPlan& plan, int run) {
  const auto start = std::chrono::steady_clock::now();
  SweepRun record;
  try {
    simulate(plan, run, record);
  } catch (const InputError& e) {
    record = {};
    record.status = SweepRunStatus::refused;
    record.message = e.what();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    record = {};
    record.status = SweepRunStatus::failed;
    record.message = e.what();
  }
  record.run = run;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return record;
}

void check_target(const Model& model, const std::string& target, bool factor) {
  if (is_parameter(target)) {
    (void)parameter(model, target);
    return;
  }
  (void)parse_target(model, target);
  if (factor)
    throw InputError(fmt::format("target '{}'", target), "cannot be a factor; only parameters of the model can");
}

std::size_t recorded_numbers(const Model& model, Keep keep) {
  const std::size_t bodies = model.bodies().size(), dofs = model.dofs().size();
  std::size_t n = 1;
  for (const auto& [what, width] :
       {std::pair(Keep::position, 3 * bodies), std::pair(Keep::quaternion, 4 * bodies),
        std::pair(Keep::twist, 6 * bodies), std::pair(Keep::q, dofs), std::pair(Keep::qd, dofs),
        std::pair(Keep::contact_force, 3 * bodies), std::pair(Keep::energy, std::size_t{2})}) {
    if (has(keep, what)) n += width;
  }
  return n;
}

}  // namespace sarrus
