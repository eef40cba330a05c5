// Friction-contact problems of the FCLIB collection (HDF5), read as constraint problems and given solutions.
//
//   local   u = W r + V l + q,   0 = V' r + R l + s                    (V, R, s optional)
//   global  M v = H r + G l + f,   u = H' v + w,   0 = G' v + b        (G, b optional)
// with Coulomb's law between r and u at each contact, whose unknowns the file orders (n, t1, t2) and we [t1, t2, n].
// Equality rows become joints, one row each, before the contacts. Both kinds have no units: `physical` is false.
// A local problem has no masses: its matrix is symmetrised and factorised as J J' by eigenvalues, one dense node with
// unit mass for each set of contacts that W couples; q becomes the bias. A global problem keeps its masses: nodes are
// sets of coordinates (bodies), u_f = M^-1 f, w and b are biases; coordinates that nothing touches are left out.
// FCLIB's own library ends the process on bad files, so files are read by hdf5_reader.h alone.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "sarrus/problem_files/problem_file.h"

namespace sarrus {

struct FclibInfo {
  bool global = false;
  int contacts = 0;
  int equalities = 0;
  double asymmetry = 0;  // max |A - A'| / max |A|, A = W or M
  // Spectrum of the symmetrised matrix of a local problem, with its equality rows.
  double eigenvalue_min = 0;
  double eigenvalue_max = 0;
  int rank = 0;             // eigenvalues kept
  bool indefinite = false;  // eigenvalue_min < -1e-9 eigenvalue_max: solved with the negative part left out
};

struct FclibProblem {
  StoredProblem stored;  // warm: the first guess of the file; solution: its solution
  FclibInfo info;
};

// Throws InputError naming file, data set and remedy; problems in 2D and with rolling friction are refused by name.
FclibProblem load_fclib(const std::filesystem::path& path);

// Writes a copy of the FCLIB file `source` with the group /solution (r and u, for global problems v, l for equality
// rows) replaced by what the impulses `lambda` of its constraint problem give by the equations of the file. The copy
// has the groups and data sets of numbers and text of fixed length, which is all that FCLIB writes. `target` may be
// `source`; it is replaced as a whole or not at all.
void save_fclib_solution(const std::filesystem::path& source, const std::filesystem::path& target,
                         std::span<const double> lambda);

}  // namespace sarrus
