// One set of well-conditioned problems for all solvers: recorded from built-in scenes (mass ratios up to 10), of every
// category of docs/theory/benchmarks.md §4. Deterministic; names are "scene@step".
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "effort.h"
#include "sarrus/analysis/analysis.h"
#include "sarrus/analysis/category.h"
#include "sarrus/math/tools.h"
#include "solvers/problem_surgery.h"
#include "solvers/recorded_problems.h"

namespace sarrus::testing {

struct AgreementProblem {
  std::string name;
  ConstraintProblem problem;
  ProblemCategory category = ProblemCategory::unconstrained;
};

struct AgreementRun {
  const char* scene;
  int skip, steps, every;
  bool one_contact = false;  // keep only the contact that closes fastest
};

inline const std::vector<AgreementRun>& agreement_runs() {
  static const std::vector<AgreementRun> runs = {
      {"double_pendulum", 0, 400, 100},
      {"spinning_top", 0, 400, 200},
      {"nunchuk", 0, 170, 17},
      {"stewart_platform", 0, 200, 80},
      {"ring20", 0, 24, 3},
      {"ring20_tilted", 0, 9, 2},
      {"fourbar_fixed", 0, 300, 150},
      {"fourbar_swing", 0, 300, 150},
      {"slider_crank", 0, 300, 150},
      {"bennett_linkage", 0, 300, 150},
      {"sarrus_linkage", 0, 300, 150},
      {"box_on_plane", 140, 120, 30},
      {"incline", 0, 200, 50},
      {"stack15_equal", 0, 20, 10},
      {"fourbar_free", 0, 300, 50},
      {"hull_gears", 0, 150, 50},
      {"cylinder_rolling", 0, 300, 60},
      {"ellipsoid_rolling", 0, 300, 60},
      {"sphere_stack", 0, 20, 10},
      {"mesh_floor", 0, 300, 60},
      {"cylinder_rolling", 30, 300, 60, true},
      {"height_field", 300, 300, 60, true},
  };
  return runs;
}

// The same bodies with all blocks but the other contacts.
inline ConstraintProblem with_one_contact(const ConstraintProblem& p) {
  std::vector<int> kept;
  int fastest = -1;
  double speed = kInf;
  for (int i = 0; i < static_cast<int>(p.blocks.size()); ++i) {
    const ConstraintBlock& b = p.blocks[static_cast<std::size_t>(i)];
    if (b.kind != BlockKind::contact) {
      kept.push_back(i);
    } else if (p.v_free[b.row + 2] < speed) {
      speed = p.v_free[b.row + 2];
      fastest = i;
    }
  }
  kept.push_back(fastest);
  return rebuild(p, counting(p.node_size.size()), kept);
}

inline const std::vector<AgreementProblem>& agreement_problems() {
  static const std::vector<AgreementProblem> problems = [] {
    std::vector<AgreementProblem> out;
    for (const AgreementRun& run : agreement_runs()) {
      for (Recorded& r : record_scene(run.scene, run.skip, test::samples(run.steps), run.every)) {
        if (run.one_contact && r.problem.rows_of(BlockKind::contact) == 0) continue;
        AgreementProblem p;
        p.name = fmt::format("{}@{}{}", r.scene, r.step, run.one_contact ? "/1" : "");
        p.problem = run.one_contact ? with_one_contact(r.problem) : std::move(r.problem);
        p.category = category(p.problem, joint_rank(p.problem));
        out.push_back(std::move(p));
      }
    }
    return out;
  }();
  return problems;
}

}  // namespace sarrus::testing
