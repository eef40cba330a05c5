#include "sarrus/problem_files/fclib_data.h"

#include <fmt/format.h>

#include <numeric>

#include "sarrus/math/error.h"

namespace sarrus::fclib {
namespace {

using hdf5::Reader;
using Triplet = Eigen::Triplet<double>;

VecX vector_of(const std::vector<double>& v) {
  return Eigen::Map<const VecX>(v.data(), static_cast<Eigen::Index>(v.size()));
}

// One matrix as stored: its size and where its entries are.
struct Storage {
  int rows = 0;
  int columns = 0;
  int nz = 0;  // -1 compressed columns, -2 compressed rows, otherwise the number of triplets
  std::vector<int> p, i;
  std::vector<double> x;
};

Storage read_storage(const Reader& file, const std::string& name) {
  Storage s;
  s.rows = file.single_int(name + "/m");
  s.columns = file.single_int(name + "/n");
  s.nz = file.single_int(name + "/nz");
  s.p = file.ints(name + "/p", hdf5::kAnySize);
  s.i = file.ints(name + "/i", hdf5::kAnySize);
  s.x = file.doubles(name + "/x", hdf5::kAnySize);
  if (s.rows < 0 || s.columns < 0) file.fail(name, fmt::format("has {} rows and {} columns", s.rows, s.columns));
  if (s.nz < -2) file.fail(name + "/nz", fmt::format("is {}; -1, -2 or a number of triplets is wanted", s.nz));
  return s;
}

void check_index(const Reader& file, const std::string& name, int index, int size) {
  if (index < 0 || index >= size) file.fail(name, fmt::format("index {} is outside 0..{}", index, size - 1));
}

// FCLIB's header names rows and columns of triplets the other way round, but all files that exist have rows in i.
std::vector<Triplet> triplet_entries(const Reader& file, const std::string& name, const Storage& s) {
  const auto count = static_cast<std::size_t>(s.nz);
  if (s.p.size() < count || s.i.size() < count || s.x.size() < count) {
    file.fail(name, fmt::format("has fewer entries than nz = {}", s.nz));
  }
  std::vector<Triplet> entries;
  for (std::size_t k = 0; k < count; ++k) {
    check_index(file, name + "/i", s.i[k], s.rows);
    check_index(file, name + "/p", s.p[k], s.columns);
    entries.emplace_back(s.i[k], s.p[k], s.x[k]);
  }
  return entries;
}

std::vector<Triplet> compressed_entries(const Reader& file, const std::string& name, const Storage& s) {
  const bool by_column = s.nz == -1;
  const int outer = by_column ? s.columns : s.rows;
  const int inner = by_column ? s.rows : s.columns;
  const auto stored = static_cast<int>(std::min(s.i.size(), s.x.size()));
  if (s.p.size() != static_cast<std::size_t>(outer) + 1) {
    file.fail(name + "/p", fmt::format("has {} pointers, {} are wanted", s.p.size(), outer + 1));
  }
  if (s.p.front() != 0) file.fail(name + "/p", "does not start at 0");
  std::vector<Triplet> entries;
  for (int o = 0; o < outer; ++o) {
    const int begin = s.p[static_cast<std::size_t>(o)];
    const int end = s.p[static_cast<std::size_t>(o) + 1];
    if (end < begin || end > stored) {
      file.fail(name + "/p", fmt::format("pointer {} is {}, outside {}..{}", o + 1, end, begin, stored));
    }
    for (int k = begin; k < end; ++k) {
      const int index = s.i[static_cast<std::size_t>(k)];
      check_index(file, name + "/i", index, inner);
      entries.emplace_back(by_column ? index : o, by_column ? o : index, s.x[static_cast<std::size_t>(k)]);
    }
  }
  return entries;
}

// Entries that are stored twice are added up, zeros are dropped.
Sparse read_matrix(const Reader& file, const std::string& name, Eigen::Index rows, Eigen::Index columns) {
  const Storage s = read_storage(file, name);
  if (s.rows != rows || s.columns != columns) {
    file.fail(name, fmt::format("is a {} x {} matrix, {} x {} is wanted", s.rows, s.columns, rows, columns));
  }
  const std::vector<Triplet> entries = s.nz >= 0 ? triplet_entries(file, name, s) : compressed_entries(file, name, s);
  Sparse A(rows, columns);
  A.setFromTriplets(entries.begin(), entries.end());
  A.prune([](Eigen::Index, Eigen::Index, double value) { return value != 0; });
  return A;
}

void read_friction(const Reader& file, const std::string& root, Eigen::Index rows, Data& data) {
  const int dimension = file.single_int(root + "/spacedim");
  if (dimension == 2) {
    throw InputError(file.path(), "holds a 2D friction problem (spacedim 2), which is not supported; give a 3D one");
  }
  if (dimension != 3) file.fail(root + "/spacedim", fmt::format("is {}; 3 is wanted", dimension));
  if (rows == 0) file.fail(root, "has no contacts");
  if (rows % 3 != 0) file.fail(root, fmt::format("has {} contact rows, not a multiple of 3", rows));
  if (rows / 3 > kMaxContacts) {
    file.fail(root, fmt::format("has {} contacts, more than the limit of {}", rows / 3, kMaxContacts));
  }
  data.contacts = static_cast<int>(rows / 3);
  data.mu = file.doubles(root + "/vectors/mu", data.contacts);
  for (std::size_t c = 0; c < data.mu.size(); ++c) {
    if (data.mu[c] < 0) {
      file.fail(root + "/vectors/mu", fmt::format("number {} is {}, friction is >= 0", c, data.mu[c]));
    }
  }
}

void read_local(const Reader& file, Data& data) {
  data.q = vector_of(file.doubles("/fclib_local/vectors/q", hdf5::kAnySize));
  read_friction(file, "/fclib_local", data.q.size(), data);
  data.W = read_matrix(file, "/fclib_local/W", data.q.size(), data.q.size());
  if (!file.has("/fclib_local/V") && !file.has("/fclib_local/R")) return;
  data.s = vector_of(file.doubles("/fclib_local/vectors/s", hdf5::kAnySize));
  data.equalities = static_cast<int>(data.s.size());
  data.V = read_matrix(file, "/fclib_local/V", data.q.size(), data.s.size());
  data.R = read_matrix(file, "/fclib_local/R", data.s.size(), data.s.size());
}

void read_global(const Reader& file, Data& data) {
  data.global = true;
  data.f = vector_of(file.doubles("/fclib_global/vectors/f", hdf5::kAnySize));
  data.w = vector_of(file.doubles("/fclib_global/vectors/w", hdf5::kAnySize));
  read_friction(file, "/fclib_global", data.w.size(), data);
  if (data.f.size() == 0) file.fail("/fclib_global/vectors/f", "is empty");
  data.M = read_matrix(file, "/fclib_global/M", data.f.size(), data.f.size());
  data.H = read_matrix(file, "/fclib_global/H", data.f.size(), data.w.size());
  if (!file.has("/fclib_global/G")) return;
  data.b = vector_of(file.doubles("/fclib_global/vectors/b", hdf5::kAnySize));
  data.equalities = static_cast<int>(data.b.size());
  data.G = read_matrix(file, "/fclib_global/G", data.f.size(), data.b.size());
}

Impulses read_impulses(const Reader& file, const std::string& group, const Data& data) {
  Impulses out;
  if (!file.has(group + "/r")) return out;
  out.r = vector_of(file.doubles(group + "/r", data.contact_rows()));
  out.l = VecX::Zero(data.equalities);
  if (data.equalities > 0 && file.has(group + "/l")) {
    out.l = vector_of(file.doubles(group + "/l", data.equalities));
  }
  out.present = true;
  return out;
}

}  // namespace

void check_growth(const std::string& path, const char* element, double numbers, double stored) {
  constexpr double kAlways = 1e7;  // 80 MB
  constexpr double kGrowth = 100;
  if (numbers <= kAlways + kGrowth * stored) return;
  throw InputError(path,
                   fmt::format("{}: its {:.0f} entries couple what becomes {:.0f} dense ones, more than {:g} and {:g} "
                               "times as many; give a smaller problem",
                               element, stored, numbers, kAlways, kGrowth));
}

Data read(const Reader& file) {
  for (const char* root : {"/fclib_global_rolling", "/fclib_local_rolling"}) {
    if (!file.has(root)) continue;
    throw InputError(file.path(),
                     fmt::format("holds a problem with rolling friction ({}), which is not supported; give a problem "
                                 "with Coulomb friction alone",
                                 root));
  }
  Data data;
  const bool local = file.has("/fclib_local");
  const bool global = file.has("/fclib_global");
  if (local == global) {
    throw InputError(file.path(), local ? "holds a local and a global problem; give files with one problem each"
                                        : "holds no FCLIB problem (/fclib_local, /fclib_global); give an FCLIB file");
  }
  if (local) read_local(file, data);
  if (global) read_global(file, data);
  data.guess = read_impulses(file, "/guesses/1", data);
  data.solution = read_impulses(file, "/solution", data);
  return data;
}

std::vector<double> to_lambda(const Data& data, const Impulses& impulses) {
  if (!impulses.present) return {};
  std::vector<double> lambda(static_cast<std::size_t>(data.rows()));
  for (int k = 0; k < data.equalities; ++k) lambda[static_cast<std::size_t>(k)] = impulses.l[k];
  for (int i = 0; i < data.contact_rows(); ++i) lambda[static_cast<std::size_t>(contact_row(data, i))] = impulses.r[i];
  return lambda;
}

Impulses from_lambda(const Data& data, std::span<const double> lambda) {
  Impulses out{VecX(data.contact_rows()), VecX(data.equalities), true};
  for (int k = 0; k < data.equalities; ++k) out.l[k] = lambda[static_cast<std::size_t>(k)];
  for (int i = 0; i < data.contact_rows(); ++i) out.r[i] = lambda[static_cast<std::size_t>(contact_row(data, i))];
  return out;
}

Sparse symmetrised(const Sparse& A, double& asymmetry) {
  const Sparse transposed = A.transpose();
  const Sparse difference = A - transposed;
  const auto largest = [](const Sparse& B) {
    return B.nonZeros() == 0 ? 0.0 : Eigen::Map<const VecX>(B.valuePtr(), B.nonZeros()).cwiseAbs().maxCoeff();
  };
  const double scale = largest(A);
  asymmetry = scale > 0 ? largest(difference) / scale : 0;
  Sparse out = 0.5 * (A + transposed);
  return out;
}

UnionFind::UnionFind(int n) : parent_(static_cast<std::size_t>(n)) { std::iota(parent_.begin(), parent_.end(), 0); }

int UnionFind::find(int i) {
  while (parent_[static_cast<std::size_t>(i)] != i) {
    int& parent = parent_[static_cast<std::size_t>(i)];
    parent = parent_[static_cast<std::size_t>(parent)];
    i = parent;
  }
  return i;
}

void UnionFind::join(int a, int b) {
  a = find(a);
  b = find(b);
  // The smaller index leads, so that labels do not depend on the order of the joins.
  parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

std::vector<int> UnionFind::labels(int& count) {
  count = 0;
  std::vector<int> label(parent_.size());
  for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
    const int root = find(i);
    label[static_cast<std::size_t>(i)] = root == i ? count++ : label[static_cast<std::size_t>(root)];
  }
  return label;
}

}  // namespace sarrus::fclib
