// Broad phase: time per step against the number of bodies (docs/theory/collision.md §3).
//
// Boxes with half extents of 5 to 15 cm, at the density that gives three overlapping pairs per box:
//   dense     in a cube, flying at up to 2 mm per step and axis, reflected at the walls
//   floor     on a square, sliding at up to 2 mm per step and axis
//   settled   as dense, but trembling by 10 um
//   teleport  as dense, every box somewhere else in each step: the worst case
// Only find_pairs() is timed, with the CPU time of the thread. After the runs a table in us per step follows, and the
// exponent p of time ~ N^p fitted to N = 100 ... 10 000.
#include <benchmark/benchmark.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>

#include "collision/sort_sweep.h"
#include "sarrus/collision/broad_phase.h"
#include "sarrus/model/builder.h"

namespace sarrus {
namespace {

enum class Kind { dense, floor, settled, teleport };
constexpr const char* kKinds[] = {"dense", "floor", "settled", "teleport"};
enum class Way { all_pairs, sweep, tree };
constexpr const char* kWays[] = {"all pairs", "sweep", "tree"};

class Scene {
 public:
  Scene(Kind kind, int n) : kind_(kind), boxes_(static_cast<std::size_t>(n)) {
    side_ = kind == Kind::floor ? std::sqrt(0.16 / 6 * n) : std::cbrt(0.064 / 6 * n);
    for (int i = 0; i < n; ++i) {
      const Vec3 h(uniform(0.05, 0.15), uniform(0.05, 0.15), uniform(0.05, 0.15));
      bodies_.push_back({somewhere(h), 2e-3 * Vec3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)), h});
    }
    step();
  }

  void step() {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      Body& b = bodies_[i];
      Vec3 x = b.x;
      if (kind_ == Kind::teleport) {
        x = somewhere(b.h);
      } else if (kind_ == Kind::settled) {
        x += 1e-5 * Vec3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
      } else {
        for (int k = 0; k < (kind_ == Kind::floor ? 2 : 3); ++k) {
          x[k] += b.v[k];
          if (x[k] < 0 || x[k] > side_) b.v[k] = x[k] < 0 ? std::abs(b.v[k]) : -std::abs(b.v[k]);
        }
        b.x = x;
      }
      boxes_[i] = {x - b.h, x + b.h};
    }
  }

  const std::vector<Aabb>& boxes() const { return boxes_; }

 private:
  struct Body {
    Vec3 x, v, h;
  };
  double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(random_); }
  Vec3 somewhere(const Vec3& h) {
    return {uniform(0, side_), uniform(0, side_), kind_ == Kind::floor ? h.z() : uniform(0, side_)};
  }

  Kind kind_;
  double side_;
  std::mt19937_64 random_{1};
  std::vector<Body> bodies_;
  std::vector<Aabb> boxes_;
};

// A filter for n free bodies, kept because it takes long to make.
const PairFilter& filter_for(int n) {
  static std::map<int, std::unique_ptr<PairFilter>> filters;
  std::unique_ptr<PairFilter>& filter = filters[n];
  if (!filter) {
    ModelBuilder builder("balls");
    for (int i = 0; i < n; ++i) builder.add_sphere_body("b" + std::to_string(i), 1, 0.1, {});
    filter = std::make_unique<PairFilter>(builder.build());
  }
  return *filter;
}

void all_pairs(const std::vector<Aabb>& boxes, const PairFilter& filter, std::vector<GeomPair>& pairs) {
  const int n = static_cast<int>(boxes.size());
  for (int i = 0; i < n; ++i) {
    for (int k = i + 1; k < n; ++k) {
      const Aabb& a = boxes[static_cast<std::size_t>(i)];
      const Aabb& b = boxes[static_cast<std::size_t>(k)];
      if (boxes_near(a, b, 0) && filter.allowed(i, k)) pairs.push_back({i, k});
    }
  }
}

double cpu_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void run(benchmark::State& state, Kind kind, Way way, int n) {
  Scene scene(kind, n);
  const PairFilter& filter = filter_for(n);
  std::vector<int> ids(static_cast<std::size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  BroadPhase broad_phase(ids, {}, ids);
  oracle::SortSweep sweep(ids, {}, ids);
  std::vector<GeomPair> pairs;
  const auto step = [&](const std::vector<Aabb>& boxes) {
    pairs.clear();
    if (way == Way::all_pairs) {
      all_pairs(boxes, filter, pairs);
    } else if (way == Way::sweep) {
      sweep.find_pairs(boxes, filter, pairs);
    } else {
      broad_phase.find_pairs(boxes, filter, pairs);
    }
  };
  const int warm_up = kind == Kind::teleport ? 2 : 100;
  for (int i = 0; i < warm_up; ++i) {
    scene.step();
    step(scene.boxes());
  }
  // Several steps per reading of the clock, so that the clock does not count.
  std::vector<std::vector<Aabb>> frames(static_cast<std::size_t>(std::max(1, 5000 / n)));
  double found = 0;
  double total = 0;
  for (auto _ : state) {
    for (std::vector<Aabb>& frame : frames) {
      scene.step();
      frame = scene.boxes();
    }
    const double start = cpu_time();
    for (const std::vector<Aabb>& frame : frames) step(frame);
    const double elapsed = cpu_time() - start;
    state.SetIterationTime(elapsed);
    total += elapsed;
    found += static_cast<double>(pairs.size());
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["us_per_step"] = 1e6 * total / (rounds * static_cast<double>(frames.size()));
  state.counters["pairs"] = found / rounds;
}

// Keeps what it prints: times in us by (kind, n, way).
class Reporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& r : runs) {
      if (r.run_type == Run::RT_Aggregate && r.aggregate_name != "median") continue;
      time_[r.run_name.function_name] = r.counters.at("us_per_step");
    }
  }
  const double* find(Kind kind, Way way, int n) const;

 private:
  std::map<std::string, double> time_;
};

std::string label(Kind kind, Way way, int n) {
  return std::string(kKinds[static_cast<int>(kind)]) + "/" + kWays[static_cast<int>(way)] + "/" + std::to_string(n);
}

const double* Reporter::find(Kind kind, Way way, int n) const {
  const auto it = time_.find(label(kind, way, n));
  return it == time_.end() ? nullptr : &it->second;
}

constexpr int kSizes[] = {10, 32, 100, 316, 1000, 3162, 10000, 100000};

// p of time ~ N^p by least squares in logarithms; NaN if there are fewer than two measurements.
double growth(const Reporter& reporter, Kind kind, Way way) {
  double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const int n : kSizes) {
    const double* t = reporter.find(kind, way, n);
    if (!t || n < 100 || n > 10000) continue;
    const double x = std::log(n);
    const double y = std::log(*t);
    s += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (s * sxy - sx * sy) / (s * sxx - sx * sx);
}

void print_table(const Reporter& reporter) {
  for (const Kind kind : {Kind::dense, Kind::floor, Kind::settled, Kind::teleport}) {
    std::printf("\n%8s %12s %12s %12s   us per step, %s\n", "N", kWays[0], kWays[1], kWays[2],
                kKinds[static_cast<int>(kind)]);
    for (const int n : kSizes) {
      std::printf("%8d", n);
      for (const Way way : {Way::all_pairs, Way::sweep, Way::tree}) {
        const double* t = reporter.find(kind, way, n);
        t ? std::printf(" %12.4g", *t) : std::printf(" %12s", "-");
      }
      std::printf("\n");
    }
    std::printf("%8s", "exponent");
    for (const Way way : {Way::all_pairs, Way::sweep, Way::tree}) {
      std::printf(" %12.2f", growth(reporter, kind, way));
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace sarrus

int main(int argc, char** argv) {
  using namespace sarrus;
  for (const Kind kind : {Kind::dense, Kind::floor, Kind::settled, Kind::teleport}) {
    for (const Way way : {Way::all_pairs, Way::sweep, Way::tree}) {
      for (const int n : kSizes) {
        if ((way == Way::all_pairs && n > 1000) || (way == Way::sweep && n > 10000)) continue;
        if (way == Way::sweep && kind == Kind::teleport && n > 1000) continue;  // its insertion sort is quadratic
        benchmark::RegisterBenchmark(label(kind, way, n).c_str(),
                                     [=](benchmark::State& state) { run(state, kind, way, n); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  print_table(reporter);
}
