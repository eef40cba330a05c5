// The processes of an MPI job, when built with MPI (-DSARRUS_MPI=ON) and started by mpirun; else one alone.
//
// Ranks share their work through a folder (work_folder.h); MPI only says who is who and makes sure that all of them see
// the same folder, and that a rank which was lost does not hold up the end of the others.
#pragma once

#include <filesystem>
#include <string>

namespace sarrus {

class Ranks {
 public:
  // Starts MPI if mpirun started this process. Throws InputError if it did and this program was built without MPI.
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }
  // Unique among all processes that may share a folder: rank, host and process number.
  std::string name() const;

  // The text of the first rank, on all of them.
  std::string share(const std::string& text) const;
  // Waits for all ranks; the sum of what they give, on all of them.
  double sum(double value) const;
  // Throws InputError on every rank if `path` is not seen by all of them.
  void require_shared(const std::filesystem::path& path) const;
  // Call if ranks were lost: the end of the program then does not wait for them, and has the exit code of ends_with().
  void forget_others() { alone_ = true; }
  int ends_with(int exit_code) { return exit_code_ = exit_code; }

 private:
  int rank_ = 0;
  int size_ = 1;
  bool started_ = false;
  bool alone_ = false;
  int exit_code_ = 0;
  int exceptions_ = 0;  // on their way when it was made
};

// Whether a worker of the name that Ranks::name() gave it, and what a program added to that after a dot, was a process
// of this machine and is no more. False where that is not known.
bool is_gone(const std::string& worker);

}  // namespace sarrus
