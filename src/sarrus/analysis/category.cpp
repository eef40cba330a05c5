#include "sarrus/analysis/category.h"

namespace sarrus {

std::string_view name_of(ProblemCategory category) {
  constexpr std::string_view kNames[] = {"independent joints", "redundant joints",  "dense joints",    "single contact",
                                         "dense contacts",     "dense constraints", "sparse contacts", "unconstrained"};
  return kNames[static_cast<std::size_t>(category)];
}

ProblemCategory category(const ConstraintProblem& problem, int rank) {
  const int velocities = problem.velocity_size();
  const int joint_rows = problem.rows_of(BlockKind::joint);
  const int contact_rows = problem.rows_of(BlockKind::contact);
  if (contact_rows == 0) {
    if (joint_rows == 0) return ProblemCategory::unconstrained;
    if (rank == joint_rows) return ProblemCategory::independent_joints;
    return joint_rows < velocities ? ProblemCategory::redundant_joints : ProblemCategory::dense_joints;
  }
  if (contact_rows == 3) return ProblemCategory::single_contact;
  if (contact_rows > velocities) return ProblemCategory::dense_contacts;
  const int rows = problem.rows() - problem.rows_of(BlockKind::soft);
  return joint_rows > 0 && rows > velocities ? ProblemCategory::dense_constraints : ProblemCategory::sparse_contacts;
}

}  // namespace sarrus
