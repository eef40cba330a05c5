// The server over raw sockets: what a page of ours gets, and that a page of others, a name that was rebound, a client
// without the token, and what is malformed, too large, too slow or too many get nothing.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "effort.h"
#include "sarrus/math/error.h"
#include "sarrus/math/random.h"
#include "sarrus/view/server.h"
#include "sarrus/view/web_rules.h"
#include "view/raw_client.h"

namespace sarrus::server_test {
namespace {

using namespace sarrus::view;
using test::RawClient;

// Times are a tenth of what they are for users.
struct Host {
  explicit Host(ServerOptions options = quick())
      : server({"<!doctype html>page", "style", "vendor", "app"}, options,
               {[this](int page) { note("+" + std::to_string(page)); },
                [this](int page, const std::string& text) { note(std::to_string(page) + ":" + text); },
                [this](int page) { note("-" + std::to_string(page)); }}) {}
  static ServerOptions quick() {
    ServerOptions o;
    o.time = 0.1;
    return o;
  }
  void note(const std::string& what) {
    const std::lock_guard lock(mutex);
    events.push_back(what);
  }
  // Waits for it.
  bool saw(const std::string& what) {
    for (int i = 0; i < 2000; ++i) {
      {
        const std::lock_guard lock(mutex);
        if (std::find(events.begin(), events.end(), what) != events.end()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return events.size();
  }
  std::string name(const std::string& host = "127.0.0.1") const { return host + ":" + std::to_string(server.port()); }
  std::string ask(const std::string& request) {
    RawClient client(server.port());
    client.send(request);
    return client.rest();
  }
  std::string get(const std::string& path) { return ask("GET " + path + " HTTP/1.1\r\nHost: " + name() + "\r\n\r\n"); }
  std::string hello() const { return R"({"c":"hello","token":")" + server.token() + R"(","version":1})"; }
  // A page that is let in.
  RawClient page() {
    RawClient client(server.port());
    EXPECT_EQ(status(client.upgrade(name(), "http://" + name())), 101);
    client.send(RawClient::frame(hello()));
    return client;
  }
  static int status(const std::string& answer) {
    return answer.size() > 12 && answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
  }

  std::mutex mutex;
  std::vector<std::string> events;
  Server server;
};

TEST(Server, GivesItsFourFilesWithTheirPolicy) {
  Host host;
  const std::string page = host.get("/");
  EXPECT_EQ(Host::status(page), 200);
  EXPECT_TRUE(page.ends_with("\r\n\r\n<!doctype html>page"));
  for (const char* header :
       {"Content-Type: text/html; charset=utf-8\r\n",
        "Content-Security-Policy: default-src 'none'; script-src 'self'; ", "frame-ancestors 'none'; ",
        "require-trusted-types-for 'script'\r\n", "X-Content-Type-Options: nosniff\r\n",
        "Cross-Origin-Resource-Policy: same-origin\r\n", "Cache-Control: no-store\r\n", "Connection: close\r\n"}) {
    EXPECT_NE(page.find(header), std::string::npos) << header;
  }
  EXPECT_NE(page.find("connect-src 'self' ws://" + host.name() + ";"), std::string::npos);
  EXPECT_EQ(page.find("Access-Control"), std::string::npos);
  EXPECT_EQ(page.find(host.server.token()), std::string::npos);
  EXPECT_TRUE(host.get("/style.css").ends_with("style"));
  EXPECT_TRUE(host.get("/vendor.js").ends_with("vendor"));
  EXPECT_TRUE(host.get("/app.js").ends_with("app"));
  EXPECT_EQ(host.server.url(), "http://" + host.name() + "/#" + host.server.token());
}

TEST(Server, OtherPathsAreNotFound) {
  Host host;
  for (const char* path : {"/x",
                           "/index.html",
                           "//",
                           "/.",
                           "/..",
                           "/../etc/passwd",
                           "/..%2f..%2fetc/passwd",
                           "/%2e%2e/",
                           "/app.js/",
                           "/APP.JS",
                           "/app.js%00",
                           "/app%2ejs",
                           "/?",
                           "/?a=b",
                           "/app.js?v=1",
                           "/#x",
                           "/.git/config",
                           "http://127.0.0.1/",
                           "*",
                           "/ws/",
                           "/wss"}) {
    EXPECT_EQ(Host::status(host.get(path)), 404) << path;
  }
  EXPECT_EQ(Host::status(host.get("/ws")), 403);  // without Origin
}

TEST(Server, OnlyGetIsAllowed) {
  Host host;
  for (const char* method :
       {"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PROPFIND", "BREW"}) {
    const std::string answer = host.ask(std::string(method) + " / HTTP/1.1\r\nHost: " + host.name() + "\r\n\r\n");
    EXPECT_TRUE(Host::status(answer) == 405 || Host::status(answer) == 400) << method << answer;
    EXPECT_EQ(answer.find("page"), std::string::npos);
  }
  EXPECT_NE(host.ask("POST / HTTP/1.1\r\nHost: " + host.name() + "\r\n\r\n").find("Allow: GET"), std::string::npos);
}

// What a rebound name, and a page of others, send.
TEST(Server, HostAndOriginAreOurOwn) {
  Host host;
  const std::string port = std::to_string(host.server.port());
  const std::vector<std::string> good = {"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port};
  const std::vector<std::string> bad = {"evil.example",
                                        "evil.example:" + port,
                                        "127.0.0.1",
                                        "127.0.0.1:1",
                                        "localhost",
                                        "127.0.0.1.evil.example:" + port,
                                        "localhost.evil.example:" + port,
                                        "127.0.0.2:" + port,
                                        "0.0.0.0:" + port,
                                        "[::]:" + port,
                                        "127.1:" + port,
                                        "2130706433:" + port,
                                        "127.0.0.1:" + port + " ",
                                        "",
                                        ":" + port,
                                        "user@127.0.0.1:" + port,
                                        "127.0.0.1:" + port + ":" + port,
                                        "192.168.1.2:" + port};
  for (const std::string& name : good) {
    EXPECT_EQ(Host::status(host.ask("GET / HTTP/1.1\r\nHost: " + name + "\r\n\r\n")), 200) << name;
    for (const std::string& other : good) {
      RawClient client(host.server.port());
      EXPECT_EQ(Host::status(client.upgrade(name, "http://" + other)), name == other ? 101 : 403)
          << name << " " << other;
    }
    for (const std::string& origin : std::vector<std::string>{
             "", "null", "http://evil.example", "https://" + name, "http://" + name + "/",
             "http://" + name + ".evil.example", "HTTP://" + name, "http://evil.example/http://" + name, "file://"}) {
      RawClient client(host.server.port());
      EXPECT_EQ(Host::status(client.upgrade(name, origin)), 403) << name << " " << origin;
    }
  }
  for (const std::string& name : bad) {
    const std::string answer = host.ask("GET / HTTP/1.1\r\nHost: " + name + "\r\n\r\n");
    if (name.ends_with(" ")) continue;  // white space around a value does not belong to it
    EXPECT_TRUE(Host::status(answer) == 403 || Host::status(answer) == 400) << name;
    EXPECT_EQ(answer.find("page"), std::string::npos) << name;
    RawClient client(host.server.port());
    EXPECT_EQ(Host::status(client.upgrade(name, "http://" + name)) / 100, 4) << name;
  }
  EXPECT_EQ(Host::status(host.ask("GET / HTTP/1.1\r\n\r\n")), 400);
  EXPECT_EQ(Host::status(host.ask("GET / HTTP/1.1\r\nHost: " + good[0] + "\r\nHost: evil.example\r\n\r\n")), 400);
  EXPECT_EQ(Host::status(host.ask("GET / HTTP/1.0\r\n\r\n")), 400);
  EXPECT_EQ(host.count(), 0U);
}

TEST(Server, APageThatSaysTheTokenIsHeardAndGetsWhatIsSent) {
  Host host;
  RawClient page = host.page();
  ASSERT_TRUE(host.saw("+1"));
  page.send(RawClient::frame("{\"c\":\"pa", 1, false) + RawClient::frame("use\"}", 0));
  EXPECT_TRUE(host.saw("1:{\"c\":\"pause\"}"));
  const std::string large(300'000, 'x');
  host.server.send(1, typed_message(2, large));
  host.server.send(2, typed_message(2, "for nobody"));
  host.server.send(1, typed_message(3, "y"));
  EXPECT_TRUE(page.message() == "\2" + large);
  EXPECT_EQ(page.opcode(), 2);
  EXPECT_EQ(page.message(), "\3y");
  RawClient other = host.page();
  EXPECT_TRUE(host.saw("+2"));
  page.close();
  EXPECT_TRUE(host.saw("-1"));
  host.server.send(2, typed_message(3, "end"));
  host.server.stop();
  EXPECT_EQ(other.message(), "\3end");
}

TEST(Server, WithoutTheTokenNothingIsSaid) {
  Host host;
  std::string wrong = host.server.token();
  wrong[31] = wrong[31] == '0' ? '1' : '0';
  const std::string token = host.server.token();
  const std::vector<std::string> bad = {
      "",
      "hello",
      token,
      "{\"c\":\"play\"}",
      R"({"c":"hello","token":")" + wrong + R"(","version":1})",
      R"({"c":"hello","token":"","version":1})",
      R"({"c":"hello","token":")" + token.substr(0, 31) + R"(","version":1})",
      R"({"c":"hello","token":")" + token + R"(0","version":1})",
      R"({"c":"hello","token":")" + token + R"("})",
      R"({"c":"hello","token":")" + token + R"(","version":2})",
      R"({"c":"hello","token":")" + token + R"(","version":"1"})",
      R"({"c":"hello","token":")" + token + R"(","version":1,"x":1})",
      R"({"c":"hello","token":["a"],"version":1})",
      R"([])",
      std::string(5000, ' ') + host.hello(),
      std::string(4000, '['),
  };
  for (const std::string& first : bad) {
    RawClient client(host.server.port());
    ASSERT_EQ(Host::status(client.upgrade(host.name(), "http://" + host.name())), 101);
    client.send(RawClient::frame(first));
    client.message();
    client.rest();
    EXPECT_TRUE(client.closed()) << first;
  }
  RawClient binary(host.server.port());
  binary.upgrade(host.name(), "http://" + host.name());
  binary.send(RawClient::frame(host.hello(), 2));
  EXPECT_EQ(binary.rest(), "");
  RawClient silent(host.server.port());
  silent.upgrade(host.name(), "http://" + host.name());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(silent.rest(), "");
  EXPECT_TRUE(silent.closed());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));  // 2 s a tenth
  EXPECT_EQ(host.count(), 0U);
}

TEST(Server, WhatIsMalformedOrTooLargeIsRefused) {
  Host host;
  const std::string start = "GET / HTTP/1.1\r\nHost: " + host.name() + "\r\n";
  EXPECT_EQ(Host::status(host.ask(start + "X: " + std::string(7000, 'x') + "\r\n\r\n")), 200);
  EXPECT_EQ(Host::status(host.ask(start + "X: " + std::string(9000, 'x') + "\r\n\r\n")), 431);
  EXPECT_EQ(Host::status(host.ask("GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n")) / 100, 4);
  std::string many = start;
  for (int i = 0; i < 2000; ++i) many += "X" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(Host::status(host.ask(many + "\r\n")) / 100, 4);
  for (const std::string& bad : std::vector<std::string>{
           "\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", std::string(100, '\0'),
           "\x16\x03\x01\x02 TLS hello\r\n\r\n", start + "Content-Length: 5\r\n\r\nhello",
           start + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", start + "Content-Length: -1\r\n\r\n",
           start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", start + " folded: x\r\n\r\n",
           start + "no colon\r\n\r\n", start + "bad\x01name: x\r\n\r\n"}) {
    const std::string answer = host.ask(bad);
    EXPECT_NE(Host::status(answer), 200) << bad;
    EXPECT_EQ(answer.find("page"), std::string::npos) << bad;
  }
  // In pieces it is the same request.
  RawClient client(host.server.port());
  for (const char c : start + "\r\n") ASSERT_TRUE(client.send(std::string(1, c)));
  EXPECT_EQ(Host::status(client.rest()), 200);
}

TEST(Server, FramesThatAreTooLargeOrAgainstTheRulesEndTheConnection) {
  Host host;
  const std::vector<std::string> bad = {
      RawClient::frame(std::string(70'000, 'x')),
      RawClient::frame(std::string(40'000, 'x'), 1, false) + RawClient::frame(std::string(40'000, 'x'), 0),
      RawClient::frame("text", 1, true, false),  // not masked
      RawClient::frame("binary", 2),
      RawClient::frame("x", 3),                            // reserved
      RawClient::frame("x", 0),                            // goes on with nothing
      RawClient::frame("\xff\xfe", 1),                     // no UTF-8
      RawClient::frame(std::string(200, 'p'), 9),          // a ping may have 125 bytes
      "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\2\3\4",  // 2^64 - 1 bytes
      std::string("\xc1\x80\1\2\3\4", 6),                  // a reserved bit
      RawClient::frame("", 8),
  };
  int number = 0;
  for (const std::string& bytes : bad) {
    RawClient page = host.page();
    ASSERT_TRUE(host.saw("+" + std::to_string(++number)));
    page.send(bytes);
    page.rest();
    EXPECT_TRUE(page.closed()) << number;
    page.close();
    EXPECT_TRUE(host.saw("-" + std::to_string(number))) << number;
  }
  // Those in a row that are allowed.
  RawClient page = host.page();
  ASSERT_TRUE(host.saw("+" + std::to_string(++number)));
  page.send(RawClient::frame(std::string(60'000, 'y')));
  EXPECT_TRUE(host.saw(std::to_string(number) + ":" + std::string(60'000, 'y')));
}

TEST(Server, WhoIsSlowOrSilentIsCutOff) {
  ServerOptions quick;
  quick.time = 0.05;
  Host host(quick);
  RawClient nothing(host.server.port());
  RawClient half(host.server.port());
  half.send("GET / HTTP/1.1\r\nHost: ");
  RawClient drip(host.server.port());
  for (int i = 0; i < 25 && drip.send("G"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(nothing.rest(), "");
  EXPECT_TRUE(nothing.closed());
  EXPECT_EQ(half.rest(), "");
  EXPECT_TRUE(half.closed());
  drip.rest();
  EXPECT_TRUE(drip.closed());
  // A page that answers no ping.
  RawClient page = host.page();
  ASSERT_TRUE(host.saw("+1"));
  EXPECT_TRUE(host.saw("-1"));
}

TEST(Server, TheNinthPageIsClosedAndOneThatEndsMakesRoom) {
  Host host;
  std::vector<RawClient> pages;
  for (std::size_t i = 1; i <= Server::kMaxPages; ++i) {
    pages.push_back(host.page());
    ASSERT_TRUE(host.saw("+" + std::to_string(i)));
  }
  EXPECT_EQ(Host::status(host.get("/")), 200);
  RawClient ninth = host.page();
  EXPECT_EQ(ninth.rest(), "");
  EXPECT_TRUE(ninth.closed());
  pages.pop_back();
  ASSERT_TRUE(host.saw("-8"));
  RawClient next = host.page();
  EXPECT_TRUE(host.saw("+9"));
}

// Half requests and pages without the token, more than there is room for: the oldest make room for who comes.
TEST(Server, WhoIsSlowLocksOutNobody) {
  ServerOptions slow;
  slow.time = 100;
  Host host(slow);
  RawClient known = host.page();
  ASSERT_TRUE(host.saw("+1"));
  std::vector<RawClient> clients;
  for (std::size_t i = 0; i < 2 * Server::kMaxStrangers; ++i) {
    clients.emplace_back(host.server.port());
    if (i % 2 == 0) {
      clients.back().send("GET / HTTP/1.1\r\nHost: ");
    } else {
      EXPECT_EQ(Host::status(clients.back().upgrade(host.name(), "http://" + host.name())), 101);
    }
  }
  EXPECT_EQ(Host::status(host.get("/")), 200);
  RawClient page = host.page();
  EXPECT_TRUE(host.saw("+2"));
  EXPECT_EQ(clients.front().rest(), "");
  EXPECT_TRUE(clients.front().closed());
  host.server.send(1, typed_message(3, "z"));
  EXPECT_EQ(known.message(), "\3z");
}

// Without a descriptor for it a connection waits, the processor does not, and it is answered when there is one.
TEST(Server, WaitsForADescriptor) {
  Host host;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(socket, 0);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(socket);
  ::close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  RawClient client(host.server.port(), socket);
  client.send("GET /app.js HTTP/1.1\r\nHost: " + host.name() + "\r\n\r\n");
  const std::clock_t begin = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const double busy = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(busy, 0.1);  // of the processor, not of a clock on the wall
  EXPECT_TRUE(client.rest().ends_with("app"));
}

TEST(Server, APageThatReadsNothingIsCutOffAndOthersGoOn) {
  Host host;
  RawClient deaf = host.page();
  RawClient page = host.page();
  ASSERT_TRUE(host.saw("+1"));
  ASSERT_TRUE(host.saw("+2"));
  const Message large = typed_message(2, std::string(1'000'000, 'x'));
  for (int i = 0; i < 100; ++i) host.server.send(1, large);
  EXPECT_TRUE(host.saw("-1"));
  host.server.send(2, typed_message(3, "z"));
  EXPECT_EQ(page.message(), "\3z");
}

TEST(Server, RandomBytesEndNothing) {
  Host host;
  Random random(5);
  for (int i = 0; i < test::samples(200); ++i) {
    std::string bytes;
    if (random.chance(0.5)) bytes = "GET /ws HTTP/1.1\r\nHost: " + host.name() + "\r\n";
    for (int n = random.below(300); n > 0; --n) bytes += static_cast<char>(random.below(256));
    RawClient client(host.server.port());
    client.send(bytes + "\r\n\r\n");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int i = 0; i < 100 && Host::status(host.get("/")) != 200; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(Host::status(host.get("/")), 200);
  EXPECT_EQ(host.count(), 0U);
}

TEST(Server, AddressesOfOthersNeedPermission) {
  const auto make = [](const std::string& host, bool allow, int port = 0) {
    ServerOptions o;
    o.host = host;
    o.allow_remote = allow;
    o.port = port;
    Server server({}, o, {});
    return server.url();
  };
  EXPECT_THROW(make("0.0.0.0", false), InputError);
  EXPECT_THROW(make("192.0.2.1", false), InputError);
  EXPECT_THROW(make("192.0.2.1", true), InputError);  // not ours
  EXPECT_THROW(make("example.org", true), InputError);
  EXPECT_THROW(make("", false, 65536), InputError);
  EXPECT_THROW(make("", false, -1), InputError);
  EXPECT_TRUE(make("127.0.0.1", false).starts_with("http://127.0.0.1:"));
  EXPECT_TRUE(make("0.0.0.0", true).starts_with("http://127.0.0.1:"));
  Host host;
  EXPECT_THROW(make("127.0.0.1", false, host.server.port()), InputError);
}

TEST(WebRules, RemoteServersTakeAddressesByNumbersButNoNames) {
  const HostRule local(8000, false);
  const HostRule remote(8000, true, "robot");
  EXPECT_TRUE(local.allows("localhost:8000"));
  EXPECT_FALSE(local.allows("localhost:8001"));
  EXPECT_FALSE(local.allows("192.168.0.7:8000"));
  EXPECT_TRUE(remote.allows("192.168.0.7:8000"));
  EXPECT_TRUE(remote.allows("192.168.0.7:80"));
  EXPECT_TRUE(remote.allows("[fe80::1]:8000"));
  EXPECT_TRUE(remote.allows("robot:8000"));
  EXPECT_FALSE(remote.allows("evil.example:8000"));
  EXPECT_FALSE(remote.allows("192.168.0.7.evil.example:8000"));
  EXPECT_FALSE(remote.allows("fe80::1:8000"));
  EXPECT_FALSE(remote.allows(std::string("127.0.0.1\0:8000", 15)));
  EXPECT_TRUE(HostRule(80, false).allows("localhost"));
}

TEST(WebRules, TokensDifferAndAreCompared) {
  const std::string a = new_token();
  EXPECT_EQ(a.size(), 32U);
  EXPECT_EQ(a.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(a, new_token());
  EXPECT_TRUE(equal_in_constant_time(a, std::string(a)));
  EXPECT_FALSE(equal_in_constant_time(a, a.substr(1)));
  EXPECT_FALSE(equal_in_constant_time("", a));
}

}  // namespace
}  // namespace sarrus::server_test
