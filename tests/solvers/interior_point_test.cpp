// The interior point method: algebra of the cones, step lengths, Newton directions against the full KKT system, and the
// promises of its iterates.
#include "sarrus/solvers/interior_point.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"
#include "sarrus/problem_files/problem_file.h"
#include "solvers/dense_ncp.h"
#include "solvers/hard_problems.h"
#include "support/dense.h"

namespace sarrus {

// The method taken apart: one iteration at a time.
struct InteriorPointProbe {
  InteriorPoint ip;
  NcpSearch search;

  const NcpProblem& problem() const { return search.problem; }
  bool begin(const ConstraintProblem& p) {
    testing::load(search, p);
    ip.resize(search.problem);
    return ip.start(search);
  }
  bool predictor(bool coupling) {
    ip.linearise(search.problem, coupling);
    if (!search.system.factor(search.problem, ip.g_.data(), ip.cone_G_.data(), !coupling)) return false;
    ip.predictor_rhs(search.problem);
    return ip.solve_step(search);
  }
  bool corrector(double target, double a) {
    ip.corrector_rhs(search.problem, target, a);
    return ip.solve_step(search);
  }
  // Gamma as a given bias: a convex problem, whose residuals fall along its central path.
  void freeze(const VecX& lambda) {
    NcpProblem& p = search.problem;
    const VecX sigma = testing::sigma_of(p, lambda);
    for (int k = 0; k < p.contacts(); ++k) {
      const int row = p.scalar_rows + 3 * k;
      const double gamma = p.blocks[static_cast<std::size_t>(p.scalar_blocks + k)].mu * sigma.segment<2>(row).norm();
      p.bias[row + 2] += gamma;
      p.v_free[row + 2] += gamma;
    }
    p.law = Law::ccp;
  }
  bool start(double shift) {
    ip.shift_ = shift;
    return ip.start(search);
  }
  // One iteration as run() takes it, Gamma frozen; the residual it started from is in residual().
  bool frozen_step() {
    const NcpProblem& p = search.problem;
    ip.linearise(p, false);
    for (int k = 0; k < p.contacts(); ++k) {
      const int row = p.scalar_rows + 3 * k;
      ip.residual_[row + 2] -= ip.cones_[static_cast<std::size_t>(k)].mu * length2(ip.sigma_[row], ip.sigma_[row + 1]);
    }
    if (!search.system.factor(p, ip.g_.data(), ip.cone_G_.data(), true)) return false;
    ip.predictor_rhs(p);
    if (!ip.solve_step(search)) return false;
    const double a = std::min(1.0, boundary());
    const double ratio = tau(a) / tau(0);
    if (!corrector(std::clamp(ratio * ratio * ratio, 1e-6, 1.0) * tau(0), a)) return false;
    if (boundary() < 0.1 && !corrector(tau(0), 0.0)) return false;
    advance(std::min(1.0, 0.99 * boundary()), false);
    return true;
  }
  // Largest entry of the projection of lambda on K less its natural map, without Gamma.
  double natural_map() const {
    const NcpProblem& p = search.problem;
    double worst = 0;
    for (int i = 0; i < p.scalar_rows; ++i) {
      worst = std::max(worst, sarrus::natural_map(ip.lambda_[i], ip.sigma_[i], p.lower[i], p.upper[i]));
    }
    for (int k = 0; k < p.contacts(); ++k) {
      const int row = p.scalar_rows + 3 * k;
      const double mu = p.blocks[static_cast<std::size_t>(p.scalar_blocks + k)].mu;
      const Vec3 lambda = ip.lambda_.segment<3>(row);
      const Vec3 map = lambda - project_cone(lambda - Vec3(ip.sigma_.segment<3>(row)), mu);
      worst = std::max(worst, map.cwiseAbs().maxCoeff());
    }
    return worst;
  }

  double tau(double a) const { return ip.complementarity(search.problem, a); }
  double boundary() const { return ip.step_to_boundary(search.problem); }
  void advance(double a, bool reset) { ip.advance(search.problem, a, reset); }

  struct Contact {
    Vec3 w, dw, r_c;
    double mu;
    Mat3 Theta, N;
    NtScaling nt;
  };
  int contacts() const { return static_cast<int>(ip.cones_.size()); }
  Contact contact(int k) const {
    const auto& c = ip.cones_[static_cast<std::size_t>(k)];
    Contact out{c.w, c.dw, c.r_c, c.mu, {}, Mat3::Zero(), c.nt};
    const Vec3 T(1, 1, c.mu);
    for (int i = 0; i < 3; ++i) {
      const Vec3 column = c.nt.apply(c.nt.apply(T.cwiseProduct(Vec3::Unit(i))));
      out.Theta.col(i) = T.cwiseProduct(column);
    }
    out.N.row(2).head<2>() = c.coupling.transpose();
    return out;
  }
  VecX lambda() const { return ip.lambda_; }
  VecX sigma() const { return ip.sigma_; }
  VecX step() const { return ip.step_; }
  VecX residual() const { return ip.residual_; }
  struct Bounds {
    double w_lower, w_upper, dw_lower, dw_upper, c_lower, c_upper;
  };
  Bounds bounds(int i) const {
    return {ip.w_lower_[i], ip.w_upper_[i], ip.dw_lower_[i], ip.dw_upper_[i], ip.c_lower_[i], ip.c_upper_[i]};
  }
};

}  // namespace sarrus

namespace sarrus::interior_point_test {
namespace {

double uniform(std::mt19937& rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng);
}

// Inside Q, at a relative distance from the boundary.
Vec3 inside(std::mt19937& rng, double distance) {
  const Vec2 t = testing::random_vector(2, rng).normalized();
  const double n = std::pow(10.0, uniform(rng, -2, 2));
  return n * Vec3((1 - distance) * t[0], (1 - distance) * t[1], 1);
}

Mat3 matrix(const NtScaling& nt, bool inverse) {
  Mat3 out;
  for (int i = 0; i < 3; ++i) out.col(i) = inverse ? nt.apply_inverse(Vec3::Unit(i)) : nt.apply(Vec3::Unit(i));
  return out;
}

// --- cones -------------------------------------------------------------------------------------------------

TEST(NtCone, ScalingMapsBothPointsToOne) {
  std::mt19937 rng(400);
  double worst = 0, worst_inverse = 0, worst_square = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const Vec3 z = inside(rng, uniform(rng, 0.1, 1));
    const Vec3 s = inside(rng, uniform(rng, 0.1, 1));
    const NtScaling nt(z, s);
    const Vec3 l = nt.apply(z);
    const Mat3 W = matrix(nt, false);
    worst = std::max(worst, (l - nt.apply_inverse(s)).norm() / l.norm());
    worst_inverse = std::max(worst_inverse, (W * matrix(nt, true) - Mat3::Identity()).norm());
    worst_square = std::max(worst_square, (nt.apply(l) - s).norm() / s.norm());
    EXPECT_LT((W - W.transpose()).norm(), 1e-15 * W.norm());
    EXPECT_NEAR(nt.q[2] * nt.q[2], 1 + nt.q.head<2>().squaredNorm(), 1e-13 * nt.q[2] * nt.q[2]);
  }
  EXPECT_LT(worst, 1e-13);
  EXPECT_LT(worst_inverse, 1e-12);
  EXPECT_LT(worst_square, 1e-13);
}

TEST(NtCone, ScalingNextToTheBoundary) {
  std::mt19937 rng(401);
  double worst = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const Vec3 z = inside(rng, std::pow(10.0, uniform(rng, -6, -1)));
    const Vec3 s = inside(rng, std::pow(10.0, uniform(rng, -6, -1)));
    const NtScaling nt(z, s);
    const Vec3 l = nt.apply(z);
    // Relative to the size that l has for points in general position: opposite ones cancel in W z.
    worst = std::max(worst, (l - nt.apply_inverse(s)).norm() / std::sqrt(z.norm() * s.norm()));
  }
  EXPECT_LT(worst, 3e-12);
}

TEST(NtCone, EigenvaluesOfTheSquare) {
  std::mt19937 rng(402);
  for (int trial = 0; trial < 1000; ++trial) {
    const NtScaling nt(inside(rng, uniform(rng, 0.01, 1)), inside(rng, uniform(rng, 0.01, 1)));
    const Mat3 W = matrix(nt, false);
    const double t = nt.q.head<2>().norm();
    const double z2 = nt.zeta * nt.zeta;
    const Mat3 closed = z2 * (2 * nt.q * nt.q.transpose() - Mat3(Vec3(-1, -1, 1).asDiagonal()));
    EXPECT_LT((W * W - closed).norm(), 1e-13 * closed.norm());
    const Vec3 values = (W * W).selfadjointView<Eigen::Lower>().eigenvalues();
    const double f = std::pow(nt.q[2] + t, 2);
    EXPECT_NEAR(values[0], z2 / f, 1e-13 * z2 * f);
    EXPECT_NEAR(values[1], z2, 1e-13 * z2 * f);
    EXPECT_NEAR(values[2], z2 * f, 1e-13 * z2 * f);
  }
}

TEST(NtCone, ProductAndDivision) {
  std::mt19937 rng(403);
  const Vec3 e(0, 0, 1);
  for (int trial = 0; trial < 1000; ++trial) {
    const Vec3 l = inside(rng, uniform(rng, 0.01, 1));
    const Vec3 p = testing::random_vector(3, rng);
    const Vec3 x = lorentz_divide(l, p);
    EXPECT_LT((lorentz_product(l, x) - p).norm(), 1e-15 * 30 * l.norm() * x.norm());
    EXPECT_EQ(lorentz_product(l, e), l);
    EXPECT_EQ(lorentz_product(l, p), lorentz_product(p, l));
  }
}

TEST(NtCone, ClosedInverseOfTheShiftedBlock) {
  std::mt19937 rng(404);
  double worst = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const NtScaling nt(inside(rng, std::pow(10.0, uniform(rng, -6, 0))),
                       inside(rng, std::pow(10.0, uniform(rng, -6, 0))));
    const double R_t = trial % 2 == 0 ? 0 : uniform(rng, 0, 2);
    const double R_n = trial % 2 == 0 ? 0 : uniform(rng, 0, 2);
    const double mu = std::pow(10.0, uniform(rng, -2, 0.6));
    const double delta = std::pow(10.0, uniform(rng, -8, -2));
    // T^-1 K T^-1, whose inverse it is
    const Mat3 W2 = nt.zeta * nt.zeta * (2 * nt.q * nt.q.transpose() - Mat3(Vec3(-1, -1, 1).asDiagonal()));
    const Mat3 K = W2 + Mat3(Vec3(R_t, R_t, R_n / (mu * mu)).asDiagonal()) + delta * Mat3::Identity();
    const Mat3 inverse = nt.inverse_shifted(R_t, R_n, mu, delta);
    const Vec3 values = K.selfadjointView<Eigen::Lower>().eigenvalues();
    const double condition = values[2] / std::max(values[0], 1e-16 * values[2]);
    worst = std::max(worst, (inverse * K - Mat3::Identity()).norm() / condition);
  }
  EXPECT_LT(worst, 1e-15);
  // At q_T = 0 any direction will do.
  const NtScaling centre(Vec3(0, 0, 2), Vec3(0, 0, 3));
  EXPECT_LT((centre.inverse_shifted(0, 0, 0.5, 0.1) - Mat3(Mat3::Identity() / (1.5 + 0.1))).norm(), 1e-15);
}

double bisected_step(const Vec3& x, const Vec3& d) {
  const auto in = [&](double a) { return lorentz_det(x + a * d) >= 0 && x[2] + a * d[2] >= 0; };
  double high = 1e-3;
  while (in(high) && high < 1e8) high *= 1.5;
  if (high >= 1e8) return std::numeric_limits<double>::infinity();
  double low = 0;
  for (int k = 0; k < 200; ++k) {
    const double a = 0.5 * (low + high);
    (in(a) ? low : high) = a;
  }
  return low;
}

TEST(NtCone, StepLengthMatchesBisection) {
  std::mt19937 rng(405);
  double worst = 0;
  int unbounded = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Vec3 x = inside(rng, uniform(rng, 0.05, 1)).normalized();
    const Vec3 d = testing::random_vector(3, rng);
    const double step = lorentz_step(x, d);
    const double reference = bisected_step(x, d);
    if (std::isinf(reference)) {
      ++unbounded;
      EXPECT_GT(step, 1e7);
      continue;
    }
    worst = std::max(worst, std::abs(step - reference) / reference);
  }
  EXPECT_LT(worst, 2e-12);
  EXPECT_GT(unbounded, 500);
}

TEST(NtCone, StepsAlongTheAxisAndTowardsTheApex) {
  const Vec3 x(0, 0, 2);
  EXPECT_EQ(lorentz_step(x, Vec3(0, 0, 1)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(lorentz_step(x, Vec3(0, 0, -1)), 2);
  EXPECT_EQ(lorentz_step(x, Vec3(1, 0, 0)), 2);
  EXPECT_EQ(lorentz_step(x, Vec3(1, 0, -1)), 1);  // det d = 0
  EXPECT_EQ(lorentz_step(x, Vec3(1, 0, 1)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(lorentz_step(x, Vec3::Zero()), std::numeric_limits<double>::infinity());
}

// --- Newton directions -------------------------------------------------------------------------------------

constexpr double kShift = 1e-8;  // delta of the method

enum class Rows { compliant, rigid_without_joints, rigid };
constexpr Rows kRows[] = {Rows::compliant, Rows::rigid_without_joints, Rows::rigid};
const char* name_of(Rows rows) {
  return rows == Rows::compliant ? "R > 0" : rows == Rows::rigid ? "R = 0" : "R = 0, no joints";
}

// Rigid joints have G = 1 / delta: the impulses of a step lose digits like 2e-16 / delta times the velocities, however
// the elimination is arranged. Everything else can be held to 1e-10.
double step_tolerance(Rows rows) { return rows == Rows::rigid ? 50 * 2.2e-16 / kShift : 1e-10; }

ConstraintProblem kkt_problem(std::mt19937& rng, Rows rows) {
  const bool compliant = rows == Rows::compliant;
  ConstraintProblem p = testing::feasible_problem(rng);
  if (rows == Rows::rigid_without_joints) {
    std::vector<int> blocks = testing::counting(p.blocks.size());
    std::erase_if(blocks, [&](int b) { return p.blocks[static_cast<std::size_t>(b)].kind == BlockKind::joint; });
    p = testing::rebuild(p, testing::counting(p.node_size.size()), blocks);
  }
  // One row of each kind of bounds besides limits: from above only, and two-sided.
  std::size_t soft = 0;
  for (const ConstraintBlock& b : p.blocks) {
    const auto row = static_cast<std::size_t>(b.row);
    if (b.kind == BlockKind::soft && soft++ == 0) p.lower[row] = -std::numeric_limits<double>::infinity();
    for (int r = 0; compliant && r < b.rows; ++r) p.R[row + static_cast<std::size_t>(r)] = r < 2 ? 0.3 : 0.2;
  }
  return p;
}

// Unknowns du, dlambda and one dw per row, where dw = dw_lower - dw_upper on scalar rows.
struct Kkt {
  MatX matrix;
  VecX rhs;
};

Kkt full_system(const InteriorPointProbe& probe) {
  const NcpProblem& p = probe.problem();
  const int n = p.padded_size();
  const int m = p.rows();
  const MatX J = testing::dense_J(p);
  MatX Theta = MatX::Zero(m, m);
  MatX one_N = MatX::Identity(m, m);
  MatX delta = kShift * MatX::Identity(m, m);
  VecX r_c = VecX::Zero(m);
  const VecX lambda = probe.lambda();
  for (int i = 0; i < p.scalar_rows; ++i) {
    const InteriorPointProbe::Bounds b = probe.bounds(i);
    if (std::isfinite(p.lower[i])) Theta(i, i) += b.w_lower / (lambda[i] - p.lower[i]);
    if (std::isfinite(p.upper[i])) Theta(i, i) += b.w_upper / (p.upper[i] - lambda[i]);
    r_c[i] = b.c_lower - b.c_upper;
  }
  for (int k = 0; k < probe.contacts(); ++k) {
    const InteriorPointProbe::Contact c = probe.contact(k);
    const int row = p.scalar_rows + 3 * k;
    Theta.block<3, 3>(row, row) = c.Theta;
    one_N.block<3, 3>(row, row) += c.N;
    delta(row + 2, row + 2) *= c.mu * c.mu;
    r_c.segment<3>(row) = c.r_c;
  }
  Kkt out;
  out.matrix = MatX::Zero(n + 2 * m, n + 2 * m);
  out.matrix.topLeftCorner(n, n) = testing::dense_A(p);
  out.matrix.block(0, n, n, m) = -J.transpose();
  out.matrix.block(n, 0, m, n) = one_N * J;
  out.matrix.block(n, n, m, m) = one_N * MatX(VecX(p.R).asDiagonal()) + delta;
  out.matrix.block(n, n + m, m, m) = -MatX::Identity(m, m);
  out.matrix.block(n + m, n, m, m) = Theta;
  out.matrix.block(n + m, n + m, m, m) = MatX::Identity(m, m);
  out.rhs.resize(n + 2 * m);
  out.rhs << VecX::Zero(n), -probe.residual(), r_c;
  return out;
}

VecX slack_step(const InteriorPointProbe& probe) {
  VecX dw(probe.problem().rows());
  for (int i = 0; i < probe.problem().scalar_rows; ++i) dw[i] = probe.bounds(i).dw_lower - probe.bounds(i).dw_upper;
  for (int k = 0; k < probe.contacts(); ++k) dw.segment<3>(probe.problem().scalar_rows + 3 * k) = probe.contact(k).dw;
  return dw;
}

double direction_error(const InteriorPointProbe& probe) {
  const Kkt kkt = full_system(probe);
  const VecX x = test::solve_any(kkt.matrix, kkt.rhs);
  const int n = probe.problem().padded_size();
  const int m = probe.problem().rows();
  const double size = 1 + x.tail(2 * m).norm();
  return ((probe.step() - x.segment(n, m)).norm() + (slack_step(probe) - x.tail(m)).norm()) / size;
}

TEST(InteriorPointStep, DirectionsSolveTheFullKktSystem) {
  for (const Rows rows : kRows) {
    for (const bool coupling : {true, false}) {
      std::mt19937 rng(406);
      double worst = 0;
      for (int trial = 0; trial < 20; ++trial) {
        InteriorPointProbe probe;
        ASSERT_TRUE(probe.begin(kkt_problem(rng, rows)));
        for (int it = 0; it < 4; ++it) {  // from the start towards the boundary
          ASSERT_TRUE(probe.predictor(coupling));
          worst = std::max(worst, direction_error(probe));
          const double a = std::min(1.0, probe.boundary());
          ASSERT_TRUE(probe.corrector(0.1 * probe.tau(0), a));
          worst = std::max(worst, direction_error(probe));
          probe.advance(std::min(1.0, 0.9 * probe.boundary()), false);
        }
      }
      EXPECT_LT(worst, step_tolerance(rows)) << name_of(rows) << (coupling ? "" : ", symmetric");
    }
  }
}

// The corrector's step and slack step satisfy the linearised complementarity with Mehrotra's term:
//   x dw + w dx = target - x w - a^2 dx_a dw_a,   on cones  l o (dz~ + ds~) = target e - l o l - a^2 dz~_a o ds~_a
TEST(InteriorPointStep, CorrectorAimsAtItsTarget) {
  std::mt19937 rng(410);
  double worst = 0;
  const auto record = [&](double left, double right) {
    worst = std::max(worst, std::abs(left - right) / (1 + std::abs(left) + std::abs(right)));
  };
  for (int trial = 0; trial < 20; ++trial) {
    InteriorPointProbe probe;
    ASSERT_TRUE(probe.begin(kkt_problem(rng, kRows[trial % 2])));
    ASSERT_TRUE(probe.predictor(trial % 3 != 0));
    const VecX affine_step = probe.step();
    std::vector<InteriorPointProbe::Bounds> affine_bounds;
    for (int i = 0; i < probe.problem().scalar_rows; ++i) affine_bounds.push_back(probe.bounds(i));
    std::vector<Vec3> affine_dw;
    for (int k = 0; k < probe.contacts(); ++k) affine_dw.push_back(probe.contact(k).dw);
    const double a = 0.5 * std::min(1.0, probe.boundary());
    const double target = 0.2 * probe.tau(0);
    ASSERT_TRUE(probe.corrector(target, a));
    const NcpProblem& p = probe.problem();
    const VecX lambda = probe.lambda();
    for (int i = 0; i < p.scalar_rows; ++i) {
      const InteriorPointProbe::Bounds b = probe.bounds(i), b_a = affine_bounds[static_cast<std::size_t>(i)];
      const double d = probe.step()[i], d_a = affine_step[i];
      if (std::isfinite(p.lower[i])) {
        const double x = lambda[i] - p.lower[i];
        record(x * b.dw_lower + b.w_lower * d, target - x * b.w_lower - a * a * d_a * b_a.dw_lower);
      }
      if (std::isfinite(p.upper[i])) {
        const double x = p.upper[i] - lambda[i];
        record(x * b.dw_upper - b.w_upper * d, target - x * b.w_upper + a * a * d_a * b_a.dw_upper);
      }
    }
    for (int k = 0; k < probe.contacts(); ++k) {
      const InteriorPointProbe::Contact c = probe.contact(k);
      const int row = p.scalar_rows + 3 * k;
      const Vec3 T(1, 1, c.mu);
      const auto dz = [&](const VecX& step) { return c.nt.apply(T.cwiseProduct(Vec3(step.segment<3>(row)))); };
      const auto ds = [&](const Vec3& dw) { return c.nt.apply_inverse(dw.cwiseQuotient(T)); };
      const Vec3 l = c.nt.apply(T.cwiseProduct(Vec3(lambda.segment<3>(row))));
      const Vec3 left = lorentz_product(l, dz(probe.step()) + ds(c.dw));
      const Vec3 second = lorentz_product(dz(affine_step), ds(affine_dw[static_cast<std::size_t>(k)]));
      const Vec3 right = Vec3(0, 0, target) - lorentz_product(l, l) - a * a * second;
      for (int r = 0; r < 3; ++r) record(left[r], right[r]);
    }
  }
  EXPECT_LT(worst, 1e-10);
}

// Rows without a curved Gamma: r_p shrinks by the step, apart from the shift.
TEST(InteriorPointStep, LinearResidualsShrinkAsPredicted) {
  std::mt19937 rng(407);
  for (int trial = 0; trial < 20; ++trial) {
    const Rows rows = kRows[trial % 3];
    InteriorPointProbe probe;
    ASSERT_TRUE(probe.begin(kkt_problem(rng, rows)));
    ASSERT_TRUE(probe.predictor(true));
    ASSERT_TRUE(probe.corrector(0.1 * probe.tau(0), std::min(1.0, probe.boundary())));
    const VecX before = probe.residual();
    const VecX step = probe.step();
    const double a = std::min(1.0, 0.9 * probe.boundary());
    probe.advance(a, false);
    ASSERT_TRUE(probe.predictor(true));  // evaluates the residual
    const VecX after = probe.residual();
    const NcpProblem& p = probe.problem();
    for (int i = 0; i < p.rows(); ++i) {
      const double predicted = (1 - a) * before[i] - a * kShift * step[i];
      const double size = 1 + before.cwiseAbs().maxCoeff();
      const bool normal = i >= p.scalar_rows && (i - p.scalar_rows) % 3 == 2;
      if (normal) {  // Gamma is convex: never below the prediction
        EXPECT_GT(after[i], predicted - 1e-7 * size) << i;
      } else {
        EXPECT_NEAR(after[i], predicted, step_tolerance(rows) * size) << name_of(rows) << ", " << i;
      }
    }
  }
}

void expect_interior(const InteriorPointProbe& probe, bool reset) {
  const NcpProblem& p = probe.problem();
  const VecX lambda = probe.lambda();
  const VecX sigma = probe.sigma();
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (std::isfinite(p.lower[i])) {
      EXPECT_GT(lambda[i], p.lower[i]);
      EXPECT_GT(probe.bounds(i).w_lower, 0);
    }
    if (std::isfinite(p.upper[i])) {
      EXPECT_LT(lambda[i], p.upper[i]);
      EXPECT_GT(probe.bounds(i).w_upper, 0);
    }
  }
  for (int k = 0; k < probe.contacts(); ++k) {
    const InteriorPointProbe::Contact c = probe.contact(k);
    const int row = p.scalar_rows + 3 * k;
    EXPECT_LT(lambda.segment<2>(row).norm(), c.mu * lambda[row + 2]);
    EXPECT_LT(c.mu * c.w.head<2>().norm(), c.w[2]);
    if (reset) {
      EXPECT_GE(c.w[2] * (1 + 1e-14), sigma[row + 2] + c.mu * std::hypot(sigma[row], sigma[row + 1]));
    }
  }
}

TEST(InteriorPointStep, IteratesStayInside) {
  for (const bool reset : {false, true}) {
    std::mt19937 rng(408);
    for (int trial = 0; trial < 20; ++trial) {
      InteriorPointProbe probe;
      ASSERT_TRUE(probe.begin(kkt_problem(rng, kRows[trial % 3])));
      expect_interior(probe, false);
      const double first = probe.tau(0);
      // Stops before rounding decides on which side of the boundary a number is.
      for (int it = 0; it < 40 && probe.tau(0) > 1e-6 * first; ++it) {
        ASSERT_TRUE(probe.predictor(true));
        const double a = std::min(1.0, probe.boundary());
        const double centring = std::clamp(std::pow(probe.tau(a) / probe.tau(0), 3), 1e-6, 1.0);
        ASSERT_TRUE(probe.corrector(centring * probe.tau(0), a));
        probe.advance(std::min(1.0, 0.99 * probe.boundary()), reset);
        expect_interior(probe, reset);
      }
      EXPECT_LT(probe.tau(0), 1e-3 * first);
    }
  }
}

// --- digits --------------------------------------------------------------------------------------------------

// The second equation of a contact, T^-1 (Theta dlambda + dw) = T^-1 r_c, by eigenvector of W^2: all in one, not even a
// long double would hold the small eigenvalues beside the large one. W is the one of the method: next to the boundary
// det z hangs on the last digits of z.
struct Eigenrows {
  test::MatXl of_lambda, of_w;
  test::VecXl rhs;
  Vec3 plus;
};

Eigenrows eigenrows(const InteriorPointProbe::Contact& c) {
  using Real = long double;
  const Real q[2] = {c.nt.q[0], c.nt.q[1]};
  const Real z2 = static_cast<Real>(c.nt.zeta) * c.nt.zeta;
  const Real t = std::sqrt(q[0] * q[0] + q[1] * q[1]);
  const Real f = (std::sqrt(1 + t * t) + t) * (std::sqrt(1 + t * t) + t);
  const Real h = std::sqrt(static_cast<Real>(0.5));
  const Real x = q[0] / t, y = q[1] / t;
  test::MatXl basis(3, 3);
  basis << h * x, h * y, h, h * x, h * y, -h, -y, x, 0;
  const Real theta[3] = {z2 * f, z2 / f, z2};
  Eigenrows out{test::MatXl(3, 3), test::MatXl(3, 3), test::VecXl(3), {}};
  for (int i = 0; i < 3; ++i) {
    out.rhs[i] = 0;
    for (int j = 0; j < 3; ++j) {
      const Real T = j == 2 ? c.mu : 1;
      out.of_lambda(i, j) = theta[i] * basis(i, j) * T;
      out.of_w(i, j) = basis(i, j) / T;
      out.rhs[i] += out.of_w(i, j) * c.r_c[j];
    }
  }
  for (int j = 0; j < 3; ++j) out.plus[j] = static_cast<double>(basis(0, j));
  return out;
}

// A step next to the solution, where slipping contacts have eigenvalues of Theta that are 1e15 apart, against the same
// equations in long double: components along (q_T, 1), which belong to the largest of them.
TEST(InteriorPointDigits, SlippingContactsNextToTheSolution) {
  std::mt19937 rng(411);
  double worst_lambda = 0, worst_w = 0;
  int slipping = 0;
  for (int trial = 0; trial < 20; ++trial) {
    InteriorPointProbe probe;
    ASSERT_TRUE(probe.begin(kkt_problem(rng, Rows::rigid_without_joints)));
    for (int it = 0; it < 60 && probe.tau(0) > 1e-12; ++it) {
      ASSERT_TRUE(probe.predictor(true));
      const double a = std::min(1.0, probe.boundary());
      ASSERT_TRUE(probe.corrector(std::clamp(std::pow(probe.tau(a) / probe.tau(0), 3), 1e-6, 1.0) * probe.tau(0), a));
      probe.advance(std::min(1.0, 0.99 * probe.boundary()), false);
    }
    ASSERT_LT(probe.tau(0), 1e-12);
    ASSERT_TRUE(probe.predictor(true));
    const NcpProblem& p = probe.problem();
    const Kkt kkt = full_system(probe);
    test::MatXl matrix = kkt.matrix.cast<long double>();
    test::VecXl rhs = kkt.rhs.cast<long double>();
    const int n = p.padded_size(), m = p.rows();
    for (int k = 0; k < probe.contacts(); ++k) {
      const int row = p.scalar_rows + 3 * k;
      const Eigenrows e = eigenrows(probe.contact(k));
      matrix.block(n + m + row, n + row, 3, 3) = e.of_lambda;
      matrix.block(n + m + row, n + m + row, 3, 3) = e.of_w;
      rhs.segment(n + m + row, 3) = e.rhs;
    }
    const VecX x = test::solve_long(matrix, rhs).cast<double>();
    VecX v(m);
    p.multiply_J(x.data(), v.data());
    for (int k = 0; k < probe.contacts(); ++k) {
      const InteriorPointProbe::Contact c = probe.contact(k);
      const double t = c.nt.q.head<2>().norm();
      if (std::pow(c.nt.q[2] + t, 4) < 1e10) continue;  // sticks or opens
      ++slipping;
      const int row = p.scalar_rows + 3 * k;
      const Vec3 T(1, 1, c.mu);
      const Vec3 plus = eigenrows(c).plus;
      const Vec3 d_lambda = T.cwiseProduct(Vec3(x.segment<3>(n + row)));
      const Vec3 d_w = Vec3(x.segment<3>(n + m + row)).cwiseQuotient(T);
      const double lambda_error = plus.dot(T.cwiseProduct(Vec3(probe.step().segment<3>(row))) - d_lambda);
      const double w_error = plus.dot(c.dw.cwiseQuotient(T) - d_w);
      worst_lambda = std::max(worst_lambda, std::abs(lambda_error) / d_lambda.norm());
      worst_w = std::max(worst_w, std::abs(w_error) / (d_w.norm() + v.cwiseAbs().maxCoeff()));
    }
  }
  EXPECT_GT(slipping, 10);
  EXPECT_LT(worst_lambda, 1e-14);
  EXPECT_LT(worst_w, 10 * 2.2e-16 / kShift);  // the digits of J du, of which it is a difference
}

// The ring that lands flat: 80 contacts on three freedoms out of the plane. With Gamma frozen the problem is convex,
// and nothing but round-off can make r_p grow.
TEST(InteriorPointDigits, ResidualsOfAConvexProblemNeverGrow) {
  const std::filesystem::path file = testing::hard_problem("ring20_tilted-20");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const StoredProblem stored = load_problem(file);
  for (const double shift : {1e-10, 1e-8, 1e-6}) {
    InteriorPointProbe probe;
    ASSERT_TRUE(probe.begin(stored.problem));
    GrowingVector warm;
    warm.resize(probe.problem().rows());
    probe.problem().gather(stored.warm, warm);
    probe.freeze(warm);
    ASSERT_TRUE(probe.start(shift));
    double last = kInf, best = kInf;
    for (int it = 0; it < 60 && probe.tau(0) > 1e-16; ++it) {
      ASSERT_TRUE(probe.frozen_step()) << shift << ", " << it;
      const double now = probe.residual().cwiseAbs().maxCoeff();
      best = std::min(best, probe.natural_map());
      // The shift leaves delta T^2 dlambda, rounding that of velocities over delta.
      EXPECT_LE(now, last + 10 * 2.2e-16 / shift + shift * probe.step().cwiseAbs().maxCoeff()) << shift << ", " << it;
      last = now;
    }
    EXPECT_LE(best, std::max(1e-8, 10 * 2.2e-16 / shift)) << shift;
  }
}

// --- the solver --------------------------------------------------------------------------------------------

TEST(InteriorPointSolver, EveryVariantSolvesWithPolishing) {
  std::mt19937 rng(409);
  for (int trial = 0; trial < 10; ++trial) {
    const ConstraintProblem p = kkt_problem(rng, kRows[trial % 3]);
    for (const double coupling : {0.0, 1.0}) {
      for (const double reset : {0.0, 1.0}) {
        const testing::Answer a = testing::solve(p, "ipm", 1e-9, {{"coupling", coupling}, {"reset_slack", reset}});
        EXPECT_EQ(a.report.status, SolveStatus::converged) << trial << ", " << coupling << ", " << reset;
        EXPECT_LE(a.judged.error(), 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace sarrus::interior_point_test
