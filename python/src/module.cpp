// The module sarrus._core. What users import is the package around it (python/sarrus/__init__.py).
#include <fmt/format.h>

#include "bindings.h"
#include "sarrus/problem_files/problem_file.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::python {
namespace {

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& e) {
    const nb::object error = python("sarrus._errors", "InputError")(e.what(), e.element());
    PyErr_SetObject(error.type().ptr(), error.ptr());
  } catch (const Busy& e) {
    PyErr_SetString(python("sarrus._errors", "SimulationBusy").ptr(), e.what());
  }
}

nb::object solvers() {
  nb::dict out;
  for (const SolverInfo& s : solver_registry()) {
    nb::dict parameters;
    for (const ParameterInfo& p : s.parameters) parameters[p.name.c_str()] = p.default_value;
    out[nb::str(s.id.data(), s.id.size())] = parameters;
  }
  return out;
}

nb::object scenes() {
  nb::dict out;
  for (const SceneInfo& s : scene_registry()) {
    out[nb::str(s.name.data(), s.name.size())] = nb::str(s.summary.data(), s.summary.size());
  }
  return out;
}

}  // namespace

NB_MODULE(_core, m) {
  keep_hdf5_quiet();
  nb::register_exception_translator(translate);
  m.attr("__version__") = SARRUS_VERSION;
  m.def("solvers", &solvers, "The solvers by name, each with its parameters and their defaults.");
  m.def("scenes", &scenes, "The built-in scenes by name, each with a line that describes it.");
  bind_model(m);
  bind_problem(m);
  bind_state(m);
  bind_simulation(m);
  bind_recording(m);
  bind_inverse(m);
  bind_batch(m);
}

}  // namespace sarrus::python
