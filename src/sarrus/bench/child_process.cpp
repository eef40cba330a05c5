#include "sarrus/bench/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

#include "sarrus/math/error.h"

extern char** environ;

namespace sarrus {
namespace {

namespace fs = std::filesystem;

std::string last_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::string last;
  while (std::getline(in, line)) {
    if (!line.empty()) last = line;
  }
  return last.substr(0, 300);
}

// One thread for the numerical libraries of the child, unless the user says otherwise: steps are compared on one core.
std::vector<char*> child_environment() {
  static char blas[] = "OPENBLAS_NUM_THREADS=1";
  static char omp[] = "OMP_NUM_THREADS=1";
  std::vector<char*> out;
  for (char** e = environ; *e != nullptr; ++e) out.push_back(*e);
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) out.push_back(blas);
  if (std::getenv("OMP_NUM_THREADS") == nullptr) out.push_back(omp);
  out.push_back(nullptr);
  return out;
}

// The child leads a process group of its own, so that all that it starts can be killed with it. 0: not started.
pid_t start(const fs::path& program, const std::vector<std::string>& arguments, const fs::path& errors, int& error) {
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  error = posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), child_environment().data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : 0;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("died with signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return WEXITSTATUS(status) == 0 ? "ok" : fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

ChildResult run_child(const fs::path& program, const std::vector<std::string>& arguments, double timeout,
                      const fs::path& scratch) {
  using Clock = std::chrono::steady_clock;
  ChildResult result;
  const fs::path errors = scratch / "stderr.txt";
  int error = 0;
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const pid_t pid = start(program, arguments, errors, error);
  if (pid == 0) {
    result.status = fmt::format("cannot be started: {}", std::strerror(error));
    return result;
  }
  int status = 0;
  bool late = false;
  while (true) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) break;
    if (elapsed() > timeout) {
      late = true;
      kill(-pid, SIGKILL);
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  result.seconds = elapsed();
  result.status = late ? fmt::format("no end after {:g} s", timeout) : describe(status);
  result.ok = !late && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  result.message = last_line(errors);
  return result;
}

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "sarrus-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw InputError(name, fmt::format("cannot be created: {}; set TMPDIR to a folder that can be written to",
                                       std::strerror(errno)));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace sarrus
