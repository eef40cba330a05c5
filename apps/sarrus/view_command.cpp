// `sarrus view`: a simulation, or a recording, in the browser.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "run_options.h"
#include "run_outputs.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/math/error.h"
#include "sarrus/view/motion_payload.h"
#include "sarrus/view/playback.h"
#include "sarrus/view/recorded_run.h"
#include "sarrus/view/scene_view.h"
#include "sarrus/view/session.h"
#include "scene_argument.h"
#include "view_serve.h"

namespace sarrus::app {
namespace {

struct ViewArguments {
  SceneArgument scene;
  SimulationOptions options;
  view::SessionOptions session;
  ServeOptions serve;
  std::string record;
  int record_every = 1;
  std::string compare;
};

bool is_recording(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  char start[8] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(start, sizeof start);
  return file.gcount() == 8 && std::string_view(start, 8) == "\x89HDF\r\n\x1a\n";
}

view::Message recorded(char type, const std::string& option, const std::string& path) {
  if (!is_recording(path))
    throw InputError(fmt::format("{} {}", option, path), "is no recording (HDF5) of `sarrus run --record`");
  view::RecordedRun run = view::load_recorded_run(path);
  return view::typed_message(type, view::fitted_payload(run.scene, run.facts, std::move(run.motion)));
}

// The steps of a live simulation as outputs of a run. What it has written it cannot take back: where the user goes back
// and does something else, the recording ends.
class Recorder {
 public:
  Recorder(const ViewArguments& a, const Simulation& sim)
      : outputs_(run_arguments(a)),
        summary_({sim.model().name(), sim.model().defaults().duration, sim.options(), SARRUS_VERSION}, sim.state(),
                 energy(sim.model(), sim.state())) {
    outputs_.begin(sim, summary_.info());
  }

  void step(const Simulation& sim, std::int64_t index) {
    if (ended_) return;
    const Energy now = energy(sim.model(), sim.state());
    summary_.add(sim.report(), now);
    outputs_.step({sim, now, index, false});
    last_ = index;
  }
  // Whether that ends it.
  bool branch(const Simulation& sim, std::int64_t index) {
    if (ended_ || index >= last_) return false;
    finish(sim);
    return true;
  }
  void finish(const Simulation& sim) {
    if (ended_) return;
    ended_ = true;
    summary_.finish(sim.state(), sim.energy_bound());
    outputs_.finish(sim, summary_);
  }
  void rethrow() const { outputs_.rethrow(); }

 private:
  static RunArguments run_arguments(const ViewArguments& a) {
    RunArguments r;
    r.record = a.record;
    r.record_every = a.record_every;
    return r;
  }

  RunOutputs outputs_;
  RunSummary summary_;
  std::int64_t last_ = 0;
  bool ended_ = false;
};

double wall_time() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void view_simulation(ViewArguments a) {
  ImportReport report;
  a.scene.import.visuals = true;
  const Model model = resolve_scene(a.scene, &report);
  print_warnings(report);
  Simulation sim(model, a.options);
  const view::Scene scene = view::scene_of(model, sim.state().X_WB);
  const RunInfo info{model.name(), model.defaults().duration, sim.options(), SARRUS_VERSION};
  const view::Message message = view::typed_message(1, view::scene_payload(scene, view::facts_of(info)));
  const view::Message compare = a.compare.empty() ? nullptr : recorded(5, "--compare", a.compare);
  a.session.follow = scene.follow;
  a.serve.title = model.name();
  std::optional<Recorder> recorder;
  if (!a.record.empty()) recorder.emplace(a, sim);
  const view::Session* live = nullptr;
  serve(
      a.serve,
      [&](view::Speaker::Send send) {
        view::SessionEvents events;
        auto told = std::make_shared<view::Session*>(nullptr);
        if (recorder) {
          events.stepped = [&recorder](const Simulation& s, std::int64_t index) { recorder->step(s, index); };
          events.branched = [&recorder, told](std::int64_t index) {
            if (recorder->branch((*told)->simulation(), index)) {
              (*told)->tell("warning", "the recording ends here: it cannot go back");
            }
          };
        }
        auto session = std::make_unique<view::Session>(std::move(sim), message, compare, a.session, std::move(send),
                                                       wall_time, std::move(events));
        *told = session.get();
        live = session.get();
        return session;
      },
      [&] {
        if (recorder) recorder->finish(live->simulation());
      });
  if (recorder) recorder->rethrow();
}

void view_recording(ViewArguments a) {
  const view::Message motion = recorded(4, "recording", a.scene.scene);
  const view::Message compare = a.compare.empty() ? nullptr : recorded(5, "--compare", a.compare);
  a.serve.title = std::filesystem::path(a.scene.scene).filename().string();
  serve(a.serve,
        [&](view::Speaker::Send send) { return std::make_unique<view::Playback>(motion, compare, std::move(send)); });
}

// Options that a recording has no use for are a mistake of whoever gives them.
void check(const CLI::App& command, const ViewArguments& a) {
  const double x = a.session.speed;
  if (!(x >= 1e-4 && x <= 100)) throw InputError("--speed", fmt::format("is {}; give a number from 0.0001 to 100", x));
  if (!(a.session.history > 0 && a.session.history <= 1e6)) {
    throw InputError("--history", fmt::format("is {}; give a number of seconds > 0", a.session.history));
  }
  if (a.record_every < 1) throw InputError("--record-every", fmt::format("is {}; give a number >= 1", a.record_every));
  if (!is_recording(a.scene.scene)) return;
  for (const CLI::Option* o : command.get_options([](const CLI::Option* option) { return option->count() > 0; })) {
    const std::string name = o->get_name();
    bool fits = name == "scene";
    for (const char* known : {"--port", "--host", "--allow-remote", "--no-open", "--compare", "--viewer"}) {
      fits = fits || name == known;
    }
    if (!fits) throw InputError(name, "is for a simulation; a recording is played by the page");
  }
}

}  // namespace

void add_view_command(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<ViewArguments>();
  CLI::App* command = app.add_subcommand("view", "Play with a scene, or watch a recording, in the browser");
  a->scene.add_to(*command);
  add_simulation_options(*command, a->options);
  command->add_flag("--paused", a->session.paused, "Begin with the initial state, not playing");
  command->add_option("--speed", a->session.speed, "Simulated seconds per second; default: 1")->type_name("X");
  command->add_option("--history", a->session.history, "Simulated time [s] that can be gone back; default: 10")
      ->type_name("S");
  command->add_option("--record", a->record, "Write what is simulated as HDF5 recording, complete at the end")
      ->type_name("FILE");
  command->add_option("--record-every", a->record_every, "Record every N-th step (and the last)")->type_name("N");
  command->add_option("--save", a->session.save, "Where the page may save the state, as checkpoint for `run --resume`")
      ->type_name("FILE");
  command->add_option("--compare", a->compare, "A second recording, drawn dashed in the plots")->type_name("FILE");
  command->add_option("--port", a->serve.server.port, "Port; default: 0, any that is free")->type_name("N");
  command->add_flag("!--no-open", a->serve.open, "Print the address and open no browser");
  command->add_option("--host", a->serve.server.host, "Address to listen at instead of 127.0.0.1")
      ->type_name("ADDRESS");
  command->add_flag("--allow-remote", a->serve.server.allow_remote, "Let --host be one that other machines reach");
  command->add_option("--viewer", a->serve.viewer, "Files of the page to serve, for its developers (viewer/dist)")
      ->type_name("FOLDER");
  command->footer(
      "The first line of the output is the address of the page. It holds a key: only who has it gets in. The server\n"
      "listens to this machine alone. Space plays and pauses, arrows step forward and back, ctrl-drag pulls a body;\n"
      "? in the page lists the keys (docs/viewer.md). Ctrl-C ends it; the recording is then complete.\n"
      "Exit codes: 0 ok, 2 bad input or an output that cannot be written.");
  command->callback([a, command, &exit_code] {
    check(*command, *a);
    if (is_recording(a->scene.scene)) {
      view_recording(*a);
    } else {
      view_simulation(*a);
    }
    exit_code = kExitOk;
  });
}

}  // namespace sarrus::app
