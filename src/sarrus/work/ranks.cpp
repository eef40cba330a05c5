#include "sarrus/work/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "sarrus/math/error.h"

#ifdef SARRUS_HAVE_MPI
#include <mpi.h>
#endif

namespace sarrus {
namespace {

// Set by Open MPI, by MPICH and its relatives, and by Slurm's starter of either.
int started_ranks() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* value = std::getenv(variable)) return std::atoi(value);
  }
  return 0;
}

}  // namespace

#ifdef SARRUS_HAVE_MPI

Ranks::Ranks() : exceptions_(std::uncaught_exceptions()) {
  if (started_ranks() < 1) return;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  started_ = true;
}

Ranks::~Ranks() {
  if (!started_) return;
  // An error of one rank is told by whoever catches it; waiting for the others, who wait for this one, would hide it. A
  // process that ends without MPI_Finalize ends the job.
  if (std::uncaught_exceptions() > exceptions_) return;
  if (alone_) {
    // MPI_Finalize would wait for the lost ranks for ever.
    std::fflush(nullptr);
    std::_Exit(exit_code_);
  }
  MPI_Finalize();
}

std::string Ranks::share(const std::string& text) const {
  if (!started_) return text;
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::string out = text;
  out.resize(static_cast<std::size_t>(length));
  MPI_Bcast(out.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return out;
}

double Ranks::sum(double value) const {
  if (!started_) return value;
  double total = 0;
  MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

void Ranks::require_shared(const std::filesystem::path& path) const {
  if (!started_) return;
  MPI_Barrier(MPI_COMM_WORLD);
  int here = std::filesystem::exists(path) ? 1 : 0;
  int everywhere = 0;
  MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (everywhere == 1) return;
  throw InputError(path.string(), "is not seen by all ranks; give a folder on a shared file system with --work");
}

#else

Ranks::Ranks() {
  if (started_ranks() <= 1) return;
  throw InputError("mpirun", fmt::format("started {} ranks of a program that was built without MPI; configure with "
                                         "-DSARRUS_MPI=ON (Debian: libopenmpi-dev), or run it without mpirun",
                                         started_ranks()));
}

Ranks::~Ranks() = default;

std::string Ranks::share(const std::string& text) const { return text; }

double Ranks::sum(double value) const { return value; }

void Ranks::require_shared(const std::filesystem::path&) const {}

#endif

namespace {

std::string host_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return host;
}

}  // namespace

bool is_gone(const std::string& worker) {
  const std::string host = "." + host_name() + ".";
  const std::size_t at = worker.find(host);
  if (!worker.starts_with("rank") || at == std::string::npos) return false;
  char* end = nullptr;
  const long process = std::strtol(worker.c_str() + at + host.size(), &end, 10);
  if (process <= 1 || (*end != '\0' && *end != '.')) return false;
  return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

std::string Ranks::name() const { return fmt::format("rank{}.{}.{}", rank_, host_name(), ::getpid()); }

}  // namespace sarrus
