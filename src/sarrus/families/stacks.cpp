// Stacks with extreme mass ratios and piles of boxes (docs/theory/benchmarks.md §6): no joints, redundant contacts.
#include <cmath>

#include "sarrus/families/makers.h"
#include "sarrus/families/plan.h"

namespace sarrus::families {
namespace {

// 15 unit cubes on each other, four contacts per interface, masses 1 ... 1e4 kg geometric.
ConstraintProblem stack15(std::uint64_t seed, bool heavy_top, bool sliding) {
  constexpr int kCubes = 15;
  Random random(seed);
  Plan plan(0.02);
  for (int i = 0; i < kCubes; ++i) {
    const int rank = heavy_top ? i : kCubes - 1 - i;
    const double mass = std::pow(10.0, 4.0 * rank / (kCubes - 1));
    const int cube = plan.add_box(mass, Vec3::Constant(0.5), {Vec3(0, 0, i + 0.5)});
    if (sliding) plan.set_velocity(cube, Vec3(0.3 * (i % 3 - 1), 0, 0));
    add_corner_contacts(plan, i == 0 ? kWorld : i - 1, cube, Vec3(0, 0, i), 0.5 * Vec3::UnitX(), 0.5 * Vec3::UnitY(),
                        0.5);
  }
  return plan.assemble(random);
}

struct PileRecipe {
  double mass_ratio;  // masses ratio^U(0,1) kg
  double mu;
  double noise;
  bool four_per_overlap;  // corners of the overlap instead of its centre
};

// Box (i, j) of layer k rests on the boxes (i, j) ... (i+1, j+1) below it: layers of 5x5, 4x4, 3x3.
class Pile {
 public:
  Pile(const PileRecipe& recipe, std::uint64_t seed) : recipe_(recipe), random_(seed), plan_(recipe.noise) {}

  ConstraintProblem build() {
    int below = 0;
    for (int layer = 0; layer < 3; ++layer) {
      const int n = 5 - layer;
      const int first = plan_.body_count();
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) add_box(layer, i, j, below);
      }
      below = first;
    }
    return plan_.assemble(random_);
  }

 private:
  static constexpr double kHalf = 0.1;      // m
  static constexpr double kSpacing = 0.22;  // m

  void add_box(int layer, int i, int j, int first_below) {
    const double x = kSpacing * (i + 0.5 * layer);
    const double y = kSpacing * (j + 0.5 * layer);
    const double z = 2 * kHalf * layer;
    const double mass = std::pow(recipe_.mass_ratio, random_.uniform());
    const int box = plan_.add_box(mass, Vec3::Constant(kHalf), {Vec3(x, y, z + kHalf)});
    if (layer == 0) {
      add_corner_contacts(plan_, kWorld, box, Vec3(x, y, z), kHalf * Vec3::UnitX(), kHalf * Vec3::UnitY(), recipe_.mu);
      return;
    }
    const int n_below = 6 - layer;
    for (int k = 0; k < 4; ++k) {
      const int di = k % 2;
      const int dj = k / 2;
      const int support = first_below + (i + di) * n_below + j + dj;
      // The overlap of two boxes that are half a spacing apart in x and y.
      const Vec3 centre(x + (di - 0.5) * 0.5 * kSpacing, y + (dj - 0.5) * 0.5 * kSpacing, z);
      const double half = kHalf - 0.25 * kSpacing;
      if (recipe_.four_per_overlap) {
        add_corner_contacts(plan_, support, box, centre, half * Vec3::UnitX(), half * Vec3::UnitY(), recipe_.mu);
      } else {
        plan_.add_contact(support, box, centre, recipe_.mu);
      }
    }
  }

  PileRecipe recipe_;
  Random random_;
  Plan plan_;
};

}  // namespace

ConstraintProblem stack15_heavy_sliding(std::uint64_t seed) { return stack15(seed, true, true); }
ConstraintProblem stack15_heavy_resting(std::uint64_t seed) { return stack15(seed, true, false); }
ConstraintProblem stack15_light_sliding(std::uint64_t seed) { return stack15(seed, false, true); }
ConstraintProblem stack15_light_resting(std::uint64_t seed) { return stack15(seed, false, false); }

ConstraintProblem pile200(std::uint64_t seed) { return Pile({10, 0.5, 0.1, false}, seed).build(); }
ConstraintProblem pile200_ratio1e3(std::uint64_t seed) { return Pile({1000, 0.8, 0.05, false}, seed).build(); }
ConstraintProblem pile500(std::uint64_t seed) { return Pile({10, 0.5, 0.3, true}, seed).build(); }

}  // namespace sarrus::families
