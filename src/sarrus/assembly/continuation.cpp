// Forward kinematics of closed loops: coordinates from their present values to the wanted ones in steps that stay on
// the branch (docs/theory/assembly.md §3).
#include <algorithm>
#include <cmath>

#include "sarrus/assembly/assembly.h"
#include "sarrus/assembly/closing.h"
#include "sarrus/assembly/report.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr double kFirstStep = 0.2;  // rad, or times the length of the mechanism
constexpr double kShortestStep = 1e-4;
constexpr double kLargestTurn = 1.0;  // rad, of a body in one step
constexpr int kMostIterations = 12;
// Contradictions of redundant loops that may be left on the way, rad, and m times the length: far less than what is
// snapped, or a step past a dead point would look like one of them.
constexpr double kContradiction = 1e-6;
// Beyond a dead point steps end inexact, too, but not for long.
constexpr double kPastTheEnd = 1e-2;

double largest_turn(std::span<const Pose> a, std::span<const Pose> b) {
  double turn = 0;
  for (const Vec6& d : difference(a, b)) turn = std::max(turn, d.tail<3>().norm());
  return turn;
}

}  // namespace

Assembly forward_kinematics(const Model& model, const State& given, std::span<const CoordinateValue> wanted,
                            const AssemblyOptions& options) {
  check_assembly_input(model, given, wanted, "forward_kinematics()");
  check_assembly_input(model, given, options.pins, "forward_kinematics()");
  Assembly a{given, {}};
  AssemblyReport& report = a.report;
  LoopEquations equations(model, options);
  Posture posture{given.X_WB, given.q};
  equations.evaluate(posture);
  report.gap_before = equations.plain_violation();
  if (equations.most_rows() > kMostAssemblyRows) {
    report.status = AssemblyStatus::too_large;
    report.reached = 0;
    report.residual = report.gap_before;
    report.q_before = report.q_after = given.q;
    return a;
  }
  Closing closing(equations, options);
  std::vector<CoordinateValue> pins(options.pins);
  double farthest = 0;
  for (const CoordinateValue& w : wanted) {
    const Joint& j = model.joints()[at(model.joint_of_dof(w.dof))];
    const bool angular = coordinate_is_angular(j, w.dof - j.first_dof);
    farthest = std::max(farthest, std::abs(w.value - given.q[at(w.dof)]) / (angular ? 1.0 : equations.length()));
  }
  const auto aim = [&](double s) {
    pins.resize(options.pins.size());
    for (const CoordinateValue& w : wanted) {
      const double from = given.q[at(w.dof)];
      pins.push_back({w.dof, from + s * (w.value - from)});
    }
    equations.set_pins(pins);
  };
  double s = 0;
  double step = farthest > 0 ? std::min(1.0, kFirstStep / farthest) : 1.0;
  const double shortest = farthest > 0 ? kShortestStep / farthest : 1.0;
  bool contradicts = false;
  double exact_s = 0;  // the last one that closed to the tolerance
  Posture exact = posture;
  while (s < 1) {
    const double next_s = s + step > 1 - 1e-12 ? 1 : s + step;
    aim(next_s);
    Posture next = posture;
    const ClosingResult closed = closing.close(next, false, kMostIterations);
    report.iterations += closed.iterations;
    const bool ok =
        closed.ok() && equations.violation() < kContradiction && largest_turn(next.X_WB, posture.X_WB) <= kLargestTurn;
    if (!ok) {
      step /= 2;
      if (step < shortest) break;
      continue;
    }
    contradicts = contradicts || closed.how == Closed::inexact;
    report.sigma_on_path = std::min(report.sigma_on_path, closed.sigma_min);
    posture = std::move(next);
    s = next_s;
    if (closed.how == Closed::to_tolerance) {
      exact = posture;
      exact_s = s;
    }
    if (closed.iterations <= 4) step *= 1.5;
  }
  if (s < 1 && (s - exact_s) * farthest < kPastTheEnd) {
    posture = std::move(exact);
    s = exact_s;
  }
  report.reached = s;
  aim(s);
  describe_assembly(model, given, options, equations, posture, report);
  report.status = s < 1                                               ? AssemblyStatus::unreachable
                  : contradicts && report.residual > kInexactAssembly ? AssemblyStatus::assembled_inexact
                  : farthest == 0 && report.moved.empty()             ? AssemblyStatus::already
                                                                      : AssemblyStatus::assembled;
  a.state.X_WB = std::move(posture.X_WB);
  a.state.q = std::move(posture.q);
  return a;
}

}  // namespace sarrus
