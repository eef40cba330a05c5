// The papers' form of ADMM against the printed algorithm in dense algebra, and its own stop against the judge.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "sarrus/math/cones.h"
#include "solvers/problem_surgery.h"
#include "support/dense.h"

namespace sarrus::admm_paper_test {
namespace {

using testing::Answer;
using testing::solve;

enum Rule : int { fixed, linear };

// Tsounis et al., Alg. 6, from zero impulses: every line of it and nothing else.
struct Printed {
  int iterations = 0;
  VecX y;
  double primal = 0, dual = 0, complementarity = 0;
};

Printed printed(const ConstraintProblem& p, bool ncp, Rule rule, double eta, double rho, double tolerance, int limit) {
  const MatX D = p.dense_D_plus_R();
  Printed out;
  VecX x = VecX::Zero(p.rows());
  VecX z = VecX::Zero(p.rows());
  out.y = x;
  for (int k = 1; k <= limit; ++k) {
    VecX s = VecX::Zero(p.rows());
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind == BlockKind::contact && ncp) s[b.row + 2] = de_saxce(z.segment<3>(b.row), b.mu);
    }
    const VecX x_old = x;
    const VecX y_old = out.y;
    const MatX H = D + (eta + rho) * MatX::Identity(p.rows(), p.rows());
    x = -test::solve_spd(H, p.v_free + s - eta * x_old - rho * y_old - z);
    const VecX point = x - z / rho;
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind == BlockKind::contact) {
        out.y.segment<3>(b.row) = project_cone(point.segment<3>(b.row), b.mu);
      } else if (b.kind == BlockKind::limit) {
        out.y.segment(b.row, b.rows) = point.segment(b.row, b.rows).cwiseMax(0.0);
      } else {
        out.y.segment(b.row, b.rows) = point.segment(b.row, b.rows);
      }
    }
    z -= rho * (x - out.y);
    out.iterations = k;
    out.primal = (x - out.y).cwiseAbs().maxCoeff();
    out.dual = (eta * (x - x_old) + rho * (out.y - y_old)).cwiseAbs().maxCoeff();
    out.complementarity = 0;
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind != BlockKind::contact) continue;
      out.complementarity = std::max(out.complementarity, std::abs(x.segment<3>(b.row).dot(z.segment<3>(b.row))));
    }
    if (std::max({out.primal, out.dual, out.complementarity}) < tolerance) break;
    if (rule == linear && out.primal >= 10 * out.dual) {
      rho *= 1.5;
    } else if (rule == linear && out.dual >= 10 * out.primal) {
      rho /= 1.5;
    }
  }
  return out;
}

TEST(AdmmPaper, IsThePrintedAlgorithm) {
  struct Case {
    const char* id;
    bool ncp;
    Rule rule;
    double eta;
  };
  for (const char* family : {"fourbar_chain", "stewart", "ring20"}) {
    const ConstraintProblem p = problem_family(family).make(2);
    for (const Case& c : {Case{"admm-paper", true, linear, 1e-6}, Case{"admm-paper", true, fixed, 1e-6},
                          Case{"admm-paper-ccp", false, linear, 1e-9}}) {
      // Without its proximal term the convex form needs D alone to be regular: here it is not.
      const Printed expected = printed(p, c.ncp, c.rule, c.eta, 1e-2, 1e-6, 400);
      const Answer a = solve(p, c.id, 1e-6,
                             {{"rule", c.rule}, {"rho0", 1e-2}, {"eta", c.eta}, {"max_iterations", 400}, {"dense", 1}});
      EXPECT_EQ(a.report.iterations, expected.iterations) << c.id << ", " << family;
      const VecX l = Eigen::Map<const VecX>(a.lambda.data(), p.rows());
      if (a.report.status == SolveStatus::max_iterations) continue;  // the best judged iterate, not the last
      EXPECT_LT((l - expected.y).norm(), 1e-7 * (1 + expected.y.norm())) << c.id << ", " << family;
    }
  }
}

// Ten tonnes on a kilogram: the printed test is met, the judge does not confirm it, and the status says so.
TEST(AdmmPaper, ItsOwnTestIsNoVerdict) {
  int stalled = 0;
  for (const char* family : {"stack15_light_resting", "stack15_light_sliding", "fourbar_chain", "ring20"}) {
    const ConstraintProblem p = problem_family(family).make(1);
    const Answer a = solve(p, "admm-paper", 1e-9);
    EXPECT_EQ(a.report.status == SolveStatus::converged, a.judged.error(Law::ncp) <= 1e-9) << family;
    stalled += a.report.status == SolveStatus::stalled;
  }
  EXPECT_GT(stalled, 0);
}

}  // namespace
}  // namespace sarrus::admm_paper_test
