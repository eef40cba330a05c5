#include "sarrus/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "sarrus/math/error.h"
#include "sarrus/math/random.h"
#include "sarrus/sweep/run.h"

namespace sarrus {
namespace {

constexpr double kMostRuns = 10'000'000;
constexpr double kMostSteps = 1e9;
constexpr double kMostRecorded = 1 << 30;  // bytes of a run

// A stream of its own for each pair.
Random stream(std::uint64_t seed, std::uint64_t axis, std::uint64_t index) {
  return Random(seed * 0x9e3779b97f4a7c15u ^ (axis + 1) * 0xbf58476d1ce4e5b9u ^ (index + 1) * 0x94d049bb133111ebu);
}

}  // namespace

double normal_quantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  const auto tail = [&](double r) {
    const double s = std::sqrt(-2 * std::log(r));
    return (((((c[0] * s + c[1]) * s + c[2]) * s + c[3]) * s + c[4]) * s + c[5]) /
           ((((d[0] * s + d[1]) * s + d[2]) * s + d[3]) * s + 1);
  };
  constexpr double kTail = 0.02425;
  double x = 0;
  if (p < kTail) {
    x = tail(p);
  } else if (p > 1 - kTail) {
    x = -tail(1 - p);
  } else {
    const double s = p - 0.5, r = s * s;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * s /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  const double e = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
  const double u = e * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * x * x);
  return x - u / (1 + 0.5 * x * u);
}

SweepPlan::SweepPlan(SweepSpec spec, Model model) : spec_(std::move(spec)), model_(std::move(model)) {
  double runs = spec_.samples;
  for (const SweepAxis& axis : spec_.axes) {
    if (axis.is_grid()) runs *= static_cast<double>(axis.values.size());
  }
  if (runs > kMostRuns) throw InputError("vary", fmt::format("makes {:.0f} runs; at most {:.0f}", runs, kMostRuns));
  runs_ = static_cast<int>(runs);
  dt_ = complete_options(spec_.options, model_).dt;
  const double duration = spec_.duration > 0 ? spec_.duration : model_.defaults().duration;
  const double steps = std::round(duration / dt_);
  if (!(steps >= 1 && steps <= kMostSteps)) {
    throw InputError("options",
                     fmt::format("{} s of {} s are {:.0f} steps; give 1 to {:.0f}", duration, dt_, steps, kMostSteps));
  }
  steps_ = static_cast<int>(steps);
  if (spec_.record_every > steps_) {
    throw InputError("record", fmt::format("every is {}, but a run has {} steps", spec_.record_every, steps_));
  }
  const double recorded = 8.0 * frames() * static_cast<double>(recorded_numbers(model_, spec_.keep));
  if (recorded > kMostRecorded) {
    throw InputError("record", fmt::format("a run would record {:.0f} MiB; at most {:.0f}: record fewer steps, or less "
                                           "of them",
                                           recorded / 0x1p20, kMostRecorded / 0x1p20));
  }
  for (const SweepAxis& axis : spec_.axes) check_target(model_, axis.target, axis.factor);
  if (spec_.sampling != Sampling::latin_hypercube) return;
  for (std::size_t k = 0; k < spec_.axes.size(); ++k) {
    strata_.emplace_back();
    if (spec_.axes[k].is_grid()) continue;
    std::vector<int>& s = strata_.back();
    s.resize(static_cast<std::size_t>(spec_.samples));
    std::iota(s.begin(), s.end(), 0);
    Random random = stream(spec_.seed, k, ~std::uint64_t{0});
    for (std::size_t i = s.size(); i > 1; --i) {
      std::swap(s[i - 1], s[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
    }
  }
}

double SweepPlan::sample(std::size_t k, int index) const {
  const SweepAxis& axis = spec_.axes[k];
  double u = stream(spec_.seed, k, static_cast<std::uint64_t>(index)).uniform();
  if (!strata_.empty()) u = (strata_[k][static_cast<std::size_t>(index)] + u) / spec_.samples;
  switch (axis.kind) {
    case SweepAxis::Kind::uniform:
      return axis.a + (axis.b - axis.a) * u;
    case SweepAxis::Kind::log_uniform:
      return axis.a * std::pow(axis.b / axis.a, u);
    case SweepAxis::Kind::normal:
      return axis.a + axis.b * normal_quantile(std::clamp(u, 1e-300, 1 - 0x1p-53));
    case SweepAxis::Kind::values:
      break;
  }
  return 0;
}

// The last axis of the grid changes first, and the samples before it.
std::vector<double> SweepPlan::values(int run) const {
  std::vector<double> out(spec_.axes.size());
  const int index = run % spec_.samples;
  auto point = static_cast<std::size_t>(run / spec_.samples);
  for (std::size_t k = spec_.axes.size(); k-- > 0;) {
    const SweepAxis& axis = spec_.axes[k];
    if (axis.is_grid()) {
      out[k] = axis.values[point % axis.values.size()];
      point /= axis.values.size();
    } else {
      out[k] = sample(k, index);
    }
  }
  return out;
}

}  // namespace sarrus
