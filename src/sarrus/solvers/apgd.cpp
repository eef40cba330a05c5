#include "sarrus/solvers/apgd.h"

#include <algorithm>
#include <cmath>

#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/parameters.h"

namespace sarrus {
namespace {

const ParameterList<ApgdParameters>& parameters() {
  using P = ApgdParameters;
  static const ParameterList<P> list = {
      {"max_iterations", "iteration limit", 1, 1e9, &P::max_iterations},
      {"relax", "factor of the Lipschitz estimate after each iteration", 0.1, 1, &P::relax},
      {"restart", "drop the momentum when it points uphill, 0 or 1", 0, 1, &P::restart},
  };
  return list;
}

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
    const NcpResidual residual = p.residual(next_, sigma_);
    const bool promising = residual.relative() <= search.tolerance();
    if ((promising || it % kOfferEvery == 0 || it == par_.max_iterations) && search.offer(next_, residual)) return;
    extrapolate();
  }
  search.truncated = true;
}

}  // namespace

std::vector<ParameterInfo> apgd_parameter_info() { return describe(parameters()); }

std::unique_ptr<Solver> make_apgd(const SolverParameters& given) {
  const ApgdParameters par = read_parameters(parameters(), given);
  IslandOptions options;
  options.law = Law::ccp;
  return make_island_solver([par] { return std::make_unique<Apgd>(par); }, options);
}

}  // namespace sarrus
