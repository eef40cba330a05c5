#include "sarrus/step/warm_start.h"

#include <algorithm>
#include <tuple>

#include "sarrus/math/cones.h"
#include "sarrus/rows/rows.h"

namespace sarrus {
namespace {

constexpr double kNearest = 0.1;  // of the smaller shape

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
  limits_.clear();
  dt_ = 0;
}

void WarmStart::store(const ConstraintProblem& p, std::span<const Contact> contacts, std::span<const Pose> X_WB,
                      std::span<const double> lambda, const GrowingVector& sigma, std::span<const std::uint8_t> bounced,
                      std::span<const std::uint64_t> bounced_limits) {
  constexpr double kInside = 1 - 1e-6;
  clear();
  dt_ = p.dt;
  for (const ConstraintBlock& b : p.blocks) {
    const double* l = lambda.data() + b.row;
    const int last = b.row + b.rows - 1;
    const bool loaded = l[b.rows - 1] * p.diagonal[last] > sigma[last];
    if (b.kind == BlockKind::contact) {
      const auto i = static_cast<std::size_t>(b.source);
      const Contact& c = contacts[i];
      const bool stays = loaded && c.compliance < 0 && bounced[i] == 0;
      const bool stuck = stays && length2(l[0], l[1]) < kInside * b.mu * l[2];
      const Vec3 impulse_W = contact_frame(c.n_W) * Vec3(l[0], l[1], l[2]);
      contacts_.push_back({c.geom_a, c.geom_b, c.key, local_point(c, X_WB), impulse_W, {stays, stuck}, false});
    } else {
      blocks_.push_back({b.id, b.kind, static_cast<int>(values_.size()), b.rows});
      values_.insert(values_.end(), l, l + b.rows);
      const bool rigid = b.kind == BlockKind::limit && p.R[static_cast<std::size_t>(b.row)] == 0;
      if (rigid && loaded && !std::binary_search(bounced_limits.begin(), bounced_limits.end(), b.id)) {
        limits_.push_back(b.id);
      }
    }
  }
}

void WarmStart::mark(std::span<const Contact> contacts, std::span<const Sustained> sustained,
                     std::span<const Pose> X_WB) {
  clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    contacts_.push_back({c.geom_a, c.geom_b, c.key, local_point(c, X_WB), Vec3::Zero(), sustained[i], false});
  }
}

std::span<WarmStart::StoredContact> WarmStart::stored_pair(const Contact& c) {
  const auto before = [](const StoredContact& s, const std::tuple<int, int>& pair) {
    return std::tuple(s.geom_a, s.geom_b) < pair;
  };
  const auto first = std::lower_bound(contacts_.begin(), contacts_.end(), std::tuple(c.geom_a, c.geom_b), before);
  auto last = first;
  while (last != contacts_.end() && last->geom_a == c.geom_a && last->geom_b == c.geom_b) ++last;
  return {first, last};
}

WarmStart::StoredContact* WarmStart::find_by_key(const Contact& c) {
  for (StoredContact& s : stored_pair(c)) {
    if (s.key == c.key) return &s;
  }
  return nullptr;
}

WarmStart::StoredContact* WarmStart::find_nearest(const Contact& c, const Vec3& p_local) {
  StoredContact* nearest = nullptr;
  double nearest_distance = kNearest * c.size;
  for (StoredContact& s : stored_pair(c)) {
    const double d = (s.p_local - p_local).norm();
    if (!s.used && d < nearest_distance) {
      nearest = &s;
      nearest_distance = d;
    }
  }
  return nearest;
}

// All keys are matched before any neighbour, so that no point takes an impulse that belongs to another one.
std::span<const Sustained> WarmStart::match(std::span<const Contact> contacts, std::span<const Pose> X_WB) {
  found_.assign(contacts.size(), nullptr);
  sustained_.assign(contacts.size(), Sustained{});
  for (StoredContact& s : contacts_) s.used = false;
  for (const bool by_key : {true, false}) {
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const Contact& c = contacts[i];
      if (found_[i] != nullptr) continue;
      StoredContact* s = by_key ? find_by_key(c) : find_nearest(c, local_point(c, X_WB));
      if (s == nullptr) continue;
      s->used = true;
      found_[i] = s;
      sustained_[i] = s->sustained;
    }
  }
  return sustained_;
}

int WarmStart::load_contacts(const ConstraintProblem& p, std::span<const Contact> contacts, double ratio,
                             std::span<double> lambda) const {
  int found = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::contact) continue;
    const StoredContact* s = found_[static_cast<std::size_t>(b.source)];
    if (s == nullptr) continue;
    ++found;
    const Contact& c = contacts[static_cast<std::size_t>(b.source)];
    const Vec3 l = project_cone(ratio * (contact_frame(c.n_W).transpose() * s->impulse_W), b.mu);
    std::copy(l.begin(), l.end(), lambda.begin() + b.row);
  }
  return found;
}

int WarmStart::load(const ConstraintProblem& p, std::span<const Contact> contacts, std::span<double> lambda) const {
  std::fill(lambda.begin(), lambda.end(), 0.0);
  if (!(dt_ > 0)) return 0;
  const double ratio = p.dt / dt_;
  const int found = load_contacts(p, contacts, ratio, lambda);
  // Both lists are in (kind, id) order: one merge finds all matches.
  std::size_t k = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::contact) break;
    while (k < blocks_.size() && std::tuple(blocks_[k].kind, blocks_[k].id) < std::tuple(b.kind, b.id)) ++k;
    if (k == blocks_.size() || blocks_[k].kind != b.kind || blocks_[k].id != b.id) continue;
    for (int r = 0; r < b.rows; ++r) {
      const auto i = static_cast<std::size_t>(b.row + r);
      lambda[i] = std::clamp(ratio * values_[static_cast<std::size_t>(blocks_[k].first + r)], p.lower[i], p.upper[i]);
    }
  }
  return found;
}

}  // namespace sarrus
