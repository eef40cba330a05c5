#include "sarrus/solvers/linear_factor.h"

#include <algorithm>

#include "sarrus/math/tools.h"

namespace sarrus {

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
  for (int i = 0; i < rows_; ++i) {
    const double R = p.R[at(i)];
    weight_[i] = 1 / std::max(R + kShift * (p.diagonal[i] - R), 1e-300);
  }
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
  for (int i = 0; i < joint_rows_; ++i) weighted_[i] = -weight_[i] * residual[i];
  for (int i = joint_rows_; i < rows_; ++i) weighted_[i] = 0;
  normal_.solve(*problem_, blocks(), {weighted_.data(), at(rows_)}, out);
}

}  // namespace sarrus
