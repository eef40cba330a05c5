#include "sarrus/solvers/admm2.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"
#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

constexpr double kEta = 1e-6;
constexpr double kOmega = 1.6;
constexpr double kFirstPenalty = 0.1;
constexpr int kBalanceEvery = 10;

}  // namespace

void Admm2::resize(const NcpProblem& p) {
  for (GrowingVector* v : {&x_, &y_, &z_, &y_old_, &rhs_, &relaxed_, &E_, &shift_, &t_, &correction_}) {
    v->resize(p.rows());
  }
  u_.resize(p.padded_size());
  w_.resize(p.padded_size());
  cone_G_.assign(static_cast<std::size_t>(9 * p.contacts()), 0.0);
  split_.resize(static_cast<std::size_t>(p.scalar_rows));
  for (int i = 0; i < p.scalar_rows; ++i) {
    split_[static_cast<std::size_t>(i)] = std::isfinite(p.lower[i]) || std::isfinite(p.upper[i]) ? 1 : 0;
  }
}

void Admm2::begin(const NcpProblem& p, const GrowingVector& lambda) {
  rho_ = kFirstPenalty;
  x_ = lambda;
  y_ = lambda;
  if (lambda.isZero(0)) {
    z_.setZero();
    return;
  }
  p.evaluate(lambda, u_, z_, w_);
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (split_[static_cast<std::size_t>(i)] == 0) z_[i] = 0;
  }
  for (std::size_t i = static_cast<std::size_t>(p.scalar_blocks); i < p.blocks.size(); ++i) {
    const NcpBlock& b = p.blocks[i];
    z_[b.row + 2] += de_saxce(z_.segment<3>(b.row), b.mu);
  }
}

bool Admm2::factor(NcpSearch& search) {
  const NcpProblem& p = search.problem;
  for (int i = 0; i < p.rows(); ++i) {
    shift_[i] = i < p.scalar_rows && split_[static_cast<std::size_t>(i)] == 0 ? kEta : rho_ + kEta;
    E_[i] = 1.0 / (p.R[i] + shift_[i]);
  }
  for (int k = 0; k < p.contacts(); ++k) {
    for (int r = 0; r < 3; ++r) cone_G_[static_cast<std::size_t>(9 * k + 4 * r)] = E_[p.scalar_rows + 3 * k + r];
  }
  return search.system.factor(p, E_.data(), cone_G_.data(), true);
}

// out = (D + R + shift)^-1 rhs
void Admm2::solve_shifted(NcpSearch& search, const GrowingVector& rhs, GrowingVector& out) {
  const NcpProblem& p = search.problem;
  t_ = E_.cwiseProduct(rhs);
  p.multiply_Jt(t_.data(), w_.data());
  search.system.solve(w_.data());
  p.multiply_J(w_.data(), out.data());
  out = t_ - E_.cwiseProduct(out);
}

void Admm2::update_x(NcpSearch& search, bool refine) {
  const NcpProblem& p = search.problem;
  for (int i = 0; i < p.scalar_rows; ++i) {
    const bool split = split_[static_cast<std::size_t>(i)] != 0;
    rhs_[i] = kEta * x_[i] - p.v_free[i] + (split ? rho_ * y_[i] + z_[i] : 0.0);
  }
  for (std::size_t i = static_cast<std::size_t>(p.scalar_blocks); i < p.blocks.size(); ++i) {
    const NcpBlock& b = p.blocks[i];
    const Vec3 z = z_.segment<3>(b.row);
    rhs_.segment<3>(b.row) = kEta * x_.segment<3>(b.row) - p.v_free.segment<3>(b.row) + rho_ * y_.segment<3>(b.row) + z;
    rhs_[b.row + 2] -= de_saxce(z, b.mu);
  }
  solve_shifted(search, rhs_, x_);
  if (!refine) return;
  // rhs - (D + R + shift) x
  p.multiply_Jt(x_.data(), w_.data());
  p.multiply_A_inverse(w_.data(), u_.data());
  p.multiply_J(u_.data(), correction_.data());
  rhs_ -= correction_ + (p.R + shift_).cwiseProduct(x_);
  solve_shifted(search, rhs_, correction_);
  x_ += correction_;
}

void Admm2::update_y_z(const NcpProblem& p) {
  y_old_ = y_;
  relaxed_ = kOmega * x_ + (1.0 - kOmega) * y_old_;
  y_ = relaxed_ - z_ / rho_;
  p.project(y_);
  for (int i = 0; i < p.scalar_rows; ++i) {
    if (split_[static_cast<std::size_t>(i)] == 0) y_[i] = relaxed_[i] = x_[i];
  }
  z_ -= rho_ * (relaxed_ - y_);
}

// Moves the penalty towards equal relative residuals. True if it changed.
bool Admm2::balance(const NcpProblem& p) {
  double primal = 0, dual = 0, n_x = 1e-300, n_z = 1e-300;
  for (int i = 0; i < p.rows(); ++i) {
    if (i < p.scalar_rows && split_[static_cast<std::size_t>(i)] == 0) continue;
    primal = std::max(primal, std::abs(x_[i] - y_[i]));
    dual = std::max(dual, rho_ * std::abs(y_[i] - y_old_[i]));
    n_x = std::max({n_x, std::abs(x_[i]), std::abs(y_[i])});
    n_z = std::max({n_z, std::abs(z_[i]), std::abs(p.v_free[i])});
  }
  if (!(primal > 0) || !(dual > 0)) return false;
  const double f = std::clamp(std::sqrt(primal / n_x / (dual / n_z)), 0.2, 5.0);
  if (f <= 2.0 && f >= 0.5) return false;
  const double before = rho_;
  rho_ = std::clamp(f * rho_, 1e-7, 1e4);
  return rho_ != before;
}

bool Admm2::run(NcpSearch& search, const Admm2Options& o, Ssn& ssn, GrowingVector& lambda) {
  const NcpProblem& p = search.problem;
  resize(p);
  begin(p, lambda);
  if (!factor(search)) return false;
  int check = 10;
  for (int it = 1; it <= o.iterations && !search.exhausted(); ++it) {
    update_x(search, o.refine);
    update_y_z(p);
    ++search.iterations;
    if (it == check) {
      check = std::max(it + 10, it * 8 / 5);
      if (!std::isfinite(x_.sum())) return false;
      if (search.consider(y_)) return true;
      if (o.polish) {
        if (ssn.attempt_from(search, y_, 20)) return true;
        if (search.exhausted() || !factor(search)) return false;
      }
    }
    if (it % kBalanceEvery == 0 && balance(p) && !factor(search)) return false;
  }
  lambda = y_;
  return true;
}

namespace {

struct Admm2Parameters {
  int max_iterations = 5000;
  bool polish = false;
  bool refine = true;
};

const ParameterList<Admm2Parameters>& admm2_parameters() {
  using P = Admm2Parameters;
  static const ParameterList<P> list = {
      {"max_iterations", "iteration limit", 1, 1e9, &P::max_iterations},
      {"polish", "semismooth Newton attempts on the way, 0 or 1", 0, 1, &P::polish},
      {"refine", "one refinement of each linear solve, 0 or 1", 0, 1, &P::refine},
  };
  return list;
}

class Admm2Method final : public IslandMethod {
 public:
  explicit Admm2Method(const Admm2Parameters& p) : options_{p.max_iterations, p.polish, p.refine} {}
  void solve(NcpSearch& search, GrowingVector& lambda) override {
    if (search.consider(lambda)) return;
    if (admm_.run(search, options_, ssn_, lambda)) search.consider(lambda);
  }

 private:
  Admm2Options options_;
  Admm2 admm_;
  Ssn ssn_;
};

}  // namespace

SolverInfo admm2_entry() {
  return solver_entry("admm2", "ADMM on the NCP, joints unsplit, balanced penalty, over-relaxed", Law::ncp,
                      admm2_parameters(), [](const Admm2Parameters& par) {
                        return make_island_solver([par] { return std::make_unique<Admm2Method>(par); }, {});
                      });
}

}  // namespace sarrus
