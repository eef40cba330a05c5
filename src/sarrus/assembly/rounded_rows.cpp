#include "sarrus/assembly/rounded_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sarrus/assembly/loop_equations.h"
#include "sarrus/assembly/mechanisms.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/dense.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr double kRoundOff = 1e-12;  // of the longest row: below it rows are redundant up to round-off

struct Ranks {
  int rank = 0;                  // singular values above kRoundOff
  std::vector<VecX> directions;  // right singular vectors of those of them that are not above kRounded
};

Ranks ranks_of(const LoopEquations::Group& g) {
  const SingularValues svd = singular_values(g.A.topRows(g.equations));
  Ranks out;
  for (Eigen::Index i = 0; i < svd.values.size(); ++i) {
    const double sigma = svd.values[i] / svd.values[0];
    if (!(sigma > kRoundOff)) break;
    ++out.rank;
    if (sigma <= kRounded) out.directions.push_back(svd.right.col(i));
  }
  return out;
}

// Walks along a direction on what the kept rows of a group allow, and looks whether the others follow from them.
class Walk {
 public:
  Walk(LoopEquations& equations, std::size_t group, const std::vector<int>& kept, const std::vector<int>& left_out)
      : equations_(equations), group_(group), kept_(kept), left_out_(left_out) {}

  // A dead point is passed with rows that open by far more than rounding explains.
  bool implied(const Posture& from, VecX direction) {
    constexpr int kSteps = 4;
    constexpr double kWay = 0.05;  // rad, or times the length of the mechanism, each
    Posture here = from;
    for (int k = 0; k < kSteps; ++k) {
      equations_.linearise(here);
      const std::optional<VecX> back = correction(kept_rows() * direction);
      if (!back) return false;
      direction += *back;
      const double size = largest(direction);
      if (!(size > 0)) return k > 0;
      direction *= kWay / size;
      if (!move(here, direction) || !close(here)) return k > 0;  // further it does not go
      if (!left_out_hold()) return false;
    }
    return true;
  }

 private:
  const LoopEquations::Group& group() const { return equations_.groups()[group_]; }
  MatX kept_rows() const {
    MatX K(static_cast<Eigen::Index>(kept_.size()), group().A.cols());
    for (std::size_t i = 0; i < kept_.size(); ++i) K.row(static_cast<Eigen::Index>(i)) = group().A.row(kept_[i]);
    return K;
  }
  // The shortest z with K z = -r.
  std::optional<VecX> correction(const VecX& r) const {
    const MatX K = kept_rows();
    const std::optional<MatX> x = solve_definite(K * K.transpose(), r);
    if (!x || !x->allFinite()) return std::nullopt;
    return VecX(-K.transpose() * *x);
  }
  double largest(const VecX& z) const {
    double most = 0;
    for (std::size_t k = 0; k < group().bodies.size(); ++k) {
      const Vec6 x = equations_.displacement(group(), z, k);
      most = std::max({most, x.tail<3>().norm(), x.head<3>().norm() / equations_.length()});
    }
    return most;
  }
  bool move(Posture& here, const VecX& z) {
    constexpr double kFar = 0.5;
    if (!(largest(z) < kFar)) return false;
    std::vector<Vec6> d(here.X_WB.size(), Vec6::Zero());
    for (std::size_t k = 0; k < group().bodies.size(); ++k) {
      d[at(group().bodies[k])] = equations_.displacement(group(), z, k);
    }
    here = equations_.moved(here, d);
    return true;
  }
  bool close(Posture& here) {
    constexpr double kClosed = 1e-11;
    for (int i = 0; i < 10; ++i) {
      equations_.linearise(here);
      VecX c(static_cast<Eigen::Index>(kept_.size()));
      double most = 0;
      for (std::size_t k = 0; k < kept_.size(); ++k) {
        const int row = group().rows[at(kept_[k])];
        c[static_cast<Eigen::Index>(k)] = equations_.scale(row) * equations_.value(row);
        most = std::max(most, std::abs(equations_.value(row)));
      }
      if (most < kClosed) return true;
      const std::optional<VecX> z = correction(c);
      if (!z || !move(here, *z)) return false;
    }
    return false;
  }
  bool left_out_hold() const {
    constexpr double kMostOpen = 1e-6;  // rad, or times the length of the mechanism
    return std::all_of(left_out_.begin(), left_out_.end(), [&](int i) {
      const int row = group().rows[at(i)];
      return std::abs(equations_.value(row)) <= kMostOpen * (equations_.is_angular(row) ? 1 : equations_.length());
    });
  }

  LoopEquations& equations_;
  std::size_t group_;
  const std::vector<int>& kept_;
  const std::vector<int>& left_out_;
};

bool any_gives(const Model& model) {
  const auto gives = [](const auto& x) { return x.compliance.compliant(); };
  return std::any_of(model.joints().begin(), model.joints().end(), gives) ||
         std::any_of(model.couplings().begin(), model.couplings().end(), gives) ||
         std::any_of(model.scalars().begin(), model.scalars().end(),
                     [&](const Dof& d) { return d.limit.locked() && gives(d.limit); });
}

// Of a mechanism alone, by its rows; empty: none.
std::vector<std::uint8_t> rounded_rows_of(const Model& mechanism, const State& start) {
  AssemblyOptions options;
  options.limits = false;
  LoopEquations equations(mechanism, options);
  if (equations.most_rows() > kMostRoundedRows) return {};  // matrices are dense
  const Posture posture{start.X_WB, start.q};
  equations.linearise(posture);
  std::vector<std::uint8_t> out;
  for (std::size_t k = 0; k < equations.groups().size(); ++k) {
    const LoopEquations::Group& g = equations.groups()[k];
    if (g.equations < 2) continue;
    const ColumnOrder order = independent_columns(g.A.topRows(g.equations).transpose());
    const auto suspicious = [&](double length) {
      return length > kRoundOff * order.length[0] && length < 100 * kRounded * order.length[0];
    };
    if (std::none_of(order.length.begin(), order.length.end(), suspicious)) continue;
    const Ranks ranks = ranks_of(g);
    if (ranks.directions.empty()) continue;
    const auto first_left_out = order.column.begin() + ranks.rank - static_cast<int>(ranks.directions.size());
    const std::vector<int> kept(order.column.begin(), first_left_out), left_out(first_left_out, order.column.end());
    const bool implied = std::all_of(ranks.directions.begin(), ranks.directions.end(), [&](const VecX& direction) {
      Walk walk(equations, k, kept, left_out);
      return walk.implied(posture, direction) && walk.implied(posture, -direction);
    });
    equations.linearise(posture);
    if (!implied) continue;
    out.resize(at(equations.row_count()), 0);
    for (const int i : left_out) out[at(equations.groups()[k].rows[at(i)])] = 1;
  }
  return out;
}

// By mechanism: its rows of set_position_rows(), in their order, which is that of the mechanism alone.
std::vector<std::vector<int>> rows_by_mechanism(const Model& model, const Mechanisms& mechanisms, const State& start) {
  const auto coordinates = maximal_coordinates(model);
  ConstraintProblem problem;
  problem.set_nodes(coordinates->node_sizes());
  JointKinematics kinematics(model);
  kinematics.update(start.X_WB, start.q);
  set_position_rows(model, *coordinates, start.X_WB, kinematics, start.q, problem);
  std::vector<std::vector<int>> rows(at(mechanisms.count()));
  for (const ConstraintBlock& b : problem.blocks) {
    for (int r = 0; r < b.rows; ++r) rows[at(mechanisms.of(b.node[0]))].push_back(b.row + r);
  }
  return rows;
}

}  // namespace

std::vector<std::uint8_t> rounded_rows(const Model& model) {
  if (model.loop_joints().empty() && model.couplings().empty()) return {};
  if (any_gives(model)) return {};
  const State start = State::initial(model);
  const Mechanisms mechanisms(model);
  const std::vector<std::vector<int>> rows = rows_by_mechanism(model, mechanisms, start);
  std::size_t count = 0;
  for (const std::vector<int>& r : rows) count += r.size();
  std::vector<std::uint8_t> out;
  for (int k = 0; k < mechanisms.count(); ++k) {
    if (!mechanisms.closes(k) || rows[at(k)].size() > kMostRoundedRows) continue;
    const std::vector<std::uint8_t> own = rounded_rows_of(mechanisms.part(k), mechanisms.part_state(k, start));
    if (own.empty()) continue;
    out.resize(count, 0);
    for (std::size_t i = 0; i < own.size(); ++i) out[at(rows[at(k)][i])] = own[i];
  }
  return out;
}

void release_rows(std::span<const std::uint8_t> rows, ConstraintProblem& problem) {
  constexpr double kReleased = 1e6;
  if (rows.empty()) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] != 0) problem.R[i] = 0;  // of the last time
  }
  problem.measure_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == 0) continue;
    double& diagonal = problem.diagonal[static_cast<Eigen::Index>(i)];
    problem.R[i] = kReleased * diagonal;
    diagonal += problem.R[i];
    problem.bias[i] = 0;
  }
}

}  // namespace sarrus
