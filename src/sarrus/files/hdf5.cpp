#include "sarrus/files/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>

#include "sarrus/math/error.h"

namespace sarrus::hdf5 {
namespace {

constexpr std::size_t kChunkBytes = 65536;

// The innermost entry of HDF5's error stack tells the cause, the outer ones only who called whom.
herr_t take_first(unsigned, const H5E_error2_t* error, void* text) {
  auto* reason = static_cast<std::string*>(text);
  if (reason->empty() && error->desc != nullptr) *reason = error->desc;
  return 0;
}

constexpr std::size_t kImageIncrement = 1 << 16;

// HDF5 takes two open files of one name for the same file, also in memory.
std::string unique_name() {
  static std::atomic<unsigned> counter{0};
  return fmt::format("sarrus-image-{}", counter++);
}

Handle core_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!access.valid() || H5Pset_fapl_core(access.get(), kImageIncrement, false) < 0) return {};
  return access;
}

}  // namespace

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = std::exchange(other.id_, H5I_INVALID_HID);
    close_ = other.close_;
  }
  return *this;
}

bool Handle::reset() {
  if (id_ < 0) return true;
  const QuietErrors quiet;
  const hid_t id = std::exchange(id_, H5I_INVALID_HID);
  return id < 0 || close_(id) >= 0;
}

QuietErrors::QuietErrors() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

File::File(std::string path) : path_(std::move(path)) {
  const QuietErrors quiet;
  file_ = checked(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "cannot be created");
  make_string_type();
}

File::File(std::string path, Handle opened) : path_(std::move(path)), file_(std::move(opened)) {
  const QuietErrors quiet;
  if (!file_.valid()) fail("cannot be created");
  make_string_type();
}

void File::make_string_type() {
  string_type_ = checked(H5Tcopy(H5T_C_S1), H5Tclose, "string type");
  if (H5Tset_size(string_type_.get(), H5T_VARIABLE) < 0 || H5Tset_cset(string_type_.get(), H5T_CSET_UTF8) < 0) {
    fail("string type");
  }
}

namespace {

// "file write failed: time = ..., error message = 'No space left on device', buf = ..." -> "file write failed: No space
// left on device"
std::string without_addresses(const std::string& reason) {
  constexpr std::string_view kMark = "error message = '";
  const std::size_t begin = reason.find(kMark);
  const std::size_t details = reason.find(": time = ");
  if (begin == std::string::npos || details == std::string::npos) return reason;
  const std::size_t end = reason.find('\'', begin + kMark.size());
  return reason.substr(0, details) + ": " + reason.substr(begin + kMark.size(), end - begin - kMark.size());
}

}  // namespace

void File::fail(const std::string& what) const {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  reason = without_addresses(reason);
  throw InputError(path_, fmt::format("{}: HDF5 says '{}'; check the folder, its permissions and its free space", what,
                                      reason.empty() ? "no reason given" : reason));
}

Handle File::checked(hid_t id, Handle::Close closer, const std::string& what) const {
  if (id < 0) fail(what);
  return {id, closer};
}

Handle File::group(const std::string& name) const {
  const QuietErrors quiet;
  return checked(H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, name);
}

void File::attribute(hid_t object, const char* name, hid_t type, hid_t memory_type, const Handle& space,
                     const void* data) const {
  const Handle a = checked(H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  if (H5Awrite(a.get(), memory_type, data) < 0) fail(name);
}

void File::attribute(hid_t object, const char* name, const std::string& value) const {
  const QuietErrors quiet;
  const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, name);
  const char* text = value.c_str();
  attribute(object, name, string_type_.get(), string_type_.get(), space, &text);
}

void File::fixed_attribute(hid_t object, const char* name, const std::string& value) const {
  const QuietErrors quiet;
  const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, name);
  const Handle type = checked(H5Tcopy(H5T_C_S1), H5Tclose, name);
  if (H5Tset_size(type.get(), value.size() + 1) < 0) fail(name);
  attribute(object, name, type.get(), type.get(), space, value.c_str());
}

void File::attribute(hid_t object, const char* name, double value) const {
  const QuietErrors quiet;
  const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, name);
  attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, &value);
}

void File::attribute(hid_t object, const char* name, int value) const {
  const QuietErrors quiet;
  const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, name);
  attribute(object, name, H5T_STD_I32LE, H5T_NATIVE_INT, space, &value);
}

void File::attribute(hid_t object, const char* name, std::span<const double> values) const {
  const QuietErrors quiet;
  const hsize_t n = values.size();
  const Handle space = checked(H5Screate_simple(1, &n, nullptr), H5Sclose, name);
  attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, values.data());
}

void File::describe(const Handle& dataset, const Meaning& meaning) const {
  attribute(dataset.get(), "units", std::string(meaning.units));
  attribute(dataset.get(), "description", std::string(meaning.description));
}

void File::write_fixed(const std::string& name, hid_t type, hid_t memory_type, const std::vector<hsize_t>& shape,
                       const void* data, const Meaning& meaning) const {
  const QuietErrors quiet;
  const Handle space = checked(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, name);
  const Handle properties = checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
  // Without modification times equal runs give equal files.
  if (H5Pset_obj_track_times(properties.get(), false) < 0) fail(name);
  const Handle dataset =
      checked(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
              H5Dclose, name);
  const hsize_t count = std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>());
  if (count > 0 && H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) fail(name);
  describe(dataset, meaning);
}

void File::strings(const std::string& name, const std::vector<std::string>& values, const Meaning& meaning) const {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const std::string& v : values) pointers.push_back(v.c_str());
  write_fixed(name, string_type_.get(), string_type_.get(), {values.size()}, pointers.data(), meaning);
}

template <class T>
void File::table(const std::string& name, const std::vector<hsize_t>& shape, std::span<const T> values,
                 const Meaning& meaning) const {
  write_fixed(name, file_type<T>(), native_type<T>(), shape, values.data(), meaning);
}
template void File::table(const std::string&, const std::vector<hsize_t>&, std::span<const double>,
                          const Meaning&) const;
template void File::table(const std::string&, const std::vector<hsize_t>&, std::span<const std::int32_t>,
                          const Meaning&) const;
template void File::table(const std::string&, const std::vector<hsize_t>&, std::span<const std::int8_t>,
                          const Meaning&) const;
template void File::table(const std::string&, const std::vector<hsize_t>&, std::span<const std::uint64_t>,
                          const Meaning&) const;

void File::raw(const std::string& name, const Tree::Type& type, const std::vector<std::uint64_t>& shape,
               const std::string& data) const {
  const QuietErrors quiet;
  const bool real = type.kind == Tree::Kind::real;
  hid_t base = H5T_C_S1;
  if (real) base = type.size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  if (type.kind == Tree::Kind::integer) base = type.is_signed ? H5T_STD_I64LE : H5T_STD_U64LE;
  const Handle stored = checked(H5Tcopy(base), H5Tclose, name);
  if (!real && H5Tset_size(stored.get(), type.size) < 0) fail(name);
  if (type.big_endian && H5Tset_order(stored.get(), H5T_ORDER_BE) < 0) fail(name);
  const std::vector<hsize_t> sides(shape.begin(), shape.end());
  const Handle space = checked(
      sides.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(sides.size()), sides.data(), nullptr),
      H5Sclose, name);
  const Handle dataset =
      checked(H5Dcreate2(file_.get(), name.c_str(), stored.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              H5Dclose, name);
  if (!data.empty() && H5Dwrite(dataset.get(), stored.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()) < 0)
    fail(name);
}

Handle File::extendible(const std::string& name, hid_t type, std::size_t type_size,
                        const std::vector<hsize_t>& row_shape, const Meaning& meaning) const {
  const QuietErrors quiet;
  std::vector<hsize_t> size = {0};
  std::vector<hsize_t> limit = {H5S_UNLIMITED};
  std::vector<hsize_t> chunk = {1};
  std::size_t row_bytes = type_size;
  for (const hsize_t n : row_shape) {
    size.push_back(n);
    // A chunk has no empty side, and may not exceed the largest size.
    limit.push_back(std::max<hsize_t>(n, 1));
    chunk.push_back(limit.back());
    row_bytes *= static_cast<std::size_t>(limit.back());
  }
  chunk[0] = std::clamp<hsize_t>(kChunkBytes / row_bytes, 1, 4096);

  const Handle space =
      checked(H5Screate_simple(static_cast<int>(size.size()), size.data(), limit.data()), H5Sclose, name);
  const Handle properties = checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
  if (H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()) < 0) fail(name);
  if (H5Pset_obj_track_times(properties.get(), false) < 0) fail(name);
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0 && H5Zfilter_avail(H5Z_FILTER_SHUFFLE) > 0) {
    if (H5Pset_shuffle(properties.get()) < 0 || H5Pset_deflate(properties.get(), 1) < 0) fail(name);
  }
  Handle dataset =
      checked(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
              H5Dclose, name);
  describe(dataset, meaning);
  return dataset;
}

void File::append(const Handle& dataset, hid_t memory_type, const std::vector<hsize_t>& row_shape, hsize_t present,
                  hsize_t count, const void* data) const {
  const QuietErrors quiet;
  const std::string what = "cannot append data";
  std::vector<hsize_t> size = {present + count};
  std::vector<hsize_t> offset = {present};
  std::vector<hsize_t> block = {count};
  bool empty = false;
  for (const hsize_t n : row_shape) {
    size.push_back(n);
    offset.push_back(0);
    block.push_back(n);
    empty = empty || n == 0;
  }
  if (H5Dset_extent(dataset.get(), size.data()) < 0) fail(what);
  if (empty) return;
  const Handle file_space = checked(H5Dget_space(dataset.get()), H5Sclose, what);
  if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, offset.data(), nullptr, block.data(), nullptr) < 0) {
    fail(what);
  }
  const Handle memory_space =
      checked(H5Screate_simple(static_cast<int>(block.size()), block.data(), nullptr), H5Sclose, what);
  if (H5Dwrite(dataset.get(), memory_type, memory_space.get(), file_space.get(), H5P_DEFAULT, data) < 0) fail(what);
}

void File::flush() const {
  const QuietErrors quiet;
  if (H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) < 0) fail("cannot be written");
}

void File::close() {
  const QuietErrors quiet;
  string_type_.reset();
  if (!file_.reset()) fail("cannot be completed");
}

Handle create_image() {
  const QuietErrors quiet;
  const Handle access = core_access();
  if (!access.valid()) return {};
  return {H5Fcreate(unique_name().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose};
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

}  // namespace sarrus::hdf5
