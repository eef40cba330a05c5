#include "suite_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "sarrus/files/whole_file.h"
#include "sarrus/work/ranks.h"

namespace sarrus::app {
namespace {

namespace fs = std::filesystem;

// Async-signal-safe, so prepared before.
char last_words[1024];

extern "C" void say_last_words(int signal) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, last_words, std::strlen(last_words));
  OutputFile::remove_partial_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

SuiteProgress::SuiteProgress(bool enabled) : enabled_(enabled), terminal_(::isatty(STDERR_FILENO) == 1) {}

SuiteProgress::~SuiteProgress() {
  if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
}

void SuiteProgress::operator()(const WorkFolder::Progress& p) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now < next_) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(30));
  shown_ = true;
  const std::string left = std::isfinite(p.left) ? fmt::format("about {:.0f} s left", p.left) : "time left unknown";
  fmt::print(stderr, "{}{:3.0f} %  {} of {} units, {:.0f} s, {}  {}{}", terminal_ ? "\r\033[K" : "", 100 * p.share,
             p.done, p.total, p.seconds, left, p.unit, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

void prepare_last_words(const fs::path& folder) {
  const std::string text = fmt::format(
      "\nsarrus: stopped from outside (or a rank was lost); what is finished is kept in {}: the same command goes on "
      "from there\n",
      folder.string());
  std::strncpy(last_words, text.c_str(), sizeof last_words - 1);
  std::signal(SIGTERM, say_last_words);
  std::signal(SIGINT, say_last_words);
}

void remove_when_deserted(const fs::path& folder, double patience) {
  const auto start = std::chrono::steady_clock::now();
  std::error_code ignored;
  const auto deserted = [&] {
    for (const auto& worker : fs::directory_iterator(folder / "alive", ignored)) {
      if (!is_gone(worker.path().filename())) return false;
    }
    return true;
  };
  while (!deserted() && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  fs::remove_all(folder, ignored);
}

}  // namespace sarrus::app
