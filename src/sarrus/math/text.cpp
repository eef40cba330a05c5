#include "sarrus/math/text.h"

#include <algorithm>

namespace sarrus {
namespace {

constexpr std::size_t kMaxComparedText = 80;
constexpr std::size_t kMaxListed = 24;

// Letters changed, added, left out, or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const std::string& k : known) {
    const std::size_t d = edit_distance(wrong, k);
    if (d < best_distance) {
      best_distance = d;
      best = k;
    }
  }
  return best;
}

bool is_misspelt(std::string_view wrong, std::string_view right) {
  constexpr std::size_t kShortest = 3;
  constexpr std::size_t kLong = 7;
  if (right.size() < kShortest || wrong.size() > kMaxComparedText) return false;
  return edit_distance(wrong, right) <= (right.size() < kLong ? 1u : 2u);
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known, std::string_view kind) {
  // Edit distances of long texts cost time and suggest nothing.
  const std::string near = wrong.size() <= kMaxComparedText ? nearest_name(wrong, known) : std::string();
  if (!near.empty()) return "did you mean " + in_quotes(near) + "?";
  if (known.empty()) return "there is no " + std::string(kind);
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < std::min(known.size(), kMaxListed); ++i) listed.push_back(printable(known[i]));
  std::sort(listed.begin(), listed.end());
  std::string text = "use one of " + listed[0];
  for (std::size_t i = 1; i < listed.size(); ++i) text += ", " + listed[i];
  return text + (known.size() > kMaxListed ? ", ..." : "");
}

std::string printable(std::string_view text, std::size_t max_size) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char c : text.substr(0, max_size)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      result += {'\\', 'x', digits[code >> 4], digits[code & 15]};
    } else {
      result += c;
    }
  }
  if (text.size() <= max_size) return result;
  // The cut may have split a character: drop its bytes, the message stays valid UTF-8.
  while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0xC0) == 0x80) result.pop_back();
  if (!result.empty() && (static_cast<unsigned char>(result.back()) & 0x80) != 0) result.pop_back();
  return result + "...";
}

std::string in_quotes(std::string_view text) { return std::string(1, '\'').append(printable(text)) + '\''; }

}  // namespace sarrus
