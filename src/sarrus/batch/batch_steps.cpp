// The steps of a Batch, and what is observed after them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sarrus/batch/batch_impl.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

constexpr int kMostSteps = 1'000'000'000;

void check_steps(std::string_view what, int n, int least) {
  if (n >= least && n <= kMostSteps) return;
  throw InputError(std::string(what), fmt::format("is {}; give {} to {}", n, least, kMostSteps));
}

class Seconds {
 public:
  explicit Seconds(double& sum) : sum_(sum) {}
  ~Seconds() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Seconds(const Seconds&) = delete;
  Seconds& operator=(const Seconds&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

void Batch::Impl::freeze(int world, std::string_view why) {
  const auto k = static_cast<std::size_t>(world);
  failed[k] = 1;
  reports[k].status = WorldStatus::failed;
  reports[k].worst = StepStatus::failed;
  worlds[k].message = why;
}

void Batch::Impl::begin_report(int world) { reports[static_cast<std::size_t>(world)] = {}; }

bool Batch::Impl::step_once(int world, Simulation& simulation) {
  const StepReport& step = simulation.step();
  WorldReport& r = reports[static_cast<std::size_t>(world)];
  r.iterations += step.iterations;
  r.worst = std::max(r.worst, step.status);
  if (step.status == StepStatus::failed) {
    freeze(world, step.message);
    return false;
  }
  ++r.steps;
  r.accepted += step.status == StepStatus::accepted ? 1 : 0;
  r.fallback += step.status == StepStatus::fallback ? 1 : 0;
  r.substepped += step.status == StepStatus::substepped ? 1 : 0;
  r.error = std::max(r.error, step.error);
  r.joint_gap = std::max(r.joint_gap, step.joint_gap);
  r.penetration = std::max(r.penetration, step.penetration);
  r.creates_energy = step.creates_energy;
  return true;
}

// `stepped`: contacts and efforts are of a step of this world.
void Batch::Impl::observe(int world, Simulation& simulation, bool stepped) {
  const auto k = static_cast<std::size_t>(world);
  const State& s = simulation.state();
  const Model& m = simulation.model();
  time[k] = s.time;
  double kinetic = 0, potential = 0;
  for (std::size_t i = 0; i < bodies; ++i) {
    const Pose& X = s.X_WB[i];
    const Vec6& u = s.twist[i];
    const Body& b = m.bodies()[i];
    std::copy_n(X.p.data(), 3, position.begin() + static_cast<std::ptrdiff_t>(3 * (k * bodies + i)));
    std::copy_n(X.q.coeffs().data(), 4, quaternion.begin() + static_cast<std::ptrdiff_t>(4 * (k * bodies + i)));
    std::copy_n(u.data(), 6, twist.begin() + static_cast<std::ptrdiff_t>(6 * (k * bodies + i)));
    const Vec3 w_B = X.q.conjugate() * u.tail<3>();
    kinetic += 0.5 * b.mass * u.head<3>().squaredNorm() + 0.5 * w_B.dot(b.inertia_B * w_B);
    potential -= b.mass * m.gravity_on(static_cast<int>(i)).dot(X.p);
  }
  const auto coordinates = row(q, world, dofs), velocities = row(qd, world, dofs);
  std::ranges::copy(s.q, coordinates.begin());
  for (std::size_t i = 0; i < dofs; ++i) {
    velocities[i] = simulation.joint_rate(static_cast<int>(i));
    const double rate = velocities[i] + (s.rate_lag.empty() ? 0.0 : s.rate_lag[i]);
    kinetic += 0.5 * m.dofs()[i].armature * rate * rate;
  }
  for (std::size_t i = 0; i < scalars; ++i) {
    const double stretch = m.scalar_value(static_cast<int>(i), s.q) - m.scalars()[i].rest;
    potential += 0.5 * m.scalars()[i].stiffness * stretch * stretch;
  }
  energy[2 * k] = kinetic;
  energy[2 * k + 1] = potential;
  const auto forces = row(contact_force, world, 3 * bodies);
  const auto efforts = row(effort, world, controls.size());
  std::ranges::fill(forces, 0.0);
  std::ranges::fill(efforts, 0.0);
  if (!stepped) return;
  const auto contacts = simulation.contacts();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Vec3 f = simulation.contact_force_W(static_cast<int>(c));
    const auto add = [&](int body, double sign) {
      if (body == kWorld) return;
      Eigen::Map<Vec3>(forces.data() + 3 * static_cast<std::size_t>(body)) += sign * f;
    };
    add(contacts[c].body_b, 1);
    add(contacts[c].body_a, -1);
  }
  for (std::size_t i = 0; i < controls.size(); ++i) efforts[i] = simulation.drive_effort(controls[i]);
}

template <class F>
void Batch::Impl::run(int world, Worker& worker, const F& steps) {
  const auto k = static_cast<std::size_t>(world);
  if (failed[k] != 0) return;
  begin_report(world);
  const Seconds seconds(reports[k].seconds);
  try {
    worker.use(worlds[k]);
  } catch (const std::exception& e) {
    // What is kept of the world stays as it is, and no other world has a part in it.
    worker.numbers = nullptr;
    freeze(world, e.what());
    return;
  }
  Simulation& simulation = worker.shared.simulation();
  bool whole = true;
  try {
    give_inputs(world, simulation);
    steps(simulation);
  } catch (const std::exception& e) {
    // The state is that before the step; nothing else of the simulation is to be relied on.
    freeze(world, e.what());
    worker.shared.mend();
    simulation.set_state(State(simulation.state()));
    whole = false;
  }
  worker.keep(worlds[k]);
  const bool stepped = whole && reports[k].steps > 0 && failed[k] == 0;
  if (stepped || failed[k] != 0) observe(world, simulation, stepped);
}

void Batch::step(int n) {
  check_steps("step", n, 0);
  impl_->each(impl_->world_count, [&](Impl::Worker& worker, int world) {
    impl_->run(world, worker, [&](Simulation& simulation) {
      for (int i = 0; i < n && impl_->step_once(world, simulation); ++i) {
      }
    });
  });
}

void Batch::step(std::span<const double> targets, int n) {
  check_steps("step", n, 0);
  set_controls(targets);
  step(n);
}

namespace {

// One array of a rollout, by the worlds' array of the same name.
struct Kept {
  std::vector<double>* out;
  const std::vector<double>* from;
  std::size_t width;
};

}  // namespace

Rollout Batch::rollout(std::span<const double> targets, const RolloutOptions& o) {
  Impl& b = *impl_;
  check_steps("rollout, steps", o.steps, 1);
  check_steps("rollout, hold", o.hold, 1);
  check_steps("rollout, every", o.every, 1);
  const std::size_t width = b.controls.size();
  const auto rows = static_cast<std::size_t>((o.steps + o.hold - 1) / o.hold);
  const bool for_all = targets.size() == rows * width;
  if (!targets.empty() && !for_all && targets.size() != b.worlds.size() * rows * width) {
    throw InputError("rollout", fmt::format("{} targets; give worlds x {} x {} (rows of controls x controls), {} x {} "
                                            "for all worlds, or none",
                                            targets.size(), rows, width, rows, width));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!std::isinf(targets[i])) continue;
    throw InputError("rollout", fmt::format("target {} is infinite; give finite numbers, or NaN for the drive's own "
                                            "signal",
                                            i));
  }
  Rollout out;
  out.worlds = b.world_count;
  out.frames = o.steps / o.every;
  std::vector<Kept> kept = {{&out.time, &b.time, 1}};
  const auto keep = [&](Keep what, std::vector<double>& to, const std::vector<double>& from, std::size_t of) {
    if (has(o.keep, what)) kept.push_back({&to, &from, of});
  };
  keep(Keep::position, out.position, b.position, 3 * b.bodies);
  keep(Keep::quaternion, out.quaternion, b.quaternion, 4 * b.bodies);
  keep(Keep::twist, out.twist, b.twist, 6 * b.bodies);
  keep(Keep::q, out.q, b.q, b.dofs);
  keep(Keep::qd, out.qd, b.qd, b.dofs);
  keep(Keep::contact_force, out.contact_force, b.contact_force, 3 * b.bodies);
  keep(Keep::energy, out.energy, b.energy, 2);
  const auto frames = static_cast<std::size_t>(out.frames);
  for (const Kept& k : kept) k.out->resize(b.worlds.size() * frames * k.width);

  b.each(b.world_count, [&](Impl::Worker& worker, int world) {
    const auto w = static_cast<std::size_t>(world);
    std::size_t frame = 0;
    const auto take_frame = [&] {
      for (const Kept& k : kept) {
        std::copy_n(k.from->begin() + static_cast<std::ptrdiff_t>(w * k.width), k.width,
                    k.out->begin() + static_cast<std::ptrdiff_t>((w * frames + frame) * k.width));
      }
      ++frame;
    };
    b.run(world, worker, [&](Simulation& simulation) {
      for (int i = 0; i < o.steps; ++i) {
        if (!targets.empty() && i % o.hold == 0) {
          const std::size_t at = (for_all ? 0 : w * rows) + static_cast<std::size_t>(i / o.hold);
          const double* row = targets.data() + at * width;
          std::copy_n(row, width, Impl::row(b.targets, world, width).begin());
          std::ranges::fill(Impl::row(b.rates, world, width), 0.0);
          b.give_controls(row, nullptr, simulation);
        }
        if (!b.step_once(world, simulation)) return;
        if ((i + 1) % o.every != 0) continue;
        b.observe(world, simulation, true);
        take_frame();
      }
    });
    while (frame < frames) take_frame();
  });
  return out;
}

}  // namespace sarrus
