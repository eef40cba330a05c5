// Serves pages until the user has enough: the server in its own thread, the speaker in this one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sarrus/view/server.h"
#include "sarrus/view/speaker.h"

namespace sarrus::app {

struct ServeOptions {
  view::ServerOptions server;
  bool open = true;  // in the browser
  std::string title;
  std::string viewer;  // folder whose files are served instead of those that are built in, read anew for every page
};

// Prints the address, and serves what `make` returns until SIGINT, SIGTERM or SIGHUP; then calls `finish`, while it is
// still there.
void serve(
    const ServeOptions& options, const std::function<std::unique_ptr<view::Speaker>(view::Speaker::Send)>& make,
    const std::function<void()>& finish = [] {});

}  // namespace sarrus::app
