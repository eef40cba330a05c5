// Which runs a sweep has: all points of its grid, each with all of its samples. Samples are the same at every point, so
// that what differs between points is the grid's doing. A value depends on the seed, the axis and the number of the
// sample alone; plain random ones do not depend on how many there are.
#pragma once

#include <string>
#include <vector>

#include "sarrus/sweep/spec.h"

namespace sarrus {

class SweepPlan {
 public:
  // Throws InputError if there are too many runs, or a target that the model does not have.
  SweepPlan(SweepSpec spec, Model model);

  const SweepSpec& spec() const { return spec_; }
  const Model& model() const { return model_; }
  int runs() const { return runs_; }
  int steps() const { return steps_; }
  int frames() const { return spec_.record_every > 0 ? steps_ / spec_.record_every : 0; }
  double dt() const { return dt_; }
  // Of run i, by axis.
  std::vector<double> values(int run) const;

 private:
  double sample(std::size_t axis, int index) const;

  SweepSpec spec_;
  Model model_;
  int runs_ = 1;
  int steps_ = 0;
  double dt_ = 0;
  std::vector<std::vector<int>> strata_;  // by axis: where sample i lies, of a Latin hypercube
};

// The inverse of the distribution function of the normal distribution, for 0 < p < 1 (Acklam's rational approximation
// and one step of Halley's method: to round-off).
double normal_quantile(double p);

}  // namespace sarrus
