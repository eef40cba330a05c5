// The list of solvers. Adding a solver: one source that defines its entry, its line in registry.cpp and in
// CMakeLists.txt.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "sarrus/solvers/solver.h"

namespace sarrus {

struct SolverInfo {
  std::string_view id;
  std::string_view summary;
  Law law;  // what it solves; the judge measures it by this law
  std::vector<ParameterInfo> parameters;
  // Throws InputError if a value is out of range; ignores names that are not in `parameters`.
  std::function<std::unique_ptr<Solver>(const SolverParameters&)> make;
};

const std::vector<SolverInfo>& solver_registry();
// Throws InputError listing the known ids (unknown id) or parameters (unknown name, value out of range).
const SolverInfo& solver_info(std::string_view id);
std::unique_ptr<Solver> make_solver(std::string_view id, const SolverParameters& parameters = {});

}  // namespace sarrus
