// What a page asks of a live view (docs/live-protocol.md, "Page to server"): strict parsing of one message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sarrus/math/types.h"

namespace sarrus::view {

struct LiveCommand {
  enum class Kind : std::uint8_t {
    hello,
    play,
    pause,
    step,
    seek,
    reset,
    speed,
    target,
    release,
    drag,
    drop,
    layer,
    save,
    dump,
    ack
  };
  enum class Layer : std::uint8_t { joints, contacts };

  Kind kind = Kind::pause;
  std::int64_t number = 0;  // steps, sequence, dof or body
  double value = 0;         // time, speed or target
  bool on = false;
  Layer layer = Layer::joints;
  Vec3 point = Vec3::Zero();
  Vec3 target = Vec3::Zero();
};

// Throws InputError whose element is the name of the command, or "command" where it has none. Indices are not negative;
// whether they are in range is for who knows the model.
LiveCommand parse_live_command(std::string_view text);

}  // namespace sarrus::view
