// The default solver (docs/theory/newton.md §7): joints and drives eliminated, and where that does not do semismooth
// Newton from the warm start, then interior point methods polished by it, then ADMM2 polished by it. Each stage starts
// from its own point; the best iterate of all counts.
//
//   0  elimination (reduction.h), called by island_solver.cpp; most islands with joints end here
//   1  semismooth Newton: an attempt from the warm start; without one a quick pass from zero, if impulses may be unique
//   2  interior point in variants (coupling in the matrix, fraction of the step to the boundary, slack reset), in an
//      order chosen by the kind of problem: more joint rows than contact rows, or not; semismooth Newton is tried
//      whenever the natural map has fallen far enough, and from the best point of each
//      between two variants a few proximal Newton steps from the best point of all
//   3  ADMM2 from zero with semismooth Newton attempts at growing intervals, and three long ones from the best point
// What reaches stage 1 of joints alone is linear: one Newton step, and those that round-off asks for.
#include <span>

#include "sarrus/solvers/admm2.h"
#include "sarrus/solvers/interior_point.h"
#include "sarrus/solvers/island_solver.h"
#include "sarrus/solvers/parameters.h"
#include "sarrus/solvers/proximal_newton.h"
#include "sarrus/solvers/ssn.h"

namespace sarrus {
namespace {

struct CascadeParameters {
  int max_factorisations = 5000;
  int threads = 1;
  double polish_from = 1e-3;
  int admm_iterations = 3000;
};

// From zero, too, most steps of simulations take a few Newton steps, at less than half of what an interior point run
// costs; those that do not come closer at once are left to the latter. So are rigid contacts with more rows than there
// is freedom: their impulses are not unique, Newton's method from zero ends at extreme ones with many contacts
// unloaded, and those are poor warm starts (a ring of cubes at rest took 12 iterations in every step instead of 1). The
// interior point method ends near the middle.
constexpr SsnOptions kColdPass{.r = 1.0, .delta = 1e-8, .steps = 8, .patience = 1};

const ParameterList<CascadeParameters>& cascade_parameters() {
  using P = CascadeParameters;
  static const ParameterList<P> list = {
      {"max_factorisations", "budget per island; for real-time use 60", 1, 1e9, &P::max_factorisations},
      {"threads", "islands solved at the same time", 1, 1024, &P::threads},
      {"polish_from", "error from which semismooth Newton steps are tried", 0, 1e9, &P::polish_from},
      {"admm_iterations", "of the last stage; 0: leave it out", 0, 1e9, &P::admm_iterations},
  };
  return list;
}

struct Variant {
  bool coupling;
  double fraction;
  bool reset_slack;
};

// Which variant reaches the solution is a matter of luck on hard problems, so there are many; nearly all problems are
// solved by the first or second.
constexpr Variant kMechanism[] = {{true, 0.99, true},   {true, 0.99, false}, {true, 0.9, true},
                                  {false, 0.99, false}, {true, 0.999, true}, {true, 0.8, false}};
constexpr Variant kContacts[] = {{true, 0.9, true},   {true, 0.99, false}, {true, 0.8, false}, {false, 0.99, true},
                                 {true, 0.95, false}, {true, 0.95, true},  {true, 0.7, false}, {true, 0.999, true}};

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
    if (!cold) ssn_.attempt(search, lambda, 30);
    if (cold && may_be_determinate(p)) ssn_.run(search, kColdPass, lambda);
    if (search.done()) return;
    const bool mechanism = p.scalar_rows - p.bounded_rows > 3 * p.contacts();
    const std::span<const Variant> variants = mechanism ? std::span<const Variant>(kMechanism) : kContacts;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const Variant& v = variants[i];
      search.enter(2 + static_cast<int>(i), i == 0 ? "interior point" : "further interior point");
      const int iterations = i < 2 ? 40 : 60;
      const InteriorPointOptions options{v.coupling, v.fraction, v.reset_slack, iterations, par_.polish_from};
      const bool regular = point_.run(search, options, ssn_);
      if (search.done()) return;
      if (regular && (ssn_.attempt_from(search, point_.best(), 60) || search.exhausted())) return;
      if (i == (mechanism ? 3 : 1)) {
        search.stage_name = "proximal Newton";
        lambda = search.best();
        if (proximal_.run(search, ssn_, 20, 1e-3, lambda) || search.exhausted()) return;
      }
    }
    if (par_.admm_iterations == 0) return;
    search.enter(100, "admm");
    lambda.setZero();
    admm_.run(search, {par_.admm_iterations, true, false}, ssn_, lambda);
    for (int i = 0; i < 3 && !search.done(); ++i) ssn_.attempt_from(search, search.best(), 900);
  }

 private:
  CascadeParameters par_;
  Ssn ssn_;
  InteriorPoint point_;
  ProximalNewton proximal_;
  Admm2 admm_;
};

}  // namespace

SolverInfo cascade_entry() {
  return solver_entry("cascade",
                      "joints eliminated, then semismooth Newton, interior point, ADMM in turn: exact NCP in a few "
                      "factorisations (default)",
                      Law::ncp, cascade_parameters(), [](const CascadeParameters& par) {
                        return make_island_solver(
                            [par] { return std::make_unique<Cascade>(par); },
                            {.threads = par.threads, .budget = par.max_factorisations, .reduce = true});
                      });
}

}  // namespace sarrus
