// Units of work that any number of processes share through a folder: MPI ranks, or programs started by hand.
//
// A unit is claimed by creating <folder>/claims/<unit> (only one process can), and is done when its result file,
// written at once, is there. A process shows that it lives by touching <folder>/alive/<name> every second. A claim
// whose owner has not been seen for `patience` seconds, or was a process of this machine and is gone, is taken over:
// the unit is done again and the loss is reported. What is done stays done: running again with the same folder resumes.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace sarrus {

struct WorkUnit {
  std::string name;                // of the claim, a file name
  std::filesystem::path result;    // there: done
  std::vector<std::size_t> after;  // units that must be done first
  double weight = 1;               // expected effort, for the estimate of the time left
  std::function<void()> run;       // writes the result file
};

class WorkFolder {
 public:
  // `worker` is this process's name, unique among those that share the folder. Throws InputError if the folder cannot
  // be used.
  WorkFolder(std::filesystem::path folder, std::string worker, double patience = 10);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  struct Progress {
    std::size_t done = 0;  // units, by whomever
    std::size_t total = 0;
    double share = 0;    // of the weights, 0 to 1
    double seconds = 0;  // since the start
    double left = 0;     // s, estimated; infinite while unknown
    std::string unit;    // just finished here, or being waited for
  };
  // Runs units until all are done, waiting for those that others work on. An exception of a unit leaves this call; its
  // claim is given back.
  void run(const std::vector<WorkUnit>& units, const std::function<void(const Progress&)>& progress);

  // Workers that were lost while they had a unit, "rank1 (unit walker_like.prox)".
  const std::vector<std::string>& lost() const { return lost_; }

 private:
  bool claim(const WorkUnit& unit);
  void release(const WorkUnit& unit) const;
  // Takes over a claim whose owner is gone.
  bool take_over(const WorkUnit& unit);
  double silence(const std::string& worker) const;  // s since its last sign of life
  void beat();

  std::filesystem::path folder_;
  std::string worker_;
  double patience_;
  std::vector<std::string> lost_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<bool> stop_ = false;
  std::thread heart_;
};

}  // namespace sarrus
