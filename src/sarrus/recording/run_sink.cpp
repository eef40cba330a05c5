#include "sarrus/recording/run_sink.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/problem_files/problem_file.h"
#include "sarrus/recording/checkpoint.h"
#include "sarrus/recording/csv_log.h"
#include "sarrus/recording/recording.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

// World axes, N s, by contact.
std::vector<Vec3> impulses_of(const Simulation& sim) {
  std::vector<Vec3> impulses;
  for (int i = 0; i < static_cast<int>(sim.contacts().size()); ++i) impulses.push_back(sim.contact_impulse_W(i));
  return impulses;
}

class JsonSink final : public RunSink {
 public:
  explicit JsonSink(const std::string& path) : file_("--json", path) {}
  void finish(const Simulation&, const RunSummary& run) override { file_.write(run.to_json_text()); }

 private:
  OutputFile file_;
};

// The rows that were written before a failure stay.
template <class Log, class F>
void write_lines(OutputFile& file, std::optional<Log>& log, F f) {
  try {
    f();
  } catch (const InputError&) {
    log.reset();
    file.keep_lines();
    throw;
  }
}

class CsvSink final : public RunSink {
 public:
  explicit CsvSink(const std::string& path) : file_("--csv", path) {}
  void begin(const Simulation& sim, const RunInfo&) override { log_.emplace(file_.path(), sim.model()); }
  void step(const RunStep& s) override {
    if (!s.failed()) write([&] { log_->add(s.sim.state(), s.sim.report(), s.energy, forces_of(s.sim)); });
  }
  void flush() override {
    write([&] { log_->flush(); });
  }
  void finish(const Simulation&, const RunSummary&) override {
    write([&] { log_->close(); });
    file_.commit();
  }

 private:
  template <class F>
  void write(F f) {
    write_lines(file_, log_, f);
  }

  OutputFile file_;
  std::optional<CsvLog> log_;
};

class ContactCsvSink final : public RunSink {
 public:
  explicit ContactCsvSink(const std::string& path) : file_("--csv-contacts", path) {}
  void begin(const Simulation& sim, const RunInfo&) override { log_.emplace(file_.path(), sim.model()); }
  void step(const RunStep& s) override {
    if (!s.failed()) write([&] { log_->add(s.sim.time(), s.sim.contacts(), forces_of(s.sim)); });
  }
  void flush() override {
    write([&] { log_->flush(); });
  }
  void finish(const Simulation&, const RunSummary&) override {
    write([&] { log_->close(); });
    file_.commit();
  }

 private:
  template <class F>
  void write(F f) {
    write_lines(file_, log_, f);
  }

  OutputFile file_;
  std::optional<ContactCsvLog> log_;
};

class RecordingSink final : public RunSink {
 public:
  RecordingSink(const std::string& path, int every) : file_("--record", path), every_(every) {}
  void begin(const Simulation& sim, const RunInfo& info) override {
    writer_.emplace(file_.path(), sim.model(), info, every_);
    writer_->add_initial(sim.state(), energy(sim.model(), sim.state()), forces_of(sim));
  }
  void step(const RunStep& s) override {
    if (s.failed() || (!s.last && s.index % every_ != 0)) return;
    writer_->add(s.sim.state(), s.sim.report(), s.energy, s.sim.contacts(), forces_of(s.sim));
  }
  // The file itself is whole only at the moment of a flush, so a copy is made: it stays if the process is killed.
  void flush() override {
    writer_->flush();
    file_.keep_copy();
  }
  void finish(const Simulation& sim, const RunSummary& run) override {
    writer_->end(run.status(), run.failed() ? std::string(sim.report().message) : "");
    writer_->close();
    file_.commit();
  }

 private:
  OutputFile file_;
  int every_;
  std::optional<RecordingWriter> writer_;
};

class SvgSink final : public RunSink {
 public:
  SvgSink(const std::string& path, SvgOptions options) : file_("--svg", path), options_(options) {}
  void begin(const Simulation& sim, const RunInfo& info) override {
    strip_.emplace(sim.model(), sim.time(), sim.time() + info.duration, options_);
    strip_->observe(sim.state(), {}, {});
  }
  void step(const RunStep& s) override {
    if (s.failed() || !strip_->wants(s.sim.time())) return;
    strip_->observe(s.sim.state(), s.sim.contacts(), impulses_of(s.sim));
  }
  void finish(const Simulation& sim, const RunSummary& run) override {
    strip_->finish(sim.state());
    file_.write(strip_->to_svg(run));
  }

 private:
  OutputFile file_;
  SvgOptions options_;
  std::optional<SvgStrip> strip_;
};

class CheckpointSink final : public RunSink {
 public:
  // Asks now whether the file can be written; what is there stays until the first checkpoint is complete.
  CheckpointSink(const std::string& path, double every) : path_(path), every_(every), last_(Clock::now()) {
    const OutputFile try_it({}, path);
  }
  void step(const RunStep& s) override {
    if (s.failed() || std::chrono::duration<double>(Clock::now() - last_).count() < every_) return;
    save_checkpoint(path_, s.sim.snapshot());
    last_ = Clock::now();
  }
  void finish(const Simulation& sim, const RunSummary&) override { save_checkpoint(path_, sim.snapshot()); }

 private:
  using Clock = std::chrono::steady_clock;
  std::string path_;
  double every_;
  Clock::time_point last_;
};

class ProblemSink final : public RunSink {
 public:
  ProblemSink(const std::string& folder, int every) : folder_(folder), every_(every) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (!error && ::access(folder_.c_str(), W_OK | X_OK) != 0) error.assign(errno, std::generic_category());
    if (!error && !fs::is_directory(folder_)) error = std::make_error_code(std::errc::not_a_directory);
    if (error) {
      throw InputError(fmt::format("--dump-problems {}", folder),
                       fmt::format("cannot be written to ({}); give a folder that you may write to", error.message()));
    }
  }
  void begin(const Simulation&, const RunInfo& info) override { scene_ = info.scene; }
  void step(const RunStep& s) override {
    if (s.index % every_ != 0 && !s.failed()) return;
    save_problem(problem_file(folder_.string(), scene_, s.index), s.sim.problem(), s.sim.warm_start_impulses(),
                 s.sim.impulses());
  }

 private:
  fs::path folder_;
  std::string scene_;
  int every_;
};

}  // namespace

std::unique_ptr<RunSink> json_sink(const std::string& path) { return std::make_unique<JsonSink>(path); }
std::unique_ptr<RunSink> csv_sink(const std::string& path) { return std::make_unique<CsvSink>(path); }
std::unique_ptr<RunSink> contact_csv_sink(const std::string& path) { return std::make_unique<ContactCsvSink>(path); }
std::unique_ptr<RunSink> recording_sink(const std::string& path, int every) {
  return std::make_unique<RecordingSink>(path, every);
}
std::unique_ptr<RunSink> svg_sink(const std::string& path, SvgOptions options) {
  return std::make_unique<SvgSink>(path, options);
}
std::unique_ptr<RunSink> checkpoint_sink(const std::string& path, double every) {
  return std::make_unique<CheckpointSink>(path, every);
}
std::string problem_file(const std::string& folder, std::string_view scene, std::int64_t step) {
  std::string name;
  for (const char c : scene) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    name += plain ? c : '_';
  }
  return (fs::path(folder) / fmt::format("{}-{}.h5", name.empty() ? "scene" : name, step)).string();
}
std::unique_ptr<RunSink> problem_sink(const std::string& folder, int every) {
  return std::make_unique<ProblemSink>(folder, every);
}

}  // namespace sarrus
