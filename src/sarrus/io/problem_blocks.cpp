#include "sarrus/io/problem_blocks.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>

namespace sarrus {
namespace {

constexpr double kSymmetry = 1e-9;
constexpr double kInverse = 1e-6;
constexpr std::int64_t kMaxNumbers = 1 << 30;  // what int offsets can address

void check_range(const hdf5::Reader& file, const char* name, std::size_t block, int value, int low, int high) {
  if (value >= low && value <= high) return;
  file.fail(name, fmt::format("entry {} is {}, outside {}..{}", block, value, low, high));
}

void check_nodes(const hdf5::Reader& file, const BlockTable& t, std::size_t i, int node_count) {
  check_range(file, "/blocks/nodes", i, t.nodes[i], 1, kMaxBlockNodes);
  const int* node = t.node.data() + i * kMaxBlockNodes;
  for (int k = 0; k < t.nodes[i]; ++k) {
    check_range(file, "/blocks/node", i, node[k], 0, node_count - 1);
    for (int l = 0; l < k; ++l) {
      if (node[l] == node[k]) file.fail("/blocks/node", fmt::format("block {} names node {} twice", i, node[k]));
    }
  }
}

void check_block(const hdf5::Reader& file, const BlockTable& t, std::size_t i, int node_count) {
  check_range(file, "/blocks/kind", i, t.kind[i], 0, static_cast<int>(BlockKind::contact));
  check_range(file, "/blocks/source_kind", i, t.source_kind[i], 0, static_cast<int>(RowSource::contact));
  if (i > 0 && t.kind[i] < t.kind[i - 1]) {
    file.fail("/blocks/kind", fmt::format("entry {} breaks the order joints, soft rows, limits, contacts", i));
  }
  const bool contact = t.kind[i] == static_cast<int>(BlockKind::contact);
  check_range(file, "/blocks/rows", i, t.rows[i], contact ? 3 : 1, contact ? 3 : kMaxBlockRows);
  check_nodes(file, t, i, node_count);
  if (!(t.mu[i] >= 0)) file.fail("/blocks/mu", fmt::format("entry {} is {}, friction is >= 0", i, t.mu[i]));
}

}  // namespace

void check_node_sizes(const hdf5::Reader& file, const std::vector<int>& sizes) {
  std::int64_t numbers = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) file.fail("/nodes/size", fmt::format("entry {} is {}, sizes are >= 1", i, sizes[i]));
    numbers += static_cast<std::int64_t>(sizes[i]) * sizes[i];
    if (numbers > kMaxNumbers) file.fail("/nodes/size", "the nodes are larger than memory can hold");
  }
}

void check_masses(const hdf5::Reader& file, const ConstraintProblem& p) {
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    const Eigen::Map<const MatX> M(p.mass.data() + p.mass_offset[i], n, n);
    const Eigen::Map<const MatX> W(p.mass_inverse.data() + p.mass_offset[i], n, n);
    const auto bad = [&](const char* name, const char* what) {
      file.fail(name, fmt::format("the block of node {} is {}", i, what));
    };
    if ((M - M.transpose()).cwiseAbs().maxCoeff() > kSymmetry * M.cwiseAbs().maxCoeff()) {
      bad("/nodes/mass", "not symmetric");
    }
    if (Eigen::LLT<MatX>(M).info() != Eigen::Success) bad("/nodes/mass", "not positive definite");
    if (!((M * W - MatX::Identity(n, n)).cwiseAbs().maxCoeff() <= kInverse)) {
      bad("/nodes/mass_inverse", "not the inverse of the mass");
    }
  }
}

void add_blocks(const hdf5::Reader& file, const BlockTable& t, std::int64_t jacobian_size, ConstraintProblem& p) {
  std::int64_t numbers = 0;
  for (std::size_t i = 0; i < t.kind.size(); ++i) {
    check_block(file, t, i, p.node_count());
    const int* node = t.node.data() + i * kMaxBlockNodes;
    const int* jac = t.jac.data() + i * kMaxBlockNodes;
    for (int k = 0; k < t.nodes[i]; ++k) {
      if (jac[k] != numbers) {
        file.fail("/blocks/jac", fmt::format("block {} starts at {}, its place is {}", i, jac[k], numbers));
      }
      numbers += static_cast<std::int64_t>(t.rows[i]) * p.node_size[static_cast<std::size_t>(node[k])];
    }
    if (numbers > jacobian_size) break;
    if (t.row[i] != p.rows()) {
      file.fail("/blocks/row", fmt::format("block {} starts at row {}, its place is {}", i, t.row[i], p.rows()));
    }
    ConstraintBlock& b =
        p.add_block(static_cast<BlockKind>(t.kind[i]), t.rows[i], {node, static_cast<std::size_t>(t.nodes[i])});
    b.source_kind = static_cast<RowSource>(t.source_kind[i]);
    b.source = t.source[i];
    b.mu = t.mu[i];
    b.id = t.id[i];
  }
  if (numbers != jacobian_size) {
    file.fail("/jacobian", fmt::format("has {} numbers, the blocks need {}{}", jacobian_size,
                                       numbers > jacobian_size ? "at least " : "", numbers));
  }
}

void check_rows(const hdf5::Reader& file, const ConstraintProblem& p) {
  for (const ConstraintBlock& b : p.blocks) {
    for (int r = b.row; r < b.row + b.rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      if (p.R[i] < 0) file.fail("/rows/R", fmt::format("row {} is {}, compliance is >= 0", r, p.R[i]));
      if (p.lower[i] > p.upper[i]) {
        file.fail("/rows/lower", fmt::format("row {}: lower bound {} above the upper {}", r, p.lower[i], p.upper[i]));
      }
      const bool bounded = std::isfinite(p.lower[i]) || std::isfinite(p.upper[i]);
      if (bounded && b.kind != BlockKind::soft) {
        file.fail("/rows/lower", fmt::format("row {} is bounded, which only soft rows are", r));
      }
    }
  }
}

}  // namespace sarrus
