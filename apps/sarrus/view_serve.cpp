#include "view_serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "graceful_stop.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/view/mailbox.h"
#include "sarrus/view/page.h"
#include "sarrus/view/viewer_files.h"

namespace sarrus::app {
namespace {

// A page of this user alone that leads to the address: arguments of programs are seen by all users of the machine, and
// the address holds the token. Removed with this.
class Doorway {
 public:
  explicit Doorway(const std::string& url) {
    const char* own = std::getenv("XDG_RUNTIME_DIR");
    std::error_code none;
    for (const std::filesystem::path& folder :
         {std::filesystem::path(own == nullptr ? "" : own), std::filesystem::temp_directory_path(none)}) {
      if (folder.empty()) continue;
      std::string name = folder / "sarrus-view-XXXXXX.html";
      const int file = mkostemps(name.data(), 5, O_CLOEXEC);  // 0600
      if (file < 0) continue;
      const std::string page = fmt::format(
          "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>Sarrus</title>"
          "<meta http-equiv=\"refresh\" content=\"0;url={0}\"><a href=\"{0}\">Sarrus</a>\n",
          url);
      const bool written = write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size());
      close(file);
      if (written) {
        path_ = name;
        return;
      }
      unlink(name.c_str());
    }
  }
  ~Doorway() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  Doorway(const Doorway&) = delete;
  Doorway& operator=(const Doorway&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;  // empty: it cannot be written
};

// Without a shell: the path is one argument. Twice removed, so that nobody waits for the browser.
void open_in_browser(const std::string& path) {
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    if (fork() == 0) {
      setsid();
      const int null = open("/dev/null", O_RDWR);
      for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
      char program[] = "xdg-open";
      std::string page = path;
      char* arguments[] = {program, page.data(), nullptr};
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
  std::optional<Doorway> doorway;
  if (options.open) doorway.emplace(server.url());
  if (doorway && !doorway->path().empty()) open_in_browser(doorway->path());
  while (!stop.requested()) {
    // A signal ends no wait: it is looked for ten times a second.
    mail.deliver(*speaker, std::min(0.1, speaker->advance()));
  }
  finish();
  speaker->end();
  server.stop();
}

}  // namespace sarrus::app
