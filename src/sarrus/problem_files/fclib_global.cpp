// Global problems: masses of the file, nodes that are sets of its coordinates.
#include <fmt/format.h>

#include <optional>
#include <set>

#include "sarrus/math/dense.h"
#include "sarrus/math/error.h"
#include "sarrus/problem_files/fclib_data.h"

namespace sarrus::fclib {
namespace {

// Coordinates that a block touches: columns [first, first + count) of H or G.
std::set<int> touched(const Sparse& A, int first, int count) {
  std::set<int> dofs;
  for (int c = first; c < first + count; ++c) {
    for (Sparse::InnerIterator it(A, c); it; ++it) {
      if (it.value() != 0) dofs.insert(static_cast<int>(it.row()));
    }
  }
  return dofs;
}

std::vector<std::set<int>> touched_by_block(const Data& data) {
  std::vector<std::set<int>> out;
  for (int k = 0; k < data.equalities; ++k) out.push_back(touched(data.G, k, 1));
  for (int c = 0; c < data.contacts; ++c) out.push_back(touched(data.H, 3 * c, 3));
  return out;
}

// Joins coordinates in runs of `length` if the mass couples none beyond its run.
bool join_runs(const Sparse& M, int length, UnionFind& sets) {
  if (M.rows() % length != 0) return false;
  for (int c = 0; c < M.outerSize(); ++c) {
    for (Sparse::InnerIterator it(M, c); it; ++it) {
      if (it.value() != 0 && it.row() / length != c / length) return false;
    }
  }
  for (int i = 0; i < M.rows(); ++i) sets.join(i, i - i % length);
  return true;
}

// Bodies (runs of 6, else of 3 coordinates) where the mass allows it, otherwise what the mass couples. A block that
// would touch more nodes than it may joins them to one.
constexpr std::size_t kMostNodes = 4;
std::vector<int> node_of_dof(const Sparse& M, const std::vector<std::set<int>>& blocks, int& count) {
  UnionFind sets(static_cast<int>(M.rows()));
  if (!join_runs(M, 6, sets) && !join_runs(M, 3, sets)) {
    for (int c = 0; c < M.outerSize(); ++c) {
      for (Sparse::InnerIterator it(M, c); it; ++it) {
        if (it.value() != 0) sets.join(static_cast<int>(it.row()), c);
      }
    }
  }
  for (const std::set<int>& dofs : blocks) {
    std::set<int> nodes;
    for (const int d : dofs) nodes.insert(sets.find(d));
    if (nodes.size() <= kMostNodes) continue;
    for (const int n : nodes) sets.join(n, *nodes.begin());
  }
  // Coordinates that nothing touches are left out, but one node there must be.
  const std::vector<int> all = sets.labels(count);
  std::vector<bool> used(static_cast<std::size_t>(count), false);
  for (const std::set<int>& dofs : blocks) {
    for (const int d : dofs) used[static_cast<std::size_t>(all[static_cast<std::size_t>(d)])] = true;
    if (dofs.empty()) used[0] = true;
  }
  std::vector<int> number(static_cast<std::size_t>(count), -1);
  count = 0;
  for (std::size_t n = 0; n < used.size(); ++n) {
    if (used[n]) number[n] = count++;
  }
  std::vector<int> node(all.size());
  for (std::size_t d = 0; d < all.size(); ++d) node[d] = number[static_cast<std::size_t>(all[d])];
  return node;
}

struct Layout {
  std::vector<int> node;               // by coordinate; -1: left out
  std::vector<int> place;              // by coordinate: index within its node
  std::vector<std::vector<int>> dofs;  // by node
};

Layout layout(const std::string& path, const Sparse& M, const std::vector<std::set<int>>& blocks) {
  Layout out;
  int count = 0;
  out.node = node_of_dof(M, blocks, count);
  out.place.assign(out.node.size(), 0);
  out.dofs.resize(static_cast<std::size_t>(count));
  for (std::size_t d = 0; d < out.node.size(); ++d) {
    if (out.node[d] < 0) continue;
    std::vector<int>& dofs = out.dofs[static_cast<std::size_t>(out.node[d])];
    out.place[d] = static_cast<int>(dofs.size());
    dofs.push_back(static_cast<int>(d));
  }
  for (const std::vector<int>& dofs : out.dofs) {
    if (dofs.size() > kMaxDense) {
      throw InputError(path, fmt::format("/fclib_global/M: {} coordinates form one node, more than {}; give a smaller "
                                         "problem",
                                         dofs.size(), kMaxDense));
    }
  }
  return out;
}

// Dense masses, and rows as wide as the nodes that they touch.
void check_widths(const std::string& path, const Data& data, const std::vector<std::set<int>>& blocks,
                  const Layout& l) {
  double masses = 0;
  for (const std::vector<int>& dofs : l.dofs)
    masses += static_cast<double>(dofs.size()) * static_cast<double>(dofs.size());
  check_growth(path, "/fclib_global/M", masses, static_cast<double>(data.M.nonZeros()));
  double rows = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::set<int> nodes;
    for (const int d : blocks[i]) nodes.insert(l.node[static_cast<std::size_t>(d)]);
    for (const int n : nodes) {
      rows += (i < static_cast<std::size_t>(data.equalities) ? 1 : 3) *
              static_cast<double>(l.dofs[static_cast<std::size_t>(n)].size());
    }
  }
  check_growth(path, "/fclib_global/H", rows, static_cast<double>(data.H.nonZeros() + data.G.nonZeros()));
}

void set_masses(const std::string& path, const Data& data, const Sparse& M, const Layout& l, ConstraintProblem& p) {
  std::vector<int> sizes;
  for (const std::vector<int>& dofs : l.dofs) sizes.push_back(static_cast<int>(dofs.size()));
  p.set_nodes(sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int n = sizes[i];
    Eigen::Map<MatX> mass(p.mass.data() + p.mass_offset[i], n, n);
    MatX right = MatX::Identity(n, n + 1);  // the last column: f
    for (int k = 0; k < n; ++k) {
      const int d = l.dofs[i][static_cast<std::size_t>(k)];
      right(k, n) = data.f[d];
      for (Sparse::InnerIterator it(M, d); it; ++it) {
        if (it.value() != 0) mass(l.place[static_cast<std::size_t>(it.row())], k) = it.value();
      }
    }
    const std::optional<MatX> solution = solve_definite(mass, right);
    if (!solution) {
      throw InputError(path, fmt::format("/fclib_global/M: not positive definite at coordinate {}; export the problem "
                                         "again",
                                         l.dofs[i].front()));
    }
    Eigen::Map<MatX>(p.mass_inverse.data() + p.mass_offset[i], n, n) = solution->leftCols(n);
    p.u_free.segment(p.node_offset[i], n) = solution->col(n);
  }
}

// A block of the columns [first, first + rows) of A, each transposed.
void add_rows(const Sparse& A, int first, int rows, const std::set<int>& dofs, const Layout& l, BlockKind kind,
              ConstraintProblem& p) {
  std::set<int> used;
  for (const int d : dofs) used.insert(l.node[static_cast<std::size_t>(d)]);
  if (used.empty()) used.insert(0);
  const std::vector<int> nodes(used.begin(), used.end());
  ConstraintBlock& b = p.add_block(kind, rows, nodes);
  b.id = p.blocks.size();
  b.source_kind = kind == BlockKind::contact ? RowSource::contact : RowSource::joint;
  b.source = first / rows;
  for (int j = 0; j < rows; ++j) {
    const int r = kind == BlockKind::contact ? (j + 2) % 3 : j;  // (n, t1, t2) to [t1, t2, n]
    for (Sparse::InnerIterator it(A, first + j); it; ++it) {
      if (it.value() == 0) continue;
      const auto d = static_cast<std::size_t>(it.row());
      const auto k = std::lower_bound(nodes.begin(), nodes.end(), l.node[d]) - nodes.begin();
      p.jacobian_row(b, static_cast<int>(k), r)[l.place[d]] = it.value();
    }
  }
}

}  // namespace

void convert_global(const std::string& path, const Data& data, FclibProblem& out) {
  const Sparse M = symmetrised(data.M, out.info.asymmetry);
  const std::vector<std::set<int>> blocks = touched_by_block(data);
  const Layout l = layout(path, M, blocks);
  check_widths(path, data, blocks, l);
  ConstraintProblem& p = out.stored.problem;
  set_masses(path, data, M, l, p);
  for (int k = 0; k < data.equalities; ++k) {
    add_rows(data.G, k, 1, blocks[static_cast<std::size_t>(k)], l, BlockKind::joint, p);
    p.bias[static_cast<std::size_t>(k)] = data.b[k];
  }
  for (int c = 0; c < data.contacts; ++c) {
    add_rows(data.H, 3 * c, 3, blocks[static_cast<std::size_t>(data.equalities + c)], l, BlockKind::contact, p);
    p.blocks.back().mu = data.mu[static_cast<std::size_t>(c)];
    for (int j = 0; j < 3; ++j) p.bias[static_cast<std::size_t>(contact_row(data, c, j))] = data.w[3 * c + j];
  }
}

}  // namespace sarrus::fclib
