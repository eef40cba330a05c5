// Reads HDF5 files that may be damaged, foreign or hostile: everything is checked before it is used, and errors name
// the file, the data set and a remedy. The file is read into memory as a whole first, so that nothing changes
// meanwhile. Internal to the readers of problem files and recordings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/files/hdf5.h"
#include "sarrus/files/hdf5_tree.h"

namespace sarrus::hdf5 {

inline constexpr std::int64_t kAnySize = -1;
enum class Finite : std::uint8_t { required, infinite_allowed };

class Reader {
 public:
  // `remedy` ends every message about the content, e.g. "export the file again".
  Reader(const std::filesystem::path& path, std::string remedy);
  // The tree views the bytes.
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const std::string& path() const { return path_; }
  // Whether a group or data set is there, at any depth.
  bool has(const std::string& name) const;

  // Data sets, flattened row by row. A size other than `size` is an error, NaN always.
  std::vector<double> doubles(const std::string& name, std::int64_t size, Finite finite = Finite::required) const;
  std::vector<int> ints(const std::string& name, std::int64_t size) const;
  std::vector<std::uint64_t> ids(const std::string& name, std::int64_t size) const;
  // Text of fixed or variable length.
  std::vector<std::string> strings(const std::string& name, std::int64_t size) const;
  // Sizes of a data set, e.g. of its time.
  std::vector<std::uint64_t> shape(const std::string& name) const;
  int single_int(const std::string& name) const { return ints(name, 1)[0]; }

  // Attributes of the root group.
  bool has_attribute(const char* name) const;
  std::string text_attribute(const char* name) const;    // of fixed length; cut at 64 characters
  std::string string_attribute(const char* name) const;  // of fixed or variable length
  std::vector<double> doubles_attribute(const char* name, std::size_t size) const;
  int int_attribute(const char* name) const;
  double double_attribute(const char* name) const;

  // Writes the groups and data sets of numbers and text of fixed length to another file, except for the group `without`
  // of the root. Nothing else is copied: attributes, links, other types.
  void copy_to(const File& target, std::string_view without) const;

  // Throws InputError "<file>: <element>: <problem>; <remedy>".
  [[noreturn]] void fail(const std::string& element, const std::string& problem) const;

 private:
  Tree::Object find(const std::string& name) const;
  const Tree::Attribute& attribute(const char* name, Tree::Kind kind) const;
  std::string elements(const std::string& name, Tree::Kind kind, std::int64_t size, Tree::Type& type) const;
  std::string data(const std::string& name, const Tree::Dataset& dataset) const;
  std::vector<std::string> texts(const std::string& name, std::string_view elements, const Tree::Type& type) const;
  void copy_group(const File& target, const std::string& path, const Tree::Object& group, std::string_view without,
                  int depth) const;

  std::string path_;
  std::string remedy_;
  std::string bytes_;
  Tree tree_;
  Tree::Object root_;
  mutable std::uint64_t delivered_ = 0;  // bytes of data so far
  mutable int copied_ = 0;               // groups and data sets
};

}  // namespace sarrus::hdf5
