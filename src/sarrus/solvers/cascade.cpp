// The default solver (docs/theory/newton.md §7): joints and drives eliminated, and where that does not do semismooth
// Newton from the warm start, then the interior point method, then proximal Newton, each polished by semismooth Newton.
// The best iterate of all counts.
//
//   0  elimination (reduction.h), called by island_solver.cpp; most islands with joints end here
//   1  semismooth Newton: an attempt from the warm start, in piles after a few sweeps (island_sweeps.h); without a warm
//      start a quick pass from zero, if impulses may be unique
//   2  interior point, coupling in the matrix, and a semismooth Newton attempt from its best point
//   3  proximal Newton from the best point of all, 40 rounds; in piles after up to 1000 sweeps, while they get closer
//   4  long semismooth Newton attempts from the best point of all; where the budget is large, more so than that of a
//      step, after two more variants of the interior point method and ADMM2 from zero
// What reaches stage 1 of joints alone is linear: one Newton step, and those that round-off asks for.
#include <algorithm>
#include <initializer_list>

#include "sarrus/solvers/admm2.h"
#include "sarrus/solvers/interior_point.h"
#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/island_sweeps.h"
#include "sarrus/solvers/parameters.h"
#include "sarrus/solvers/proximal_newton.h"
#include "sarrus/solvers/ssn.h"

namespace sarrus {
namespace {

struct CascadeParameters {
  int max_factorisations = 0;
  int threads = 1;
  double polish_from = 1e-5;
};

// From zero, too, most steps of simulations take a few Newton steps, at less than half of what an interior point run
// costs; those that do not come closer at once are left to the latter. So are rigid contacts with more rows than there
// is freedom: their impulses are not unique, Newton's method from zero ends at extreme ones with many contacts
// unloaded, and those are poor warm starts (a ring of cubes at rest took 12 iterations in every step instead of 1). The
// interior point method ends near the middle.
constexpr SsnOptions kColdPass{.r = 1.0, .delta = 1e-8, .steps = 8, .patience = 1};

// Redundant rigid contacts without joints, from the warm start: a quick pass where it may do, then sweeps, then an
// adaptive pass.
constexpr double kQuick = 1e-3;  // error; further away the quick pass hardly ever does
constexpr SsnOptions kQuickPass{.r = 1.0, .delta = 1e-8, .steps = 8, .patience = 2};
constexpr int kSweeps = 10;
constexpr double kNear = 1e-7;  // error; closer to the goal sweeps hardly get on
constexpr SsnOptions kSweptPass{.r = 1.0, .delta = 1e-3, .steps = 15, .patience = 5, .adaptive = true, .shrink = 0.1};

const ParameterList<CascadeParameters>& cascade_parameters() {
  using P = CascadeParameters;
  static const ParameterList<P> list = {
      {"max_factorisations", "budget per island in place of the goal's; 0: the goal's", 0, 1e9, &P::max_factorisations},
      {"threads", "islands solved at the same time", 1, 1024, &P::threads},
      {"polish_from", "error from which semismooth Newton steps are tried", 0, 1e9, &P::polish_from},
  };
  return list;
}

struct Variant {
  bool coupling;
  double fraction;
  bool reset_slack;
};

// The variant that is tried first decides: a further one costs as much as many steps. Mechanisms have one of their own;
// where contacts are compliant or few it is the careful one, which ends near the middle of the solutions if there are
// many (a box that lands flat on a slope slides straight on, in any units), in piles the bold one
// (docs/solvers/cascade.md).
constexpr Variant kMechanism{true, 0.99, true};
constexpr Variant kBold{true, 0.99, false};
constexpr Variant kCareful{true, 0.9, true};
constexpr Variant kSymmetric{false, 0.99, true};
constexpr int kFewContacts = 4;

// By counting: rows of rigid contacts against what the joints leave free.
bool may_be_determinate(const NcpProblem& p) {
  int freedom = p.bounded_rows - p.scalar_rows;
  for (const int n : p.node_size) freedom += n;
  int rigid = 0;
  for (std::size_t i = static_cast<std::size_t>(p.scalar_blocks); i < p.blocks.size(); ++i) {
    if (p.R[p.blocks[i].row + 2] == 0) rigid += 3;
  }
  return rigid == 0 || rigid <= freedom;
}

class Cascade final : public IslandMethod {
 public:
  explicit Cascade(const CascadeParameters& p) : par_(p) {}

  void solve(NcpSearch& search, GrowingVector& lambda) override {
    const NcpProblem& p = search.problem;
    const bool cold = lambda.isZero(0);
    if (p.contacts() == 0 && p.bounded_rows == 0) {
      search.enter(1, "linear");
      ssn_.attempt(search, lambda, 10);
      return;
    }
    search.enter(1, "warm start");
    if (search.consider(lambda)) return;
    const bool determinate = may_be_determinate(p);
    const bool pile = p.scalar_rows == p.bounded_rows && !determinate;
    if (pile) sweeps_.resize(p);
    if (!cold && pile) {
      from_warm_start(search, lambda);
    } else if (!cold) {
      ssn_.attempt(search, lambda, 30);
    }
    search.attempts = 0;  // what follows begins elsewhere, and with the first kind of attempt again
    if (cold && determinate) ssn_.run(search, kColdPass, lambda);
    if (search.done()) return;
    search.enter(2, "interior point");
    const bool mechanism = p.scalar_rows - p.bounded_rows > 3 * p.contacts();
    const bool careful = determinate || p.contacts() <= kFewContacts;
    if (interior_point(search, mechanism ? kMechanism : careful ? kCareful : kBold)) return;
    search.enter(3, "proximal Newton");
    if (pile && more_sweeps(search, lambda)) return;
    lambda = search.best();
    if (proximal_.run(search, ssn_, 40, 1e-3, lambda) || search.exhausted()) return;
    search.enter(4, "further attempts");
    if (left(search) >= kManyLeft) {
      for (const Variant& v : {careful || mechanism ? kBold : kCareful, kSymmetric}) {
        if (interior_point(search, v)) return;
      }
      lambda.setZero();
      admm_.run(search, {3000, true, false}, ssn_, lambda);
    }
    for (int i = 0; i < 3 && !search.done(); ++i) ssn_.attempt_from(search, search.best(), 900);
  }

 private:
  // Thousands of iterations of ADMM take few factorisations and as long as hundreds: they are not for a step.
  static constexpr int kManyLeft = 2000;
  int left(const NcpSearch& search) const {
    const int budget = par_.max_factorisations > 0 ? par_.max_factorisations : search.goal().budget;
    return budget - search.system.factorisations();
  }

  // Of a pile, from the point considered last. Sweeps tell which contacts open and slide, at the cost of a few
  // factorisations. What does not get closer soon is left to the interior point method.
  void from_warm_start(NcpSearch& search, GrowingVector& lambda) {
    if (search.last_error() < kQuick) ssn_.run(search, kQuickPass, lambda);
    if (search.done()) return;
    lambda = search.best();
    sweeps_.run(search, kSweeps, lambda);
    if (!search.consider(lambda)) ssn_.run(search, kSweptPass, lambda);
  }

  // True if the search is done. Where Newton's method circles far from the goal, sweeps often go on to it. Next to it
  // they do not: redundant contacts that contradict each other by little move on for ever.
  bool more_sweeps(NcpSearch& search, GrowingVector& lambda) {
    constexpr int kRounds = 40, kEach = 25, kFruitless = 8;
    lambda = search.best();
    double reference = search.best_error();
    for (int k = 0, stalled = 0; k < kRounds && stalled < kFruitless && search.best_error() > kNear; ++k) {
      sweeps_.run(search, kEach, lambda);
      if (search.consider(lambda)) ssn_.refine(search);
      if (!search.done() && k % 2 == 1) ssn_.attempt_from(search, lambda, 8);
      if (search.done()) break;
      stalled = search.last_error() < 0.9 * reference ? 0 : stalled + 1;
      reference = std::min(reference, search.last_error());
    }
    return search.done();
  }

  // True if the search is done.
  bool interior_point(NcpSearch& search, const Variant& v) {
    constexpr int kIterations = 50, kAttempt = 60;
    const InteriorPointOptions options{v.coupling, v.fraction, v.reset_slack, kIterations, par_.polish_from};
    const bool regular = point_.run(search, options, ssn_);
    // It ends as soon as the goal is met; what rests on its answer would creep by the error that is left.
    if (search.converged()) ssn_.refine(search);
    if (regular && !search.done()) ssn_.attempt_from(search, point_.best(), kAttempt);
    return search.done();
  }

  CascadeParameters par_;
  Ssn ssn_;
  IslandSweeps sweeps_;
  InteriorPoint point_;
  ProximalNewton proximal_;
  Admm2 admm_;
};

}  // namespace

SolverInfo cascade_entry() {
  return solver_entry("cascade",
                      "joints eliminated, then semismooth Newton, interior point, proximal Newton: exact NCP in a few "
                      "factorisations (default)",
                      Law::ncp, cascade_parameters(), [](const CascadeParameters& par) {
                        return make_island_solver(
                            [par] { return std::make_unique<Cascade>(par); },
                            {.threads = par.threads, .budget = par.max_factorisations, .reduce = true});
                      });
}

}  // namespace sarrus
