#include "sarrus/model/topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sarrus/math/text.h"

namespace sarrus {

Loop shortest_loop(const Model& model, int joint) { return JointGraph(model).shortest_loop(joint); }

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
