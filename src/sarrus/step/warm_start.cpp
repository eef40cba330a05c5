#include "sarrus/step/warm_start.h"

#include <algorithm>
#include <tuple>

#include "sarrus/math/cones.h"
#include "sarrus/problem/contact_rows.h"

namespace sarrus {
namespace {

constexpr double kNearest = 0.02;  // m

Vec3 local_point(const Contact& c, std::span<const Pose> X_WB) {
  const int body = c.body_b >= 0 ? c.body_b : c.body_a;
  const Pose& X = X_WB[static_cast<std::size_t>(body)];
  return X.q.conjugate() * (c.p_W - X.p);
}

}  // namespace

void WarmStart::clear() {
  blocks_.clear();
  values_.clear();
  contacts_.clear();
  dt_ = 0;
}

void WarmStart::store(const ConstraintProblem& p, std::span<const Contact> contacts, std::span<const Pose> X_WB,
                      std::span<const double> lambda) {
  clear();
  dt_ = p.dt;
  for (const ConstraintBlock& b : p.blocks) {
    const double* l = lambda.data() + b.row;
    if (b.kind == BlockKind::contact) {
      const Contact& c = contacts[static_cast<std::size_t>(b.source)];
      const Vec3 impulse_W = contact_frame(c.n_W) * Vec3(l[0], l[1], l[2]);
      contacts_.push_back({c.geom_a, c.geom_b, c.key, local_point(c, X_WB), impulse_W, false});
    } else {
      blocks_.push_back({b.id, b.kind, static_cast<int>(values_.size()), b.rows});
      values_.insert(values_.end(), l, l + b.rows);
    }
  }
}

const WarmStart::StoredContact* WarmStart::find_contact(const Contact& c, std::span<const Pose> X_WB) {
  const auto by_pair = [](const StoredContact& s, const std::tuple<int, int>& pair) {
    return std::tuple(s.geom_a, s.geom_b) < pair;
  };
  const auto first = std::lower_bound(contacts_.begin(), contacts_.end(), std::tuple(c.geom_a, c.geom_b), by_pair);
  auto last = first;
  while (last != contacts_.end() && last->geom_a == c.geom_a && last->geom_b == c.geom_b) ++last;
  for (auto it = first; it != last; ++it) {
    if (it->key == c.key) {
      it->used = true;
      return &*it;
    }
  }
  const Vec3 p = local_point(c, X_WB);
  auto nearest = last;
  double nearest_distance = kNearest;
  for (auto it = first; it != last; ++it) {
    const double d = (it->p_local - p).norm();
    if (!it->used && d < nearest_distance) {
      nearest = it;
      nearest_distance = d;
    }
  }
  if (nearest == last) return nullptr;
  nearest->used = true;
  return &*nearest;
}

void WarmStart::load(const ConstraintProblem& p, std::span<const Contact> contacts, std::span<const Pose> X_WB,
                     std::span<double> lambda) {
  std::fill(lambda.begin(), lambda.end(), 0.0);
  if (!(dt_ > 0)) return;
  const double ratio = p.dt / dt_;
  for (StoredContact& s : contacts_) s.used = false;
  // Both lists are in (kind, id) order within the non-contact segments: one merge finds all matches.
  std::size_t k = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::contact) {
      const Contact& c = contacts[static_cast<std::size_t>(b.source)];
      if (const StoredContact* s = find_contact(c, X_WB)) {
        const Vec3 l = project_cone(ratio * (contact_frame(c.n_W).transpose() * s->impulse_W), b.mu);
        std::copy(l.begin(), l.end(), lambda.begin() + b.row);
      }
      continue;
    }
    while (k < blocks_.size() && std::tuple(blocks_[k].kind, blocks_[k].id) < std::tuple(b.kind, b.id)) ++k;
    if (k == blocks_.size() || blocks_[k].kind != b.kind || blocks_[k].id != b.id) continue;
    for (int r = 0; r < b.rows; ++r) {
      const auto i = static_cast<std::size_t>(b.row + r);
      lambda[i] = std::clamp(ratio * values_[static_cast<std::size_t>(blocks_[k].first + r)], p.lower[i], p.upper[i]);
    }
  }
}

}  // namespace sarrus
