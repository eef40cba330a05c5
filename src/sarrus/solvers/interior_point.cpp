#include "sarrus/solvers/interior_point.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"
#include "sarrus/math/tools.h"
#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

constexpr double kStartShift = 1e-3;  // of bounded rows and cones in the starting point
constexpr double kLeastFriction = 1e-4;
// Next to the solution a few steps do; further away they do not help, and the iterations go on.
constexpr SsnOptions kPolish{.r = 1.0, .delta = 1e-8, .steps = 6, .patience = 1};
constexpr double kShortStep = 0.1;  // below, some products are far from tau: centre them first

using Mat3Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Vec3 times_T(const Vec3& x, double mu) { return {x[0], x[1], mu * x[2]}; }
Vec3 times_T_inverse(const Vec3& x, double mu) { return {x[0], x[1], x[2] / mu}; }
double outside(const Vec3& x) { return length2(x[0], x[1]) - x[2]; }

bool below(const NcpProblem& p, int i) { return p.lower[i] > -kInf; }
bool above(const NcpProblem& p, int i) { return p.upper[i] < kInf; }
// Rows whose bounds leave nothing to choose.
bool pinned(const NcpProblem& p, int i) {
  return below(p, i) && above(p, i) && p.upper[i] - p.lower[i] <= 1e-14 * (1.0 + std::abs(p.upper[i]));
}

}  // namespace

void InteriorPoint::resize(const NcpProblem& p) {
  for (GrowingVector* v : {&lambda_, &sigma_, &g_, &h_, &step_, &residual_, &run_best_, &polished_})
    v->resize(p.rows());
  for (GrowingVector* v : {&w_lower_, &w_upper_, &dw_lower_, &dw_upper_, &c_lower_, &c_upper_, &theta_}) {
    v->resize(p.scalar_rows);
    v->setZero();
  }
  for (GrowingVector* v : {&u_, &scratch_, &w_padded_}) v->resize(p.padded_size());
  cones_.resize(static_cast<std::size_t>(p.contacts()));
  cone_G_.resize(9 * cones_.size());
  terms_ = p.contacts();
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (!pinned(p, i)) terms_ += (below(p, i) ? 1 : 0) + (above(p, i) ? 1 : 0);
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    cones_[k].mu = std::max(p.blocks[static_cast<std::size_t>(p.scalar_blocks) + k].mu, kLeastFriction);
  }
}

// lambda = -(D + R + theta)^-1 v_f by Woodbury, w = sigma, both shifted into the cones.
bool InteriorPoint::start(NcpSearch& search) {
  const NcpProblem& p = search.problem;
  for (int i = 0; i < p.rows(); ++i) {
    const bool bounded = i >= p.scalar_rows || below(p, i) || above(p, i);
    g_[i] = 1.0 / (p.R[i] + (bounded ? kStartShift : shift_));
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    Eigen::Map<Mat3Row> G(cone_G_.data() + 9 * k);
    G.setZero();
    G.diagonal() = g_.segment<3>(row);
  }
  if (!search.system.factor(p, g_.data(), cone_G_.data(), true)) return false;
  h_ = g_.cwiseProduct(p.v_free);
  p.multiply_Jt(h_.data(), w_padded_.data());
  search.system.solve(w_padded_.data());
  p.multiply_J(w_padded_.data(), step_.data());
  lambda_ = g_.cwiseProduct(step_) - h_;
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (pinned(p, i)) lambda_[i] = p.lower[i];
  }
  size_ = p.evaluate(lambda_, u_, sigma_, scratch_);
  return shift_start(p);
}

bool InteriorPoint::shift_start(const NcpProblem& p) {
  double primal = 0, largest = 0, dual = 0, velocity = 0;
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (pinned(p, i) || !(below(p, i) || above(p, i))) continue;
    velocity = std::max(velocity, std::abs(p.v_free[i]));
    largest = std::max(largest, std::abs(lambda_[i]));
    if (below(p, i) && above(p, i)) continue;
    primal = std::max(primal, below(p, i) ? p.lower[i] - lambda_[i] : lambda_[i] - p.upper[i]);
    dual = std::max(dual, below(p, i) ? -sigma_[i] : sigma_[i]);
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    Cone& c = cones_[k];
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    c.w = sigma_.segment<3>(row);
    const Vec3 z = times_T(lambda_.segment<3>(row), c.mu);
    primal = std::max(primal, outside(z));
    largest = std::max(largest, std::abs(z[2]));
    dual = std::max(dual, outside(times_T_inverse(c.w, c.mu)));
    velocity = std::max({velocity, std::abs(p.v_free[row + 2]) / c.mu, length2(p.v_free[row], p.v_free[row + 1])});
  }
  const double d_p = std::max({1.5 * primal, 0.1 * largest, 1e-12});
  const double d_d = std::max({1.5 * dual, 0.5 * velocity, 1e-12});
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (pinned(p, i)) continue;
    const bool lo = below(p, i), hi = above(p, i);
    if (lo && hi) {
      const double width = p.upper[i] - p.lower[i];
      lambda_[i] = std::clamp(lambda_[i], p.lower[i] + 0.1 * width, p.upper[i] - 0.1 * width);
    } else if (lo || hi) {
      lambda_[i] += lo ? d_p : -d_p;
    }
    w_lower_[i] = lo ? (hi ? std::max(sigma_[i], 0.0) : sigma_[i]) + d_d : 0.0;
    w_upper_[i] = hi ? (lo ? std::max(-sigma_[i], 0.0) : -sigma_[i]) + d_d : 0.0;
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    lambda_[p.scalar_rows + 3 * static_cast<int>(k) + 2] += d_p / cones_[k].mu;
    cones_[k].w[2] += cones_[k].mu * d_d;
  }
  size_ = p.evaluate(lambda_, u_, sigma_, scratch_);
  return std::isfinite(d_p) && std::isfinite(d_d) && std::isfinite(sigma_.sum());
}

// lambda . w after a step of length a along (step, dw), per term.
double InteriorPoint::complementarity(const NcpProblem& p, double a) const {
  double sum = 0;
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (pinned(p, i)) continue;
    const double l = lambda_[i] + a * step_[i];
    if (below(p, i)) sum += (l - p.lower[i]) * (w_lower_[i] + a * dw_lower_[i]);
    if (above(p, i)) sum += (p.upper[i] - l) * (w_upper_[i] + a * dw_upper_[i]);
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    sum += (lambda_.segment<3>(row) + a * step_.segment<3>(row)).dot(cones_[k].w + a * cones_[k].dw);
  }
  return sum / std::max(terms_, 1);
}

// G, K^-1 and r_p at the current point.
void InteriorPoint::linearise(const NcpProblem& p, bool coupling) {
  for (int i = 0; i < p.scalar_rows; ++i) {
    residual_[i] = sigma_[i] - w_lower_[i] + w_upper_[i];
    theta_[i] = 0;
    if (pinned(p, i)) {
      g_[i] = 0;
      residual_[i] = 0;
      continue;
    }
    if (below(p, i)) theta_[i] += w_lower_[i] / (lambda_[i] - p.lower[i]);
    if (above(p, i)) theta_[i] += w_upper_[i] / (p.upper[i] - lambda_[i]);
    g_[i] = 1.0 / (theta_[i] + shift_ + p.R[i]);
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    Cone& c = cones_[k];
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    const Vec3 sigma = sigma_.segment<3>(row);
    const double slip = length2(sigma[0], sigma[1]);
    residual_.segment<3>(row) = sigma - c.w;
    residual_[row + 2] += c.mu * slip;
    const Vec3 z = times_T(lambda_.segment<3>(row), c.mu);
    c.nt = NtScaling(z, times_T_inverse(c.w, c.mu));
    c.l = c.nt.apply(z);
    c.coupling = coupling && slip >= 1e-14 ? Vec2(c.mu / slip * sigma.head<2>()) : Vec2::Zero();
    const double R_t = p.R[row], R_n = p.R[row + 2];
    Mat3 inverse = c.nt.inverse_shifted(R_t, R_n, c.mu, shift_);
    inverse.row(2) /= c.mu;
    inverse.col(2) /= c.mu;
    if (R_t != 0 && coupling) {
      // (1 + N) R adds e_n (R_t q)' to K: a rank-one change of the closed form.
      const Vec3 a(R_t * c.coupling[0], R_t * c.coupling[1], 0);
      const Vec3 column = inverse.col(2);
      inverse -= column * (a.transpose() * inverse).eval() / (1.0 + a.dot(column));
    }
    c.K_inverse = inverse;
    Eigen::Map<Mat3Row> G(cone_G_.data() + 9 * k);
    G = inverse;
    G.col(0) += c.coupling[0] * inverse.col(2);
    G.col(1) += c.coupling[1] * inverse.col(2);
  }
}

void InteriorPoint::predictor_rhs(const NcpProblem& p) {
  c_lower_ = -w_lower_;
  c_upper_ = -w_upper_;
  for (int i = 0; i < p.scalar_rows; ++i) h_[i] = g_[i] * (c_lower_[i] - c_upper_[i] - residual_[i]);
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    Cone& c = cones_[k];
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    c.r_c = -c.w;
    h_.segment<3>(row) = solve_K(p, c, row, c.r_c - residual_.segment<3>(row));
  }
}

// After the predictor step of length a, towards the complementarity `target`.
void InteriorPoint::corrector_rhs(const NcpProblem& p, double target, double a) {
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (pinned(p, i)) continue;
    if (below(p, i)) {
      c_lower_[i] = (target - a * a * step_[i] * dw_lower_[i]) / (lambda_[i] - p.lower[i]) - w_lower_[i];
    }
    if (above(p, i)) {
      c_upper_[i] = (target + a * a * step_[i] * dw_upper_[i]) / (p.upper[i] - lambda_[i]) - w_upper_[i];
    }
    h_[i] = g_[i] * (c_lower_[i] - c_upper_[i] - residual_[i]);
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    Cone& c = cones_[k];
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    const Vec3 x = c.nt.apply(times_T(step_.segment<3>(row), c.mu));
    const Vec3 y = c.nt.apply_inverse(times_T_inverse(c.dw, c.mu));
    Vec3 rhs = -lorentz_product(c.l, c.l) - a * a * lorentz_product(x, y);
    rhs[2] += target;
    c.r_c = times_T(c.nt.apply(lorentz_divide(c.l, rhs)), c.mu);
    h_.segment<3>(row) = solve_K(p, c, row, c.r_c - residual_.segment<3>(row));
  }
}

Vec3 InteriorPoint::coupled(const Cone& c, const Vec3& v) {
  return {v[0], v[1], v[2] + c.coupling[0] * v[0] + c.coupling[1] * v[1]};
}

// K^-1 b. Rigid contacts need it in factors: the eigenvalues of K^-1 reach from 1/delta down to 1e-9, and Theta times
// what is lost of the small ones would make r_p grow.
Vec3 InteriorPoint::solve_K(const NcpProblem& p, const Cone& c, int row, const Vec3& b) const {
  const bool rigid = p.R[row] == 0 && p.R[row + 2] == 0;
  return rigid ? c.nt.solve_shifted(b, c.mu, shift_) : Vec3(c.K_inverse * b);
}

// (step, dw) from h and r_c. The impulses of a contact come from b = r_c - r_p - (1 + N) J du at once, not as h - G J
// du, and dw from the first equation, not as r_c - Theta dlambda: what round-off leaves in r_p then is that of v.
bool InteriorPoint::solve_step(NcpSearch& search) {
  const NcpProblem& p = search.problem;
  p.multiply_Jt(h_.data(), w_padded_.data());
  search.system.solve(w_padded_.data());
  p.multiply_J(w_padded_.data(), step_.data());
  for (int i = 0; i < p.scalar_rows; ++i) {
    step_[i] = h_[i] - g_[i] * step_[i];
    if (pinned(p, i)) continue;
    if (below(p, i)) dw_lower_[i] = c_lower_[i] - w_lower_[i] / (lambda_[i] - p.lower[i]) * step_[i];
    if (above(p, i)) dw_upper_[i] = c_upper_[i] + w_upper_[i] / (p.upper[i] - lambda_[i]) * step_[i];
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    Cone& c = cones_[k];
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    const Vec3 r_p = residual_.segment<3>(row);
    const Vec3 v = coupled(c, step_.segment<3>(row));
    const Vec3 d = solve_K(p, c, row, c.r_c - r_p - v);
    step_.segment<3>(row) = d;
    const Vec3 Rd = coupled(c, p.R.segment<3>(row).cwiseProduct(d));
    c.dw = r_p + v + Rd + shift_ * Vec3(d[0], d[1], c.mu * c.mu * d[2]);
  }
  return std::isfinite(step_.sum());
}

double InteriorPoint::step_to_boundary(const NcpProblem& p) const {
  double a = kInf;
  const auto bound = [&](double x, double d) {
    if (d < 0) a = std::min(a, -x / d);
  };
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (pinned(p, i)) continue;
    if (below(p, i)) {
      bound(lambda_[i] - p.lower[i], step_[i]);
      bound(w_lower_[i], dw_lower_[i]);
    }
    if (above(p, i)) {
      bound(p.upper[i] - lambda_[i], -step_[i]);
      bound(w_upper_[i], dw_upper_[i]);
    }
  }
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    const Cone& c = cones_[k];
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    a = std::min(a, lorentz_step(times_T(lambda_.segment<3>(row), c.mu), times_T(step_.segment<3>(row), c.mu)));
    a = std::min(a, lorentz_step(times_T_inverse(c.w, c.mu), times_T_inverse(c.dw, c.mu)));
  }
  return a;
}

void InteriorPoint::advance(const NcpProblem& p, double a, bool reset_slack) {
  lambda_ += a * step_;
  w_lower_ += a * dw_lower_;
  w_upper_ += a * dw_upper_;
  size_ = p.evaluate(lambda_, u_, sigma_, scratch_);
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    Cone& c = cones_[k];
    c.w += a * c.dw;
    if (!reset_slack) continue;
    const int row = p.scalar_rows + 3 * static_cast<int>(k);
    c.w[2] = std::max(c.w[2], sigma_[row + 2] + c.mu * length2(sigma_[row], sigma_[row + 1]));
  }
}

bool InteriorPoint::run(NcpSearch& search, const InteriorPointOptions& o, Ssn& ssn) {
  const NcpProblem& p = search.problem;
  shift_ = o.shift;
  resize(p);
  run_best_.setZero();
  if (!start(search)) return false;
  double best = kInf;
  double reference = kInf;
  // Problems that begin with less than an error of 1 are polished later.
  double polish_below = o.polish_from * std::min(1.0, p.error(run_best_, p.v_free, 0.0));
  int stalled = 0;
  for (int it = 0; it < o.iterations && !search.exhausted(); ++it) {
    const double now = p.error(lambda_, sigma_, size_);
    if (!std::isfinite(now)) return false;
    if (search.offer(lambda_, now)) return true;
    if (now < best) {
      best = now;
      run_best_ = lambda_;
    }
    if (now < polish_below) {
      polish_below = 0.1 * now;
      polished_ = lambda_;
      ssn.run(search, kPolish, polished_);
      if (search.done()) return true;
    }
    if (now < 0.8 * reference) {
      reference = now;
      stalled = 0;
    } else if (++stalled >= 8) {
      return true;
    }
    linearise(p, o.coupling);
    if (!search.system.factor(p, g_.data(), cone_G_.data(), !o.coupling || cones_.empty())) return false;
    ++search.iterations;
    predictor_rhs(p);
    if (!solve_step(search)) return false;
    const double a = std::min(1.0, step_to_boundary(p));
    const double tau = complementarity(p, 0.0);
    const double ratio = tau > 0 ? complementarity(p, a) / tau : 0.0;
    const double centring = std::clamp(ratio * ratio * ratio, 1e-6, 1.0);
    corrector_rhs(p, centring * tau, a);
    if (!solve_step(search)) return false;
    double length = step_to_boundary(p);
    if (length < kShortStep) {
      corrector_rhs(p, tau, 0.0);
      if (!solve_step(search)) return false;
      length = step_to_boundary(p);
    }
    advance(p, std::min(1.0, o.fraction * length), o.reset_slack);
  }
  return true;
}

namespace {

struct InteriorPointParameters {
  bool coupling = true;
  double fraction = 0.99;
  bool reset_slack = false;
  int max_iterations = 60;
  double polish_from = 1e-4;
};

const ParameterList<InteriorPointParameters>& interior_point_parameters() {
  using P = InteriorPointParameters;
  static const ParameterList<P> list = {
      {"coupling", "De Saxce coupling in the Newton matrix (LU), 0: Cholesky", 0, 1, &P::coupling},
      {"fraction", "of the step to the boundary", 0.1, 0.9999, &P::fraction},
      {"reset_slack", "keep the slack above the velocity after each step, 0 or 1", 0, 1, &P::reset_slack},
      {"max_iterations", "iteration limit, polishing steps not counted", 1, 1e9, &P::max_iterations},
      {"polish_from", "error from which semismooth Newton steps are tried; 0: never", 0, 1e9, &P::polish_from},
  };
  return list;
}

class InteriorPointMethod final : public IslandMethod {
 public:
  explicit InteriorPointMethod(const InteriorPointParameters& p)
      : options_{p.coupling, p.fraction, p.reset_slack, p.max_iterations, p.polish_from} {}
  void solve(NcpSearch& search, GrowingVector& lambda) override {
    if (search.consider(lambda)) return;
    point_.run(search, options_, ssn_);
    if (!search.done() && options_.polish_from > 0) ssn_.attempt_from(search, point_.best(), 40);
  }

 private:
  InteriorPointOptions options_;
  InteriorPoint point_;
  Ssn ssn_;
};

}  // namespace

SolverInfo ipm_entry() {
  return solver_entry("ipm", "interior point on the NCP, polished by semismooth Newton", Law::ncp,
                      interior_point_parameters(), [](const InteriorPointParameters& par) {
                        return make_island_solver([par] { return std::make_unique<InteriorPointMethod>(par); }, {});
                      });
}

}  // namespace sarrus
