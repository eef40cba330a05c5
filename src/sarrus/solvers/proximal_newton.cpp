#include "sarrus/solvers/proximal_newton.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"

namespace sarrus {
namespace {

constexpr int kSteps = 40;

using Mat3Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

// dP_K(y), symmetric; y = 0 counts as inside.
Mat3Row cone_derivative(const Vec3& y, double mu) {
  const double t = length2(y[0], y[1]);
  if (t <= mu * y[2]) return Mat3Row::Identity();
  if (mu * t <= -y[2]) return Mat3Row::Zero();
  const double m2 = 1.0 + mu * mu;
  const Vec3 e(mu * y[0] / t, mu * y[1] / t, 1.0);
  const Vec3 tau(-y[1] / t, y[0] / t, 0.0);
  const double kappa = mu * (mu * t + y[2]) / (m2 * t);
  return e * e.transpose() / m2 + kappa * tau * tau.transpose();
}

}  // namespace

void ProximalNewton::resize(const NcpProblem& p) {
  for (GrowingVector* v : {&u_, &du_, &gradient_, &scratch_}) v->resize(p.padded_size());
  for (GrowingVector* v : {&lambda_, &velocity_, &sigma_, &shift_, &y_, &projected_, &g_, &dv_}) v->resize(p.rows());
  gamma_.assign(static_cast<std::size_t>(p.contacts()), 0.0);
  cones_.resize(9 * gamma_.size());
}

// y and P_K(y) at u.
void ProximalNewton::project(const NcpProblem& p) {
  sigma_ = velocity_;
  for (std::size_t k = 0; k < gamma_.size(); ++k) sigma_[p.scalar_rows + 3 * static_cast<int>(k) + 2] += gamma_[k];
  y_ = (lambda_ - sigma_).cwiseQuotient(shift_);  // lambda_ holds delta lambda_k
  projected_ = y_;
  p.project(projected_);
}

bool ProximalNewton::direction(NcpSearch& search) {
  const NcpProblem& p = search.problem;
  for (int i = 0; i < p.scalar_rows; ++i) g_[i] = y_[i] > p.lower[i] && y_[i] < p.upper[i] ? 1.0 / shift_[i] : 0.0;
  for (std::size_t k = 0; k < gamma_.size(); ++k) {
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    const double mu = p.blocks[static_cast<std::size_t>(p.scalar_blocks) + k].mu;
    Eigen::Map<Mat3Row>(cones_.data() + 9 * k) = cone_derivative(y_.segment<3>(row), mu) / shift_[row];
  }
  if (!search.system.factor(p, g_.data(), cones_.data(), true)) return false;
  du_ = -gradient_;
  search.system.solve(du_.data());
  p.multiply_J(du_.data(), dv_.data());
  p.multiply_A(du_, scratch_);
  curvature_ = du_.dot(scratch_);
  kinetic_ = scratch_.dot(u_ - p.u_free);
  return std::isfinite(curvature_);
}

// d/da of the objective at u + a du.
double ProximalNewton::slope(const NcpProblem& p, double a) const {
  double s = kinetic_ + a * curvature_;
  for (int i = 0; i < p.scalar_rows; ++i) {
    s -= dv_[i] * std::clamp(y_[i] - a * dv_[i] / shift_[i], p.lower[i], p.upper[i]);
  }
  for (std::size_t k = 0; k < gamma_.size(); ++k) {
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    const Vec3 d = dv_.segment<3>(row);
    s -= d.dot(project_cone(y_.segment<3>(row) - (a / shift_[row]) * d,
                            p.blocks[static_cast<std::size_t>(p.scalar_blocks) + k].mu));
  }
  return s;
}

// The slope rises with a; its zero by bracketing and regula falsi (Illinois).
double ProximalNewton::line_search(const NcpProblem& p) {
  const double start = slope(p, 0.0);
  if (!(start < 0)) return 0.0;
  const double full = slope(p, 1.0);
  if (std::abs(full) <= 0.1 * std::abs(start)) return 1.0;
  double low = 0, high = 1, slope_low = start, slope_high = full;
  for (int k = 0; k < 20 && slope_high < 0; ++k) {
    low = high;
    slope_low = slope_high;
    high *= 2;
    slope_high = slope(p, high);
  }
  double a = high;
  for (int k = 0; k < 20; ++k) {
    a = low + (high - low) * slope_low / (slope_low - slope_high);
    const double s = slope(p, a);
    if (std::abs(s) <= 0.1 * std::abs(start)) break;
    if (s < 0) {
      low = a;
      slope_low = s;
      slope_high *= 0.5;
    } else {
      high = a;
      slope_high = s;
      slope_low *= 0.5;
    }
  }
  return a;
}

// Newton from u; true if the step became negligible.
bool ProximalNewton::minimise(NcpSearch& search, int steps) {
  const NcpProblem& p = search.problem;
  for (int step = 0; step < steps && !search.exhausted(); ++step) {
    project(p);
    p.multiply_Jt(projected_.data(), scratch_.data());
    du_ = u_ - p.u_free;
    p.multiply_A(du_, gradient_);
    gradient_ -= scratch_;
    if (!direction(search)) return false;
    ++search.iterations;
    const double a = line_search(p);
    u_ += a * du_;
    velocity_ += a * dv_;
    // Progress of the dual residual, in units of impulses.
    if (!(dv_.cwiseAbs().maxCoeff() > 1e-3 * (lambda_ - shift_.cwiseProduct(projected_)).cwiseAbs().maxCoeff())) break;
  }
  project(p);
  return true;
}

bool ProximalNewton::run(NcpSearch& search, Ssn& ssn, int rounds, double delta, GrowingVector& lambda) {
  const NcpProblem& p = search.problem;
  resize(p);
  p.evaluate(lambda, u_, sigma_, scratch_);
  velocity_ = sigma_ - p.R.cwiseProduct(lambda);
  for (int round = 0; round < rounds && !search.exhausted(); ++round) {
    sigma_ = velocity_ + p.R.cwiseProduct(lambda);
    for (std::size_t k = 0; k < gamma_.size(); ++k) {
      const NcpBlock& b = p.blocks[static_cast<std::size_t>(p.scalar_blocks) + k];
      gamma_[k] = de_saxce(sigma_.segment<3>(b.row), b.mu);
    }
    shift_ = p.R;
    for (int row = p.scalar_rows; row < p.rows(); row += 3) {
      shift_.segment<3>(row).setConstant(p.R.segment<3>(row).maxCoeff());
    }
    shift_.array() += delta;
    lambda_ = (shift_ - p.R).cwiseProduct(lambda);
    const int before = search.system.factorisations();
    if (!minimise(search, kSteps)) return false;
    const int steps = search.system.factorisations() - before;
    delta = std::clamp(steps <= 6 ? 0.1 * delta : steps >= kSteps ? 10.0 * delta : delta, 1e-9, 1e-2);
    lambda = projected_;
    if (search.consider(lambda)) return true;
    if (round % 4 == 3 && ssn.attempt_from(search, lambda, 20)) return true;
  }
  return search.converged();
}

}  // namespace sarrus
