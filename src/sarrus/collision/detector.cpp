#include "sarrus/collision/detector.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/narrow_phase.h"

namespace sarrus {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::vector<int> geoms_of_kind(const Model& model, bool plane) {
  std::vector<int> ids;
  for (std::size_t i = 0; i < model.geoms().size(); ++i) {
    if ((model.geoms()[i].shape.kind == ShapeKind::plane) == plane) ids.push_back(static_cast<int>(i));
  }
  return ids;
}

}  // namespace

CollisionDetector::CollisionDetector(const Model& model, const CollisionOptions& options)
    : model_(model),
      options_(options),
      filter_(model),
      laws_(model),
      planes_(geoms_of_kind(model, true)),
      bounded_(geoms_of_kind(model, false)),
      broad_phase_(bounded_),
      placed_(model.geoms().size()),
      fat_boxes_(model.geoms().size()) {
  pairs_.reserve(16 * model.geoms().size());
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const Geom& geom = model.geoms()[i];
    Placed& placed = placed_[i];
    placed.shape = place(geom.shape, geom.X_BG);
    placed.v_W.setZero();
    placed.w_W.setZero();
    if (geom.shape.kind == ShapeKind::plane) continue;
    placed.reach = bounding_radius(geom.shape);
    if (geom.body != kWorld) placed.arm = surface_arm(geom.shape, geom.X_BG);
  }
}

bool CollisionDetector::pair_allowed(int geom_a, int geom_b) const { return filter_.allowed(geom_a, geom_b); }

void CollisionDetector::detect(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double dt,
                               std::vector<Contact>& contacts) {
  const double horizon = options_.speculative_factor * dt;
  contacts.clear();
  pairs_.clear();
  place_geoms(X_WB, twist_WB, horizon);
  find_plane_pairs(horizon);
  broad_phase_.find_pairs(fat_boxes_, filter_, pairs_);
  std::sort(pairs_.begin(), pairs_.end());
  Manifold manifold;
  for (const GeomPair& pair : pairs_) collide_pair(pair, horizon, manifold, contacts);
}

void CollisionDetector::place_geoms(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double horizon) {
  for (const int id : bounded_) {
    const Geom& geom = model_.geoms()[at(id)];
    Placed& g = placed_[at(id)];
    if (geom.body != kWorld) {
      const Pose X_WG = X_WB[at(geom.body)] * geom.X_BG;
      g.shape.R_WG = X_WG.R();
      g.shape.p_W = X_WG.p;
      g.v_W = twist_WB[at(geom.body)].head<3>();
      g.w_W = twist_WB[at(geom.body)].tail<3>();
      g.spin_speed = g.w_W.norm() * g.arm;
    }
    g.box = shape_aabb(g.shape);
    // fat_A + fat_B >= pair margin, because |v_A - v_B| <= |v_A| + |v_B|.
    const double fat = std::max(0.5 * options_.margin, horizon * (g.v_W.norm() + g.spin_speed));
    Aabb& box = fat_boxes_[at(id)];
    box = {g.box.lo - Vec3::Constant(fat), g.box.hi + Vec3::Constant(fat)};
    if (!box.lo.allFinite() || !box.hi.allFinite()) {
      g.box = box = Aabb::nothing();  // a diverged body meets nothing
    }
  }
}

void CollisionDetector::find_plane_pairs(double horizon) {
  for (const int plane_id : planes_) {
    const Placed& plane = placed_[at(plane_id)];
    const Vec3 n = plane.shape.R_WG.col(2);
    for (const int id : bounded_) {
      const Placed& g = placed_[at(id)];
      const double height = n.dot(g.shape.p_W - plane.shape.p_W) - g.reach;
      if (g.box.is_empty() || height > pair_margin(plane, g, horizon)) continue;
      if (filter_.allowed(plane_id, id)) pairs_.push_back({std::min(plane_id, id), std::max(plane_id, id)});
    }
  }
}

double CollisionDetector::pair_margin(const Placed& a, const Placed& b, double horizon) const {
  return std::max(options_.margin, horizon * ((a.v_W - b.v_W).norm() + a.spin_speed + b.spin_speed));
}

void CollisionDetector::collide_pair(const GeomPair& pair, double horizon, Manifold& manifold,
                                     std::vector<Contact>& contacts) const {
  const Placed& a = placed_[at(pair.a)];
  const Placed& b = placed_[at(pair.b)];
  const double margin = pair_margin(a, b, horizon);
  const bool plane = a.shape.kind == ShapeKind::plane || b.shape.kind == ShapeKind::plane;
  if (!plane && !near(a.box, b.box, margin)) return;

  collide(a.shape, b.shape, margin, manifold);
  const ContactLaw& law = laws_.between(pair.a, pair.b);
  for (const ManifoldPoint& point : manifold) {
    const double approach =
        point.n.dot(a.v_W - b.v_W) + point.n.cross(a.w_W).norm() * a.arm + point.n.cross(b.w_W).norm() * b.arm;
    if (point.gap > std::max(options_.margin, horizon * approach)) continue;
    Contact contact;
    contact.p_W = point.p;
    contact.n_W = point.n;
    contact.gap = point.gap;
    contact.geom_a = pair.a;
    contact.geom_b = pair.b;
    contact.body_a = model_.geoms()[at(pair.a)].body;
    contact.body_b = model_.geoms()[at(pair.b)].body;
    contact.key = point.key;
    contact.mu = law.mu;
    contact.restitution = law.restitution;
    contacts.push_back(contact);
  }
}

}  // namespace sarrus
