// Every solver on one set of problems: those of one law must find the same body velocities. Impulses may differ where
// rows are redundant.
//
// A solver whose judged residual is r (natural map, absolute) must be within kStiffness (r + r_reference) of the
// reference. A residual of one contact at the edge of the smallest boxes moves them by 50 of it (rad/s per N s: arm
// over inertia, 0.13 m and 0.003 kg m^2). Where contacts have more rows than bodies have freedom their loads are not
// unique, and the velocities of what slides are not, either, if it turns ever so little: on a box of mesh_floor that
// yaws at 3e-7 rad/s the friction of its corners points elsewhere by 1e-8, and shifting the load between them changes
// the yaw by 1.6e-11 rad/s, at residuals of 4e-15.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "effort.h"
#include "solvers/agreement_problems.h"

namespace sarrus::agreement_test {
namespace {

using testing::agreement_problems;
using testing::AgreementProblem;
using testing::Answer;
using testing::solve;

constexpr double kStiffness = 100;
const SolverParameters kUnlimitedPivots = {{"k_cpl", 0}, {"k_dir", 0}};

const std::vector<Answer>& references(Law law) {
  static std::map<Law, std::vector<Answer>> all;
  auto [it, is_new] = all.try_emplace(law);
  if (is_new) {
    for (const AgreementProblem& p : agreement_problems()) {
      it->second.push_back(law == Law::ncp   ? solve(p.problem, "cascade", 1e-12)
                           : law == Law::ccp ? solve(p.problem, "sap", 1e-12, {{"max_iterations", 2000}})
                                             : solve(p.problem, "bpp", 1e-10, kUnlimitedPivots));
    }
  }
  return it->second;
}

double distance(const Answer& a, const Answer& b) { return (a.u - b.u).cwiseAbs().maxCoeff(); }

bool is_indeterminate(const ConstraintProblem& p) {
  return p.rows_of(BlockKind::joint) + p.rows_of(BlockKind::contact) > p.velocity_size();
}

void expect_near(const AgreementProblem& p, const Answer& a, const Answer& reference, Law law) {
  const double residuals = a.judged.natural_map_of(law) + reference.judged.natural_map_of(law);
  const double unique = is_indeterminate(p.problem) ? 1e-10 : 1e-13;
  EXPECT_LE(distance(a, reference), kStiffness * residuals + unique) << p.name;
}

TEST(AgreementSet, CoversEveryCategory) {
  SARRUS_FULL_SIZE_ONLY();
  ASSERT_GE(agreement_problems().size(), 60u);
  std::map<ProblemCategory, int> count;
  for (const AgreementProblem& p : agreement_problems()) ++count[p.category];
  for (int i = 0; i < kProblemCategoryCount; ++i) {
    const auto kind = static_cast<ProblemCategory>(i);
    EXPECT_GE(count[kind], 5) << name_of(kind);
  }
  EXPECT_EQ(count[ProblemCategory::unconstrained], 0);
}

// The set must tell the laws apart: enough contacts slide.
TEST(AgreementSet, ReferencesAreAccurateAndTheLawsDiffer) {
  SARRUS_FULL_SIZE_ONLY();
  int relaxed = 0;
  int boxed = 0;
  for (std::size_t i = 0; i < agreement_problems().size(); ++i) {
    const std::string& name = agreement_problems()[i].name;
    EXPECT_LE(references(Law::ncp)[i].judged.error(), 1e-11) << name;
    EXPECT_LE(references(Law::ccp)[i].judged.error(Law::ccp), 3e-11) << name;
    EXPECT_LE(references(Law::box)[i].judged.error(Law::box), 3e-9) << name;
    relaxed += distance(references(Law::ccp)[i], references(Law::ncp)[i]) > 1e-4;
    boxed += distance(references(Law::box)[i], references(Law::ncp)[i]) > 1e-4;
  }
  EXPECT_GE(relaxed, 15);
  EXPECT_GE(boxed, 5);
}

// --- solvers that must agree -------------------------------------------------------------------------------

struct Member {
  std::string id;
  double tolerance = 1e-10;
  SolverParameters parameters = {{"max_iterations", 100000}};
  std::map<std::string, std::string> misses = {};  // problem: reason
};
void PrintTo(const Member& m, std::ostream* out) { *out << m.id; }

const std::map<std::string, std::string> kSlowStack = {
    {"stack15_equal@0", "sweeps converge too slowly up a stack of 15: residual 1e-6 after 40 000"},
    {"stack15_equal@10", "likewise, 3e-6 after 20 000"}};
const SolverParameters kSweeps = {{"max_iterations", 40000}};
const SolverParameters kSweepsUnrelaxed = {{"max_iterations", 40000}, {"gamma_omega", 1}};
const SolverParameters kBoxSweeps = {{"k_cpl", 3000}, {"k_iter", 1000}, {"delta_x", 1e-15}, {"max_iterations", 60000}};
const SolverParameters kBoxSubspace = {{"k_cpl", 1000}, {"delta_x", 1e-15}};

// The ADMM of the papers has a floor in its joint rows: 8e-10 to 2e-9 on stewart_platform@0 and 1e-9 on ring20@12 after
// 200 iterations and after 200 000. The fixed penalty needs up to 15 000 iterations, the others far fewer.
const std::vector<Member>& members() {
  static const std::vector<Member> list = {
      {"cascade", 1e-9, {}},
      {"ipm", 1e-10, {}},
      {"admm2"},
      {"admm-ncp-fp", 2e-9, {{"max_iterations", 20000}}},
      {"admm-ncp-la", 2e-9, {{"max_iterations", 20000}}},
      {"admm-ncp-sa", 2e-9, {{"max_iterations", 20000}}},
      {"pgs-ncp", 1e-10, kSweeps, kSlowStack},
      {"pgs-ccp-ds", 1e-10, kSweeps, kSlowStack},
      {"raisim-ds", 1e-10, kSweepsUnrelaxed, kSlowStack},
      {"nbgs-exact", 1e-10, kSweeps, kSlowStack},
      {"prox", 1e-10, kSweeps, kSlowStack},
      {"admm-ccp", 2e-9, {{"max_iterations", 20000}}},
      {"apgd"},
      {"pgs-ccp", 1e-10, kSweeps, kSlowStack},
      {"pgs-box", 3e-9, kBoxSweeps},
      {"pgs-sm", 3e-9, kBoxSubspace},
  };
  return list;
}

class Agreement : public ::testing::TestWithParam<Member> {};

INSTANTIATE_TEST_SUITE_P(Solvers, Agreement, ::testing::ValuesIn(members()),
                         [](const ::testing::TestParamInfo<Member>& member) {
                           std::string label = member.param.id;
                           std::replace(label.begin(), label.end(), '-', '_');
                           return label;
                         });

TEST_P(Agreement, SameVelocitiesAsTheReferenceOfItsLaw) {
  const Member& m = GetParam();
  const Law law = solver_info(m.id).law;
  ASSERT_LE(m.misses.size(), 3u);
  double worst = 0;
  for (std::size_t i = 0; i < agreement_problems().size(); ++i) {
    const AgreementProblem& p = agreement_problems()[i];
    const Answer a = solve(p.problem, m.id, m.tolerance, m.parameters);
    const auto miss = m.misses.find(p.name);
    EXPECT_EQ(a.report.status == SolveStatus::converged, miss == m.misses.end())
        << p.name << " at " << a.judged.error(law)
        << (miss == m.misses.end() ? std::string() : ", listed because: " + miss->second);
    expect_near(p, a, references(law)[i], law);
    if (miss == m.misses.end()) worst = std::max(worst, distance(a, references(law)[i]));
  }
  RecordProperty("largest velocity difference", fmt::format("{:.2g}", worst));
  EXPECT_LE(worst, 200 * m.tolerance);
}

// From what a warm start has: an answer of three digits.
TEST(AgreementWarm, SemismoothNewton) {
  for (std::size_t i = 0; i < agreement_problems().size(); ++i) {
    const AgreementProblem& p = agreement_problems()[i];
    const Answer start = solve(p.problem, "admm-ncp-sa", 1e-4);
    const Answer a = solve(p.problem, "ssn", 1e-10, {{"max_iterations", 100}}, start.lambda);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << p.name;
    expect_near(p, a, references(Law::ncp)[i], Law::ncp);
  }
}

// It ends when the objective hardly changes: as near as its residual says, and equal to raisim-ds if not allowed to.
TEST(AgreementEarlyStop, RaisimDsEs) {
  SARRUS_FULL_SIZE_ONLY();
  int stopped = 0;
  for (std::size_t i = 0; i < agreement_problems().size(); ++i) {
    const AgreementProblem& p = agreement_problems()[i];
    const Answer a = solve(p.problem, "raisim-ds-es", 1e-10, kSweepsUnrelaxed);
    stopped += a.report.status != SolveStatus::converged;
    EXPECT_LE(a.judged.error(), 1e-2) << p.name;
    expect_near(p, a, references(Law::ncp)[i], Law::ncp);
  }
  EXPECT_GE(stopped, 20);
  const AgreementProblem& p = agreement_problems().front();
  SolverParameters patient = kSweepsUnrelaxed;
  patient["epsilon_f"] = 0;
  EXPECT_EQ(solve(p.problem, "raisim-ds-es", 1e-10, patient).lambda,
            solve(p.problem, "raisim-ds", 1e-10, kSweepsUnrelaxed).lambda);
}

// --- solvers of another law --------------------------------------------------------------------------------

// How far least energy is from Coulomb's law at the reference's answer. On the slip curve lambda_N(theta) of a contact
// the energy is stationary where sigma_T . dlambda_T = 0, that is, opposite to sigma_T only if dlambda_N/dtheta = 0:
// if G_Tn has no part across the sliding direction. Returns the largest mu |G_Tn across| / G_nn lambda_N, N s.
double coupling_across_sliding(const ConstraintProblem& p, const Answer& reference) {
  const MatX D = p.dense_D_plus_R();
  JudgeWorkspace ws;
  judge(p, reference.lambda, ws);
  double largest = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::contact) continue;
    const Vec2 slip = ws.sigma.segment<2>(b.row);
    const double normal = reference.lambda[static_cast<std::size_t>(b.row + 2)];
    if (slip.norm() < 1e-8 || normal < 1e-9) continue;
    const double across = (slip.x() * D(b.row + 1, b.row + 2) - slip.y() * D(b.row, b.row + 2)) / slip.norm();
    largest = std::max(largest, b.mu * std::abs(across) / D(b.row + 2, b.row + 2) * normal);
  }
  return largest;
}

class LeastEnergy : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Solvers, LeastEnergy, ::testing::Values("nbgs", "raisim"));

TEST_P(LeastEnergy, IsCoulombUnlessSlidingAndCoupled) {
  SARRUS_FULL_SIZE_ONLY();
  int coupled = 0;
  int uncoupled = 0;
  for (std::size_t i = 0; i < agreement_problems().size(); ++i) {
    const AgreementProblem& p = agreement_problems()[i];
    if (p.problem.rows_of(BlockKind::contact) == 0 || kSlowStack.contains(p.name)) continue;
    const Answer& reference = references(Law::ncp)[i];
    const double coupling = coupling_across_sliding(p.problem, reference);
    const Answer a = solve(p.problem, GetParam(), 1e-10, kSweepsUnrelaxed);
    if (coupling < 1e-9) {
      ++uncoupled;
      EXPECT_EQ(a.report.status, SolveStatus::converged) << p.name;
      expect_near(p, a, reference, Law::ncp);
    } else {
      ++coupled;
      EXPECT_NE(a.report.status, SolveStatus::converged) << p.name;
      EXPECT_GT(a.judged.natural_map, 0.02 * coupling) << p.name;
      EXPECT_LT(a.judged.natural_map, 2 * coupling) << p.name;
    }
  }
  EXPECT_GE(coupled, 10);
  EXPECT_GE(uncoupled, 10);
}

// With its own limits spook carries no friction through joints: the four-bar on the floor slips where bpp holds it.
// Without friction impulses it is exact.
TEST(SpookFriction, IsTooSmallBehindJoints) {
  SARRUS_FULL_SIZE_ONLY();
  int slipping = 0;
  int without = 0;
  for (std::size_t i = 0; i < agreement_problems().size(); ++i) {
    const AgreementProblem& p = agreement_problems()[i];
    const Answer& reference = references(Law::box)[i];
    double friction = 0;
    for (const ConstraintBlock& b : p.problem.blocks) {
      if (b.kind != BlockKind::contact) continue;
      for (int r = b.row; r < b.row + 2; ++r) {
        friction = std::max(friction, std::abs(reference.lambda[static_cast<std::size_t>(r)]));
      }
    }
    const Answer a = solve(p.problem, "spook", 1e-10);
    if (friction < 1e-8) {
      ++without;
      EXPECT_EQ(a.report.status, SolveStatus::converged) << p.name;
      expect_near(p, a, reference, Law::box);
    }
    if (p.category == ProblemCategory::dense_constraints && p.name.starts_with("fourbar_free")) {
      ++slipping;
      EXPECT_GT(a.judged.error(Law::box), 1e-6) << p.name;
      EXPECT_GT(distance(a, reference), 1e-5) << p.name;
    }
  }
  EXPECT_GE(slipping, 5);
  EXPECT_GE(without, 30);
}

// --- Drumwright's methods, on the rows they know -----------------------------------------------------------

bool bilateral_only(const ConstraintProblem& p) {
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind == BlockKind::limit || b.kind == BlockKind::contact) return false;
    const auto row = static_cast<std::size_t>(b.row);
    if (b.kind == BlockKind::soft && (std::isfinite(p.lower[row]) || std::isfinite(p.upper[row]))) return false;
  }
  return true;
}

TEST(Drumwright, BilateralRowsRigidAndCompliant) {
  SARRUS_FULL_SIZE_ONLY();
  int count = 0;
  for (std::size_t i = 0; i < agreement_problems().size(); ++i) {
    const AgreementProblem& p = agreement_problems()[i];
    if (!bilateral_only(p.problem)) continue;
    ++count;
    const Answer rigid = solve(p.problem, "drum-bilateral", 1e-10);
    EXPECT_EQ(rigid.report.status, SolveStatus::converged) << p.name;
    expect_near(p, rigid, references(Law::ncp)[i], Law::ncp);
    AgreementProblem soft = p;
    testing::make_compliant(soft.problem);
    const Answer a = solve(soft.problem, "drum-bilateral", 1e-12);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << p.name;
    expect_near(soft, a, solve(soft.problem, "cascade", 1e-12), Law::ncp);
  }
  EXPECT_GE(count, 20);
}

TEST(Drumwright, FrictionlessCompliantContacts) {
  SARRUS_FULL_SIZE_ONLY();
  int count = 0;
  for (const AgreementProblem& p : agreement_problems()) {
    if (p.problem.rows_of(BlockKind::contact) == 0) continue;
    ++count;
    AgreementProblem soft = p;
    for (ConstraintBlock& b : soft.problem.blocks) b.mu = 0;
    testing::make_compliant(soft.problem);
    const Answer a = solve(soft.problem, "drum-unilateral", 1e-11);
    EXPECT_EQ(a.report.status, SolveStatus::converged) << p.name;
    expect_near(soft, a, solve(soft.problem, "cascade", 1e-12), Law::ncp);
  }
  EXPECT_GE(count, 40);
}

}  // namespace
}  // namespace sarrus::agreement_test
