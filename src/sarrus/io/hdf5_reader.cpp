#include "sarrus/io/hdf5_reader.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "sarrus/math/error.h"

namespace sarrus::hdf5 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kImageIncrement = 1 << 16;
// Deflate shrinks at most about 1032 times: a data set that claims more than this was never written.
constexpr double kMaxExpansion = 1100;
constexpr std::size_t kMaxText = 64;

// HDF5 takes two open files of one name for the same file, also in memory.
std::string unique_name() {
  static std::atomic<unsigned> counter{0};
  return fmt::format("sarrus-image-{}", counter++);
}

Handle core_access(std::string_view bytes) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!access.valid() || H5Pset_fapl_core(access.get(), kImageIncrement, false) < 0) return {};
  if (bytes.empty()) return access;
  // HDF5 copies the image; its signature is not const.
  void* data = const_cast<char*>(bytes.data());
  if (H5Pset_file_image(access.get(), data, bytes.size()) < 0) return {};
  return access;
}

const char* class_name(H5T_class_t type) {
  switch (type) {
    case H5T_FLOAT:
      return "floating-point numbers";
    case H5T_INTEGER:
      return "integers";
    case H5T_STRING:
      return "text";
    default:
      return "another type";
  }
}

}  // namespace

std::string read_bytes(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw InputError(path.string(), "the file does not exist; check the path");
  if (fs::is_directory(status)) throw InputError(path.string(), "is a directory; give the path of a file");
  if (!fs::is_regular_file(status)) {
    throw InputError(path.string(), "is not a regular file; give the path of a file");
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  if (!in) throw InputError(path.string(), "cannot be read; check its permissions");
  return bytes;
}

Handle create_image() {
  const QuietErrors quiet;
  const Handle access = core_access({});
  if (!access.valid()) return {};
  return {H5Fcreate(unique_name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose};
}

Handle open_image(std::string_view bytes, bool writable) {
  if (bytes.empty()) return {};
  const QuietErrors quiet;
  const Handle access = core_access(bytes);
  if (!access.valid()) return {};
  return {H5Fopen(unique_name().c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access.get()), H5Fclose};
}

std::string image_bytes(const Handle& file) {
  const QuietErrors quiet;
  if (H5Fflush(file.get(), H5F_SCOPE_GLOBAL) < 0) return {};
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  if (size <= 0) return {};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (H5Fget_file_image(file.get(), bytes.data(), bytes.size()) != size) return {};
  return bytes;
}

Reader::Reader(const fs::path& path, std::string remedy)
    : path_(path.string()), remedy_(std::move(remedy)), bytes_(read_bytes(path)) {
  if (bytes_.empty()) throw InputError(path_, fmt::format("the file is empty; {}", remedy_));
  static constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  if (std::string_view(bytes_).substr(0, kSignature.size()) != kSignature) {
    throw InputError(path_,
                     "is not an HDF5 file; give a problem written by sarrus run --dump-problems or an FCLIB file");
  }
  file_ = open_image(bytes_, false);
  if (!file_.valid()) throw InputError(path_, fmt::format("the HDF5 file is truncated or damaged; {}", remedy_));
}

void Reader::fail(const std::string& element, const std::string& problem) const {
  throw InputError(path_, fmt::format("{}: {}; {}", element, problem, remedy_));
}

bool Reader::has(const std::string& name) const {
  const QuietErrors quiet;
  // HDF5 wants every part of the path asked for by itself.
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    if (H5Lexists(file_.get(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(file_.get(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

Handle Reader::open_dataset(const std::string& name, H5T_class_t type, std::int64_t size, std::size_t& count) const {
  if (!has(name)) fail(name, "the data set is missing");
  const QuietErrors quiet;
  Handle dataset(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) fail(name, "is not a readable data set");
  const Handle stored(H5Dget_type(dataset.get()), H5Tclose);
  const H5T_class_t found = stored.valid() ? H5Tget_class(stored.get()) : H5T_NO_CLASS;
  if (found != type || H5Tget_size(stored.get()) > 8) {
    fail(name, fmt::format("holds {}, {} are wanted", class_name(found), class_name(type)));
  }
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const hssize_t points = space.valid() ? H5Sget_simple_extent_npoints(space.get()) : -1;
  if (points < 0) fail(name, "has no size");
  if (8.0 * static_cast<double>(points) > kMaxExpansion * static_cast<double>(bytes_.size())) {
    fail(name, fmt::format("claims {} numbers, more than the file can hold", points));
  }
  if (size != kAnySize && points != size) fail(name, fmt::format("has {} numbers, {} are wanted", points, size));
  count = static_cast<std::size_t>(points);
  return dataset;
}

void Reader::read(const std::string& name, const Handle& dataset, hid_t memory_type, void* data) const {
  const QuietErrors quiet;
  if (H5Dread(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    fail(name, "the numbers cannot be read");
  }
}

std::vector<double> Reader::doubles(const std::string& name, std::int64_t size, Finite finite) const {
  std::size_t count = 0;
  const Handle dataset = open_dataset(name, H5T_FLOAT, size, count);
  std::vector<double> values(count);
  if (count > 0) read(name, dataset, H5T_NATIVE_DOUBLE, values.data());
  for (std::size_t i = 0; i < count; ++i) {
    const bool good = finite == Finite::required ? std::isfinite(values[i]) : !std::isnan(values[i]);
    if (!good) fail(name, fmt::format("number {} is {}", i, values[i]));
  }
  return values;
}

std::vector<int> Reader::ints(const std::string& name, std::int64_t size) const {
  std::size_t count = 0;
  const Handle dataset = open_dataset(name, H5T_INTEGER, size, count);
  // Read wide: HDF5 would clamp what does not fit without a word.
  std::vector<std::int64_t> wide(count);
  if (count > 0) read(name, dataset, H5T_NATIVE_INT64, wide.data());
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (wide[i] < std::numeric_limits<int>::min() || wide[i] > std::numeric_limits<int>::max()) {
      fail(name, fmt::format("number {} is {}, too large", i, wide[i]));
    }
    values[i] = static_cast<int>(wide[i]);
  }
  return values;
}

std::vector<std::uint64_t> Reader::ids(const std::string& name, std::int64_t size) const {
  std::size_t count = 0;
  const Handle dataset = open_dataset(name, H5T_INTEGER, size, count);
  std::vector<std::uint64_t> values(count);
  if (count > 0) read(name, dataset, H5T_NATIVE_UINT64, values.data());
  return values;
}

bool Reader::has_attribute(const char* name) const {
  const QuietErrors quiet;
  return H5Aexists(file_.get(), name) > 0;
}

void Reader::read_attribute(const char* name, H5T_class_t type, hid_t memory_type, void* data) const {
  const std::string element = fmt::format("attribute '{}'", name);
  if (!has_attribute(name)) fail(element, "is missing");
  const QuietErrors quiet;
  const Handle attribute(H5Aopen(file_.get(), name, H5P_DEFAULT), H5Aclose);
  const Handle stored(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  if (!stored.valid() || !space.valid() || H5Tget_class(stored.get()) != type ||
      H5Sget_simple_extent_npoints(space.get()) != 1) {
    fail(element, fmt::format("is not a single value of {}", class_name(type)));
  }
  if (H5Aread(attribute.get(), memory_type, data) < 0) fail(element, "cannot be read");
}

std::string Reader::text_attribute(const char* name) const {
  const QuietErrors quiet;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), kMaxText);
  // Text of variable length lies in HDF5's heap, which it does not leave again when that is damaged.
  const Handle attribute(H5Aopen(file_.get(), name, H5P_DEFAULT), H5Aclose);
  const Handle stored(attribute.valid() ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  if (stored.valid() && H5Tis_variable_str(stored.get()) > 0) {
    fail(fmt::format("attribute '{}'", name), "is not text of fixed length");
  }
  char text[kMaxText] = {};
  read_attribute(name, H5T_STRING, type.get(), text);
  return {text, strnlen(text, kMaxText)};
}

int Reader::int_attribute(const char* name) const {
  int value = 0;
  read_attribute(name, H5T_INTEGER, H5T_NATIVE_INT, &value);
  return value;
}

double Reader::double_attribute(const char* name) const {
  double value = 0;
  read_attribute(name, H5T_FLOAT, H5T_NATIVE_DOUBLE, &value);
  return value;
}

}  // namespace sarrus::hdf5
