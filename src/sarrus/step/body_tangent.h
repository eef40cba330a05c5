// The velocity of a body that touches nothing but the world, made tangent to the contacts that carry it: what
// JointProjection does (projection.h) for an island of one body, whose matrix is of six rows.
//
//   min 1/2 d' M d   s.t.   J (u + d) = 0        d = -H^-1 J' G J u,  H = M + J' G J,  G = 1/(eps D_ii)
// J: rows [n, arm x n] of the normals of loaded contacts and of all three directions of those that stick; m/s and
// rad/s, world axes, at the centre of mass.
#pragma once

#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/math/types.h"
#include "sarrus/model/model.h"

namespace sarrus {

class BodyTangent {
 public:
  explicit BodyTangent(const Model& model);
  // The masses of the model have changed (model/numbers.h).
  void read_again();

  // The body and its pose; then its contacts.
  void begin(int body, const Pose& X_WB);
  void add(const Contact& contact, bool stuck);
  // Leaves less than `negligible`, m/s, of J u; gives up at what is not finite.
  void finish(double regularisation, double negligible, Eigen::Ref<Vec6> u);

 private:
  void add_row(const Vec3& n);
  double violation(const Vec6& u);

  Model model_;
  std::vector<Mat3> inertia_inverse_B_;  // by body
  double mass_ = 0;
  Mat3 inertia_, inertia_inverse_;  // world axes
  Vec3 p_;                          // centre of mass
  Vec3 arm_;                        // of the contact at hand
  std::vector<Vec6> rows_;
  std::vector<double> diagonal_, velocity_;  // D_ii and J u
};

}  // namespace sarrus
