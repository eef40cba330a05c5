// How the rows of joints, limits and contacts are stabilised (docs/theory/rows.md; the laws are in rows.h).
#pragma once

namespace sarrus {

// Stabilisation of rigid rows.
struct RowOptions {
  double erp_joint = 0.1;            // alpha, used where a joint is not projected
  double erp_limit = 0.1;            // beta
  double erp_contact = 0.1;          // gamma
  double contact_slop = 1e-5;        // delta_c, tolerated penetration, m
  double restitution_threshold = 0;  // v_rest, m/s; approach slower than this does not bounce; 0: 2 g dt
  double limit_margin = 0.02;        // m or rad: limit rows exist this far before the limit (plus motion)
};

}  // namespace sarrus
