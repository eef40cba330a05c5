// MLCP solvers with box friction: pivoting against enumeration, the solvers against each other and against hand
// answers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/solvers/block_pivoting.h"
#include "sarrus/solvers/registry.h"
#include "solvers/problem_surgery.h"
#include "support/dense.h"

namespace sarrus::mlcp_test {
namespace {

using testing::Answer;
using testing::solve;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kUnlimited = 1 << 30;
const std::vector<std::string> kIds = {"bpp", "pgs-box", "pgs-sm", "spook"};
const SolverParameters kReference = {{"k_cpl", 1000}, {"k_dir", 100000}};

// The solvers with limits that do not matter.
SolverParameters generous(const std::string& id) {
  if (id == "bpp") return kReference;
  SolverParameters p = {{"k_cpl", 3000}, {"k_iter", 1000}, {"delta_x", 1e-15}};
  if (id == "pgs-sm") p["k_iter"] = 15;
  if (id == "spook") p["k_dir"] = 100000;
  return p;
}

// --- dense Cholesky and block pivoting on plain matrices ------------------------------------------------------------

MatX random_spd(int n, double floor, std::mt19937& rng) {
  const MatX B = testing::random_vector(n * n, rng).reshaped(n, n);
  return B * B.transpose() + floor * MatX::Identity(n, n);
}

Mlcp plain(const MatX& A, const VecX& b, const VecX& lower, const VecX& upper) {
  Mlcp m;
  m.resize(static_cast<int>(b.size()));
  Eigen::Map<MatX>(m.A.data(), m.rows, m.rows) = A;
  m.b = b;
  m.lower = lower;
  m.upper = upper;
  m.diagonal = A.diagonal();
  return m;
}

double natural_residual(const MatX& A, const VecX& b, const VecX& lower, const VecX& upper, const VecX& x) {
  const VecX w = A * x + b;
  return (x - (x - w).cwiseMax(lower).cwiseMin(upper)).cwiseAbs().maxCoeff();
}

// Free rows, half-lines, boxes and fixed rows in turn.
void random_bounds(int n, std::mt19937& rng, VecX& lower, VecX& upper) {
  std::uniform_real_distribution<double> d(0, 1);
  lower.setConstant(n, -kInfinity);
  upper.setConstant(n, kInfinity);
  for (int i = 0; i < n; ++i) {
    const double kind = d(rng);
    if (kind > 0.2) lower[i] = kind > 0.5 ? -d(rng) : 0.0;
    if (kind > 0.5) upper[i] = kind > 0.95 ? lower[i] : d(rng);
  }
}

TEST(DenseCholesky, SolvesWithASubmatrix) {
  std::mt19937 rng(1);
  for (const int n : {1, 2, 5, 16, 61}) {
    const MatX A = random_spd(n, 1, rng);
    const VecX shift = testing::random_vector(n, rng).cwiseAbs();
    std::vector<int> index;
    for (int i = 0; i < n; ++i) {
      if (i % 3 != 1) index.push_back(i);
    }
    const MatX part = MatX(A + MatX(shift.asDiagonal()))(index, index);
    const VecX rhs = testing::random_vector(part.rows(), rng);
    DenseCholesky cholesky;
    ASSERT_TRUE(cholesky.factor(A.data(), n, index, shift.data()));
    VecX x = rhs;
    cholesky.solve(x.data());
    EXPECT_LT((part * x - rhs).norm(), 1e-12 * (1 + part.norm() * x.norm())) << n;
  }
  MatX singular = MatX::Ones(3, 3);
  DenseCholesky cholesky;
  EXPECT_FALSE(cholesky.factor(singular.data(), 3, std::vector<int>{0, 1, 2}, nullptr));
}

TEST(BlockPivoting, EndsOnRandomPositiveDefiniteProblems) {
  std::mt19937 rng(2);
  int most = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const int n = 1 + trial % 60;
    MatX A = random_spd(n, trial % 2 == 0 ? 1e-2 : 1.0, rng);
    if (trial % 4 == 3) {  // nearly singular
      const MatX J = testing::random_vector(n * (1 + n / 3), rng).reshaped(n, 1 + n / 3);
      A = J * J.transpose() + 1e-4 * MatX::Identity(n, n);
    }
    const VecX b = 5 * testing::random_vector(n, rng);
    VecX lower, upper;
    random_bounds(n, rng, lower, upper);
    Mlcp m = plain(A, b, lower, upper);
    BlockPivoting pivoting;
    const PivotResult r = pivoting.solve(m, kUnlimited, 10);
    ASSERT_TRUE(r.solved) << trial;
    EXPECT_LT(natural_residual(A, b, lower, upper, m.x), 1e-10 * (1 + m.x.cwiseAbs().maxCoeff())) << trial;
    most = std::max(most, r.pivots);
  }
  EXPECT_GT(most, 100);  // single exchanges were needed
}

// Single exchanges alone must end too: they are the fallback.
TEST(BlockPivoting, MurtysRuleAloneEnds) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 60; ++trial) {
    const int n = 2 + trial % 14;
    const MatX A = random_spd(n, 0.1, rng);
    const VecX b = 5 * testing::random_vector(n, rng);
    VecX lower, upper;
    random_bounds(n, rng, lower, upper);
    Mlcp m = plain(A, b, lower, upper);
    BlockPivoting pivoting;
    ASSERT_TRUE(pivoting.solve(m, kUnlimited, -1).solved) << trial;
    EXPECT_LT(natural_residual(A, b, lower, upper, m.x), 1e-10) << trial;
  }
}

// All 3^n index sets; the one that satisfies everything is unique for positive definite A.
VecX enumerate(const MatX& A, const VecX& b, const VecX& lower, const VecX& upper) {
  const int n = static_cast<int>(b.size());
  int sets = 1;
  for (int i = 0; i < n; ++i) sets *= 3;
  for (int set = 0; set < sets; ++set) {
    MatX S = A;
    VecX rhs = -b;
    bool possible = true;
    for (int i = 0, rest = set; i < n; ++i, rest /= 3) {
      if (rest % 3 == 0) continue;
      rhs[i] = rest % 3 == 1 ? lower[i] : upper[i];
      possible = possible && std::isfinite(rhs[i]);
      S.row(i) = VecX::Unit(n, i);
    }
    if (!possible) continue;
    const VecX x = test::solve_any(S, rhs);
    if (natural_residual(A, b, lower, upper, x) < 1e-10) return x;
  }
  return VecX::Constant(n, std::numeric_limits<double>::quiet_NaN());
}

TEST(BlockPivoting, AgreesWithEnumeration) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 150; ++trial) {
    const int n = 1 + trial % 5;
    const MatX A = random_spd(n, 0.3, rng);
    const VecX b = 3 * testing::random_vector(n, rng);
    VecX lower, upper;
    random_bounds(n, rng, lower, upper);
    Mlcp m = plain(A, b, lower, upper);
    BlockPivoting pivoting;
    ASSERT_TRUE(pivoting.solve(m, kUnlimited, 10).solved);
    EXPECT_LT((m.x - enumerate(A, b, lower, upper)).norm(), 1e-9) << trial;
  }
}

// Singular A with a consistent b: the shift must leave no trace in w.
TEST(BlockPivoting, ShiftOfSingularMatricesLeavesNoError) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 12 + trial % 20;
    const MatX J = testing::random_vector(n * 8, rng).reshaped(n, 8);
    const MatX A = J * J.transpose();
    const VecX b = J * testing::random_vector(8, rng);
    const VecX lower = VecX::Zero(n);
    const VecX upper = VecX::Constant(n, kInfinity);
    Mlcp m = plain(A, b, lower, upper);
    BlockPivoting pivoting;
    ASSERT_TRUE(pivoting.solve(m, 20000, 10).solved) << trial;
    EXPECT_LT(natural_residual(A, b, lower, upper, m.x), 1e-11) << trial;
  }
}

TEST(BlockPivoting, HeldRowsKeepTheirValue) {
  std::mt19937 rng(6);
  const MatX A = random_spd(4, 1, rng);
  const VecX b = testing::random_vector(4, rng);
  Mlcp m = plain(A, b, VecX::Constant(4, -kInfinity), VecX::Constant(4, kInfinity));
  m.state[2] = RowState::held;
  m.x[2] = 0.7;
  BlockPivoting pivoting;
  ASSERT_TRUE(pivoting.solve(m, 100, 10).solved);
  EXPECT_EQ(m.x[2], 0.7);
  const VecX w = A * m.x + b;
  for (const int i : {0, 1, 3}) EXPECT_NEAR(w[i], 0, 1e-13);
  EXPECT_GT(std::abs(w[2]), 1e-3);
}

TEST(Mlcp, DenseMatrixIsThatOfTheProblem) {
  std::mt19937 rng(7);
  for (const std::vector<int>& sizes : testing::node_layouts()) {
    const ConstraintProblem p = testing::random_problem(sizes, rng);
    const std::vector<double> lambda(static_cast<std::size_t>(p.rows()), 0.0);
    Mlcp m;
    m.load(p, lambda, true);
    const MatX D = p.dense_D_plus_R();
    EXPECT_LT((Eigen::Map<const MatX>(m.A.data(), m.rows, m.rows) - D).norm(), 1e-12 * D.norm());
  }
}

// --- hand answers ---------------------------------------------------------------------------------------------------

// 2 kg against a plane, friction coefficient 1/2: every mode, and more friction along the diagonal than a cone has.
TEST(BoxFriction, OneContact) {
  const Mat3 G = Mat3::Identity() / 2;
  const double mu = 0.5;
  struct Case {
    Vec3 b, lambda;
  };
  for (const Case& c : {Case{Vec3(1, 2, 3), Vec3(0, 0, 0)}, Case{Vec3(0.3, 0, -1), Vec3(-0.6, 0, 2)},
                        Case{Vec3(3, 4, -1), Vec3(-1, -1, 2)}, Case{Vec3(3, 0.1, -1), Vec3(-1, -0.2, 2)}}) {
    const ConstraintProblem p = testing::one_contact(G, c.b, mu);
    for (const std::string& id : kIds) {
      const Answer a = solve(p, id, 1e-12, generous(id));
      EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
      EXPECT_LT((Vec3(a.lambda[0], a.lambda[1], a.lambda[2]) - c.lambda).norm(), 1e-11) << id;
    }
  }
}

// A contact at rest starts with the bounds mu m g h: one coupling is enough, and the report says so.
TEST(BoxFriction, FirstBoundsOfARestingBodyAreRight) {
  const ConstraintProblem p = testing::one_contact(Mat3::Identity() / 2, Vec3(0.5, 0, -0.0981), 0.6);
  const Answer a = solve(p, "bpp", 1e-12, {{"k_cpl", 1}});
  EXPECT_EQ(a.report.status, SolveStatus::converged);
  EXPECT_NEAR(a.lambda[0], -0.6 * 2 * 0.0981, 1e-13);
}

// --- random problems with all kinds of rows --------------------------------------------------------------------------

ConstraintProblem compliant_problem(std::mt19937& rng) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6, 3, 12, 6, 7, 6});
  testing::fill_nodes(p, rng);
  for (int i = 0; i < 4; ++i) testing::add_random_block(p, BlockKind::joint, 1 + i % 3, 2 + i % 3, rng);
  for (int i = 0; i < 3; ++i) {
    const ConstraintBlock& b = testing::add_random_block(p, BlockKind::soft, 1, 2, rng);
    p.lower[static_cast<std::size_t>(b.row)] = -0.5;
    p.upper[static_cast<std::size_t>(b.row)] = 0.5;
  }
  for (int i = 0; i < 3; ++i) testing::add_random_block(p, BlockKind::limit, 1, 2 + i % 2, rng);
  for (int i = 0; i < 4; ++i) testing::add_random_block(p, BlockKind::contact, 3, 2, rng).mu = 0.1 * i;
  for (double& r : p.R) r = std::max(r, 0.3);
  p.finish();
  return p;
}

TEST(MlcpSolvers, AgreeWithUnlimitedPivoting) {
  std::mt19937 rng(8);
  for (int trial = 0; trial < 12; ++trial) {
    const ConstraintProblem p = compliant_problem(rng);
    const Answer reference = solve(p, "bpp", 1e-12, kReference);
    ASSERT_EQ(reference.report.status, SolveStatus::converged) << trial;
    EXPECT_LT(reference.judged.error(Law::box), 1e-12);
    for (const std::string id : {"pgs-box", "pgs-sm"}) {
      const Answer a = solve(p, id, 1e-11, generous(id));
      EXPECT_EQ(a.report.status, SolveStatus::converged) << id << ' ' << trial;
      EXPECT_LT((a.u - reference.u).cwiseAbs().maxCoeff(), 1e-9) << id << ' ' << trial;
    }
  }
}

// Bounds, signs of w and friction within mu x_N, checked row by row without the judge.
TEST(MlcpSolvers, FixedPointsSatisfyTheBoxLaw) {
  std::mt19937 rng(9);
  for (int trial = 0; trial < 5; ++trial) {
    const ConstraintProblem p = compliant_problem(rng);
    for (const std::string id : {"bpp", "pgs-sm"}) {
      const Answer a = solve(p, id, 1e-12, generous(id));
      const VecX x = Eigen::Map<const VecX>(a.lambda.data(), p.rows());
      const VecX w = p.dense_D_plus_R() * x + p.v_free;
      for (const ConstraintBlock& b : p.blocks) {
        for (int i = b.row; i < b.row + b.rows; ++i) {
          double lower = p.lower[static_cast<std::size_t>(i)];
          double upper = p.upper[static_cast<std::size_t>(i)];
          if (b.kind == BlockKind::limit || (b.kind == BlockKind::contact && i == b.row + 2)) lower = 0;
          if (b.kind == BlockKind::contact && i < b.row + 2) {
            upper = b.mu * x[b.row + 2];
            lower = -upper;
          }
          EXPECT_GE(x[i], lower) << id;
          EXPECT_LE(x[i], upper) << id;
          EXPECT_TRUE(x[i] <= lower + 1e-9 || w[i] < 1e-9) << id << " row " << i;
          EXPECT_TRUE(x[i] >= upper - 1e-9 || w[i] > -1e-9) << id << " row " << i;
        }
      }
    }
  }
}

TEST(MlcpSolvers, DeltaPsiIsTheSumOfNaturalResiduals) {
  std::mt19937 rng(12);
  const ConstraintProblem p = compliant_problem(rng);
  JudgeWorkspace ws;
  EXPECT_LT(delta_psi(p, solve(p, "bpp", 1e-13, kReference).lambda, ws), 1e-11);
  const Answer rough = solve(p, "pgs-box", 1e-12, {{"max_iterations", 2}});
  const double psi = delta_psi(p, rough.lambda, ws);
  EXPECT_GE(psi, rough.judged.natural_map_box);
  EXPECT_LE(psi, p.rows() * rough.judged.natural_map_box);
  EXPECT_GT(psi, 1e-3);
  // One contact, by hand: no impulse, approaching at 1 m/s; only the normal may push.
  const ConstraintProblem contact = testing::one_contact(Mat3::Identity(), Vec3(3, 0, -1), 0.5);
  EXPECT_EQ(delta_psi(contact, std::vector<double>{0, 0, 0}, ws), 1);
  EXPECT_EQ(delta_psi(contact, std::vector<double>{0, 0, 1}, ws), 0.5);  // 0.5 N s of friction are missing
}

// Cycling couplings end without a limit too.
TEST(MlcpSolvers, ContradictionsEnd) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{1});
  p.mass = {1};
  p.mass_inverse = {1};
  for (const double bias : {1.0, -1.0}) {
    ConstraintBlock& b = p.add_block(BlockKind::joint, 1, std::vector<int>{0});
    p.jacobian_row(b, 0, 0)[0] = 1;
    p.bias[static_cast<std::size_t>(b.row)] = bias;
  }
  p.finish();
  for (const std::string& id : kIds) {
    SolverParameters par = {{"k_cpl", 0}};
    if (id == "pgs-box" || id == "pgs-sm") par["k_iter"] = 10;
    const Answer a = solve(p, id, 1e-9, par);
    EXPECT_EQ(a.report.status, SolveStatus::stalled) << id;
    EXPECT_TRUE(a.judged.finite) << id;
  }
}

// Default limits may end early, but then they say so; the best iterate is never worse than the warm start.
TEST(MlcpSolvers, ReportsAreHonest) {
  std::mt19937 rng(10);
  for (int trial = 0; trial < 6; ++trial) {
    const ConstraintProblem p = testing::feasible_problem(rng);
    for (const std::string& id : kIds) {
      const double start = solve(p, id, 1e300).judged.error(Law::box);  // converged at once: the warm start
      for (const int n : {1, 2, 5, 1000000}) {
        const Answer a = solve(p, id, 1e-9, {{"max_iterations", n}});
        EXPECT_LE(a.report.iterations, n) << id;
        EXPECT_EQ(a.report.status == SolveStatus::converged, a.judged.error(Law::box) <= 1e-9) << id;
        EXPECT_EQ(a.report.residuals.natural_map_box, a.judged.natural_map_box) << id;
        EXPECT_LE(a.judged.error(Law::box), start) << id;
        for (const ConstraintBlock& b : p.blocks) {
          if (b.kind != BlockKind::contact) continue;
          const double* l = a.lambda.data() + b.row;
          EXPECT_LE(std::max(std::abs(l[0]), std::abs(l[1])), b.mu * l[2]) << id;
        }
      }
      const std::vector<double> answer = solve(p, id, 1e-9).lambda;
      EXPECT_EQ(answer, solve(p, id, 1e-9).lambda) << id << ": not deterministic";
      std::vector<double> nan(answer.size(), std::numeric_limits<double>::quiet_NaN());
      EXPECT_TRUE(solve(p, id, 1e-9, {}, nan).judged.finite) << id << ": a bad warm start must not survive";
    }
  }
}

TEST(MlcpSolvers, NothingToSolveAndNothingFinite) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6});
  p.finish();
  for (const std::string& id : kIds) {
    std::vector<double> none;
    EXPECT_EQ(make_solver(id)->solve(p, 1e-9, none).status, SolveStatus::converged) << id;
    ConstraintProblem bad = testing::one_contact(Mat3::Identity(), Vec3(0, 0, -1), 0.5);
    bad.v_free[1] = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> lambda(3, 0.0);
    EXPECT_EQ(make_solver(id)->solve(bad, 1e-9, lambda).status, SolveStatus::non_finite) << id;
    EXPECT_EQ(lambda, std::vector<double>(3, 0.0)) << id;
  }
}

// The answer again as a warm start is left alone.
TEST(MlcpSolvers, WarmStartAtTheSolution) {
  std::mt19937 rng(11);
  const ConstraintProblem p = compliant_problem(rng);
  const std::vector<double> answer = solve(p, "bpp", 1e-12, kReference).lambda;
  for (const std::string& id : kIds) {
    const Answer a = solve(p, id, 1e-11, {}, answer);
    EXPECT_EQ(a.report.iterations, 0) << id;
    EXPECT_EQ(a.report.status, SolveStatus::converged) << id;
  }
}

// --- what SPOOK gets wrong -------------------------------------------------------------------------------------------

// A light jaw (0.01 kg) presses on a wall and hangs on a heavy load by a stiff joint: the load pulls both down, and
// only friction holds them. Sweeps over the contact see the jaw alone; the load's momentum arrives at a rate of
// m_jaw/m_load per alternation.
ConstraintProblem hanging_load() {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{3, 3});  // jaw and load, translations
  for (std::size_t node = 0; node < 2; ++node) {
    const double m = node == 0 ? 0.01 : 1.0;
    Eigen::Map<Mat3>(p.mass.data() + 9 * node) = m * Mat3::Identity();
    Eigen::Map<Mat3>(p.mass_inverse.data() + 9 * node) = Mat3::Identity() / m;
  }
  p.u_free << 0.1, 0, -100, 0.1, 0, 0;  // x: along the wall, z: away from it
  ConstraintBlock& joint = p.add_block(BlockKind::joint, 3, std::vector<int>{0, 1});
  for (int r = 0; r < 3; ++r) {
    p.jacobian_row(joint, 0, r)[r] = 1;
    p.jacobian_row(joint, 1, r)[r] = -1;
  }
  ConstraintBlock& contact = p.add_block(BlockKind::contact, 3, std::vector<int>{0});
  contact.mu = 0.5;
  for (int r = 0; r < 3; ++r) p.jacobian_row(contact, 0, r)[r] = 1;
  p.finish();
  return p;
}

TEST(Spook, FrictionThroughJointsIsTooSmall) {
  const ConstraintProblem p = hanging_load();
  const Answer good = solve(p, "pgs-sm", 1e-10, {{"k_cpl", 20}});
  EXPECT_EQ(good.report.status, SolveStatus::converged);
  EXPECT_NEAR(good.lambda[3], -0.101, 1e-9);  // stops 1.01 kg at 0.1 m/s
  const Answer spook = solve(p, "spook", 1e-10, {{"k_cpl", 20}});
  EXPECT_EQ(spook.report.status, SolveStatus::max_iterations);
  EXPECT_GT(spook.judged.error(Law::box), 1e-4);
  EXPECT_LT(std::abs(spook.lambda[3]), 0.5 * 0.101);
  // It is slow, not wrong: enough couplings bring the same answer.
  const Answer patient = solve(p, "spook", 1e-10, {{"k_cpl", 0}});
  EXPECT_EQ(patient.report.status, SolveStatus::converged);
  EXPECT_GT(patient.report.iterations, 500);
}

TEST(Spook, RegulariserVanishesWithTheCouplings) {
  const ConstraintProblem p = testing::one_contact(Mat3::Identity() / 2, Vec3(0.3, 0, -1), 0.5);
  const Answer few = solve(p, "spook", 1e-10, {{"k_cpl", 2}, {"friction_regulariser", 1.0}});
  EXPECT_GT(few.judged.error(Law::box), 1e-3);
  const Answer many = solve(p, "spook", 1e-10, {{"k_cpl", 60}, {"friction_regulariser", 1.0}});
  EXPECT_EQ(many.report.status, SolveStatus::converged);
}

}  // namespace
}  // namespace sarrus::mlcp_test
