// Collision detection for a model: filter, broad phase, narrow phase -> contact records.
//
// Points of a pair are in key order, pairs in (geom_a, geom_b) order, so the output depends on nothing but the
// arguments: what the detector remembers between calls (boxes, separating directions) makes it faster and changes no
// result. Compounds are taken apart into colliders, one per child; a collider's index in its geom is the sub id of the
// feature keys.
//
// Margins (docs/theory/collision.md §2, §7). With v the velocities of the centres of mass, w the angular velocities
// (world axes), rho the largest distance from a body's centre of mass to the collider's surface and
// T = speculative_factor dt:
//   m0 = that of their contact pair, else the larger margin of the two geoms; the default one is 0.01 L, L the smaller
//   diagonal of the pair: points with a gap <= m0 are always returned. Bodies with ccd = speculative or cast
//   also get what may close in T: m  = max(m0, T (max(|v_A - v_B|, |v_A|, |v_B|) + |w_A| rho_A + |w_B| rho_B + |g| dt))
//   the query gap <= max(m0, T (max(n.(v_A - v_B), n.v_A, -n.v_B) + |n x w_A| rho_A + |n x w_B| rho_B + |g| dt))   per
//   point
// so that there is a contact, too, where one of two that move along together is stopped in this step, and where a body
// begins to fall.
// With ccd = cast a pair whose points all lie beyond m0 must touch within T when both bodies are moved along their
// twists (narrow_phase.h); its points and normal are then those of the touch, carried back. So a body that flies past
// an edge meets no ghost plane, and one that would pass through a thin plate is stopped at it. A geom with a non-finite
// pose or twist has no contacts. No heap allocation once the vectors have reached their working size.
//
// A step looks for contacts at its end, and once more at its middle: of the pairs alone that have some at its start.
// With speculative margins (ccd not off, speculative_factor 1.5) those are all that can meet within 1.5 steps; without
// them what comes near within half a step is found at the end of the step.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sarrus/collision/broad_phase.h"
#include "sarrus/collision/contact.h"
#include "sarrus/collision/crowd.h"
#include "sarrus/collision/filter.h"
#include "sarrus/collision/narrow_phase.h"
#include "sarrus/collision/shapes.h"
#include "sarrus/model/model.h"

namespace sarrus {

class CollisionDetector {
 public:
  explicit CollisionDetector(const Model& model, const CollisionOptions& options = {});

  // Two colliders that are close, and how many contacts they have.
  struct ClosePair {
    GeomPair colliders;
    int contacts;
  };

  // Poses and twists by body. Replaces the contents of `contacts`, and of `close`, which tells of whom they are. Throws
  // InputError if too many shapes lie within each other (crowd.h), or near each other (broad_phase.h).
  void detect(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double dt, std::vector<Contact>& contacts,
              std::vector<ClosePair>* close = nullptr);
  // Other poses and twists for detect_again().
  void move(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double dt);
  // Appends the contacts that a close pair has there.
  void detect_again(const GeomPair& colliders, std::vector<Contact>& contacts);

  // The numbers of the model have changed (model/numbers.h).
  void read_again() { laws_.read_again(model_); }

  // True if the filter lets the two geoms collide.
  bool pair_allowed(int geom_a, int geom_b) const;

  // The directions that are remembered: all that a detect() takes over from an earlier one. False if what was read is
  // not of these shapes.
  template <class A>
  bool archive(A& a) {
    if constexpr (A::trusted) {
      a(separations_);
      return true;
    }
    std::vector<Separation> read = separations_;  // what a damaged file leaves half-read must not stay
    a(read);
    const auto known = [this](int collider) { return collider >= 0 && collider < static_cast<int>(colliders_.size()); };
    const bool good = std::all_of(read.begin(), read.end(), [&](const Separation& s) {
      return known(s.pair.a) && known(s.pair.b) && s.axis.allFinite();
    });
    if (good) separations_.swap(read);
    return good;
  }
  // Whether a pair of colliders is one.
  bool is_pair(const GeomPair& p) const {
    const int n = static_cast<int>(colliders_.size());
    return p.a >= 0 && p.a < p.b && p.b < n;
  }

  // What Contact::compliance refers to.
  std::span<const Compliance> compliances() const { return laws_.compliances(); }

 private:
  // A shape without children: a geom, or a child of a compound.
  struct Collider {
    MovingShape moving;
    Aabb box;                // tight
    Pose X_BG;               // in its body
    double speed = 0;        // |v|, m/s
    double spin_speed = 0;   // |w| rho, m/s
    double reach = 0;        // bounding radius, m
    double margin = 0;       // m; kUseDefault if the geom has none of its own
    double pair_margin = 0;  // m, the largest that a contact pair gives it
    int geom = 0;
    int body = kWorld;
    std::uint32_t child = 0;
    Ccd ccd = Ccd::off;
    bool is_body = false;  // its frame is that of its body
    long motion = 0;       // that placed it last
  };
  struct Margins {
    double base;   // m0
    double query;  // m
  };
  // A direction that separated a pair at the last step.
  struct Separation {
    GeomPair pair;
    Vec3 axis;
    template <class A>
    void archive(A& a) {
      a(pair.a, pair.b, axis);
    }
  };

  static bool is_plane(const Collider& c);
  static std::vector<Collider> make_colliders(const Model& model);
  template <class Wanted>
  std::vector<int> ids(const Wanted& wanted) const;
  std::vector<int> geoms() const;
  void place_collider(Collider& c);
  void find_boxes();
  void find_box(int collider, bool other_horizon);
  void find_plane_pairs();
  Margins margins(const Collider& a, const Collider& b) const;
  bool comes_before(const GeomPair& x, const GeomPair& y) const;
  Vec3 remembered_axis(const GeomPair& pair, std::size_t& cursor) const;
  void collide_pair(const Collider& a, const Collider& b, const Margins& m, Vec3& axis, std::vector<Contact>& contacts);
  void keep_reachable(const Collider& a, const Collider& b, double base);
  void append_contacts(const Collider& a, const Collider& b, std::vector<Contact>& contacts) const;

  Model model_;
  CollisionOptions options_;
  PairFilter filter_;
  ContactLaws laws_;
  std::vector<Collider> colliders_;  // in geom order
  std::vector<int> planes_;          // collider ids
  std::vector<int> bounded_;         // collider ids of everything else
  BroadPhase broad_phase_;
  Crowd crowd_;
  std::vector<Aabb> fat_boxes_;        // by collider, swept over the step and grown by half the margin
  std::vector<GeomPair> plane_pairs_;  // of colliders, sorted like the next two
  std::vector<GeomPair> broad_pairs_;
  std::vector<GeomPair> pairs_;
  std::vector<Separation> separations_;
  std::vector<Separation> last_separations_;
  std::span<const Pose> X_WB_;  // of the last move()
  std::span<const Vec6> twist_WB_;
  double horizon_ = 0;         // T, s
  double boxes_horizon_ = -1;  // that fat_boxes_ were made for
  double fall_ = 0;            // |g| dt, m/s
  double largest_moving_ = 0;  // diagonal of a shape on a body, m
  long motion_ = 0;            // counts them
  bool has_compounds_ = false;
  NarrowWorkspace workspace_;
  Manifold manifold_;
};

}  // namespace sarrus
