#include "sarrus/assembly/closing.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/dense.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr double kDependent = 1e-12;  // of the largest eigenvalue of A A'
constexpr double kLongestTurn = 0.5;  // rad
constexpr double kLongestWay = 0.5;   // times the length of the mechanism

// (A A' + mu)^+ b by its eigenvalues; also the smallest that counts, relative to the largest.
VecX solve_dependent(const SymmetricEigen& D, double mu, const VecX& b, double& smallest) {
  const double largest = D.values[D.values.size() - 1];
  VecX y = D.vectors.transpose() * b;
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const double e = D.values[i];
    if (e < kDependent * largest) {
      y[i] = 0;
    } else {
      y[i] /= e + mu;
      smallest = std::min(smallest, e / largest);
    }
  }
  return D.vectors * y;
}

void shorten(std::vector<Vec6>& step, double length) {
  double factor = 1;
  for (const Vec6& d : step) {
    factor = std::min(factor, kLongestWay * length / std::max(d.head<3>().norm(), 1e-300));
    factor = std::min(factor, kLongestTurn / std::max(d.tail<3>().norm(), 1e-300));
  }
  if (factor < 1) {
    for (Vec6& d : step) d *= factor;
  }
}

}  // namespace

std::vector<Vec6> difference(std::span<const Pose> X, std::span<const Pose> Y) {
  std::vector<Vec6> d;
  d.reserve(X.size());
  for (std::size_t i = 0; i < X.size(); ++i) {
    d.push_back(spatial(X[i].p - Y[i].p, so3_log(X[i].q * Y[i].q.conjugate())));
  }
  return d;
}

// Active set: violated one-sided rows and those that the step would violate are equations, as long as they push.
VecX Closing::group_step(const LoopEquations::Group& group, double mu, const VecX& pull, bool restore) {
  const auto rows = static_cast<Eigen::Index>(group.rows.size());
  VecX residual(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const int row = group.rows[static_cast<std::size_t>(r)];
    residual[r] = equations_.scale(row) * equations_.value(row);
    if (!restore && r < group.equations) residual[r] = 0;
    if (!restore && r >= group.equations) residual[r] = std::max(0.0, residual[r]);
  }
  std::vector<Eigen::Index> active;
  for (Eigen::Index r = 0; r < group.equations; ++r) active.push_back(r);
  for (Eigen::Index r = group.equations; r < rows; ++r) {
    if (residual[r] < 0) active.push_back(r);
  }
  constexpr int kMostChanges = 30;
  VecX z = pull;
  std::vector<bool> dropped(static_cast<std::size_t>(rows), false);
  for (int change = 0; change < kMostChanges; ++change) {
    if (active.empty()) {
      z = pull;
    } else {
      const MatX A = group.A(active, Eigen::all);
      const VecX b = -(residual(active) + A * pull);
      double smallest = 1;
      const VecX lambda = solve_dependent(symmetric_eigen(A * A.transpose()), mu, b, smallest);
      sigma_min_ = std::min(sigma_min_, std::sqrt(smallest));
      z = pull + A.transpose() * lambda;
      // One that pulls is let go; once, so that this ends.
      std::size_t worst = active.size();
      for (std::size_t k = 0; k < active.size(); ++k) {
        const auto i = static_cast<Eigen::Index>(k);
        if (active[k] >= group.equations && lambda[i] < -1e-14 &&
            (worst == active.size() || lambda[i] < lambda[static_cast<Eigen::Index>(worst)])) {
          worst = k;
        }
      }
      if (worst < active.size()) {
        dropped[static_cast<std::size_t>(active[worst])] = true;
        active.erase(active.begin() + static_cast<std::ptrdiff_t>(worst));
        continue;
      }
    }
    bool added = false;
    for (Eigen::Index r = group.equations; r < rows; ++r) {
      if (dropped[static_cast<std::size_t>(r)] || std::find(active.begin(), active.end(), r) != active.end()) continue;
      if (residual[r] + group.A.row(r).dot(z) >= -1e-14) continue;
      active.push_back(r);
      added = true;
    }
    if (!added) break;
  }
  return z;
}

std::vector<Vec6> Closing::step(double mu, const std::vector<Vec6>* pull, bool restore) {
  std::vector<Vec6> d(equations_.model().bodies().size(), Vec6::Zero());
  for (const LoopEquations::Group& g : equations_.groups()) {
    const VecX towards =
        pull != nullptr ? equations_.weighted(g, *pull) : VecX::Zero(static_cast<Eigen::Index>(6 * g.bodies.size()));
    const VecX z = group_step(g, mu, towards, restore);
    for (std::size_t k = 0; k < g.bodies.size(); ++k) d[at(g.bodies[k])] = equations_.displacement(g, z, k);
  }
  return d;
}

double Closing::predicted_merit(std::span<const Vec6> step) const {
  double sum = 0;
  for (const LoopEquations::Group& g : equations_.groups()) {
    const VecX change = g.A * equations_.weighted(g, step);
    for (std::size_t r = 0; r < g.rows.size(); ++r) {
      const int row = g.rows[r];
      double value = equations_.scale(row) * equations_.value(row) + change[static_cast<Eigen::Index>(r)];
      if (!equations_.is_equation(row)) value = std::min(0.0, value);
      sum += 0.5 * value * value;
    }
  }
  return sum;
}

ClosingResult Closing::close(Posture& posture, bool damped, int max_iterations) {
  ClosingResult result;
  sigma_min_ = 1;
  equations_.linearise(posture);
  const double snap = options_.snap;
  double mu = damped && equations_.violation() > 0.01 ? 1e-3 : 0.0;
  int settled = 0;
  int slow = 0;
  int rejected = 0;
  double before_slow = equations_.merit();
  while (true) {
    const double violation = equations_.violation();
    const double merit = equations_.merit();
    if (!std::isfinite(violation) || !std::isfinite(merit)) {
      result.how = Closed::non_finite;
      break;
    }
    if (violation <= options_.tolerance) break;
    if (result.iterations == max_iterations) {
      result.how = violation < snap ? Closed::inexact : Closed::iterations;
      break;
    }
    ++result.iterations;
    std::vector<Vec6> d = step(mu, nullptr, true);
    shorten(d, equations_.length());
    const double predicted = merit - predicted_merit(d);
    // Nothing is left to gain: closed up to contradictions, or not to be closed from here.
    if (predicted < 1e-3 * merit && mu == 0) {
      if (violation < snap && ++settled < 2) {
        // once more, from the pose that this last step leads to
      } else {
        result.how = violation < snap ? Closed::inexact : Closed::infeasible;
        break;
      }
    }
    Posture next = equations_.moved(posture, d);
    equations_.evaluate(next);
    const double reached = equations_.merit();
    const double ratio = predicted > 0 ? (merit - reached) / predicted : -1.0;
    const bool better = reached < merit || equations_.violation() <= options_.tolerance;
    if (!better) {
      if (violation < snap && (mu > 0 || predicted < 1e-2 * merit || merit < 1e-18)) {  // round-off of what is left
        equations_.linearise(posture);
        result.how = Closed::inexact;
        break;
      }
      if (++rejected > 25) {
        equations_.linearise(posture);
        result.how = violation < snap ? Closed::inexact : Closed::infeasible;
        break;
      }
      mu = std::max(10 * mu, 1e-6);
      equations_.linearise(posture);
      continue;
    }
    rejected = 0;
    posture = std::move(next);
    if (ratio > 0.7) {
      mu = mu / 10 < 1e-9 ? 0 : mu / 10;
    } else if (ratio < 0.25) {
      mu = std::max(4 * mu, damped ? 1e-9 : 0.0);
    }
    if (++slow == 8) {
      slow = 0;
      if (reached > 0.98 * before_slow) {
        equations_.linearise(posture);
        result.how = equations_.violation() < snap ? Closed::inexact : Closed::infeasible;
        break;
      }
      before_slow = reached;
    }
    equations_.linearise(posture);
  }
  // Once more without damping, to round-off where rows allow it.
  if (result.how == Closed::to_tolerance && result.iterations > 0 && equations_.violation() > 1e-15) {
    const double violation = equations_.violation();
    const Posture next = equations_.moved(posture, step(0, nullptr, true));
    equations_.evaluate(next);
    if (equations_.violation() < violation) posture = next;
    equations_.linearise(posture);
  }
  result.sigma_min = sigma_min_;
  return result;
}

std::vector<Vec6> Closing::tangent_towards(const Posture& posture, std::span<const Pose> target) {
  equations_.linearise(posture);
  const std::vector<Vec6> way = difference(target, posture.X_WB);
  return step(0, &way, false);
}

}  // namespace sarrus
