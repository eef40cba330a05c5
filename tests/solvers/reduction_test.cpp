// Elimination of the linear rows: the reduced matrix against dense algebra, whole solves against a solver without it,
// and what it leaves to the cascade.
#include "sarrus/solvers/reduction.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"

namespace sarrus {

struct ReductionProbe {
  // S of the soft rows and the others, before either are eliminated.
  static MatX S(Reduction& r, const ConstraintProblem& p, const LinearFactor& factor, std::span<const double> lambda) {
    Reduction::Shared shared;
    shared.resize(factor.llt().graph());
    EXPECT_TRUE(r.collect(p, factor, 0, lambda));
    EXPECT_TRUE(r.begin(shared, 100));
    r.build_S();
    const auto n = static_cast<Eigen::Index>(r.rows_.size());
    MatX S(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = i; j < n; ++j) S(i, j) = S(j, i) = r.S_[i * r.stride_ + j];
    }
    return S;
  }
  static std::vector<int> rows(const Reduction& r) {
    std::vector<int> rows;
    for (const auto& x : r.rows_) rows.push_back(x.row);
    return rows;
  }
};

}  // namespace sarrus

namespace sarrus::reduction_test {
namespace {

using testing::add_random_block;
using testing::fill_nodes;

// Bodies in a chain of hinges, closed to a loop if asked for; drives, limits and contacts on them. Mass ratio 100.
ConstraintProblem mechanism(std::mt19937& rng, bool loop, int contacts, bool doubled = false) {
  constexpr int kBodies = 6;
  std::normal_distribution<double> d;
  ConstraintProblem p;
  p.set_nodes(std::vector<int>(kBodies, 6));
  fill_nodes(p, rng);
  for (std::size_t i = 0; i < kBodies; ++i) {
    const double scale = std::pow(10.0, static_cast<double>(i % 3) - 1);
    for (int k = 0; k < 36; ++k) {
      p.mass[static_cast<std::size_t>(p.mass_offset[i] + k)] *= scale;
      p.mass_inverse[static_cast<std::size_t>(p.mass_offset[i] + k)] /= scale;
    }
  }
  const auto fill = [&](const ConstraintBlock& b) {
    for (int k = 0; k < b.nodes; ++k) {
      for (int r = 0; r < b.rows; ++r) {
        for (int c = 0; c < 6; ++c) p.jacobian_row(b, k, r)[c] = d(rng);
      }
    }
  };
  for (int i = 0; i + 1 < kBodies; ++i) {
    const ConstraintBlock b = p.add_block(BlockKind::joint, 5, std::vector<int>{i, i + 1});
    fill(b);
    if (!doubled) continue;
    const ConstraintBlock copy = p.add_block(BlockKind::joint, 5, std::vector<int>{i, i + 1});
    for (int k = 0; k < 2; ++k) {
      for (int r = 0; r < 5; ++r) std::copy_n(p.jacobian_row(b, k, r), 6, p.jacobian_row(copy, k, r));
    }
  }
  if (loop) fill(p.add_block(BlockKind::joint, 3, std::vector<int>{0, kBodies - 1}));
  for (int i = 0; i + 1 < kBodies; ++i) {
    const ConstraintBlock b = p.add_block(BlockKind::soft, 1, std::vector<int>{i, i + 1});
    fill(b);
    p.R[static_cast<std::size_t>(b.row)] = 0.3;
    p.bias[static_cast<std::size_t>(b.row)] = d(rng);
  }
  for (int i = 0; i < 2; ++i) {
    const ConstraintBlock b = p.add_block(BlockKind::limit, 1, std::vector<int>{i, i + 2});
    fill(b);
    p.bias[static_cast<std::size_t>(b.row)] = d(rng);
  }
  for (int i = 0; i < contacts; ++i) {
    ConstraintBlock& b = p.add_block(BlockKind::contact, 3, std::vector<int>{i % kBodies});
    b.mu = 0.3 * (i % 3);
    const ConstraintBlock c = b;
    fill(c);
    p.bias[static_cast<std::size_t>(c.row + 2)] = d(rng);
  }
  p.finish();
  return p;
}

VecX velocity(const ConstraintProblem& p, const std::vector<double>& lambda) {
  JudgeWorkspace ws;
  judge(p, lambda, ws);
  return ws.u;
}

SolveReport solve(const ConstraintProblem& p, const std::string& solver, std::vector<double>& lambda,
                  const SolverParameters& parameters = {}) {
  return make_solver(solver, parameters)->solve(p, Goal(1e-9), lambda);
}

// All soft blocks, for LinearFactor::take_along().
std::vector<std::uint8_t> soft_blocks(const ConstraintProblem& p) {
  std::vector<std::uint8_t> soft;
  for (const ConstraintBlock& b : p.blocks) soft.push_back(b.kind == BlockKind::soft ? 1 : 0);
  return soft;
}

std::size_t rows_of(const ConstraintProblem& p) { return static_cast<std::size_t>(p.rows()); }

// S = J_c P J_c' + R_c, P = W - W J_b' (J_b W J_b' + R_b)^+ J_b W: joints satisfied exactly, redundant ones, too; with
// soft rows among the others, or taken along with the joints.
void expect_exact_elimination(bool along, unsigned seed) {
  std::mt19937 rng(seed);
  for (const bool doubled : {false, true}) {
    for (int sample = 0; sample < 10; ++sample) {
      const ConstraintProblem p = mechanism(rng, sample % 2 == 1, 3, doubled);
      const std::vector<double> lambda(rows_of(p), 1e-3);
      LinearFactor factor;
      if (along) factor.take_along(p, soft_blocks(p));
      ASSERT_TRUE(factor.factor(p));
      Reduction reduction;
      const MatX S = ReductionProbe::S(reduction, p, factor, lambda);
      const std::vector<int> rows = ReductionProbe::rows(reduction);
      const MatX J = p.dense_J();
      const MatX W = testing::dense_blocks(p, p.mass_inverse);
      const int linear = p.rows_of(BlockKind::joint) + (along ? p.rows_of(BlockKind::soft) : 0);
      ASSERT_EQ(static_cast<int>(rows.size()),
                p.rows() - linear - (p.rows_of(BlockKind::contact) > 0 ? 2 : 0));  // tangents of the frictionless one
      const MatX Jb = J.topRows(linear);
      MatX A = Jb * W * Jb.transpose();
      for (int i = 0; i < linear; ++i) A(i, i) += p.R[static_cast<std::size_t>(i)];
      const MatX root = A.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
      const Eigen::CompleteOrthogonalDecomposition<MatX> inverse = [&] {
        Eigen::CompleteOrthogonalDecomposition<MatX> c;
        c.setThreshold(1e-11);
        return c.compute(root * A * root);
      }();
      // The shift eps = 3e-9 of the factor counts by the smallest eigenvalue that redundancy leaves.
      double smallest = 1;
      for (const double x : VecX(Eigen::SelfAdjointEigenSolver<MatX>(root * A * root).eigenvalues())) {
        if (x > 1e-10) smallest = std::min(smallest, x);
      }
      const double bound = 10 * 3e-9 / smallest + 1e-7;
      const MatX P = W - W * Jb.transpose() * root * inverse.solve(root * Jb * W);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows.size(); ++j) {
          double exact = J.row(rows[i]) * P * J.row(rows[j]).transpose();
          if (i == j) exact += p.R[static_cast<std::size_t>(rows[i])];
          const double scale = std::sqrt(p.diagonal[rows[i]] * p.diagonal[rows[j]]);
          const auto a = static_cast<Eigen::Index>(i);
          const auto b = static_cast<Eigen::Index>(j);
          EXPECT_NEAR(S(a, b), exact, bound * scale) << "sample " << sample << " doubled " << doubled;
        }
      }
    }
  }
}

TEST(Reduction, TheMatrixIsThatOfExactElimination) { expect_exact_elimination(false, 11); }
TEST(Reduction, TheMatrixIsThatOfExactEliminationOfDrivesToo) { expect_exact_elimination(true, 19); }

// Impulses of joints that leave freedom are unique: so are velocities.
TEST(Reduction, AgreesWithTheSolverWithoutIt) {
  std::mt19937 rng(12);
  int solved = 0;
  for (int sample = 0; sample < 40; ++sample) {
    const ConstraintProblem p = mechanism(rng, sample % 2 == 1, sample % 3, false);
    std::vector<double> reduced(rows_of(p), 0.0), whole(rows_of(p), 0.0);
    const SolveReport a = solve(p, "cascade", reduced);
    const SolveReport b = solve(p, "ssn", whole);
    ASSERT_EQ(a.status, SolveStatus::converged) << "sample " << sample;
    if (b.status != SolveStatus::converged) continue;
    ++solved;
    EXPECT_EQ(a.stage, "reduction");
    EXPECT_EQ(a.factorisations, 1);
    const VecX u = velocity(p, reduced);
    const VecX v = velocity(p, whole);
    const MatX M = testing::dense_blocks(p, p.mass);
    // In the norm of energy: light bodies move fast.
    EXPECT_LE(std::sqrt((u - v).dot(M * (u - v))), 1e-6 * std::sqrt(u.dot(M * u))) << "sample " << sample;
  }
  EXPECT_GE(solved, 30);
}

TEST(Reduction, DoubledJointsAreSatisfiedByFiniteImpulses) {
  std::mt19937 rng(13);
  for (int sample = 0; sample < 10; ++sample) {
    const ConstraintProblem p = mechanism(rng, false, 1, true);
    std::vector<double> lambda(rows_of(p), 1e-3);
    const SolveReport report = solve(p, "cascade", lambda);
    ASSERT_EQ(report.status, SolveStatus::converged);
    EXPECT_EQ(report.stage, "reduction");
    EXPECT_LE(report.residuals.joint_velocity, 1e-9);
    for (const double l : lambda) EXPECT_TRUE(std::isfinite(l));
  }
}

SolveReport solve_with_drives_along(const ConstraintProblem& p, std::vector<double>& lambda) {
  LinearFactor factor;
  factor.take_along(p, soft_blocks(p));
  JudgeWorkspace ws;
  const auto solver = make_solver("cascade", {});
  solver->share(&factor, &ws);
  return solver->solve(p, Goal(1e-9), lambda);
}

// A drive that is expected inside of its bounds is linear; where it turns out to be at one, the answer is the same.
TEST(Reduction, DrivesAtTheirBounds) {
  std::mt19937 rng(14);
  int at_bound = 0, linear = 0;
  for (int sample = 0; sample < 30; ++sample) {
    ConstraintProblem p = mechanism(rng, false, 1, false);
    const double most = sample % 3 == 0 ? 20.0 : 0.2;
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind != BlockKind::soft) continue;
      p.lower[static_cast<std::size_t>(b.row)] = -most;
      p.upper[static_cast<std::size_t>(b.row)] = most;
    }
    std::vector<double> cold(rows_of(p), 0.0);
    ASSERT_EQ(solve(p, "cascade", cold).status, SolveStatus::converged);
    std::vector<double> warm(rows_of(p), 1e-3);  // inside, whatever the answer
    const SolveReport report = solve(p, "cascade", warm);
    ASSERT_EQ(report.status, SolveStatus::converged);
    linear += report.stage == "reduction";
    std::vector<double> along(rows_of(p), 1e-3);
    const SolveReport taken = solve_with_drives_along(p, along);
    ASSERT_EQ(taken.status, SolveStatus::converged);
    EXPECT_EQ(taken.stage == "reduction", report.stage == "reduction") << "sample " << sample;
    const VecX u = velocity(p, cold);
    const VecX v = velocity(p, warm);
    const MatX M = testing::dense_blocks(p, p.mass);
    EXPECT_LE(std::sqrt((u - v).dot(M * (u - v))), 1e-6 * std::sqrt(u.dot(M * u))) << "sample " << sample;
    const VecX w = velocity(p, along);
    EXPECT_LE(std::sqrt((u - w).dot(M * (u - w))), 1e-6 * std::sqrt(u.dot(M * u))) << "sample " << sample;
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind != BlockKind::soft) continue;
      const double l = warm[static_cast<std::size_t>(b.row)];
      EXPECT_TRUE(l >= -most && l <= most);
      at_bound += std::abs(l) == most;
    }
  }
  EXPECT_GE(at_bound, 10);
  EXPECT_GE(linear, 1);
  EXPECT_LT(linear, 30);
}

TEST(Reduction, LeavesWhatIsNotForIt) {
  std::mt19937 rng(15);
  Reduction reduction;
  const ConstraintProblem large = mechanism(rng, true, 25);
  const std::vector<double> warm(rows_of(large), 1e-3);
  LinearFactor factor;
  ASSERT_TRUE(factor.factor(large));
  EXPECT_FALSE(reduction.collect(large, factor, 0, warm)) << "75 contact rows";
  const ConstraintProblem indeterminate = mechanism(rng, false, 12);
  const std::vector<double> cold(rows_of(indeterminate), 0.0);
  ASSERT_TRUE(factor.factor(indeterminate));
  EXPECT_FALSE(reduction.collect(indeterminate, factor, 0, cold)) << "36 contact rows, 11 degrees of freedom, cold";
  const ConstraintProblem other = testing::one_contact(Mat3::Identity(), Vec3(1, 0, -1), 0.5);
  std::vector<double> lambda(3, 0.0);
  const SolveReport report = solve(other, "cascade", lambda);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_NE(report.stage, "reduction") << "no linear row";
}

// A solver that has nobody to share with makes a factor for every problem, though it be where the last one was.
TEST(Reduction, AProblemChangedInPlaceIsAnotherOne) {
  std::mt19937 rng(17);
  const auto solver = make_solver("cascade", {});
  ConstraintProblem p;
  for (int sample = 0; sample < 5; ++sample) {
    p = mechanism(rng, sample % 2 == 1, 1);
    std::vector<double> again(rows_of(p), 0.0), fresh(rows_of(p), 0.0);
    EXPECT_EQ(solver->solve(p, Goal(1e-9), again).status, SolveStatus::converged);
    solve(p, "cascade", fresh);
    EXPECT_EQ(again, fresh) << "sample " << sample;
  }
}

TEST(Reduction, AWarmStartThatIsNoNumberIsNoAnswer) {
  std::mt19937 rng(18);
  const ConstraintProblem p = mechanism(rng, true, 2);
  std::vector<double> lambda(rows_of(p), std::numeric_limits<double>::quiet_NaN());
  const SolveReport report = solve(p, "cascade", lambda);
  EXPECT_EQ(report.status == SolveStatus::converged, report.residuals.finite && report.residuals.error() <= 1e-9);
  JudgeWorkspace ws;
  EXPECT_EQ(judge(p, lambda, ws).finite, report.residuals.finite);
}

// The symbolic phase depends on joints alone.
TEST(Reduction, ContactsThatComeAndGoLeaveTheGraphAlone) {
  std::mt19937 rng(16);
  LinearFactor factor;
  for (int contacts = 0; contacts < 8; ++contacts) {
    const ConstraintProblem p = mechanism(rng, true, contacts);
    ASSERT_TRUE(factor.factor(p));
  }
  EXPECT_EQ(factor.llt().analyses(), 1);
}

}  // namespace
}  // namespace sarrus::reduction_test
