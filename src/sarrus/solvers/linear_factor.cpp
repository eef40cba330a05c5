#include "sarrus/solvers/linear_factor.h"

#include <algorithm>

#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"

namespace sarrus {
namespace {

constexpr int kLeastRows = 512;  // that are worth a thread

}  // namespace

bool LinearFactor::factor(const ConstraintProblem& p) {
  constexpr double kShift = 3e-9;
  problem_ = nullptr;
  block_count_ = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind > BlockKind::soft) break;
    ++block_count_;
  }
  joint_rows_ = p.rows_of(BlockKind::joint);
  rows_ = joint_rows_ + p.rows_of(BlockKind::soft);
  for (GrowingVector* v : {&weight_, &weighted_}) v->resize(rows_);
  Workers::here().ranges(rows_, kLeastRows, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const double R = p.R[at(i)];
      weight_[i] = 1 / std::max(R + kShift * (p.diagonal[i] - R), 1e-300);
    }
  });
  for (std::size_t i = block_count_; i-- > 0 && p.blocks[i].kind == BlockKind::soft;) {
    const bool taken = taken_of_ == &p && i < taken_.size() && taken_[i] != 0;
    if (!taken) weight_.segment(p.blocks[i].row, p.blocks[i].rows).setZero();
  }
  const std::span<const ConstraintBlock> blocks(p.blocks.data(), block_count_);
  normal_.prepare(p, blocks);
  if (!normal_.factor(p, blocks, {weight_.data(), at(rows_)})) return false;
  problem_ = &p;
  return true;
}

void LinearFactor::step(const GrowingVector& residual, VecX& out) {
  weighted_.head(joint_rows_) = -weight_.head(joint_rows_).cwiseProduct(residual.head(joint_rows_));
  weighted_.segment(joint_rows_, rows_ - joint_rows_).setZero();
  normal_.solve(*problem_, blocks(), {weighted_.data(), at(rows_)}, out);
}

}  // namespace sarrus
