// A recording as pages see it: they get the whole motion and play it by themselves.
#pragma once

#include <set>

#include "sarrus/view/speaker.h"

namespace sarrus::view {

class Playback final : public Speaker {
 public:
  // Messages 4 and 5 (docs/live-protocol.md); the second one may be null.
  Playback(Message motion, Message compare, Send send);

  void connect(int page) override;
  void disconnect(int page) override;
  void receive(int page, std::string_view text) override;
  double advance() override;
  void end() override;

 private:
  Message motion_, compare_;
  Send send_;
  std::set<int> pages_;
};

}  // namespace sarrus::view
