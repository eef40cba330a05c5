// `sarrus view`: a simulation, or a recording, in the browser.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
  std::string dump_problems;
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
// and does something else, where a step fails, and where the file cannot be written any more, the recording ends.
class Recorder {
 public:
  using Tell = std::function<void(std::string_view why)>;  // that it ends

  Recorder(const ViewArguments& a, const Simulation& sim)
      : every_(a.record_every),
        outputs_(run_arguments(a)),
        summary_({sim.model().name(), sim.model().defaults().duration, sim.options(), SARRUS_VERSION}, sim.state(),
                 energy(sim.model(), sim.state())) {
    outputs_.begin(sim, summary_.info());
  }

  void tell_by(Tell tell) { tell_ = std::move(tell); }
  void step(const Simulation& sim, std::int64_t index) {
    if (ended_) return;
    const Energy now = energy(sim.model(), sim.state());
    summary_.add(sim.report(), now);
    outputs_.step({sim, now, index, false});
    last_ = index;
    if (index % every_ == 0) written_ = index;
    look_after();
  }
  // Of every N-th step and the last: where that is seen no more it is written now.
  void leave(const Simulation& sim, std::int64_t index) {
    if (ended_ || index != last_ || written_ == last_) return;
    outputs_.step({sim, energy(sim.model(), sim.state()), index, true});
    written_ = index;
    look_after();
  }
  void fail(const Simulation& sim, std::int64_t index) {
    if (ended_) return;
    const Energy now = energy(sim.model(), sim.state());
    summary_.add(sim.report(), now);
    outputs_.step({sim, now, index, false});
    end(sim, "a step failed");
  }
  void branch(const Simulation& sim, std::int64_t index) {
    if (!ended_ && index < last_) end(sim, "it cannot go back");
  }
  void finish(const Simulation& sim, std::int64_t index) {
    leave(sim, index);
    if (std::exchange(ended_, true)) return;
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

  void end(const Simulation& sim, std::string_view why) {
    ended_ = true;
    summary_.finish(sim.state(), sim.energy_bound());
    outputs_.finish(sim, summary_);
    look_after();
    if (tell_ && !outputs_.failed()) tell_(why);
  }
  void look_after() {
    if (!outputs_.failed()) return;
    ended_ = true;
    if (!tell_) return;
    try {
      outputs_.rethrow();
    } catch (const std::exception& e) {
      std::exchange(tell_, nullptr)(e.what());
    }
  }

  int every_;
  RunOutputs outputs_;
  RunSummary summary_;
  Tell tell_;
  std::int64_t last_ = 0, written_ = 0;  // steps
  bool ended_ = false;
};

// Writes problems on demand, and those of steps that fail, with the names of `sarrus run --dump-problems`.
class ProblemDump {
 public:
  ProblemDump(const std::string& folder, const RunInfo& info, const Simulation& sim)
      : folder_(folder), sink_(problem_sink(folder, 1)) {
    sink_->begin(sim, info);
  }
  std::string write(const Simulation& sim, std::int64_t index) {
    sink_->step({sim, energy(sim.model(), sim.state()), index, false});
    return problem_file(folder_, sim.model().name(), index);
  }

 private:
  std::string folder_;
  std::unique_ptr<RunSink> sink_;
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
  std::optional<ProblemDump> problems;
  if (!a.dump_problems.empty()) problems.emplace(a.dump_problems, info, sim);
  view::Session* live = nullptr;
  view::SessionEvents events;
  if (recorder) {
    events.stepped = [&](const Simulation& s, std::int64_t index) { recorder->step(s, index); };
    events.left = [&](const Simulation& s, std::int64_t index) { recorder->leave(s, index); };
    events.branched = [&](std::int64_t index) { recorder->branch(live->simulation(), index); };
    recorder->tell_by([&](std::string_view why) {
      live->tell("warning", fmt::format("the recording {} ends here: {}", a.record, why));
    });
  }
  events.failed = [&](const Simulation& s, std::int64_t index) {
    if (recorder) recorder->fail(s, index);
    if (!problems) return;
    try {
      problems->write(s, index);
    } catch (const std::exception& e) {
      live->tell("warning", e.what());
    }
  };
  if (problems) events.dump = [&](const Simulation& s, std::int64_t index) { return problems->write(s, index); };
  serve(
      a.serve,
      [&](view::Speaker::Send send) {
        auto session = std::make_unique<view::Session>(std::move(sim), message, compare, a.session, std::move(send),
                                                       wall_time, std::move(events));
        live = session.get();
        return session;
      },
      [&] {
        if (recorder) recorder->finish(live->simulation(), live->index());
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
  command
      ->add_option("--dump-problems", a->dump_problems,
                   "Where the page may write the constraint problem of a step, for `sarrus solve`; those of steps "
                   "that fail are written")
      ->type_name("DIR");
  command->add_option("--save", a->session.save, "Where the page may save the state, as checkpoint for `run --resume`")
      ->type_name("FILE");
  command->add_option("--compare", a->compare, "A second recording, a ghost in the picture and dashed in the plots")
      ->type_name("FILE");
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
