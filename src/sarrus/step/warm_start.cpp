#include "sarrus/step/warm_start.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "sarrus/math/cones.h"
#include "sarrus/math/workers.h"
#include "sarrus/rows/rows.h"
#include "sarrus/solvers/linear_factor.h"

namespace sarrus {
namespace {

constexpr double kNearest = 0.1;   // of the smaller shape
constexpr int kLeastBlocks = 256;  // that are worth a thread

// How many blocks of joints a problem begins with.
std::size_t joint_blocks(const ConstraintProblem& p) {
  const auto is_joint = [](const ConstraintBlock& b) { return b.kind == BlockKind::joint; };
  return static_cast<std::size_t>(std::ranges::partition_point(p.blocks, is_joint) - p.blocks.begin());
}

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
  any_sustained_ = false;
}

void WarmStart::store_contact(const Answer& a, const ConstraintBlock& b) {
  constexpr double kInside = 1 - 1e-6;
  const double* l = a.lambda.data() + b.row;
  const auto i = static_cast<std::size_t>(b.source);
  const Contact& c = a.contacts[i];
  const bool loaded = l[2] * a.problem.diagonal[b.row + 2] > a.sigma[b.row + 2];
  const bool stays = loaded && c.compliance < 0 && a.bounced[i] == 0;
  any_sustained_ = any_sustained_ || stays;
  const bool stuck = stays && length2(l[0], l[1]) < kInside * b.mu * l[2];
  const Vec3 impulse_W = contact_frame(c.n_W) * Vec3(l[0], l[1], l[2]);
  contacts_.push_back(
      {c.geom_a, c.geom_b, c.key, local_point(c, a.X_WB), impulse_W, l[2] / a.problem.dt, {stays, stuck}, false});
}

void WarmStart::store_block(const Answer& a, const ConstraintBlock& b) {
  const double* l = a.lambda.data() + b.row;
  const int last = b.row + b.rows - 1;
  blocks_.push_back({b.id, b.kind, static_cast<int>(values_.size()), b.rows});
  values_.insert(values_.end(), l, l + b.rows);
  const bool loaded = l[b.rows - 1] * a.problem.diagonal[last] > a.sigma[last];
  const bool rigid = b.kind == BlockKind::limit && a.problem.R[static_cast<std::size_t>(b.row)] == 0;
  if (rigid && loaded && !std::binary_search(a.bounced_limits.begin(), a.bounced_limits.end(), b.id)) {
    limits_.push_back(b.id);
    any_sustained_ = true;
  }
}

// The first blocks of a problem are those of joints, and their rows its first ones: all that they leave is impulses.
void WarmStart::store_joints(const Answer& a, std::size_t count) {
  constexpr std::size_t kFew = 16;  // of other kinds
  const auto rows = static_cast<std::size_t>(a.problem.rows_of(BlockKind::joint));
  blocks_.reserve(count + kFew);
  values_.reserve(rows + kFew);
  blocks_.resize(count);
  values_.resize(rows);
  std::copy_n(a.lambda.data(), rows, values_.data());
  Workers::here().ranges(static_cast<int>(count), kLeastBlocks, [&](int begin, int end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const ConstraintBlock& b = a.problem.blocks[i];
      blocks_[i] = {b.id, b.kind, b.row, b.rows};
    }
  });
}

void WarmStart::keep_block(const WarmStart& last, const StoredBlock& b) {
  const double ratio = dt_ / last.dt_;
  blocks_.push_back({b.id, b.kind, static_cast<int>(values_.size()), b.rows});
  for (int r = 0; r < b.rows; ++r) values_.push_back(ratio * last.values_[static_cast<std::size_t>(b.first + r)]);
  if (b.kind == BlockKind::limit && std::binary_search(last.limits_.begin(), last.limits_.end(), b.id)) {
    limits_.push_back(b.id);
    any_sustained_ = true;
  }
}

void WarmStart::store(const ConstraintProblem& p, std::span<const Contact> contacts, std::span<const Pose> X_WB,
                      std::span<const double> lambda, const GrowingVector& sigma, std::span<const std::uint8_t> bounced,
                      std::span<const std::uint64_t> bounced_limits) {
  clear();
  dt_ = p.dt;
  const Answer answer{p, contacts, X_WB, lambda, sigma, bounced, bounced_limits};
  const std::size_t joints = joint_blocks(p);
  store_joints(answer, joints);
  for (const ConstraintBlock& b : std::span(p.blocks).subspan(joints)) {
    if (b.kind == BlockKind::contact) {
      store_contact(answer, b);
    } else {
      store_block(answer, b);
    }
  }
}

// Both lists have their order; the two parts of either are merged.
void WarmStart::store(const ConstraintProblem& p, std::span<const Contact> contacts, std::span<const Pose> X_WB,
                      std::span<const double> lambda, const GrowingVector& sigma, std::span<const std::uint8_t> bounced,
                      std::span<const std::uint64_t> bounced_limits, const StepPart& part, const WarmStart& last) {
  clear();
  dt_ = p.dt;
  const Answer answer{p, contacts, X_WB, lambda, sigma, bounced, bounced_limits};
  const auto is_kept = [&](const StoredBlock& b) {
    return !part.has_source(static_cast<RowSource>(b.id >> 32), static_cast<int>(b.id & 0xffffffffu));
  };
  const auto order = [](const auto& b) { return std::tuple(b.kind, b.id); };
  const auto pair = [](const auto& c) { return std::tuple(c.geom_a, c.geom_b); };
  const bool known = last.dt_ > 0;
  auto kept = last.blocks_.begin();
  const auto kept_end = known ? last.blocks_.end() : kept;
  auto kept_contact = last.contacts_.begin();
  const auto kept_contacts_end = known ? last.contacts_.end() : kept_contact;
  const auto keep_contact = [&] {
    contacts_.push_back(*kept_contact);
    contacts_.back().impulse_W *= dt_ / last.dt_;
    any_sustained_ = any_sustained_ || kept_contact->sustained.loaded;
  };
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::contact) {
      if (!part.has_source(b.source_kind, b.source)) continue;
      for (; kept != kept_end && order(*kept) < order(b); ++kept) {
        if (is_kept(*kept)) keep_block(last, *kept);
      }
      store_block(answer, b);
      continue;
    }
    const Contact& c = contacts[static_cast<std::size_t>(b.source)];
    if (!part.has_geoms(c.geom_a, c.geom_b)) continue;
    for (; kept_contact != kept_contacts_end && pair(*kept_contact) < pair(c); ++kept_contact) {
      if (!part.has_geoms(kept_contact->geom_a, kept_contact->geom_b)) keep_contact();
    }
    store_contact(answer, b);
  }
  for (; kept != kept_end; ++kept) {
    if (is_kept(*kept)) keep_block(last, *kept);
  }
  for (; kept_contact != kept_contacts_end; ++kept_contact) {
    if (!part.has_geoms(kept_contact->geom_a, kept_contact->geom_b)) keep_contact();
  }
}

void WarmStart::mark(std::span<const Contact> contacts, std::span<const Sustained> sustained,
                     std::span<const Pose> X_WB) {
  clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    contacts_.push_back({c.geom_a, c.geom_b, c.key, local_point(c, X_WB), Vec3::Zero(), 0.0, sustained[i], false});
  }
}

// Both lists are in the order of pairs: one walk finds those of each.
std::span<const Sustained> WarmStart::match(std::span<const Contact> contacts, std::span<const Pose> X_WB) {
  const auto pair = [](const auto& c) { return std::tuple(c.geom_a, c.geom_b); };
  found_.assign(contacts.size(), nullptr);
  sustained_.assign(contacts.size(), Sustained{});
  pair_load_.assign(contacts.size(), 0.0);
  auto stored = contacts_.begin();
  for (std::size_t first = 0, end = 0; first < contacts.size(); first = end) {
    const auto here = pair(contacts[first]);
    while (end < contacts.size() && pair(contacts[end]) == here) ++end;
    while (stored != contacts_.end() && pair(*stored) < here) ++stored;
    const auto begin = stored;
    while (stored != contacts_.end() && pair(*stored) == here) ++stored;
    match_pair({begin, stored}, contacts.subspan(first, end - first), X_WB, first);
  }
  return sustained_;
}

// All keys are matched before any neighbour, so that no point takes an impulse that belongs to another one. As a rule
// the points are the same, in the same order.
void WarmStart::match_pair(std::span<StoredContact> stored, std::span<const Contact> contacts,
                           std::span<const Pose> X_WB, std::size_t first) {
  double load = 0;
  for (StoredContact& s : stored) {
    s.used = false;
    load = std::max(load, s.load);
  }
  std::fill_n(pair_load_.begin() + static_cast<std::ptrdiff_t>(first), contacts.size(), load);
  const auto take = [&](std::size_t i, StoredContact& s) {
    s.used = true;
    found_[first + i] = &s;
    sustained_[first + i] = s.sustained;
  };
  bool all = true;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto has_key = [&](const StoredContact& s) { return s.key == contacts[i].key; };
    const auto s = i < stored.size() && has_key(stored[i]) ? stored.begin() + static_cast<std::ptrdiff_t>(i)
                                                           : std::find_if(stored.begin(), stored.end(), has_key);
    all = all && s != stored.end();
    if (s != stored.end()) take(i, *s);
  }
  for (std::size_t i = 0; i < contacts.size() && !all; ++i) {
    if (found_[first + i] != nullptr) continue;
    StoredContact* s = find_nearest(stored, contacts[i], local_point(contacts[i], X_WB));
    if (s != nullptr) take(i, *s);
  }
}

WarmStart::StoredContact* WarmStart::find_nearest(std::span<StoredContact> stored, const Contact& c,
                                                  const Vec3& p_local) {
  StoredContact* nearest = nullptr;
  double nearest_distance = kNearest * c.size;
  for (StoredContact& s : stored) {
    const double d = (s.p_local - p_local).norm();
    if (!s.used && d < nearest_distance) {
      nearest = &s;
      nearest_distance = d;
    }
  }
  return nearest;
}

int WarmStart::load_contacts(const ConstraintProblem& p, std::span<const Contact> contacts, double ratio,
                             std::span<double> lambda) const {
  int found = 0;
  for (const ConstraintBlock& b : std::span(p.blocks).subspan(joint_blocks(p))) {
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

bool WarmStart::comes_before(const StoredBlock& s, const ConstraintBlock& b) {
  return std::tuple(s.kind, s.id) < std::tuple(b.kind, b.id);
}

// The first that does not come before a block: as a rule the one where that is among its likes.
std::vector<WarmStart::StoredBlock>::const_iterator WarmStart::find(const ConstraintBlock& b, std::size_t place) const {
  if (place < blocks_.size() && blocks_[place].kind == b.kind && blocks_[place].id == b.id) {
    return blocks_.begin() + static_cast<std::ptrdiff_t>(place);
  }
  return std::lower_bound(blocks_.begin(), blocks_.end(), b, comes_before);
}

bool WarmStart::stays_inside(const ConstraintBlock& b, const ConstraintProblem& p) const {
  const double ratio = dt_ > 0 ? p.dt / dt_ : 0.0;
  const auto s = find(b, 0);
  const bool known = s != blocks_.end() && s->kind == b.kind && s->id == b.id;
  bool inside = true;
  for (int r = 0; r < b.rows; ++r) {
    const auto i = static_cast<std::size_t>(b.row + r);
    const double expected = known ? ratio * values_[static_cast<std::size_t>(s->first + r)] : 0.0;
    inside = inside && well_inside(p.lower[i], p.upper[i], expected);
  }
  return inside;
}

int WarmStart::load(const ConstraintProblem& p, std::span<const Contact> contacts, std::span<double> lambda) const {
  std::fill(lambda.begin(), lambda.end(), 0.0);
  if (!(dt_ > 0)) return 0;
  const double ratio = p.dt / dt_;
  const int found = load_contacts(p, contacts, ratio, lambda);
  const auto is_contact = [](const ConstraintBlock& b) { return b.kind == BlockKind::contact; };
  const auto end_of_others = std::partition_point(p.blocks.begin(), p.blocks.end(), std::not_fn(is_contact));
  Workers::here().ranges(static_cast<int>(end_of_others - p.blocks.begin()), kLeastBlocks, [&](int begin, int end) {
    auto k = find(p.blocks[static_cast<std::size_t>(begin)], static_cast<std::size_t>(begin));
    for (int n = begin; n < end; ++n) {
      const ConstraintBlock& b = p.blocks[static_cast<std::size_t>(n)];
      while (k != blocks_.end() && comes_before(*k, b)) ++k;
      if (k == blocks_.end() || k->kind != b.kind || k->id != b.id) continue;
      for (int r = 0; r < b.rows; ++r) {
        const auto i = static_cast<std::size_t>(b.row + r);
        lambda[i] = std::clamp(ratio * values_[static_cast<std::size_t>(k->first + r)], p.lower[i], p.upper[i]);
      }
    }
  });
  return found;
}

}  // namespace sarrus
