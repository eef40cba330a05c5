// SIGINT, SIGTERM and SIGHUP: they end the command and leave no partial files; while a GracefulStop is there, the first
// of them only asks for the end, so that a run can complete its outputs.
#pragma once

namespace sarrus::app {

// Once, at the start of the command. Signals that are ignored (nohup) stay so.
void handle_signals();

class GracefulStop {
 public:
  GracefulStop();
  ~GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;

  bool requested() const;
};

}  // namespace sarrus::app
