// Categories of problems by counts alone (docs/theory/benchmarks.md §4): each border from both sides.
#include "sarrus/analysis/category.h"
#include "sarrus/analysis/analysis.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace sarrus::category_test {
namespace {

struct Counts {
  int bodies = 0, joint_rows = 0, limits = 0, contacts = 0, soft = 0;
};

// Joint rows in blocks of one; row i holds velocity i, and starts again after `independent` of them.
ConstraintProblem with(const Counts& c, int independent) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>(static_cast<std::size_t>(c.bodies), 6));
  p.u_free = VecX::Zero(p.velocity_size());
  const auto add = [&](BlockKind kind, int rows, int velocity) {
    const ConstraintBlock& b = p.add_block(kind, rows, std::vector<int>{velocity / 6});
    p.jacobian_row(b, 0, 0)[velocity % 6] = 2 + velocity;
  };
  for (int i = 0; i < c.joint_rows; ++i) add(BlockKind::joint, 1, i % independent);
  for (int i = 0; i < c.soft; ++i) add(BlockKind::soft, 1, 0);
  for (int i = 0; i < c.limits; ++i) add(BlockKind::limit, 1, 0);
  for (int i = 0; i < c.contacts; ++i) add(BlockKind::contact, 3, 0);
  p.finish();
  return p;
}

ProblemCategory of(const Counts& c, int independent = 1) {
  const ConstraintProblem p = with(c, independent);
  return category(p, joint_rank(p));
}

TEST(Category, JointsWithoutContacts) {
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 5}, 5), ProblemCategory::independent_joints);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 12}, 12), ProblemCategory::independent_joints);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 5, .limits = 20, .soft = 3}, 5), ProblemCategory::independent_joints);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 11}, 10), ProblemCategory::redundant_joints);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 12}, 11), ProblemCategory::dense_joints);
}

TEST(Category, Contacts) {
  EXPECT_EQ(of({.bodies = 1, .contacts = 1}), ProblemCategory::single_contact);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 14, .contacts = 1}, 5), ProblemCategory::single_contact);
  EXPECT_EQ(of({.bodies = 1, .contacts = 2}), ProblemCategory::sparse_contacts);
  EXPECT_EQ(of({.bodies = 1, .contacts = 3}), ProblemCategory::dense_contacts);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 6, .contacts = 2}, 6), ProblemCategory::sparse_contacts);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 6, .limits = 1, .contacts = 2}, 6), ProblemCategory::dense_constraints);
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 6, .contacts = 2, .soft = 9}, 6), ProblemCategory::sparse_contacts)
      << "drives are no constraints";
  EXPECT_EQ(of({.bodies = 2, .limits = 9, .contacts = 2}), ProblemCategory::sparse_contacts) << "no joints";
  EXPECT_EQ(of({.bodies = 2, .joint_rows = 12, .contacts = 5}, 6), ProblemCategory::dense_contacts);
}

TEST(Category, NothingToClassify) {
  EXPECT_EQ(of({.bodies = 1}), ProblemCategory::unconstrained);
  EXPECT_EQ(of({.bodies = 1, .soft = 2}), ProblemCategory::unconstrained);
}

TEST(Category, RankIgnoresUnits) {
  ConstraintProblem p = with({.bodies = 2, .joint_rows = 7}, 6);
  EXPECT_EQ(joint_rank(p), 6);
  for (const ConstraintBlock& b : p.blocks) p.jacobian_row(b, 0, 0)[b.row % 6] *= b.row == 3 ? 1e-12 : 1e6;
  EXPECT_EQ(joint_rank(p), 6);
}

TEST(Category, NamesDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i <= kProblemCategoryCount; ++i) names.insert(name_of(static_cast<ProblemCategory>(i)));
  EXPECT_EQ(names.size(), 8u);
}

}  // namespace
}  // namespace sarrus::category_test
