// Accelerated ADMM against its equations in dense algebra, and what it is good for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sarrus/families/families.h"
#include "sarrus/math/cones.h"
#include "solvers/problem_surgery.h"
#include "support/dense.h"

namespace sarrus::admm_acceleration_test {
namespace {

using testing::Answer;
using testing::solve;

constexpr double kRho = 1.0;
constexpr double kEta = 1e-6;

// The iteration as written in admm.cpp, on contacts only, unscaled.
struct DenseAdmm {
  const ConstraintProblem& p;
  bool ncp, fast;
  MatX D = p.dense_D_plus_R();
  VecX x, y, z, y_last, z_last, y_hat, z_hat;
  double a = 1, c = std::numeric_limits<double>::infinity();
  int restarts = 0;
  double identity_error = 0;

  DenseAdmm(const ConstraintProblem& problem, bool with_gamma, bool accelerated)
      : p(problem), ncp(with_gamma), fast(accelerated) {
    x = y = z = y_last = z_last = y_hat = z_hat = VecX::Zero(p.rows());
  }
  void iterate() {
    VecX s = VecX::Zero(p.rows());
    for (const ConstraintBlock& b : p.blocks) {
      if (ncp) s[b.row + 2] = de_saxce(z_hat.segment<3>(b.row), b.mu);
    }
    const VecX x_old = x;
    const MatX H = D + (kEta + kRho) * MatX::Identity(p.rows(), p.rows());
    x = -test::solve_spd(H, p.v_free + s - kEta * x_old - kRho * y_hat - z_hat);
    for (const ConstraintBlock& b : p.blocks) {
      y.segment<3>(b.row) = project_cone(x.segment<3>(b.row) - z_hat.segment<3>(b.row) / kRho, b.mu);
    }
    z = z_hat - kRho * (x - y);
    // The dual residual is what is missing in the stationarity of x.
    const VecX dual = kEta * (x - x_old) + kRho * (y - y_hat);
    identity_error = std::max(identity_error, (dual + (D * x + p.v_free + s - z)).cwiseAbs().maxCoeff());
    const double combined = (z - z_hat).squaredNorm() / kRho + kRho * (y - y_hat).squaredNorm();
    if (!fast) {
      y_hat = y;
      z_hat = z;
    } else if (combined < 0.999 * c) {
      c = combined;
      const double next = (1 + std::sqrt(1 + 4 * a * a)) / 2;
      y_hat = y + (a - 1) / next * (y - y_last);
      z_hat = z + (a - 1) / next * (z - z_last);
      y_last = y;
      z_last = z;
      a = next;
    } else {
      ++restarts;
      c /= 0.999;
      a = 1;
      y_hat = y_last;
      z_hat = z_last;
    }
  }
};

// A run of k iterations returns iterate k if that is the best judged one so far. Iterates are compared to the digits
// that the node-graph path keeps.
TEST(AdmmAcceleration, FollowsItsEquations) {
  Vec6 u;
  u << 1, 0.3, -0.3, 0.1, 0.4, 2;
  const ConstraintProblem p = testing::box_on_plane(2.0, 0.5, 0.2, 0.8, u);
  for (const bool fast : {false, true}) {
    DenseAdmm reference(p, true, fast);
    JudgeWorkspace ws;
    int compared = 0;
    for (int k = 1; k <= 200; ++k) {
      reference.iterate();
      const Answer a = solve(p, "admm-ncp-fp", 1e-13,
                             {{"max_iterations", k}, {"scaling", 0}, {"split_joints", 1}, {"acceleration", fast}});
      const VecX l = Eigen::Map<const VecX>(a.lambda.data(), p.rows());
      const std::vector<double> expected(reference.y.begin(), reference.y.end());
      const Residuals r = judge(p, expected, ws);
      if (r.natural_map > 0.999 * a.judged.natural_map && r.natural_map < 1.001 * a.judged.natural_map) {
        ++compared;
        EXPECT_LT((l - reference.y).norm(), 1e-9 * (1 + reference.y.norm())) << k;
      }
      EXPECT_GT(1.001 * r.natural_map + 1e-12, a.judged.natural_map) << k << (fast ? ", fast" : ", plain");
    }
    EXPECT_GT(compared, 50);
    EXPECT_EQ(reference.restarts > 0, fast);
    EXPECT_LT(reference.identity_error, 1e-13);
  }
}

TEST(AdmmAcceleration, SameAnswersInFewerIterationsOfAFixedPenalty) {
  int plain_total = 0;
  int fast_total = 0;
  for (const char* family : {"fourbar_chain", "stewart", "ring20", "stack15_light_sliding", "stack15_light_resting"}) {
    ConstraintProblem p = problem_family(family).make(1);
    testing::make_compliant(p);
    const Answer plain = solve(p, "admm-ncp-fp", 1e-9, {{"max_iterations", 20000}});
    const Answer fast = solve(p, "admm-ncp-fp", 1e-9, {{"max_iterations", 20000}, {"acceleration", 1}});
    EXPECT_EQ(plain.report.status, SolveStatus::converged) << family;
    EXPECT_EQ(fast.report.status, SolveStatus::converged) << family;
    EXPECT_LT((plain.u - fast.u).cwiseAbs().maxCoeff(), 1e-6) << family;
    RecordProperty(family, std::to_string(plain.report.iterations) + " -> " + std::to_string(fast.report.iterations));
    plain_total += plain.report.iterations;
    fast_total += fast.report.iterations;
  }
  EXPECT_LT(3 * fast_total, plain_total);
}

TEST(AdmmAcceleration, ZeroIsTheDefault) {
  const ConstraintProblem p = problem_family("stewart").make(1);
  for (const std::string id : {"admm-ncp-fp", "admm-ncp-la", "admm-ncp-sa", "admm-ccp"}) {
    EXPECT_EQ(solve(p, id, 1e-9).lambda, solve(p, id, 1e-9, {{"acceleration", 0}}).lambda) << id;
    EXPECT_NE(solve(p, id, 1e-9).lambda, solve(p, id, 1e-9, {{"acceleration", 1}}).lambda) << id;
  }
}

}  // namespace
}  // namespace sarrus::admm_acceleration_test
