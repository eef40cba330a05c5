#include "sarrus/robot_files/overlaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sarrus/collision/detector.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/text.h"
#include "sarrus/rows/rows.h"

namespace sarrus::robot {

Model exclude_overlaps(Model model, Findings& findings) {
  const State state = State::initial(model);
  CollisionDetector detector(model);
  std::vector<Contact> contacts;
  detector.detect(state.X_WB, std::vector<Vec6>(state.X_WB.size(), Vec6::Zero()), 1e-3, contacts);
  const auto name_of_body = [&](int b) {
    return b == kWorld ? std::string("world") : in_quotes(model.bodies()[static_cast<std::size_t>(b)].name);
  };
  std::vector<BodyPair> excludes = model.excludes();
  for (const Contact& c : contacts) {
    if (-c.gap <= 10 * contact_slop({}, c)) continue;
    const BodyPair pair{std::min(c.body_a, c.body_b), std::max(c.body_a, c.body_b)};
    if (std::find(excludes.begin(), excludes.end(), pair) != excludes.end()) continue;
    findings.add(ImportSeverity::warning, "overlap", "",
                 fmt::format("bodies {} and {}", name_of_body(pair.a), name_of_body(pair.b)),
                 fmt::format("overlap by {:.2g} m where the robot starts; they do not collide", -c.gap),
                 "write which links do not collide with <drake:collision_filter_group>, or simplify their shapes");
    excludes.push_back(pair);
  }
  if (excludes.size() == model.excludes().size()) return model;
  ModelData data = model.data();
  data.excludes = std::move(excludes);
  return finish_model(std::move(data));
}

}  // namespace sarrus::robot
