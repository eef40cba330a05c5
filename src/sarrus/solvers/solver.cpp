#include "sarrus/solvers/solver.h"

#include <array>

namespace sarrus {

std::string_view name(SolveStatus status) {
  constexpr std::array<std::string_view, 5> names = {"converged", "max_iterations", "stalled", "infeasible",
                                                     "non_finite"};
  return names[static_cast<std::size_t>(status)];
}

}  // namespace sarrus
