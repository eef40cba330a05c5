#include "sarrus/solvers/ssn.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"
#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

constexpr double kStepScales[] = {1.0, 10.0, 0.1};
constexpr double kLeastShift = 1e-11;
constexpr double kLargestShift = 1e-3;
constexpr int kQuickSteps = 8;
constexpr int kQuickPatience = 2;

using Mat3Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

// Row of N: mu sigma_T / |sigma_T|.
Vec2 coupling(const Vec3& sigma, double mu) {
  const double t = length2(sigma[0], sigma[1]);
  if (t < 1e-13) return Vec2::Zero();
  return mu / t * sigma.head<2>();
}

// F of a slipping contact.
Vec3 contact_slip(const Vec3& lambda, const Vec3& y, double mu) { return lambda - project_cone(y, mu); }

// G <- G (1 + N)
void times_coupling(Mat3Row& G, const Vec2& q) {
  G.col(0) += q[0] * G.col(2);
  G.col(1) += q[1] * G.col(2);
}

// Stick: X = r (diag(R + delta) + e_n (R_T q)'), which is triangular.
void stick_block(const Vec3& F, const Vec3& R, const Vec2& q, double r, double delta, Mat3Row& G, Vec3& h) {
  const double t = 1.0 / (R[0] + delta);
  const double n = 1.0 / (R[2] + delta);
  const Vec2 below = -n * t * R[0] * q;
  G << t, 0, 0, 0, t, 0, below[0], below[1], n;
  h = G * F / r;
  times_coupling(G, q);
}

void slip_block(const Vec3& y, const Vec3& F, const Vec3& R, const Vec2& q, double mu, double r, double delta,
                Mat3Row& G, Vec3& h) {
  const double yt = length2(y[0], y[1]);
  const double tx = y[0] / yt;
  const double ty = y[1] / yt;
  const double m = std::sqrt(1.0 + mu * mu);
  const Vec3 e1(mu * tx / m, mu * ty / m, 1.0 / m);
  const Vec3 tau(-ty, tx, 0);
  const double kappa = mu * (mu * yt + y[2]) / (m * m) / yt;
  if (R[0] == 0 && R[2] == 0) {
    const Vec3 e2(tx / m, ty / m, -mu / m);
    const double c = 1.0 - kappa + r * kappa * delta;
    G = e1 * e1.transpose() / delta + (r * kappa / c) * tau * tau.transpose();
    h = e1 * (e1.dot(F) / (r * delta)) + e2 * e2.dot(F) + tau * (tau.dot(F) / c);
  } else {
    const Mat3 Pi = e1 * e1.transpose() + kappa * tau * tau.transpose();
    Mat3 inner = delta * Mat3::Identity();
    inner.diagonal() += R;
    inner(2, 0) += q[0] * R[0];
    inner(2, 1) += q[1] * R[1];
    const Mat3 X = Mat3::Identity() - Pi + r * Pi * inner;
    const Mat3 inverse = X.inverse();
    G = r * inverse * Pi;
    h = inverse * F;
  }
  times_coupling(G, q);
}

}  // namespace

Vec3 Ssn::contact_map(const Vec3& lambda, const Vec3& sigma, double mu, double r) {
  Vec3 v = sigma;
  v[2] += de_saxce(sigma, mu);
  return lambda - project_cone(lambda - r * v, mu);
}

Ssn::Local Ssn::contact_block(const Vec3& lambda, const Vec3& sigma, const Vec3& R, double mu, double r, double delta) {
  Local out;
  Vec3 v = sigma;
  v[2] += de_saxce(sigma, mu);
  const Vec2 q = coupling(sigma, mu);
  const Vec3 y = lambda - r * v;
  const double yt = length2(y[0], y[1]);
  Eigen::Map<Mat3Row> G(out.G);
  if (yt <= mu * y[2]) {
    Mat3Row block;
    stick_block(r * v, R, q, r, delta, block, out.h);
    G = block;
  } else if (mu * yt <= -y[2]) {
    G.setZero();
    out.h = lambda;
  } else {
    Mat3Row block;
    slip_block(y, lambda - project_cone(y, mu), R, q, mu, r, delta, block, out.h);
    G = block;
  }
  return out;
}

void Ssn::resize(const NcpProblem& p) {
  for (Iterate* x : {&x_, &trial_, &best_trial_}) {
    x->lambda.resize(p.rows());
    x->sigma.resize(p.rows());
    x->F.resize(p.rows());
    x->u.resize(p.padded_size());
    x->zones.resize(static_cast<std::size_t>(p.scalar_rows + p.contacts()));
  }
  for (GrowingVector* v : {&g_, &h_, &step_, &run_best_, &point_, &start_}) v->resize(p.rows());
  zones_.resize(x_.zones.size());
  scratch_.resize(p.padded_size());
  w_.resize(p.padded_size());
  const auto cones = static_cast<std::size_t>(9 * p.contacts());
  if (cones_.size() < cones) cones_.resize(cones);
}

void Ssn::evaluate(const NcpProblem& p, double r, Iterate& x) {
  x.size = p.evaluate(x.lambda, x.u, x.sigma, scratch_);
  std::size_t next = 0;
  for (int i = 0; i < p.scalar_rows; ++i) {
    const double y = x.lambda[i] - r * x.sigma[i];
    const bool low = y <= p.lower[i];
    const bool high = y >= p.upper[i];
    x.F[i] = low ? x.lambda[i] - p.lower[i] : high ? x.lambda[i] - p.upper[i] : r * x.sigma[i];
    x.zones[next++] = low ? Zone::open : high ? Zone::slip : Zone::stick;
  }
  for (std::size_t i = static_cast<std::size_t>(p.scalar_blocks); i < p.blocks.size(); ++i) {
    const NcpBlock& b = p.blocks[i];
    const Vec3 lambda = x.lambda.segment<3>(b.row);
    Vec3 v = x.sigma.segment<3>(b.row);
    v[2] += de_saxce(v, b.mu);
    const Vec3 y = lambda - r * v;
    const double t = length2(y[0], y[1]);
    const Zone zone = t <= b.mu * y[2] ? Zone::stick : b.mu * t <= -y[2] ? Zone::open : Zone::slip;
    x.zones[next++] = zone;
    x.F.segment<3>(b.row) = zone == Zone::stick  ? Vec3(r * v)
                            : zone == Zone::open ? lambda
                                                 : contact_slip(lambda, y, b.mu);
  }
  x.norm = x.F.norm();
}

// Weights G and right-hand sides h. True if H is symmetric.
bool Ssn::linearise(const NcpProblem& p, const SsnOptions& o, const Iterate& x) {
  for (int i = 0; i < p.scalar_rows; ++i) {
    const double y = x.lambda[i] - o.r * x.sigma[i];
    const bool inside = y > p.lower[i] && y < p.upper[i];
    g_[i] = inside ? 1.0 / (p.R[i] + o.delta) : 0.0;
    h_[i] = inside ? x.sigma[i] * g_[i] : x.F[i];
  }
  bool symmetric = true;
  double* G = cones_.data();
  for (std::size_t i = static_cast<std::size_t>(p.scalar_blocks); i < p.blocks.size(); ++i, G += 9) {
    const NcpBlock& b = p.blocks[i];
    const Local local =
        contact_block(x.lambda.segment<3>(b.row), x.sigma.segment<3>(b.row), p.R.segment<3>(b.row), b.mu, o.r, o.delta);
    std::copy_n(local.G, 9, G);
    h_.segment<3>(b.row) = local.h;
    symmetric = symmetric && G[1] == G[3] && G[2] == G[6] && G[5] == G[7];
  }
  return symmetric;
}

bool Ssn::direction(NcpSearch& search, const SsnOptions& o, const Iterate& x) {
  const NcpProblem& p = search.problem;
  const bool symmetric = linearise(p, o, x);
  if (!search.system.factor(p, g_.data(), cones_.data(), symmetric)) return false;
  p.multiply_Jt(h_.data(), w_.data());
  search.system.solve(w_.data());  // -du
  p.multiply_J(w_.data(), step_.data());
  for (int i = 0; i < p.scalar_rows; ++i) step_[i] = g_[i] * step_[i] - h_[i];
  const double* G = cones_.data();
  for (std::size_t i = static_cast<std::size_t>(p.scalar_blocks); i < p.blocks.size(); ++i, G += 9) {
    const int row = p.blocks[i].row;
    const Vec3 v = step_.segment<3>(row);
    step_.segment<3>(row) = Eigen::Map<const Mat3Row>(G) * v - h_.segment<3>(row);
  }
  return std::isfinite(step_.sum());
}

void Ssn::line_search(const NcpProblem& p, double r, double reference) {
  constexpr int kTrials = 6;
  double a = 1.0;
  double best_norm = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kTrials; ++k, a *= 0.5) {
    trial_.lambda = x_.lambda + a * step_;
    evaluate(p, r, trial_);
    if (trial_.norm <= (1.0 - 1e-4 * a) * reference) {
      std::swap(x_, trial_);
      return;
    }
    if (trial_.norm < best_norm) {
      best_norm = trial_.norm;
      std::swap(best_trial_, trial_);
    }
  }
  if (std::isfinite(best_norm)) std::swap(x_, best_trial_);
}

double Ssn::run(NcpSearch& search, const SsnOptions& given, GrowingVector& lambda) {
  const NcpProblem& p = search.problem;
  SsnOptions o = given;
  resize(p);
  x_.lambda = lambda;
  evaluate(p, o.r, x_);
  double best = p.error(x_.lambda, x_.sigma, x_.size);
  if (search.offer(x_.lambda, best)) return best;
  run_best_ = x_.lambda;
  double history[4] = {x_.norm, 0, 0, 0};
  int bad = 0;
  for (int step = 1; step <= o.steps && !search.exhausted(); ++step) {
    if (!std::isfinite(x_.norm) || !direction(search, o, x_)) break;
    ++search.iterations;
    const double norm = x_.norm;
    std::swap(zones_, x_.zones);
    x_.zones.resize(zones_.size());
    line_search(p, o.r, *std::max_element(history, history + 4));
    history[step % 4] = x_.norm;
    const double now = p.error(x_.lambda, x_.sigma, x_.size);
    const bool converged = search.offer(x_.lambda, now);
    if (now < best) {
      if (now < 0.9 * best) bad = 0;
      best = now;
      run_best_ = x_.lambda;
    } else if (++bad > o.patience) {
      break;
    }
    if (converged) break;
    if (o.adaptive) adapt(norm, o);
  }
  lambda = run_best_;
  return best;
}

// After a step from an iterate with |F| = norm and the zones in zones_.
void Ssn::adapt(double norm, SsnOptions& o) const {
  if (x_.zones == zones_) {
    o.delta = std::max(kLeastShift, (x_.norm < 0.5 * norm ? 0.1 : o.shrink) * o.delta);
  } else if (x_.norm > norm) {
    o.delta = std::min(kLargestShift, 10.0 * o.delta);
  }
}

bool Ssn::attempt(NcpSearch& search, GrowingVector& lambda, int steps) {
  const double r = kStepScales[search.attempts++ % 3];
  start_.resize(lambda.size());
  start_ = lambda;
  const double before = search.best_error();
  const double quick = run(search, {r, SsnOptions{}.delta, kQuickSteps, kQuickPatience}, lambda);
  if (search.done()) return search.converged();
  if (!(quick < 0.1 * before)) lambda = start_;
  run(search, {1.0, kLargestShift, steps, steps / 3, true, search.attempts % 2 == 0 ? 0.3 : 0.1}, lambda);
  return search.converged();
}

bool Ssn::attempt_from(NcpSearch& search, const GrowingVector& lambda, int steps) {
  point_.resize(lambda.size());
  point_ = lambda;
  return attempt(search, point_, steps);
}

void Ssn::refine(NcpSearch& search) {
  const NcpProblem& p = search.problem;
  if (search.exhausted()) return;
  resize(p);
  x_.lambda = search.answer();
  const SsnOptions plain{.r = 1.0, .delta = SsnOptions{}.delta, .steps = 1, .patience = 1};
  evaluate(p, plain.r, x_);
  if (!std::isfinite(x_.norm) || !direction(search, plain, x_)) return;
  ++search.iterations;
  line_search(p, plain.r, x_.norm);
  search.offer(x_.lambda, p.error(x_.lambda, x_.sigma, x_.size));
}

namespace {

struct SsnParameters {
  double r = 1.0;
  double delta = 1e-3;
  int max_iterations = 100;
  int patience = 30;
  bool adaptive = true;
};

const ParameterList<SsnParameters>& ssn_parameters() {
  static const ParameterList<SsnParameters> list = {
      {"r", "step of the natural map", 1e-6, 1e6, &SsnParameters::r},
      {"delta", "first proximal shift, relative to the scaled diag(D) = 1", 1e-14, 1, &SsnParameters::delta},
      {"adaptive", "let delta follow the changes of the active set, 0 or 1", 0, 1, &SsnParameters::adaptive},
      {"max_iterations", "Newton steps", 1, 1e9, &SsnParameters::max_iterations},
      {"patience", "steps without progress before giving up", 1, 1e9, &SsnParameters::patience},
  };
  return list;
}

class SsnMethod final : public IslandMethod {
 public:
  explicit SsnMethod(const SsnParameters& par) : par_(par) {}
  void solve(NcpSearch& search, GrowingVector& lambda) override {
    ssn_.run(search, {par_.r, par_.delta, par_.max_iterations, par_.patience, par_.adaptive}, lambda);
  }

 private:
  SsnParameters par_;
  Ssn ssn_;
};

}  // namespace

SolverInfo ssn_entry() {
  return solver_entry("ssn", "semismooth Newton on the NCP; needs a good warm start", Law::ncp, ssn_parameters(),
                      [](const SsnParameters& par) {
                        return make_island_solver([par] { return std::make_unique<SsnMethod>(par); }, {});
                      });
}

}  // namespace sarrus
