#include "sarrus/solvers/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/solvers/admm.h"
#include "sarrus/solvers/admm2.h"
#include "sarrus/solvers/cascade.h"
#include "sarrus/solvers/interior_point.h"
#include "sarrus/solvers/ssn.h"

namespace sarrus {

// Each is defined in the source of its solver.
SolverInfo pgs_ccp_entry();
SolverInfo pgs_ccp_ds_entry();
SolverInfo pgs_ncp_entry();
SolverInfo nbgs_entry();
SolverInfo nbgs_exact_entry();
SolverInfo raisim_entry();
SolverInfo raisim_ds_entry();
SolverInfo raisim_ds_es_entry();
SolverInfo prox_entry();
SolverInfo sap_entry();
SolverInfo apgd_entry();
SolverInfo bpp_entry();
SolverInfo pgs_box_entry();
SolverInfo pgs_sm_entry();
SolverInfo spook_entry();
SolverInfo drum_bilateral_entry();
SolverInfo drum_unilateral_entry();
SolverInfo drum_qcqp_entry();

const std::vector<SolverInfo>& solver_registry() {
  static const std::vector<SolverInfo> registry = {
      {"cascade", "semismooth Newton, interior point, ADMM in turn: exact NCP in a few factorisations (default)",
       Law::ncp, cascade_parameter_info(), [](const SolverParameters& p) { return make_cascade(p); }},
      {"ssn", "semismooth Newton on the NCP; needs a good warm start", Law::ncp, ssn_parameter_info(),
       [](const SolverParameters& p) { return make_ssn(p); }},
      {"ipm", "interior point on the NCP, polished by semismooth Newton", Law::ncp, interior_point_parameter_info(),
       [](const SolverParameters& p) { return make_interior_point(p); }},
      {"admm2", "ADMM on the NCP, joints unsplit, balanced penalty, over-relaxed", Law::ncp, admm2_parameter_info(),
       [](const SolverParameters& p) { return make_admm2(p); }},
      {"admm-ncp-fp", "ADMM on the NCP, fixed penalty", Law::ncp, admm_parameter_info(),
       [](const SolverParameters& p) { return make_admm(PenaltyRule::fixed, false, p); }},
      {"admm-ncp-la", "ADMM on the NCP, penalty adapted by a constant factor", Law::ncp, admm_parameter_info(),
       [](const SolverParameters& p) { return make_admm(PenaltyRule::linear, false, p); }},
      {"admm-ncp-sa", "ADMM on the NCP, penalty adapted by the spectrum of D", Law::ncp, admm_parameter_info(),
       [](const SolverParameters& p) { return make_admm(PenaltyRule::spectral, false, p); }},
      {"admm-ccp", "ADMM on the convex relaxation (CCP), spectral penalty; sliding bodies lift by dt mu v", Law::ccp,
       admm_parameter_info(), [](const SolverParameters& p) { return make_admm(PenaltyRule::spectral, true, p); }},
      pgs_ccp_entry(),
      pgs_ccp_ds_entry(),
      pgs_ncp_entry(),
      nbgs_entry(),
      nbgs_exact_entry(),
      raisim_entry(),
      raisim_ds_entry(),
      raisim_ds_es_entry(),
      prox_entry(),
      sap_entry(),
      apgd_entry(),
      bpp_entry(),
      pgs_box_entry(),
      pgs_sm_entry(),
      spook_entry(),
      drum_bilateral_entry(),
      drum_unilateral_entry(),
      drum_qcqp_entry(),
  };
  return registry;
}

const SolverInfo& solver_info(std::string_view id) {
  std::vector<std::string> known;
  for (const SolverInfo& s : solver_registry()) {
    if (s.id == id) return s;
    known.emplace_back(s.id);
  }
  throw InputError(fmt::format("solver '{}'", id), fmt::format("unknown; use one of {}", fmt::join(known, ", ")));
}

std::unique_ptr<Solver> make_solver(std::string_view id, const SolverParameters& parameters) {
  const SolverInfo& s = solver_info(id);
  for (const auto& [name, value] : parameters) {
    std::vector<std::string> known;
    for (const ParameterInfo& p : s.parameters) known.push_back(p.name);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = nearest_name(name, known);
      throw InputError(fmt::format("solver '{}', parameter '{}'", id, name),
                       near.empty() ? fmt::format("unknown; use one of {}", fmt::join(known, ", "))
                                    : fmt::format("unknown; did you mean '{}'?", near));
    }
    if (!std::isfinite(value)) {
      throw InputError(fmt::format("solver '{}', parameter '{}'", id, name),
                       fmt::format("is {}; give a finite number", value));
    }
  }
  return s.make(parameters);
}

}  // namespace sarrus
