#include "sarrus/solvers/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus {

// Each is defined in the source of its solver.
SolverInfo cascade_entry();
SolverInfo ssn_entry();
SolverInfo ipm_entry();
SolverInfo admm2_entry();
SolverInfo admm_ncp_fp_entry();
SolverInfo admm_ncp_la_entry();
SolverInfo admm_ncp_sa_entry();
SolverInfo admm_ccp_entry();
SolverInfo admm_paper_entry();
SolverInfo admm_paper_ccp_entry();
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

std::string_view name_of(SolveStatus status) {
  constexpr std::string_view names[] = {"converged", "max_iterations", "stalled", "infeasible", "non_finite"};
  return names[static_cast<std::size_t>(status)];
}

const std::vector<SolverInfo>& solver_registry() {
  static const std::vector<SolverInfo> registry = {
      cascade_entry(),
      ssn_entry(),
      ipm_entry(),
      admm2_entry(),
      admm_ncp_fp_entry(),
      admm_ncp_la_entry(),
      admm_ncp_sa_entry(),
      admm_ccp_entry(),
      admm_paper_entry(),
      admm_paper_ccp_entry(),
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
