// Energy in random passive worlds and random throws. Nothing drives them: the total energy may fall and must not rise.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "effort.h"
#include "physics/harness.h"
#include "physics/passive.h"
#include "physics/shape_models.h"
#include "sarrus/math/random.h"
#include "sarrus/scenes/random_worlds.h"

namespace sarrus::random_worlds_test {
namespace {

using testing::EnergyRise;
using testing::expect_within;
using testing::passive_options;

// What goes on in the step in which the energy rises most.
enum class Cause : std::uint8_t { spring, spin, push_out, bounce, limit, contact, smooth, count };
constexpr auto kCauses = static_cast<std::size_t>(Cause::count);
constexpr std::array<const char*, kCauses> kCauseNames = {"energy of a spring rose",
                                                          "more than a radian per step",
                                                          "penetration pushed out",
                                                          "contact with restitution",
                                                          "limit",
                                                          "other contact",
                                                          "no event"};

struct Outcome {
  std::uint64_t seed = 0;
  // Relative to the kinetic and spring energy at the start and the sum of m g L:
  double above_start = 0;
  double above_lowest = 0;  // above the lowest so far: no loss hides it
  double step = 0;          // the largest rise within a step
  double excess = 0;        // the larger of the first two in units of what is tolerated
  Cause cause = Cause::smooth;
  bool failed = false;
  std::string world = {};
  std::array<bool, kWorldFeatures> has{};

  bool too_much() const { return excess > 1; }
};

Cause cause_of(const RandomWorld& world, const Simulation& sim, double rise, double spring_rise) {
  double spin = 0;
  for (const Vec6& u : sim.state().twist) spin = std::max(spin, u.tail<3>().norm() * world.dt);
  const StepReport& report = sim.report();
  if (spring_rise > 0.5 * rise) return Cause::spring;
  if (spin > 1) return Cause::spin;
  if (report.penetration > 1e-3 * world.length) return Cause::push_out;
  if (report.contacts > 0 && world.with(WorldFeature::restitution)) return Cause::bounce;
  if (report.limits > 0) return Cause::limit;
  return report.contacts > 0 ? Cause::contact : Cause::smooth;
}

Outcome run_world(std::uint64_t seed, int steps) {
  RandomWorld world = random_world(seed);
  Outcome result{.seed = seed, .has = world.has};
  Simulation sim(world.model, passive_options(world.dt));
  EnergyRise energy(sim);
  testing::EnergyParts last = testing::energy_parts(sim);
  const double scale = world.weight_scale + last.kinetic() + last.springs;
  for (int i = 0; i < steps && std::isfinite(energy.now()); ++i) {
    result.failed = sim.step().status == StepStatus::failed;
    if (result.failed) break;  // the state stays, and so would the failure
    energy.add(sim);
    const testing::EnergyParts now = testing::energy_parts(sim);
    const double rise = now.total() - last.total();
    if (rise > result.step) {
      result.step = rise;
      result.cause = cause_of(world, sim, rise, now.springs - last.springs);
    }
    last = now;
  }
  result.above_start = energy.above_start() / scale;
  result.above_lowest = energy.above_lowest() / scale;
  result.step /= scale;
  // The bound of the scheme: free bodies keep or lose; mechanisms may swing by twice what is tolerated before it is
  // taken back (docs/theory/integrators.md §13).
  const bool joints = world.with(WorldFeature::tree) || world.with(WorldFeature::loop);
  result.excess = result.above_start / (joints ? 6e-4 : 1e-6);
  result.world = fmt::format("{} bodies, L {:.2g} m, dt {:.2g} s: {}", world.model.body_count(), world.length, world.dt,
                             world.features());
  return result;
}

std::string report_of(std::vector<Outcome> outcomes) {
  const auto count = [&](auto&& wanted) { return std::count_if(outcomes.begin(), outcomes.end(), wanted); };
  const auto too_much = [](const Outcome& o) { return o.too_much(); };
  std::string text = fmt::format("{} worlds: energy rises too much in {}, a step fails in {}\nrise above the start by",
                                 outcomes.size(), count(too_much), count([](const Outcome& o) { return o.failed; }));
  for (const double level : {1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) {
    text += fmt::format("  {:g}: {}", level, count([&](const Outcome& o) { return o.above_start > level; }));
  }
  text += "\nrise above the lowest by";
  for (const double level : {1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}) {
    text += fmt::format("  {:g}: {}", level, count([&](const Outcome& o) { return o.above_lowest > level; }));
  }
  text += "\ntoo much, by what is there (and failed):\n";
  for (std::size_t f = 0; f < kWorldFeatures; ++f) {
    text += fmt::format("  {:15} {:4} of {:4}   ({})\n", name_of(static_cast<WorldFeature>(f)),
                        count([&](const Outcome& o) { return o.has[f] && o.too_much(); }),
                        count([&](const Outcome& o) { return o.has[f]; }),
                        count([&](const Outcome& o) { return o.has[f] && o.failed; }));
  }
  text += "too much, by the step in which it rises most:\n";
  for (std::size_t c = 0; c < kCauses; ++c) {
    text += fmt::format("  {:27} {:4}\n", kCauseNames[c],
                        count([&](const Outcome& o) { return o.too_much() && o.cause == static_cast<Cause>(c); }));
  }
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [](const Outcome& a, const Outcome& b) { return a.excess > b.excess; });
  text += "worst:\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(outcomes.size(), 15); ++i) {
    const Outcome& o = outcomes[i];
    text += fmt::format("  seed {:4}: {:.2e} above start, {:.2e} above lowest, {:.2e} in a step ({}){}, {}\n", o.seed,
                        o.above_start, o.above_lowest, o.step, kCauseNames[static_cast<std::size_t>(o.cause)],
                        o.failed ? ", failed" : "", o.world);
  }
  return text;
}

// 1000 seeds.
TEST(RandomWorlds, GainNoEnergy) {
  std::vector<Outcome> outcomes;
  const int worlds = test::samples(1000);
  const int steps = test::sample_divisor() > 1 ? 60 : 250;
  for (int seed = 1; seed <= worlds; ++seed) outcomes.push_back(run_world(static_cast<std::uint64_t>(seed), steps));
  const auto count = [&](auto&& wanted) { return std::count_if(outcomes.begin(), outcomes.end(), wanted); };
  const auto gained = count([](const Outcome& o) { return o.too_much(); });
  const auto failed = count([](const Outcome& o) { return o.failed; });
  RecordProperty("gained", fmt::format("{} of {}", gained, worlds));
  RecordProperty("failed", fmt::format("{} of {}", failed, worlds));
  EXPECT_EQ(gained, 0) << report_of(outcomes);
  // Within a run energy that was lost may come back, as height or in a spring, where no velocity is left to take it
  // from.
  const auto above_lowest = count([](const Outcome& o) { return o.above_lowest > 1e-3; });
  EXPECT_LE(above_lowest, std::max(2.0, 0.02 * worlds)) << report_of(outcomes);
  // Loops that a step cannot follow; each such step says so.
  EXPECT_LE(failed, 0.005 * worlds) << "worlds with a step that fails";
}

// The generator keeps its word: nothing touches at the beginning, and all joints are closed.
TEST(RandomWorlds, BeginApartAndAssembled) {
  for (int seed = 1; seed <= test::samples(300); ++seed) {
    const RandomWorld world = random_world(static_cast<std::uint64_t>(seed));
    ModelData still = world.model.data();
    for (Body& body : still.bodies) body.v0_W = body.w0_W = Vec3::Zero();
    // A step of nothing at all sees the contacts of the beginning.
    Simulation sim(finish_model(still), testing::options_with(1e-9 * world.dt, Integrator::semi_implicit));
    const StepReport& report = sim.step();
    EXPECT_LE(report.penetration, 0) << seed;
    EXPECT_LE(report.joint_gap, 1e-9 * world.length) << seed;
  }
}

// --- throws ----------------------------------------------------------------------------------------------

Shape thrown_shape(int kind, double size) {
  switch (kind) {
    case 0:
      return Shape::sphere(size);
    case 1:
      return Shape::capsule(0.5 * size, size);
    case 2:
      return Shape::box(size * Vec3(1, 0.7, 0.4));
    case 3:
      return Shape::cylinder(size, 0.3 * size);
    case 4:
      return Shape::ellipsoid(size * Vec3(1.2, 0.8, 0.5));
    case 5:
      return testing::prism_hull(7, size, 0.6 * size);
    case 6:
      return testing::mesh_of(*testing::prism_hull(5, size, 0.6 * size).hull);
    default:
      return Shape::compound({{Shape::box(size * Vec3(1, 0.2, 0.2)), {}},
                              {Shape::box(size * Vec3(0.2, 0.2, 0.8)), {size * Vec3(0.8, 0, 0.6)}}});
  }
}
constexpr int kThrownKinds = 8;
constexpr std::array<const char*, kThrownKinds> kThrownNames = {"sphere",    "capsule", "box",  "cylinder",
                                                                "ellipsoid", "hull",    "mesh", "compound"};

struct Rise {
  double above_start = 0;  // relative to the largest energy
  double above_lowest = 0;
};

// `count` bodies of one kind side by side over a floor, each thrown.
Rise throw_bodies(int kind, int count, std::uint64_t seed, int steps) {
  Random random(seed);
  ModelBuilder b(fmt::format("thrown {}", kThrownNames[static_cast<std::size_t>(kind)]));
  const double mu = random.uniform();
  const double restitution = random.uniform();
  const int material = b.add_material("material", mu, restitution);
  b.add_floor(0, material);
  const double size = random.uniform(0.04, 0.12);
  for (int i = 0; i < count; ++i) {
    const Shape shape = thrown_shape(kind, size);
    const Vec3 p = Vec3(3.5 * size * (i % 3), 3.5 * size * static_cast<double>(i / 3), random.uniform(0.3, 0.6));
    const Quat q = so3_exp(random.in_box(3));
    const double mass = random.log_uniform(0.1, 10);
    const int body = b.add_solid(fmt::format("body{}", i), mass, shape, {p, q}, material);
    const Vec3 v = random.in_box(3);
    const Vec3 axis = random.direction();
    b.set_velocity(body, v, random.uniform(0, 200) * axis);
  }
  Simulation sim(b.build(), passive_options(1e-3));
  EnergyRise energy(sim);
  testing::run(sim, steps, [&](const StepReport&) { energy.add(sim); });
  const double scale = std::max(energy.start(), energy.peak_kinetic());
  return {energy.above_start() / scale, energy.above_lowest() / scale};
}

// Energy falls with every impact, and what is gained at one would hide below the start. Flight keeps it to round-off,
// so it must not rise above the lowest so far either.
void throw_all(int count, int samples) {
  for (int kind = 0; kind < kThrownKinds; ++kind) {
    Rise worst;
    std::uint64_t worst_seed = 0;
    for (int i = 0; i < samples; ++i) {
      const auto seed = static_cast<std::uint64_t>(1000 * kind + i);
      const Rise rise = throw_bodies(kind, count, seed, 800);
      if (rise.above_lowest > worst.above_lowest) worst_seed = seed;
      worst.above_start = std::max(worst.above_start, rise.above_start);
      worst.above_lowest = std::max(worst.above_lowest, rise.above_lowest);
    }
    const std::string name = kThrownNames[static_cast<std::size_t>(kind)];
    expect_within(name + "_above_start", worst.above_start, 1e-6);
    expect_within(name + "_above_lowest", worst.above_lowest, 1e-6);
    EXPECT_LE(worst.above_lowest, 1e-6) << name << " of " << samples << ", worst seed " << worst_seed;
  }
}

TEST(RandomThrows, OfABodyGainNoEnergy) { throw_all(1, test::samples(25)); }
TEST(RandomThrows, OfFiveBodiesGainNoEnergy) { throw_all(5, test::samples(8)); }

}  // namespace
}  // namespace sarrus::random_worlds_test
