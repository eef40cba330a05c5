#include <algorithm>
#include <cmath>
#include <utility>

#include "sarrus/assembly/assembly.h"
#include "sarrus/assembly/closing.h"
#include "sarrus/assembly/report.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

double squared_distance(const LoopEquations& equations, std::span<const Vec6> difference) {
  double sum = 0;
  for (const LoopEquations::Group& g : equations.groups()) sum += equations.weighted(g, difference).squaredNorm();
  return sum;
}

// Along what stays closed towards the given pose: the foot of the perpendicular.
void go_nearest(LoopEquations& equations, Closing& closing, std::span<const Pose> given, Posture& posture,
                AssemblyReport& report) {
  constexpr int kMostPasses = 40;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const std::vector<Vec6> tangent = closing.tangent_towards(posture, given);
    const double length = squared_distance(equations, tangent);
    const double distance = squared_distance(equations, difference(given, posture.X_WB));
    double largest = 0;
    for (const Vec6& t : tangent) largest = std::max(largest, t.norm());
    if (!(largest > 1e-9)) break;
    bool moved = false;
    for (double k = 1; k > 1e-3 && !moved; k /= 2) {
      std::vector<Vec6> part = tangent;
      for (Vec6& t : part) t *= k;
      Posture next = equations.moved(posture, part);
      const ClosingResult closed = closing.close(next, false, 30);
      report.iterations += closed.iterations;
      if (!closed.ok()) continue;
      equations.linearise(next);
      if (squared_distance(equations, difference(given, next.X_WB)) > distance - 0.1 * k * length) continue;
      posture = std::move(next);
      moved = true;
    }
    if (!moved) break;
  }
}

}  // namespace

Assembly assemble(const Model& model, const State& given, const AssemblyOptions& options) {
  check_assembly_input(model, given, options.pins, "assemble()");
  Assembly a{given, {}};
  AssemblyReport& report = a.report;
  LoopEquations equations(model, options);
  Closing closing(equations, options);
  Posture posture{given.X_WB, given.q};
  equations.evaluate(posture);
  report.gap_before = std::max(0.0, equations.plain_violation());
  if (equations.most_rows() > kMostAssemblyRows) {
    report.status = equations.violation() <= options.tolerance ? AssemblyStatus::already : AssemblyStatus::too_large;
    report.residual = report.gap_before;
    report.q_before = report.q_after = given.q;
    return a;
  }
  ClosingResult closed = closing.close(posture, true, options.max_iterations);
  report.iterations = closed.iterations;
  if (closed.ok() && closed.iterations > 0) go_nearest(equations, closing, given.X_WB, posture, report);
  describe_assembly(model, given, options, equations, posture, report);
  switch (closed.how) {
    case Closed::to_tolerance:
    case Closed::inexact:
      report.status = report.residual > kInexactAssembly ? AssemblyStatus::assembled_inexact
                      : report.moved.empty()             ? AssemblyStatus::already
                                                         : AssemblyStatus::assembled;
      break;
    case Closed::infeasible: {
      report.status = AssemblyStatus::infeasible;
      if (!options.limits) break;
      AssemblyOptions free = options;
      free.limits = false;
      LoopEquations without(model, free);
      Posture again{given.X_WB, given.q};
      if (Closing(without, free).close(again, true, options.max_iterations).ok())
        report.status = AssemblyStatus::limits_conflict;
      break;
    }
    case Closed::iterations:
      report.status = AssemblyStatus::max_iterations;
      break;
    case Closed::non_finite:
      report.status = AssemblyStatus::non_finite;
      break;
  }
  if (report.status == AssemblyStatus::non_finite) return a;
  a.state.X_WB = std::move(posture.X_WB);
  a.state.q = std::move(posture.q);
  return a;
}

}  // namespace sarrus
