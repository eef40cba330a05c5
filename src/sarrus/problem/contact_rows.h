// Contact rows (spec/model.md §5, spec/problem.md §3).
//
//   frame R_k = [t o n], n from A to B;  J_B = R_k' [1, -[p - r_B]x],  J_A = -R_k' [1, -[p - r_A]x]
//   v*_N = gamma min(0, d + delta_c)/dt + max(0, d + delta_c)/dt  [+ eps v_N-],   v*_T = 0
// The max-term makes contacts speculative: no impulse unless the gap would close within the step.
// Contacts with a compliance take R and v* from compliance_rows.h instead.
#pragma once

#include <span>

#include "sarrus/collision/contact.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/problem/row_options.h"

namespace sarrus {

// Columns [t, o, n] of the contact frame in world axes; deterministic, continuous almost everywhere.
Mat3 contact_frame(const Vec3& n_W);

// Appends one block of three rows per contact, in the order of `contacts`; block.source is the index there.
// `compliances` are what Contact::compliance refers to. Returns the largest penetration, m.
double add_contact_rows(std::span<const Contact> contacts, std::span<const Pose> X_WB, const VecX& u_minus,
                        const RowOptions& options, ConstraintProblem& problem,
                        std::span<const Compliance> compliances = {});

}  // namespace sarrus
