// What the sources of the module `sarrus._core` share: errors, arrays, and the simulation with what Python needs
// besides.
//
// Python objects own C++ values; arrays are either views that keep their owner alive, or copies. All numbers of users
// pass through array_of() or number(), which name what is wrong with them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/model/model.h"
#include "sarrus/recording/run_sink.h"
#include "sarrus/recording/run_summary.h"
#include "sarrus/step/simulation.h"

namespace sarrus::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_model(nb::module_& m);
void bind_problem(nb::module_& m);
void bind_state(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_recording(nb::module_& m);
void bind_inverse(nb::module_& m);
void bind_batch(nb::module_& m);

// --- arrays --------------------------------------------------------------------------------------------------------

// Anything that NumPy takes for an array of doubles, contiguous, of this shape (-1: any length), without NaN unless
// `nan` and without infinities. Throws InputError that names `what`.
using Doubles = nb::ndarray<nb::numpy, const double, nb::c_contig>;
// An option given by its name. Throws InputError that lists the names.
template <class T>
T choice(const char* option, const std::string& given, std::initializer_list<std::pair<const char*, T>> choices) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (given == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw InputError(option, fmt::format("{} is unknown; give one of {}", in_quotes(given), known));
}

// As numpy.ndim; throws InputError for ragged lists.
std::size_t dimensions_of(nb::handle values, const std::string& what);
Doubles array_of(nb::handle values, const std::string& what, std::initializer_list<std::int64_t> shape,
                 bool nan = false);
double number(nb::handle value, const std::string& what, bool nan = false);

// A view of memory of `owner`, strides in doubles; read-only for const T.
template <class T>
nb::object view_of(T* data, std::initializer_list<std::size_t> shape, std::initializer_list<std::int64_t> strides,
                   nb::handle owner) {
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.begin(), owner, strides.begin()));
}

// A new array.
nb::object array_from(std::vector<double> values, std::initializer_list<std::size_t> shape);
inline nb::object array_from(std::vector<double> values) {
  const std::size_t n = values.size();
  return array_from(std::move(values), {n});
}
nb::object vector_of(const Vec3& v);
nb::object quaternion_of(const Quat& q);  // x, y, z, w
nb::object matrix_of(const Eigen::Ref<const MatX>& m);

// A pose is eight doubles: x y z - , quaternion x y z w. Views rely on it.
inline constexpr std::int64_t kPoseStride = sizeof(Pose) / sizeof(double);
static_assert(sizeof(Pose) == 64 && offsetof(Pose, p) == 0 && offsetof(Pose, q) == 32);
static_assert(sizeof(Vec6) == 48);

// --- Python's side -------------------------------------------------------------------------------------------------

// An attribute of a module of the package, looked up once.
nb::object& python(const char* module, const char* name);
// sarrus._named: numbers that are found by name or index; elements likewise.
nb::object named_array(nb::object names, nb::object values, const char* kind);
nb::object named_elements(nb::object names, nb::object elements, const char* kind);

// --- what is bound -------------------------------------------------------------------------------------------------

struct PyModel {
  Model model;
  std::string import_text, import_json;  // what the reader of a robot's file told
};

// Index of a scalar by the name of a coordinate, combination or drive. Throws InputError with the nearest name.
int scalar_named(const Model& model, const std::string& name);
nb::object scalar_names(const Model& model);

// A report that outlives its step, or stands for several.
struct PyReport {
  StepReport worst;
  std::string message, stage, locked_joint;
  std::array<std::int64_t, 5> counts{};
  std::int64_t steps = 0;

  void add(const StepReport& r);
};

struct Recorder;

// Options of simulations as keyword arguments; each wants its name among those of the binding.
SimulationOptions options_of(double dt, const std::string& solver, const SolverParameters& parameters, double tolerance,
                             const std::optional<std::string>& integrator, const std::string& fallback,
                             const std::string& criterion, double acceptable, int budget, bool warm_start,
                             double margin);

struct PySimulation {
  PySimulation(const PyModel& model, SimulationOptions options);
  PySimulation(const PyModel& model, Simulation simulation);

  PyModel model;
  Simulation sim;
  std::int64_t steps = 0;  // taken since it was made
  std::atomic<bool> busy = false;
  std::vector<int> drives;  // scalars with a drive
  std::unordered_map<std::string, int> known;
  std::vector<Recorder*> recorders;

  // Throws Busy while a step runs in another thread.
  Simulation& idle();
  int scalar(const std::string& name);
};

// Thrown as sarrus.SimulationBusy.
struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Outputs of a part of a run: sinks that every step is shown to.
struct Recorder {
  Recorder(nb::object owner, std::string path, int every);
  ~Recorder();
  // Until no thread steps the simulation.
  void wait() const;
  void enter();
  void exit(bool keep);
  void step(const StepReport& report);
  PySimulation& simulation() const { return *simulation_; }

 private:
  nb::object owner_;
  PySimulation* simulation_;
  std::string path_;
  int every_;
  std::unique_ptr<RunSink> sink_;
  std::unique_ptr<RunSummary> summary_;
  std::int64_t index_ = 0;
};

// A constraint problem by itself.
nb::object problem_object(const ConstraintProblem& problem, std::vector<double> warm = {},
                          std::vector<double> solution = {}, std::string kind = "sarrus problem");
nb::object simulation_object(const PyModel& model, Simulation simulation);
nb::object state_object(State state);
State& state_of(nb::handle object);

}  // namespace sarrus::python
