// Making a Batch, and the worlds themselves: models, states, snapshots.
#include "sarrus/batch/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <unordered_map>

#include "sarrus/batch/batch_impl.h"
#include "sarrus/math/archive.h"
#include "sarrus/math/error.h"
#include "sarrus/model/numbers.h"
#include "sarrus/model/parameters.h"
#include "sarrus/step/assembler.h"

namespace sarrus {
namespace {

constexpr int kMostWorlds = 10'000'000;

int threads_of(int wanted) {
  if (wanted < 0 || wanted > 1024) {
    throw InputError("option 'threads'", fmt::format("is {}; give 0 (all cores) to 1024", wanted));
  }
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

const Model& first_of(std::span<const Model> models, int worlds) {
  if (models.empty() || worlds < 1 || worlds > kMostWorlds) {
    throw InputError("worlds", fmt::format("are {}; give 1 to {}", worlds, kMostWorlds));
  }
  return models.front();
}

// Those of the first model for all; what follows from gravity is left to each.
SimulationOptions options_for(const Model& model, const SimulationOptions& given) {
  if (given.threads != 1) {
    throw InputError("option 'simulation.threads'",
                     fmt::format("is {}; worlds are shared among threads, not steps: give 1", given.threads));
  }
  SimulationOptions o = complete_options(given, model);
  o.rows.restitution_threshold = given.rows.restitution_threshold;
  return o;
}

constexpr const char* kOtherRows =
    "has other redundant joint rows than the others: loops of rounded numbers; give worlds the same masses, or joints "
    "exact to more digits";

}  // namespace

std::string_view name_of(WorldStatus status) { return status == WorldStatus::running ? "running" : "failed"; }

// What a worker has of numbers is that of the world it works for.
Simulation& Batch::Impl::Worker::use(const World& world) {
  if (numbers != world.variant) {
    shared.set_numbers(world.variant->numbers);
    numbers = world.variant;
  }
  shared.load({world.bytes.data(), world.bytes.size()});
  return shared.simulation();
}

void Batch::Impl::Worker::keep(World& world) {
  const std::string_view bytes = shared.store();
  // Contacts come and go: an eighth of room.
  if (bytes.size() > world.bytes.capacity()) world.bytes.reserve(bytes.size() + bytes.size() / 8);
  world.bytes.assign(bytes.begin(), bytes.end());
}

Batch::Impl::Impl(std::span<const Model> models, int count, BatchOptions given)
    : model(first_of(models, count)),
      options(options_for(model, given.simulation)),
      world_count(count),
      threads(std::min(threads_of(given.threads), count)),
      bodies(model.bodies().size()),
      dofs(model.dofs().size()),
      scalars(model.scalars().size()),
      allowed(tbb::global_control::max_allowed_parallelism,
              std::max(static_cast<std::size_t>(threads),
                       tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))),
      arena(threads) {
  for (int i = 0; i < model.scalar_count(); ++i) {
    if (model.scalars()[static_cast<std::size_t>(i)].drive.mode != DriveMode::none) controls.push_back(i);
  }
  const auto n = static_cast<std::size_t>(count);
  targets.assign(n * controls.size(), std::numeric_limits<double>::quiet_NaN());
  rates.assign(n * controls.size(), 0.0);
  time.resize(n);
  for (std::vector<double>* v : {&position, &contact_force}) v->resize(n * bodies * 3);
  quaternion.resize(n * bodies * 4);
  twist.resize(n * bodies * 6);
  for (std::vector<double>* v : {&q, &qd}) v->resize(n * dofs);
  energy.resize(n * 2);
  effort.resize(n * controls.size());
  reports.resize(n);
  failed.resize(n);
  worlds.resize(n);

  // Each model once; those that are copies of one are the same.
  std::unordered_map<const ModelData*, std::size_t> known;
  std::vector<const Model*> different;
  std::vector<std::size_t> place(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Model& m = models[models.size() == 1 ? 0 : i];
    const auto [found, is_new] = known.try_emplace(&m.data(), different.size());
    if (is_new) different.push_back(&m);
    place[i] = found->second;
  }
  for (int i = 0; i < threads; ++i) workers.push_back(std::make_unique<Worker>(model, options));
  std::vector<std::shared_ptr<Variant>> variants(different.size());
  each(static_cast<int>(different.size()), [&](Worker&, int i) {
    const auto k = static_cast<std::size_t>(i);
    try {
      variants[k] = variant_of(*different[k]);
    } catch (const InputError& e) {
      if (different.size() == 1) throw;
      const auto world = std::find(place.begin(), place.end(), k) - place.begin();
      throw InputError(fmt::format("model of world {}", world), e.what());
    }
  });
  for (std::size_t k = 0; k < variants.size(); ++k) {
    if (variants[k]->numbers.size() == variants.front()->numbers.size()) continue;
    const auto world = std::find(place.begin(), place.end(), k) - place.begin();
    throw InputError(fmt::format("model of world {}", world), kOtherRows);
  }
  each(static_cast<int>(different.size()),
       [&](Worker& worker, int i) { begin(worker, *variants[static_cast<std::size_t>(i)]); });
  each(count, [&](Worker& worker, int i) {
    World& world = worlds[static_cast<std::size_t>(i)];
    world.variant = variants[place[static_cast<std::size_t>(i)]];
    world.bytes.assign(world.variant->initial.begin(), world.variant->initial.end());
    observe(i, worker.use(world), false);
  });
}

std::shared_ptr<Batch::Impl::Variant> Batch::Impl::variant_of(const Model& other) const {
  if (const std::string difference = structural_difference(model, other); !difference.empty()) {
    throw InputError(
        "", fmt::format("is not of the structure of the others: {}; worlds may differ in numbers alone", difference));
  }
  Simulation simulation(other, options);
  auto out = std::make_shared<Variant>();
  out->numbers = SharedSimulation::numbers_of(simulation);
  out->start = simulation.state();
  return out;
}

void Batch::Impl::begin(Worker& worker, Variant& variant) const {
  worker.shared.set_numbers(variant.numbers);
  worker.numbers = nullptr;
  worker.shared.simulation().set_state(variant.start);
  variant.initial = worker.shared.store();
}

Model Batch::Impl::model_of(const Variant& variant) const {
  Model out = ModelNumbers::own(model);
  MemoryReader in(variant.numbers);
  ModelNumbers::archive(in, out);
  return out;
}

void Batch::Impl::check_world(int world, std::string_view call) const {
  if (world >= 0 && world < world_count) return;
  throw InputError(std::string(call), fmt::format("world {} does not exist; the batch has {}", world, world_count));
}

void Batch::Impl::check_mask(std::span<const std::uint8_t> mask, std::string_view call) const {
  if (mask.empty() || mask.size() == worlds.size()) return;
  throw InputError(std::string(call), fmt::format("the mask has {} entries; give one for each of {} worlds, or none",
                                                  mask.size(), world_count));
}

// A simulation for one world, as it is.
SharedSimulation Batch::Impl::alone(int world) const {
  const World& w = worlds[static_cast<std::size_t>(world)];
  SharedSimulation out(model, options);
  out.set_numbers(w.variant->numbers);
  out.load({w.bytes.data(), w.bytes.size()});
  give_inputs(world, out.simulation());
  return out;
}

void Batch::Impl::start_from(int world, Worker& worker, const State& state) {
  World& w = worlds[static_cast<std::size_t>(world)];
  Simulation& simulation = worker.use(w);
  simulation.set_state(state);
  worker.keep(w);
  w.message.clear();
  failed[static_cast<std::size_t>(world)] = 0;
  reports[static_cast<std::size_t>(world)] = {};
  observe(world, simulation, false);
}

void Batch::Impl::put_states(std::span<const State> states, std::span<const std::uint8_t> mask) {
  each(world_count, [&](Worker& worker, int i) {
    if (chosen(mask, i)) start_from(i, worker, states[states.size() == 1 ? 0 : static_cast<std::size_t>(i)]);
  });
}

Batch::Batch(const Model& model, int worlds, BatchOptions options)
    : impl_(std::make_unique<Impl>(std::span<const Model>(&model, 1), worlds, std::move(options))) {}

Batch::Batch(std::span<const Model> models, BatchOptions options)
    : impl_(std::make_unique<Impl>(models, static_cast<int>(std::min<std::size_t>(models.size(), kMostWorlds + 1U)),
                                   std::move(options))) {}

Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

int Batch::worlds() const { return impl_->world_count; }
int Batch::threads() const { return impl_->threads; }
double Batch::dt() const { return impl_->options.dt; }
const SimulationOptions& Batch::options() const { return impl_->options; }
const Model& Batch::model() const { return impl_->model; }

Model Batch::model(int world) const {
  impl_->check_world(world, "model");
  return impl_->model_of(*impl_->worlds[static_cast<std::size_t>(world)].variant);
}

void Batch::reset(std::span<const std::uint8_t> mask) {
  impl_->check_mask(mask, "reset");
  impl_->each(impl_->world_count, [&](Impl::Worker& worker, int i) {
    if (!impl_->chosen(mask, i)) return;
    Impl::World& world = impl_->worlds[static_cast<std::size_t>(i)];
    world.bytes.assign(world.variant->initial.begin(), world.variant->initial.end());
    world.message.clear();
    impl_->failed[static_cast<std::size_t>(i)] = 0;
    impl_->reports[static_cast<std::size_t>(i)] = {};
    impl_->observe(i, worker.use(world), false);
  });
}

void Batch::set_states(std::span<const State> states, std::span<const std::uint8_t> mask) {
  impl_->check_mask(mask, "set_states");
  if (states.size() != 1 && states.size() != impl_->worlds.size()) {
    throw InputError("set_states", fmt::format("{} states; give one for all, or one for each of {} worlds",
                                               states.size(), impl_->world_count));
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states.size() > 1 && !impl_->chosen(mask, static_cast<int>(i))) continue;
    check_state(states[i], impl_->model, fmt::format("set_states, world {}", i));
  }
  impl_->put_states(states, mask);
}

void Batch::set_states(const StateArrays& arrays, std::span<const std::uint8_t> mask) {
  Impl& b = *impl_;
  b.check_mask(mask, "set_states");
  const auto one_or_all = [&](std::string_view what, std::span<const double> list, std::size_t width, bool needed) {
    if ((list.empty() && !needed) || list.size() == width || list.size() == width * b.worlds.size()) return;
    throw InputError("set_states", fmt::format("{} has {} numbers; give {} for one world or {} for all of them", what,
                                               list.size(), width, width * b.worlds.size()));
  };
  one_or_all("position", arrays.position, 3 * b.bodies, true);
  one_or_all("quaternion", arrays.quaternion, 4 * b.bodies, true);
  one_or_all("twist", arrays.twist, 6 * b.bodies, false);
  one_or_all("q", arrays.q, b.dofs, false);
  one_or_all("time", arrays.time, 1, false);
  std::vector<State> states(b.worlds.size());
  for (int i = 0; i < b.world_count; ++i) {
    if (!b.chosen(mask, i)) continue;
    const auto k = static_cast<std::size_t>(i);
    states[k] = b.state_of(arrays, k, b.model);
    check_state(states[k], b.model, fmt::format("set_states, world {}", i));
  }
  b.put_states(states, mask);
}

void Batch::set_state(int world, const State& state) {
  impl_->check_world(world, "set_state");
  check_state(state, impl_->model, fmt::format("set_state, world {}", world));
  impl_->start_from(world, *impl_->workers.front(), state);
}

State Batch::state(int world) const {
  impl_->check_world(world, "state");
  return impl_->workers.front()->use(impl_->worlds[static_cast<std::size_t>(world)]).state();
}

Simulation Batch::simulation(int world) const {
  impl_->check_world(world, "simulation");
  SharedSimulation alone = impl_->alone(world);
  return std::move(alone.simulation());
}

Snapshot Batch::save(int world) const {
  impl_->check_world(world, "save");
  return impl_->alone(world).simulation().snapshot();
}

void Batch::restore(int world, const Snapshot& snapshot) {
  Impl& b = *impl_;
  b.check_world(world, "restore");
  SharedSimulation alone = b.alone(world);
  alone.simulation().restore(snapshot);
  const Inputs& inputs = alone.inputs();
  if (inputs.drag.body != kWorld) {
    throw InputError("restore",
                     "the snapshot is of a simulation that drags a body; call clear_drag() before it is taken");
  }
  // A world must fit any worker: one whose last step dragged a body has a row too many.
  const std::string bytes(alone.store());
  try {
    b.alone(world).load(bytes);
  } catch (const std::exception&) {
    throw InputError("restore",
                     "the snapshot is of a simulation that dragged a body in its last step; step it once after "
                     "clear_drag()");
  }
  const auto k = static_cast<std::size_t>(world);
  for (std::size_t i = 0; i < b.controls.size(); ++i) {
    const Inputs::Target& t = inputs.targets[static_cast<std::size_t>(b.controls[i])];
    b.targets[k * b.controls.size() + i] = t.active ? t.target : std::numeric_limits<double>::quiet_NaN();
    b.rates[k * b.controls.size() + i] = t.rate;
  }
  const auto acts = [](const Vec6& w) { return !w.isZero(0); };
  if (b.joint_forces.empty() && std::ranges::any_of(inputs.joint_forces, [](double f) { return f != 0; })) {
    b.joint_forces.assign(b.worlds.size() * b.scalars, 0.0);
  }
  if (b.wrenches.empty() && std::ranges::any_of(inputs.wrenches_W, acts)) {
    b.wrenches.assign(b.worlds.size() * b.bodies * 6, 0.0);
  }
  if (!b.joint_forces.empty()) {
    std::ranges::copy(inputs.joint_forces, Impl::row(b.joint_forces, world, b.scalars).begin());
  }
  if (!b.wrenches.empty()) {
    auto out = Impl::row(b.wrenches, world, b.bodies * 6).begin();
    for (const Vec6& w : inputs.wrenches_W) out = std::copy_n(w.data(), 6, out);
  }
  b.worlds[k].bytes.assign(bytes.begin(), bytes.end());
  b.worlds[k].message.clear();
  b.failed[k] = 0;
  b.reports[k] = {};
  b.observe(world, b.workers.front()->use(b.worlds[k]), false);
}

void Batch::set_model(int world, const Model& model) {
  Impl& b = *impl_;
  b.check_world(world, "set_model");
  std::shared_ptr<Impl::Variant> variant;
  try {
    variant = b.variant_of(model);
  } catch (const InputError& e) {
    throw InputError(fmt::format("set_model, world {}", world), e.what());
  }
  if (variant->numbers.size() != b.worlds.front().variant->numbers.size()) {
    throw InputError(fmt::format("set_model, world {}", world), kOtherRows);
  }
  b.begin(*b.workers.front(), *variant);
  Impl::World& w = b.worlds[static_cast<std::size_t>(world)];
  w.bytes.assign(variant->initial.begin(), variant->initial.end());
  w.variant = std::move(variant);
  w.message.clear();
  b.failed[static_cast<std::size_t>(world)] = 0;
  b.reports[static_cast<std::size_t>(world)] = {};
  b.observe(world, b.workers.front()->use(w), false);
}

std::span<const double> Batch::time() const { return impl_->time; }
std::span<const double> Batch::position() const { return impl_->position; }
std::span<const double> Batch::quaternion() const { return impl_->quaternion; }
std::span<const double> Batch::twist() const { return impl_->twist; }
std::span<const double> Batch::q() const { return impl_->q; }
std::span<const double> Batch::qd() const { return impl_->qd; }
std::span<const double> Batch::contact_force() const { return impl_->contact_force; }
std::span<const double> Batch::energy() const { return impl_->energy; }
std::span<const double> Batch::effort() const { return impl_->effort; }
std::span<const WorldReport> Batch::reports() const { return impl_->reports; }
std::span<const std::uint8_t> Batch::failed() const { return impl_->failed; }

const std::string& Batch::message(int world) const {
  impl_->check_world(world, "message");
  return impl_->worlds[static_cast<std::size_t>(world)].message;
}

int Batch::failed_count() const { return static_cast<int>(std::ranges::count(impl_->failed, std::uint8_t{1})); }

double Batch::bytes_per_world() const {
  const Impl& b = *impl_;
  std::size_t bytes =
      b.worlds.capacity() * sizeof(Impl::World) + b.reports.capacity() * sizeof(WorldReport) + b.failed.capacity();
  for (const std::vector<double>* v : {&b.targets, &b.rates, &b.joint_forces, &b.wrenches, &b.time, &b.position,
                                       &b.quaternion, &b.twist, &b.q, &b.qd, &b.contact_force, &b.energy, &b.effort}) {
    bytes += v->capacity() * sizeof(double);
  }
  std::unordered_map<const Impl::Variant*, int> variants;
  for (const Impl::World& w : b.worlds) {
    bytes += w.bytes.capacity() + w.message.capacity();
    const Impl::Variant* v = w.variant.get();
    if (++variants[v] > 1) continue;
    bytes += sizeof(Impl::Variant) + v->numbers.capacity() + v->initial.capacity() +
             v->start.X_WB.capacity() * sizeof(Pose) + v->start.twist.capacity() * sizeof(Vec6) +
             v->start.q.capacity() * sizeof(double);
  }
  return static_cast<double>(bytes) / b.world_count;
}

}  // namespace sarrus
