// Outputs of a run, recordings, and the live view.
#include <fmt/format.h>
#include <chrono>
#include <thread>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "bindings.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/text.h"
#include "sarrus/recording/recording.h"
#include "sarrus/recording/run_summary.h"
#include "sarrus/view/html_sink.h"
#include "sarrus/view/live_view.h"
#include "sarrus/view/page.h"
#include "sarrus/view/recorded_run.h"

namespace sarrus::python {
namespace {

std::unique_ptr<RunSink> sink_for(const std::string& path, int every) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".h5" || ending == ".hdf5") return recording_sink(path, every);
  if (ending == ".html") return view::html_sink(path);
  if (ending == ".csv") return csv_sink(path);
  if (ending == ".json") return json_sink(path);
  if (ending == ".svg") return svg_sink(path);
  throw InputError(path, "its ending tells the kind of output; give .h5, .html, .csv, .json or .svg");
}

struct PyRecording {
  std::string path;
};

// The page of a recording, with a second one to compare with if it is named.
std::string page_of(const std::string& path, double fps, const std::string& compare) {
  if (!(fps >= 0 && std::isfinite(fps))) throw InputError("fps", fmt::format("is {}; give a finite number >= 0", fps));
  std::string title;
  const auto payload = [&](const std::string& file) {
    view::RecordedRun run = view::load_recorded_run(file, fps);
    if (title.empty()) title = run.scene.name;
    return view::page_payload(file, run.scene, run.facts, std::move(run.motion));
  };
  const std::string motion = payload(path);
  return view::written_page(title, motion, compare.empty() ? std::string() : payload(compare));
}

nb::object motion_of(const PyRecording& r, const PyModel& m) {
  const RecordedMotion motion = load_recording(r.path, m.model);
  const std::size_t T = motion.states.size(), n = static_cast<std::size_t>(m.model.body_count());
  std::vector<double> time, position, quaternion, twist, q;
  for (const State& s : motion.states) {
    time.push_back(s.time);
    for (const Pose& X : s.X_WB) {
      position.insert(position.end(), X.p.data(), X.p.data() + 3);
      quaternion.insert(quaternion.end(), X.q.coeffs().data(), X.q.coeffs().data() + 4);
    }
    for (const Vec6& t : s.twist) twist.insert(twist.end(), t.data(), t.data() + 6);
    q.insert(q.end(), s.q.begin(), s.q.end());
  }
  nb::dict out;
  out["time"] = array_from(std::move(time));
  out["position"] = array_from(std::move(position), {T, n, 3});
  out["quaternion_xyzw"] = array_from(std::move(quaternion), {T, n, 4});
  out["twist"] = array_from(std::move(twist), {T, n, 6});
  out["q"] = array_from(std::move(q), {T, static_cast<std::size_t>(m.model.dof_count())});
  return out;
}

nb::object state_at(const PyRecording& r, const PyModel& m, std::int64_t index) {
  RecordedMotion motion = load_recording(r.path, m.model);
  const auto n = static_cast<std::int64_t>(motion.states.size());
  if (index < -n || index >= n) throw InputError(r.path, fmt::format("has {} samples; {} is none of them", n, index));
  return state_object(std::move(motion.states[static_cast<std::size_t>(index < 0 ? index + n : index)]));
}

struct PyView {
  nb::object owner;
  PySimulation* sim;
  std::unique_ptr<view::LiveView> view;
  std::int64_t shown = 0;

  view::LiveView& open() {
    if (!view) throw InputError("view", "was closed; make another one by sarrus.view()");
    return *view;
  }
  void sync() {
    view::LiveView& v = open();
    v.show(sim->idle(), sim->steps - shown);
    shown = sim->steps;
  }
};

}  // namespace

Recorder::Recorder(nb::object owner, std::string path, int every)
    : owner_(std::move(owner)), simulation_(&nb::cast<PySimulation&>(owner_)), path_(std::move(path)), every_(every) {
  if (every < 1) throw InputError("record", fmt::format("every is {}; give a number >= 1", every));
}

Recorder::~Recorder() {
  if (!sink_) return;
  wait();
  exit(false);
}

// The thread that steps shows its steps to this recorder: it ends with them.
void Recorder::wait() const {
  const nb::gil_scoped_release release;
  while (simulation_->busy.load(std::memory_order_acquire)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Recorder::enter() {
  PySimulation& s = simulation();
  const Simulation& sim = s.idle();
  if (sink_) throw InputError(path_, "is being recorded already");
  std::unique_ptr<RunSink> sink = sink_for(path_, every_);
  const RunInfo info{sim.model().name(), sim.model().defaults().duration, sim.options(), SARRUS_VERSION};
  summary_ = std::make_unique<RunSummary>(info, sim.state(), energy(sim.model(), sim.state()));
  sink->begin(sim, summary_->info());
  sink_ = std::move(sink);
  index_ = 0;
  s.recorders.push_back(this);
}

void Recorder::step(const StepReport& report) {
  const PySimulation& s = *simulation_;
  const Energy now = energy(s.sim.model(), s.sim.state());
  summary_->add(report, now);
  sink_->step({s.sim, now, ++index_, false});
}

void Recorder::exit(bool keep) {
  if (!sink_) return;
  PySimulation& s = *simulation_;
  std::erase(s.recorders, this);
  const std::unique_ptr<RunSink> sink = std::move(sink_);
  if (!keep) return;
  summary_->finish(s.sim.state(), s.sim.energy_bound());
  sink->finish(s.sim, *summary_);
}

void bind_recording(nb::module_& m) {
  nb::class_<Recorder>(m, "Recorder", "Writes a file of the steps that are taken within its `with` block.")
      .def("__enter__",
           [](nb::object self) {
             nb::cast<Recorder&>(self).enter();
             return self;
           })
      .def(
          "__exit__",
          [](Recorder& r, nb::handle type, nb::handle, nb::handle) {
            // What was simulated until an exception is still worth its file; KeyboardInterrupt is one, too.
            (void)type;
            r.wait();
            r.exit(true);
            return false;
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none());

  nb::class_<PyRecording>(m, "Recording",
                          "A motion in a file (HDF5, docs/recording-format.md). Shows itself in notebooks.")
      .def(
          "__init__",
          [](PyRecording* self, const std::filesystem::path& file) {
            const std::string path = file.string();
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(path, ignored)) {
              throw InputError(path, "no such file; Simulation.record() and `sarrus run --record` make one");
            }
            new (self) PyRecording{path};
          },
          "path"_a)
      .def_ro("path", &PyRecording::path, "The file.")
      .def(
          "to_html",
          [](const PyRecording& r, const std::filesystem::path& path, double fps,
             const std::filesystem::path& compare) {
            const std::string page = page_of(r.path, fps, compare.string());
            OutputFile output("to_html", path.string());
            output.write(page);
          },
          "path"_a, "fps"_a = 0.0, "compare"_a = "",
          "Writes one page that any browser opens. fps: frames per second, 0: as many as fit. compare: a second "
          "recording.")
      .def(
          "html", [](const PyRecording& r, double fps) { return page_of(r.path, fps, ""); }, "fps"_a = 0.0,
          "The page as text.")
      .def("motion", &motion_of, "model"_a,
           "time (T,) s, position (T, nbody, 3) m, quaternion_xyzw (T, nbody, 4), twist (T, nbody, 6), q (T, nq), as a "
           "dict.")
      .def("state", &state_at, "model"_a, "index"_a, "The State of a sample; negative: from the end.")
      .def("_repr_html_",
           [](const PyRecording& r) { return python("sarrus._notebook", "frame")(page_of(r.path, 0, "")); })
      .def("__repr__", [](const PyRecording& r) { return fmt::format("<Recording {}>", in_quotes(r.path)); });

  nb::class_<PyView>(m, "View", "A page in the browser that shows a simulation as the program steps it.")
      .def_prop_ro(
          "url", [](PyView& v) { return v.open().url(); }, "Its address; who has it can look.")
      .def_prop_ro(
          "pages", [](PyView& v) { return v.open().pages(); }, "How many pages are open.")
      .def("sync", &PyView::sync, "Shows the present state.")
      .def(
          "close", [](PyView& v) { v.view.reset(); }, "Ends the view.")
      .def("__enter__", [](nb::object self) { return self; })
      .def(
          "__exit__",
          [](PyView& v, nb::handle, nb::handle, nb::handle) {
            v.view.reset();
            return false;
          },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none())
      .def("__repr__",
           [](PyView& v) { return v.view ? fmt::format("<View {}>", v.view->url()) : std::string("<View, closed>"); });

  m.def(
      "_view",
      [](nb::object sim, int port) {
        PySimulation& s = nb::cast<PySimulation&>(sim);
        auto live = std::make_unique<view::LiveView>(s.idle(), SARRUS_VERSION, port);
        return new PyView{sim, &s, std::move(live), s.steps};
      },
      "simulation"_a, "port"_a, nb::rv_policy::take_ownership);
}

}  // namespace sarrus::python
