#include "run_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/view/html_sink.h"

namespace sarrus::app {
namespace {

void refuse_equal_paths(const RunArguments& a) {
  const std::pair<const char*, const std::string*> files[] = {
      {"--json", &a.json}, {"--csv", &a.csv},   {"--csv-contacts", &a.csv_contacts}, {"--record", &a.record},
      {"--svg", &a.svg},   {"--html", &a.html}, {"--checkpoint", &a.checkpoint}};
  std::map<std::filesystem::path, const char*> taken;
  for (const auto& [option, path] : files) {
    if (path->empty()) continue;
    if (option != files[0].first && OutputFile::is_standard_output(*path)) {
      throw InputError(option, "'-' is standard output, which takes --json alone; give the name of a file");
    }
    std::error_code ignored;
    const auto [other, fresh] = taken.emplace(std::filesystem::weakly_canonical(*path, ignored), option);
    if (fresh) continue;
    throw InputError(option, fmt::format("names the same file as {}: '{}'; give two names", other->second, *path));
  }
}

}  // namespace

RunOutputs::RunOutputs(const RunArguments& a)
    : flush_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(a.flush, 1e8)))),
      next_flush_(Clock::now() + flush_) {
  refuse_equal_paths(a);
  if (!a.json.empty()) sinks_.push_back(json_sink(a.json));
  if (!a.csv.empty()) sinks_.push_back(csv_sink(a.csv));
  if (!a.csv_contacts.empty()) sinks_.push_back(contact_csv_sink(a.csv_contacts));
  if (!a.record.empty()) sinks_.push_back(recording_sink(a.record, a.record_every));
  if (!a.svg.empty()) sinks_.push_back(svg_sink(a.svg, a.svg_options));
  if (!a.html.empty()) sinks_.push_back(view::html_sink(a.html, a.html_fps));
  // A run may replace the checkpoint that it goes on from, and nothing else that it has read.
  if (a.checkpoint != a.resume) const OutputFile try_it("--checkpoint", a.checkpoint);
  if (!a.checkpoint.empty()) sinks_.push_back(checkpoint_sink(a.checkpoint, a.checkpoint_every));
  if (!a.dump_problems.empty()) sinks_.push_back(problem_sink(a.dump_problems, a.every));
}

void RunOutputs::begin(const Simulation& sim, const RunInfo& info) {
  for (const auto& sink : sinks_) sink->begin(sim, info);
}

// A sink that fails is left out from then on.
template <class F>
void RunOutputs::each(F f) {
  for (auto& sink : sinks_) {
    if (!sink) continue;
    try {
      f(*sink);
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      sink.reset();
    }
  }
}

void RunOutputs::step(const RunStep& step) {
  each([&](RunSink& sink) { sink.step(step); });
  if (Clock::now() >= next_flush_) flush();
}

void RunOutputs::flush() {
  const Clock::time_point begin = Clock::now();
  each([](RunSink& sink) { sink.flush(); });
  const Clock::time_point end = Clock::now();
  next_flush_ = end + std::max(flush_, 20 * (end - begin));
}

void RunOutputs::finish(const Simulation& sim, const RunSummary& run) {
  each([&](RunSink& sink) { sink.finish(sim, run); });
}

void RunOutputs::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

}  // namespace sarrus::app
