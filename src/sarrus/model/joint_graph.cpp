#include "sarrus/model/joint_graph.h"

#include <algorithm>
#include <numeric>

namespace sarrus {
namespace {

std::vector<JointGraph::Edge> edges_of(const Model& model) {
  std::vector<JointGraph::Edge> edges;
  for (const Joint& j : model.joints()) edges.push_back({j.base, j.follower, j.type});
  return edges;
}

// Union-find; the root of a set is its lowest member.
class Sets {
 public:
  explicit Sets(std::size_t count) : root_(count) { std::iota(root_.begin(), root_.end(), std::size_t{0}); }
  std::size_t find(std::size_t x) {
    while (root_[x] != x) x = root_[x] = root_[root_[x]];
    return x;
  }
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    root_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> root_;
};

}  // namespace

JointGraph::JointGraph(int bodies, std::vector<Edge> joints)
    : bodies_(static_cast<std::size_t>(bodies)),
      edges_(std::move(joints)),
      first_(bodies_ + 2, 0),
      seen_(bodies_ + 1, 0),
      reached_(bodies_ + 1) {
  const auto each_end = [this](auto f) {
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (edges_[i].type == JointType::free) continue;
      f(slot(edges_[i].base), static_cast<int>(i));
      if (edges_[i].follower != edges_[i].base) f(slot(edges_[i].follower), static_cast<int>(i));
    }
  };
  each_end([this](std::size_t body, int) { ++first_[body + 1]; });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  joints_.resize(static_cast<std::size_t>(first_.back()));
  std::vector<int> next(first_.begin(), first_.end() - 1);
  each_end([&](std::size_t body, int joint) { joints_[static_cast<std::size_t>(next[body]++)] = joint; });
}

JointGraph::JointGraph(const Model& model) : JointGraph(model.body_count(), edges_of(model)) {}

std::span<const int> JointGraph::joints_of(int body) const {
  const std::size_t b = slot(body);
  return {joints_.data() + first_[b], joints_.data() + first_[b + 1]};
}

// Breadth first from the follower to the base, by all other joints.
Loop JointGraph::shortest_loop(int joint) const {
  const Edge& start = edges_[static_cast<std::size_t>(joint)];
  if (start.type == JointType::free) return {};
  ++search_;
  queue_.assign(1, start.follower);
  seen_[slot(start.follower)] = search_;
  for (std::size_t next = 0; next < queue_.size() && seen_[slot(start.base)] != search_; ++next) {
    const int body = queue_[next];
    for (const int i : joints_of(body)) {
      if (i == joint) continue;
      const Edge& e = edges_[static_cast<std::size_t>(i)];
      const int other = e.base == body ? e.follower : e.base;
      if (std::exchange(seen_[slot(other)], search_) == search_) continue;
      reached_[slot(other)] = {i, body};
      queue_.push_back(other);
    }
  }
  if (seen_[slot(start.base)] != search_) return {};
  Loop loop;
  for (int body = start.base; body != start.follower; body = reached_[slot(body)].from) {
    loop.joints.push_back(reached_[slot(body)].joint);
    loop.bodies.push_back(body);
  }
  loop.joints.push_back(joint);
  loop.bodies.push_back(start.follower);
  return loop;
}

std::vector<int> JointGraph::hubs() const {
  std::vector<int> count(bodies_);
  for (std::size_t b = 0; b < bodies_; ++b) count[b] = first_[b + 1] - first_[b];
  if (count.empty()) return count;
  std::vector<int> sorted = count;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const int most = std::max(4, 2 * *middle);
  for (int& c : count) c = c > most ? 1 : 0;
  return count;
}

std::vector<int> JointGraph::limbs() const {
  const std::vector<int> hub = hubs();
  Sets sets(bodies_);
  for (const Edge& e : edges_) {
    if (e.type == JointType::free || e.base == kWorld || e.follower == kWorld) continue;
    if (hub[slot(e.base)] == 0 && hub[slot(e.follower)] == 0) sets.join(slot(e.base), slot(e.follower));
  }
  std::vector<int> limb(bodies_, -1);
  int count = 0;
  for (std::size_t b = 0; b < bodies_; ++b) {
    if (hub[b] != 0) continue;
    const std::size_t root = sets.find(b);
    limb[b] = root == b ? count++ : limb[root];
  }
  return limb;
}

std::vector<int> JointGraph::shafts() const {
  const std::vector<int> hub = hubs();
  std::vector<int> shaft(bodies_, 0);
  for (std::size_t b = 0; b < bodies_; ++b) {
    const int body = static_cast<int>(b);
    int held = 0;
    int carried = 0;
    bool others = false;
    for (const int i : joints_of(body)) {
      const Edge& e = edges_[static_cast<std::size_t>(i)];
      const int other = e.base == body ? e.follower : e.base;
      others = others || e.type != JointType::revolute;
      ++(other == kWorld || hub[slot(other)] != 0 ? held : carried);
    }
    shaft[b] = !others && held == 1 && carried >= 2 ? 1 : 0;
  }
  return shaft;
}

std::vector<int> JointGraph::components() const {
  Sets sets(bodies_ + 1);  // the world first
  const auto place = [this](int body) { return body == kWorld ? std::size_t{0} : slot(body) + 1; };
  for (const Edge& e : edges_) {
    if (e.type != JointType::free) sets.join(place(e.base), place(e.follower));
  }
  std::vector<int> number(bodies_ + 1, 0);
  int count = 1;
  for (std::size_t i = 1; i <= bodies_; ++i) {
    const std::size_t root = sets.find(i);
    number[i] = root == i ? count++ : number[root];
  }
  return {number.begin() + 1, number.end()};
}

}  // namespace sarrus
