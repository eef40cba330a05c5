#include "sarrus/solvers/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/solvers/admm.h"
#include "sarrus/solvers/admm2.h"
#include "sarrus/solvers/apgd.h"
#include "sarrus/solvers/bpp.h"
#include "sarrus/solvers/cascade.h"
#include "sarrus/solvers/drum_bilateral.h"
#include "sarrus/solvers/drum_qcqp.h"
#include "sarrus/solvers/drum_unilateral.h"
#include "sarrus/solvers/interior_point.h"
#include "sarrus/solvers/nbgs.h"
#include "sarrus/solvers/pgs_box.h"
#include "sarrus/solvers/pgs_ccp.h"
#include "sarrus/solvers/pgs_ncp.h"
#include "sarrus/solvers/pgs_sm.h"
#include "sarrus/solvers/prox.h"
#include "sarrus/solvers/raisim.h"
#include "sarrus/solvers/sap.h"
#include "sarrus/solvers/spook.h"
#include "sarrus/solvers/ssn.h"

namespace sarrus {

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
      {"pgs-ccp", "Gauss-Seidel, projected gradient step per contact, on the convex relaxation (CCP)", Law::ccp,
       pgs_ccp_parameter_info(), [](const SolverParameters& p) { return make_pgs_ccp(false, p); }},
      {"pgs-ccp-ds", "the same with the De Saxce term: NCP", Law::ncp, pgs_ccp_parameter_info(),
       [](const SolverParameters& p) { return make_pgs_ccp(true, p); }},
      {"pgs-ncp", "Gauss-Seidel on the NCP, normal impulse and friction disk in turn", Law::ncp,
       pgs_ncp_parameter_info(), [](const SolverParameters& p) { return make_pgs_ncp(p); }},
      {"nbgs", "Gauss-Seidel, least energy per contact by a quartic; not the NCP where directions couple", Law::ncp,
       nbgs_parameter_info(), [](const SolverParameters& p) { return make_nbgs(false, p); }},
      {"nbgs-exact", "Gauss-Seidel, the NCP of each contact solved exactly by a quartic", Law::ncp,
       nbgs_parameter_info(), [](const SolverParameters& p) { return make_nbgs(true, p); }},
      {"raisim", "Gauss-Seidel, least energy per contact by bisection; fixed points of nbgs", Law::ncp,
       raisim_parameter_info(RaisimVariant::plain),
       [](const SolverParameters& p) { return make_raisim(RaisimVariant::plain, p); }},
      {"raisim-ds", "raisim with the De Saxce term: NCP", Law::ncp, raisim_parameter_info(RaisimVariant::de_saxce),
       [](const SolverParameters& p) { return make_raisim(RaisimVariant::de_saxce, p); }},
      {"raisim-ds-es", "raisim-ds, ended early when the objective stops changing", Law::ncp,
       raisim_parameter_info(RaisimVariant::early_stop),
       [](const SolverParameters& p) { return make_raisim(RaisimVariant::early_stop, p); }},
      {"prox", "Gauss-Seidel proximal iteration (SORprox) on the NCP with adapted steps", Law::ncp,
       prox_parameter_info(), [](const SolverParameters& p) { return make_prox(p); }},
      {"sap", "Newton on the convex problem in velocities (CCP); made for compliant contact, rigid rows by rounds",
       Law::ccp, sap_parameter_info(), [](const SolverParameters& p) { return make_sap(p); }},
      {"apgd", "accelerated projected gradient on the CCP, without factorisations", Law::ccp, apgd_parameter_info(),
       [](const SolverParameters& p) { return make_apgd(p); }},
      {"bpp", "block principal pivoting on the MLCP with box friction; the reference of its kind", Law::box,
       bpp_parameter_info(), [](const SolverParameters& p) { return make_bpp(p); }},
      {"pgs-box", "projected Gauss-Seidel on the MLCP with box friction", Law::box, pgs_box_parameter_info(),
       [](const SolverParameters& p) { return make_pgs_box(p); }},
      {"pgs-sm", "projected Gauss-Seidel with subspace minimisation on the MLCP with box friction", Law::box,
       pgs_sm_parameter_info(), [](const SolverParameters& p) { return make_pgs_sm(p); }},
      {"spook", "direct solve without friction and friction sweeps in turn, box friction (often too small)", Law::box,
       spook_parameter_info(), [](const SolverParameters& p) { return make_spook(p); }},
      {"drum-bilateral", "compliant joints and springs by one linear solve; no inequalities", Law::ncp,
       drum_bilateral_parameter_info(), [](const SolverParameters& p) { return make_drum_bilateral(p); }},
      {"drum-unilateral", "compliant limits and frictionless contacts by block pivoting", Law::ncp,
       drum_unilateral_parameter_info(), [](const SolverParameters& p) { return make_drum_unilateral(p); }},
      {"drum-qcqp", "compliant contact with friction as one QCQP; not Coulomb's law, needs R > 0", Law::ncp,
       drum_qcqp_parameter_info(), [](const SolverParameters& p) { return make_drum_qcqp(p); }},
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
