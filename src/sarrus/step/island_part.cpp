#include "sarrus/step/island_part.h"

#include <algorithm>

#include "sarrus/math/tools.h"

namespace sarrus {

void IslandPart::take(const ConstraintProblem& whole, std::span<const std::uint8_t> marked) {
  node_of_.assign(at(whole.node_count()), -1);
  nodes_.clear();
  sizes_.clear();
  blocks_.clear();
  for (int k = 0; k < whole.node_count(); ++k) {
    const int island = whole.islands.of_node(k);
    if (island < 0 || marked[at(island)] == 0) continue;
    node_of_[at(k)] = static_cast<int>(nodes_.size());
    nodes_.push_back(k);
    sizes_.push_back(whole.node_size[at(k)]);
  }
  ConstraintProblem& p = problem_;
  p.clear_constraints();
  p.set_nodes(sizes_);
  p.dt = whole.dt;
  p.physical = whole.physical;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::size_t k = at(nodes_[i]);
    const int n = sizes_[i];
    std::copy_n(whole.mass.begin() + whole.mass_offset[k], n * n, p.mass.begin() + p.mass_offset[i]);
    std::copy_n(whole.mass_inverse.begin() + whole.mass_offset[k], n * n, p.mass_inverse.begin() + p.mass_offset[i]);
    p.u_free.segment(p.node_offset[i], n) = whole.u_free.segment(whole.node_offset[k], n);
  }
  for (std::size_t i = 0; i < whole.blocks.size(); ++i) {
    const ConstraintBlock& b = whole.blocks[i];
    const int island = whole.islands.of(b);
    if (island < 0 || marked[at(island)] == 0) continue;
    blocks_.push_back(static_cast<int>(i));
    int nodes[kMaxBlockNodes] = {};
    for (int k = 0; k < b.nodes; ++k) nodes[k] = node_of_[at(b.node[k])];
    ConstraintBlock& mine = p.add_block(b.kind, b.rows, std::span<const int>(nodes, at(b.nodes)));
    mine.source_kind = b.source_kind;
    mine.source = b.source;
    mine.mu = b.mu;
    mine.id = b.id;
    for (int k = 0; k < b.nodes; ++k) {
      const int n = b.rows * whole.node_size[at(b.node[k])];
      std::copy_n(whole.jacobian.begin() + b.jac[k], n, p.jacobian.begin() + mine.jac[k]);
    }
    std::copy_n(whole.R.begin() + b.row, b.rows, p.R.begin() + mine.row);
    std::copy_n(whole.bias.begin() + b.row, b.rows, p.bias.begin() + mine.row);
    std::copy_n(whole.lower.begin() + b.row, b.rows, p.lower.begin() + mine.row);
    std::copy_n(whole.upper.begin() + b.row, b.rows, p.upper.begin() + mine.row);
  }
  p.finish();
}

void IslandPart::scatter(const ConstraintProblem& whole, std::span<const double> part, std::span<double> lambda) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const ConstraintBlock& b = whole.blocks[at(blocks_[i])];
    std::copy_n(part.begin() + problem_.blocks[i].row, b.rows, lambda.begin() + b.row);
  }
}

void IslandPart::gather(const ConstraintProblem& whole, std::span<const double> lambda, std::span<double> part) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const ConstraintBlock& b = whole.blocks[at(blocks_[i])];
    std::copy_n(lambda.begin() + b.row, b.rows, part.begin() + problem_.blocks[i].row);
  }
}

void IslandPart::scatter_nodes(const ConstraintProblem& whole, const VecX& part, VecX& u) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    u.segment(whole.node_offset[at(nodes_[i])], sizes_[i]) = part.segment(problem_.node_offset[i], sizes_[i]);
  }
}

void IslandPart::gather_nodes(const ConstraintProblem& whole, const VecX& u, VecX& part) const {
  part.resize(problem_.velocity_size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    part.segment(problem_.node_offset[i], sizes_[i]) = u.segment(whole.node_offset[at(nodes_[i])], sizes_[i]);
  }
}

}  // namespace sarrus
