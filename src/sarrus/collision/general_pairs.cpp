#include "sarrus/collision/general_pairs.h"

#include <algorithm>

#include "sarrus/collision/convex_distance.h"
#include "sarrus/collision/feature.h"

namespace sarrus {

void collide_general(const PairQuery& q, Vec3& axis, Manifold& manifold) {
  const Convex a = convex_of(q.a, Vec3::Zero());
  const Convex b = convex_of(q.b, q.p_AB_W);
  const Vec3 earlier = axis;
  const ConvexDistance found = convex_distance(a, b, q.margin, q.tol, earlier.isZero(0) ? nullptr : &earlier);
  if (!found.near) {
    axis = found.n;
    return;
  }
  axis.setZero();
  const Feature feature_a = support_feature(a, found.n, q.tol);
  const Feature feature_b = support_feature(b, -found.n, q.tol);
  const double smallest = intersect_features(feature_a, feature_b, found.n, q.margin, q.tol, manifold);
  // No gap is smaller than s(n); points that clipping left up to tol beside a feature may seem so.
  for (ManifoldPoint& point : manifold) point.gap = std::max(point.gap, found.d);
  if (smallest <= found.d + q.tol || found.d > q.margin) return;
  const ManifoldPoint witness = witness_point(feature_a, feature_b, found.n, found.d, found.p_A);
  for (ManifoldPoint& point : manifold) {
    if (point.key != witness.key) continue;
    point = witness;
    return;
  }
  if (manifold.size() == Manifold::capacity()) manifold.truncate(Manifold::capacity() - 1);
  manifold.push(witness);
}

}  // namespace sarrus
