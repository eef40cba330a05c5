// The only source that includes Boost.Beast, and nothing of Eigen: headers of the network define names that Eigen uses.
#include "sarrus/view/server.h"

#include <fcntl.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "sarrus/math/error.h"
#include "sarrus/view/web_rules.h"

namespace sarrus::view {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;
using Request = http::request<http::empty_body>;
using Response = http::response<http::string_body>;

constexpr double kHelloTime = 2;     // s
constexpr double kRequestTime = 10;  // s
constexpr double kLingerTime = 1;    // s
constexpr double kIdleTime = 40;     // s: a ping after half of it
constexpr std::size_t kMaxQueue = 64;

std::string_view text_of(boost::string_view s) { return {s.data(), s.size()}; }

}  // namespace

struct Server::Impl {
  Impl(ServerFiles files_in, const ServerOptions& options, Events events_in);

  class Connection;
  class Page;
  // A connection that has not said the token, while it lives. Where there are too many, the oldest is closed: whoever
  // is slow locks out nobody.
  class Stranger {
   public:
    Stranger(Impl& impl, std::function<void()> close) : impl_(impl), number_(impl.next_stranger++) {
      if (impl.strangers.size() >= kMaxStrangers) {
        const std::function<void()> close_oldest = std::move(impl.strangers.begin()->second);
        impl.strangers.erase(impl.strangers.begin());
        close_oldest();
      }
      impl.strangers.emplace(number_, std::move(close));
    }
    ~Stranger() { impl_.strangers.erase(number_); }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;

   private:
    Impl& impl_;
    const long number_;
  };

  void listen(const tcp::endpoint& endpoint);
  void accept(tcp::acceptor& acceptor);
  Response answer(const Request& request);
  std::chrono::steady_clock::duration seconds(double s) const {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(s * time));
  }
  void run();
  void stop();
  void end_if_idle();

  ServerFiles files;
  Events events;
  HostRule rule;
  bool remote;
  double time;
  std::string host;
  int port = 0;
  std::string token = new_token();
  long next_stranger = 1;
  std::map<long, std::function<void()>> strangers;  // how each is closed; outlives what waits in io
  asio::io_context io{1};
  std::vector<std::unique_ptr<tcp::acceptor>> acceptors;
  asio::steady_timer last_moment{io};
  int next_page = 1;
  bool ending = false;
  std::map<int, std::shared_ptr<Page>> pages;
  std::thread thread;
};

// A WebSocket: silent until it has said hello.
class Server::Impl::Page : public std::enable_shared_from_this<Page> {
 public:
  Page(Impl& impl, tcp::socket socket) : impl_(impl), stream_(std::move(socket)), hello_(impl.io) {}

  void start(const Request& request) {
    stranger_.emplace(impl_, [self = weak_from_this()] {
      if (const auto page = self.lock()) page->cut();
    });
    // The WebSocket has times of its own.
    beast::get_lowest_layer(stream_).expires_never();
    stream_.set_option(websocket::stream_base::timeout{impl_.seconds(kHelloTime), impl_.seconds(kIdleTime), true});
    stream_.read_message_max(kMaxCommandBytes);
    stream_.binary(true);
    stream_.auto_fragment(false);
    hello_.expires_after(impl_.seconds(kHelloTime));
    hello_.async_wait([self = weak_from_this()](error_code e) {
      const auto page = self.lock();
      if (!e && page && page->number_ == 0) page->cut();
    });
    stream_.async_accept(request, [self = shared_from_this()](error_code e) {
      if (!e) self->read();
    });
  }

  void send(const Message& message) {
    if (cut_) return;
    if (queue_.size() >= kMaxQueue) {
      cut();
      return;
    }
    queue_.push_back(message);
    if (queue_.size() == 1) write();
  }
  bool idle() const { return queue_.empty(); }
  // Without a word: an attacker learns nothing, and who does not answer is not waited for.
  void cut() {
    if (std::exchange(cut_, true)) return;
    hello_.cancel();
    error_code ignored;
    beast::get_lowest_layer(stream_).socket().close(ignored);
    leave();
  }

 private:
  void read() {
    stream_.async_read(buffer_, [self = shared_from_this()](error_code e, std::size_t) { self->take(e); });
  }

  void take(error_code e) {
    if (e || cut_) {
      cut();
      return;
    }
    const std::string text = beast::buffers_to_string(buffer_.data());
    buffer_.consume(buffer_.size());
    if (number_ == 0) {
      if (!stream_.got_text() || !is_hello(text, impl_.token) || impl_.pages.size() >= kMaxPages) {
        cut();
        return;
      }
      hello_.cancel();
      stranger_.reset();
      stream_.read_message_max(kMaxMessageBytes);
      number_ = impl_.next_page++;
      impl_.pages.emplace(number_, shared_from_this());
      impl_.events.connected(number_);
    } else if (stream_.got_text()) {
      impl_.events.received(number_, text);
    } else {
      cut();
      return;
    }
    read();
  }

  void write() {
    stream_.async_write(asio::buffer(*queue_.front()), [self = shared_from_this()](error_code e, std::size_t) {
      if (e || self->cut_) {
        self->cut();
        return;
      }
      self->queue_.pop_front();
      if (!self->queue_.empty()) self->write();
      self->impl_.end_if_idle();
    });
  }

  void leave() {
    if (number_ == 0 || impl_.pages.erase(number_) == 0) return;
    impl_.events.gone(number_);
    impl_.end_if_idle();
  }

  Impl& impl_;
  std::optional<Stranger> stranger_;
  websocket::stream<beast::tcp_stream> stream_;
  asio::steady_timer hello_;
  beast::flat_buffer buffer_;
  std::deque<Message> queue_;
  int number_ = 0;
  bool cut_ = false;
};

// One request: answered and closed, or handed on to a Page.
class Server::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& impl, tcp::socket socket) : impl_(impl), stream_(std::move(socket)), buffer_(2 * kMaxHeaderBytes) {}

  void start() {
    stranger_.emplace(impl_, [self = weak_from_this()] {
      if (const auto connection = self.lock()) connection->stream_.close();
    });
    parser_.header_limit(kMaxHeaderBytes);
    parser_.body_limit(0);
    stream_.expires_after(impl_.seconds(kRequestTime));
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](error_code e, std::size_t) { self->take(e); });
  }

 private:
  void take(error_code e) {
    if (e == http::error::end_of_stream || e == beast::error::timeout) return;
    if (e) {
      const bool of_http = e.category() == http::make_error_code(http::error::end_of_stream).category();
      if (!of_http) return;
      response_ = Response(e == http::error::header_limit || e == http::error::buffer_overflow
                               ? http::status::request_header_fields_too_large
                               : http::status::bad_request,
                           11);
    } else {
      const Request& request = parser_.get();
      const bool has_body = !parser_.is_done() || request.count(http::field::transfer_encoding) > 0;
      response_ = has_body ? Response(http::status::bad_request, 11) : impl_.answer(request);
      if (response_.result() == http::status::switching_protocols) {
        stream_.expires_never();
        stranger_.reset();
        std::make_shared<Page>(impl_, stream_.release_socket())->start(request);
        return;
      }
    }
    if (response_.result_int() >= 400 && response_.body().empty()) response_.body() = std::string(response_.reason());
    response_.keep_alive(false);
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](error_code error, std::size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      self->stream_.expires_after(self->impl_.seconds(kLingerTime));
      if (!error) self->linger();
    });
  }

  // A socket that is closed with input unread takes its answer back.
  void linger() {
    stream_.async_read_some(asio::buffer(rest_), [self = shared_from_this()](error_code e, std::size_t n) {
      self->lingered_ += n;
      if (!e && self->lingered_ < kMaxMessageBytes) self->linger();
    });
  }

  Impl& impl_;
  std::optional<Stranger> stranger_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  Response response_;
  std::array<char, 4096> rest_ = {};
  std::size_t lingered_ = 0;
};

Server::Impl::Impl(ServerFiles files_in, const ServerOptions& options, Events events_in)
    : files(std::move(files_in)), events(std::move(events_in)), remote(options.allow_remote), time(options.time) {
  if (options.port < 0 || options.port > 65535) {
    throw InputError("--port", "is " + std::to_string(options.port) + "; give 0 (any) to 65535");
  }
  error_code e;
  const bool given = !options.host.empty();
  const asio::ip::address address = asio::ip::make_address(given ? options.host : "127.0.0.1", e);
  if (e) throw InputError("--host " + options.host, "is no address; give one by numbers, such as 0.0.0.0");
  if (!address.is_loopback() && !remote) {
    throw InputError("--host " + options.host,
                     "can be reached by other machines; add --allow-remote if that is what you want");
  }
  listen({address, static_cast<unsigned short>(options.port)});
  port = acceptors.front()->local_endpoint().port();
  if (!given) {
    try {
      listen({asio::ip::address_v6::loopback(), static_cast<unsigned short>(port)});
    } catch (const InputError&) {
      // There is no IPv6 here, or the port is taken there: the other address is the one that is told.
    }
  }
  const bool any = address.is_unspecified();
  host = any               ? (address.is_v6() ? "[::1]" : "127.0.0.1")
         : address.is_v6() ? "[" + address.to_string() + "]"
                           : address.to_string();
  rule = HostRule(port, remote, host);
  for (const auto& a : acceptors) accept(*a);
}

void Server::Impl::listen(const tcp::endpoint& endpoint) {
  auto acceptor = std::make_unique<tcp::acceptor>(io);
  error_code e;
  acceptor->open(endpoint.protocol(), e);
  if (!e && endpoint.address().is_v6()) acceptor->set_option(boost::asio::ip::v6_only(true), e);
  if (!e) acceptor->set_option(asio::socket_base::reuse_address(true), e);
  if (!e) acceptor->bind(endpoint, e);
  // The browser that is started must not keep the port.
  if (!e) ::fcntl(acceptor->native_handle(), F_SETFD, FD_CLOEXEC);
  if (!e) acceptor->listen(asio::socket_base::max_listen_connections, e);
  if (e) {
    throw InputError("--port " + std::to_string(endpoint.port()),
                     "cannot be listened to (" + e.message() + "); give another one, or 0 for any");
  }
  acceptors.push_back(std::move(acceptor));
}

void Server::Impl::accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([this, &acceptor](error_code e, tcp::socket socket) {
    if (e == asio::error::operation_aborted || !acceptor.is_open()) return;
    if (e) {
      // No descriptor is free, say: the connection still waits, and to ask for it again at once would never end.
      const auto pause = std::make_shared<asio::steady_timer>(io, std::chrono::milliseconds(100));
      pause->async_wait([this, pause, &acceptor](error_code) {
        if (acceptor.is_open()) accept(acceptor);
      });
      return;
    }
    accept(acceptor);  // first: should memory run out below, others are still let in
    std::make_shared<Connection>(*this, std::move(socket))->start();
  });
}

// 101 for a WebSocket that is let in.
Response Server::Impl::answer(const Request& request) {
  const auto only = [&](http::field name) {
    return request.count(name) == 1 ? std::optional(text_of(request[name])) : std::nullopt;
  };
  const auto host_given = only(http::field::host);
  if (!host_given || request.version() != 11) return Response(http::status::bad_request, 11);
  if (!rule.allows(*host_given)) return Response(http::status::forbidden, 11);
  if (request.method() != http::verb::get) {
    Response refused(http::status::method_not_allowed, 11);
    refused.set(http::field::allow, "GET");
    return refused;
  }
  const std::string_view path = text_of(request.target());
  const bool upgrade = websocket::is_upgrade(request);
  if (path == "/ws") {
    const auto origin = only(http::field::origin);
    if (!origin || !is_own_origin(*origin, *host_given)) return Response(http::status::forbidden, 11);
    return Response(upgrade ? http::status::switching_protocols : http::status::upgrade_required, 11);
  }
  if (path == "/" && events.files) files = events.files();
  struct File {
    std::string_view path;
    const std::string& body;
    const char* type;
  };
  const File known[] = {{"/", files.page, "text/html; charset=utf-8"},
                        {"/style.css", files.style, "text/css; charset=utf-8"},
                        {"/vendor.js", files.vendor, "text/javascript; charset=utf-8"},
                        {"/app.js", files.app, "text/javascript; charset=utf-8"}};
  for (const File& file : known) {
    if (path != file.path || upgrade) continue;
    Response found(http::status::ok, 11);
    found.set(http::field::content_type, file.type);
    found.set(http::field::cache_control, "no-store");
    found.set("Content-Security-Policy", served_policy(*host_given));
    found.set("X-Content-Type-Options", "nosniff");
    found.set("X-Frame-Options", "DENY");
    found.set("Referrer-Policy", "no-referrer");
    found.set("Cross-Origin-Resource-Policy", "same-origin");
    found.set("Cross-Origin-Opener-Policy", "same-origin");
    found.body() = file.body;
    return found;
  }
  return Response(http::status::not_found, 11);
}

// Out of memory for one connection is no end of the others.
void Server::Impl::run() {
  while (true) {
    try {
      io.run();
      return;
    } catch (const std::exception&) {
    }
  }
}

void Server::Impl::stop() {
  for (const auto& a : acceptors) {
    error_code ignored;
    a->close(ignored);
  }
  ending = true;
  last_moment.expires_after(std::chrono::milliseconds(500));
  last_moment.async_wait([this](error_code) { io.stop(); });
  end_if_idle();
}

void Server::Impl::end_if_idle() {
  if (!ending) return;
  for (const auto& [number, page] : pages) {
    if (!page->idle()) return;
  }
  io.stop();
}

Server::Server(ServerFiles files, const ServerOptions& options, Events events)
    : impl_(std::make_unique<Impl>(std::move(files), options, std::move(events))) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

Server::~Server() { stop(); }

int Server::port() const { return impl_->port; }
const std::string& Server::token() const { return impl_->token; }
std::string Server::url() const {
  return "http://" + impl_->host + ":" + std::to_string(impl_->port) + "/#" + impl_->token;
}

void Server::send(int page, const Message& message) {
  asio::post(impl_->io, [impl = impl_.get(), page, message] {
    const auto known = impl->pages.find(page);
    if (known == impl->pages.end()) return;
    const std::shared_ptr<Impl::Page> keep = known->second;
    keep->send(message);
  });
}

void Server::stop() {
  if (!impl_->thread.joinable()) return;
  asio::post(impl_->io, [impl = impl_.get()] { impl->stop(); });
  impl_->thread.join();
  impl_->pages.clear();
}

}  // namespace sarrus::view
