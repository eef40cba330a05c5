// Drumwright's compliant bilateral constraints: one linear solve (docs/theory/solvers.md §10.1, [D]).
//
//   (D + R) lambda = -v_f,   R = (h^2 K + h B)^-1,   v* = (h K + B)^-1 K phi_0
// on joints and unbounded soft rows: an implicit Euler step of the springs K (N/m) and dampers B (N s/m). Other rows
// get no impulse; if the judge does not accept that (NCP), the status is infeasible: the method knows no inequalities.
// R and v* are part of the problem already. R = 0 (rigid, perhaps redundant rows) works too (bilateral_reduction.h).
#include <cmath>

#include "sarrus/solvers/bilateral_reduction.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct DrumBilateralParameters {
  double shift = 1e-10;    // of the diagonal, where rigid rows are redundant
  int max_iterations = 6;  // passes of refinement; without redundant rigid rows one is exact
};

class DrumBilateral final : public Solver {
 public:
  explicit DrumBilateral(const DrumBilateralParameters& par) {
    reduction_.shift = par.shift;
    reduction_.max_passes = par.max_iterations;
  }
  SolveReport solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) override;
  void reset() override {}

 private:
  IterateKeeper keeper_{Law::ncp};
  Mlcp mlcp_;
  BilateralReduction reduction_;
};

SolveReport DrumBilateral::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  if (keeper_.settle(p, lambda, report)) return report;
  mlcp_.load(p, lambda, true);
  mlcp_.x.setZero();
  reduction_.bilateral.clear();
  reduction_.others.clear();
  const int bilateral_rows = p.rows_of(BlockKind::joint) + p.rows_of(BlockKind::soft);
  for (int i = 0; i < bilateral_rows; ++i) {
    if (std::isinf(mlcp_.lower[i]) && std::isinf(mlcp_.upper[i])) reduction_.bilateral.push_back(i);
  }
  const bool equations_only = static_cast<int>(reduction_.bilateral.size()) == p.rows();
  if (reduction_.reduce(mlcp_)) reduction_.recover(mlcp_);
  report.iterations = 1;
  report.factorisations = reduction_.factorisations();
  if (keeper_.consider(p, goal, view(mlcp_.x), lambda, report)) return report;
  if (!report.residuals.finite) {
    report.status = SolveStatus::non_finite;
    mlcp_.x.setZero();
    keeper_.consider(p, -1.0, view(mlcp_.x), lambda, report);
    return report;
  }
  report.status = equations_only ? SolveStatus::stalled : SolveStatus::infeasible;
  return report;
}

}  // namespace

SolverInfo drum_bilateral_entry() {
  using P = DrumBilateralParameters;
  const ParameterList<P> list = {
      {"shift", "added to the diagonal, relative to it, if rigid rows are redundant", 1e-14, 1e-2, &P::shift},
      {"max_iterations", "passes of refinement if rigid rows are redundant", 1, 1e9, &P::max_iterations},
  };
  return solver_entry<DrumBilateral>(
      "drum-bilateral", "compliant joints and springs by one linear solve; no inequalities", Law::ncp, list);
}

}  // namespace sarrus
