// The four scenarios of the comparison of MLCP solvers [M] (docs/theory/benchmarks.md §3): error delta psi (sum over
// rows, friction bounds from the answer's own normals) and time of BPP, PGS, PGS-SM and SPOOK with the limits of the
// paper, each given the same problems. Medians over the steps, as a markdown table. How: tests/physics/mlcp_runs.h.
//
//   mlcp_scenes [--steps 500] [--every 5] [--repeats 3] [scene...]
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "physics/mlcp_runs.h"
#include "sarrus/math/error.h"

namespace sarrus::bench {
namespace {

struct Options {
  int steps = 500;
  int every = 5;
  int repeats = 3;
  std::vector<std::string> scenes;
};

Options read_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    int* target = word == "--steps"     ? &o.steps
                  : word == "--every"   ? &o.every
                  : word == "--repeats" ? &o.repeats
                                        : nullptr;
    if (target == nullptr) {
      o.scenes.push_back(word);
      continue;
    }
    *target = i + 1 < argc ? std::atoi(argv[++i]) : 0;
    if (*target < 1) throw InputError(word, "needs a number >= 1");
  }
  if (o.scenes.empty()) o.scenes = testing::mlcp_scenes();
  return o;
}

void print(const std::string& scene, const testing::MlcpComparison& c) {
  for (std::size_t i = 0; i < c.cold.size(); ++i) {
    const testing::MlcpScore& cold = c.cold[i];
    const testing::MlcpScore& warm = c.warm[i];
    std::cout << fmt::format("| {} | {:.0f} | {} | {:.0e} | {:.0e} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", scene,
                             c.rows, cold.label(), cold.psi(), warm.psi(), 1e3 * cold.seconds(), 1e3 * warm.seconds(),
                             cold.seconds() / c.cold[0].seconds(), warm.seconds() / c.warm[0].seconds());
  }
  std::cout << std::flush;
  if (c.not_converged > 0) {
    std::cerr << fmt::format("{}: the reference missed its tolerance in {} of {} steps\n", scene, c.not_converged,
                             c.steps);
  }
}

int run(int argc, char** argv) {
  const Options o = read_options(argc, argv);
  std::cout << "| scene | rows | solver | δψ cold | δψ warm | ms cold | ms warm | time / bpp cold | time / bpp warm |\n"
               "|---|---|---|---|---|---|---|---|---|\n";
  for (const std::string& scene : o.scenes) print(scene, testing::compare_mlcp(scene, 0, o.steps, o.every, o.repeats));
  return 0;
}

}  // namespace
}  // namespace sarrus::bench

int main(int argc, char** argv) {
  try {
    return sarrus::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "mlcp_scenes: " << error.what() << "\n";
    return 1;
  }
}
