// Generated problems against the table of docs/theory/benchmarks.md §6.1.
#include "sarrus/families/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "effort.h"
#include "sarrus/math/error.h"
#include "sarrus/problem/judge.h"
#include "sarrus/solvers/registry.h"
#include "support/dense.h"

namespace sarrus::families_test {
namespace {

struct Expected {
  const char* name;
  int nodes, joints, limits, contacts, rows, rank;
  double mass_ratio;  // exact if `exact`, else an upper bound
  bool exact;
  double mu_low, mu_high;
  double largest_linear, largest_angular;  // bounds on |u_f| without gravity
};

constexpr Expected kExpected[] = {
    {"fourbar_chain", 16, 20, 3, 4, 115, 94, 1e3, false, 0.6, 0.6, 0.05, 0.1},
    {"stewart", 15, 18, 6, 8, 102, 90, 9e3, true, 0.4, 0.7, 0.4, 0.2},
    {"walker31", 31, 36, 0, 40, 300, 182, 1e2, true, 0.7, 0.7, 0.1, 0.2},
    {"gazelle38", 38, 45, 0, 24, 298, 218, 1e3, true, 0.7, 0.7, 0.1, 0.2},
    {"ironman54", 54, 67, 0, 20, 372, 312, 25544, true, 0.7, 0.7, 0.1, 0.2},
    {"ring20", 20, 20, 0, 80, 340, 120, 1e2, false, 0.5, 0.5, 0.3, 0.6},
    {"stack15_heavy_sliding", 15, 0, 0, 60, 180, 90, 1e4, true, 0.5, 0.5, 0.32, 0.04},
    {"stack15_heavy_resting", 15, 0, 0, 60, 180, 90, 1e4, true, 0.5, 0.5, 0.02, 0.04},
    {"stack15_light_sliding", 15, 0, 0, 60, 180, 90, 1e4, true, 0.5, 0.5, 0.32, 0.04},
    {"stack15_light_resting", 15, 0, 0, 60, 180, 90, 1e4, true, 0.5, 0.5, 0.02, 0.04},
    {"pile200", 50, 0, 0, 200, 600, 300, 10, false, 0.5, 0.5, 0.1, 0.2},
    {"pile200_ratio1e3", 50, 0, 0, 200, 600, 300, 1e3, false, 0.8, 0.8, 0.05, 0.1},
    {"pile500", 50, 0, 0, 500, 1500, 300, 10, false, 0.5, 0.5, 0.3, 0.6},
};

int blocks_of(const ConstraintProblem& p, BlockKind kind) {
  return static_cast<int>(
      std::count_if(p.blocks.begin(), p.blocks.end(), [&](const ConstraintBlock& b) { return b.kind == kind; }));
}

double mass_of(const ConstraintProblem& p, std::size_t node) {
  return p.mass[static_cast<std::size_t>(p.mass_offset[node])];
}

double mass_ratio(const ConstraintProblem& p) {
  double lightest = std::numeric_limits<double>::infinity();
  double heaviest = 0;
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    lightest = std::min(lightest, mass_of(p, i));
    heaviest = std::max(heaviest, mass_of(p, i));
  }
  return heaviest / lightest;
}

bool same_bits(const VecX& a, const VecX& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * 8) == 0;
}

void expect_same(const ConstraintProblem& a, const ConstraintProblem& b) {
  EXPECT_TRUE(same_bits(a.u_free, b.u_free));
  EXPECT_EQ(a.mass, b.mass);
  EXPECT_EQ(a.mass_inverse, b.mass_inverse);
  EXPECT_EQ(a.jacobian, b.jacobian);
  EXPECT_EQ(a.bias, b.bias);
}

struct Spectrum {
  int rank;
  double smallest;  // nonzero, relative to the largest
};

Spectrum spectrum(const MatX& J) {
  const VecX s = test::singular_values(J);
  Spectrum out{0, 1};
  for (const double x : s) {
    if (x <= 1e-9 * s[0]) break;
    ++out.rank;
    out.smallest = x / s[0];
  }
  return out;
}

class Families : public ::testing::TestWithParam<Expected> {};

TEST_P(Families, HaveTheSizesOfTheTable) {
  const Expected& e = GetParam();
  for (const std::uint64_t seed : {1, 2, 3, 1000, 1001}) {
    const ConstraintProblem p = problem_family(e.name).make(seed);
    EXPECT_EQ(p.node_count(), e.nodes);
    EXPECT_EQ(blocks_of(p, BlockKind::joint), e.joints);
    EXPECT_EQ(blocks_of(p, BlockKind::limit), e.limits);
    EXPECT_EQ(blocks_of(p, BlockKind::contact), e.contacts);
    EXPECT_EQ(p.rows(), e.rows);
    EXPECT_EQ(p.dt, 0.01);
    if (e.exact) {
      EXPECT_NEAR(mass_ratio(p) / e.mass_ratio, 1, 1e-12);
    } else {
      EXPECT_LE(mass_ratio(p), e.mass_ratio);
      EXPECT_GT(mass_ratio(p), std::sqrt(e.mass_ratio));
    }
  }
}

// Redundancy is the point of these problems. Near-singular ones would leave their rank to round-off, so the smallest
// singular value that counts stays well above the threshold (docs/theory/benchmarks.md §1.1).
TEST_P(Families, HaveTheRankOfTheTable) {
  SARRUS_FULL_SIZE_ONLY();
  const Expected& e = GetParam();
  const int seeds = e.rows > 500 ? 1 : 20;  // those of the benchmark
  for (int i = 0; i < seeds; ++i) {
    const Spectrum s = spectrum(problem_family(e.name).make(static_cast<std::uint64_t>(1000 + i)).dense_J());
    EXPECT_EQ(s.rank, e.rank) << "seed " << 1000 + i;
    EXPECT_GT(s.smallest, 1e-4) << "seed " << 1000 + i;
  }
}

TEST_P(Families, AreFiniteAndPlausible) {
  const Expected& e = GetParam();
  const Vec3 gravity(0, 0, -0.0981);
  for (const std::uint64_t seed : {4, 5, 6}) {
    const ConstraintProblem p = problem_family(e.name).make(seed);
    JudgeWorkspace workspace;
    const std::vector<double> zero(static_cast<std::size_t>(p.rows()), 0.0);
    const Residuals r = judge(p, zero, workspace);
    EXPECT_TRUE(r.finite);
    EXPECT_GT(r.natural_map, 1e-3) << "nothing to solve";
    for (std::size_t i = 0; i < p.node_size.size(); ++i) {
      const Vec6 u = p.u_free.segment<6>(p.node_offset[i]);
      EXPECT_LE((u.head<3>() - gravity).cwiseAbs().maxCoeff(), e.largest_linear + 1e-15);
      EXPECT_LE(u.tail<3>().cwiseAbs().maxCoeff(), e.largest_angular);
      const Eigen::Map<const Mat6> M(p.mass.data() + p.mass_offset[i]);
      const Eigen::Map<const Mat6> W(p.mass_inverse.data() + p.mass_offset[i]);
      EXPECT_LT((M * W - Mat6::Identity()).cwiseAbs().maxCoeff(), 1e-12);
    }
  }
}

// R = 0, v* = 0 on joints and on contact tangents, gap/dt >= 0 on limits and contact normals.
TEST_P(Families, CarryTheBiasOfTheSpec) {
  const Expected& e = GetParam();
  const ConstraintProblem p = problem_family(e.name).make(7);
  for (const double R : p.R) EXPECT_EQ(R, 0);
  for (const ConstraintBlock& b : p.blocks) {
    for (int r = 0; r < b.rows; ++r) {
      const double bias = p.bias[static_cast<std::size_t>(b.row + r)];
      const bool gap_row = b.kind == BlockKind::limit || (b.kind == BlockKind::contact && r == 2);
      if (gap_row) {
        EXPECT_GE(bias, 0);
        EXPECT_LE(bias, 0.1);
      } else {
        EXPECT_EQ(bias, 0);
      }
    }
    if (b.kind != BlockKind::contact) continue;
    EXPECT_GE(b.mu, e.mu_low);
    EXPECT_LE(b.mu, e.mu_high);
  }
}

TEST_P(Families, SameSeedSameBitsOtherSeedsDiffer) {
  const Family& family = problem_family(GetParam().name);
  expect_same(family.make(11), family.make(11));
  EXPECT_FALSE(same_bits(family.make(11).u_free, family.make(12).u_free));
}

TEST_P(Families, WarmPairDiffersInFreeVelocityOnly) {
  const WarmPair pair = warm_pair(problem_family(GetParam().name), 21);
  expect_same(pair.first, problem_family(GetParam().name).make(21));
  EXPECT_EQ(pair.first.jacobian, pair.second.jacobian);
  EXPECT_EQ(pair.first.bias, pair.second.bias);
  const VecX d = pair.second.u_free - pair.first.u_free;
  const double deviation = std::sqrt(d.squaredNorm() / static_cast<double>(d.size()));
  EXPECT_NEAR(deviation, 1e-3, 3e-4);
  VecX v(pair.second.rows());
  pair.second.multiply_J(pair.second.u_free, v);
  for (int i = 0; i < v.size(); ++i)
    EXPECT_EQ(v[i] + pair.second.bias[static_cast<std::size_t>(i)], pair.second.v_free[i]);
}

TEST_P(Families, SequenceTakesSmallSteps) {
  const std::vector<ConstraintProblem> sequence = warm_sequence(problem_family(GetParam().name), 31, 4);
  ASSERT_EQ(sequence.size(), 4u);
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    EXPECT_EQ(sequence[i].jacobian, sequence[0].jacobian);
    const VecX d = sequence[i].u_free - sequence[i - 1].u_free;
    EXPECT_GT(d.cwiseAbs().maxCoeff(), 0.01);
    EXPECT_LE(d.cwiseAbs().maxCoeff(), 0.02 + 1e-15);
    EXPECT_FALSE(same_bits(sequence[i].v_free, sequence[i - 1].v_free));
  }
}

// Strict feasibility: some motion that the joints allow opens all contacts and limits, v_N > mu |v_T|. Then the NCP has
// a solution, so that a miss is the solver's. The motion is the answer of the convex problem that asks for v_N >= 1 +
// mu |v_T|; how it was found does not matter.
TEST_P(Families, CanOpenAllContacts) {
  SARRUS_FULL_SIZE_ONLY();
  const int seeds = GetParam().rows > 500 ? 1 : 20;
  for (int i = 0; i < seeds; ++i) {
    ConstraintProblem p = problem_family(GetParam().name).make(static_cast<std::uint64_t>(1000 + i));
    p.u_free.setZero();
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind != BlockKind::joint) p.bias[static_cast<std::size_t>(b.row + b.rows - 1)] = -1;
    }
    p.finish();
    std::vector<double> lambda(static_cast<std::size_t>(p.rows()), 0.0);
    make_solver("sap")->solve(p, 1e-9, lambda);
    JudgeWorkspace workspace;
    judge(p, lambda, workspace);
    VecX v(p.rows());
    p.multiply_J(workspace.u, v);
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind == BlockKind::joint) {
        EXPECT_LT(v.segment(b.row, b.rows).cwiseAbs().maxCoeff(), 0.01) << "seed " << 1000 + i;
      } else {
        const double tangential = b.kind == BlockKind::contact ? v.segment<2>(b.row).norm() : 0.0;
        EXPECT_GT(v[b.row + b.rows - 1] - b.mu * tangential, 0.5) << "seed " << 1000 + i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Families, ::testing::ValuesIn(kExpected),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(FamilyList, IsTheOneThatIsTested) {
  ASSERT_EQ(problem_families().size(), std::size(kExpected));
  for (std::size_t i = 0; i < std::size(kExpected); ++i) EXPECT_EQ(problem_families()[i].name, kExpected[i].name);
  EXPECT_THROW(problem_family("no such family"), InputError);
}

// Every fifth foot contact on average is open by 0.1 mm, which is 0.01 m/s over the step.
TEST(FamilyList, SomeFootContactsAreOpen) {
  int open = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ConstraintProblem p = problem_family("walker31").make(seed);
    for (const ConstraintBlock& b : p.blocks) {
      if (b.kind != BlockKind::contact) continue;
      const double bias = p.bias[static_cast<std::size_t>(b.row + 2)];
      EXPECT_TRUE(bias == 0 || std::abs(bias - 0.01) < 1e-15);
      open += bias > 0;
      ++all;
    }
  }
  EXPECT_NEAR(static_cast<double>(open) / all, 0.2, 0.05);
}

// Loops of planar four-bars: three redundant rows each, one if closed by a spherical joint.
TEST(FamilyList, JointRowsAreAsRedundantAsTheirLoops) {
  const auto joint_rank = [](const char* name) {
    const ConstraintProblem p = problem_family(name).make(1005);
    return spectrum(p.dense_J().topRows(p.rows_of(BlockKind::joint))).rank;
  };
  EXPECT_EQ(joint_rank("fourbar_chain"), 85);
  EXPECT_EQ(joint_rank("stewart"), 72);
  EXPECT_EQ(joint_rank("walker31"), 162);
  EXPECT_EQ(joint_rank("gazelle38"), 205);
  EXPECT_EQ(joint_rank("ironman54"), 297);
  EXPECT_EQ(joint_rank("ring20"), 97);
}

}  // namespace
}  // namespace sarrus::families_test
