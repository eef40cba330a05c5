// Closes loops by a damped, limit-respecting Gauss-Newton method (docs/theory/assembly.md §2).
//
//   z = argmin |z - z_pull|   s.t.  A z = -(S c),  A_g z >= -(S g)         pull: 0, or towards the given pose
//   A z = r by the eigenvalues of A A': those below 1e-12 of the largest, singular values below 1e-6, count as
//   dependent rows, so that rounded numbers of redundant loops are not fought for; damping mu adds to the eigenvalues.
// A step turns no body by more than 0.5 rad and moves none by more than half of the length of the mechanism.
#pragma once

#include <optional>
#include <vector>

#include "sarrus/assembly/loop_equations.h"

namespace sarrus {

enum class Closed : std::uint8_t {
  to_tolerance,
  inexact,  // up to what redundant rows contradict each other
  infeasible,
  iterations,
  non_finite
};

struct ClosingResult {
  Closed how = Closed::to_tolerance;
  int iterations = 0;
  double sigma_min = 1;  // smallest singular value of A that was not dropped, in any iteration
  bool ok() const { return how == Closed::to_tolerance || how == Closed::inexact; }
};

class Closing {
 public:
  Closing(LoopEquations& equations, const AssemblyOptions& options) : equations_(equations), options_(options) {}

  // Moves the posture until it is closed, or to where no step leaves less open. `damped`: far from closed, where whole
  // steps may run away; continuation takes undamped ones and few iterations.
  ClosingResult close(Posture& posture, bool damped, int max_iterations);

  // The displacement by body that leads from a closed posture towards `target` along what stays closed, to first order.
  std::vector<Vec6> tangent_towards(const Posture& posture, std::span<const Pose> target);

 private:
  // By body; of the last linearise().
  std::vector<Vec6> step(double mu, const std::vector<Vec6>* pull, bool restore);
  VecX group_step(const LoopEquations::Group& group, double mu, const VecX& pull, bool restore);
  double predicted_merit(std::span<const Vec6> step) const;

  LoopEquations& equations_;
  const AssemblyOptions& options_;
  double sigma_min_ = 1;
};

// X (-) Y by body: [r_X - r_Y; log(R_X R_Y')].
std::vector<Vec6> difference(std::span<const Pose> X, std::span<const Pose> Y);

}  // namespace sarrus
