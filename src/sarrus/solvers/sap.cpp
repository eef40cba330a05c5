// SAP: Newton's method on the convex problem of compliant contact in velocities (sap_model.h;
// docs/theory/solvers.md §8, docs/theory/problem.md §4; Castro, Permenter, Han 2022, Alg. 2).
//
//   repeat  du = -H^-1 grad l(u),   H = A + J' G J by block Cholesky on the node graph
//           a  = argmin l(u + a du)  (exact: safeguarded Newton on l'(a) in a bracket; or Armijo backtracking)
//           u += a du
//   until   |S grad l| < eps_a + eps_r max(|S A u|, |S J' gamma|),  S = diag(A)^-1/2,  and the judge confirms the CCP
// The answer is lambda = gamma(u). Complementarity holds exactly at every iterate, momentum is what is iterated.
// It solves the CCP. With R >= rigid_shift (D_ii + R_ii) on all rows one round is all, else rounds of the method of
// multipliers follow each other: lambda_{k+1} = gamma, a round ending when what Newton leaves in the velocities is a
// tenth of what the round will change. After an easy round the shift is a tenth, down to rigid_floor: rounds converge
// the faster the smaller the shift, Newton the faster the larger it is.
// Round-off: when the predicted decrease falls below 1e-15 l and the momentum residual does not fall any more, the
// round ends; the next ones have twice the shift.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/parameters.h"
#include "sarrus/solvers/sap_model.h"

namespace sarrus {
namespace {

struct SapParameters {
  int max_iterations = 500;   // Newton steps of one island, all rounds
  int rounds = 200;           // of the method of multipliers
  double rigid_shift = 1e-4;  // smallest compliance of a row, relative to D_ii + R_ii
  double rigid_floor = 1e-8;  // smallest proximal shift of later rounds
  double eps_a = 1e-16;       // of the momentum residual
  double eps_r = 1e-6;        // the same, relative
  int line_search = 0;        // 0 exact, 1 backtracking
};

// Zero of l'(a), which rises with a: Newton inside a bracket, bisection when it leaves it or slows down.
double exact_step(const NcpProblem& p, const SapModel& model) {
  const double start = model.line(p, 0.0).slope;
  if (!(start < 0)) return 0.0;
  double a = 1.0;
  SapModel::Line at_a = model.line(p, a);
  const auto flat = [&](double slope) { return std::abs(slope) <= 1e-12 * std::abs(start); };
  if (flat(at_a.slope)) return a;
  double low = 0, high = 1;
  if (at_a.slope < 0) {
    low = 1;
    high = 1.5;
    for (int k = 0; k < 60 && model.line(p, high).slope < 0; ++k) {
      low = high;
      high *= 2;
    }
  }
  double last = high - low;
  for (int k = 0; k < 100; ++k) {
    double next = a - at_a.slope / at_a.curvature;
    if (!(next > low && next < high) || std::abs(next - a) > 0.5 * last) next = 0.5 * (low + high);
    last = std::abs(next - a);
    a = next;
    if (last < 1e-8) break;
    at_a = model.line(p, a);
    if (flat(at_a.slope)) break;
    (at_a.slope < 0 ? low : high) = a;
  }
  return a;
}

double backtracking_step(const NcpProblem& p, const SapModel& model) {
  const double slope = model.line(p, 0.0).slope;
  if (!(slope < 0)) return 0.0;
  const double cost = model.line_cost(p, 0.0);
  // Below round-off of the cost there is nothing to compare; the Newton step is then a good one.
  if (-slope < 1e-13 * std::abs(cost)) return 1.0;
  double a = 1.25;
  for (int k = 0; k < 60 && !(model.line_cost(p, a) <= cost + 1e-4 * a * slope); ++k) a *= 0.8;
  return a;
}

constexpr int kIdle = 5;  // steps without a smaller momentum residual that let one think of round-off
constexpr int kEasy = 6;  // steps of a round after which the next one may be harder

class Sap final : public IslandMethod {
 public:
  explicit Sap(const SapParameters& parameters) : par_(parameters) {}
  void solve(NcpSearch& search, GrowingVector& lambda) override;

 private:
  enum class Outcome : std::uint8_t { done, next_round, round_off, failed };
  Outcome round(NcpSearch& search, GrowingVector& lambda);
  bool newton_step(NcpSearch& search);

  SapParameters par_;
  SapModel model_;
  GrowingVector u_, du_, sigma_, scratch_;
  double predicted_ = 0;  // decrease of the cost that the last step promised
};

bool Sap::newton_step(NcpSearch& search) {
  const NcpProblem& p = search.problem;
  model_.linearise(p);
  if (!search.system.factor(p, model_.scalar_G().data(), model_.cone_G().data(), true)) return false;
  du_ = -model_.gradient();
  search.system.solve(du_.data());
  predicted_ = -model_.gradient().dot(du_);
  if (!std::isfinite(predicted_)) return false;
  model_.set_line(p, du_);
  const double a = par_.line_search == 1 ? backtracking_step(p, model_) : exact_step(p, model_);
  u_ += a * du_;
  model_.advance(p, u_, a);
  ++search.iterations;
  return true;
}

// Minimises around the impulses of the last round; lambda <- gamma(u).
Sap::Outcome Sap::round(NcpSearch& search, GrowingVector& lambda) {
  const NcpProblem& p = search.problem;
  double best = std::numeric_limits<double>::infinity();
  int idle = 0;
  predicted_ = std::numeric_limits<double>::infinity();
  for (;;) {
    lambda = model_.gamma();
    search.consider(lambda);
    const double error = model_.momentum_error();
    if (search.converged() && error < par_.eps_a + par_.eps_r * model_.momentum_size()) return Outcome::done;
    if (!std::isfinite(error)) return Outcome::failed;
    if (model_.proximal() && model_.newton_error(p) <= 0.1 * model_.anchor_error()) return Outcome::next_round;
    idle = error < best ? 0 : idle + 1;
    best = std::min(best, error);
    if (idle >= kIdle && predicted_ <= 1e-15 * std::abs(model_.cost())) return Outcome::round_off;
    if (search.exhausted()) return Outcome::done;
    if (!newton_step(search)) return Outcome::failed;
  }
}

void Sap::solve(NcpSearch& search, GrowingVector& lambda) {
  const NcpProblem& p = search.problem;
  if (search.consider(lambda)) return;
  u_.resize(p.padded_size());
  du_.resize(p.padded_size());
  scratch_.resize(p.padded_size());
  sigma_.resize(p.rows());
  p.evaluate(lambda, u_, sigma_, scratch_);
  double shift = par_.rigid_shift;
  double floor = std::min(par_.rigid_floor, shift);
  for (int k = 0; k < par_.rounds; ++k) {
    model_.load(p, shift);
    model_.set_anchor(lambda);
    k == 0 ? model_.evaluate(p, u_) : model_.update(p, u_);
    const int before = search.iterations;
    const Outcome outcome = round(search, lambda);
    if (outcome == Outcome::done || outcome == Outcome::failed || !model_.proximal()) return;
    if (outcome == Outcome::round_off) {
      floor = std::min(2.0 * shift, par_.rigid_shift);
      shift = floor;
    } else if (search.iterations - before <= kEasy) {
      shift = std::max(0.1 * shift, floor);
    }
  }
  search.truncated = true;
}

}  // namespace

SolverInfo sap_entry() {
  using P = SapParameters;
  const ParameterList<P> list = {
      {"max_iterations", "limit of Newton steps of an island", 1, 1e9, &P::max_iterations},
      {"rounds", "limit of rounds of the method of multipliers for rigid rows", 1, 1e9, &P::rounds},
      {"rigid_shift", "rows with less compliance than this, relative to D_ii, count as rigid", 1e-12, 1,
       &P::rigid_shift},
      {"rigid_floor", "smallest proximal shift of rigid rows in later rounds", 1e-12, 1, &P::rigid_floor},
      {"eps_a", "absolute tolerance of the scaled momentum residual", 0, 1, &P::eps_a},
      {"eps_r", "relative tolerance of the scaled momentum residual", 0, 1, &P::eps_r},
      {"line_search", "0 exact, 1 backtracking (Armijo)", 0, 1, &P::line_search},
  };
  return solver_entry(
      "sap", "Newton on the convex problem in velocities (CCP); made for compliant contact, rigid rows by rounds",
      Law::ccp, list, [](const P& par) {
        IslandOptions options;
        options.budget = par.max_iterations;
        options.law = Law::ccp;
        return make_island_solver([par] { return std::make_unique<Sap>(par); }, options);
      });
}

}  // namespace sarrus
