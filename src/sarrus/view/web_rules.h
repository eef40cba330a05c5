// What a page of another origin must not get past (docs/live-protocol.md, "Who is let in"): the rules by which the
// server answers, as functions of text.
#pragma once

#include <string>
#include <string_view>

namespace sarrus::view {

// The Host that a request may have. Names can be made to point anywhere (DNS rebinding), so that only our own are good.
class HostRule {
 public:
  HostRule() = default;
  // Let in are the names of this machine and `name`; `remote`: also any address given by numbers, which no name was
  // rebound to, whatever the port, which may be mapped.
  HostRule(int port, bool remote, std::string name = {});
  bool allows(std::string_view host) const;

 private:
  std::string port_;
  bool remote_ = false;
  std::string name_;
};

// The Origin of a WebSocket must be the page that this server sent.
bool is_own_origin(std::string_view origin, std::string_view host);

// Content-Security-Policy of the page served for that Host.
std::string served_policy(std::string_view host);

// 128 bits of the kernel's as 32 hexadecimal digits.
std::string new_token();

// Its time depends on the sizes alone.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Whether this is {"c":"hello","token":…,"version":1} with that token.
bool is_hello(std::string_view text, std::string_view token) noexcept;

}  // namespace sarrus::view
