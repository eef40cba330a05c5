// The server of the live view: the page's four files and one WebSocket (docs/live-protocol.md, "Who is let in"). It
// carries messages and knows nothing of what they say but the first one, the token.
//
// A web page in the same browser is the attacker: only this machine is listened to unless `allow_remote`, names that
// were rebound and pages of others get 403, and all that comes in is bounded in size, number and time. Files are
// answered from memory; no path is joined to a folder. The server has one thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sarrus/view/speaker.h"

namespace sarrus::view {

struct ServerFiles {
  std::string page;    // "/"
  std::string style;   // "/style.css"
  std::string vendor;  // "/vendor.js"
  std::string app;     // "/app.js"
};

struct ServerOptions {
  std::string host;           // an address, by numbers; empty: 127.0.0.1, and ::1 where there is one
  int port = 0;               // 0: any
  bool allow_remote = false;  // a host that others can reach
  double time = 1;            // factor of all times that are waited; tests are in a hurry
};

class Server {
 public:
  // Called by the thread of the server.
  struct Events {
    std::function<void(int page)> connected;  // with the token
    std::function<void(int page, std::string text)> received;
    std::function<void(int page)> gone;
    std::function<ServerFiles()> files = {};  // if given, asked whenever a page is opened (for developers of the page)
  };

  // Listens from here on. Throws InputError naming the option for an address or port that it cannot have.
  Server(ServerFiles files, const ServerOptions& options, Events events);
  // Closes all connections.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  const std::string& token() const;
  // With the token behind '#', which no browser sends or logs.
  std::string url() const;

  // From any thread. A page that does not read what it is sent is closed.
  void send(int page, const Message& message);
  // Ends after what was sent is on its way, or half a second.
  void stop();

  static constexpr std::size_t kMaxPages = 8;       // that have said the token
  static constexpr std::size_t kMaxStrangers = 32;  // all others
  static constexpr std::size_t kMaxHeaderBytes = 8192;
  static constexpr std::size_t kMaxMessageBytes = 65536;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sarrus::view
