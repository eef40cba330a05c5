#include "sarrus/families/families.h"

#include <string>

#include "sarrus/families/makers.h"
#include "sarrus/families/plan.h"
#include "sarrus/math/error.h"
#include "sarrus/math/random.h"

namespace sarrus {
namespace {

using namespace families;

constexpr Family kFamilies[] = {
    {"fourbar_chain", "5 stacked planar four-bars on a base link, 3 limits, 4 floor contacts", fourbar_chain},
    {"stewart", "6 universal-prismatic-spherical legs with limits, 300 kg sliding on the platform", stewart},
    {"walker31", "free torso, 4 limbs, 6 four-bars, 40 floor contacts, mass ratio 1e2", walker31},
    {"gazelle38", "welded torso, 4 limbs, 7 four-bars, 24 floor contacts, mass ratio 1e3", gazelle38},
    {"ironman54", "welded torso, 5 limbs, 13 four-bars, 20 floor contacts, mass ratio 25544", ironman54},
    {"ring20", "20 boxes in a closed ring of vertical hinges, 80 floor contacts", ring20},
    {"stack15_heavy_sliding", "15 cubes of 1 ... 1e4 kg, heavy top, sliding on each other", stack15_heavy_sliding},
    {"stack15_heavy_resting", "15 cubes of 1 ... 1e4 kg, heavy top, at rest", stack15_heavy_resting},
    {"stack15_light_sliding", "15 cubes of 1e4 ... 1 kg, light top, sliding on each other", stack15_light_sliding},
    {"stack15_light_resting", "15 cubes of 1e4 ... 1 kg, light top, at rest", stack15_light_resting},
    {"pile200", "50 boxes in three layers, 200 contacts, masses 1 ... 10 kg", pile200},
    {"pile200_ratio1e3", "50 boxes in three layers, 200 contacts, masses 1 ... 1000 kg, mu .8", pile200_ratio1e3},
    {"pile500", "50 boxes in three layers, 500 contacts, masses 1 ... 10 kg", pile500},
};

// Streams that perturb a problem must not repeat the numbers that made it.
constexpr std::uint64_t kPairStream = 0x7061697200000000u;
constexpr std::uint64_t kSequenceStream = 0x7374657000000000u;

}  // namespace

std::span<const Family> problem_families() { return kFamilies; }

const Family& problem_family(std::string_view name) {
  std::string known;
  for (const Family& f : kFamilies) {
    if (f.name == name) return f;
    known += (known.empty() ? "" : ", ") + std::string(f.name);
  }
  throw InputError("problem family '" + std::string(name) + "'", "unknown; use one of " + known);
}

WarmPair warm_pair(const Family& family, std::uint64_t seed) {
  WarmPair pair;
  pair.first = family.make(seed);
  pair.second = pair.first;
  Random random(seed ^ kPairStream);
  for (double& u : pair.second.u_free) u += 1e-3 * random.normal();
  pair.second.finish();
  return pair;
}

std::vector<ConstraintProblem> warm_sequence(const Family& family, std::uint64_t seed, int steps) {
  std::vector<ConstraintProblem> sequence = {family.make(seed)};
  Random random(seed ^ kSequenceStream);
  while (static_cast<int>(sequence.size()) < steps) {
    ConstraintProblem next = sequence.back();
    add_noise(next, 0.01, random);
    next.finish();
    sequence.push_back(std::move(next));
  }
  return sequence;
}

}  // namespace sarrus
