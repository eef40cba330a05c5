// The default solver on recorded steps that were hard for it (solvers/hard_problems.h): how many it solves, by the law
// of their contacts, within how many factorisations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "effort.h"
#include "sarrus/problem_files/problem_file.h"
#include "sarrus/solvers/registry.h"
#include "solvers/hard_problems.h"

namespace sarrus::hard_problems_test {
namespace {

enum class Contacts { rigid, compliant, limited };

// Compliance of all rigid contacts: R = rho D, D the mean of their diagonals; limited: at most what opens `speed` under
// the largest normal impulse that the pair had before, tangentially a tenth of it.
void soften(StoredProblem& stored, Contacts law) {
  constexpr double kShare = 1e-3, kSpeed = 1e-4, kTangential = 0.1;
  ConstraintProblem& p = stored.problem;
  if (law == Contacts::rigid) return;
  const auto pair = [](const ConstraintBlock& b) { return std::pair(b.node[0], b.nodes > 1 ? b.node[1] : -1); };
  std::map<std::pair<int, int>, double> load;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::contact) continue;
    double& most = load[pair(b)];
    most = std::max(most, stored.warm[static_cast<std::size_t>(b.row + 2)]);
  }
  for (const ConstraintBlock& b : p.blocks) {
    const auto row = static_cast<std::size_t>(b.row);
    if (b.kind != BlockKind::contact || p.R[row + 2] > 0) continue;
    const double D = p.diagonal.segment<3>(b.row).mean();
    double R = kShare * D;
    if (law == Contacts::limited && load[pair(b)] > 0) R = std::min(R, kSpeed / load[pair(b)]);
    p.R[row] = p.R[row + 1] = law == Contacts::limited ? kTangential * R : R;
    p.R[row + 2] = R;
  }
  p.finish();
}

struct Case {
  const char* name;
  Contacts law;
  int budget;    // factorisations per island
  int solved;    // at least, of 40
  double worst;  // error
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class HardProblems : public ::testing::TestWithParam<Case> {};

TEST_P(HardProblems, AreSolvedWithinTheBudget) {
  const std::vector<std::filesystem::path> files = testing::hard_problems();
  if (files.empty()) GTEST_SKIP() << "no problems in " << testing::hard_problem_folder();
  const Case& c = GetParam();
  const auto solver = make_solver("cascade");
  Goal goal = 1e-9;
  goal.budget = c.budget;
  const std::size_t every = test::sample_divisor() > 1 ? 8 : 1;
  int missed = 0;
  double worst = 0;
  std::map<std::string, int> solved;
  for (std::size_t i = 0; i < files.size(); i += every) {
    StoredProblem stored = load_problem(files[i]);
    soften(stored, c.law);
    std::vector<double> lambda = stored.warm;
    const SolveReport report = solver->solve(stored.problem, goal, lambda);
    const std::string name = files[i].stem();
    ASSERT_TRUE(report.residuals.finite) << name;
    missed += report.residuals.error() > 1e-9;
    solved[name.substr(0, name.find('-'))] += report.residuals.error() <= 1e-9;
    EXPECT_EQ(report.status == SolveStatus::converged, report.residuals.error() <= 1e-9) << name;
    worst = std::max(worst, report.residuals.error());
    // The elimination's factorisation is one more, and other islands have their own.
    EXPECT_LE(report.factorisations, c.budget + 100) << name;
    EXPECT_LE(report.island_factorisations, c.budget + 2) << name;
  }
  for (const auto& [scene, count] : solved) RecordProperty(scene, count);
  RecordProperty("missed", missed);
  RecordProperty("worst", std::to_string(worst * 1e9) + "e-9");
  EXPECT_LE(missed, 40 - c.solved);
  EXPECT_LE(worst, c.worst);
}

// Measured: 25, 12, 39, 36 and 24. Which of them are solved depends on every digit, so the counts leave room for two.
INSTANTIATE_TEST_SUITE_P(Laws, HardProblems,
                         ::testing::Values(Case{"Rigid", Contacts::rigid, 5000, 25, 1e-4},
                                           Case{"RigidWithin200", Contacts::rigid, 200, 10, 1e-3},
                                           Case{"Compliant", Contacts::compliant, 400, 37, 1e-3},
                                           Case{"LimitedCompliant", Contacts::limited, 5000, 35, 1e-4},
                                           Case{"LimitedCompliantWithin200", Contacts::limited, 200, 22, 1e-3}),
                         [](const ::testing::TestParamInfo<Case>& x) { return std::string(x.param.name); });

}  // namespace
}  // namespace sarrus::hard_problems_test
