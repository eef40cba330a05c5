// Writing and damaging small HDF5 files with the plain C API, for the tests of readers.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace sarrus::testing_io {

namespace fs = std::filesystem;

inline std::string read_text(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

// A folder for one test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::path(testing::TempDir()) / ("sarrus-io-" + std::to_string(::getpid()) + "-" +
                                              testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// An HDF5 file open for writing.
class RawFile {
 public:
  enum Mode { create, change };
  RawFile(const fs::path& path, Mode mode)
      : id_(mode == create ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                           : H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)) {
    EXPECT_GE(id_, 0) << path;
  }
  ~RawFile() { H5Fclose(id_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  // Replaces the data set if it is there; groups are made as needed.
  void put(const std::string& name, const std::vector<double>& v) {
    put(name, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, v.data(), v.size());
  }
  void put(const std::string& name, const std::vector<int>& v) {
    put(name, H5T_NATIVE_INT, H5T_NATIVE_INT, v.data(), v.size());
  }
  void put(const std::string& name, const std::vector<std::int64_t>& v) {
    put(name, H5T_NATIVE_INT64, H5T_NATIVE_INT64, v.data(), v.size());
  }
  // A data set of this size without any data in the file.
  void put_hollow(const std::string& name, hsize_t size) { put(name, H5T_NATIVE_DOUBLE, 0, nullptr, size); }
  void remove(const std::string& name) {
    if (H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0) H5Ldelete(id_, name.c_str(), H5P_DEFAULT);
  }
  void group(const std::string& name) {
    H5Gclose(H5Gcreate2(id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  void attribute(const char* name, int value) {
    H5Adelete(id_, name);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate2(id_, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(a, H5T_NATIVE_INT, &value);
    H5Aclose(a);
    H5Sclose(space);
  }
  void remove_attribute(const char* name) { H5Adelete(id_, name); }

 private:
  void put(const std::string& name, hid_t type, hid_t memory_type, const void* data, hsize_t size) {
    if (has_parents(name)) remove(name);
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t dataset = H5Dcreate2(id_, name.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(dataset, 0) << name;
    if (data != nullptr && size > 0) {
      EXPECT_GE(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0) << name;
    }
    H5Dclose(dataset);
    H5Pclose(links);
    H5Sclose(space);
  }
  bool has_parents(const std::string& name) const {
    for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1)) {
      if (H5Lexists(id_, name.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return true;
  }

  hid_t id_;
};

inline std::vector<double> get_doubles(const fs::path& path, const std::string& name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  EXPECT_GE(dataset, 0) << path << " " << name;
  const hid_t space = H5Dget_space(dataset);
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return values;
}

// A way to damage a file, and the parts that the message about it must have besides the name of the file.
struct Damage {
  const char* what;
  std::function<void(const fs::path&)> apply;
  std::vector<std::string> message;
};

// Applies each damage to a copy of `good` and expects `load` to throw Error with the message.
template <class Error, class Load>
void expect_damage_found(const TemporaryFolder& folder, const fs::path& good, const std::vector<Damage>& table,
                         Load load) {
  for (const Damage& d : table) {
    SCOPED_TRACE(d.what);
    const fs::path file = folder / "damaged.h5";
    fs::remove_all(file);
    fs::copy_file(good, file);
    d.apply(file);
    try {
      load(file);
      ADD_FAILURE() << "accepted";
    } catch (const Error& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("damaged.h5"), std::string::npos) << text;
      EXPECT_NE(text.find("; "), std::string::npos) << "no remedy: " << text;
      for (const std::string& part : d.message) EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

// Cuts a file at many lengths and flips single bytes of it: `load` may refuse, with Error and nothing else.
template <class Error, class Load>
void expect_survives_noise(const TemporaryFolder& folder, const fs::path& good, Load load) {
  const std::string bytes = read_text(good);
  const fs::path file = folder / "noise.h5";
  const auto attempt = [&](const std::string& content) {
    write_text(file, content);
    try {
      load(file);
    } catch (const Error&) {
    }
  };
  for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 97) {
    write_text(file, bytes.substr(0, n));
    EXPECT_THROW(load(file), Error) << n << " of " << bytes.size() << " bytes";
  }
  std::uint64_t state = 12345;
  for (int i = 0; i < 400; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::string changed = bytes;
    changed[(state >> 20) % bytes.size()] = static_cast<char>(state >> 56);
    attempt(changed);
  }
}

}  // namespace sarrus::testing_io
