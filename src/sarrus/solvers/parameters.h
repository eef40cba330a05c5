// Parameters of a solver by name: one table per solver ties names, ranges and meanings to the members of its struct.
// With it the solver's entry in the registry is one call.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sarrus/math/error.h"
#include "sarrus/solvers/registry.h"

namespace sarrus {

template <class P>
struct ParameterField {
  const char* name;
  const char* meaning;
  double lower, upper;
  std::variant<double P::*, int P::*, bool P::*> member;

  double get(const P& p) const {
    if (const auto* real = std::get_if<0>(&member)) return p.**real;
    if (const auto* integer = std::get_if<1>(&member)) return p.**integer;
    return p.*std::get<2>(member) ? 1.0 : 0.0;
  }
  void set(P& p, double value) const {
    if (const auto* real = std::get_if<0>(&member)) {
      p.** real = value;
    } else if (const auto* integer = std::get_if<1>(&member)) {
      p.** integer = static_cast<int>(value);
    } else {
      p.*std::get<2>(member) = value != 0;
    }
  }
};

template <class P>
using ParameterList = std::vector<ParameterField<P>>;

template <class P>
std::vector<ParameterInfo> describe(const ParameterList<P>& list) {
  std::vector<ParameterInfo> out;
  static const P defaults{};
  for (const ParameterField<P>& f : list) {
    out.push_back({f.name, f.get(defaults), f.meaning});
  }
  return out;
}

// Throws InputError naming a parameter that is out of range. Unknown names are refused by the registry.
template <class P>
P read_parameters(const ParameterList<P>& list, const SolverParameters& given) {
  P out{};
  for (const auto& [name, value] : given) {
    for (const ParameterField<P>& f : list) {
      if (name != f.name) continue;
      if (!(value >= f.lower && value <= f.upper)) {
        throw InputError(fmt::format("solver parameter '{}'", name),
                         fmt::format("is {}; give a number in [{}, {}]", value, f.lower, f.upper));
      }
      f.set(out, value);
    }
  }
  return out;
}

// `build` makes the solver from its parameters.
template <class P, class Build>
SolverInfo solver_entry(std::string_view id, std::string_view summary, Law law, const ParameterList<P>& list,
                        const Build& build) {
  return {id, summary, law, describe(list), [list, build](const SolverParameters& given) -> std::unique_ptr<Solver> {
            return build(read_parameters(list, given));
          }};
}
template <class S, class P>
SolverInfo solver_entry(std::string_view id, std::string_view summary, Law law, const ParameterList<P>& list) {
  return solver_entry(id, summary, law, list, [](const P& par) { return std::make_unique<S>(par); });
}

}  // namespace sarrus
