// What changed between two benchmark runs, beyond noise.
//
// Solves are matched by sample id, solver id, tolerance and start; simulations by system and solver; scaling points by
// family, bodies and threads. A sample whose hash differs is another problem: it is listed and left out. Per group (one
// solver at one tolerance and start):
//   solved       samples that a solved and b did not, and the other way round
//   time         median ratio b / a over samples that both solved, with the interval of the sign test (statistics.h) at
//                1 % divided by the number of groups, so that noise alone makes any group stand out in one comparison
//                of a hundred; beyond noise if the interval does not hold 1 and the ratio is beyond 3 %
//   iterations   the same test on max(1, iterations), without a minimal effect of its own: iterations are exact
//   accuracy     samples whose relative natural map is worse (better) by more than a factor of 10 and beyond the
//                tolerance in one of the runs: within the tolerance an answer is as good as another
// Times of different machines are not compared: groups then have no time verdict, and the text says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/bench/result.h"
#include "sarrus/bench/statistics.h"

namespace sarrus {

inline constexpr double kMinimalEffect = 0.03;
inline constexpr double kNoiseChance = 0.01;  // of any false alarm among the times of all groups
inline constexpr double kAccuracyFactor = 10;

enum class Verdict : std::uint8_t { same, better, worse, unknown };
std::string_view name_of(Verdict verdict);

struct GroupComparison {
  std::string solver;
  double tolerance = 0;
  Start start = Start::cold;
  int samples = 0;  // compared
  int solved_a = 0;
  int solved_b = 0;
  std::vector<std::string> lost;    // sample ids that b no longer solves
  std::vector<std::string> gained;  // that only b solves
  RatioTest time;
  RatioTest iterations;
  std::vector<std::string> less_accurate;
  std::vector<std::string> more_accurate;
  Verdict solved_verdict = Verdict::same;
  Verdict time_verdict = Verdict::same;
  Verdict iterations_verdict = Verdict::same;
  Verdict accuracy_verdict = Verdict::same;
};

// One number of a simulation or of a scaling point that moved by more than its limit.
struct ValueChange {
  std::string what;      // "walker_like, cascade"
  std::string quantity;  // "joint gap [m]"
  double a = 0;
  double b = 0;
  Verdict verdict = Verdict::same;
};

struct Comparison {
  bool same_machine = true;
  std::string machine_a, machine_b;
  std::vector<std::string> only_a;  // samples, solvers, simulations, points of one run only
  std::vector<std::string> only_b;
  std::vector<std::string> changed_samples;  // same id, another problem
  std::vector<GroupComparison> groups;
  // Median of the groups' time ratios. Far from 1 with all groups alike: rather the machine than the code.
  double overall_time = 1;
  std::vector<ValueChange> runs;
  std::vector<ValueChange> scaling;
  bool worse = false;  // something got worse beyond noise
  bool better = false;
};

Comparison compare(const BenchResult& a, const BenchResult& b);

// For people: what got worse, what got better, then one line per group.
std::string to_text(const Comparison& comparison);
// For machines.
std::string to_json(const Comparison& comparison);

}  // namespace sarrus
