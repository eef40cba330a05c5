// Inertias of files that no distribution of mass has (docs/robots.md, "Masses").
#pragma once

#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/graph.h"

namespace sarrus::robot {

// I about the centre of mass. With S = tr(I)/2 1 - I, the second moments of the mass: S >= 0 is the triangle
// inequality. Where it is broken by more than 1e-9: negative eigenvalues of S become 0 and I = tr(S) 1 - S. Principal
// moments of 0 become m (1 mm)^2. Negative ones are refused, as everything is if ImportOptions::repair_inertia is off.
Mat3 repaired_inertia(const Mat3& I, double mass, const Link& link, Findings& findings);

}  // namespace sarrus::robot
