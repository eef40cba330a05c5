// State, residuals and energies: what changes with time, and what is said of it.
#include <fmt/format.h>

#include "bindings.h"

namespace sarrus::python {

nb::object state_object(State state) { return nb::cast(std::move(state)); }

State& state_of(nb::handle object) {
  State* state = nullptr;
  if (!nb::try_cast<State*>(object, state) || state == nullptr) {
    throw InputError("state", "is no sarrus.State; take one from Simulation.state or Model.initial_state()");
  }
  return *state;
}

namespace {

nb::object part(nb::handle self, int which) {
  State& s = nb::cast<State&>(self);
  const std::size_t n = s.X_WB.size();
  switch (which) {
    case 0:
      return view_of<double>(n > 0 ? s.X_WB[0].p.data() : nullptr, {n, 3}, {kPoseStride, 1}, self);
    case 1:
      return view_of<double>(n > 0 ? s.X_WB[0].q.coeffs().data() : nullptr, {n, 4}, {kPoseStride, 1}, self);
    case 2:
      return view_of<double>(n > 0 ? s.twist[0].data() : nullptr, {n, 6}, {6, 1}, self);
    default:
      return view_of<double>(s.q.data(), {s.q.size()}, {1}, self);
  }
}

}  // namespace

void bind_state(nb::module_& m) {
  nb::class_<State>(m, "State",
                    "What changes with time, a copy: its arrays may be written. Assign it to Simulation.state.")
      .def_rw("time", &State::time, "Time, s.")
      .def_prop_ro(
          "position", [](nb::handle s) { return part(s, 0); }, "(nbody, 3) centres of mass, world, m.")
      .def_prop_ro(
          "quaternion_xyzw", [](nb::handle s) { return part(s, 1); }, "(nbody, 4) orientations, x y z w.")
      .def_prop_ro(
          "twist", [](nb::handle s) { return part(s, 2); },
          "(nbody, 6) velocity of the centre of mass, m/s, and angular velocity, rad/s, world axes.")
      .def_prop_ro(
          "q", [](nb::handle s) { return part(s, 3); }, "(nq,) joint coordinates, m or rad, turns counted.")
      .def_prop_ro("hash", &State::hash, "Over every bit of the state.")
      .def(
          "copy", [](const State& s) { return s; }, "A state of its own.")
      .def("__copy__", [](const State& s) { return s; })
      .def(
          "__deepcopy__", [](const State& s, nb::handle) { return s; }, "memo"_a)
      .def("__repr__",
           [](const State& s) { return fmt::format("<State at {:.6g} s: {} bodies>", s.time, s.X_WB.size()); });

  nb::class_<Energy>(m, "Energy", "Energies, J.")
      .def_ro("kinetic", &Energy::kinetic, "Of bodies and armatures, J.")
      .def_ro("potential", &Energy::potential, "Of gravity (0 at z = 0) and joint springs, J.")
      .def_prop_ro("total", &Energy::total, "Their sum, J.")
      .def("__repr__", [](const Energy& e) {
        return fmt::format("<Energy: kinetic {:.6g} J, potential {:.6g} J>", e.kinetic, e.potential);
      });

  nb::class_<EnergyFlow>(m, "EnergyFlow", "Energy that entered the system by cause, J; losses are negative.")
      .def_ro("change", &EnergyFlow::change, "Of kinetic and potential energy.")
      .def_ro("drives", &EnergyFlow::drives, "By drives and joint forces.")
      .def_ro("external", &EnergyFlow::external, "By wrenches and drags.")
      .def_ro("friction", &EnergyFlow::friction, "By friction of contacts and joints.")
      .def_ro("impacts", &EnergyFlow::impacts, "By normal impulses of contacts and limits.")
      .def_ro("damping", &EnergyFlow::damping, "By dampers and compliant rows.")
      .def_ro("unaccounted", &EnergyFlow::unaccounted, "What is left: the error of the scheme.")
      .def_prop_ro("work_in", &EnergyFlow::work_in, "drives + external.")
      .def_prop_ro("dissipated", &EnergyFlow::dissipated, "-(friction + impacts + damping).")
      .def("__repr__", [](const EnergyFlow& e) {
        return fmt::format("<EnergyFlow: work in {:.6g} J, dissipated {:.6g} J, unaccounted {:.3g} J>", e.work_in(),
                           e.dissipated(), e.unaccounted);
      });

  nb::class_<Residuals>(m, "Residuals", "What the judge says of an answer (docs/theory/judge.md).")
      .def_prop_ro(
          "error", [](const Residuals& r) { return r.error(); }, "What tolerances are compared with; no unit.")
      .def(
          "error_of",
          [](const Residuals& r, const std::string& law, const std::string& criterion) {
            const Law l = law == "ncp"   ? Law::ncp
                          : law == "ccp" ? Law::ccp
                          : law == "box"
                              ? Law::box
                              : throw InputError("law", fmt::format("'{}' is unknown; give ncp, ccp or box", law));
            return r.error(l, criterion_from_name(criterion));
          },
          "law"_a = "ncp", "criterion"_a = "energy",
          "The error by a law (ncp, ccp, box) and criterion (energy, absolute, papers).")
      .def_ro("primal", &Residuals::primal, "|lambda - P_K(lambda)|, N s.")
      .def_ro("dual", &Residuals::dual, "|v - P_K*(v)|, m/s.")
      .def_ro("complementarity", &Residuals::complementarity, "J.")
      .def_ro("natural_map", &Residuals::natural_map, "NCP, raw SI units.")
      .def_ro("natural_map_ccp", &Residuals::natural_map_ccp, "CCP, raw SI units.")
      .def_ro("natural_map_box", &Residuals::natural_map_box, "Box friction, raw SI units.")
      .def_ro("equations", &Residuals::equations, "Of motion, N s.")
      .def_ro("joint_velocity", &Residuals::joint_velocity, "Of bilateral rows, m/s or rad/s.")
      .def_ro("finite", &Residuals::finite, "False: some number was not; the rest is meaningless.")
      .def("__repr__", [](const Residuals& r) {
        return fmt::format("<Residuals: error {:.2e}, natural map {:.2e}>", r.error(), r.natural_map);
      });
}

}  // namespace sarrus::python
