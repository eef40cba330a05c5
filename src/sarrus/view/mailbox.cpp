#include "sarrus/view/mailbox.h"

#include <chrono>
#include <utility>

namespace sarrus::view {

// What is longer than a command may be is refused, however long it is.
void Mailbox::received(int page, std::string text) {
  constexpr std::size_t kMost = 4096;
  if (text.size() > kMaxCommandBytes + 1) text.resize(kMaxCommandBytes + 1);
  {
    const std::lock_guard lock(mutex_);
    if (letters_.size() >= kMost) return;
  }
  put({Kind::received, page, std::move(text)});
}

void Mailbox::put(Letter letter) {
  {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  more_.notify_one();
}

void Mailbox::deliver(Speaker& speaker, double wait) {
  std::deque<Letter> letters;
  {
    std::unique_lock lock(mutex_);
    more_.wait_for(lock, std::chrono::duration<double>(wait), [&] { return !letters_.empty(); });
    letters.swap(letters_);
  }
  for (const Letter& l : letters) {
    if (l.kind == Kind::connected) speaker.connect(l.page);
    if (l.kind == Kind::received) speaker.receive(l.page, l.text);
    if (l.kind == Kind::gone) speaker.disconnect(l.page);
  }
}

}  // namespace sarrus::view
