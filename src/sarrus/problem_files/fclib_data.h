// The content of an FCLIB file, in the order and with the signs of the file. Internal to fclib_file.cpp.
#pragma once

#include <Eigen/SparseCore>
#include <string>
#include <vector>

#include "sarrus/files/hdf5_reader.h"
#include "sarrus/problem_files/fclib_file.h"

namespace sarrus::fclib {

using Sparse = Eigen::SparseMatrix<double>;

inline constexpr int kMaxDense = 8000;  // coordinates or unknowns of one node, whose blocks are dense
inline constexpr int kMaxContacts = 200'000;

// What a file couples becomes dense: a chain of 8000 unknowns in 40 kB would take 64 million numbers per matrix. Throws
// InputError if `numbers` of them are many and the `stored` ones few.
void check_growth(const std::string& path, const char* element, double numbers, double stored);

// A vector of impulses as the file stores it: r by contact (n, t1, t2) and l by equality row.
struct Impulses {
  VecX r;
  VecX l;
  bool present = false;
};

struct Data {
  bool global = false;
  int contacts = 0;
  int equalities = 0;
  std::vector<double> mu;
  Sparse W, V, R;  // local
  VecX q, s;
  Sparse M, H, G;  // global
  VecX f, w, b;
  Impulses guess;
  Impulses solution;

  int contact_rows() const { return 3 * contacts; }
  int rows() const { return equalities + contact_rows(); }
};

Data read(const hdf5::Reader& file);

// Row of the constraint problem for component j (n, t1, t2) of a contact; equality rows come first.
inline int contact_row(const Data& data, int contact, int j) {
  return data.equalities + 3 * contact + (j == 0 ? 2 : j - 1);
}
// The same for row i of u and r in the file.
inline int contact_row(const Data& data, int i) { return contact_row(data, i / 3, i % 3); }

std::vector<double> to_lambda(const Data& data, const Impulses& impulses);
Impulses from_lambda(const Data& data, std::span<const double> lambda);

// (A + A') / 2, and max |A - A'| / max |A|.
Sparse symmetrised(const Sparse& A, double& asymmetry);

// Sets that grow together.
class UnionFind {
 public:
  explicit UnionFind(int n);
  int find(int i);
  void join(int a, int b);
  // Numbers the sets 0, 1, ... in order of their first members; `count` tells how many there are.
  std::vector<int> labels(int& count);

 private:
  std::vector<int> parent_;
};

// Fill in problem and info from the data. `path` is for messages.
void convert_local(const std::string& path, const Data& data, FclibProblem& out);
void convert_global(const std::string& path, const Data& data, FclibProblem& out);

}  // namespace sarrus::fclib
