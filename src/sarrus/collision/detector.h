// Collision detection for a model: filter, broad phase, narrow phase -> contact records.
//
// Points of a pair are in key order, pairs in (geom_a, geom_b) order, so the output depends on nothing but
// the arguments. With v the velocities of the centres of mass, w the angular velocities (world axes) and rho the
// largest distance from a body's centre of mass to the geom's surface, a pair is queried with margin
//   m = max(margin, speculative_factor * dt * (|v_A - v_B| + |w_A| rho_A + |w_B| rho_B))
// and returns the points with normal n whose gap is at most (spec/collision.md §7, spec/problem.md §3.3)
//   max(margin, speculative_factor * dt * (n.(v_A - v_B) + |n x w_A| rho_A + |n x w_B| rho_B)):
// beyond `margin` only what the motion along n can reach, so a body that flies past another gets no contact.
// At most eight points per pair. A geom with a non-finite pose or twist has no contacts.
// No heap allocation once the vectors have reached their working size.
#pragma once

#include <span>
#include <vector>

#include "sarrus/collision/broad_phase.h"
#include "sarrus/collision/contact.h"
#include "sarrus/collision/filter.h"
#include "sarrus/collision/manifold.h"
#include "sarrus/collision/shapes.h"
#include "sarrus/model/model.h"

namespace sarrus {

struct CollisionOptions {
  double margin = 2e-3;             // m, contacts closer than this are always reported
  double speculative_factor = 1.5;  // times dt times approach speed; 0 switches speculative margins off
};

class CollisionDetector {
 public:
  explicit CollisionDetector(const Model& model, const CollisionOptions& options = {});

  // Poses and twists by body. Replaces the contents of `contacts`.
  void detect(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double dt, std::vector<Contact>& contacts);

  // True if the filter lets the two geoms collide.
  bool pair_allowed(int geom_a, int geom_b) const;

 private:
  // What a step knows of a geom.
  struct Placed {
    PlacedShape shape;
    Aabb box;               // tight
    Vec3 v_W, w_W;          // twist of its body
    double arm = 0;         // rho, m; 0 on the world
    double spin_speed = 0;  // |w| rho, m/s
    double reach = 0;       // bounding radius, m
  };

  void place_geoms(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double horizon);
  void find_plane_pairs(double horizon);
  double pair_margin(const Placed& a, const Placed& b, double horizon) const;
  void collide_pair(const GeomPair& pair, double horizon, Manifold& manifold, std::vector<Contact>& contacts) const;

  Model model_;
  CollisionOptions options_;
  PairFilter filter_;
  ContactLaws laws_;
  std::vector<int> planes_;   // geom ids
  std::vector<int> bounded_;  // geom ids of everything else
  BroadPhase broad_phase_;
  std::vector<Placed> placed_;   // by geom
  std::vector<Aabb> fat_boxes_;  // by geom, grown by half the margin or the way covered in a step
  std::vector<GeomPair> pairs_;
};

}  // namespace sarrus
