// `sarrus html`: a recording as a page that opens in any browser.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "commands.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/view/html_sink.h"
#include "sarrus/view/page.h"
#include "sarrus/view/recorded_run.h"

namespace sarrus::app {
namespace {

struct HtmlArguments {
  std::string recording;
  std::string compare;
  std::string output;
  double fps = 0;
};

void html(const HtmlArguments& a) {
  if (!(a.fps >= 0 && std::isfinite(a.fps))) {
    throw InputError("--html-fps", fmt::format("is {}; give a finite number > 0", a.fps));
  }
  const std::string target =
      a.output.empty() ? std::filesystem::path(a.recording).replace_extension(".html").string() : a.output;
  const bool to_screen = OutputFile::is_standard_output(target);
  const auto payload = [&](const std::string& file, std::string* title) {
    view::RecordedRun run = view::load_recorded_run(file, a.fps);
    if (title != nullptr) *title = run.scene.name;
    return view::page_payload(file, run.scene, run.facts, std::move(run.motion));
  };
  std::string title;
  const std::string motion = payload(a.recording, &title);
  const std::string compare = a.compare.empty() ? std::string() : payload(a.compare, nullptr);
  OutputFile output("-o", target);
  const std::string page = view::written_page(title, motion, compare);
  output.write(page);
  if (!to_screen) fmt::print("wrote {} ({:.2f} MB)\n", target, 1e-6 * static_cast<double>(page.size()));
}

}  // namespace

void add_html_command(CLI::App& app) {
  auto arguments = std::make_shared<HtmlArguments>();
  CLI::App* command = app.add_subcommand("html", "Write a page that shows a recording, one file for any browser");
  command->add_option("recording", arguments->recording, "Recording of `sarrus run --record`")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--compare", arguments->compare,
                   "A second recording, a ghost in the picture and dashed in the plots")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments->output,
                   "The page to write, or - for standard output; default: beside the recording, with .html")
      ->type_name("FILE");
  command
      ->add_option("--html-fps", arguments->fps,
                   "Frames per second; default: every sample if it fits in 4 MiB, else 240, 120, ...")
      ->type_name("HZ");
  command->callback([arguments] { html(*arguments); });
}

}  // namespace sarrus::app
