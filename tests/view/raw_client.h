// A client of the server by sockets alone, that can also misbehave: raw bytes out, what comes back, and the frames of a
// WebSocket (RFC 6455).
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sarrus::test {

class RawClient {
 public:
  explicit RawClient(int port) : RawClient(port, ::socket(AF_INET, SOCK_STREAM, 0)) {}
  RawClient(int port, int socket) : fd_(socket) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(RawClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void close() {
    ::close(fd_);
    fd_ = -1;
  }

  // All until the other side closes, or nothing comes for so long.
  std::string rest(double seconds = 20) {
    while (more(seconds)) {
    }
    return std::exchange(buffer_, {});
  }
  bool closed() const { return closed_; }
  // At least so many bytes, or what came before the end.
  std::string exactly(std::size_t bytes, double seconds = 20) {
    while (buffer_.size() < bytes && more(seconds)) {
    }
    const std::string out = buffer_.substr(0, bytes);
    buffer_.erase(0, bytes);
    return out;
  }
  std::string until(std::string_view end, double seconds = 20) {
    std::size_t at = 0;
    while ((at = buffer_.find(end)) == std::string::npos) {
      if (!more(seconds)) return std::exchange(buffer_, {});
    }
    const std::string out = buffer_.substr(0, at + end.size());
    buffer_.erase(0, at + end.size());
    return out;
  }

  // A frame to the server, masked as RFC 6455 wants it.
  static std::string frame(std::string_view payload, int opcode = 1, bool last = true, bool masked = true) {
    std::string out(1, static_cast<char>((last ? 0x80 : 0) | opcode));
    const int mask = masked ? 0x80 : 0;
    if (payload.size() < 126) {
      out += static_cast<char>(mask | static_cast<int>(payload.size()));
    } else {
      const bool large = payload.size() > 65535;
      out += static_cast<char>(mask | (large ? 127 : 126));
      for (int shift = large ? 56 : 8; shift >= 0; shift -= 8) {
        out += static_cast<char>((static_cast<std::uint64_t>(payload.size()) >> shift) & 255);
      }
    }
    if (masked) out += std::string("\1\2\3\4", 4);
    for (std::size_t i = 0; i < payload.size(); ++i) {
      out += masked ? static_cast<char>(payload[i] ^ static_cast<char>(1 + i % 4)) : payload[i];
    }
    return out;
  }
  // A WebSocket as the page opens it: the answer to its request.
  std::string upgrade(const std::string& host, const std::string& origin, const std::string& path = "/ws") {
    send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + (origin.empty() ? "" : "Origin: " + origin + "\r\n") +
         "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    return until("\r\n\r\n");
  }
  // The payload of the next message, empty at the end; its opcode is kept. Pings are passed over.
  std::string message(double seconds = 20) {
    while (true) {
      const std::string head = exactly(2, seconds);
      if (head.size() < 2) return {};
      opcode_ = head[0] & 15;
      std::uint64_t size = static_cast<unsigned char>(head[1]) & 127;
      if (size >= 126) {
        const std::string bytes = exactly(size == 126 ? 2 : 8, seconds);
        size = 0;
        for (const char c : bytes) size = size << 8 | static_cast<unsigned char>(c);
      }
      std::string payload = exactly(size, seconds);
      if (opcode_ < 8) return payload;
      if (opcode_ == 8) return {};
    }
  }
  int opcode() const { return opcode_; }

 private:
  bool more(double seconds) {
    if (closed_ || fd_ < 0) return false;
    pollfd wait = {fd_, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
    char bytes[4096];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) {
      closed_ = true;
      return false;
    }
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool closed_ = false;
  int opcode_ = 0;
  std::string buffer_;
};

}  // namespace sarrus::test
