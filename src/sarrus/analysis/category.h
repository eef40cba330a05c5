// What kind of constraint problem a step poses, for statistics by kind (docs/theory/benchmarks.md §4;
// Tsounis et al. §VII-C).
//
// With n_b nodes of 6 velocities (n_v velocities in all), n_j joint blocks of n_jd rows and rank r_J, n_c contacts, and
// n_d rows of joints, limits and contacts (soft rows are drives and springs, not constraints):
//   n_c = 0, n_j >= 1   r_J = n_jd: independent joints;  else n_jd < n_v: redundant joints;  else dense joints
//   n_c = 1             single contact
//   n_c >= 2            3 n_c > n_v: dense contacts;  else n_j >= 1 and n_d > n_v: dense constraints;
//                       else sparse contacts
// The first that applies counts: the conditions of the paper overlap.
#pragma once

#include <cstdint>
#include <string_view>

#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

enum class ProblemCategory : std::uint8_t {
  independent_joints,
  redundant_joints,
  dense_joints,
  single_contact,
  dense_contacts,
  dense_constraints,
  sparse_contacts,
  unconstrained  // neither joints nor contacts
};
inline constexpr int kProblemCategoryCount = 7;  // without `unconstrained`
std::string_view name_of(ProblemCategory category);

// `rank` is that of the joint rows (analysis.h): a mechanism's hardly ever changes, so the caller may keep it from step
// to step.
ProblemCategory category(const ConstraintProblem& problem, int rank);

}  // namespace sarrus
