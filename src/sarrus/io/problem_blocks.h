// What makes the content of a problem file a constraint problem. Internal to problem_file.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "sarrus/io/hdf5_reader.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

// The data sets /blocks/*, one entry per block (node and jac: kMaxBlockNodes).
struct BlockTable {
  std::vector<int> kind, source_kind, rows, nodes, row, source, node, jac;
  std::vector<double> mu;
  std::vector<std::uint64_t> id;
};

// All throw InputError through file.fail(), naming data set and entry.
void check_node_sizes(const hdf5::Reader& file, const std::vector<int>& sizes);
// Masses are symmetric, positive definite and the inverse of what is stored as their inverse.
void check_masses(const hdf5::Reader& file, const ConstraintProblem& problem);
// Adds the blocks to a problem that has its nodes. `jacobian_size` is what the file stores.
void add_blocks(const hdf5::Reader& file, const BlockTable& table, std::int64_t jacobian_size,
                ConstraintProblem& problem);
// Compliance >= 0, bounds in order and on soft rows only.
void check_rows(const hdf5::Reader& file, const ConstraintProblem& problem);

}  // namespace sarrus
