#include "sarrus/solvers/linear_factor.h"

#include <algorithm>

#include "sarrus/math/tools.h"

namespace sarrus {

bool LinearFactor::factor(const ConstraintProblem& p) {
  constexpr double kShift = 3e-9;
  problem_ = nullptr;
  block_count_ = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::joint) break;
    ++block_count_;
  }
  row_count_ = p.rows_of(BlockKind::joint);
  for (GrowingVector* v : {&weight_, &weighted_}) v->resize(row_count_);
  for (int i = 0; i < row_count_; ++i) {
    const double R = p.R[at(i)];
    weight_[i] = 1 / std::max(R + kShift * (p.diagonal[i] - R), 1e-300);
  }
  const std::span<const ConstraintBlock> blocks(p.blocks.data(), block_count_);
  normal_.prepare(p, blocks);
  if (!normal_.factor(p, blocks, {weight_.data(), at(row_count_)})) return false;
  problem_ = &p;
  return true;
}

void LinearFactor::step(const GrowingVector& residual, VecX& out) {
  for (int i = 0; i < row_count_; ++i) weighted_[i] = -weight_[i] * residual[i];
  normal_.solve(*problem_, joints(), {weighted_.data(), at(row_count_)}, out);
}

}  // namespace sarrus
