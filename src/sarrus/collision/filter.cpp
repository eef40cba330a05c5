#include "sarrus/collision/filter.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

int node(int body) { return body + 1; }  // kWorld = -1 becomes 0

// Smallest node of each set of bodies that the joints picked by `connects` hold together.
template <class Connects>
std::vector<int> components(const Model& model, const Connects& connects) {
  std::vector<int> parent(at(model.body_count() + 1));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](int i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  for (const Joint& joint : model.joints()) {
    if (!connects(joint)) continue;
    const int a = root(node(joint.base));
    const int b = root(node(joint.follower));
    parent[at(std::max(a, b))] = std::min(a, b);
  }
  for (int i = 0; i <= model.body_count(); ++i) parent[at(i)] = root(i);
  return parent;
}

bool separates(JointType type) { return type != JointType::free && type != JointType::distance; }

}  // namespace

PairFilter::PairTable::PairTable(std::vector<Entry> rules, int node_count) : entries_(std::move(rules)) {
  const auto same = [](const Entry& a, const Entry& b) { return a.first == b.first && a.second == b.second; };
  for (Entry& e : entries_) {
    if (e.first > e.second) std::swap(e.first, e.second);
  }
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
  row_begin_.assign(at(node_count + 1), 0);
  for (const Entry& e : entries_) ++row_begin_[at(e.first + 1)];
  std::partial_sum(row_begin_.begin(), row_begin_.end(), row_begin_.begin());
}

int PairFilter::PairTable::verdict(int a, int b) const {
  const auto [first, second] = std::minmax(a, b);
  const Entry* const begin = entries_.data() + row_begin_[at(first)];
  const Entry* const end = entries_.data() + row_begin_[at(first + 1)];
  const Entry* const e = std::lower_bound(begin, end, second, [](const Entry& x, int key) { return x.second < key; });
  if (e == end || e->second != second) return 0;
  return e->allowed ? 1 : -1;
}

PairFilter::PairFilter(const Model& model) {
  const std::vector<int> group = components(model, [](const Joint& j) { return j.type == JointType::fixed; });
  const std::vector<int> mechanism =
      components(model, [](const Joint& j) { return separates(j.type) && j.base != kWorld && j.follower != kWorld; });
  std::vector<PairTable::Entry> body_rules;
  std::vector<PairTable::Entry> group_rules;
  for (const BodyPair& p : model.excludes()) body_rules.push_back({node(p.a), node(p.b), false});
  for (const BodyPair& p : model.includes()) body_rules.push_back({node(p.a), node(p.b), true});
  for (const Joint& joint : model.joints()) {
    const int a = node(joint.base);
    const int b = node(joint.follower);
    if (!separates(joint.type) || a == 0 || b == 0) continue;
    body_rules.push_back({a, b, false});
    if (group[at(a)] != 0 && group[at(b)] != 0) group_rules.push_back({group[at(a)], group[at(b)], false});
  }
  bodies_ = PairTable(std::move(body_rules), model.body_count() + 1);
  groups_ = PairTable(std::move(group_rules), model.body_count() + 1);
  std::vector<PairTable::Entry> pair_rules;
  for (const ContactPair& p : model.contact_pairs()) pair_rules.push_back({p.a, p.b, true});
  pairs_ = PairTable(std::move(pair_rules), static_cast<int>(model.geoms().size()));
  geoms_.reserve(model.geoms().size());
  for (const Geom& g : model.geoms()) {
    const bool apart = model.self_collision() || g.body == kWorld;
    geoms_.push_back(
        {node(g.body), group[at(node(g.body))], apart ? -1 : mechanism[at(node(g.body))], g.group, g.collides_with});
  }
}

bool PairFilter::allowed(int geom_a, int geom_b) const {
  if (!pairs_.empty() && pairs_.verdict(geom_a, geom_b) > 0) return true;
  const GeomBits& a = geoms_[at(geom_a)];
  const GeomBits& b = geoms_[at(geom_b)];
  if (a.node == 0 && b.node == 0) return false;
  if (const int verdict = bodies_.verdict(a.node, b.node); verdict != 0) return verdict > 0;
  if (a.group == b.group || groups_.verdict(a.group, b.group) < 0) return false;
  if (a.mechanism >= 0 && a.mechanism == b.mechanism) return false;
  return ((a.bits & b.collides_with) | (b.bits & a.collides_with)) != 0;
}

ContactLaws::ContactLaws(const Model& model) : count_(model.materials().size()) {
  for (const Geom& g : model.geoms()) material_.push_back(g.material);
  table_.reserve(count_ * count_);
  for (const Material& a : model.materials()) {
    for (const Material& b : model.materials()) {
      table_.push_back({std::sqrt(a.mu * b.mu), std::max(a.restitution, b.restitution),
                        index_of(combine_compliances(a.compliance, b.compliance))});
    }
  }
  for (const MaterialPair& p : model.material_pairs()) {
    ContactLaw& law = table_[at(p.a) * count_ + at(p.b)];
    law = {p.mu, p.restitution, p.compliance ? index_of(*p.compliance) : law.compliance};
    table_[at(p.b) * count_ + at(p.a)] = law;
  }
  for (const ContactPair& p : model.contact_pairs()) {
    pairs_.push_back({std::min(p.a, p.b), std::max(p.a, p.b), {p.mu, p.restitution, index_of(p.compliance)}, p.margin});
  }
  std::sort(pairs_.begin(), pairs_.end(), [](const PairLaw& x, const PairLaw& y) {
    return std::tie(x.first, x.second) < std::tie(y.first, y.second);
  });
}

void ContactLaws::read_again(const Model& model) {
  const auto read = [](ContactLaw& law, double mu, double restitution) {
    law.mu = mu;
    law.restitution = restitution;
  };
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t k = 0; k < count_; ++k) {
      const Material &a = model.materials()[i], &b = model.materials()[k];
      read(table_[i * count_ + k], std::sqrt(a.mu * b.mu), std::max(a.restitution, b.restitution));
    }
  }
  for (const MaterialPair& p : model.material_pairs()) {
    for (const auto& [a, b] : {std::pair(p.a, p.b), std::pair(p.b, p.a)}) {
      read(table_[at(a) * count_ + at(b)], p.mu, p.restitution);
    }
  }
  for (const ContactPair& p : model.contact_pairs()) {
    const auto place = std::minmax(p.a, p.b);
    for (PairLaw& x : pairs_) {
      if (x.first == place.first && x.second == place.second) read(x.law, p.mu, p.restitution);
    }
  }
}

const ContactLaws::PairLaw* ContactLaws::find(int geom_a, int geom_b) const {
  const auto wanted = std::minmax(geom_a, geom_b);
  const std::pair<int, int> key(wanted.first, wanted.second);
  const auto it =
      std::lower_bound(pairs_.begin(), pairs_.end(), key,
                       [](const PairLaw& x, const std::pair<int, int>& k) { return std::pair(x.first, x.second) < k; });
  return it != pairs_.end() && it->first == key.first && it->second == key.second ? &*it : nullptr;
}

int ContactLaws::index_of(const Compliance& compliance) {
  if (!compliance.compliant()) return -1;
  const auto it = std::find(compliances_.begin(), compliances_.end(), compliance);
  if (it != compliances_.end()) return static_cast<int>(it - compliances_.begin());
  compliances_.push_back(compliance);
  return static_cast<int>(compliances_.size()) - 1;
}

}  // namespace sarrus
