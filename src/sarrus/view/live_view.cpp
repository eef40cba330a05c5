#include "sarrus/view/live_view.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "sarrus/view/mailbox.h"
#include "sarrus/view/mirror.h"
#include "sarrus/view/motion_payload.h"
#include "sarrus/view/page.h"
#include "sarrus/view/server.h"
#include "sarrus/view/viewer_files.h"

namespace sarrus::view {

struct LiveView::Impl {
  Mailbox mail;
  Scene scene;
  Server server;
  std::mutex mutex;  // of the mirror
  Mirror mirror;
  std::atomic<bool> ends = false;
  std::thread speaker;

  static ServerFiles files(const Model& model) {
    return {served_page(model.name()), viewer_text("style.css"), viewer_text("vendor.js"), viewer_text("app.js")};
  }
  static ServerOptions options(int port) {
    ServerOptions o;
    o.port = port;
    return o;
  }
  Server::Events events() {
    Server::Events e;
    e.connected = [this](int page) { mail.connected(page); };
    e.received = [this](int page, std::string text) { mail.received(page, std::move(text)); };
    e.gone = [this](int page) { mail.gone(page); };
    return e;
  }

  Impl(const Simulation& sim, const std::string& version, int port)
      : scene(scene_of(sim.model(), sim.state().X_WB)),
        server(files(sim.model()), options(port), events()),
        mirror(typed_message(1, scene_payload(scene, facts_of({sim.model().name(), 0, sim.options(), version}))),
               Layout(scene), [this](int page, const Message& message) { server.send(page, message); }) {
    mirror.show(sim, 0);
    speaker = std::thread([this] { speak(); });
  }

  // What the pages say is taken at once, what they are told within 10 ms.
  void speak() {
    struct Locked final : Speaker {
      explicit Locked(Impl& all) : all_(all) {}
      void connect(int page) override {
        const std::lock_guard lock(all_.mutex);
        all_.mirror.connect(page);
      }
      void disconnect(int page) override {
        const std::lock_guard lock(all_.mutex);
        all_.mirror.disconnect(page);
      }
      void receive(int page, std::string_view text) override {
        const std::lock_guard lock(all_.mutex);
        all_.mirror.receive(page, text);
      }
      double advance() override {
        const std::lock_guard lock(all_.mutex);
        return all_.mirror.advance();
      }
      void end() override { all_.mirror.end(); }
      Impl& all_;
    } locked(*this);
    while (!ends) {
      mail.deliver(locked, 0.01);
      locked.advance();
    }
  }

  ~Impl() {
    ends = true;
    speaker.join();
    mirror.end();
    server.stop();
  }
};

LiveView::LiveView(const Simulation& sim, const std::string& version, int port)
    : impl_(std::make_unique<Impl>(sim, version, port)) {}
LiveView::~LiveView() = default;

std::string LiveView::url() const { return impl_->server.url(); }

int LiveView::pages() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->mirror.pages();
}

void LiveView::show(const Simulation& sim, std::int64_t steps) {
  const std::lock_guard lock(impl_->mutex);
  impl_->mirror.show(sim, steps);
}

}  // namespace sarrus::view
