#include "sarrus/view/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sarrus/view/deflate.h"
#include "sarrus/view/viewer_files.h"

namespace sarrus::view {
namespace {

constexpr std::size_t kMaxTitle = 200;
constexpr std::size_t kMaxFile = std::size_t{64} << 20;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Of the hash of a file in a content policy.
std::string source_of(std::string_view file) {
  const std::string_view hex = viewer_file(file).sha256;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return fmt::format("'sha256-{}'", base64(bytes));
}

std::string policy() {
  return fmt::format(
      "default-src 'none'; script-src {} {} {}; style-src {}; img-src data: blob:; media-src blob:; base-uri 'none'; "
      "form-action 'none'; require-trusted-types-for 'script'; trusted-types sarrus",
      source_of("load.js"), source_of("vendor.js"), source_of("app.js"), source_of("style.css"));
}

// Two hyphens would end the comment that this becomes.
std::string comment(std::string text) {
  for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) text.insert(at + 1, " ");
  return fmt::format("<!-- Licences of the libraries in this page:\n\n{}\n-->", text);
}

std::string head(std::string_view title) { return fmt::format("<title>{}</title>", escape_title(title)); }

// Compressed data that is no script: a browser does not look into it.
void append_data(std::string& out, std::string_view id, std::string_view payload) {
  if (payload.empty()) return;
  fmt::format_to(std::back_inserter(out), "<script type=\"text/plain\" id=\"{}\">", id);
  out += base64(payload);
  out += "</script>\n";
}

// The skeleton with its places filled, each once.
std::string fill(const std::pair<std::string_view, std::string>* places, std::size_t count) {
  const std::string page = viewer_text("page.html");
  std::string out;
  std::size_t from = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string mark = fmt::format("<!--sarrus:{}-->", places[i].first);
    const std::size_t at = page.find(mark, from);
    if (at == std::string::npos) throw std::logic_error("page.html of the viewer has no place " + mark);
    out.append(page, from, at - from);
    out += places[i].second;
    from = at + mark.size();
  }
  out.append(page, from);
  return out;
}

struct Decoded {
  char32_t code = 0;
  std::size_t length = 0;  // 0: no UTF-8
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t code = first & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, length};
}

bool harmless(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
  const bool direction =
      c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !direction;
}

}  // namespace

const ViewerFile& viewer_file(std::string_view name) {
  for (const ViewerFile& file : viewer_files()) {
    if (file.name == name) return file;
  }
  throw std::logic_error("no such file of the viewer");
}

std::string viewer_text(std::string_view name) { return gunzip(viewer_file(name).gzip, kMaxFile); }

std::string escape_title(std::string_view text) {
  std::string out;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == kMaxTitle) return out + "…";
    const Decoded c = decode(text);
    if (c.length == 0 || !harmless(c.code)) {
      out += kReplacement;
    } else if (c.code == '&') {
      out += "&amp;";
    } else if (c.code == '<') {
      out += "&lt;";
    } else if (c.code == '>') {
      out += "&gt;";
    } else if (c.code == '"') {
      out += "&quot;";
    } else if (c.code == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(0, c.length);
    }
    text.remove_prefix(std::max<std::size_t>(1, c.length));
  }
  return out;
}

std::string written_page(std::string_view title, std::string_view motion, std::string_view compare) {
  std::string motions;
  append_data(motions, "motion", motion);
  append_data(motions, "compare", compare);
  std::string scripts;
  for (const char* name : {"vendor.js", "app.js"}) append_data(scripts, name, viewer_file(name).gzip);
  scripts += "<script>" + viewer_text("load.js") + "</script>";
  const std::pair<std::string_view, std::string> places[] = {
      {"head", fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n{}\n{}", policy(),
                           head(title), comment(viewer_text("LICENSES.txt")))},
      {"style", "<style>" + viewer_text("style.css") + "</style>"},
      {"motion", motions},
      {"scripts", scripts}};
  return fill(places, std::size(places));
}

std::string served_page(std::string_view title) {
  const std::pair<std::string_view, std::string> places[] = {
      {"head", head(title)},
      {"style", "<link rel=\"stylesheet\" href=\"/style.css\">"},
      {"motion", ""},
      {"scripts", "<script src=\"/vendor.js\"></script>\n<script src=\"/app.js\"></script>"}};
  return fill(places, std::size(places));
}

}  // namespace sarrus::view
