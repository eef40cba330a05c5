// What assemble() and forward_kinematics() have in common: checks of what they are given, and what they tell.
#pragma once

#include <span>
#include <string_view>

#include "sarrus/assembly/loop_equations.h"

namespace sarrus {

inline constexpr double kInexactAssembly = 1e-6;  // contradictions above this are told, m or rad

// Throws InputError naming `call`.
void check_assembly_input(const Model& model, const State& given, std::span<const CoordinateValue> values,
                          std::string_view call);
// Fills all of the report but its status, its iterations and the way of a continuation.
void describe_assembly(const Model& model, const State& given, const AssemblyOptions& options, LoopEquations& equations,
                       const Posture& posture, AssemblyReport& report);

}  // namespace sarrus
