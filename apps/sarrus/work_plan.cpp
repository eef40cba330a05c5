#include "work_plan.h"

#include <fmt/format.h>

#include <cstdint>
#include <system_error>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"

namespace sarrus::app {

namespace fs = std::filesystem;

void require_same_plan(const fs::path& folder, const std::string& command) {
  constexpr std::uintmax_t kMaxPlan = 1 << 20;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(folder.string(), fmt::format("cannot be used as work folder ({})", error.message()));
  const fs::path plan = folder / "plan.txt";
  const std::string text = fmt::format("{}, sarrus {}\n", command, SARRUS_VERSION);
  if (fs::exists(plan) && read_file(plan, "a plan", kMaxPlan) != text) {
    throw InputError(folder.string(),
                     "holds the work of another command; finish that one, remove the folder, or give "
                     "another with --work");
  }
  write_file_atomically(plan, text);
}

}  // namespace sarrus::app
