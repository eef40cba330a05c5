#include "problem_dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <system_error>

#include "sarrus/io/problem_file.h"
#include "sarrus/math/error.h"

namespace sarrus::app {
namespace {

namespace fs = std::filesystem;

// Scene names may hold anything; file names should not.
std::string file_name(const std::string& scene) {
  std::string out;
  for (const char c : scene) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    out += plain ? c : '_';
  }
  return out.empty() ? "scene" : out;
}

}  // namespace

ProblemDump::ProblemDump(const std::string& folder, const std::string& scene, int every)
    : folder_(folder), scene_(file_name(scene)), every_(every) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!error && ::access(folder_.c_str(), W_OK | X_OK) != 0) error.assign(errno, std::generic_category());
  if (!error && !fs::is_directory(folder_)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    throw InputError(fmt::format("--dump-problems {}", folder),
                     fmt::format("cannot be written to ({}); give a folder that you may write to", error.message()));
  }
}

void ProblemDump::add(const Simulation& sim, std::int64_t step) const {
  if (folder_.empty()) return;
  if (step % every_ != 0 && sim.report().status != StepStatus::failed) return;
  save_problem(folder_ / fmt::format("{}-{}.h5", scene_, step), sim.problem(), sim.warm_start_impulses(),
               sim.impulses());
}

}  // namespace sarrus::app
