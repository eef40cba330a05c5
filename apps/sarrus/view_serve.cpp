#include "view_serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "graceful_stop.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/view/mailbox.h"
#include "sarrus/view/page.h"
#include "sarrus/view/viewer_files.h"

namespace sarrus::app {
namespace {

// Without a shell: the address is one argument. Twice removed, so that nobody waits for the browser.
void open_in_browser(const std::string& url) {
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    if (fork() == 0) {
      setsid();
      const int null = open("/dev/null", O_RDWR);
      for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
      char program[] = "xdg-open";
      std::string address = url;
      char* arguments[] = {program, address.data(), nullptr};
      execvp(program, arguments);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

view::ServerFiles built_in(const std::string& title) {
  return {view::served_page(title), view::viewer_text("style.css"), view::viewer_text("vendor.js"),
          view::viewer_text("app.js")};
}

view::ServerFiles from_disk(const std::string& folder, const std::string& title) {
  constexpr std::uintmax_t kMost = 64 << 20;
  const auto file = [&](const char* name) {
    return read_file(std::filesystem::path(folder) / name, "a file of the viewer", kMost);
  };
  return {view::served_page(title), file("style.css"), file("vendor.js"), file("app.js")};
}

}  // namespace

void serve(const ServeOptions& options, const std::function<std::unique_ptr<view::Speaker>(view::Speaker::Send)>& make,
           const std::function<void()>& finish) {
  const GracefulStop stop;
  view::Mailbox mail;
  view::Server::Events events;
  events.connected = [&](int page) { mail.connected(page); };
  events.received = [&](int page, std::string text) { mail.received(page, std::move(text)); };
  events.gone = [&](int page) { mail.gone(page); };
  view::ServerFiles files = options.viewer.empty() ? built_in(options.title) : from_disk(options.viewer, options.title);
  if (!options.viewer.empty()) events.files = [&] { return from_disk(options.viewer, options.title); };
  view::Server server(std::move(files), options.server, std::move(events));
  const std::unique_ptr<view::Speaker> speaker =
      make([&server](int page, const view::Message& message) { server.send(page, message); });
  if (options.server.allow_remote) {
    fmt::print(
        stderr,
        "sarrus: warning: other machines can reach this view; whoever has the address with its token can steer it, "
        "and others on the way can read it\n");
  }
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  if (options.open) open_in_browser(server.url());
  while (!stop.requested()) {
    // A signal ends no wait: it is looked for ten times a second.
    mail.deliver(*speaker, std::min(0.1, speaker->advance()));
  }
  finish();
  speaker->end();
  server.stop();
}

}  // namespace sarrus::app
