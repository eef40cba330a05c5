// Inverse dynamics: efforts and impulses behind a motion (docs/inverse.md).
#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <utility>

#include "bindings.h"
#include "sarrus/inverse/inverse_dynamics.h"
#include "sarrus/math/text.h"

namespace sarrus::python {
namespace {

struct PyInverse {
  PyModel model;
  InverseDynamics inverse;
  // One solve at a time: its workspace holds the result until it is copied.
  std::unique_ptr<std::mutex> solving = std::make_unique<std::mutex>();
};

struct PyInverseResult {
  InverseResult r;
  nb::object names;
};

void construct(PyInverse* self, const PyModel& m, double dt, std::optional<std::string> integrator,
               const std::string& law, const std::string& method, bool minimum_torque, bool all_actuated, double rho,
               double tolerance, double velocity_tolerance) {
  InverseOptions o;
  o.step.dt = dt;
  if (integrator) o.step.integrator = integrator_from_name(*integrator);
  o.contact.law = choice<Law>("law", law, {{"ncp", Law::ncp}, {"ccp", Law::ccp}});
  o.contact.rho = rho;
  o.contact.tolerance = tolerance;
  o.method = choice<InverseMethod>("method", method,
                                   {{"proximal", InverseMethod::proximal}, {"analytical", InverseMethod::analytical}});
  o.minimum_torque = minimum_torque;
  o.all_actuated = all_actuated;
  o.velocity_tolerance = velocity_tolerance;
  o.step = complete_options(o.step, m.model);
  new (self) PyInverse{m, InverseDynamics(m.model, o)};
}

PyInverseResult solve(PyInverse& self, nb::handle state, nb::handle u_ref) {
  const State s = state_of(state);
  const Doubles u = array_of(u_ref, "u_ref", {self.model.model.body_count(), 6});
  std::vector<Vec6> twists(u.shape(0));
  for (std::size_t i = 0; i < twists.size(); ++i) twists[i] = Eigen::Map<const Vec6>(u.data() + 6 * i);
  InverseResult result;
  {
    const nb::gil_scoped_release release;
    const std::lock_guard alone(*self.solving);
    self.inverse.set_state(s);
    result = self.inverse.solve(twists);
  }
  return {std::move(result), scalar_names(self.model.model)};
}

}  // namespace

void bind_inverse(nb::module_& m) {
  nb::class_<PyInverseResult>(m, "InverseResult",
                              "Efforts and impulses that make the next step reach given velocities.")
      .def_prop_ro(
          "status",
          [](const PyInverseResult& r) {
            const std::string_view n = name_of(r.r.status);
            return nb::str(n.data(), n.size());
          },
          "'realised', 'underactuated', 'infeasible' or 'not_converged'.")
      .def_prop_ro(
          "effort", [](const PyInverseResult& r) { return named_array(r.names, array_from(r.r.effort), "coordinate"); },
          "(nq,) efforts of the actuated coordinates, N or N m, by name or index; 0 elsewhere.")
      .def_prop_ro(
          "impulses", [](const PyInverseResult& r) { return array_from(r.r.impulses); }, "(rows,) of the problem, N s.")
      .def_prop_ro(
          "unrealised", [](const PyInverseResult& r) { return r.r.unrealised; },
          "Largest component of the force that no actuator gives, N or N m.")
      .def_prop_ro(
          "largest_force", [](const PyInverseResult& r) { return r.r.largest_force; },
          "What it is compared with, N or N m.")
      .def_prop_ro(
          "contact_residual", [](const PyInverseResult& r) { return r.r.contact_residual; }, "Natural map, worst.")
      .def_prop_ro(
          "contacts", [](const PyInverseResult& r) { return r.r.contacts; }, "Number of contacts.")
      .def_prop_ro(
          "infeasible_rows", [](const PyInverseResult& r) { return r.r.infeasible_rows; },
          "Contacts and limits without an answer.")
      .def_prop_ro(
          "message", [](const PyInverseResult& r) { return r.r.message; },
          "Of what went wrong, the first one, by name.")
      .def("__repr__", [](const PyInverseResult& r) {
        return fmt::format("<InverseResult: {}, unrealised {:.3g}>", name_of(r.r.status), r.r.unrealised);
      });

  nb::class_<PyInverse>(m, "InverseDynamics",
                        "Impulses and drive efforts that make the next step reach given velocities.")
      .def("__init__", &construct, "model"_a, "dt"_a = 0.0, nb::kw_only(), "integrator"_a = nb::none(), "law"_a = "ncp",
           "method"_a = "proximal", "minimum_torque"_a = true, "all_actuated"_a = false,
           "rho"_a = ContactInverseOptions{}.rho, "tolerance"_a = ContactInverseOptions{}.tolerance,
           "velocity_tolerance"_a = InverseOptions{}.velocity_tolerance,
           "dt: s, 0: the model's. all_actuated: every coordinate counts as driven. Others: docs/inverse.md.")
      .def("solve", &solve, "state"_a, "u_ref"_a,
           "From a State to twists u_ref (nbody, 6) after the step: velocity of the centre of mass, m/s, and angular\n"
           "velocity, rad/s, world axes.");
}

}  // namespace sarrus::python
