// Accelerated projected gradient descent on the CCP (docs/theory/solvers.md §7; Nesterov's method with adaptive step
// and restart as Mazhar, Heyn, Negrut, Tasora use it, 2015).
//
//   min over lambda in K of f = 1/2 lambda'(D+R) lambda + lambda' v_f
//   lambda+ = P_K(y - (D y + v_f) / L);  L doubles until d'(D+R) d <= L d'd,  d = lambda+ - y
//   theta+  = (-theta^2 + theta sqrt(theta^2 + 4)) / 2,   beta = theta (1 - theta) / (theta^2 + theta+)
//   y+      = lambda+ + beta (lambda+ - lambda)
//             restart, y+ = lambda+ and theta+ = 1, if (D y + v_f)'(lambda+ - lambda) > 0
//   L      *= relax, so that it can follow the active rows
// The test of L is that of the quadratic upper bound of f, written without the cancellation of f(lambda+) - f(y).
// One product with D per trial, never a matrix: D = J A^-1 J' is applied from the right to the left. Rows are
// equilibrated (ncp_problem.h), islands solved one by one, R = 0 allowed. Returned is the best iterate by the judge's
// natural map, which costs nothing here since D lambda is at hand.
#include <algorithm>
#include <cmath>

#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

struct ApgdParameters {
  int max_iterations = 5000;
  double relax = 0.9;   // factor of L after each iteration
  bool restart = true;  // drop the momentum when it points uphill
};

class Apgd final : public IslandMethod {
 public:
  explicit Apgd(const ApgdParameters& parameters) : par_(parameters) {}
  void solve(NcpSearch& search, GrowingVector& lambda) override;

 private:
  void begin(const NcpProblem& problem, const GrowingVector& lambda);
  void multiply_D(const NcpProblem& problem, const GrowingVector& in, GrowingVector& out);
  bool descend(const NcpProblem& problem);
  void extrapolate();

  ApgdParameters par_;
  double L_ = 1, theta_ = 1;
  // The last iterate, the new one, the extrapolated point, and D + R times each.
  GrowingVector lambda_, next_, y_, D_lambda_, D_next_, D_y_;
  GrowingVector gradient_, sigma_, w_, w2_;
};

// out = (D + R) in
void Apgd::multiply_D(const NcpProblem& p, const GrowingVector& in, GrowingVector& out) {
  p.multiply_Jt(in.data(), w_.data());
  p.multiply_A_inverse(w_.data(), w2_.data());
  p.multiply_J(w2_.data(), out.data());
  out += p.R.cwiseProduct(in);
}

void Apgd::begin(const NcpProblem& p, const GrowingVector& lambda) {
  for (GrowingVector* v : {&lambda_, &next_, &y_, &D_lambda_, &D_next_, &D_y_, &gradient_, &sigma_}) {
    v->resize(p.rows());
  }
  w_.resize(p.padded_size());
  w2_.resize(p.padded_size());
  // |D 1| / |1|: a lower bound of the largest eigenvalue, which doubling corrects.
  y_.setOnes();
  multiply_D(p, y_, D_y_);
  L_ = std::max(D_y_.norm() / y_.norm(), 1e-3);
  theta_ = 1;
  lambda_ = lambda;
  multiply_D(p, lambda_, D_lambda_);
  y_ = lambda_;
  D_y_ = D_lambda_;
}

// A projected gradient step from y with a step length that the curvature allows.
bool Apgd::descend(const NcpProblem& p) {
  gradient_ = D_y_ + p.v_free;
  for (int trial = 0; trial < 60; ++trial) {
    next_ = y_ - gradient_ / L_;
    p.project(next_);
    multiply_D(p, next_, D_next_);
    sigma_ = next_ - y_;
    const double length = sigma_.squaredNorm();
    const double curvature = sigma_.dot(D_next_ - D_y_);
    if (!std::isfinite(curvature)) return false;
    // Steps of the size of round-off say nothing about the curvature.
    if (curvature <= L_ * length || length <= 1e-28 * next_.squaredNorm()) return true;
    L_ *= 2;
  }
  return false;
}

void Apgd::extrapolate() {
  const double t2 = theta_ * theta_;
  double theta = 0.5 * (-t2 + theta_ * std::sqrt(t2 + 4.0));
  double beta = theta_ * (1.0 - theta_) / (t2 + theta);
  if (par_.restart && gradient_.dot(next_ - lambda_) > 0) {
    theta = 1;
    beta = 0;
  }
  theta_ = theta;
  y_ = next_ + beta * (next_ - lambda_);
  D_y_ = D_next_ + beta * (D_next_ - D_lambda_);
  lambda_ = next_;
  D_lambda_ = D_next_;
  L_ *= par_.relax;
}

void Apgd::solve(NcpSearch& search, GrowingVector& lambda) {
  const NcpProblem& p = search.problem;
  if (search.consider(lambda)) return;
  begin(p, lambda);
  constexpr int kOfferEvery = 10;
  for (int it = 1; it <= par_.max_iterations; ++it) {
    if (!descend(p)) return;
    ++search.iterations;
    sigma_ = D_next_ + p.v_free;
    const double error = p.error(next_, sigma_, p.size(w_.data(), w2_.data()));
    const bool promising = search.goal().met_by(error);
    if ((promising || it % kOfferEvery == 0 || it == par_.max_iterations) && search.offer(next_, error)) return;
    extrapolate();
  }
  search.truncated = true;
}

}  // namespace

SolverInfo apgd_entry() {
  using P = ApgdParameters;
  const ParameterList<P> list = {
      {"max_iterations", "iteration limit", 1, 1e9, &P::max_iterations},
      {"relax", "factor of the Lipschitz estimate after each iteration", 0.1, 1, &P::relax},
      {"restart", "drop the momentum when it points uphill, 0 or 1", 0, 1, &P::restart},
  };
  return solver_entry("apgd", "accelerated projected gradient on the CCP, without factorisations", Law::ccp, list,
                      [](const P& par) {
                        IslandOptions options;
                        options.law = Law::ccp;
                        return make_island_solver([par] { return std::make_unique<Apgd>(par); }, options);
                      });
}

}  // namespace sarrus
