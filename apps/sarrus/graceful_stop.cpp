#include "graceful_stop.h"

#include <csignal>

#include "sarrus/files/whole_file.h"

namespace sarrus::app {
namespace {

volatile std::sig_atomic_t stops_gracefully = 0;
volatile std::sig_atomic_t stop_requested = 0;

extern "C" void end_or_ask(int signal) {
  if (stops_gracefully != 0 && stop_requested == 0) {
    stop_requested = 1;
    return;
  }
  OutputFile::remove_partial_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void handle_signals() {
  // A file that grows beyond the limit of the shell is then an error of its output, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, end_or_ask) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

GracefulStop::GracefulStop() {
  stop_requested = 0;
  stops_gracefully = 1;
}

GracefulStop::~GracefulStop() { stops_gracefully = 0; }

bool GracefulStop::requested() const { return stop_requested != 0; }

}  // namespace sarrus::app
