// Drumwright's compliant contact with friction as one QCQP (docs/theory/solvers.md §10.3, [D]), in impulses.
//
// Rows n (normals), u (limits) and T (both tangents) after elimination of the bilateral ones (bilateral_reduction.h),
// with S = D + R and v of the reduced problem, eta = 1/R: h^2 K + h B on n, u and h B_T on T:
//   min   zeta/2 |l_n|^2 + zeta/2 |l_u|^2 + 1/2 |l_T|^2 + 1/2 |eta_T (S l + v)_T|^2
//   s.t.  (S l + v)_n,u >= 0,   l_n, l_u >= 0,   |l_T| <= mu l_n per contact
// The papers' force form is this one divided by h^2 (Z = eta S, d = eta v); R_i (1/kg), l (N s), v (m/s).
//
// It is not Coulomb's law, and the judge (NCP) shows by how much:
//   - Sticking friction is k^2/(1+k^2) of what is needed, k = eta_T S_TT, because of the term 1/2 |l_T|^2.
//   - Nothing but zeta keeps l_n small. With zeta = 1/h and large eta_T the minimum of a sliding contact has
//     l_n = k mu c / (zeta + mu^2 (1 + k^2)), c = eta_T v_T, if that exceeds the compression: normal impulses grow
//     until friction stops the body. Coulomb sliding needs zeta > k mu c / l_n, 1e13 or so for eta_T = 1e6.
//
// The objective is nearly flat in l_n (zeta against eta_T^2, 1e2 against 1e12). Slack ADMM met a relative tolerance of
// 1e-8 far from the minimum (normal force of a box on four feet 18 N instead of 11.6 N), so this is a barrier method:
// Newton's method on
//   tau f(l) - sum log (S l + v)_n,u - sum log l_u - sum log(mu^2 l_n^2 - |l_T|^2)
// for growing tau, from a strictly feasible start without friction (block pivoting). It ends when its gap nu / tau (nu:
// degree of the barrier) is own_tolerance times the energy 1/2 sum w_i l_i^2, w = zeta or 1, which is the flat part.
// Status: converged only if the judge says so; stalled if the method met its own tolerance and the judge does not
// agree, or if rounding lets it make no more progress (then the better of its point and no impulse at all is returned);
// max_iterations if it was cut off; infeasible if R = 0 on a row of n, u or of T with mu > 0, or if bounded soft rows
// (treated as bilateral) leave their bounds. The warm start is not used. One iteration is one Newton step (one dense
// Cholesky factorisation).
#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/math/cones.h"
#include "sarrus/solvers/bilateral_reduction.h"
#include "sarrus/solvers/block_pivoting.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct DrumQcqpParameters {
  double zeta = 0;              // weight of normal impulses, 0: 1/dt of the problem
  double own_tolerance = 1e-8;  // gap at which the method ends, relative to the energy of the impulses
  int max_iterations = 500;     // Newton steps
};

constexpr double kGrowth = 8.0;           // of tau
constexpr double kSmallDecrement = 1e-2;  // squared Newton decrement at which tau grows
constexpr int kStartPivots = 10000;
constexpr int kMostSteps = 40;  // for one tau; more are needed only where rounding rules

class DrumQcqp final : public Solver {
 public:
  explicit DrumQcqp(const DrumQcqpParameters& par) : par_(par) {}
  SolveReport solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) override;
  void reset() override {}

 private:
  struct Cone {
    int row = 0;  // of the first tangent among the reduced rows
    double mu = 0;
  };

  bool split_rows(const ConstraintProblem& p);
  void build(const ConstraintProblem& p);
  bool feasible_start();
  bool feasible(const GrowingVector& x) const;
  // Gradient of the barrier function at x.
  void gradient(double tau, const GrowingVector& x, GrowingVector& out) const;
  void assemble(double tau);
  // Newton direction into step_; its squared decrement, negative if there is none.
  double newton_step(double tau, SolveReport& report);
  void move(double tau, double decrement);
  // True if the method met its own tolerance; else the status says why not.
  bool minimise(SolveReport& report);
  bool bounds_hold() const;
  double slack(const GrowingVector& x, int i) const { return reduction_.S().row(i).dot(x) + reduction_.v()[i]; }
  double cone_slack(const GrowingVector& x, const Cone& c) const {
    return c.mu * c.mu * x[c.row + 2] * x[c.row + 2] - x[c.row] * x[c.row] - x[c.row + 1] * x[c.row + 1];
  }
  Eigen::Map<MatX> H() { return {H_.data(), n_, n_}; }
  Eigen::Map<const MatX> H() const { return {H_.data(), n_, n_}; }

  DrumQcqpParameters par_;
  IterateKeeper keeper_{Law::ncp};
  Mlcp mlcp_, start_;
  BilateralReduction reduction_;
  BlockPivoting pivoting_;
  DenseCholesky cholesky_;
  int n_ = 0;                // reduced rows
  std::vector<int> normal_;  // of these: limits and normals
  std::vector<int> scalar_;  // of these: limits and normals without friction
  std::vector<Cone> cones_;  // contacts with friction
  std::vector<int> index_;
  GrowingVector H_, g_, weight_, system_, shift_;
  GrowingVector x_, trial_, gradient_, step_;
  GrowingVector candidate_;
};

// Bilateral rows and the others, in the problem's order; tangents without friction are left out. False if a row lacks
// the compliance that the method needs.
bool DrumQcqp::split_rows(const ConstraintProblem& p) {
  reduction_.bilateral.clear();
  reduction_.others.clear();
  normal_.clear();
  scalar_.clear();
  cones_.clear();
  bool compliant = true;
  for (const ConstraintBlock& b : p.blocks) {
    const bool bilateral = b.kind == BlockKind::joint || b.kind == BlockKind::soft;
    const bool friction = b.kind == BlockKind::contact && b.mu > 0;
    if (friction) cones_.push_back({static_cast<int>(reduction_.others.size()), b.mu});
    for (int i = b.kind == BlockKind::contact && !friction ? b.row + 2 : b.row; i < b.row + b.rows; ++i) {
      if (bilateral) {
        reduction_.bilateral.push_back(i);
        continue;
      }
      const int mine = static_cast<int>(reduction_.others.size());
      reduction_.others.push_back(i);
      if (!friction || i == b.row + 2) normal_.push_back(mine);
      if (!friction) scalar_.push_back(mine);
      compliant = compliant && p.R[static_cast<std::size_t>(i)] > 0;
    }
  }
  n_ = reduction_.size();
  return compliant;
}

// H and g of the objective.
void DrumQcqp::build(const ConstraintProblem& p) {
  const double zeta = par_.zeta > 0 ? par_.zeta : p.dt > 0 ? 1.0 / p.dt : 1.0;
  for (GrowingVector* v : {&H_, &system_}) v->resize(static_cast<Eigen::Index>(n_) * n_);
  for (GrowingVector* v : {&g_, &weight_, &shift_, &x_, &trial_, &gradient_, &step_}) v->resize(n_);
  H().setZero();
  g_.setZero();
  weight_.setOnes();
  for (const int i : normal_) weight_[i] = zeta;
  index_.resize(static_cast<std::size_t>(n_));
  for (int i = 0; i < n_; ++i) {
    index_[static_cast<std::size_t>(i)] = i;
    H()(i, i) = weight_[i];
  }
  for (const Cone& cone : cones_) {
    for (int i = cone.row; i < cone.row + 2; ++i) {
      const double R = p.R[static_cast<std::size_t>(reduction_.others[static_cast<std::size_t>(i)])];
      for (int c = 0; c < n_; ++c) {
        const double s = reduction_.S(i, c) / (R * R);
        g_[c] += s * reduction_.v()[i];
        for (int r = 0; r < n_; ++r) H()(r, c) += s * reduction_.S(i, r);
      }
    }
  }
}

// Normal impulses that open all rows n, u without friction, and a little more.
bool DrumQcqp::feasible_start() {
  const int n = static_cast<int>(normal_.size());
  start_.resize(n);
  for (int c = 0; c < n; ++c) {
    const int column = normal_[static_cast<std::size_t>(c)];
    for (int r = 0; r < n; ++r) start_.column(c)[r] = reduction_.S(normal_[static_cast<std::size_t>(r)], column);
    start_.b[c] = reduction_.v()[column];
    start_.diagonal[c] = start_.column(c)[c];
  }
  const double margin = 0.1 * start_.b.cwiseAbs().maxCoeff() + 1e-9;
  start_.b.array() -= margin;
  start_.lower.setZero();
  start_.upper.setConstant(std::numeric_limits<double>::infinity());
  pivoting_.begin();
  if (!pivoting_.solve(start_, kStartPivots, 10).solved) return false;
  for (double more = margin; more > 1e-12 * margin; more *= 0.1) {
    x_.setZero();
    for (int c = 0; c < n; ++c) {
      x_[normal_[static_cast<std::size_t>(c)]] = std::max(0.0, start_.x[c]) + more / start_.diagonal[c];
    }
    if (feasible(x_)) return true;
  }
  return false;
}

bool DrumQcqp::feasible(const GrowingVector& x) const {
  for (const int i : normal_) {
    if (!(x[i] > 0) || !(slack(x, i) > 0)) return false;
  }
  for (const Cone& c : cones_) {
    if (!(cone_slack(x, c) > 0)) return false;
  }
  return true;
}

void DrumQcqp::gradient(double tau, const GrowingVector& x, GrowingVector& out) const {
  out = g_;
  for (int c = 0; c < n_; ++c) out += x[c] * H().col(c);
  out *= tau;
  for (const int i : normal_) out -= reduction_.S().row(i).transpose() / slack(x, i);
  for (const int i : scalar_) out[i] -= 1.0 / x[i];
  for (const Cone& c : cones_) {
    const double f = 2.0 / cone_slack(x, c);
    out.segment<3>(c.row) -= f * Vec3(-x[c.row], -x[c.row + 1], c.mu * c.mu * x[c.row + 2]);
  }
}

void DrumQcqp::assemble(double tau) {
  Eigen::Map<MatX> A(system_.data(), n_, n_);
  A = tau * H();
  for (const int i : normal_) {
    const double s = slack(x_, i);
    for (int c = 0; c < n_; ++c) A.col(c) += reduction_.S(i, c) / (s * s) * reduction_.S().row(i).transpose();
  }
  for (const int i : scalar_) A(i, i) += 1.0 / (x_[i] * x_[i]);
  for (const Cone& c : cones_) {
    const double q = cone_slack(x_, c);
    const Vec3 half(-x_[c.row], -x_[c.row + 1], c.mu * c.mu * x_[c.row + 2]);  // of the gradient of q
    Mat3 B = 4.0 / (q * q) * half * half.transpose();
    B.diagonal() -= 2.0 / q * Vec3(-1, -1, c.mu * c.mu);
    A.block<3, 3>(c.row, c.row) += B;
  }
}

double DrumQcqp::newton_step(double tau, SolveReport& report) {
  assemble(tau);
  ++report.factorisations;
  if (!cholesky_.factor(system_.data(), n_, index_, nullptr)) {
    for (int i = 0; i < n_; ++i) shift_[i] = 1e-12 * system_[static_cast<Eigen::Index>(i) * (n_ + 1)];
    ++report.factorisations;
    if (!cholesky_.factor(system_.data(), n_, index_, shift_.data())) return -1;
  }
  gradient(tau, x_, gradient_);
  step_ = -gradient_;
  cholesky_.solve(step_.data());
  return -gradient_.dot(step_);
}

// Along the step, as far as it stays feasible and the slope has not turned by more than half. Values of the objective
// are no guide: the differences that matter are below their rounding.
void DrumQcqp::move(double tau, double decrement) {
  for (double alpha = 1; alpha > 1e-14; alpha *= 0.6) {
    trial_ = x_ + alpha * step_;
    if (!feasible(trial_)) continue;
    gradient(tau, trial_, gradient_);
    if (gradient_.dot(step_) > 0.5 * decrement) continue;
    x_ = trial_;
    return;
  }
}

bool DrumQcqp::minimise(SolveReport& report) {
  const auto degree = static_cast<double>(normal_.size() + scalar_.size() + 2 * cones_.size());
  double energy = 0;
  for (int i = 0; i < n_; ++i) energy += 0.5 * H()(i, i) * x_[i] * x_[i];
  double tau = degree / std::max(1e-300, energy);
  report.status = SolveStatus::max_iterations;
  int steps = 0;
  while (report.iterations < par_.max_iterations) {
    ++report.iterations;
    const double decrement = newton_step(tau, report);
    if (!(decrement >= 0) || ++steps > kMostSteps) {
      report.status = SolveStatus::stalled;
      return false;
    }
    move(tau, decrement);
    if (decrement > kSmallDecrement) continue;
    steps = 0;
    energy = 0.5 * weight_.cwiseProduct(x_).dot(x_);
    if (degree <= tau * par_.own_tolerance * energy) return true;
    tau *= kGrowth;
  }
  return false;
}

bool DrumQcqp::bounds_hold() const {
  for (const int i : reduction_.bilateral) {
    if (mlcp_.x[i] < mlcp_.lower[i] || mlcp_.x[i] > mlcp_.upper[i]) return false;
  }
  return true;
}

SolveReport DrumQcqp::solve(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda) {
  SolveReport report;
  if (keeper_.settle(p, lambda, report)) return report;
  mlcp_.load(p, lambda, true);
  mlcp_.x.setZero();
  const bool compliant = split_rows(p);
  if (!compliant || !reduction_.reduce(mlcp_)) {
    report.status = compliant ? SolveStatus::non_finite : SolveStatus::infeasible;
    keeper_.consider(p, goal, view(mlcp_.x), lambda, report);
    return report;
  }
  report.factorisations = reduction_.factorisations();
  bool solved = true;
  if (n_ > 0) {
    build(p);
    solved = feasible_start() && minimise(report);
    for (int i = 0; i < n_; ++i) mlcp_.x[reduction_.others[static_cast<std::size_t>(i)]] = x_[i];
  }
  reduction_.recover(mlcp_);
  if (solved) report.status = SolveStatus::stalled;  // unless the judge agrees
  if (!bounds_hold()) report.status = SolveStatus::infeasible;
  candidate_.resize(mlcp_.rows);
  candidate_ = mlcp_.x;
  for (const int i : reduction_.bilateral) candidate_[i] = std::clamp(mlcp_.x[i], mlcp_.lower[i], mlcp_.upper[i]);
  for (const Mlcp::Contact& c : mlcp_.contacts) {
    candidate_.segment<3>(c.row) = project_cone(candidate_.segment<3>(c.row), c.mu);
  }
  if (keeper_.consider(p, goal, view(candidate_), lambda, report) || solved) return report;
  // Not the method's answer: nothing may be better than where it got stuck.
  if (!report.residuals.finite) report.status = SolveStatus::non_finite;
  candidate_.setZero();
  keeper_.consider(p, goal, view(candidate_), lambda, report);
  return report;
}

}  // namespace

SolverInfo drum_qcqp_entry() {
  using P = DrumQcqpParameters;
  const ParameterList<P> list = {
      {"zeta", "weight of normal impulses, 0: 1/dt of the problem", 0, 1e300, &P::zeta},
      {"own_tolerance", "gap at which the method ends, relative to the energy of the impulses", 1e-15, 1,
       &P::own_tolerance},
      {"max_iterations", "Newton steps", 1, 1e9, &P::max_iterations},
  };
  return solver_entry<DrumQcqp>(
      "drum-qcqp", "compliant contact with friction as one QCQP; not Coulomb's law, needs R > 0", Law::ncp, list);
}

}  // namespace sarrus
