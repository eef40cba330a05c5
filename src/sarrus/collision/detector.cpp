#include "sarrus/collision/detector.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"

namespace sarrus {
namespace {

// A sub id holds the child of a compound above the triangle of a mesh (see kMaxCompoundChildren, kMaxMeshTriangles).
constexpr int kChildShift = 23;

}  // namespace

bool CollisionDetector::is_plane(const Collider& c) { return c.moving.shape.kind == ShapeKind::plane; }

CollisionDetector::CollisionDetector(const Model& model, const CollisionOptions& options)
    : model_(model),
      options_(options),
      filter_(model),
      laws_(model),
      colliders_(make_colliders(model)),
      planes_(ids([](const Collider& c) { return is_plane(c); })),
      bounded_(ids([](const Collider& c) { return !is_plane(c); })),
      broad_phase_(ids([](const Collider& c) { return !is_plane(c) && c.body != kWorld; }),
                   ids([](const Collider& c) { return !is_plane(c) && c.body == kWorld; }), geoms()),
      crowd_(colliders_.size()),
      fat_boxes_(colliders_.size()),
      has_compounds_(std::any_of(colliders_.begin(), colliders_.end(), [](const Collider& c) { return c.child > 0; })) {
  for (const ContactPair& p : model.contact_pairs()) {
    for (Collider& c : colliders_) {
      if (c.geom == p.a || c.geom == p.b) c.pair_margin = std::max(c.pair_margin, p.margin);
    }
  }
  for (const Collider& c : colliders_) {
    if (c.body != kWorld) largest_moving_ = std::max(largest_moving_, c.moving.shape.diagonal);
  }
  broad_pairs_.reserve(16 * colliders_.size());
  pairs_.reserve(16 * colliders_.size());
}

template <class Wanted>
std::vector<int> CollisionDetector::ids(const Wanted& wanted) const {
  std::vector<int> out;
  for (std::size_t i = 0; i < colliders_.size(); ++i) {
    if (wanted(colliders_[i])) out.push_back(static_cast<int>(i));
  }
  return out;
}

std::vector<int> CollisionDetector::geoms() const {
  std::vector<int> out;
  for (const Collider& c : colliders_) out.push_back(c.geom);
  return out;
}

std::vector<CollisionDetector::Collider> CollisionDetector::make_colliders(const Model& model) {
  std::vector<Collider> out;
  std::vector<bool> included(model.bodies().size() + 1, false);  // the world comes first
  for (const BodyPair& p : model.includes()) included[at(p.a + 1)] = included[at(p.b + 1)] = true;
  std::vector<bool> paired(model.geoms().size(), false);
  for (const ContactPair& p : model.contact_pairs()) paired[at(p.a)] = paired[at(p.b)] = true;
  for (std::size_t i = 0; i < model.geoms().size(); ++i) {
    const Geom& geom = model.geoms()[i];
    const bool no_bits = geom.group == 0 && geom.collides_with == 0;
    if (no_bits && !included[at(geom.body + 1)] && !paired[i]) continue;  // only drawn
    const auto add = [&](const Shape& shape, const Pose& X_BG, std::uint32_t child) {
      Collider c;
      c.geom = static_cast<int>(i);
      c.body = geom.body;
      c.child = child;
      c.X_BG = X_BG;
      c.is_body = X_BG.p.isZero(0) && X_BG.q.coeffs() == Quat::Identity().coeffs();
      c.margin = geom.margin;
      c.moving.shape = place(shape, X_BG);
      if (shape.kind != ShapeKind::plane) c.reach = bounding_radius(shape);
      if (geom.body != kWorld) {
        c.ccd = model.bodies()[at(geom.body)].ccd;
        c.moving.arm = surface_arm(shape, X_BG);
      }
      out.push_back(c);
    };
    if (geom.shape.kind != ShapeKind::compound) {
      add(geom.shape, geom.X_BG, 0);
      continue;
    }
    std::uint32_t index = 0;
    for (const CompoundChild& child : *geom.shape.children) add(child.shape, geom.X_BG * child.X_SC, index++);
  }
  return out;
}

bool CollisionDetector::pair_allowed(int geom_a, int geom_b) const { return filter_.allowed(geom_a, geom_b); }

void CollisionDetector::move(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double dt) {
  X_WB_ = X_WB;
  twist_WB_ = twist_WB;
  horizon_ = options_.speculative_factor * dt;
  fall_ = model_.largest_gravity() * dt;
  ++motion_;
}

void CollisionDetector::detect(std::span<const Pose> X_WB, std::span<const Vec6> twist_WB, double dt,
                               std::vector<Contact>& contacts, std::vector<ClosePair>* close) {
  contacts.clear();
  if (close != nullptr) close->clear();
  move(X_WB, twist_WB, dt);
  find_boxes();
  find_plane_pairs();
  broad_pairs_.clear();
  if (!broad_phase_.find_pairs(fat_boxes_, filter_, broad_pairs_)) Crowd::refuse_near(model_, kMostNearPairs);
  pairs_.resize(plane_pairs_.size() + broad_pairs_.size());
  std::merge(plane_pairs_.begin(), plane_pairs_.end(), broad_pairs_.begin(), broad_pairs_.end(), pairs_.begin());
  const auto before = [this](const GeomPair& x, const GeomPair& y) { return comes_before(x, y); };
  if (has_compounds_) std::sort(pairs_.begin(), pairs_.end(), before);
  separations_.swap(last_separations_);
  separations_.clear();
  crowd_.begin();
  std::size_t cursor = 0;
  for (const GeomPair& pair : pairs_) {
    const Collider& a = colliders_[at(pair.a)];
    const Collider& b = colliders_[at(pair.b)];
    const Margins m = margins(a, b);
    const std::size_t first = contacts.size();
    Vec3 axis = remembered_axis(pair, cursor);
    if (is_plane(a) || is_plane(b) || boxes_near(a.box, b.box, m.query)) collide_pair(a, b, m, axis, contacts);
    if (!axis.isZero(0)) separations_.push_back({pair, axis});
    if (contacts.size() == first) continue;
    crowd_.add(model_, contacts[first], pair.a, pair.b);
    if (close != nullptr) {
      close->push_back({pair, static_cast<int>(contacts.size() - first)});
    }
  }
}

void CollisionDetector::detect_again(const GeomPair& colliders, std::vector<Contact>& contacts) {
  Collider& a = colliders_[at(colliders.a)];
  Collider& b = colliders_[at(colliders.b)];
  for (Collider* c : {&a, &b}) {
    if (c->body != kWorld && c->motion != motion_) place_collider(*c);
    const PlacedShape& shape = c->moving.shape;
    if (!std::isfinite(shape.p_W.sum() + shape.R_WG.sum() + c->speed + c->spin_speed)) return;
  }
  Vec3 axis = Vec3::Zero();
  collide_pair(a, b, margins(a, b), axis, contacts);
}

void CollisionDetector::place_collider(Collider& c) {
  MovingShape& m = c.moving;
  const Pose& X = X_WB_[at(c.body)];
  const Pose X_WG = c.is_body ? X : X * c.X_BG;
  m.shape.R_WG = X_WG.R();
  m.shape.p_W = X_WG.p;
  m.p_WB = X.p;
  m.v_W = twist_WB_[at(c.body)].head<3>();
  m.w_W = twist_WB_[at(c.body)].tail<3>();
  c.speed = m.v_W.norm();
  c.spin_speed = m.w_W.norm() * m.arm;
  c.motion = motion_;
}

void CollisionDetector::find_boxes() {
  const bool other_horizon = horizon_ != boxes_horizon_;
  boxes_horizon_ = horizon_;
  constexpr int kLeast = 64;
  Workers::here().ranges(static_cast<int>(bounded_.size()), kLeast, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) find_box(bounded_[at(i)], other_horizon);
  });
}

void CollisionDetector::find_box(int id, bool other_horizon) {
  Collider& c = colliders_[at(id)];
  if (c.body == kWorld && !other_horizon) return;
  if (c.body != kWorld) place_collider(c);
  c.box = shape_aabb(c.moving.shape);
  // The larger margin of a pair counts, so each side brings its whole one; of the default ones, which are a share of
  // the smaller shape, half. Shapes that meet within the horizon have swept boxes that overlap.
  const double share = 0.5 * options_.margin * std::min(c.moving.shape.diagonal, largest_moving_);
  const double margin = std::max({share, c.margin, c.pair_margin});
  const Vec3 way = horizon_ * c.moving.v_W;
  const Vec3 fat = Vec3::Constant(margin + horizon_ * (c.spin_speed + fall_));
  Aabb& box = fat_boxes_[at(id)];
  box = {c.box.lo + way.cwiseMin(0) - fat, c.box.hi + way.cwiseMax(0) + fat};
  if (!box.lo.allFinite() || !box.hi.allFinite()) c.box = box = Aabb::nothing();  // a diverged body meets nothing
}

void CollisionDetector::find_plane_pairs() {
  plane_pairs_.clear();
  for (const int plane_id : planes_) {
    const Collider& plane = colliders_[at(plane_id)];
    const Vec3 n = plane.moving.shape.R_WG.col(2);
    for (const int id : bounded_) {
      const Collider& c = colliders_[at(id)];
      const double height = n.dot(c.moving.shape.p_W - plane.moving.shape.p_W) - c.reach;
      if (c.box.is_empty() || height > margins(plane, c).query) continue;
      if (filter_.allowed(plane.geom, c.geom)) plane_pairs_.push_back({std::min(plane_id, id), std::max(plane_id, id)});
    }
  }
  std::sort(plane_pairs_.begin(), plane_pairs_.end());
}

CollisionDetector::Margins CollisionDetector::margins(const Collider& a, const Collider& b) const {
  const double fallback = options_.margin * std::min(a.moving.shape.diagonal, b.moving.shape.diagonal);
  const auto own = [&](const Collider& c) { return c.margin == kUseDefault ? fallback : c.margin; };
  const double pair = laws_.margin(a.geom, b.geom);
  const double base = pair == kUseDefault ? std::max(own(a), own(b)) : pair;
  if (a.ccd == Ccd::off && b.ccd == Ccd::off) return {base, base};
  const bool both = a.body != kWorld && b.body != kWorld;
  const double apart = both ? (a.moving.v_W - b.moving.v_W).norm() : 0.0;
  const double speed = std::max({apart, a.speed, b.speed}) + a.spin_speed + b.spin_speed + fall_;
  return {base, std::max(base, horizon_ * speed)};
}

// Colliders of a compound are several, and those of two compounds meet in any order: pairs of geoms come first.
bool CollisionDetector::comes_before(const GeomPair& x, const GeomPair& y) const {
  const auto order = [this](const GeomPair& p) {
    return std::tuple(colliders_[at(p.a)].geom, colliders_[at(p.b)].geom, p.a, p.b);
  };
  return order(x) < order(y);
}

// Both lists are sorted by pair, so one walk finds everything.
Vec3 CollisionDetector::remembered_axis(const GeomPair& pair, std::size_t& cursor) const {
  while (cursor < last_separations_.size() && comes_before(last_separations_[cursor].pair, pair)) ++cursor;
  const bool found = cursor < last_separations_.size() && last_separations_[cursor].pair == pair;
  return found ? last_separations_[cursor].axis : Vec3(Vec3::Zero());
}

void CollisionDetector::collide_pair(const Collider& a, const Collider& b, const Margins& m, Vec3& axis,
                                     std::vector<Contact>& contacts) {
  collide(a.moving.shape, b.moving.shape, m.query, workspace_, axis, manifold_);
  keep_reachable(a, b, m.base);
  if (manifold_.empty()) return;
  const bool touches =
      std::any_of(manifold_.begin(), manifold_.end(), [&](const ManifoldPoint& point) { return point.gap <= m.base; });
  // A plane's normal is the same everywhere, so its speculative rows hold back nothing that would miss it.
  const bool needs_cast = !touches && !is_plane(a) && !is_plane(b) && std::max(a.ccd, b.ccd) == Ccd::cast;
  if (needs_cast) {
    if (!cast(a.moving, b.moving, horizon_, workspace_, manifold_)) return;
    keep_reachable(a, b, m.base);
  }
  append_contacts(a, b, contacts);
}

// What is within m0 is kept whatever approaches.
void CollisionDetector::keep_reachable(const Collider& a, const Collider& b, double base) {
  int kept = 0;
  for (const ManifoldPoint& point : manifold_) {
    if (!(point.gap <= base)) {
      const double if_one_stops = std::max({0.0, point.n.dot(b.moving.v_W), -point.n.dot(a.moving.v_W)});
      const double approach = approach_bound(a.moving, b.moving, point.n) + if_one_stops + fall_;
      if (!(point.gap <= horizon_ * approach)) continue;
    }
    manifold_[kept++] = point;
  }
  manifold_.truncate(kept);
}

void CollisionDetector::append_contacts(const Collider& a, const Collider& b, std::vector<Contact>& contacts) const {
  const ContactLaw& law = laws_.between(a.geom, b.geom);
  const std::uint64_t children =
      static_cast<std::uint64_t>(a.child) << (32 + kChildShift) | static_cast<std::uint64_t>(b.child) << kChildShift;
  for (const ManifoldPoint& point : manifold_) {
    Contact contact;
    contact.p_W = point.p;
    contact.n_W = point.n;
    contact.gap = point.gap;
    contact.size = std::min(a.moving.shape.diagonal, b.moving.shape.diagonal);
    contact.geom_a = a.geom;
    contact.geom_b = b.geom;
    contact.body_a = a.body;
    contact.body_b = b.body;
    contact.key = {point.key.hi | children, point.key.lo};
    contact.mu = law.mu;
    contact.restitution = law.restitution;
    contact.compliance = law.compliance;
    contacts.push_back(contact);
  }
}

}  // namespace sarrus
