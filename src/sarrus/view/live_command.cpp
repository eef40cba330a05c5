#include "sarrus/view/live_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sarrus/files/json.h"
#include "sarrus/math/error.h"
#include "sarrus/view/speaker.h"

namespace sarrus::view {
namespace {

using Kind = LiveCommand::Kind;
using CommandReader = json::ObjectReader;

struct CommandName {
  std::string_view name;
  Kind kind;
};
constexpr std::array<CommandName, 15> kNames = {{{"hello", Kind::hello},
                                                 {"play", Kind::play},
                                                 {"pause", Kind::pause},
                                                 {"step", Kind::step},
                                                 {"seek", Kind::seek},
                                                 {"reset", Kind::reset},
                                                 {"speed", Kind::speed},
                                                 {"target", Kind::target},
                                                 {"release", Kind::release},
                                                 {"drag", Kind::drag},
                                                 {"drop", Kind::drop},
                                                 {"layer", Kind::layer},
                                                 {"save", Kind::save},
                                                 {"dump", Kind::dump},
                                                 {"ack", Kind::ack}}};

double bounded_number(CommandReader& in, std::string_view key, double least, double most) {
  const double x = in.number(key);
  if (!(x >= least && x <= most)) in.fail(fmt::format("'{}' is {}; give a number from {} to {}", key, x, least, most));
  return x;
}

std::int64_t whole_number(CommandReader& in, std::string_view key, double least, double most) {
  const double x = bounded_number(in, key, least, most);
  if (x != std::floor(x)) in.fail(fmt::format("'{}' is {}; give a whole number", key, x));
  return static_cast<std::int64_t>(x);
}

std::int64_t index_of(CommandReader& in, std::string_view key) { return whole_number(in, key, 0, 2147483647.0); }

void read_command(CommandReader& in, LiveCommand& c) {
  constexpr double kFar = 1e12;  // m, s, or what a target is
  switch (c.kind) {
    case Kind::step:
      c.number = whole_number(in, "n", -10000, 10000);
      if (c.number == 0) in.fail("'n' is 0; give steps forward, or back as a negative number");
      break;
    case Kind::seek:
      c.value = bounded_number(in, "time", -kFar, kFar);
      break;
    case Kind::speed:
      c.value = bounded_number(in, "x", 1e-4, 100);
      break;
    case Kind::target:
      c.number = index_of(in, "dof");
      c.value = bounded_number(in, "value", -kFar, kFar);
      break;
    case Kind::release:
      c.number = index_of(in, "dof");
      break;
    case Kind::drag:
      c.number = index_of(in, "body");
      c.point = in.vec3("point");
      c.target = in.vec3("target");
      if (!(c.point.cwiseAbs().maxCoeff() <= kFar && c.target.cwiseAbs().maxCoeff() <= kFar)) {
        in.fail(fmt::format("'point' and 'target' are at most {:g} m away", kFar));
      }
      break;
    case Kind::layer: {
      const std::size_t layer = in.choice("name", {"joints", "contacts"});
      c.layer = layer == 0 ? LiveCommand::Layer::joints : LiveCommand::Layer::contacts;
      if (!in.has("on")) in.fail("'on' is missing; give true or false");
      c.on = in.flag("on", false);
      break;
    }
    case Kind::ack:
      c.number = whole_number(in, "n", 0, 4294967295.0);
      break;
    case Kind::hello:
      in.fail("was said already");
    case Kind::play:
    case Kind::pause:
    case Kind::reset:
    case Kind::drop:
    case Kind::save:
    case Kind::dump:
      break;
  }
}

}  // namespace

LiveCommand parse_live_command(std::string_view text) {
  if (text.size() > kMaxCommandBytes) {
    throw InputError("command", fmt::format("is longer than {} bytes", kMaxCommandBytes));
  }
  json::Json document;
  try {
    document = json::parse_strict(text);
  } catch (const InputError& e) {
    throw InputError("command", fmt::format("is not JSON: {}", e.what()));
  }
  CommandReader outer(document, "command");
  const std::string name = outer.text("c", "\"pause\"");
  const auto known = std::ranges::find(kNames, std::string_view(name), &CommandName::name);
  if (known == kNames.end()) throw InputError("command", "is not known; see docs/live-protocol.md");
  LiveCommand command;
  command.kind = known->kind;
  CommandReader in(document, name);
  in.has("c");
  read_command(in, command);
  in.finish();
  return command;
}

}  // namespace sarrus::view
