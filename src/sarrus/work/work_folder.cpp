#include "sarrus/work/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <system_error>

#include "sarrus/math/error.h"
#include "sarrus/work/ranks.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A claim shows its owner from the first moment on: it is written beside and linked to its name, which fails if the
// name is taken.
bool create_with_text(const fs::path& path, const fs::path& scratch, const std::string& text) {
  {
    std::ofstream out(scratch);
    out << text;
    if (!out) throw InputError(scratch.string(), "cannot be written; check the folder and the free space");
  }
  const int failed = ::link(scratch.c_str(), path.c_str());
  const int error = errno;
  ::unlink(scratch.c_str());
  if (failed != 0 && error != EEXIST) {
    throw InputError(path.string(), fmt::format("cannot be created ({})", std::generic_category().message(error)));
  }
  return failed == 0;
}

std::string owner_of(const fs::path& claim) {
  std::ifstream in(claim);
  std::string owner;
  std::getline(in, owner);
  return owner;
}

}  // namespace

WorkFolder::WorkFolder(fs::path folder, std::string worker, double patience)
    : folder_(std::move(folder)), worker_(std::move(worker)), patience_(patience), start_(Clock::now()) {
  for (const char* part : {"claims", "alive", "results"}) {
    std::error_code error;
    fs::create_directories(folder_ / part, error);
    if (error) {
      throw InputError(folder_.string(), fmt::format("cannot be used as work folder ({})", error.message()));
    }
  }
  beat();
  heart_ = std::thread([this] {
    // Short sleeps so that the end of the program is not held up.
    for (int i = 0; !stop_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (i % 10 == 0) beat();
    }
  });
}

WorkFolder::~WorkFolder() {
  stop_ = true;
  heart_.join();
  std::error_code ignored;
  fs::remove(folder_ / "alive" / worker_, ignored);
}

void WorkFolder::beat() {
  const fs::path file = folder_ / "alive" / worker_;
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  ::futimens(descriptor, nullptr);
  ::close(descriptor);
}

double WorkFolder::silence(const std::string& worker) const {
  struct stat theirs {};
  struct stat ours {};
  if (::stat((folder_ / "alive" / worker).c_str(), &theirs) != 0) return std::numeric_limits<double>::infinity();
  // Both times are those of the file system, whatever the clocks of the machines say.
  if (::stat((folder_ / "alive" / worker_).c_str(), &ours) != 0) return 0;
  return static_cast<double>(ours.st_mtim.tv_sec - theirs.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(ours.st_mtim.tv_nsec - theirs.st_mtim.tv_nsec);
}

bool WorkFolder::claim(const WorkUnit& unit) {
  return create_with_text(folder_ / "claims" / unit.name, folder_ / "claims" / fmt::format(".{}", worker_), worker_);
}

void WorkFolder::release(const WorkUnit& unit) const {
  std::error_code ignored;
  fs::remove(folder_ / "claims" / unit.name, ignored);
}

bool WorkFolder::take_over(const WorkUnit& unit) {
  const fs::path claim_file = folder_ / "claims" / unit.name;
  const std::string owner = owner_of(claim_file);
  if (owner.empty() || owner == worker_) return false;
  if (!is_gone(owner) && silence(owner) < patience_) return false;
  // Of several that see the loss one wins: a rename takes the old claim away for the others.
  std::error_code error;
  const fs::path grave = folder_ / "claims" / fmt::format(".lost-{}-{}", worker_, unit.name);
  fs::rename(claim_file, grave, error);
  if (error) return false;
  const bool still_theirs = owner_of(grave) == owner;
  std::error_code ignored;
  fs::remove(grave, ignored);
  if (!still_theirs || !claim(unit)) return false;
  lost_.push_back(fmt::format("{} (unit {})", owner, unit.name));
  return true;
}

void WorkFolder::run(const std::vector<WorkUnit>& units, const std::function<void(const Progress&)>& progress) {
  std::vector<bool> done(units.size(), false);
  double weight_at_start = -1;
  double total = 0;
  for (const WorkUnit& u : units) total += u.weight;
  const auto look = [&](const std::string& unit) {
    Progress p;
    p.total = units.size();
    double weight = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (!done[i]) done[i] = fs::exists(units[i].result);
      if (done[i]) {
        ++p.done;
        weight += units[i].weight;
      }
    }
    if (weight_at_start < 0) weight_at_start = weight;
    p.share = total > 0 ? weight / total : 1;
    p.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double gained = weight - weight_at_start;
    p.left = gained > 0 ? p.seconds * (total - weight) / gained : std::numeric_limits<double>::infinity();
    p.unit = unit;
    if (progress) progress(p);
    return p.done == p.total;
  };
  bool finished = look({});
  while (!finished) {
    const WorkUnit* mine = nullptr;
    for (std::size_t i = 0; i < units.size() && mine == nullptr; ++i) {
      if (done[i]) continue;
      const WorkUnit& u = units[i];
      bool ready = true;
      for (const std::size_t k : u.after) ready = ready && done[k];
      if (ready && (claim(u) || take_over(u))) mine = &u;
    }
    if (mine == nullptr) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      finished = look("waiting for others");
      continue;
    }
    // Another process may have finished it between our look and our claim.
    try {
      if (!fs::exists(mine->result)) mine->run();
    } catch (...) {
      release(*mine);
      throw;
    }
    release(*mine);
    finished = look(mine->name);
  }
}

}  // namespace sarrus
