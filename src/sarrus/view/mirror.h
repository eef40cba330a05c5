// A simulation that a program steps, as pages see it: they are shown each state that the program tells, and can ask for
// nothing but what they draw.
#pragma once

#include <cstdint>
#include <map>

#include "sarrus/step/simulation.h"
#include "sarrus/view/live_page.h"
#include "sarrus/view/motion.h"
#include "sarrus/view/speaker.h"

namespace sarrus::view {

class Mirror final : public Speaker {
 public:
  // `scene`: message 1 (docs/live-protocol.md).
  Mirror(Message scene, const Layout& layout, Send send);

  // The present state, after so many steps of the program since the last call; 0: it was set.
  void show(const Simulation& sim, std::int64_t steps);

  void connect(int page) override;
  void disconnect(int page) override;
  void receive(int page, std::string_view text) override;
  double advance() override;
  void end() override;

  int pages() const { return static_cast<int>(pages_.size()); }

 private:
  void obey(LivePage& from, std::string_view text);

  Message scene_;
  Layout layout_;
  Send send_;
  Frame last_;
  std::uint32_t index_ = 0;
  std::uint8_t solve_status_ = kNoStep;
  double first_ = 0;  // s
  std::map<int, LivePage> pages_;
};

}  // namespace sarrus::view
