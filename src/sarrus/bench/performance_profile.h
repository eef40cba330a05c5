// Performance profiles (Dolan and Moré; docs/theory/benchmarks.md §5).
//
//   q_ps = t_ps / min_s t_ps,   rho_s(tau) = |{p : q_ps <= tau}| / n_p
// t_ps is the cost of solver s on problem p: time, iterations, or max(residual, 1e-16). A failure costs infinity and is
// counted in n_p: rho_s(1) is how often s is best, rho_s(inf) how often it succeeds at all. Problems that nobody solved
// count for nobody.
#pragma once

#include <string>
#include <vector>

#include "sarrus/bench/plot.h"

namespace sarrus {

struct CostTable {
  std::vector<std::string> solvers;
  std::vector<std::vector<double>> cost;  // by problem, then by solver; infinity: failed
};

struct ProfileCurve {
  std::string solver;
  std::vector<double> ratios;  // q of the problems it solved, ascending
  int problems = 0;            // n_p

  double at(double tau) const;  // rho_s(tau)
  double best() const { return at(1.0); }
  double solved() const { return problems == 0 ? 0.0 : static_cast<double>(ratios.size()) / problems; }
};

// Throws std::invalid_argument for a row of another length, a cost that is NaN, zero or negative.
std::vector<ProfileCurve> performance_profile(const CostTable& table);

// rho over tau (logarithmic) as step functions, up to the largest finite ratio.
Plot profile_plot(const CostTable& table, const std::string& title, const std::string& cost_name);

// The step function of one curve up to `end`. The axis is divided into `steps` parts (by the logarithm); the steps
// within one part are drawn as one, at the last of them.
Series profile_series(const ProfileCurve& curve, double end, int steps);

}  // namespace sarrus
