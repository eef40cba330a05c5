// Local problems: the matrix of the file as J J' with unit masses, by eigenvalues.
#include <fmt/format.h>

#include "sarrus/math/dense.h"
#include "sarrus/math/error.h"
#include "sarrus/problem_files/fclib_data.h"

namespace sarrus::fclib {
namespace {

constexpr double kDropped = 1e-14;    // eigenvalues below this times the largest are rounding of zero
constexpr double kIndefinite = 1e-9;  // and those below minus this are not

// [R V'; V W] in the row order of the constraint problem.
Sparse full_matrix(const Data& data) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](const Sparse& A, auto row, auto column, bool mirrored) {
    for (int c = 0; c < A.outerSize(); ++c) {
      for (Sparse::InnerIterator it(A, c); it; ++it) {
        const int i = row(static_cast<int>(it.row()));
        const int j = column(static_cast<int>(it.col()));
        entries.emplace_back(i, j, it.value());
        if (mirrored) entries.emplace_back(j, i, it.value());
      }
    }
  };
  const auto equality = [](int k) { return k; };
  const auto contact = [&](int i) { return contact_row(data, i); };
  add(data.W, contact, contact, false);
  if (data.equalities > 0) {
    add(data.V, contact, equality, true);
    add(data.R, equality, equality, false);
  }
  Sparse F(data.rows(), data.rows());
  F.setFromTriplets(entries.begin(), entries.end());
  return F;
}

// Sets of rows that the matrix couples; the rows of a contact stay together.
std::vector<std::vector<int>> coupled_rows(const Data& data, const Sparse& F) {
  const auto block = [&](int row) {
    return row < data.equalities ? row : data.equalities + (row - data.equalities) / 3;
  };
  UnionFind sets(data.equalities + data.contacts);
  for (int c = 0; c < F.outerSize(); ++c) {
    for (Sparse::InnerIterator it(F, c); it; ++it) {
      if (it.value() != 0) sets.join(block(static_cast<int>(it.row())), block(c));
    }
  }
  int count = 0;
  const std::vector<int> label = sets.labels(count);
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(count));
  for (int r = 0; r < data.rows(); ++r) {
    rows[static_cast<std::size_t>(label[static_cast<std::size_t>(block(r))])].push_back(r);
  }
  return rows;
}

struct Factor {
  std::vector<int> rows;
  MatX J;  // rows.size() x rank, at least one column
  double smallest = 0;
  double largest = 0;
  int rank = 0;
};

Factor factorise(const std::vector<int>& rows, const Sparse& F, std::vector<int>& place) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) place[static_cast<std::size_t>(rows[k])] = static_cast<int>(k);
  MatX A = MatX::Zero(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    for (Sparse::InnerIterator it(F, rows[static_cast<std::size_t>(k)]); it; ++it) {
      if (it.value() != 0) A(place[static_cast<std::size_t>(it.row())], k) = it.value();
    }
  }
  const auto [values, vectors] = symmetric_eigen(A);
  Factor out;
  out.rows = rows;
  out.smallest = values[0];
  out.largest = values[n - 1];
  while (out.rank < n && values[n - 1 - out.rank] > std::max(kDropped * out.largest, 0.0)) ++out.rank;
  out.J = MatX::Zero(n, std::max(out.rank, 1));
  const VecX roots = values.tail(out.rank).cwiseSqrt();
  out.J.leftCols(out.rank) = vectors.rightCols(out.rank) * roots.asDiagonal();
  return out;
}

void set_unit_masses(const std::vector<Factor>& factors, ConstraintProblem& p) {
  std::vector<int> sizes;
  for (const Factor& f : factors) sizes.push_back(static_cast<int>(f.J.cols()));
  p.set_nodes(sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (int k = 0; k < sizes[i]; ++k) {
      const auto diagonal = static_cast<std::size_t>(p.mass_offset[i] + k * (sizes[i] + 1));
      p.mass[diagonal] = p.mass_inverse[diagonal] = 1;
    }
  }
}

// A block on the node of its rows.
void add_rows(const std::vector<Factor>& factors, const std::vector<std::pair<int, int>>& where, BlockKind kind,
              int rows, int source, double mu, ConstraintProblem& p) {
  const auto [node, first] = where[static_cast<std::size_t>(p.rows())];
  ConstraintBlock& b = p.add_block(kind, rows, {&node, 1});
  b.source_kind = kind == BlockKind::contact ? RowSource::contact : RowSource::joint;
  b.source = source;
  b.mu = mu;
  b.id = p.blocks.size();
  const MatX& J = factors[static_cast<std::size_t>(node)].J;
  for (int r = 0; r < rows; ++r) {
    double* out = p.jacobian_row(b, 0, r);
    for (Eigen::Index c = 0; c < J.cols(); ++c) out[c] = J(first + r, c);
  }
}

}  // namespace

void convert_local(const std::string& path, const Data& data, FclibProblem& out) {
  const Sparse F = symmetrised(full_matrix(data), out.info.asymmetry);
  std::vector<Factor> factors;
  std::vector<std::pair<int, int>> where(static_cast<std::size_t>(data.rows()));  // node and row in it
  std::vector<int> place(static_cast<std::size_t>(data.rows()));
  const std::vector<std::vector<int>> coupled = coupled_rows(data, F);
  double dense = 0;
  for (const std::vector<int>& rows : coupled)
    dense += static_cast<double>(rows.size()) * static_cast<double>(rows.size());
  check_growth(path, "/fclib_local/W", dense, static_cast<double>(F.nonZeros()));
  for (const std::vector<int>& rows : coupled) {
    if (rows.size() > kMaxDense) {
      throw InputError(path, fmt::format("W couples {} unknowns, more than {}; give a smaller or a global problem",
                                         rows.size(), kMaxDense));
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      where[static_cast<std::size_t>(rows[k])] = {static_cast<int>(factors.size()), static_cast<int>(k)};
    }
    factors.push_back(factorise(rows, F, place));
  }
  FclibInfo& info = out.info;
  info.eigenvalue_min = factors.front().smallest;
  info.eigenvalue_max = factors.front().largest;
  for (const Factor& f : factors) {
    info.eigenvalue_min = std::min(info.eigenvalue_min, f.smallest);
    info.eigenvalue_max = std::max(info.eigenvalue_max, f.largest);
    info.rank += f.rank;
  }
  info.indefinite = info.eigenvalue_min < -kIndefinite * info.eigenvalue_max;

  ConstraintProblem& p = out.stored.problem;
  set_unit_masses(factors, p);
  for (int k = 0; k < data.equalities; ++k) {
    add_rows(factors, where, BlockKind::joint, 1, k, 0, p);
    p.bias[static_cast<std::size_t>(k)] = data.s[k];
  }
  for (int c = 0; c < data.contacts; ++c) {
    add_rows(factors, where, BlockKind::contact, 3, c, data.mu[static_cast<std::size_t>(c)], p);
    for (int j = 0; j < 3; ++j) p.bias[static_cast<std::size_t>(contact_row(data, c, j))] = data.q[3 * c + j];
  }
}

}  // namespace sarrus::fclib
