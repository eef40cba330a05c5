// Batch: many worlds at once, their arrays as views.
#include "sarrus/batch/batch.h"

#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include "bindings.h"

namespace sarrus::python {
namespace {

struct PyBatch {
  PyBatch(const PyModel& m, Batch made) : model(m), batch(std::move(made)) {}
  PyModel model;
  Batch batch;
  std::atomic<bool> busy = false;

  Batch& idle() {
    if (busy.load(std::memory_order_acquire)) throw Busy("a step of this batch runs in another thread; wait for it");
    return batch;
  }
  std::size_t worlds() const { return static_cast<std::size_t>(batch.worlds()); }
  std::int64_t rows() const { return batch.worlds(); }
};

// Without the lock of the interpreter.
template <class F>
void run(PyBatch& b, const F& f) {
  b.idle();
  b.busy.store(true, std::memory_order_release);
  struct Done {
    PyBatch& b;
    ~Done() { b.busy.store(false, std::memory_order_release); }
  } const done{b};
  const nb::gil_scoped_release release;
  f();
}

std::span<const double> span_of(const Doubles& a) { return {a.data(), a.size()}; }

// None: all; booleans by world, or indices.
std::vector<std::uint8_t> mask_of(const PyBatch& b, nb::handle mask) {
  if (mask.is_none()) return {};
  const nb::object numpy = nb::module_::import_("numpy");
  const nb::object given = numpy.attr("atleast_1d")(numpy.attr("asarray")(mask));
  if (nb::cast<int>(given.attr("ndim")) != 1) throw InputError("mask", "give one row of booleans, or of indices");
  const auto kind = nb::cast<std::string>(given.attr("dtype").attr("kind"));
  const auto n = nb::cast<std::int64_t>(given.attr("size"));
  std::vector<std::uint8_t> out(b.worlds(), 0);
  if (kind == "b") {
    if (n != b.rows()) throw InputError("mask", fmt::format("has {} entries; give {}, one by world", n, b.rows()));
    const auto flags = nb::cast<std::vector<bool>>(given.attr("tolist")());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = flags[i];
    return out;
  }
  if (n > 0 && kind != "i" && kind != "u") throw InputError("mask", "give booleans by world, or indices of worlds");
  for (const std::int64_t i : nb::cast<std::vector<std::int64_t>>(given.attr("astype")("int64").attr("tolist")())) {
    if (i < -b.rows() || i >= b.rows())
      throw InputError("mask", fmt::format("world {} of {}; give one that there is", i, b.rows()));
    out[static_cast<std::size_t>(i < 0 ? i + b.rows() : i)] = 1;
  }
  return out;
}

int world_of(const PyBatch& b, std::int64_t i) {
  if (i < -b.rows() || i >= b.rows())
    throw InputError("world", fmt::format("{} of {}; give one that there is", i, b.rows()));
  return static_cast<int>(i < 0 ? i + b.rows() : i);
}

// (worlds, nu), or (nu,) for all worlds.
Doubles targets_of(const PyBatch& b, nb::handle target) {
  const nb::object numpy = nb::module_::import_("numpy");
  const std::int64_t nu = b.batch.control_count();
  nb::object given = nb::borrow(target);
  const std::size_t dimensions = dimensions_of(given, "target");
  if (dimensions < 2) {
    if (dimensions == 1) array_of(given, "target", {nu}, true);
    given = numpy.attr("broadcast_to")(given, nb::make_tuple(b.rows(), nu));
  }
  return array_of(given, "target", {b.rows(), nu}, true);
}

void construct(PyBatch* self, nb::handle models, std::optional<int> worlds, int threads, double dt,
               const std::string& solver, const SolverParameters& parameters, double tolerance,
               std::optional<std::string> integrator, const std::string& fallback, const std::string& criterion,
               double acceptable, int budget, bool warm_start, double margin) {
  BatchOptions o;
  o.threads = threads;
  o.simulation = options_of(dt, solver, parameters, tolerance, integrator, fallback, criterion, acceptable, budget,
                            warm_start, margin);
  PyModel* one = nullptr;
  if (nb::try_cast<PyModel*>(models, one) && one != nullptr) {
    new (self) PyBatch(*one, Batch(one->model, worlds.value_or(1), o));
    return;
  }
  std::vector<PyModel*> many;
  if (!nb::try_cast<std::vector<PyModel*>>(models, many) || many.empty() || std::ranges::count(many, nullptr) > 0) {
    throw InputError("Batch", "give a model, or a list of models, one for each world");
  }
  if (worlds && *worlds != static_cast<int>(many.size())) {
    throw InputError("Batch", fmt::format("{} models for {} worlds; give one for each", many.size(), *worlds));
  }
  std::vector<Model> list;
  for (const PyModel* m : many) list.push_back(m->model);
  new (self) PyBatch(*many.front(), Batch(list, o));
}

void step(PyBatch& b, nb::handle target, int n) {
  if (n < 1) throw InputError("step", fmt::format("n is {}; give a number >= 1", n));
  b.idle();
  if (target.is_none()) {
    run(b, [&] { b.batch.step(n); });
    return;
  }
  const Doubles targets = targets_of(b, target);
  run(b, [&] { b.batch.step(span_of(targets), n); });
}

Keep keep_of(const std::vector<std::string>& names) {
  Keep keep = Keep::none;
  constexpr std::pair<const char*, Keep> known[] = {{"position", Keep::position},
                                                    {"quaternion_xyzw", Keep::quaternion},
                                                    {"twist", Keep::twist},
                                                    {"q", Keep::q},
                                                    {"qd", Keep::qd},
                                                    {"contact_force", Keep::contact_force},
                                                    {"energy", Keep::energy}};
  for (const std::string& name : names) {
    bool found = false;
    for (const auto& [text, bit] : known) {
      if (name != text) continue;
      keep = keep | bit;
      found = true;
    }
    if (!found) {
      throw InputError("keep", fmt::format("'{}' is unknown; give some of position, quaternion_xyzw, twist, q, qd, "
                                           "contact_force, energy",
                                           name));
    }
  }
  return keep;
}

nb::object rollout(PyBatch& b, nb::handle target, std::optional<int> steps, int hold, int every,
                   const std::vector<std::string>& keep) {
  b.idle();
  if (hold < 1) throw InputError("rollout", fmt::format("hold is {}; give a number >= 1", hold));
  RolloutOptions o;
  o.hold = hold;
  o.every = every;
  o.keep = keep_of(keep);
  std::optional<Doubles> targets;
  if (!target.is_none()) {
    const std::int64_t nu = b.batch.control_count();
    const bool all = dimensions_of(target, "target") == 2;
    targets = all ? array_of(target, "target", {-1, nu}, true) : array_of(target, "target", {b.rows(), -1, nu}, true);
    const auto rows = static_cast<std::int64_t>(targets->shape(all ? 0 : 1));
    if (rows * hold > std::numeric_limits<int>::max()) {
      throw InputError("rollout",
                       fmt::format("{} rows that hold for {} steps each are too many; give fewer", rows, hold));
    }
    const auto T = static_cast<int>(rows);
    o.steps = steps.value_or(T * hold);
    if ((o.steps + hold - 1) / hold != T) {
      throw InputError("target", fmt::format("has {} rows for {} steps that hold each for {}; give {}", T, o.steps,
                                             hold, (o.steps + hold - 1) / hold));
    }
  } else if (steps) {
    o.steps = *steps;
  } else {
    throw InputError("rollout", "give targets, or the number of steps");
  }
  Rollout r;
  run(b, [&] { r = b.batch.rollout(targets ? span_of(*targets) : std::span<const double>(), o); });
  const auto W = static_cast<std::size_t>(r.worlds), F = static_cast<std::size_t>(r.frames);
  const auto n = static_cast<std::size_t>(b.model.model.body_count()),
             nq = static_cast<std::size_t>(b.model.model.dof_count());
  nb::dict out;
  out["time"] = array_from(std::move(r.time), {W, F});
  if (has(o.keep, Keep::position)) out["position"] = array_from(std::move(r.position), {W, F, n, 3});
  if (has(o.keep, Keep::quaternion)) out["quaternion_xyzw"] = array_from(std::move(r.quaternion), {W, F, n, 4});
  if (has(o.keep, Keep::twist)) out["twist"] = array_from(std::move(r.twist), {W, F, n, 6});
  if (has(o.keep, Keep::q)) out["q"] = array_from(std::move(r.q), {W, F, nq});
  if (has(o.keep, Keep::qd)) out["qd"] = array_from(std::move(r.qd), {W, F, nq});
  if (has(o.keep, Keep::contact_force)) out["contact_force"] = array_from(std::move(r.contact_force), {W, F, n, 3});
  if (has(o.keep, Keep::energy)) out["energy"] = array_from(std::move(r.energy), {W, F, 2});
  return out;
}

void reset(PyBatch& b, nb::handle mask, nb::handle states) {
  b.idle();
  const std::vector<std::uint8_t> chosen = mask_of(b, mask);
  if (states.is_none()) {
    run(b, [&] { b.batch.reset(chosen); });
    return;
  }
  std::vector<State> list;
  State* one = nullptr;
  if (nb::try_cast<State*>(states, one) && one != nullptr) {
    list.push_back(*one);
  } else {
    std::vector<State*> many;
    if (!nb::try_cast<std::vector<State*>>(states, many) || std::ranges::count(many, nullptr) > 0) {
      throw InputError("states", "give a State, or one by world; those outside of the mask stay as they are");
    }
    for (const State* s : many) list.push_back(*s);
  }
  run(b, [&] { b.batch.set_states(std::span<const State>(list), chosen); });
}

// As sarrus._contacts.REPORT has it.
static_assert(sizeof(WorldReport) == 72);

nb::object reports(nb::handle self) {
  PyBatch& b = nb::cast<PyBatch&>(self);
  const std::span<const WorldReport> r = b.idle().reports();
  const std::size_t shape[] = {r.size() * sizeof(WorldReport)};
  const nb::object bytes = nb::cast(nb::ndarray<nb::numpy, const std::uint8_t>(r.data(), 1, shape, self));
  return bytes.attr("view")(python("sarrus._contacts", "REPORT"));
}

using Get = std::span<const double> (Batch::*)() const;

template <Get get, int width, bool bodies>
nb::object view(nb::handle self) {
  PyBatch& b = nb::cast<PyBatch&>(self);
  const double* data = (b.idle().*get)().data();
  const std::size_t W = b.worlds();
  const auto n = static_cast<std::size_t>(b.model.model.body_count());
  if constexpr (bodies) {
    return view_of<const double>(data, {W, n, width}, {static_cast<std::int64_t>(n * width), width, 1}, self);
  } else if constexpr (width == 0) {
    return view_of<const double>(data, {W}, {1}, self);
  } else {
    std::size_t w = width;
    if (width == -1) w = static_cast<std::size_t>(b.model.model.dof_count());
    if (width == -2) w = static_cast<std::size_t>(b.batch.control_count());
    return view_of<const double>(data, {W, w}, {static_cast<std::int64_t>(w), 1}, self);
  }
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::class_<PyBatch>(
      m, "Batch",
      "Many worlds of one mechanism, stepped by all cores; each with the bits of a simulation of its own.\n\n"
      "Arrays are read-only views with the world as first dimension; they are up to date after every call and stay\n"
      "where they are. A world whose step fails is frozen and flagged until it gets another state.")
      .def("__init__", &construct, "model"_a, "worlds"_a = nb::none(), "threads"_a = 0, nb::kw_only(), "dt"_a = 0.0,
           "solver"_a = "cascade", "parameters"_a = SolverParameters(), "tolerance"_a = 1e-9,
           "integrator"_a = nb::none(), "fallback"_a = "admm-ncp-sa", "criterion"_a = "energy", "acceptable"_a = 1e-3,
           "budget"_a = 1000, "warm_start"_a = true, "margin"_a = CollisionOptions{}.margin,
           "model: one for all worlds, or a list with one for each, of equal structure (Model.changed). threads: 0: as "
           "many\n"
           "as the machine has. Others: as of Simulation.")
      .def("step", &step, "target"_a = nb::none(), "n"_a = 1,
           "n steps of each running world, without the lock of the interpreter. target: (worlds, nu) or (nu,), kept "
           "from here\n"
           "on; NaN: the drive's own signal.")
      .def("rollout", &rollout, "target"_a = nb::none(), "steps"_a = nb::none(), "hold"_a = 1, "every"_a = 1,
           "keep"_a = std::vector<std::string>{"position", "quaternion_xyzw", "q"},
           "Steps with targets known before, (worlds, T, nu) or (T, nu) for all, each row held for `hold` steps. "
           "Returns a dict\n"
           "with time (worlds, frames), s, and what `keep` names, a frame after every `every` steps: position (worlds, "
           "frames,\n"
           "nbody, 3), quaternion_xyzw, twist, q, qd, contact_force (N, by body), energy (kinetic, potential, J).")
      .def("reset", &reset, "mask"_a = nb::none(), "states"_a = nb::none(),
           "Worlds begin again, at the initial state or at a State, one for all or one by world. mask: booleans by "
           "world, or\n"
           "indices; None: all.")
      .def(
          "set_force",
          [](PyBatch& b, nb::handle force) {
            const Doubles f = array_of(force, "force", {b.rows(), b.model.model.scalar_count()});
            b.idle().set_joint_forces(span_of(f));
          },
          "force"_a, "(worlds, nq) forces on coordinates besides their drives, N or N m; kept.")
      .def(
          "set_wrench",
          [](PyBatch& b, nb::handle wrench) {
            const Doubles w = array_of(wrench, "wrench", {b.rows(), b.model.model.body_count(), 6});
            b.idle().set_wrenches(span_of(w));
          },
          "wrench"_a,
          "(worlds, nbody, 6) force, N, and torque, N m, on bodies, world axes, at the centre of mass; kept.")
      .def(
          "set_model",
          [](PyBatch& b, std::int64_t w, const PyModel& model) { b.idle().set_model(world_of(b, w), model.model); },
          "world"_a, "model"_a, "Another model of equal structure for one world, from its initial state on.")
      .def(
          "model_of",
          [](PyBatch& b, std::int64_t w) {
            return PyModel{b.idle().model(world_of(b, w)), "", ""};
          },
          "world"_a, "The model of one world, with its numbers.")
      .def(
          "state", [](PyBatch& b, std::int64_t w) { return state_object(b.idle().state(world_of(b, w))); }, "world"_a,
          "The State of one world, a copy.")
      .def(
          "save", [](PyBatch& b, std::int64_t w) { return b.idle().save(world_of(b, w)); }, "world"_a,
          "A Snapshot of one world; a Simulation of its model and options takes it, too.")
      .def(
          "restore", [](PyBatch& b, std::int64_t w, const Snapshot& s) { b.idle().restore(world_of(b, w), s); },
          "world"_a, "snapshot"_a, "One world goes back to a snapshot.")
      .def(
          "simulation",
          [](PyBatch& b, std::int64_t w) {
            const int world = world_of(b, w);
            return simulation_object({b.idle().model(world), "", ""}, b.batch.simulation(world));
          },
          "world"_a, "A Simulation that goes on from where one world is, in the same bits.")
      .def(
          "message", [](PyBatch& b, std::int64_t w) { return b.idle().message(world_of(b, w)); }, "world"_a,
          "Why a world is frozen; empty: it is not.")
      .def_prop_ro(
          "model", [](PyBatch& b) { return b.model; }, "The model, of world 0 if they differ.")
      .def_prop_ro(
          "worlds", [](PyBatch& b) { return b.batch.worlds(); }, "Number of worlds.")
      .def_prop_ro(
          "threads", [](PyBatch& b) { return b.batch.threads(); }, "Threads that share them.")
      .def_prop_ro(
          "dt", [](PyBatch& b) { return b.batch.dt(); }, "The step, s.")
      .def_prop_ro(
          "nu", [](PyBatch& b) { return b.batch.control_count(); }, "Number of drives.")
      .def_prop_ro(
          "drives",
          [](PyBatch& b) {
            nb::list out;
            for (int i = 0; i < b.batch.control_count(); ++i) out.append(b.batch.control_name(i));
            return nb::tuple(out);
          },
          "Names of the drives, in the order of targets.")
      .def_prop_ro("time", &view<&Batch::time, 0, false>, "(worlds,) s.")
      .def_prop_ro("position", &view<&Batch::position, 3, true>, "(worlds, nbody, 3) centres of mass, world, m.")
      .def_prop_ro("quaternion_xyzw", &view<&Batch::quaternion, 4, true>, "(worlds, nbody, 4) orientations, x y z w.")
      .def_prop_ro("twist", &view<&Batch::twist, 6, true>, "(worlds, nbody, 6) m/s and rad/s, world axes.")
      .def_prop_ro("q", &view<&Batch::q, -1, false>, "(worlds, nq) joint coordinates, m or rad.")
      .def_prop_ro("qd", &view<&Batch::qd, -1, false>, "(worlds, nq) their rates.")
      .def_prop_ro("contact_force", &view<&Batch::contact_force, 3, true>,
                   "(worlds, nbody, 3) sum of the contact forces on a body, mean over the last step, N.")
      .def_prop_ro("energy", &view<&Batch::energy, 2, false>, "(worlds, 2) kinetic and potential, J.")
      .def_prop_ro("effort", &view<&Batch::effort, -2, false>,
                   "(worlds, nu) efforts of the drives in the last step, N or N m.")
      .def_prop_ro(
          "failed",
          [](nb::handle self) {
            PyBatch& b = nb::cast<PyBatch&>(self);
            const std::size_t shape[] = {b.worlds()};
            const nb::object bytes =
                nb::cast(nb::ndarray<nb::numpy, const std::uint8_t>(b.idle().failed().data(), 1, shape, self));
            return bytes.attr("view")("bool");
          },
          "(worlds,) whether a world is frozen.")
      .def_prop_ro("reports", &reports,
                   "(worlds,) of the last call, an array of REPORT: status, worst, steps, accepted, fallback, "
                   "substepped,\n"
                   "iterations, error, joint_gap (m), penetration (m), creates_energy, seconds.")
      .def_prop_ro(
          "bytes_per_world", [](PyBatch& b) { return b.idle().bytes_per_world(); },
          "Memory that a world holds besides what threads and the model have.")
      .def("__len__", [](PyBatch& b) { return b.batch.worlds(); })
      .def("__repr__", [](PyBatch& b) {
        return fmt::format("<Batch: {} worlds of '{}', {} threads>", b.batch.worlds(), b.model.model.name(),
                           b.batch.threads());
      });
}

}  // namespace sarrus::python
