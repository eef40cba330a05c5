// The `sarrus` command. Exit codes: 0 ok, 1 internal error, 2 bad input or an output that cannot be written, 3 the
// simulation or a solve failed, 130 interrupted.
// Errors are one line on stderr that starts with "sarrus: error: ".
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "commands.h"
#include "graceful_stop.h"
#include "last_resort.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/model/model.h"
#include "sarrus/problem_files/problem_file.h"

namespace {

int fail(int exit_code, std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "sarrus: error: {}\n", message);
  return exit_code;
}

// CLI11 would only say that a subcommand is missing.
void check_subcommand(const CLI::App& app, const std::string& word) {
  if (word.empty() || word[0] == '-') return;
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  const std::string near = sarrus::nearest_name(word, known);
  throw sarrus::InputError(fmt::format("'{}'", word), near.empty()
                                                          ? "not a command; see sarrus --help"
                                                          : fmt::format("not a command; did you mean '{}'?", near));
}

int run_command_line(int argc, const char* const* argv) {
  using namespace sarrus::app;
  CLI::App app{"Simulates rigid mechanisms with closed loops, joint limits and hard frictional contact.", "sarrus"};
  app.set_version_flag("--version", "sarrus " SARRUS_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 2 bad input or an output that cannot be written, 3 the simulation or a solve failed,\n"
      "130 interrupted. See `sarrus run --help`.");
  int exit_code = kExitOk;
  add_run_command(app, exit_code);
  add_view_command(app, exit_code);
  add_solve_command(app, exit_code);
  add_inverse_command(app, exit_code);
  add_batch_command(app, exit_code);
  add_bench_command(app, exit_code);
  add_check_command(app);
  add_pose_command(app, exit_code);
  add_convert_command(app);
  add_html_command(app);
  add_scenes_command(app);
  add_solvers_command(app);
  try {
    if (argc > 1) check_subcommand(app, argv[1]);
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return fail(kExitBadInput, fmt::format("{}; see sarrus --help", e.what()));
  } catch (const sarrus::InputError& e) {
    return fail(kExitBadInput, e.what());
  }
}

// What could not be written on standard output is no success, whoever reads the other files.
int end_output(int exit_code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  return fail(sarrus::app::kExitBadInput,
              fmt::format("standard output: could not be written completely ({}); check where it goes",
                          errno != 0 ? std::generic_category().message(errno) : "an earlier write failed"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    sarrus::app::prepare_last_resort();
    sarrus::keep_hdf5_quiet();
    sarrus::app::handle_signals();
    return end_output(run_command_line(argc, argv));
  } catch (const std::bad_alloc&) {
    return fail(sarrus::app::kExitBadInput,
                "out of memory; make the scene or the file smaller, or give it more memory");
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) != 0) return end_output(sarrus::app::kExitBadInput);
    std::fprintf(stderr, "sarrus: error: %s\n", e.what());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sarrus: error: %s\n", e.what());
  } catch (...) {
    std::fputs("sarrus: error: unknown error\n", stderr);
  }
  return sarrus::app::kExitInternal;
}
