// A view beside a program that steps a simulation: the server, and a thread that speaks to the pages while the program
// does something else. The simulation is read in show() alone, by the thread that calls it.
#pragma once

#include <memory>
#include <string>

#include "sarrus/step/simulation.h"

namespace sarrus::view {

class LiveView {
 public:
  // Listens at 127.0.0.1 and this port (0: any that is free), to this machine alone, and shows the present state.
  // Throws InputError if the port is taken.
  LiveView(const Simulation& sim, const std::string& version, int port = 0);
  // Tells the pages that it ends.
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // With the token that lets a browser in.
  std::string url() const;
  int pages() const;  // that are open now
  // The present state, so many steps after the last that was shown; 0: it was set.
  void show(const Simulation& sim, std::int64_t steps);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sarrus::view
