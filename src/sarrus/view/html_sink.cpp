#include "sarrus/view/html_sink.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/view/motion_payload.h"
#include "sarrus/view/page.h"

namespace sarrus::view {
namespace {

class HtmlSink final : public RunSink {
 public:
  HtmlSink(const std::string& path, double rate) : file_("--html", path), path_(path), rate_(rate) {}

  void begin(const Simulation& sim, const RunInfo& info) override {
    scene_ = scene_of(sim.model(), sim.state().X_WB);
    facts_ = facts_of(info);
    motion_.emplace(Layout(scene_), rate_);
    add(sim);
  }
  void step(const RunStep& s) override {
    if (!s.failed()) add(s.sim);
  }
  void finish(const Simulation& sim, const RunSummary& run) override {
    motion_->end(run.status(), run.failed() ? std::string(sim.report().message) : "");
    const std::string payload = page_payload("--html " + path_, scene_, facts_, std::move(*motion_));
    file_.write(written_page(scene_.name, payload));
  }

 private:
  void add(const Simulation& sim) {
    Frame frame;
    frame_of(sim, motion_->layout(), frame);
    motion_->add(std::move(frame));
    motion_->fit_memory();
  }

  OutputFile file_;
  std::string path_;
  double rate_;
  Scene scene_;
  RunFacts facts_;
  std::optional<Motion> motion_;
};

}  // namespace

std::unique_ptr<RunSink> html_sink(const std::string& path, double rate) {
  return std::make_unique<HtmlSink>(path, rate);
}

std::string page_payload(const std::string& element, const Scene& scene, const RunFacts& facts, Motion motion,
                         std::size_t most) {
  std::string payload = fitted_payload(scene, facts, std::move(motion));
  if (payload.size() <= most) return payload;
  throw InputError(
      element,
      fmt::format("the motion takes {:.4g} MiB, a page holds {:.4g}; show the recording by sarrus view, or "
                  "take fewer frames (--html-fps 30)",
                  std::ldexp(static_cast<double>(payload.size()), -20), std::ldexp(static_cast<double>(most), -20)));
}

}  // namespace sarrus::view
