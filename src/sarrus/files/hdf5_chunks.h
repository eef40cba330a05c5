// Data sets in chunks: their B-tree, and the filters of a chunk undone. Internal to hdf5_tree.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sarrus/files/hdf5_tree.h"

namespace sarrus::hdf5 {

class ChunkReader {
 public:
  // The size of a chunk and of the data is checked against `limit` (bytes) before anything of that size is made.
  ChunkReader(std::string_view file, const Tree::Dataset& dataset, std::uint64_t limit);
  // All elements, row by row. Every chunk must be there, once.
  std::string read();

 private:
  void read_node(std::uint64_t address, int level);
  void read_chunk(std::string_view stored, std::uint32_t skipped_filters, const std::vector<std::uint64_t>& offset);
  std::string unfiltered(std::string_view stored, std::uint32_t skipped_filters) const;
  void place(const std::string& chunk, const std::vector<std::uint64_t>& offset);

  std::string_view file_;
  const Tree::Dataset& dataset_;
  std::uint64_t chunk_bytes_ = 0;
  std::vector<bool> seen_;  // by chunk, in the order of their offsets
  std::uint64_t missing_ = 0;
  std::uint64_t nodes_ = 0;
  std::string out_;
};

}  // namespace sarrus::hdf5
