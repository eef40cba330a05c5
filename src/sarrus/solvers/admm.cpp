// Proximal ADMM of the papers on the whole problem, for the NCP and the CCP. (admm2.cpp is ours, by islands: the last
// stage of the cascade) (docs/theory/solvers.md §6; Carpentier et al. Alg. 1, Tsounis et al. Alg. 6).
//
//   minimise over x = y, y in K:   1/2 x'(D+R)x + x'(v_f + s),    s = Gamma(z) (NCP) or 0 (CCP)
//   x  = -(D + R + (eta+rho) 1)^-1 (v_f + s - eta x- - rho y- - z-)
//   xr = omega x + (1-omega) y-
//   y  = P_K(xr - z-/rho),   z = z- - rho (xr - y)
//   r_p = |x - y|,   r_d = |eta (x - x-) + rho (y - y-) - rho (omega-1)(x - y-)|
// x, y are impulses, z the augmented velocities (z in K*, y_j'z_j = 0 after each iteration). Penalty rules:
//   fixed     rho = rho0
//   linear    r_p >= alpha r_d: rho *= tau;      r_d >= alpha r_p: rho /= tau
//   spectral  rho = sqrt(L m) kappa^p;  the same tests move p by +-dp;  L = lambda_max(D+R)+eta, m = eta + min R
// The linear solve goes through the node graph (normal_matrix.h); a dense D serves as reference. Rows of joints, drives
// and limits are equilibrated (docs/theory/problem.md §5), contacts get one factor for all of them: the penalty is also
// the metric in which the iterates approach, and impulses that are alike stay inside their cones where impulses that
// count by sqrt(mass) leave them (docs/solvers/admm.md). Bilateral rows need no copy y: their set is the whole space,
// so a penalty would only be a proximal term that slows them down. They get eta alone unless split_joints = 1 (same
// fixed points). With Gamma there is no convergence proof and cycles exist: when the best judged residual stops
// falling, the update of Gamma is damped and other penalties are tried (same fixed points; not with the fixed rule).
// admm-paper and admm-paper-ccp are the papers' own form: no scaling, all rows split, rho may change in every
// iteration, none of our restarts, and the end by r_p, r_d and r_c = max_j |x_j'z_j| alone, in raw SI units:
//   r_p, r_d, r_c < tolerance     then the judge says what was reached, and `stalled` if it is not what was asked for
// With acceleration = 1 the iteration starts from extrapolated points (Goldstein, O'Donoghue, Setzer, Baraniuk 2014,
// Alg. 8: fast ADMM with restart). From y^ = y-, z^ = z-, a = 1:
//   (x, y, z) = one iteration from (y^, z^);   c = |z - z^|^2 / rho + rho |y - y^|^2      combined residual
//   c < 0.999 c-:  a+ = (1 + sqrt(1 + 4 a^2)) / 2,   y^+ = y + (a - 1) / a+ (y - y-),   z^+ likewise
//   else restart:  a+ = 1,  y^+ = y-,  z^+ = z-,  c = c- / 0.999
// A change of rho restarts, too, from (y, z). r_d is then measured from y^ instead of y-.
// All others stop when the judge confirms the tolerance; x and y are only asked whether it is worth judging.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/math/cones.h"
#include "sarrus/solvers/iterate_keeper.h"
#include "sarrus/solvers/normal_matrix.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

enum class PenaltyRule : std::uint8_t { fixed, linear, spectral };

struct AdmmParameters {
  int max_iterations = 2000;
  double rho0 = 1.0;          // first penalty of the fixed and linear rules
  double eta = 1e-6;          // proximal term, relative to the scaled diag(D) = 1
  double omega = 1.0;         // over-relaxation, 1 to 1.8
  double alpha = 4.0;         // ratio of residuals that triggers a change of rho
  double tau = 1.5;           // factor of the linear rule
  double p0 = 0.2;            // first exponent of the spectral rule
  double dp = 0.05;           // its step
  int adapt_every = 1;        // iterations between changes of rho
  int scaling = 1;            // 0: none, 1: equilibrated rows, one factor for all contacts, 2: one for each contact
  bool split_joints = false;  // penalise bilateral rows too, as the papers do
  bool restarts = true;       // damp Gamma and try other penalties where nothing gets better
  bool own_stop = false;      // end by r_p, r_d, r_c instead of by the judge
  bool acceleration = false;  // Nesterov extrapolation of (y, z) with restart
  bool dense = false;         // factor a dense D instead of the node graph (reference, small problems)
};

// A penalty that never changes wants rows of one size.
struct FixedParameters : AdmmParameters {
  FixedParameters() { scaling = 2; }
};

// The papers' form (Tsounis et al., Alg. 6).
struct PaperParameters : AdmmParameters {
  PaperParameters() {
    alpha = 10.0;
    scaling = 0;
    split_joints = true;
    restarts = false;
    own_stop = true;
  }
  int rule = 2;
};

// Their convex form: no proximal term, the first penalty for ever.
struct PaperCcpParameters : PaperParameters {
  PaperCcpParameters() {
    eta = 0.0;
    rule = 0;
  }
};

template <class P>
ParameterList<P> admm_parameters() {
  return {
      {"max_iterations", "iteration limit", 1, 1e9, &P::max_iterations},
      {"rho0", "first penalty of the fixed and linear rules", 1e-12, 1e12, &P::rho0},
      {"eta", "proximal term", 0, 1, &P::eta},
      {"omega", "over-relaxation", 0.1, 1.99, &P::omega},
      {"alpha", "ratio of residuals that changes the penalty", 1, 1e6, &P::alpha},
      {"tau", "factor of the linear rule", 1, 1e3, &P::tau},
      {"p0", "first exponent of the spectral rule", -1, 1, &P::p0},
      {"dp", "step of the spectral exponent", 0, 1, &P::dp},
      {"adapt_every", "iterations between changes of the penalty", 1, 1e9, &P::adapt_every},
      {"scaling", "0: none, 1: rows but one factor for all contacts, 2: one for each contact", 0, 2, &P::scaling},
      {"split_joints", "give bilateral rows the penalty too (the papers' form), 0 or 1", 0, 1, &P::split_joints},
      {"restarts", "damp Gamma and try other penalties where nothing gets better, 0 or 1", 0, 1, &P::restarts},
      {"own_stop", "end by r_p, r_d, r_c in SI units (the papers' test) instead of by the judge, 0 or 1", 0, 1,
       &P::own_stop},
      {"acceleration", "extrapolate y and z (Nesterov) with restart, 0 or 1", 0, 1, &P::acceleration},
      {"dense", "factor a dense D instead of the node graph, 0 or 1", 0, 1, &P::dense},
  };
}

template <class P>
ParameterList<P> paper_parameters() {
  ParameterList<P> list = admm_parameters<P>();
  list.push_back({"rule", "of the penalty, 0: fixed, 1: linear, 2: spectral", 0, 2, &P::rule});
  return list;
}

constexpr int kPatience = 300;  // iterations in which the best error must halve

class Admm final : public Solver {
 public:
  Admm(PenaltyRule rule, bool ccp, const AdmmParameters& parameters)
      : rule_(rule), ccp_(ccp), par_(parameters), keeper_(ccp ? Law::ccp : Law::ncp) {}

  SolveReport solve(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda) override;
  void reset() override {
    exponent_ = par_.p0;
    linear_rho_ = par_.rho0;
    power_known_ = false;
  }

 private:
  struct Norms {
    double primal = 0;
    double dual = 0;
    double velocity = 0;         // the larger of both as a velocity: says when judging is worth while
    double complementarity = 0;  // largest |x_j'z_j| over contacts and scalar rows
    double change = 0;           // |x - x-|, |y - y-|
    double size = 0;             // |y|
  };

  void resize(const ConstraintProblem& p);
  void scale_rows(const ConstraintProblem& p);
  void share_contact_scale(const ConstraintProblem& p);
  void warm_start(const ConstraintProblem& p, std::span<const double> lambda);
  void estimate_spectrum(const ConstraintProblem& p);
  void initial_penalty();
  bool factor(const ConstraintProblem& p);
  void iterate(const ConstraintProblem& p);
  void forget_momentum();
  void extrapolate();
  void weigh_step();
  void update_x(const ConstraintProblem& p);
  void project(const ConstraintProblem& p, const GrowingVector& point);
  void update_y_z(const ConstraintProblem& p);
  Norms norms(const ConstraintProblem& p) const;
  bool adapt(const Norms& n);
  bool restart(const SolveReport& report, Criterion criterion, double& last_best);
  // out = (D + R) in, of the scaled rows.
  void apply_D_plus_R(const ConstraintProblem& p, const GrowingVector& in, GrowingVector& out);
  bool consider(const ConstraintProblem& p, const Goal& goal, std::span<double> best, SolveReport& report);

  PenaltyRule rule_;
  bool ccp_;
  AdmmParameters par_;

  // Carried from solve to solve: exponent and penalty of the adaptive rules, eigenvector of D+R.
  double exponent_ = 0.2;
  double linear_rho_ = 1.0;
  GrowingVector power_;
  bool power_known_ = false;

  double rho_ = 1;
  int restarts_ = 0;
  double damping_ = 1.0;  // of the update of Gamma
  double L_ = 1, m_ = 1, kappa_ = 1;
  GrowingVector scale_, R_, v_free_, E_, weight_, split_, row_rho_;
  GrowingVector x_, y_, z_, x_old_, y_start_, rhs_, t_, gamma_, candidate_;
  // Acceleration: the last iterate and the point that the step began with; empty without it.
  GrowingVector y_last_, z_last_, z_start_;
  double momentum_ = 1;      // a
  double combined_ = 0;      // c
  bool stand_still_ = true;  // the next step starts from the last iterate: c rose, or it is the first
  VecX w_, w2_;
  NormalMatrix normal_;
  MatX dense_D_;
  Eigen::LLT<MatX> dense_llt_;
  IterateKeeper keeper_;
};

void Admm::resize(const ConstraintProblem& p) {
  const int n = p.rows();
  for (GrowingVector* v : {&scale_, &R_, &v_free_, &E_, &weight_, &split_, &row_rho_, &x_, &y_, &z_, &x_old_, &y_start_,
                           &rhs_, &t_, &gamma_, &candidate_}) {
    v->resize(n);
  }
  if (par_.acceleration) {
    for (GrowingVector* v : {&y_last_, &z_last_, &z_start_}) v->resize(n);
  }
  w_.resize(p.velocity_size());
  w2_.resize(p.velocity_size());
}

void Admm::scale_rows(const ConstraintProblem& p) {
  if (par_.scaling != 0) {
    scale_ = p.scale;
  } else {
    scale_.setOnes();
  }
  if (par_.scaling == 1) share_contact_scale(p);
  split_.setOnes();
  if (!par_.split_joints) split_.head(p.rows_of(BlockKind::joint)).setZero();
  for (int i = 0; i < p.rows(); ++i) {
    R_[i] = scale_[i] * scale_[i] * p.R[static_cast<std::size_t>(i)];
    v_free_[i] = scale_[i] * p.v_free[i];
  }
}

// Contacts get the geometric mean of their factors: of the size of one, and right in any units.
void Admm::share_contact_scale(const ConstraintProblem& p) {
  double sum = 0;
  int contacts = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::contact) continue;
    sum += std::log(p.scale[b.row]);
    ++contacts;
  }
  if (contacts == 0) return;
  const double common = std::exp(sum / contacts);
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::contact) scale_.segment<3>(b.row).setConstant(common);
  }
}

void Admm::apply_D_plus_R(const ConstraintProblem& p, const GrowingVector& in, GrowingVector& out) {
  candidate_ = scale_.cwiseProduct(in);
  p.multiply_Jt({candidate_.data(), static_cast<std::size_t>(candidate_.size())}, w_);
  p.multiply_M_inverse(w_, w2_);
  p.multiply_J(w2_, out);
  out = scale_.cwiseProduct(out) + R_.cwiseProduct(in);
}

void Admm::warm_start(const ConstraintProblem& p, std::span<const double> lambda) {
  for (int i = 0; i < p.rows(); ++i) x_[i] = lambda[static_cast<std::size_t>(i)] / scale_[i];
  project(p, x_);
  x_ = y_;
  if (x_.isZero(0)) {
    z_.setZero();
    return;
  }
  apply_D_plus_R(p, x_, z_);
  z_ += v_free_;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::joint) z_.segment(b.row, b.rows).setZero();
    if (b.kind == BlockKind::contact && !ccp_) z_[b.row + 2] += de_saxce(z_.segment<3>(b.row), b.mu);
  }
}

// Largest eigenvalue of D + R by power iteration; the last eigenvector is a good start for a similar problem.
void Admm::estimate_spectrum(const ConstraintProblem& p) {
  const int n = p.rows();
  int iterations = 5;
  if (!power_known_ || power_.size() != n) {
    power_known_ = true;
    power_.resize(n);
    for (int i = 0; i < n; ++i) power_[i] = 1.0 + 0.3 * std::sin(1.7 * i);
    iterations = 20;
  }
  double value = 1;
  for (int k = 0; k < iterations; ++k) {
    const double norm = power_.norm();
    if (!(norm > 1e-150) || !std::isfinite(norm)) {
      power_.setOnes();
      continue;
    }
    power_ /= norm;
    apply_D_plus_R(p, power_, t_);
    const double rayleigh = power_.dot(t_);
    power_ = t_;
    const bool settled = std::abs(rayleigh - value) <= 1e-2 * rayleigh;
    value = rayleigh;
    if (settled) break;
  }
  L_ = 1.05 * value + par_.eta;
  m_ = par_.eta + R_.minCoeff();
  if (!(m_ > 1e-300)) m_ = 1e-300;
  kappa_ = std::max(1.0, L_ / m_);
}

void Admm::initial_penalty() {
  switch (rule_) {
    case PenaltyRule::fixed:
      rho_ = par_.rho0;
      break;
    case PenaltyRule::linear:
      rho_ = linear_rho_;
      break;
    case PenaltyRule::spectral:
      rho_ = std::sqrt(L_ * m_) * std::pow(kappa_, exponent_);
      break;
  }
  rho_ = std::clamp(rho_, 1e-8 * L_, 1e8 * L_);
}

bool Admm::factor(const ConstraintProblem& p) {
  row_rho_ = rho_ * split_;
  E_ = (R_ + row_rho_ + VecX::Constant(R_.size(), par_.eta)).cwiseInverse();
  if (par_.dense) {
    MatX A = dense_D_;
    A.diagonal() += row_rho_;
    A.diagonal().array() += par_.eta;
    dense_llt_.compute(A);
    return dense_llt_.info() == Eigen::Success;
  }
  weight_ = scale_.cwiseAbs2().cwiseProduct(E_);
  return normal_.factor(p, {weight_.data(), static_cast<std::size_t>(weight_.size())});
}

// x = -(D + R + (eta + rho) 1)^-1 (v_f + s - eta x- - rho y- - z-)
void Admm::update_x(const ConstraintProblem& p) {
  rhs_ = par_.eta * x_ + row_rho_.cwiseProduct(y_) + z_ - v_free_;
  if (!ccp_) {
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind != BlockKind::contact) continue;
      double& gamma = gamma_[b.row + 2];
      gamma += damping_ * (de_saxce(z_.segment<3>(b.row), b.mu) - gamma);
      rhs_[b.row + 2] -= gamma;
    }
  }
  if (par_.dense) {
    x_ = dense_llt_.solve(rhs_);
    return;
  }
  t_ = E_.cwiseProduct(rhs_);
  candidate_ = scale_.cwiseProduct(t_);
  p.multiply_Jt({candidate_.data(), static_cast<std::size_t>(candidate_.size())}, w_);
  normal_.solve(w_);
  p.multiply_J(w_, candidate_);
  x_ = t_ - E_.cwiseProduct(scale_).cwiseProduct(candidate_);
}

// y = P_K(point), joint rows unchanged.
void Admm::project(const ConstraintProblem& p, const GrowingVector& point) {
  for (const ConstraintBlock& b : p.blocks) {
    switch (b.kind) {
      case BlockKind::joint:
        y_.segment(b.row, b.rows) = point.segment(b.row, b.rows);
        break;
      case BlockKind::soft:
        for (int i = b.row; i < b.row + b.rows; ++i) {
          const auto k = static_cast<std::size_t>(i);
          y_[i] = project_interval(point[i], p.lower[k] / scale_[i], p.upper[k] / scale_[i]);
        }
        break;
      case BlockKind::limit:
        for (int i = b.row; i < b.row + b.rows; ++i) y_[i] = std::max(0.0, point[i]);
        break;
      case BlockKind::contact:
        y_.segment<3>(b.row) = project_cone(point.segment<3>(b.row), b.mu);
        break;
    }
  }
}

void Admm::update_y_z(const ConstraintProblem& p) {
  // rhs_ is free again: the relaxed point and then the point to project.
  t_ = par_.omega * x_ + (1.0 - par_.omega) * y_start_;
  rhs_ = t_ - z_ / rho_;
  project(p, rhs_);
  for (int i = 0; i < p.rows_of(BlockKind::joint); ++i) y_[i] = split_[i] != 0 ? t_[i] : x_[i];
  z_ -= row_rho_.cwiseProduct(t_ - y_);
}

// The next step starts from the newest iterate.
void Admm::forget_momentum() {
  if (!par_.acceleration) return;
  y_last_ = y_;
  z_last_ = z_;
  combined_ = std::numeric_limits<double>::infinity();
  stand_still_ = true;
}

// (y, z) become the point that the next step starts from.
void Admm::extrapolate() {
  if (stand_still_) {
    momentum_ = 1;
    y_ = y_last_;
    z_ = z_last_;
    return;
  }
  const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum_ * momentum_));
  const double factor = (momentum_ - 1.0) / next;
  momentum_ = next;
  // The extrapolated point takes the place of the one before the newest, then both change places.
  y_last_ = y_ + factor * (y_ - y_last_);
  z_last_ = z_ + factor * (z_ - z_last_);
  std::swap(y_, y_last_);
  std::swap(z_, z_last_);
}

// Combined residual of the step from (y_old, z_old): did the extrapolation pay?
void Admm::weigh_step() {
  constexpr double kDecrease = 0.999;
  const double c = (z_ - z_start_).squaredNorm() / rho_ + rho_ * (y_ - y_start_).cwiseProduct(split_).squaredNorm();
  stand_still_ = c >= kDecrease * combined_;
  combined_ = stand_still_ ? combined_ / kDecrease : c;
}

void Admm::iterate(const ConstraintProblem& p) {
  x_old_ = x_;
  if (par_.acceleration) {
    extrapolate();
    z_start_ = z_;
  }
  y_start_ = y_;
  update_x(p);
  update_y_z(p);
  if (par_.acceleration) weigh_step();
}

Admm::Norms Admm::norms(const ConstraintProblem& p) const {
  Norms n;
  for (Eigen::Index i = 0; i < x_.size(); ++i) {
    const double primal = std::abs(x_[i] - y_[i]);
    const double dual = std::abs(par_.eta * (x_[i] - x_old_[i]) + row_rho_[i] * (y_[i] - y_start_[i]) -
                                 row_rho_[i] * (par_.omega - 1.0) * (x_[i] - y_start_[i]));
    n.primal = std::max(n.primal, primal);
    n.dual = std::max(n.dual, dual);
    n.velocity = std::max({n.velocity, primal * scale_[i] / (p.scale[i] * p.scale[i]), dual / scale_[i]});
    n.change = std::max({n.change, std::abs(x_[i] - x_old_[i]), std::abs(y_[i] - y_start_[i])});
    n.size = std::max(n.size, std::abs(y_[i]));
  }
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::contact) {
      n.complementarity = std::max(n.complementarity, std::abs(x_.segment<3>(b.row).dot(z_.segment<3>(b.row))));
    } else if (b.kind == BlockKind::limit) {
      for (int i = b.row; i < b.row + b.rows; ++i)
        n.complementarity = std::max(n.complementarity, std::abs(x_[i] * z_[i]));
    }
  }
  // A NaN is invisible to max; the sum shows it.
  if (!std::isfinite(x_.sum()) || !std::isfinite(z_.sum())) n.velocity = std::numeric_limits<double>::infinity();
  return n;
}

bool Admm::adapt(const Norms& n) {
  if (rule_ == PenaltyRule::fixed) return false;
  const int direction = n.primal >= par_.alpha * n.dual ? 1 : n.dual >= par_.alpha * n.primal ? -1 : 0;
  if (direction == 0) return false;
  const double before = rho_;
  if (rule_ == PenaltyRule::linear) {
    rho_ *= direction > 0 ? par_.tau : 1.0 / par_.tau;
  } else {
    rho_ *= std::pow(kappa_, direction * par_.dp);
  }
  rho_ = std::clamp(rho_, 1e-8 * L_, 1e8 * L_);
  if (rho_ == before) return false;
  if (rule_ == PenaltyRule::linear) linear_rho_ = rho_;
  if (rule_ == PenaltyRule::spectral) exponent_ += direction * par_.dp;
  return true;
}

// With Gamma the iteration has no convergence proof: it may cycle although the residuals are balanced. If the best
// judged residual did not halve in kPatience iterations, other penalties are tried, larger ones first.
bool Admm::restart(const SolveReport& report, Criterion criterion, double& last_best) {
  const double best = report.residuals.error(keeper_.law(), criterion);
  const bool progress = best < 0.5 * last_best;
  last_best = best;
  if (progress || rule_ == PenaltyRule::fixed || !par_.restarts) return false;
  // Found by trial on the problem families.
  constexpr double kFactors[] = {10.0, 10.0, 1e-3, 0.1, 10.0};
  rho_ = std::clamp(rho_ * kFactors[restarts_ % 5], 1e-8 * L_, 1e8 * L_);
  ++restarts_;
  damping_ = 0.1;
  return true;
}

// Judges y; keeps it if it is the best so far. True if the tolerance is met.
bool Admm::consider(const ConstraintProblem& p, const Goal& goal, std::span<double> best, SolveReport& report) {
  candidate_ = scale_.cwiseProduct(y_);
  return keeper_.consider(p, goal, view(candidate_), best, report);
}

SolveReport Admm::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  if (keeper_.settle(p, lambda, report)) return report;
  resize(p);
  scale_rows(p);
  warm_start(p, lambda);
  if (consider(p, goal, lambda, report)) return report;
  estimate_spectrum(p);
  initial_penalty();
  if (par_.dense) {
    dense_D_ = p.dense_D_plus_R();
    dense_D_ = scale_.asDiagonal() * dense_D_ * scale_.asDiagonal();
  } else {
    normal_.prepare(p);
  }
  if (!factor(p)) {
    report.status = SolveStatus::non_finite;
    return report;
  }
  report.factorisations = 1;
  constexpr int kJudgeEvery = 25;  // best-iterate bookkeeping when the cheap test does not fire
  int hold = 0;                    // no adaptation before this iteration
  double last_best = std::numeric_limits<double>::infinity();
  restarts_ = 0;
  damping_ = 1.0;
  gamma_.setZero();
  forget_momentum();
  // The judged error is the cheap one times a ratio that varies little; it is tightened when it promised too much.
  double ratio = 1.0;
  double worth = 1.0;
  for (int it = 1; it <= par_.max_iterations; ++it) {
    iterate(p);
    report.iterations = it;
    const Norms n = norms(p);
    if (!std::isfinite(n.velocity)) {
      report.status = SolveStatus::non_finite;
      return report;
    }
    if (it % kJudgeEvery == 0 && goal.out_of_time()) break;
    if (par_.own_stop && std::max({n.primal, n.dual, n.complementarity}) < goal.tolerance) {
      report.status = consider(p, goal, lambda, report) ? SolveStatus::converged : SolveStatus::stalled;
      return report;
    }
    const bool promising = !par_.own_stop && ratio * n.velocity <= worth * goal.tolerance;
    if (promising || (!par_.own_stop && it % kJudgeEvery == 0)) {
      if (consider(p, goal, lambda, report)) return report;
      if (n.velocity > 0) ratio = keeper_.last().error(keeper_.law(), goal.criterion) / n.velocity;
      if (promising) worth *= 0.3;
    }
    if (n.change <= 1e-15 * n.size) {
      report.status = consider(p, goal, lambda, report) ? SolveStatus::converged : SolveStatus::stalled;
      return report;
    }
    const bool restarted = it % kPatience == 0 && restart(report, goal.criterion, last_best);
    if (restarted || (it >= hold && it % par_.adapt_every == 0 && adapt(n))) {
      if (!factor(p)) {
        report.status = SolveStatus::non_finite;
        return report;
      }
      ++report.factorisations;
      forget_momentum();
    }
    if (restarted) hold = it + kPatience;
  }
  report.status = consider(p, goal, lambda, report) ? SolveStatus::converged : SolveStatus::max_iterations;
  return report;
}

std::unique_ptr<Solver> make_admm(PenaltyRule rule, Law law, const AdmmParameters& par) {
  auto solver = std::make_unique<Admm>(rule, law == Law::ccp, par);
  solver->reset();
  return solver;
}

template <class P = AdmmParameters>
SolverInfo entry(PenaltyRule rule, std::string_view id, std::string_view summary, Law law = Law::ncp) {
  return solver_entry(id, summary, law, admm_parameters<P>(),
                      [rule, law](const P& par) { return make_admm(rule, law, par); });
}

template <class P>
SolverInfo paper_entry(std::string_view id, std::string_view summary, Law law) {
  return solver_entry(id, summary, law, paper_parameters<P>(),
                      [law](const P& par) { return make_admm(static_cast<PenaltyRule>(par.rule), law, par); });
}

}  // namespace

SolverInfo admm_ncp_fp_entry() {
  return entry<FixedParameters>(PenaltyRule::fixed, "admm-ncp-fp", "ADMM on the NCP, fixed penalty");
}
SolverInfo admm_ncp_la_entry() {
  return entry(PenaltyRule::linear, "admm-ncp-la", "ADMM on the NCP, penalty adapted by a constant factor");
}
SolverInfo admm_ncp_sa_entry() {
  return entry(PenaltyRule::spectral, "admm-ncp-sa", "ADMM on the NCP, penalty adapted by the spectrum of D");
}
SolverInfo admm_ccp_entry() {
  return entry(PenaltyRule::spectral, "admm-ccp",
               "ADMM on the convex relaxation (CCP), spectral penalty; sliding bodies lift by dt mu v", Law::ccp);
}

SolverInfo admm_paper_entry() {
  return paper_entry<PaperParameters>("admm-paper", "ADMM on the NCP as the papers print it: nothing of ours in it",
                                      Law::ncp);
}
SolverInfo admm_paper_ccp_entry() {
  return paper_entry<PaperCcpParameters>(
      "admm-paper-ccp", "ADMM on the convex relaxation as the papers print it: fixed penalty, no proximal term",
      Law::ccp);
}

}  // namespace sarrus
