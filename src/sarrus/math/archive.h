// Values as bytes and back, for what a simulation carries from step to step (step/snapshot.cpp): numbers with all their
// bits, little-endian; vectors with their lengths. A type of several values has `template <class A> void archive(A&
// a)`, which hands each of them to the archive; the same function writes and reads.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sarrus {

class ArchiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Derived>
class Archive {
 public:
  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }

 private:
  template <class T>
  void one(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = value ? 1 : 0;
      self().raw(&byte, 1);
      if (byte > 1) throw ArchiveError("a flag is neither 0 nor 1");
      value = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      self().raw(&value, sizeof value);
    } else {
      value.archive(self());
    }
  }
  template <class T>
  void one(std::vector<T>& values) {
    self().resize(values);
    if constexpr (std::is_arithmetic_v<T>) {
      if (!values.empty()) self().raw(values.data(), values.size() * sizeof(T));
    } else {
      for (T& v : values) one(v);
    }
  }
  template <int N>
  void one(Eigen::Matrix<double, N, 1>& v) {
    static_assert(N > 0);
    self().raw(v.data(), sizeof(double) * N);
  }
  template <class T, std::size_t N>
  void one(T (&values)[N]) {
    for (T& v : values) one(v);
  }
  Derived& self() { return static_cast<Derived&>(*this); }
};

// `trusted`: what is read was written by this process a moment ago, for the same model; what it takes to believe a file
// is left out.
class ArchiveWriter : public Archive<ArchiveWriter> {
 public:
  static constexpr bool reads = false;
  static constexpr bool trusted = false;
  const std::string& bytes() const { return bytes_; }

  void raw(const void* data, std::size_t n) { bytes_.append(static_cast<const char*>(data), n); }
  template <class T>
  void resize(const std::vector<T>& values) {
    const std::uint64_t n = values.size();
    raw(&n, sizeof n);
  }

 private:
  std::string bytes_;
};

// Throws ArchiveError if the bytes end early or a length is more than they can hold.
class ArchiveReader : public Archive<ArchiveReader> {
 public:
  static constexpr bool reads = true;
  static constexpr bool trusted = false;
  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }

  void raw(void* data, std::size_t n) {
    if (n > rest_.size()) throw ArchiveError("it ends early");
    std::memcpy(data, rest_.data(), n);
    rest_.remove_prefix(n);
  }
  template <class T>
  void resize(std::vector<T>& values) {
    std::uint64_t n = 0;
    raw(&n, sizeof n);
    if (n > rest_.size()) throw ArchiveError("a list is longer than the file");
    values.resize(static_cast<std::size_t>(n));
  }

 private:
  std::string_view rest_;
};

// Into memory that is kept for the next one.
class MemoryWriter : public Archive<MemoryWriter> {
 public:
  static constexpr bool reads = false;
  static constexpr bool trusted = true;
  explicit MemoryWriter(std::string& bytes) : bytes_(bytes) { bytes_.clear(); }

  void raw(const void* data, std::size_t n) { bytes_.append(static_cast<const char*>(data), n); }
  template <class T>
  void resize(const std::vector<T>& values) {
    const std::uint64_t n = values.size();
    raw(&n, sizeof n);
  }

 private:
  std::string& bytes_;
};

class MemoryReader : public Archive<MemoryReader> {
 public:
  static constexpr bool reads = true;
  static constexpr bool trusted = true;
  explicit MemoryReader(std::string_view bytes) : next_(bytes.data()) {}

  void raw(void* data, std::size_t n) {
    if (n > 0) std::memcpy(data, next_, n);
    next_ += n;
  }
  template <class T>
  void resize(std::vector<T>& values) {
    std::uint64_t n = 0;
    raw(&n, sizeof n);
    values.resize(static_cast<std::size_t>(n));
  }

 private:
  const char* next_;
};

}  // namespace sarrus
