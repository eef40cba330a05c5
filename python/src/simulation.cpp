// Simulation: views into its state, inputs by name, and steps without the lock of the interpreter.
#include "bindings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sarrus/math/text.h"
#include "sarrus/recording/checkpoint.h"
#include "sarrus/recording/run_summary.h"

namespace sarrus::python {

void PyReport::add(const StepReport& r) {
  const auto status = static_cast<std::size_t>(r.status);
  ++counts[status];
  if (steps++ == 0) {
    worst = r;
    message = r.message;
    stage = r.stage;
    locked_joint = r.locked_joint;
    return;
  }
  StepReport& w = worst;
  if (r.status >= w.status) {
    w.status = r.status;
    message = r.message;
  }
  if (!(r.error <= w.error)) {
    w.residuals = r.residuals;
    w.error = r.error;
    w.solve_status = r.solve_status;
    stage = r.stage;
  }
  if (!r.locked_joint.empty() && locked_joint.empty()) locked_joint = r.locked_joint;
  w.met_tolerance = w.met_tolerance && r.met_tolerance;
  w.creates_energy = w.creates_energy || r.creates_energy;
  w.iterations += r.iterations;
  w.factorisations += r.factorisations;
  w.substeps += r.substeps;
  w.rejected += r.rejected;
  w.contacts = r.contacts;
  w.contacts_matched = r.contacts_matched;
  w.limits = r.limits;
  w.rows = r.rows;
  for (double StepReport::*x : {&StepReport::joint_gap, &StepReport::joint_angle, &StepReport::compliant_gap,
                                &StepReport::compliant_angle, &StepReport::limit_violation, &StepReport::penetration}) {
    w.*x = std::max(w.*x, r.*x);
  }
  for (double StepReport::*x :
       {&StepReport::seconds_collision, &StepReport::seconds_assembly, &StepReport::seconds_solve,
        &StepReport::seconds_projection, &StepReport::seconds_total}) {
    w.*x += r.*x;
  }
  w.restitution_scale = std::min(w.restitution_scale, r.restitution_scale);
  w.energy += r.energy;
}

PySimulation::PySimulation(const PyModel& m, SimulationOptions options)
    : PySimulation(m, Simulation(m.model, std::move(options))) {}

PySimulation::PySimulation(const PyModel& m, Simulation simulation) : model(m), sim(std::move(simulation)) {
  for (int i = 0; i < model.model.scalar_count(); ++i) {
    if (model.model.scalars()[static_cast<std::size_t>(i)].drive.mode != DriveMode::none) drives.push_back(i);
  }
}

nb::object simulation_object(const PyModel& model, Simulation simulation) {
  return nb::cast(std::make_unique<PySimulation>(model, std::move(simulation)));
}

SimulationOptions options_of(double dt, const std::string& solver, const SolverParameters& parameters, double tolerance,
                             const std::optional<std::string>& integrator, const std::string& fallback,
                             const std::string& criterion, double acceptable, int budget, bool warm_start,
                             double margin) {
  SimulationOptions o;
  o.dt = dt;
  if (integrator) o.integrator = integrator_from_name(*integrator);
  o.solver = solver;
  o.solver_parameters = parameters;
  o.fallback = fallback;
  o.criterion = criterion_from_name(criterion);
  o.tolerance = tolerance;
  o.acceptable = acceptable;
  o.budget = budget;
  o.warm_start = warm_start;
  o.collision.margin = margin;
  return o;
}

Simulation& PySimulation::idle() {
  if (busy.load(std::memory_order_acquire)) {
    throw Busy("a step of this simulation runs in another thread; wait for it, or use a simulation for each thread");
  }
  return sim;
}

int PySimulation::scalar(const std::string& name) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  return known[name] = scalar_named(model.model, name);
}

namespace {

// --- steps ---------------------------------------------------------------------------------------------------------

// What runs in here leaves the interpreter to other threads, which cannot touch the simulation.
struct Running {
  explicit Running(PySimulation& s) : sim(s) { sim.busy.store(true, std::memory_order_release); }
  ~Running() { sim.busy.store(false, std::memory_order_release); }
  PySimulation& sim;
};

void take_steps(PySimulation& s, std::int64_t n, PyReport& report) {
  using Clock = std::chrono::steady_clock;
  const Running running(s);
  const nb::gil_scoped_release release;
  Clock::time_point looked = n > 1 ? Clock::now() : Clock::time_point();
  for (std::int64_t i = 0; i < n; ++i) {
    const StepReport& r = s.sim.step();
    ++s.steps;
    report.add(r);
    for (Recorder* recorder : s.recorders) recorder->step(r);
    if (r.status == StepStatus::failed) return;
    if (n == 1 || Clock::now() - looked < std::chrono::milliseconds(50)) continue;
    looked = Clock::now();
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

nb::object step(PySimulation& s, std::int64_t n, bool check) {
  s.idle();
  if (n < 1) throw InputError("step", fmt::format("n is {}; give a number >= 1", n));
  PyReport report;
  take_steps(s, n, report);
  const bool failed = report.worst.status == StepStatus::failed;
  if (!failed || !check) return nb::cast(std::move(report));
  const std::string message = fmt::format("step at {:.9g} s failed: {}", s.sim.time(), report.message);
  const nb::object error = python("sarrus._errors", "StepFailed")(message, nb::cast(std::move(report)));
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

// --- options -------------------------------------------------------------------------------------------------------

void construct(PySimulation* self, const PyModel& model, double dt, const std::string& solver,
               const SolverParameters& parameters, double tolerance, std::optional<std::string> integrator,
               const std::string& fallback, const std::string& criterion, double acceptable, int budget,
               double max_step_time, bool warm_start, bool projection, double contact_compliance, double margin,
               int threads) {
  SimulationOptions o = options_of(dt, solver, parameters, tolerance, integrator, fallback, criterion, acceptable,
                                   budget, warm_start, margin);
  o.max_step_time = max_step_time;
  o.projection = projection;
  o.rows.contact_compliance = contact_compliance;
  o.threads = threads;
  new (self) PySimulation(model, std::move(o));
}

nb::object options_in_use(PySimulation& s) {
  const SimulationOptions& o = s.idle().options();
  nb::dict out;
  out["dt"] = o.dt;
  out["integrator"] = std::string(name_of(*o.integrator));
  out["solver"] = o.solver;
  out["parameters"] = o.solver_parameters;
  out["fallback"] = o.fallback;
  out["criterion"] = std::string(name_of(o.criterion));
  out["tolerance"] = o.tolerance;
  out["acceptable"] = o.acceptable;
  out["budget"] = o.budget;
  out["max_step_time"] = o.max_step_time;
  out["warm_start"] = o.warm_start;
  out["projection"] = o.projection;
  out["contact_compliance"] = o.rows.contact_compliance;
  out["margin"] = o.collision.margin;
  out["threads"] = o.threads;
  return out;
}

// --- state ---------------------------------------------------------------------------------------------------------

enum class Part { position, quaternion, twist, q };

nb::object view(nb::handle self, Part which) {
  const State& s = nb::cast<PySimulation&>(self).idle().state();
  const std::size_t n = s.X_WB.size();
  switch (which) {
    case Part::position:
      return view_of<const double>(n > 0 ? s.X_WB[0].p.data() : nullptr, {n, 3}, {kPoseStride, 1}, self);
    case Part::quaternion:
      return view_of<const double>(n > 0 ? s.X_WB[0].q.coeffs().data() : nullptr, {n, 4}, {kPoseStride, 1}, self);
    case Part::twist:
      return view_of<const double>(n > 0 ? s.twist[0].data() : nullptr, {n, 6}, {6, 1}, self);
    default:
      return view_of<const double>(s.q.data(), {s.q.size()}, {1}, self);
  }
}

nb::object rates(PySimulation& s) {
  const Simulation& sim = s.idle();
  std::vector<double> out(static_cast<std::size_t>(sim.model().dof_count()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = sim.joint_rate(static_cast<int>(i));
  return array_from(std::move(out));
}

nb::object quaternion_wxyz(PySimulation& s) {
  const std::vector<Pose>& X = s.idle().state().X_WB;
  std::vector<double> out;
  for (const Pose& p : X) out.insert(out.end(), {p.q.w(), p.q.x(), p.q.y(), p.q.z()});
  return array_from(std::move(out), {X.size(), 4});
}

nb::object rotation(PySimulation& s) {
  const std::vector<Pose>& X = s.idle().state().X_WB;
  std::vector<double> out;
  for (const Pose& p : X) {
    const Mat3 R = p.R();
    for (int i = 0; i < 3; ++i) out.insert(out.end(), {R(i, 0), R(i, 1), R(i, 2)});
  }
  return array_from(std::move(out), {X.size(), 3, 3});
}

nb::object joint_names(const Model& model) {
  nb::list names;
  for (const Joint& j : model.joints()) names.append(j.name);
  return nb::tuple(names);
}

nb::object joint_openings(PySimulation& s, bool angle) {
  const Simulation& sim = s.idle();
  std::vector<JointOpening> open(static_cast<std::size_t>(sim.model().joint_count()));
  sim.joint_openings(open);
  std::vector<double> out;
  for (const JointOpening& o : open) out.push_back(angle ? o.angle : o.gap);
  return named_array(joint_names(sim.model()), array_from(std::move(out)), "joint");
}

nb::object reactions(PySimulation& s) {
  const Simulation& sim = s.idle();
  const std::vector<Vec6> wrenches = sim.joint_reactions();
  std::vector<double> out;
  for (const Vec6& w : wrenches) out.insert(out.end(), w.data(), w.data() + 6);
  return named_array(joint_names(sim.model()), array_from(std::move(out), {wrenches.size(), 6}), "joint");
}

nb::object efforts(PySimulation& s) {
  const Simulation& sim = s.idle();
  std::vector<double> out;
  for (int i = 0; i < sim.model().scalar_count(); ++i) out.push_back(sim.drive_effort(i));
  return named_array(scalar_names(sim.model()), array_from(std::move(out)), "coordinate");
}

// As sarrus._contacts.CONTACT has it.
struct ContactRecord {
  double point[3], normal[3], force[3];
  double gap, mu;
  std::int32_t mode, body_a, body_b, geom_a, geom_b, padding;
};
static_assert(sizeof(ContactRecord) == 112);

nb::object contacts(PySimulation& s) {
  const Simulation& sim = s.idle();
  const std::span<const Contact> list = sim.contacts();
  auto* kept = new std::vector<ContactRecord>(list.size());
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<ContactRecord>*>(p); });
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Contact& c = list[i];
    ContactRecord& r = (*kept)[i];
    const Vec3 force = sim.contact_force_W(static_cast<int>(i));
    for (int k = 0; k < 3; ++k) {
      r.point[k] = c.p_W[k];
      r.normal[k] = c.n_W[k];
      r.force[k] = force[k];
    }
    r.gap = c.gap;
    r.mu = c.mu;
    r.mode = static_cast<int>(sim.contact_mode(static_cast<int>(i)));
    r.body_a = c.body_a;
    r.body_b = c.body_b;
    r.geom_a = c.geom_a;
    r.geom_b = c.geom_b;
    r.padding = 0;
  }
  const std::size_t shape[] = {list.size() * sizeof(ContactRecord)};
  const nb::object bytes = nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(kept->data(), 1, shape, owner));
  return bytes.attr("view")(python("sarrus._contacts", "CONTACT"));
}

// --- inputs --------------------------------------------------------------------------------------------------------

enum class Kind { target, force, wrench };

// sim.target, sim.force, sim.wrench: by name, index or slice; NaN of a target gives the scene's signal back.
struct Inputs {
  nb::object owner;
  PySimulation* s;
  Kind kind;

  std::size_t size() const {
    if (kind == Kind::target) return s->drives.size();
    return static_cast<std::size_t>(kind == Kind::force ? s->model.model.scalar_count() : s->model.model.body_count());
  }
  const char* name() const { return kind == Kind::target ? "target" : kind == Kind::force ? "force" : "wrench"; }

  std::string driven() const {
    std::vector<std::string> names;
    for (const int i : s->drives) names.push_back(s->model.model.dof_name(i));
    if (names.size() > 8) names.resize(8);
    return names.empty() ? "this model has no drives" : fmt::format("drives: {}", fmt::join(names, ", "));
  }

  // Place in the list of drives, scalars or bodies.
  std::size_t place(const std::string& key) {
    if (kind == Kind::wrench) return static_cast<std::size_t>(s->model.model.body(key));
    const int scalar = s->scalar(key);
    if (kind == Kind::force) return static_cast<std::size_t>(scalar);
    const auto found = std::lower_bound(s->drives.begin(), s->drives.end(), scalar);
    if (found != s->drives.end() && *found == scalar) return static_cast<std::size_t>(found - s->drives.begin());
    throw InputError(fmt::format("target {}", in_quotes(key)), fmt::format("has no drive; {}", driven()));
  }

  void set(std::size_t i, const double* value) {
    Simulation& sim = s->sim;
    if (kind == Kind::wrench) {
      sim.set_body_wrench(static_cast<int>(i), Eigen::Map<const Vec6>(value));
    } else if (kind == Kind::force) {
      sim.set_joint_force(static_cast<int>(i), *value);
    } else if (std::isnan(*value)) {
      sim.clear_drive_target(s->drives[i]);
    } else {
      sim.set_drive_target(s->drives[i], *value);
    }
  }

  nb::object values() const {
    const Simulation& sim = s->idle();
    std::vector<double> out;
    for (std::size_t i = 0; i < size(); ++i) {
      const int k = static_cast<int>(i);
      if (kind == Kind::wrench) {
        const Vec6 w = sim.body_wrench(k);
        out.insert(out.end(), w.data(), w.data() + 6);
      } else {
        out.push_back(kind == Kind::force ? sim.joint_force(k) : sim.drive_target(s->drives[i]));
      }
    }
    return kind == Kind::wrench ? array_from(std::move(out), {size(), 6}) : array_from(std::move(out));
  }

  nb::object get(nb::handle key) {
    std::string text;
    if (nb::try_cast<std::string>(key, text)) return values()[nb::int_(place(text))];
    return values()[key];
  }

  void assign(nb::handle key, nb::handle value) {
    s->idle();
    std::string text;
    const bool nan = kind == Kind::target;
    if (nb::try_cast<std::string>(key, text)) {
      const std::string what = fmt::format("{} {}", name(), in_quotes(text));
      const std::size_t i = place(text);
      if (kind == Kind::wrench) {
        const Doubles w = array_of(value, what, {6});
        s->idle();  // again: reading a value may run code of others
        set(i, w.data());
      } else {
        const double x = number(value, what, nan);
        s->idle();
        set(i, &x);
      }
      return;
    }
    // Everything is checked before anything is set.
    const nb::object numpy = nb::module_::import_("numpy");
    nb::object chosen;
    try {
      chosen = numpy.attr("atleast_1d")(numpy.attr("arange")(size())[key]);
    } catch (const nb::python_error&) {
      throw InputError(name(), fmt::format("no such index; there are {}, and names", size()));
    }
    if (nb::cast<int>(chosen.attr("ndim")) != 1) throw InputError(name(), "give one row of indices, or names");
    const auto indices = nb::cast<std::vector<std::int64_t>>(chosen.attr("tolist")());
    const auto n = static_cast<std::int64_t>(indices.size());
    nb::object given = nb::borrow(value);
    const std::size_t width = kind == Kind::wrench ? 6 : 1;
    // One number, or one wrench, for all of them.
    const std::size_t dimensions = dimensions_of(given, name());
    if (dimensions + 1 == (width == 6 ? 2 : 1)) {
      given = numpy.attr("broadcast_to")(given, width == 6 ? nb::make_tuple(n, 6) : nb::make_tuple(n));
    }
    const Doubles all = width == 6 ? array_of(given, name(), {n, 6}) : array_of(given, name(), {n}, nan);
    s->idle();
    for (std::size_t i = 0; i < indices.size(); ++i) set(static_cast<std::size_t>(indices[i]), all.data() + width * i);
  }

  nb::object names() const {
    nb::list out;
    for (std::size_t i = 0; i < size(); ++i) {
      const Model& m = s->model.model;
      if (kind == Kind::wrench) {
        out.append(m.bodies()[i].name);
      } else if (kind == Kind::force) {
        out.append(m.dof_name(static_cast<int>(i)));
      } else {
        const std::string& drive = m.scalars()[static_cast<std::size_t>(s->drives[i])].drive.name;
        out.append(drive.empty() ? m.dof_name(s->drives[i]) : drive);
      }
    }
    return nb::tuple(out);
  }
};

template <Kind kind>
nb::object inputs(nb::handle self) {
  PySimulation& s = nb::cast<PySimulation&>(self);
  s.idle();
  return nb::cast(Inputs{nb::borrow(self), &s, kind});
}

template <Kind kind>
void assign_all(nb::handle self, nb::handle value) {
  Inputs{nb::borrow(self), &nb::cast<PySimulation&>(self), kind}.assign(nb::slice(nb::none(), nb::none(), nb::none()),
                                                                        value);
}

// --- snapshots -----------------------------------------------------------------------------------------------------

nb::bytes bytes_of(const Snapshot& s) { return nb::bytes(s.bytes().data(), s.bytes().size()); }

void bind_report(nb::module_& m) {
  nb::class_<PyReport> report(
      m, "StepReport",
      "What happened in a step, judged by code that is not the solver. Of several steps: the worst\n"
      "residuals, gaps and status, sums of iterations and times, contacts and rows of the last one.");
  const auto get = [&report](const char* name, auto member, const char* doc) {
    report.def_prop_ro(
        name, [member](const PyReport& r) { return r.worst.*member; }, doc);
  };
  report
      .def_prop_ro(
          "status",
          [](const PyReport& r) {
            const std::string_view n = name_of(r.worst.status);
            return nb::str(n.data(), n.size());
          },
          "'converged', 'accepted', 'fallback', 'substepped' or 'failed'.")
      .def_prop_ro(
          "ok", [](const PyReport& r) { return r.worst.status != StepStatus::failed; }, "Whether no step failed.")
      .def_ro("steps", &PyReport::steps, "Steps it stands for, a failed one included.")
      .def_prop_ro(
          "counts",
          [](const PyReport& r) {
            nb::dict out;
            for (std::size_t i = 0; i < r.counts.size(); ++i) {
              const std::string_view n = name_of(static_cast<StepStatus>(i));
              out[nb::str(n.data(), n.size())] = r.counts[i];
            }
            return out;
          },
          "Number of steps by status.")
      .def_prop_ro(
          "solve_status",
          [](const PyReport& r) {
            const std::string_view n = name_of(r.worst.solve_status);
            return nb::str(n.data(), n.size());
          },
          "Of the solver in the step with the largest error.")
      .def_prop_ro(
          "residuals", [](const PyReport& r) { return r.worst.residuals; }, "Of the step with the largest error.")
      .def_ro("stage", &PyReport::stage, "Last stage of the solver that was needed; empty: the warm start was good.")
      .def_ro("message", &PyReport::message, "Of a failed step: what was worst.")
      .def_ro("locked_joint", &PyReport::locked_joint,
              "Gimbal or serial joint next to its lock, if something acts there.")
      .def_prop_ro(
          "energy", [](const PyReport& r) { return r.worst.energy; }, "EnergyFlow of these steps, J.")
      .def("__repr__", [](const PyReport& r) {
        return fmt::format("<StepReport: {} of {} step{}, error {:.2e}, joint gap {:.2e} m, {} contacts{}{}>",
                           name_of(r.worst.status), r.steps, r.steps == 1 ? "" : "s", r.worst.error, r.worst.joint_gap,
                           r.worst.contacts, r.message.empty() ? "" : ": ", r.message);
      });
  get("error", &StepReport::error, "What is compared with the tolerance; no unit.");
  get("met_tolerance", &StepReport::met_tolerance, "Whether it is within the tolerance.");
  get("iterations", &StepReport::iterations, "Of the solver.");
  get("factorisations", &StepReport::factorisations, "Of the solver.");
  get("contacts", &StepReport::contacts, "Number of contacts.");
  get("contacts_matched", &StepReport::contacts_matched, "Contacts that found their impulse of the last step.");
  get("limits", &StepReport::limits, "Rows of limits.");
  get("rows", &StepReport::rows, "Constraint rows.");
  get("substeps", &StepReport::substeps, "Parts that were integrated.");
  get("rejected", &StepReport::rejected, "Attempts that were not.");
  get("joint_gap", &StepReport::joint_gap, "Largest translational residual of rigid joints, m.");
  get("joint_angle", &StepReport::joint_angle, "Largest rotational residual of rigid joints, rad.");
  get("compliant_gap", &StepReport::compliant_gap, "Largest deformation of compliant joints, m.");
  get("compliant_angle", &StepReport::compliant_angle, "Likewise, rad.");
  get("limit_violation", &StepReport::limit_violation, "m or rad.");
  get("penetration", &StepReport::penetration, "Deepest contact, m.");
  get("restitution_scale", &StepReport::restitution_scale, "< 1: restitution was reduced to create no energy.");
  get("creates_energy", &StepReport::creates_energy, "Whether more energy than the scheme's bound was created.");
  get("seconds_collision", &StepReport::seconds_collision, "Wall time, s.");
  get("seconds_assembly", &StepReport::seconds_assembly, "Wall time, s.");
  get("seconds_solve", &StepReport::seconds_solve, "Wall time, s.");
  get("seconds_projection", &StepReport::seconds_projection, "Wall time, s.");
  get("seconds_total", &StepReport::seconds_total, "Wall time, s.");
}

}  // namespace

void bind_simulation(nb::module_& m) {
  bind_report(m);

  nb::class_<Snapshot>(m, "Snapshot", "All that a simulation is at a moment, warm start included. A value.")
      .def("__bytes__", &bytes_of)
      .def_static(
          "from_bytes", [](nb::bytes b) { return Snapshot(std::string(b.c_str(), b.size())); }, "data"_a,
          "The snapshot of these bytes; they are checked when it is restored.")
      .def(
          "save", [](const Snapshot& s, const std::filesystem::path& path) { save_checkpoint(path, s); }, "path"_a,
          "Writes a checkpoint, which `sarrus run --resume` takes, too.")
      .def_static(
          "load", [](const std::filesystem::path& path) { return load_checkpoint(path); }, "path"_a,
          "Reads a checkpoint.")
      .def(
          "__eq__",
          [](const Snapshot& a, nb::handle b) {
            Snapshot* other = nullptr;
            return nb::try_cast<Snapshot*>(b, other) && other != nullptr && a == *other;
          },
          nb::is_operator(), "other"_a.none())
      .def("__reduce__",
           [](const Snapshot& s) {
             return nb::make_tuple(python("sarrus._pickling", "snapshot"), nb::make_tuple(bytes_of(s)));
           })
      .def("__repr__", [](const Snapshot& s) { return fmt::format("<Snapshot: {} bytes>", s.bytes().size()); });

  nb::class_<Inputs>(m, "Inputs", "Inputs of a simulation by name, index or slice. They stay until they are changed.")
      .def("__getitem__", &Inputs::get, "key"_a)
      .def("__setitem__", &Inputs::assign, "key"_a, "value"_a.none())
      .def("__len__", &Inputs::size)
      .def(
          "__array__",
          [](const Inputs& i, nb::handle dtype, nb::handle) {
            return i.values().attr("astype")(dtype.is_none() ? nb::str("float64") : nb::borrow(dtype));
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def_prop_ro("names", &Inputs::names, "Names, in order.")
      .def("__repr__", [](const Inputs& i) { return fmt::format("<Inputs: {} of {}>", i.name(), i.size()); });

  nb::class_<PySimulation>(
      m, "Simulation",
      "Advances a model step by step, every solve judged.\n\n"
      "Arrays are SI units, world axes. position, quaternion_xyzw, twist and q are read-only views of the\n"
      "state: they follow every step and keep the simulation alive.")
      .def("__init__", &construct, "model"_a, "dt"_a = 0.0, "solver"_a = "cascade", "parameters"_a = SolverParameters(),
           "tolerance"_a = 1e-9, "integrator"_a = nb::none(), nb::kw_only(), "fallback"_a = "admm-ncp-sa",
           "criterion"_a = "energy", "acceptable"_a = 1e-3, "budget"_a = 1000, "max_step_time"_a = 0.0,
           "warm_start"_a = true, "projection"_a = true, "contact_compliance"_a = 0.0,
           "margin"_a = CollisionOptions{}.margin, "threads"_a = 1,
           "dt: s, 0: the model's. solver, parameters: sarrus.solvers(). tolerance: of the judged error. budget:\n"
           "factorisations per island and step. max_step_time: wall time of a step's solves, s; 0: no bound. threads:\n"
           "that share a step; the same bits for any number.")
      .def("step", &step, "n"_a = 1, "check"_a = true,
           "Takes n steps without the lock of the interpreter, and returns their StepReport. A step that fails ends it "
           "with\n"
           "StepFailed, or, without check, with the report; the state is then the one before that step.")
      .def_prop_ro(
          "model", [](PySimulation& s) { return s.model; }, "The Model.")
      .def_prop_ro("options", &options_in_use, "All options, as a dict.")
      .def_prop_ro(
          "dt", [](PySimulation& s) { return s.idle().dt(); }, "The step, s.")
      .def_prop_ro(
          "time", [](PySimulation& s) { return s.idle().time(); }, "Time, s.")
      .def_prop_ro(
          "position", [](nb::handle s) { return view(s, Part::position); },
          "(nbody, 3) centres of mass, world, m. Read-only view.")
      .def_prop_ro(
          "quaternion_xyzw", [](nb::handle s) { return view(s, Part::quaternion); },
          "(nbody, 4) orientations, x y z w. Read-only view.")
      .def_prop_ro(
          "twist", [](nb::handle s) { return view(s, Part::twist); },
          "(nbody, 6) velocity of the centre of mass, m/s, and angular velocity, rad/s, world axes. Read-only view.")
      .def_prop_ro(
          "q", [](nb::handle s) { return view(s, Part::q); },
          "(nq,) joint coordinates, m or rad, turns counted. Read-only view.")
      .def_prop_ro("qd", &rates, "(nq,) rates of the joint coordinates, m/s or rad/s. A copy.")
      .def_prop_ro("quaternion_wxyz", &quaternion_wxyz, "(nbody, 4) orientations, w x y z. A copy.")
      .def_prop_ro("rotation", &rotation, "(nbody, 3, 3) rotations from body to world. A copy.")
      .def_prop_rw(
          "target", &inputs<Kind::target>, &assign_all<Kind::target>,
          "(nu,) targets of the drives, by name or index; m or rad, m/s or rad/s, N or N m by the drive's mode.\n"
          "NaN: the scene's own signal.")
      .def_prop_rw("force", &inputs<Kind::force>, &assign_all<Kind::force>,
                   "(nq,) forces on coordinates besides their drives, by name or index, N or N m.")
      .def_prop_rw(
          "wrench", &inputs<Kind::wrench>, &assign_all<Kind::wrench>,
          "(nbody, 6) force, N, and torque, N m, on bodies at the centre of mass, world axes, by name or index.")
      .def(
          "set_target",
          [](PySimulation& s, const std::string& name, nb::handle target, nb::handle rate) {
            s.idle();
            const int scalar = s.drives[Inputs{nb::none(), &s, Kind::target}.place(name)];
            const double x = number(target, fmt::format("target {}", in_quotes(name)));
            const double v = number(rate, fmt::format("rate of {}", in_quotes(name)));
            s.idle().set_drive_target(scalar, x, v);
          },
          "name"_a, "target"_a, "rate"_a = 0.0,
          "The target of a drive and its rate, per s: a position drive that follows a motion wants both.")
      .def(
          "drag",
          [](PySimulation& s, const std::string& body, nb::handle target, nb::handle point) {
            const int b = s.idle().model().body(body);
            const Doubles t = array_of(target, "drag: target", {3});
            Vec3 p = Vec3::Zero();
            if (!point.is_none()) p = Eigen::Map<const Vec3>(array_of(point, "drag: point", {3}).data());
            s.idle().set_drag(b, p, Eigen::Map<const Vec3>(t.data()));
          },
          "body"_a, "target"_a, "point"_a = nb::none(),
          "Pulls a point of a body (3,), body frame, m, to a target (3,), world, m, like a hand on a spring, until "
          "drop().")
      .def(
          "drop", [](PySimulation& s) { s.idle().clear_drag(); }, "Ends drag().")
      .def_prop_ro(
          "report",
          [](PySimulation& s) {
            PyReport r;
            r.add(s.idle().report());
            return r;
          },
          "StepReport of the last step.")
      .def_prop_ro("contacts", &contacts,
                   "Contacts of the last step, a structured array: point (m, on A), normal (from A to B), force (N, on "
                   "B), gap (m),\n"
                   "mu, mode (ContactMode), body_a, body_b (-1: world), geom_a, geom_b. A copy.")
      .def_prop_ro(
          "energy", [](PySimulation& s) { return energy(s.idle().model(), s.sim.state()); }, "Energy now, J.")
      .def_prop_ro(
          "energy_flow", [](PySimulation& s) { return s.idle().energy_flow(); },
          "EnergyFlow since the construction or the last assignment of a state, J.")
      .def_prop_ro(
          "energy_bound", [](PySimulation& s) { return s.idle().energy_bound(); },
          "What energy_flow.unaccounted may amount to, J.")
      .def_prop_ro(
          "momentum",
          [](PySimulation& s) {
            const Momentum p = momentum(s.idle().model(), s.sim.state());
            return nb::make_tuple(vector_of(p.linear), vector_of(p.angular));
          },
          "((3,) kg m/s, (3,) kg m^2/s about the world's origin).")
      .def_prop_ro(
          "joint_gap", [](PySimulation& s) { return joint_openings(s, false); },
          "(njoint,) how far joints are open, m, by name or index. A copy.")
      .def_prop_ro(
          "joint_angle", [](PySimulation& s) { return joint_openings(s, true); }, "(njoint,) likewise, rad. A copy.")
      .def_prop_ro("reaction", &reactions,
                   "(njoint, 6) mean force, N, and torque, N m, over the last step of joints on their followers, world "
                   "axes, at the\n"
                   "follower's anchor, by name or index. A copy.")
      .def_prop_ro("effort", &efforts,
                   "(nq,) efforts of the drives in the last step, N or N m, by name or index of coordinates. A copy.")
      .def(
          "save", [](PySimulation& s) { return s.idle().snapshot(); }, "A Snapshot: state, warm start, inputs, time.")
      .def(
          "restore", [](PySimulation& s, const Snapshot& x) { s.idle().restore(x); }, "snapshot"_a,
          "Goes back to a snapshot of the same model and options; what follows has the same bits.")
      .def_prop_rw(
          "state", [](PySimulation& s) { return state_object(s.idle().state()); },
          [](PySimulation& s, nb::handle state) { s.idle().set_state(state_of(state)); },
          "The State, a copy; assigning one drops the warm start and the sums of energy.")
      .def(
          "reset",
          [](PySimulation& s) {
            Simulation& sim = s.idle();
            for (const int i : s.drives) sim.clear_drive_target(i);
            for (int i = 0; i < sim.model().scalar_count(); ++i) sim.set_joint_force(i, 0);
            for (int i = 0; i < sim.model().body_count(); ++i) sim.set_body_wrench(i, Vec6::Zero());
            sim.clear_drag();
            sim.set_state(State::initial(sim.model()));
          },
          "The initial state, all inputs as in the scene.")
      .def_prop_ro(
          "hash", [](PySimulation& s) { return s.idle().state().hash(); }, "Over every bit of the state.")
      .def(
          "problem", [](PySimulation& s) { return problem_object(s.idle().assemble()); },
          "The Problem of the step that would be taken now, neither solved nor taken.")
      .def(
          "last_problem",
          [](PySimulation& s) {
            const Simulation& sim = s.idle();
            const auto warm = sim.warm_start_impulses(), impulses = sim.impulses();
            return problem_object(sim.problem(), {warm.begin(), warm.end()}, {impulses.begin(), impulses.end()});
          },
          "The Problem of the last step with its warm start and impulses.")
      .def(
          "record",
          [](nb::object self, const std::filesystem::path& path, int every) {
            nb::cast<PySimulation&>(self).idle();
            return new Recorder(self, path.string(), every);
          },
          "path"_a, "every"_a = 1, nb::rv_policy::take_ownership,
          "A context manager that writes a file of the steps within it; its ending tells the kind: .h5 (recording), "
          ".html\n"
          "(page), .csv (row per step), .json (summary), .svg (drawing). every: steps per sample of a recording.")
      .def_prop_ro(
          "overlaps",
          [](PySimulation& s) {
            nb::list out;
            for (const Simulation::Overlap& o : s.idle().initial_overlaps()) {
              out.append(nb::make_tuple(o.geom_a, o.geom_b, o.depth));
            }
            return nb::tuple(out);
          },
          "Shapes that overlapped at the start: (geom_a, geom_b, depth in m), worst first.")
      .def("__repr__", [](PySimulation& s) {
        if (s.busy) return std::string("<Simulation: a step runs>");
        return fmt::format("<Simulation of {}: {:.6g} s, dt {:g} s>", in_quotes(s.model.model.name()), s.sim.time(),
                           s.sim.dt());
      });
}

}  // namespace sarrus::python
