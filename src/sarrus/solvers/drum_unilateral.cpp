// Drumwright's compliant unilateral constraints without friction (docs/theory/solvers.md §10.2, [D]).
//
//   literal = 0:  0 <= lambda  perp  (D + R) lambda + v_f >= 0    on limits and contact normals, joints and soft rows
//                 beside them; block pivoting (block_pivoting.h)
//   literal = 1:  min 1/2 |lambda|^2   s.t.  lambda >= 0,  (1 + R^-1 D) lambda >= -R^-1 v_f
//                 the paper's QP, R^-1 = h^2 K + h B; joints and soft rows eliminated (bilateral_reduction.h)
// lambda are impulses (N s). The QP is another law as soon as rows are coupled: it may push where nothing is
// compressed. It is solved through its dual, an LCP: with G = [R + D; 1] (rows scaled to length 1) and r = [-v_f; 0]
// likewise,
//   lambda = G'y,   0 <= y  perp  G G' y - r >= 0.
// Friction impulses are zero. The judge measures by Coulomb's law (NCP): the status is converged only if it agrees,
// else stalled when the method solved its own problem.
#include <algorithm>
#include <limits>

#include "sarrus/solvers/bilateral_reduction.h"
#include "sarrus/solvers/block_pivoting.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct DrumUnilateralParameters {
  bool literal = false;    // the paper's QP instead of the complementarity law
  int p_max = 10;          // as for bpp
  int max_iterations = 0;  // pivots, 0: no limit
};

class DrumUnilateral final : public Solver {
 public:
  explicit DrumUnilateral(const DrumUnilateralParameters& par) : par_(par) {}
  SolveReport solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) override;
  void reset() override {}

 private:
  PivotResult solve_law();
  PivotResult solve_literal(const ConstraintProblem& p);
  void build_dual();

  DrumUnilateralParameters par_;
  IterateKeeper keeper_{Law::ncp};
  Mlcp mlcp_, dual_;
  BlockPivoting pivoting_;
  BilateralReduction reduction_;
  GrowingVector candidate_, scale_;
};

PivotResult DrumUnilateral::solve_law() {
  mlcp_.hold_friction();
  return pivoting_.solve(mlcp_, or_unlimited(par_.max_iterations), par_.p_max);
}

// G G' and -r: rows of R + D first, then those of the identity.
void DrumUnilateral::build_dual() {
  const int n = reduction_.size();
  dual_.resize(2 * n);
  scale_.resize(n);
  const Eigen::Map<const MatX> S = reduction_.S();
  for (int i = 0; i < n; ++i) scale_[i] = 1.0 / std::max(1e-300, S.row(i).norm());
  for (int j = 0; j < n; ++j) {
    double* first = dual_.column(j);
    double* second = dual_.column(n + j);
    for (int i = 0; i < n; ++i) {
      first[i] = scale_[i] * scale_[j] * S.row(i).dot(S.row(j));
      first[n + i] = scale_[j] * S(j, i);
      second[i] = scale_[i] * S(i, j);
      second[n + i] = i == j ? 1.0 : 0.0;
    }
  }
  dual_.b.setZero();
  dual_.b.head(n) = scale_.cwiseProduct(reduction_.v());
  dual_.diagonal.setOnes();
  dual_.lower.setZero();
  dual_.upper.setConstant(std::numeric_limits<double>::infinity());
}

PivotResult DrumUnilateral::solve_literal(const ConstraintProblem& p) {
  reduction_.bilateral.clear();
  reduction_.others.clear();
  for (const ConstraintBlock& b : p.blocks) {
    const bool bilateral = b.kind == BlockKind::joint || b.kind == BlockKind::soft;
    const int first = b.kind == BlockKind::contact ? b.row + 2 : b.row;
    for (int i = first; i < b.row + b.rows; ++i) (bilateral ? reduction_.bilateral : reduction_.others).push_back(i);
  }
  PivotResult out;
  out.failed = !reduction_.reduce(mlcp_);
  if (out.failed) return out;
  if (reduction_.size() > 0) {
    build_dual();
    out = pivoting_.solve(dual_, or_unlimited(par_.max_iterations), par_.p_max);
    const int n = reduction_.size();
    for (int i = 0; i < n; ++i) {
      double lambda = dual_.x[n + i];
      for (int j = 0; j < n; ++j) lambda += scale_[j] * reduction_.S(j, i) * dual_.x[j];
      mlcp_.x[reduction_.others[static_cast<std::size_t>(i)]] = lambda;
    }
  } else {
    out.solved = true;
  }
  reduction_.recover(mlcp_);
  out.factorisations += reduction_.factorisations();
  return out;
}

SolveReport DrumUnilateral::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  if (keeper_.settle(p, lambda, report)) return report;
  mlcp_.load(p, lambda, true);
  for (const Mlcp::Contact& c : mlcp_.contacts) mlcp_.x.segment<2>(c.row).setZero();
  if (par_.literal) mlcp_.x.setZero();
  pivoting_.begin();
  const PivotResult r = par_.literal ? solve_literal(p) : solve_law();
  report.iterations = r.pivots;
  report.factorisations = r.factorisations;
  if (r.failed || !mlcp_.x.allFinite()) mlcp_.x.setZero();
  mlcp_.project(candidate_);
  // The warm start is no candidate: it need not obey the method's law.
  if (keeper_.consider(p, goal, view(candidate_), lambda, report)) return report;
  report.status = r.failed ? SolveStatus::non_finite : r.solved ? SolveStatus::stalled : SolveStatus::max_iterations;
  return report;
}

}  // namespace

SolverInfo drum_unilateral_entry() {
  using P = DrumUnilateralParameters;
  const ParameterList<P> list = {
      {"literal", "the paper's minimum-norm QP instead of the complementarity law, 0 or 1", 0, 1, &P::literal},
      {"p_max", "block exchanges without a new minimum of wrong rows before single ones, -1: single ones only", -1, 1e9,
       &P::p_max},
      {"max_iterations", "pivots, 0: no limit", 0, 1e9, &P::max_iterations},
  };
  return solver_entry<DrumUnilateral>("drum-unilateral", "compliant limits and frictionless contacts by block pivoting",
                                      Law::ncp, list);
}

}  // namespace sarrus
