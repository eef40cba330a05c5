#include "sarrus/model/topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>

#include "sarrus/math/text.h"

namespace sarrus {

Loop shortest_loop(const Model& model, int joint) {
  const auto n = model.bodies().size();
  const auto slot = [n](int body) { return body == kWorld ? n : static_cast<std::size_t>(body); };
  std::vector<std::vector<int>> joints_of(n + 1);
  for (int i = 0; i < model.joint_count(); ++i) {
    const Joint& j = model.joints()[static_cast<std::size_t>(i)];
    if (i == joint || j.type == JointType::free) continue;
    joints_of[slot(j.base)].push_back(i);
    joints_of[slot(j.follower)].push_back(i);
  }
  // Breadth first from the follower to the base, by all other joints.
  struct Step {
    int joint = -1;
    int from = kWorld;
  };
  const Joint& start = model.joints()[static_cast<std::size_t>(joint)];
  std::vector<bool> seen(n + 1, false);
  std::vector<Step> reached(n + 1);
  std::deque<int> queue = {start.follower};
  seen[slot(start.follower)] = true;
  while (!queue.empty() && !seen[slot(start.base)]) {
    const int body = queue.front();
    queue.pop_front();
    for (const int i : joints_of[slot(body)]) {
      const Joint& j = model.joints()[static_cast<std::size_t>(i)];
      const int other = j.base == body ? j.follower : j.base;
      if (seen[slot(other)]) continue;
      seen[slot(other)] = true;
      reached[slot(other)] = {i, body};
      queue.push_back(other);
    }
  }
  if (!seen[slot(start.base)]) return {};
  Loop loop;
  for (int body = start.base; body != start.follower; body = reached[slot(body)].from) {
    loop.joints.push_back(reached[slot(body)].joint);
    loop.bodies.push_back(body);
  }
  loop.joints.push_back(joint);
  loop.bodies.push_back(start.follower);
  return loop;
}

std::string loop_text(const Model& model, const Loop& loop) {
  constexpr std::size_t kMaxListed = 12;
  const auto list = [&](std::vector<std::string> names) {
    const std::size_t more = names.size() - std::min(names.size(), kMaxListed);
    if (more > 0) names.resize(kMaxListed);
    return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  };
  std::vector<std::string> joints;
  std::vector<std::string> bodies;
  for (const int i : loop.joints) joints.push_back(in_quotes(model.joints()[static_cast<std::size_t>(i)].name));
  for (const int i : loop.bodies) {
    bodies.push_back(i == kWorld ? "world" : in_quotes(model.bodies()[static_cast<std::size_t>(i)].name));
  }
  return fmt::format("the loop of joints {} and bodies {}", list(joints), list(bodies));
}

}  // namespace sarrus
