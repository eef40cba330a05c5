// The judge on problems small enough to know the answer: one body, one row or one contact.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/error.h"
#include "sarrus/problem/judge.h"

namespace sarrus::judge_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A point mass (node of three components) whose velocity is the constraint velocity: D = 1/mass.
ConstraintProblem point(BlockKind kind, double mass, const Vec3& u_free, int rows = 3, double mu = 0) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{3});
  for (int i = 0; i < 3; ++i) {
    p.mass[static_cast<std::size_t>(4 * i)] = mass;
    p.mass_inverse[static_cast<std::size_t>(4 * i)] = 1 / mass;
  }
  p.u_free = u_free;
  ConstraintBlock& b = p.add_block(kind, rows, std::vector<int>{0});
  b.mu = mu;
  for (int r = 0; r < rows; ++r) p.jacobian_row(b, 0, r)[r] = 1;
  p.finish();
  return p;
}

Residuals verdict(const ConstraintProblem& p, const std::vector<double>& lambda) {
  JudgeWorkspace ws;
  return judge(p, lambda, ws);
}

void expect_solved(const Residuals& r) {
  EXPECT_TRUE(r.finite);
  EXPECT_LT(r.natural_map, 1e-14);
  EXPECT_LT(r.primal, 1e-14);
  EXPECT_LT(r.dual, 1e-14);
  EXPECT_LT(r.complementarity, 1e-14);
  EXPECT_LT(r.equations, 1e-14);
}

// --- one contact, mass 2, mu 0.5 ----------------------------------------------------------------------

TEST(JudgeContact, ExactAnswersOfTheThreeModes) {
  expect_solved(verdict(point(BlockKind::contact, 2, Vec3(1, 0, 3), 3, 0.5), {0, 0, 0}));         // open
  expect_solved(verdict(point(BlockKind::contact, 2, Vec3(0.3, 0, -1), 3, 0.5), {-0.6, 0, 2}));   // stick
  expect_solved(verdict(point(BlockKind::contact, 2, Vec3(3, 4, -1), 3, 0.5), {-0.6, -0.8, 2}));  // slip
  expect_solved(verdict(point(BlockKind::contact, 2, Vec3(3, 4, -1), 3, 0.0), {0, 0, 2}));        // no friction
}

TEST(JudgeContact, MeasuresAPerturbation) {
  const ConstraintProblem stick = point(BlockKind::contact, 2, Vec3(0.3, 0, -1), 3, 0.5);
  // 0.1 N s too much: sigma_N = 0.05, and lambda - v_hat stays in the cone, so the natural map is v_hat itself.
  const Residuals r = verdict(stick, {-0.6, 0, 2.1});
  EXPECT_NEAR(r.natural_map, 0.05, 1e-14);
  EXPECT_NEAR(r.primal, 0, 1e-14);
  EXPECT_NEAR(r.dual, 0, 1e-14);
  EXPECT_NEAR(r.complementarity, 2.1 * 0.05, 1e-14);
  // 0.1 N s too little: penetrating at 0.05 m/s.
  const Residuals s = verdict(stick, {-0.6, 0, 1.9});
  EXPECT_NEAR(s.natural_map, 0.05, 1e-14);
  EXPECT_NEAR(s.dual, 0.05, 1e-14);
  // Outside the cone by 1 in the tangent: the distance to the cone in its largest component.
  const Residuals t = verdict(stick, {-2, 0, 2});
  const Vec3 l(-2, 0, 2);
  EXPECT_NEAR(t.primal, (l - project_cone(l, 0.5)).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_GT(t.primal, 0.5);
}

TEST(JudgeContact, AnOpenContactMustNotPull) {
  const ConstraintProblem p = point(BlockKind::contact, 2, Vec3(0, 0, 3), 3, 0.5);
  EXPECT_NEAR(verdict(p, {0, 0, -1}).primal, 1, 1e-14);
  EXPECT_NEAR(verdict(p, {0, 0, 1}).natural_map, 1.0, 1e-14);  // projected back to zero
}

// CCP: when sliding the body lifts with v_N = mu |v_T|. Each law accepts its own answer and rejects the other's.
TEST(JudgeContact, NcpAndCcpDifferWhenSliding) {
  const double mu = 0.5;
  const double mass = 2;
  const ConstraintProblem p = point(BlockKind::contact, mass, Vec3(5, 0, -1), 3, mu);
  const std::vector<double> ncp = {-1, 0, 2};  // lambda_N = 2, v = (4.5, 0, 0)
  // CCP: lambda = s (-mu, 0, 1), v_N = mu v_T:  s/m - 1 = mu (5 - mu s/m)  ->  s/m (1 + mu^2) = 1 + 5 mu.
  const double s = mass * (1 + 5 * mu) / (1 + mu * mu);
  const std::vector<double> ccp = {-mu * s, 0, s};
  const Residuals a = verdict(p, ncp);
  const Residuals b = verdict(p, ccp);
  EXPECT_LT(a.natural_map, 1e-14);
  EXPECT_LT(b.natural_map_ccp, 1e-14);
  EXPECT_GT(a.natural_map_ccp, 0.1);
  EXPECT_GT(b.natural_map, 0.1);
  EXPECT_LT(a.error(), 1e-15);
  EXPECT_LT(b.error(Law::ccp), 1e-15);
  EXPECT_GT(a.error(Law::ccp), 0.1);
  EXPECT_GT(b.error(), 0.1);
}

TEST(JudgeContact, ComplianceEntersSigma) {
  ConstraintProblem p = point(BlockKind::contact, 2, Vec3(0, 0, -1), 3, 0.5);
  p.R[2] = 0.5;  // (1/2 + 1/2) lambda = 1
  expect_solved(verdict(p, {0, 0, 1}));
  EXPECT_NEAR(verdict(p, {0, 0, 2}).natural_map, 1.0, 1e-14);
}

// De Saxce: v_hat in K*, lambda in K and lambda . v_hat = 0 exactly when Coulomb's law holds.
TEST(JudgeContact, NcpIsCoulombsLaw) {
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  int counts[3] = {0, 0, 0};
  for (int trial = 0; trial < 3000; ++trial) {
    const int mode = trial % 3;  // open, stick, slip
    const double mu = 0.05 + uniform(rng);
    const double angle = 6.28 * uniform(rng);
    const Vec3 t(std::cos(angle), std::sin(angle), 0);
    const double n = 0.1 + uniform(rng);
    Vec3 lambda = Vec3::Zero();
    Vec3 v = Vec3::Zero();
    if (mode == 0) v = (2 * uniform(rng) - 1) * t + uniform(rng) * Vec3::UnitZ();
    if (mode == 1) lambda = uniform(rng) * mu * n * t + n * Vec3::UnitZ();
    if (mode == 2) {
      v = (0.1 + uniform(rng)) * t;
      lambda = n * (Vec3::UnitZ() - mu * t);
    }
    const ConstraintProblem p = point(BlockKind::contact, 1, v - lambda, 3, mu);
    const auto law = [&](const Vec3& l) { return verdict(p, {l[0], l[1], l[2]}).natural_map; };
    EXPECT_LT(law(lambda), 1e-14) << mode;
    // Any other impulse breaks the law: with D = 1 the velocity changes by as much.
    const Vec3 wrong = lambda + 0.1 * Vec3(testing::random_vector(3, rng)).normalized();
    if (law(wrong) > 1e-3) ++counts[mode];
  }
  for (const int c : counts) EXPECT_GT(c, 990);
}

// --- joints, limits, boxes -----------------------------------------------------------------------------

TEST(JudgeRows, JointsMustStop) {
  ConstraintProblem p = point(BlockKind::joint, 2, Vec3(1, -2, 0));
  expect_solved(verdict(p, {-2, 4, 0}));
  const Residuals r = verdict(p, {-2, 4.2, 0});
  EXPECT_NEAR(r.natural_map, 0.1, 1e-14);
  EXPECT_NEAR(r.natural_map_joint, 0.1, 1e-14);
  EXPECT_NEAR(r.dual, 0.1, 1e-14);
  EXPECT_EQ(r.primal, 0);
  p.bias = {0, 0, 0.25};  // joint_velocity is without the bias, the natural map with it
  const Residuals s = verdict(p, {-2, 4, 0});
  EXPECT_NEAR(s.natural_map, 0.25, 1e-14);
  EXPECT_NEAR(s.joint_velocity, 0, 1e-14);
  EXPECT_NEAR(verdict(p, {-2, 4, -0.5}).joint_velocity, 0.25, 1e-14);
}

TEST(JudgeRows, Limits) {
  const ConstraintProblem closing = point(BlockKind::limit, 2, Vec3(-1, 0, 0), 1);
  expect_solved(verdict(closing, {2}));
  EXPECT_NEAR(verdict(closing, {0}).natural_map, 1, 1e-14);
  EXPECT_NEAR(verdict(closing, {0}).dual, 1, 1e-14);
  EXPECT_NEAR(verdict(closing, {3}).natural_map, 0.5, 1e-14);
  EXPECT_NEAR(verdict(closing, {3}).complementarity, 1.5, 1e-14);
  EXPECT_NEAR(verdict(closing, {3}).natural_map_limit, 0.5, 1e-14);
  const ConstraintProblem opening = point(BlockKind::limit, 2, Vec3(1, 0, 0), 1);
  expect_solved(verdict(opening, {0}));
  EXPECT_NEAR(verdict(opening, {-0.5}).primal, 0.5, 1e-14);
  EXPECT_NEAR(verdict(opening, {0.5}).natural_map, 0.5, 1e-14);
}

TEST(JudgeRows, Boxes) {
  ConstraintProblem p = point(BlockKind::soft, 2, Vec3(1, 0, 0), 1);
  p.lower[0] = -3;
  p.upper[0] = 4;
  expect_solved(verdict(p, {-2}));  // inside: the velocity vanishes
  p.lower[0] = -1;
  expect_solved(verdict(p, {-1}));  // saturated, velocity 0.5 against the force
  EXPECT_NEAR(verdict(p, {-0.8}).natural_map, 0.2, 1e-14);
  EXPECT_NEAR(verdict(p, {-1.5}).primal, 0.5, 1e-14);
  EXPECT_NEAR(verdict(p, {4}).natural_map, 3, 1e-14);  // wrong side: sigma = 3 at the upper bound
  EXPECT_NEAR(verdict(p, {4}).dual, 3, 1e-14);
  EXPECT_NEAR(verdict(p, {4}).natural_map_soft, 3, 1e-14);
}

// --- the error: natural map in sqrt(J) over max(S, |v_f^|, p 1 m/s), p = sqrt(mass) here
// ------------------------------

TEST(JudgeError, OfARowInClosedForm) {
  // Mass 4, p = 2. At rest but for 0.1 m/s: the row counts by 1 m/s, and the error is the velocity that is left.
  const ConstraintProblem slow = point(BlockKind::joint, 4, Vec3(0.1, 0, 0), 1);
  EXPECT_NEAR(verdict(slow, {0}).error(), 0.1, 1e-15);
  EXPECT_NEAR(verdict(slow, {-0.2}).error(), 0.05, 1e-15);
  EXPECT_NEAR(verdict(slow, {-0.4}).error(), 0, 1e-15);
  // 10 m/s: relative to its own free velocity, and to the impulse where that is larger: S = 80 / 2 = 40.
  const ConstraintProblem fast = point(BlockKind::joint, 4, Vec3(10, 0, 0), 1);
  EXPECT_NEAR(verdict(fast, {0}).error(), 1, 1e-15);
  EXPECT_NEAR(verdict(fast, {-36}).error(), 0.1, 1e-15);
  EXPECT_NEAR(verdict(fast, {-80}).error(), 2 * 10 / 40.0, 1e-15);
  // A limit that holds where it is open: lambda^ = 0.5 / 2.
  EXPECT_NEAR(verdict(point(BlockKind::limit, 4, Vec3(0.9, 0, 0), 1), {0.5}).error(), 0.25 / 2, 1e-15);
}

TEST(JudgeError, OfAContactInClosedForm) {
  // Mass 4: D = 1/4 in all directions, p = 2. 0.1 N s too much: v^ = (0, 0, 0.05), measured by p * 1 m/s.
  const ConstraintProblem p = point(BlockKind::contact, 4, Vec3(0.3, 0, -1), 3, 0.5);
  EXPECT_NEAR(verdict(p, {-1.2, 0, 4}).error(), 0, 1e-15);
  // S = |impulse| / sqrt(mass) = |(-1.2, 0, 4.2)| / 2 > 2.
  EXPECT_NEAR(verdict(p, {-1.2, 0, 4.2}).error(), 2 * 0.05 / (Vec3(-1.2, 0, 4.2).norm() / 2), 1e-15);
}

TEST(JudgeError, TheOtherCriteriaAreRaw) {
  const Residuals r = verdict(point(BlockKind::contact, 4, Vec3(0.3, 0, -1), 3, 0.5), {-1.2, 0, 4.2});
  EXPECT_EQ(r.error(Law::ncp, Criterion::absolute), r.natural_map);
  EXPECT_EQ(r.error(Law::ccp, Criterion::absolute), r.natural_map_ccp);
  EXPECT_EQ(r.error(Law::ncp, Criterion::papers), std::max({r.primal, r.dual, r.complementarity}));
  EXPECT_TRUE(meets(r, Law::ncp, {0.051, Criterion::absolute}));
  EXPECT_FALSE(meets(r, Law::ncp, {0.049, Criterion::absolute}));
  EXPECT_FALSE(meets(r, Law::ncp, {0.051, Criterion::papers}));  // 4.2 N s * 0.05 m/s
  EXPECT_EQ(criterion_from_name("papers"), Criterion::papers);
  EXPECT_THROW(criterion_from_name("paper"), InputError);
}

// A tonne elsewhere does not loosen a gram here: errors are those of each island by itself.
TEST(JudgeError, IslandsAreMeasuredByThemselves) {
  const double masses[] = {1e-3, 1e4};
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{1, 1});
  for (std::size_t i = 0; i < 2; ++i) {
    p.mass[i] = masses[i];
    p.mass_inverse[i] = 1 / masses[i];
    p.u_free[static_cast<int>(i)] = -2;
  }
  for (int i = 0; i < 2; ++i) {
    ConstraintBlock& b = p.add_block(BlockKind::limit, 1, std::vector<int>{i});
    p.jacobian_row(b, 0, 0)[0] = 1;
  }
  p.finish();
  EXPECT_EQ(p.islands.count(), 2);
  // The tonne is right, the gram has 1 % too little: 0.02 m/s of 2 m/s.
  EXPECT_NEAR(verdict(p, {0.99 * 2e-3, 2e4}).error(), 0.01, 1e-12);
  EXPECT_EQ(verdict(p, {0.99 * 2e-3, 2e4}).worst_block, 0);
  // The gram lies on the tonne, which gets 20 kN s. The gram may now be wrong by what that impulse can do to it.
  ConstraintBlock& joined = p.add_block(BlockKind::limit, 1, std::vector<int>{0, 1});
  p.jacobian_row(joined, 0, 0)[0] = 1;
  p.jacobian_row(joined, 1, 0)[0] = -1;
  p.finish();
  EXPECT_EQ(p.islands.count(), 1);
  EXPECT_NEAR(verdict(p, {0.99 * 2e-3, 2e4, 0}).error(), 0.02 * std::sqrt(1e-3) / (2e4 / std::sqrt(1e4)), 1e-12);
}

// The same motion with other units of mass, length and time: errors stay as long as 1 m/s does not decide.
TEST(JudgeError, IsConsistentInUnits) {
  std::mt19937 rng(3);
  for (const std::vector<int>& sizes : testing::node_layouts()) {
    ConstraintProblem p = testing::random_problem(sizes, rng);
    const VecX l = testing::random_vector(p.rows(), rng);
    const auto error = [&](const ConstraintProblem& q, double factor) {
      const VecX scaled = factor * l;
      return verdict(q, std::vector<double>(scaled.data(), scaled.data() + scaled.size()));
    };
    const Residuals before = error(p, 1);
    for (const double mass : {1e-6, 1e6}) {
      ConstraintProblem q = p;
      for (double& m : q.mass) m *= mass;
      for (double& m : q.mass_inverse) m /= mass;
      for (double& r : q.R) r /= mass;
      for (std::vector<double>* bounds : {&q.lower, &q.upper}) {
        for (double& b : *bounds) b *= mass;
      }
      q.finish();
      const Residuals after = error(q, mass);
      for (const Law law : {Law::ncp, Law::ccp, Law::box}) {
        EXPECT_NEAR(after.error(law), before.error(law), 1e-9 * before.error(law)) << name_of(law);
      }
      EXPECT_EQ(after.worst_block, before.worst_block);
    }
    // Velocities in other units, and no 1 m/s: the same numbers.
    p.physical = false;
    p.finish();
    const Residuals plain = error(p, 1);
    ConstraintProblem q = p;
    q.u_free *= 1e-4;
    for (double& b : q.bias) b *= 1e-4;
    for (std::vector<double>* bounds : {&q.lower, &q.upper}) {
      for (double& b : *bounds) b *= 1e-4;
    }
    q.finish();
    EXPECT_NEAR(error(q, 1e-4).error(), plain.error(), 1e-9 * plain.error());
  }
}

// Two rows that contradict each other: no impulse solves them, and none may look as if, however large.
TEST(JudgeError, ContradictingRowsNeverConverge) {
  ConstraintProblem p = point(BlockKind::joint, 1, Vec3(0, 0, 0), 1);
  ConstraintBlock& b = p.add_block(BlockKind::joint, 1, std::vector<int>{0});
  p.jacobian_row(b, 0, 0)[0] = 1;
  p.bias = {1, -1};  // u = -1 and u = 1
  p.finish();
  for (const double l : {0.0, 1.0, 1e3, 1e9, 1e15, 1e30}) {
    EXPECT_GE(verdict(p, {l, -l}).error(), 1) << l;
    EXPECT_GE(verdict(p, {l, -l}).error(Law::ncp, Criterion::absolute), 1) << l;
    EXPECT_GE(verdict(p, {l, l}).error(), 0.49) << l;
  }
}

// --- bookkeeping -------------------------------------------------------------------------------------

TEST(Judge, NamesTheWorstBlock) {
  ConstraintProblem p = point(BlockKind::joint, 1, Vec3(0.1, -2, 0), 1);
  ConstraintBlock& b = p.add_block(BlockKind::limit, 1, std::vector<int>{0});
  p.jacobian_row(b, 0, 0)[1] = 1;
  p.finish();
  EXPECT_EQ(verdict(p, {0, 0}).worst_block, 1);
  p.u_free = Vec3(3, -2, 0);
  p.finish();
  EXPECT_EQ(verdict(p, {0, 0}).worst_block, 0);
}

TEST(Judge, VelocityAndSigmaAreLeftInTheWorkspace) {
  std::mt19937 rng(2);
  for (const std::vector<int>& sizes : testing::node_layouts()) {
    const ConstraintProblem p = testing::random_problem(sizes, rng);
    const VecX l = testing::random_vector(p.rows(), rng);
    JudgeWorkspace ws;
    const Residuals r = judge(p, {l.data(), static_cast<std::size_t>(l.size())}, ws);
    const MatX W = testing::dense_blocks(p, p.mass_inverse);
    const VecX u = p.u_free + W * p.dense_J().transpose() * l;
    EXPECT_LT((ws.u - u).norm(), 1e-10 * (1 + u.norm()));
    EXPECT_LT((ws.sigma - (p.dense_D_plus_R() * l + p.v_free)).norm(), 1e-10 * (1 + ws.sigma.norm()));
    EXPECT_LT(r.equations, 1e-9);
    EXPECT_NEAR(r.natural_map,
                std::max({r.natural_map_joint, r.natural_map_soft, r.natural_map_limit, r.natural_map_contact}), 0);
  }
}

TEST(Judge, AWrongMassInverseShowsInTheEquations) {
  ConstraintProblem p = point(BlockKind::joint, 2, Vec3(1, -2, 0));
  p.mass_inverse[0] = 0.6;  // u = u_f + W J' lambda, but M (u - u_f) is not J' lambda
  EXPECT_NEAR(verdict(p, {-2, 4, 0}).equations, 0.4, 1e-14);
}

// A NaN anywhere must be seen, for every kind of row and every place where it can come from.
TEST(Judge, NotANumberIsNeverMistakenForAnAnswer) {
  for (const BlockKind kind : {BlockKind::joint, BlockKind::soft, BlockKind::limit, BlockKind::contact}) {
    const int rows = kind == BlockKind::contact ? 3 : 1;
    const auto last = static_cast<std::size_t>(rows - 1);
    const auto make = [&] { return point(kind, 2, Vec3(1, 1, 1), rows, 0.5); };
    const std::vector<double> zero(static_cast<std::size_t>(rows), 0.0);
    EXPECT_TRUE(verdict(make(), zero).finite);
    std::vector<double> bad = zero;
    bad[last] = kNan;
    EXPECT_FALSE(verdict(make(), bad).finite) << "impulse, kind " << static_cast<int>(kind);
    ConstraintProblem p = make();
    p.u_free[0] = kNan;
    p.finish();
    EXPECT_FALSE(verdict(p, zero).finite) << "velocity, kind " << static_cast<int>(kind);
    p = make();
    p.bias[last] = kNan;
    p.finish();
    EXPECT_FALSE(verdict(p, zero).finite) << "bias, kind " << static_cast<int>(kind);
    p = make();
    p.R[last] = kNan;
    p.finish();
    EXPECT_FALSE(verdict(p, zero).finite) << "R, kind " << static_cast<int>(kind);
    p = make();
    p.jacobian[0] = kNan;
    p.finish();
    EXPECT_FALSE(verdict(p, zero).finite) << "Jacobian, kind " << static_cast<int>(kind);
  }
}

// --- errors of the convex formulation -------------------------------------------------------------------

TEST(ConvexErrors, VanishForTheExactAnswerOfAStickingContact) {
  JudgeWorkspace ws;
  const ConvexErrors e =
      convex_errors(point(BlockKind::contact, 2, Vec3(0.3, 0, -1), 3, 0.5), std::vector<double>{-0.6, 0, 2}, ws);
  EXPECT_LT(e.momentum, 1e-15);
  EXPECT_LT(e.complementarity, 1e-15);
}

TEST(ConvexErrors, MeasureAPerturbation) {
  // 0.1 N s too much: sigma = (0, 0, 0.05), sigma . lambda = 0.105; u - u_f = (-0.3, 0, 1.05), mass 2.
  JudgeWorkspace ws;
  const std::vector<double> lambda = {-0.6, 0, 2.1};
  const ConstraintProblem p = point(BlockKind::contact, 2, Vec3(0.3, 0, -1), 3, 0.5);
  EXPECT_NEAR(convex_errors(p, lambda, ws).complementarity, 0.105 / (0.09 + 1.05 * 1.05), 1e-15);
  // An inverse of the mass that is 1 % off: M du - J' lambda = 1 % of the impulse, in every norm.
  ConstraintProblem wrong = p;
  for (double& x : wrong.mass_inverse) x *= 1.01;
  const Vec3 u = Vec3(0.3, 0, -1) + 1.01 * Vec3(-0.3, 0, 1.05);
  EXPECT_NEAR(convex_errors(wrong, lambda, ws).momentum,
              0.01 * Vec3(0.6, 0, 2.1).norm() / std::max(2 * u.norm(), Vec3(0.6, 0, 2.1).norm()), 1e-15);
}

TEST(ConvexErrors, NothingToMeasureIsZero) {
  JudgeWorkspace ws;
  const ConvexErrors e = convex_errors(point(BlockKind::joint, 2, Vec3::Zero()), std::vector<double>{0, 0, 0}, ws);
  EXPECT_EQ(e.momentum, 0);
  EXPECT_EQ(e.complementarity, 0);
}

TEST(Judge, NoRowsNoResidual) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6});
  p.finish();
  const Residuals r = verdict(p, {});
  EXPECT_TRUE(r.finite);
  EXPECT_EQ(r.natural_map, 0);
  EXPECT_EQ(r.worst_block, -1);
  p.u_free[3] = kNan;
  EXPECT_FALSE(verdict(p, {}).finite);
}

// --- in two parts ------------------------------------------------------------------------------------

void expect_same(const Residuals& a, const Residuals& b) {
  for (const double Residuals::*x :
       {&Residuals::primal, &Residuals::dual, &Residuals::complementarity, &Residuals::natural_map,
        &Residuals::natural_map_ccp, &Residuals::natural_map_box, &Residuals::equations, &Residuals::joint_velocity,
        &Residuals::natural_map_joint, &Residuals::natural_map_soft, &Residuals::natural_map_limit,
        &Residuals::natural_map_contact}) {
    EXPECT_EQ(a.*x, b.*x);
  }
  for (int law = 0; law < 3; ++law) EXPECT_EQ(a.energy[law], b.energy[law]);
  EXPECT_EQ(a.worst_block, b.worst_block);
  EXPECT_EQ(a.finite, b.finite);
}

TEST(Judge, MeasuresAndJudgesInTwoPartsAsInOne) {
  std::mt19937 rng(8);
  for (int trial = 0; trial < 20; ++trial) {
    ConstraintProblem p = testing::random_problem({6, 6, 6, 6}, rng);
    p.finish();
    VecX x = testing::random_vector(p.rows(), rng);
    std::vector<double> lambda(x.begin(), x.end());
    JudgeWorkspace once, parts;
    const Residuals all = judge(p, lambda, once);
    EXPECT_EQ(measure(p, lambda, parts), all.energy[0]);
    EXPECT_EQ(parts.error, once.error);
    expect_same(judge_measured(p, lambda, parts), all);
    expect_same(judge_measured(p, lambda, parts), all);
    EXPECT_EQ(parts.u, once.u);
    // Other impulses, and another problem at the same place.
    lambda[0] += 1;
    expect_same(judge_measured(p, lambda, parts), judge(p, lambda, once));
    measure(p, lambda, parts);
    p.bias[0] += 1;
    p.finish();
    parts.forget();
    expect_same(judge_measured(p, lambda, parts), judge(p, lambda, once));
    lambda[1] = kNan;
    EXPECT_FALSE(judge_measured(p, lambda, parts).finite);
    EXPECT_EQ(measure(p, lambda, parts), std::numeric_limits<double>::infinity());
  }
}

}  // namespace
}  // namespace sarrus::judge_test
