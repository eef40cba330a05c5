#include "sarrus/sweep/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/files/json.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

using json::ObjectReader;

constexpr std::uintmax_t kMaxFile = 64 << 20;
constexpr int kMostCount = 10'000'000;

int whole_number(ObjectReader& r, std::string_view key, int fallback, int least, int most) {
  const double x = r.number(key, fallback);
  if (!(x >= least && x <= most) || x != std::floor(x)) {
    r.fail(fmt::format("{} is {}; give a whole number from {} to {}", r.full(key), x, least, most));
  }
  return static_cast<int>(x);
}

void read_grid(ObjectReader& r, SweepAxis& axis) {
  if (r.has("values")) {
    for (const json::Json& v : r.array("values")) {
      if (!v.is_number()) r.fail("values holds what is no number");
      axis.values.push_back(v.get<double>());
    }
    if (axis.values.empty()) r.fail("values is empty; give at least one");
    return;
  }
  const double from = r.number("from"), to = r.number("to");
  const int count = whole_number(r, "count", 0, 2, kMostCount);
  const bool log = r.has("spacing") && r.choice("spacing", {"linear", "log"}) == 1;
  if (log && !(from > 0 && to > 0)) r.fail("spacing is log; give from and to > 0");
  for (int i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / (count - 1);
    axis.values.push_back(log ? from * std::pow(to / from, t) : from + (to - from) * t);
  }
}

SweepAxis read_axis(ObjectReader& r) {
  SweepAxis axis;
  axis.target = r.text("target", "\"body.chassis.mass\"");
  axis.factor = r.flag("factor", false);
  struct Kind {
    const char* key;
    SweepAxis::Kind kind;
  };
  constexpr Kind kKinds[] = {{"values", SweepAxis::Kind::values},
                             {"from", SweepAxis::Kind::values},
                             {"uniform", SweepAxis::Kind::uniform},
                             {"log_uniform", SweepAxis::Kind::log_uniform},
                             {"normal", SweepAxis::Kind::normal}};
  int given = 0;
  for (const Kind& k : kKinds) {
    if (!r.has(k.key)) continue;
    ++given;
    axis.kind = k.kind;
    if (k.kind == SweepAxis::Kind::values) {
      read_grid(r, axis);
      continue;
    }
    const std::vector<double> ab = r.numbers(k.key, {2});
    axis.a = ab[0];
    axis.b = ab[1];
    if (k.kind == SweepAxis::Kind::normal) {
      if (!(axis.b > 0)) r.fail("normal is [mean, standard deviation]; give a deviation > 0");
    } else if (!(axis.a < axis.b)) {
      r.fail(fmt::format("{} is [least, most]; give least < most", k.key));
    }
    if (k.kind == SweepAxis::Kind::log_uniform && !(axis.a > 0)) r.fail("log_uniform needs numbers > 0");
  }
  if (given != 1) {
    r.fail(fmt::format("{} of values, from/to/count, uniform, log_uniform and normal are given; give one",
                       given == 0 ? "none" : "several"));
  }
  r.finish();
  return axis;
}

void read_record(ObjectReader r, SweepSpec& spec) {
  constexpr std::pair<const char*, Keep> kNames[] = {{"position", Keep::position},
                                                     {"quaternion", Keep::quaternion},
                                                     {"twist", Keep::twist},
                                                     {"q", Keep::q},
                                                     {"qd", Keep::qd},
                                                     {"contact_force", Keep::contact_force},
                                                     {"energy", Keep::energy}};
  spec.record_every = whole_number(r, "every", 1, 1, 1'000'000'000);
  for (const std::string& name : r.strings("keep", 0)) {
    const auto* found = std::ranges::find_if(kNames, [&](const auto& n) { return name == n.first; });
    if (found == std::end(kNames)) {
      r.fail(fmt::format("keep has '{}'; known are position, quaternion, twist, q, qd, contact_force, energy", name));
    }
    spec.keep = spec.keep | found->second;
  }
  if (spec.keep == Keep::none) r.fail("keep is empty; name what to record, or leave record out");
  r.finish();
}

void read_options(ObjectReader r, SweepSpec& spec) {
  SimulationOptions& o = spec.options;
  if (r.has("dt")) o.dt = r.positive("dt");
  if (r.has("duration")) spec.duration = r.positive("duration");
  if (r.has("integrator")) o.integrator = integrator_from_name(r.text("integrator", "\"moreau\""));
  o.solver = r.text_or("solver", o.solver);
  o.tolerance = r.number("tolerance", o.tolerance);
  o.acceptable = r.number("acceptable", std::max(o.acceptable, o.tolerance));
  o.budget = whole_number(r, "budget", o.budget, 1, 1'000'000'000);
  r.finish();
}

}  // namespace

SweepSpec parse_sweep(std::string_view text) {
  const json::Json document = json::parse_strict(text);
  ObjectReader r(document, "sweep");
  SweepSpec spec;
  spec.text = text;
  spec.scene = r.text("scene", "\"jansen_walker\"");
  const double seed = r.number("seed", 1);
  if (!(seed >= 0 && seed <= 0x1p53) || seed != std::floor(seed)) {
    r.fail(fmt::format("seed is {}; give a whole number from 0 to 2^53", seed));
  }
  spec.seed = static_cast<std::uint64_t>(seed);
  spec.samples = whole_number(r, "samples", 1, 1, kMostCount);
  if (r.has("sampling")) {
    spec.sampling =
        r.choice("sampling", {"random", "latin-hypercube"}) == 1 ? Sampling::latin_hypercube : Sampling::random;
  }
  if (r.has_object("options")) read_options(r.object("options"), spec);
  r.each("vary", "vary", "", [&](ObjectReader axis, std::size_t) {
    spec.axes.push_back(read_axis(axis));
    const auto same = [&](const SweepAxis& x) { return x.target == spec.axes.back().target; };
    if (std::ranges::count_if(spec.axes, same) > 1) {
      axis.fail(fmt::format("target '{}' is varied twice; give it one entry", spec.axes.back().target));
    }
  });
  if (spec.samples > 1 && !spec.axes.empty() && std::ranges::all_of(spec.axes, &SweepAxis::is_grid)) {
    r.fail(fmt::format("samples is {}, but nothing in vary is random; leave it out", spec.samples));
  }
  if (r.has_object("record")) read_record(r.object("record"), spec);
  r.finish();
  if (spec.axes.empty()) r.fail("vary is missing or empty; name at least one target and its values");
  return spec;
}

SweepSpec read_sweep(const std::filesystem::path& file) {
  const std::string text = read_file(file, "a description of a sweep", kMaxFile);
  try {
    return parse_sweep(text);
  } catch (const InputError& e) {
    throw InputError(file.string(), e.what());
  }
}

}  // namespace sarrus
