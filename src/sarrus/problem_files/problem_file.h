// Constraint problems as HDF5 files: what one step gave to its solver, bit for bit, to be solved again elsewhere.
//
// Root attributes: format "sarrus-problem", version 1, dt (s), physical (0 or 1). Data sets, for t nodes, b blocks,
// m rows (docs/solve.md has the units):
//   /nodes/size (t); /nodes/mass, mass_inverse (sum of size^2, column-major blocks); /nodes/u_free (sum of size)
//   /blocks/kind, source_kind, rows, nodes, row, source, mu, id (b); /blocks/node, jac (b x 4)
//   /jacobian (row-major blocks as placed by /blocks/jac); /rows/R, bias, lower, upper (m)
//   /lambda_warm, /lambda (m, optional)
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

struct StoredProblem {
  ConstraintProblem problem;
  std::vector<double> warm;      // warm start; empty: none stored
  std::vector<double> solution;  // impulses; empty: none stored
  std::string kind;              // "sarrus problem", "FCLIB local", "FCLIB global"
};

// Writes the file at once: it is complete or not there. Empty spans: not stored. Throws InputError if it cannot be
// written or a span has another size than the problem.
void save_problem(const std::filesystem::path& path, const ConstraintProblem& problem,
                  std::span<const double> warm = {}, std::span<const double> solution = {});

// Throws InputError naming file, data set and remedy unless the file holds a problem that a solver may be given:
// sizes that fit, indices in range, finite numbers, positive definite masses whose inverse is the stored one.
StoredProblem load_problem(const std::filesystem::path& path);

// For programs, before anything else of this folder: HDF5's handler at exit, and its errors, print lines of their own
// on stderr. The handler only closes what was left open, and we leave nothing open; errors are told by exceptions.
void keep_hdf5_quiet();

enum class ProblemFormat : std::uint8_t { sarrus, fclib };
// By the content of the file. Throws InputError for anything that is neither.
ProblemFormat problem_format(const std::filesystem::path& path);

}  // namespace sarrus
