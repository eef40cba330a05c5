#include "sarrus/assembly/freedom.h"

#include <algorithm>
#include <cmath>

#include "sarrus/assembly/closing.h"
#include "sarrus/math/dense.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr double kRank = 1e-9;
constexpr double kLooseRank = 1e-4;
constexpr double kNearSingular = 1e-3;

struct Spectrum {
  int rank = 0;
  int loose_rank = 0;
  double smallest = 1;                          // of those that count
  const LoopEquations::Group* group = nullptr;  // its group
  VecX direction;                               // and right singular vector, of length 1
};

// Equations only: limits that are reached do not lessen the freedom.
Spectrum spectrum_of(const LoopEquations& equations) {
  Spectrum s;
  for (const LoopEquations::Group& g : equations.groups()) {
    if (g.equations == 0) continue;
    const SingularValues svd = singular_values(g.A.topRows(g.equations));
    const double largest = svd.values[0];
    for (Eigen::Index i = 0; i < svd.values.size(); ++i) {
      const double sigma = svd.values[i] / largest;
      if (!(sigma > kRank)) continue;
      ++s.rank;
      s.loose_rank += sigma > kLooseRank;
      if (sigma >= s.smallest) continue;
      s.smallest = sigma;
      s.group = &g;
      s.direction = svd.right.col(i);
    }
  }
  return s;
}

// Whether the smallest singular value grows when the mechanism moves on in its direction.
bool grows(LoopEquations& equations, const AssemblyOptions& options, const Posture& posture, const Spectrum& there) {
  constexpr double kWay = 0.05;  // rad, or times the length of the mechanism
  std::vector<Vec6> d(posture.X_WB.size(), Vec6::Zero());
  double largest = 0;
  for (std::size_t k = 0; k < there.group->bodies.size(); ++k) {
    Vec6& x = d[at(there.group->bodies[k])];
    x = equations.displacement(*there.group, there.direction, k);
    largest = std::max({largest, x.tail<3>().norm(), x.head<3>().norm() / equations.length()});
  }
  if (!(largest > 0)) return false;
  for (Vec6& x : d) x *= kWay / largest;
  AssemblyOptions loose = options;
  loose.limits = false;
  Posture next = equations.moved(posture, d);
  if (!Closing(equations, loose).close(next, true, 50).ok()) return true;
  equations.linearise(next);
  const Spectrum moved = spectrum_of(equations);
  return moved.smallest > kLooseRank;
}

// The joints whose bodies move most against each other in the direction, at most three.
std::vector<int> joints_that_move(const LoopEquations& equations, const Spectrum& s) {
  const Model& model = equations.model();
  std::vector<Vec6> d(model.bodies().size(), Vec6::Zero());
  for (std::size_t k = 0; k < s.group->bodies.size(); ++k) {
    d[at(s.group->bodies[k])] = equations.displacement(*s.group, s.direction, k);
  }
  std::vector<std::pair<double, int>> turns;
  for (int i = 0; i < model.joint_count(); ++i) {
    const Joint& j = model.joints()[at(i)];
    if (j.type == JointType::free) continue;
    const auto of = [&](int body) { return body == kWorld ? Vec6(Vec6::Zero()) : d[at(body)]; };
    const Vec6 relative = of(j.follower) - of(j.base);
    const double size = relative.tail<3>().norm() + relative.head<3>().norm() / equations.length();
    if (size > 0) turns.emplace_back(-size, i);
  }
  std::sort(turns.begin(), turns.end());
  std::vector<int> joints;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, turns.size()); ++i) joints.push_back(turns[i].second);
  return joints;
}

}  // namespace

void find_freedom(LoopEquations& equations, const AssemblyOptions& options, const Posture& posture,
                  AssemblyReport& report) {
  equations.linearise(posture);
  report.rows = 0;
  for (const LoopEquations::Group& g : equations.groups()) report.rows += g.equations;
  if (equations.most_rows() > kMostFreedomRows) return;
  const Spectrum s = spectrum_of(equations);
  report.rank = s.rank;
  report.loose_rank = s.loose_rank;
  report.mobility = 6 * equations.model().body_count() - s.loose_rank;
  report.sigma_min = s.smallest;
  report.near_singular = s.smallest < kNearSingular;
  if (s.group != nullptr && report.near_singular) report.singular_joints = joints_that_move(equations, s);
  if (s.rank == s.loose_rank) return;
  if (!grows(equations, options, posture, s)) {
    report.rounded = true;
    report.near_singular = false;
    report.singular_joints.clear();
  }
  equations.linearise(posture);
}

}  // namespace sarrus
