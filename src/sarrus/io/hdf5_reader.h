// Reading HDF5 files that may be damaged or foreign: everything is checked before it is used, and errors are
// InputError naming file and data set. Files are read into memory as a whole first, so that no lock is taken and
// nothing changes while it is read. Internal to the readers of problem files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/io/recording_hdf5.h"

namespace sarrus::hdf5 {

// The bytes of a regular file. Throws InputError (missing, directory, not a regular file, unreadable).
std::string read_bytes(const std::filesystem::path& path);

// An HDF5 file in memory: a new empty one, or one opened from its bytes (invalid handle if HDF5 refuses them).
Handle create_image();
Handle open_image(std::string_view bytes, bool writable);
// The bytes of a file as they would be on disk; empty on failure.
std::string image_bytes(const Handle& file);

inline constexpr std::int64_t kAnySize = -1;
enum class Finite : std::uint8_t { required, infinite_allowed };

class Reader {
 public:
  // `remedy` ends every message about the content, e.g. "export the file again".
  Reader(const std::filesystem::path& path, std::string remedy);

  const std::string& path() const { return path_; }
  // The bytes as read.
  const std::string& bytes() const { return bytes_; }
  // Whether a group or data set is there, at any depth.
  bool has(const std::string& name) const;

  // Data sets, flattened row by row. A size other than `size` is an error, NaN always.
  std::vector<double> doubles(const std::string& name, std::int64_t size, Finite finite = Finite::required) const;
  std::vector<int> ints(const std::string& name, std::int64_t size) const;
  std::vector<std::uint64_t> ids(const std::string& name, std::int64_t size) const;
  int single_int(const std::string& name) const { return ints(name, 1)[0]; }

  // Attributes of the root group.
  bool has_attribute(const char* name) const;
  std::string text_attribute(const char* name) const;  // of fixed length; cut at 64 characters
  int int_attribute(const char* name) const;
  double double_attribute(const char* name) const;

  // Throws InputError "<file>: <element>: <problem>; <remedy>".
  [[noreturn]] void fail(const std::string& element, const std::string& problem) const;

 private:
  Handle open_dataset(const std::string& name, H5T_class_t type, std::int64_t size, std::size_t& count) const;
  void read(const std::string& name, const Handle& dataset, hid_t memory_type, void* data) const;
  void read_attribute(const char* name, H5T_class_t type, hid_t memory_type, void* data) const;

  std::string path_;
  std::string remedy_;
  std::string bytes_;
  Handle file_;
};

}  // namespace sarrus::hdf5
