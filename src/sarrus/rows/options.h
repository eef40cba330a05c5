// How joints, limits and contacts are stabilised (docs/theory/rows.md; the laws are in rows.h, the correction of
// positions in step/push_out.h).
#pragma once

#include <optional>

#include "sarrus/model/model.h"

namespace sarrus {

// Negative (kUseDefault): what the scene recommends.
struct RowOptions {
  double erp_joint = kUseDefault;     // alpha, share of a joint's error that its velocity takes back per step, if poses
                                      // are not projected onto the joints
  double erp_limit = kUseDefault;     // beta, share of a violation that the position pass of a step takes back
  double erp_contact = kUseDefault;   // gamma, likewise, of what is deeper than the slop
  double contact_slop = kUseDefault;  // delta_c, tolerated penetration, m; default: 1e-5 of the pair's smaller diagonal
  double push_out_speed = kUseDefault;  // at most, m/s; default: 5 of these diagonals (5 rad of limits, 5 sizes of the
                                        // joint) per s
  double contact_compliance = 0;        // rho of rigid contacts, docs/theory/rows.md §5.1; 0: they are rigid
  double contact_give = 1e-4;           // e_v, what it yields at most under the load of the last step, m/s
  double restitution_threshold = 0;     // v_rest, m/s; approach slower than this does not bounce; 0: 2 g dt
  double limit_margin = 0.02;  // rad, or of the size of the joint (Model::joint_size): limit rows exist this far
                               // before the limit (plus motion)
  std::optional<RestitutionLaw> restitution = {};
};

}  // namespace sarrus
