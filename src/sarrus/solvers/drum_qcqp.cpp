#include "sarrus/solvers/drum_qcqp.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"
#include "sarrus/solvers/bilateral_reduction.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

const ParameterList<DrumQcqpParameters>& parameters() {
  using P = DrumQcqpParameters;
  static const ParameterList<P> list = {
      {"zeta", "weight of normal impulses, 0: 1/dt of the problem", 0, 1e300, &P::zeta},
      {"own_tolerance", "relative residuals at which the ADMM ends", 0, 1, &P::own_tolerance},
      {"rho", "first penalty", 1e-12, 1e12, &P::rho},
      {"max_iterations", "iteration limit", 1, 1e9, &P::max_iterations},
  };
  return list;
}

constexpr double kRelaxation = 1.6;
constexpr int kAdaptEvery = 50;

class DrumQcqp final : public Solver {
 public:
  explicit DrumQcqp(const DrumQcqpParameters& par) : par_(par) {}
  SolveReport solve(const ConstraintProblem& p, double tolerance, std::span<double> lambda) override;
  void reset() override {}

 private:
  struct Norms {
    double primal = 0;  // relative
    double dual = 0;
  };

  bool split_rows(const ConstraintProblem& p);
  void build(const ConstraintProblem& p);
  void scale(const ConstraintProblem& p);
  void build_constraints();
  bool factor(double rho);
  void project();
  Norms iterate(double rho);
  Norms norms(double rho);
  bool is_tangent(int i) const { return i >= limits_ && (i - limits_) % 3 != 2; }
  // True if the ADMM met its own tolerance.
  bool minimise(SolveReport& report);
  bool bounds_hold() const;

  Eigen::Map<MatX> H() { return {H_.data(), n_, n_}; }
  Eigen::Map<MatX> C() { return {C_.data(), nc_, n_}; }

  DrumQcqpParameters par_;
  IterateKeeper keeper_{Law::ncp};
  Mlcp mlcp_;
  BilateralReduction reduction_;
  DenseCholesky cholesky_;
  int n_ = 0;   // reduced rows: limits, then [t, o, n] of each contact
  int nc_ = 0;  // of these: limits and normals
  int limits_ = 0;
  GrowingVector H_, g_, C_, q_, system_, gram_, scale_;
  GrowingVector x_, y1_, y2_, w1_, w2_, cx_, rhs_, old1_, old2_;
  std::vector<double> mu_;  // of the scaled cones
  std::vector<int> index_, normal_;
  GrowingVector candidate_;
};

// Bilateral rows and the others, in the problem's order. False if a row lacks the compliance that the method needs.
bool DrumQcqp::split_rows(const ConstraintProblem& p) {
  reduction_.bilateral.clear();
  reduction_.others.clear();
  limits_ = p.rows_of(BlockKind::limit);
  bool compliant = true;
  for (const ConstraintBlock& b : p.blocks) {
    const bool bilateral = b.kind == BlockKind::joint || b.kind == BlockKind::soft;
    for (int i = b.row; i < b.row + b.rows; ++i) {
      (bilateral ? reduction_.bilateral : reduction_.others).push_back(i);
      const bool matters = !bilateral && (b.kind == BlockKind::limit || i == b.row + 2 || b.mu > 0);
      compliant = compliant && (!matters || p.R[static_cast<std::size_t>(i)] > 0);
    }
  }
  n_ = static_cast<int>(reduction_.others.size());
  return compliant;
}

// H and g, without scaling.
void DrumQcqp::build(const ConstraintProblem& p) {
  const double zeta = par_.zeta > 0 ? par_.zeta : p.dt > 0 ? 1.0 / p.dt : 1.0;
  for (GrowingVector* v : {&H_, &system_, &gram_}) v->resize(static_cast<Eigen::Index>(n_) * n_);
  for (GrowingVector* v : {&g_, &scale_, &x_, &y1_, &w1_, &rhs_, &old1_}) v->resize(n_);
  H().setZero();
  g_.setZero();
  normal_.clear();
  index_.resize(static_cast<std::size_t>(n_));
  for (int i = 0; i < n_; ++i) {
    index_[static_cast<std::size_t>(i)] = i;
    const bool tangent = is_tangent(i);
    H()(i, i) += tangent ? 1.0 : zeta;
    if (!tangent) normal_.push_back(i);
    const double R = p.R[static_cast<std::size_t>(reduction_.others[static_cast<std::size_t>(i)])];
    if (!tangent || !(R > 0)) continue;
    const double weight = 1.0 / (R * R);
    for (int c = 0; c < n_; ++c) {
      const double s = weight * reduction_.S(i, c);
      g_[c] += s * reduction_.v()[i];
      for (int r = 0; r < n_; ++r) H()(r, c) += s * reduction_.S(i, r);
    }
  }
  nc_ = static_cast<int>(normal_.size());
}

// Variables in units in which H_ii = 1.
void DrumQcqp::scale(const ConstraintProblem& p) {
  for (int i = 0; i < n_; ++i) scale_[i] = 1.0 / std::sqrt(H()(i, i));
  mu_.clear();
  int row = limits_;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::contact) continue;
    const double tangent = std::sqrt(scale_[row] * scale_[row + 1]);
    scale_[row] = scale_[row + 1] = tangent;
    mu_.push_back(b.mu * scale_[row + 2] / tangent);
    row += 3;
  }
  for (int c = 0; c < n_; ++c) {
    for (int r = 0; r < n_; ++r) H()(r, c) *= scale_[r] * scale_[c];
  }
  g_ = scale_.cwiseProduct(g_);
}

void DrumQcqp::build_constraints() {
  C_.resize(static_cast<Eigen::Index>(nc_) * n_);
  for (GrowingVector* v : {&q_, &y2_, &w2_, &cx_, &old2_}) v->resize(nc_);
  for (int k = 0; k < nc_; ++k) {
    const int i = normal_[static_cast<std::size_t>(k)];
    double norm = 0;
    for (int c = 0; c < n_; ++c) {
      C()(k, c) = reduction_.S(i, c) * scale_[c];
      norm += C()(k, c) * C()(k, c);
    }
    const double f = 1.0 / std::max(1e-300, std::sqrt(norm));
    C().row(k) *= f;
    q_[k] = -f * reduction_.v()[i];
  }
  Eigen::Map<MatX> gram(gram_.data(), n_, n_);
  for (int c = 0; c < n_; ++c) {
    for (int r = 0; r < n_; ++r) gram(r, c) = C().col(r).dot(C().col(c)) + (r == c ? 1.0 : 0.0);
  }
}

bool DrumQcqp::factor(double rho) {
  system_ = H_ + rho * gram_;
  return cholesky_.factor(system_.data(), n_, index_, nullptr);
}

// y1 on the scaled cones.
void DrumQcqp::project() {
  for (int i = 0; i < limits_; ++i) y1_[i] = std::max(0.0, y1_[i]);
  for (std::size_t k = 0; k < mu_.size(); ++k) {
    const int row = limits_ + 3 * static_cast<int>(k);
    y1_.segment<3>(row) = project_cone(y1_.segment<3>(row), mu_[k]);
  }
}

DrumQcqp::Norms DrumQcqp::iterate(double rho) {
  rhs_ = rho * (y1_ - w1_) - g_;
  cx_ = y2_ - w2_;
  for (int c = 0; c < n_; ++c) rhs_[c] += rho * C().col(c).dot(cx_);
  cholesky_.solve(rhs_.data());
  x_ = rhs_;
  cx_.setZero();
  for (int c = 0; c < n_; ++c) cx_ += x_[c] * C().col(c);
  old1_ = y1_;
  old2_ = y2_;
  y1_ = kRelaxation * x_ + (1.0 - kRelaxation) * old1_ + w1_;
  w1_ = y1_;
  project();
  w1_ -= y1_;
  w2_ += kRelaxation * cx_ + (1.0 - kRelaxation) * old2_;
  y2_ = w2_.cwiseMax(q_);
  w2_ -= y2_;
  return norms(rho);
}

// Relative to the largest terms of the same kind: normals and tangents have different units once scaled, and a large
// zeta or eta would hide the errors of the other kind.
DrumQcqp::Norms DrumQcqp::norms(double rho) {
  double primal[2] = {}, size[2] = {1e-300, 1e-300}, dual[2] = {}, gradient[2] = {1e-300, 1e-300};
  for (int c = 0; c < n_; ++c) {
    const int kind = is_tangent(c) ? 1 : 0;
    primal[kind] = std::max(primal[kind], std::abs(x_[c] - y1_[c]));
    size[kind] = std::max(size[kind], std::abs(x_[c]));
    // H x + g + rho w1 + rho C'w2: the gradient of the Lagrangian at the new multipliers.
    const double hx = H().col(c).dot(x_);
    const double multiplier = rho * (w1_[c] + C().col(c).dot(w2_));
    dual[kind] = std::max(dual[kind], std::abs(hx + g_[c] + multiplier));
    gradient[kind] = std::max({gradient[kind], std::abs(hx), std::abs(g_[c]), std::abs(multiplier)});
  }
  const double rows = std::max({1e-300, cx_.cwiseAbs().maxCoeff(), q_.cwiseAbs().maxCoeff()});
  Norms out;
  out.primal = std::max({primal[0] / size[0], primal[1] / size[1], (cx_ - y2_).cwiseAbs().maxCoeff() / rows});
  out.dual = std::max(dual[0] / gradient[0], dual[1] / gradient[1]);
  return out;
}

bool DrumQcqp::minimise(SolveReport& report) {
  double rho = par_.rho;
  ++report.factorisations;
  if (!factor(rho)) return false;
  w1_.setZero();
  w2_.setZero();
  y2_.setZero();
  for (int c = 0; c < n_; ++c) y2_ += y1_[c] * C().col(c);
  y2_ = y2_.cwiseMax(q_);
  for (int it = 1; it <= par_.max_iterations; ++it) {
    const Norms norms = iterate(rho);
    report.iterations = it;
    if (norms.primal <= par_.own_tolerance && norms.dual <= par_.own_tolerance) return true;
    if (it % kAdaptEvery != 0) continue;
    const double ratio = std::sqrt(norms.primal / std::max(1e-300, norms.dual));
    if (ratio > 0.3 && ratio < 3) continue;
    const double next = std::clamp(rho * std::clamp(ratio, 0.1, 10.0), 1e-10, 1e10);
    // Multipliers rho w stay what they are.
    w1_ *= rho / next;
    w2_ *= rho / next;
    rho = next;
    ++report.factorisations;
    if (!factor(rho)) return false;
  }
  return false;
}

bool DrumQcqp::bounds_hold() const {
  for (const int i : reduction_.bilateral) {
    if (mlcp_.x[i] < mlcp_.lower[i] || mlcp_.x[i] > mlcp_.upper[i]) return false;
  }
  return true;
}

SolveReport DrumQcqp::solve(const ConstraintProblem& p, double tolerance, std::span<double> lambda) {
  SolveReport report;
  if (keeper_.settle(p, lambda, report)) return report;
  mlcp_.load(p, lambda, true);
  const bool compliant = split_rows(p);
  if (!compliant || !reduction_.reduce(mlcp_)) {
    mlcp_.x.setZero();
    report.status = compliant ? SolveStatus::non_finite : SolveStatus::infeasible;
    keeper_.consider(p, tolerance, view(mlcp_.x), lambda, report);
    return report;
  }
  report.factorisations = reduction_.factorisations();
  bool solved = true;
  if (n_ > 0) {
    build(p);
    scale(p);
    build_constraints();
    for (int i = 0; i < n_; ++i) y1_[i] = mlcp_.x[reduction_.others[static_cast<std::size_t>(i)]] / scale_[i];
    project();
    solved = minimise(report);
    for (int i = 0; i < n_; ++i) mlcp_.x[reduction_.others[static_cast<std::size_t>(i)]] = scale_[i] * y1_[i];
  }
  reduction_.recover(mlcp_);
  if (!mlcp_.x.allFinite()) {
    mlcp_.x.setZero();
    report.status = SolveStatus::non_finite;
  } else {
    report.status = !bounds_hold() ? SolveStatus::infeasible
                    : solved       ? SolveStatus::stalled
                                   : SolveStatus::max_iterations;
  }
  candidate_.resize(mlcp_.rows);
  candidate_ = mlcp_.x;
  for (const int i : reduction_.bilateral) candidate_[i] = std::clamp(mlcp_.x[i], mlcp_.lower[i], mlcp_.upper[i]);
  for (const Mlcp::Contact& c : mlcp_.contacts) {  // scaling rounds
    candidate_.segment<3>(c.row) = project_cone(candidate_.segment<3>(c.row), c.mu);
  }
  keeper_.consider(p, tolerance, view(candidate_), lambda, report);
  return report;
}

}  // namespace

std::vector<ParameterInfo> drum_qcqp_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_drum_qcqp(const SolverParameters& given) {
  return std::make_unique<DrumQcqp>(read_parameters(parameters(), given));
}

}  // namespace sarrus
