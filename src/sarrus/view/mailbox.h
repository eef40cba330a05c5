// What pages say, on its way from the thread of the server to that of the simulation. Bounded: what does not fit is
// dropped, but that a page came or went is not.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "sarrus/view/speaker.h"

namespace sarrus::view {

class Mailbox {
 public:
  void connected(int page) { put({Kind::connected, page, {}}); }
  void received(int page, std::string text);
  void gone(int page) { put({Kind::gone, page, {}}); }

  // Hands all there is to the speaker; waits at most so long, s, if there is nothing.
  void deliver(Speaker& speaker, double wait);

 private:
  enum class Kind { connected, received, gone };
  struct Letter {
    Kind kind;
    int page;
    std::string text;
  };
  void put(Letter letter);

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Letter> letters_;
};

}  // namespace sarrus::view
