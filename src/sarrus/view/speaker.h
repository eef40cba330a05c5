// Who speaks to the pages of a live view: a simulation (session.h) or a recording (playback.h). What carries the
// messages (server.h) knows nothing of what they say, and this nothing of sockets and threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sarrus::view {

using Message = std::shared_ptr<const std::string>;

// All calls come from one thread. Whatever a page sends, none of them throws but for want of memory.
class Speaker {
 public:
  using Send = std::function<void(int page, const Message& message)>;

  virtual ~Speaker() = default;
  // A page that has shown its token, under a number that was not used before.
  virtual void connect(int page) = 0;
  virtual void disconnect(int page) = 0;
  virtual void receive(int page, std::string_view text) = 0;
  // Goes on with what there is to do, for 50 ms or a step. Returns the time, s, after which there is more to do if
  // nothing is received.
  virtual double advance() = 0;
  // Tells the pages that nothing follows.
  virtual void end() = 0;
};

inline constexpr std::size_t kMaxCommandBytes = 4096;  // of what is received

// Message 3 of docs/live-protocol.md. `text` may hold anything; what is not UTF-8 is replaced.
Message notice(std::string_view kind, std::string_view text, std::string_view command = {});
// A message of that first byte.
Message typed_message(char type, std::string_view rest);

}  // namespace sarrus::view
