// The little of HDF5 that recordings and problem files need to be written, with owned handles and errors as InputError
// naming the file. Internal to their writers. Files are read by hdf5_reader.h, without the HDF5 library.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sarrus/files/hdf5_tree.h"
#include "sarrus/math/types.h"

namespace sarrus::hdf5 {

// Owns one HDF5 identifier of any kind.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = H5I_INVALID_HID; }
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() { reset(); }

  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  // False if HDF5 could not close it (data may be lost).
  bool reset();

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// HDF5 prints its error stack on stderr by default; within this scope it keeps quiet.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// "meaning" attributes of a dataset.
struct Meaning {
  const char* units;  // SI, "1" for pure numbers, "" for names
  const char* description;
};

// double, std::int32_t, std::int8_t or std::uint64_t, in memory and in files.
template <class T>
hid_t native_type() {
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int8_t>) return H5T_NATIVE_INT8;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
}
template <class T>
hid_t file_type() {
  if constexpr (std::is_same_v<T, double>) return H5T_IEEE_F64LE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_STD_I32LE;
  if constexpr (std::is_same_v<T, std::int8_t>) return H5T_STD_I8LE;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_STD_U64LE;
}

class File {
 public:
  explicit File(std::string path);
  // Writes to a file that is open already (in memory); `path` is for messages.
  File(std::string path, Handle opened);

  Handle group(const std::string& name) const;
  void attribute(hid_t object, const char* name, const std::string& value) const;
  // Text of fixed length, which HDF5 reads without its heap: on a damaged one it may loop for ever.
  void fixed_attribute(hid_t object, const char* name, const std::string& value) const;
  void attribute(hid_t object, const char* name, double value) const;
  void attribute(hid_t object, const char* name, int value) const;
  void attribute(hid_t object, const char* name, std::span<const double> values) const;

  // Fixed datasets, written at once. `shape` may contain zeros.
  void strings(const std::string& name, const std::vector<std::string>& values, const Meaning& meaning) const;
  template <class T>
  void table(const std::string& name, const std::vector<hsize_t>& shape, std::span<const T> values,
             const Meaning& meaning) const;

  // Data as read from another file.
  void raw(const std::string& name, const Tree::Type& type, const std::vector<std::uint64_t>& shape,
           const std::string& data) const;

  // Chunked dataset of `shape` rows that grows along a new first dimension.
  Handle extendible(const std::string& name, hid_t type, std::size_t type_size, const std::vector<hsize_t>& row_shape,
                    const Meaning& meaning) const;
  // Appends `count` rows behind the `present` ones.
  void append(const Handle& dataset, hid_t memory_type, const std::vector<hsize_t>& row_shape, hsize_t present,
              hsize_t count, const void* data) const;

  void flush() const;
  void close();

  hid_t id() const { return file_.get(); }
  const Handle& handle() const { return file_; }
  // Throws InputError "<file>: <what>: <HDF5's reason>".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void make_string_type();
  Handle checked(hid_t id, Handle::Close closer, const std::string& what) const;
  void attribute(hid_t object, const char* name, hid_t type, hid_t memory_type, const Handle& space,
                 const void* data) const;
  void write_fixed(const std::string& name, hid_t type, hid_t memory_type, const std::vector<hsize_t>& shape,
                   const void* data, const Meaning& meaning) const;
  void describe(const Handle& dataset, const Meaning& meaning) const;

  std::string path_;
  Handle file_;
  Handle string_type_;
};

// The numbers of a quaternion in the order of files.
struct Wxyz {
  explicit Wxyz(const Quat& q) : v{q.w(), q.x(), q.y(), q.z()} {}
  std::size_t size() const { return 4; }
  double operator[](int i) const { return v[i]; }
  double v[4];
};

// Rows of a fixed table, gathered element by element.
template <class T>
struct Table {
  hsize_t width = 1;
  std::vector<T> values;

  template <class V>
  void add(const V& v) {
    for (int i = 0; i < static_cast<int>(v.size()); ++i) values.push_back(static_cast<T>(v[i]));
  }
  void write(const File& file, const std::string& name, const Meaning& meaning) const {
    std::vector<hsize_t> shape = {values.size() / width};
    if (width > 1) shape.push_back(width);
    file.table<T>(name, shape, values, meaning);
  }
};

// An extendible dataset and the rows that wait to be written to it in one go.
template <class T>
class Column {
 public:
  Column(const File& file, const std::string& name, std::vector<hsize_t> row_shape, const Meaning& meaning)
      : file_(&file),
        row_shape_(std::move(row_shape)),
        dataset_(file.extendible(name, file_type<T>(), sizeof(T), row_shape_, meaning)) {}

  void push(T value) { buffer_.push_back(value); }
  template <class Derived>
  void push_vector(const Derived& v) {
    for (int i = 0; i < static_cast<int>(v.size()); ++i) buffer_.push_back(static_cast<T>(v[i]));
  }

  // Writes the buffer, which holds this many rows (rows may have width 0, so the buffer does not tell).
  void flush(std::size_t rows) {
    if (rows == 0) return;
    file_->append(dataset_, native_type<T>(), row_shape_, present_, rows, buffer_.data());
    present_ += rows;
    buffer_.clear();
  }
  void close() {
    const QuietErrors quiet;
    if (!dataset_.reset()) file_->fail("cannot complete a dataset");
  }

 private:
  const File* file_;
  std::vector<hsize_t> row_shape_;
  Handle dataset_;
  hsize_t present_ = 0;
  std::vector<T> buffer_;
};

// A new empty HDF5 file in memory.
Handle create_image();
// The bytes of a file as they would be on disk; empty on failure.
std::string image_bytes(const Handle& file);

}  // namespace sarrus::hdf5
