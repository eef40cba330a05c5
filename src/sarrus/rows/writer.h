// Writes rows given on body twists into the node blocks of a constraint problem. Internal to rows/.
#pragma once

#include "sarrus/rows/rows.h"

namespace sarrus {

// The distinct nodes of the bodies of one block; the world has none.
class NodeList {
 public:
  void add(const Coordinates& coordinates, int body) {
    if (body == kWorld) return;
    const int node = coordinates.map(body).node;
    if (find(node) < 0) node_[count_++] = node;
  }
  int find(int node) const {
    for (int k = 0; k < count_; ++k) {
      if (node_[k] == node) return k;
    }
    return -1;
  }
  std::span<const int> span() const { return {node_, static_cast<std::size_t>(count_)}; }

 private:
  int node_[kMaxBlockNodes] = {};
  int count_ = 0;
};

// Block with its source and an identity that is stable from step to step; identities ascend in the order of emission
// within a segment, so that warm starts match by merging.
inline ConstraintBlock& add_labelled_block(ConstraintProblem& p, BlockKind kind, int rows, const NodeList& nodes,
                                           RowSource source_kind, int source) {
  ConstraintBlock& b = p.add_block(kind, rows, nodes.span());
  b.source_kind = source_kind;
  b.source = source;
  b.id = block_id(source_kind, source);
  return b;
}

// Adds scale * row X_B to row r of the block at the node of `body`; nothing for the world.
inline void add_body_row(const Coordinates& coordinates, ConstraintProblem& p, const ConstraintBlock& b,
                         const NodeList& nodes, int body, int r, const Vec6& row, double scale = 1.0) {
  if (body == kWorld) return;
  const BodyMap& map = coordinates.map(body);
  double* J = p.jacobian_row(b, nodes.find(map.node), r);
  if (map.X == nullptr) {
    for (int c = 0; c < 6; ++c) J[c] += scale * row[c];
  } else {
    for (int c = 0; c < map.size; ++c) J[c] += scale * Eigen::Map<const Vec6>(map.X + 6 * c).dot(row);
  }
}

// Loaded limits of the context as bilateral rows.
void add_sustained_limits(const RowContext& context, ConstraintProblem& problem);

}  // namespace sarrus
