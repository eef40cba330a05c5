// The table of `sarrus bench worlds`.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "sarrus/bench/worlds.h"
#include "sarrus/math/hash.h"
#include "sarrus/scenes/random_worlds.h"

namespace sarrus {
namespace {

// Messages that differ in names and numbers alone are of one kind.
std::string kind_of_message(const std::string& message) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const char c = message[i];
    if (c == '\'') quoted = !quoted;
    if (quoted && c != '\'') continue;
    const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool in_number =
        !out.empty() && out.back() == '#' && (number || c == '.' || c == 'e' || c == '-' || c == '+');
    if (in_number) continue;
    out += number ? '#' : c;
  }
  return out;
}

double percent(std::size_t n, std::size_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(n) / static_cast<double>(all);
}

std::string causes_text(const std::vector<WorldRun>& runs) {
  std::string text = fmt::format("{:<20}{:>8}{:>9}   {}\n", "cause", "worlds", "%", "worst seeds");
  for (int c = 0; c < kWorldCauseCount; ++c) {
    std::vector<const WorldRun*> found;
    for (const WorldRun& r : runs) {
      if (static_cast<int>(r.cause) == c) found.push_back(&r);
    }
    if (found.empty()) continue;
    std::ranges::stable_sort(found, [](const WorldRun* a, const WorldRun* b) { return a->severity > b->severity; });
    std::string seeds;
    for (std::size_t i = 0; c > 0 && i < std::min<std::size_t>(found.size(), 5); ++i) {
      seeds += fmt::format("{}{}", i > 0 ? " " : "", found[i]->seed);
    }
    text += fmt::format("{:<20}{:>8}{:>9.2f}   {}\n", name_of(static_cast<WorldCause>(c)), found.size(),
                        percent(found.size(), runs.size()), seeds);
  }
  return text;
}

std::string messages_text(const std::vector<WorldRun>& runs) {
  std::map<std::string, std::vector<std::uint64_t>> kinds;
  for (const WorldRun& r : runs) {
    if (!r.message.empty()) kinds[kind_of_message(r.message)].push_back(r.seed);
  }
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> sorted(kinds.begin(), kinds.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::string text;
  for (const auto& [kind, seeds] : sorted) text += fmt::format("{:>6}  {} (seed {})\n", seeds.size(), kind, seeds[0]);
  return text.empty() ? text : "\nwhat was said, numbers and names left out\n" + text;
}

std::string features_text(const std::vector<WorldRun>& runs) {
  std::string text = fmt::format("\n{:<20}{:>8}{:>10}{:>9}\n", "worlds with", "all", "not good", "%");
  for (std::size_t f = 0; f < kWorldFeatures; ++f) {
    const std::string name(name_of(static_cast<WorldFeature>(f)));
    std::size_t all = 0, bad = 0;
    for (const WorldRun& r : runs) {
      const std::string list = ", " + r.features + ",";
      if (list.find(", " + name + ",") == std::string::npos) continue;
      ++all;
      bad += r.cause != WorldCause::good ? 1 : 0;
    }
    text += fmt::format("{:<20}{:>8}{:>10}{:>9.2f}\n", name, all, bad, percent(bad, all));
  }
  return text;
}

}  // namespace

std::string worlds_text(const std::vector<WorldRun>& runs) {
  if (runs.empty()) return "no worlds\n";
  std::int64_t steps = 0, accepted = 0, substepped = 0;
  std::size_t bad = 0, silent = 0;
  Hash64 hash;
  for (const WorldRun& r : runs) {
    steps += r.steps;
    accepted += r.accepted;
    substepped += r.substepped;
    bad += r.cause != WorldCause::good ? 1 : 0;
    silent += is_silent(r.cause) ? 1 : 0;
    hash.bytes(r.hash.data(), r.hash.size());
  }
  const auto slowest = std::ranges::max_element(runs, {}, &WorldRun::slowest);
  std::string text = fmt::format(
      "{} worlds, seeds {} to {}: {} not good ({:.2f} %), {} of these silently\n"
      "{} steps: {} above the tolerance, {} taken in parts; the slowest took {:.3g} s (seed {})\n"
      "hash of all last states {:016x}\n\n",
      runs.size(), runs.front().seed, runs.back().seed, bad, percent(bad, runs.size()), silent, steps, accepted,
      substepped, slowest->slowest, slowest->seed, hash.value());
  return text + causes_text(runs) + messages_text(runs) + features_text(runs);
}

}  // namespace sarrus
