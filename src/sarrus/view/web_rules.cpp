#include "sarrus/view/web_rules.h"

#include <arpa/inet.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <system_error>
#include <utility>

#include "sarrus/files/json.h"
#include "sarrus/view/speaker.h"

namespace sarrus::view {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_address(std::string_view name) {
  std::array<unsigned char, 16> ignored = {};
  const bool brackets = name.size() > 2 && name.front() == '[' && name.back() == ']';
  const std::string text(brackets ? name.substr(1, name.size() - 2) : name);
  return inet_pton(brackets ? AF_INET6 : AF_INET, text.c_str(), ignored.data()) == 1;
}

}  // namespace

HostRule::HostRule(int port, bool remote, std::string name)
    : port_(std::to_string(port)), remote_(remote), name_(std::move(name)) {}

bool HostRule::allows(std::string_view host) const {
  // A zero byte would end the text for the system.
  if (host.size() > 255 || host.find('\0') != std::string_view::npos) return false;
  const std::size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (host.find(']') == std::string_view::npos || host.find(']') < colon);
  const std::string_view name = has_port ? host.substr(0, colon) : host;
  const std::string_view port = has_port ? host.substr(colon + 1) : std::string_view("80");
  if (!is_digits(port) || (!remote_ && port != port_)) return false;
  if (name == "127.0.0.1" || name == "localhost" || name == "[::1]") return true;
  return (!name_.empty() && name == name_) || (remote_ && is_address(name));
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && origin.substr(kScheme.size()) == host;
}

std::string served_policy(std::string_view host) {
  return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://" + std::string(host) +
         "; img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
         "require-trusted-types-for 'script'";
}

std::string new_token() {
  std::array<unsigned char, 16> bytes = {};
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n = getrandom(bytes.data() + got, bytes.size() - got, 0);
    if (n > 0) got += static_cast<std::size_t>(n);
    if (n < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "random numbers");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const unsigned char b : bytes) {
    token += kDigits[b >> 4];
    token += kDigits[b & 15];
  }
  return token;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    different =
        static_cast<unsigned char>(different | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return different == 0;
}

bool is_hello(std::string_view text, std::string_view token) noexcept {
  try {
    if (text.size() > kMaxCommandBytes) return false;
    const json::Json hello = json::parse_strict(text);
    if (!hello.is_object() || hello.size() != 3) return false;
    const auto text_of = [&](const char* key) {
      const auto at = hello.find(key);
      return at != hello.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    const auto version = hello.find("version");
    return text_of("c") == "hello" && version != hello.end() && version->is_number_integer() && *version == 1 &&
           equal_in_constant_time(text_of("token"), token);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace sarrus::view
