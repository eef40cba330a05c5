// HDF5 files that someone made to be read badly: other files in them, sizes that nothing holds, zeroed bytes. Nothing
// outside of the file is opened, and each gives one InputError.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <chrono>

#include "effort.h"
#include "io/hdf5_test_file.h"
#include "sarrus/files/hdf5_reader.h"
#include "sarrus/math/error.h"
#include "sarrus/problem_files/fclib_file.h"
#include "sarrus/problem_files/problem_file.h"
#include "sarrus/recording/recording.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

namespace sarrus::hostile_file_test {
namespace {

namespace fs = std::filesystem;
using testing_io::RawFile;
using testing_io::read_text;
using testing_io::TemporaryFolder;
using testing_io::write_text;

// What reading a data set says.
std::string complaint(const fs::path& file, const std::string& name = "/x") {
  try {
    hdf5::Reader(file, "make it again").doubles(name, hdf5::kAnySize);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

class Raw {
 public:
  explicit Raw(const fs::path& path, bool latest = false) : access_(H5Pcreate(H5P_FILE_ACCESS)) {
    if (latest) H5Pset_libver_bounds(access_, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_);
  }
  ~Raw() {
    H5Pclose(access_);
    H5Fclose(id);
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  // Creates /x with these properties; `properties` is closed.
  void dataset(const std::vector<hsize_t>& shape, hid_t properties, hid_t type = H5T_IEEE_F64LE,
               const void* data = nullptr, const char* name = "/x") const {
    const hid_t space =
        shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t x = H5Dcreate2(id, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ASSERT_GE(x, 0);
    if (data != nullptr) H5Dwrite(x, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(x);
    H5Sclose(space);
    if (properties != H5P_DEFAULT) H5Pclose(properties);
  }

  hid_t id;

 private:
  hid_t access_;
};

hid_t creation() { return H5Pcreate(H5P_DATASET_CREATE); }

TEST(HostileFile, OtherFilesAreNotOpened) {
  const TemporaryFolder folder;
  const fs::path secret = folder / "secret";
  write_text(secret, std::string(80, 's'));
  {
    const Raw raw(folder / "external.h5");
    const hid_t p = creation();
    H5Pset_external(p, secret.c_str(), 0, 80);
    raw.dataset({10}, p);
  }
  EXPECT_NE(complaint(folder / "external.h5").find("/x: keeps its numbers in another file"), std::string::npos)
      << complaint(folder / "external.h5");
  {
    const Raw raw(folder / "links.h5");
    H5Lcreate_external("external.h5", "/x", raw.id, "x", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/y", raw.id, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", raw.id, "dangling", H5P_DEFAULT, H5P_DEFAULT);
  }
  for (const char* name : {"/x", "/soft", "/dangling", "/x/deeper"}) {
    EXPECT_NE(complaint(folder / "links.h5", name).find("is a link to another place"), std::string::npos) << name;
  }
  {
    const Raw raw(folder / "virtual.h5");
    const hid_t p = creation();
    const hsize_t ten = 10;
    const hid_t space = H5Screate_simple(1, &ten, nullptr);
    H5Pset_virtual(p, space, "external.h5", "/x", space);
    H5Sclose(space);
    raw.dataset({10}, p);
  }
  EXPECT_NE(complaint(folder / "virtual.h5").find("virtual"), std::string::npos) << complaint(folder / "virtual.h5");
}

TEST(HostileFile, PipesAndDevicesAreRefused) {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe.h5";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& file : {pipe, fs::path("/dev/zero")}) {
    EXPECT_NE(complaint(file).find("not a regular file"), std::string::npos) << complaint(file);
  }
}

TEST(HostileFile, SizesAreCheckedBeforeMemoryIsTaken) {
  const TemporaryFolder folder;
  {  // 8 GB in a data set that was never written, and in chunks that were not
    const Raw raw(folder / "hollow.h5");
    raw.dataset({hsize_t{1} << 30}, H5P_DEFAULT);
    const hid_t p = creation();
    const hsize_t chunk = 1 << 20;
    H5Pset_chunk(p, 1, &chunk);
    raw.dataset({hsize_t{1} << 30}, p, H5T_IEEE_F64LE, nullptr, "/chunks");
  }
  EXPECT_NE(complaint(folder / "hollow.h5").find("more than the file can hold"), std::string::npos);
  EXPECT_NE(complaint(folder / "hollow.h5", "/chunks").find("more than the file can hold"), std::string::npos);
  {  // one number in a chunk of 1 GB
    const Raw raw(folder / "chunk.h5");
    const hid_t p = creation();
    const hsize_t one = 1, any = H5S_UNLIMITED, chunk = 1 << 27;
    H5Pset_chunk(p, 1, &chunk);
    const hid_t space = H5Screate_simple(1, &one, &any);
    H5Dclose(H5Dcreate2(raw.id, "/x", H5T_IEEE_F64LE, space, H5P_DEFAULT, p, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(p);
  }
  EXPECT_NE(complaint(folder / "chunk.h5").find("chunks larger than the file can hold"), std::string::npos)
      << complaint(folder / "chunk.h5");
  // A file with a hole of 12 GB is refused by its size.
  write_text(folder / "sparse.h5", read_text(folder / "chunk.h5"));
  fs::resize_file(folder / "sparse.h5", std::uintmax_t{12} << 30);
  EXPECT_NE(complaint(folder / "sparse.h5").find("more than the limit of 2048 MB"), std::string::npos)
      << complaint(folder / "sparse.h5");
}

// A chain of contacts in a small file would become a dense matrix with thousands of rows.
TEST(HostileFile, CouplingDoesNotGrow) {
  const TemporaryFolder folder;
  constexpr int kContacts = 2000;
  std::vector<int> column, row;
  for (int i = 0; i < 3 * kContacts; ++i) {
    column.push_back(static_cast<int>(row.size()));
    if (i >= 3) row.push_back(i - 3);
    row.push_back(i);
    if (i + 3 < 3 * kContacts) row.push_back(i + 3);
  }
  column.push_back(static_cast<int>(row.size()));
  {
    RawFile fclib(folder / "chain.h5", RawFile::create);
    fclib.put("/fclib_local/spacedim", std::vector<int>{3});
    fclib.put("/fclib_local/vectors/q", std::vector<double>(3 * kContacts, -1));
    fclib.put("/fclib_local/vectors/mu", std::vector<double>(kContacts, 0.5));
    fclib.put("/fclib_local/W/m", std::vector<int>{3 * kContacts});
    fclib.put("/fclib_local/W/n", std::vector<int>{3 * kContacts});
    fclib.put("/fclib_local/W/nz", std::vector<int>{-1});
    fclib.put("/fclib_local/W/p", column);
    fclib.put("/fclib_local/W/i", row);
    fclib.put("/fclib_local/W/x", std::vector<double>(row.size(), 1));
  }
  try {
    load_fclib(folder / "chain.h5");
    ADD_FAILURE() << "accepted";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("becomes 36000000 dense ones"), std::string::npos) << e.what();
  }
}

// All that HDF5 stores numbers in by default is read: layouts, types, byte orders, filters, many chunks.
TEST(HostileFile, OrdinaryLayoutsAreRead) {
  const TemporaryFolder folder;
  std::vector<double> numbers;
  for (int i = 0; i < 7 * 211; ++i) numbers.push_back(i - 100);
  const std::vector<hsize_t> shape = {211, 7};
  int made = 0;
  const auto expect_read = [&](hid_t properties, hid_t type, bool latest) {
    const fs::path file = folder / fmt::format("{}.h5", made++);
    {
      const Raw raw(file, latest);
      raw.dataset(shape, properties, type, numbers.data());
    }
    const hdf5::Reader reader(file, "make it again");
    const auto n = static_cast<std::int64_t>(numbers.size());
    if (H5Tget_class(type) == H5T_FLOAT) {
      EXPECT_EQ(reader.doubles("/x", n), numbers);
    } else {
      const std::vector<int> integers = reader.ints("/x", n);
      EXPECT_EQ(std::vector<double>(integers.begin(), integers.end()), numbers);
    }
  };
  for (const bool latest : {false, true}) {
    for (const hid_t type : {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_STD_I16LE,
                             H5T_STD_I32BE, H5T_STD_I64LE}) {
      expect_read(H5P_DEFAULT, type, latest);
      if (latest) continue;
      hid_t p = creation();
      H5Pset_layout(p, H5D_COMPACT);
      expect_read(p, type, latest);
      for (const bool filtered : {false, true}) {
        p = creation();
        const hsize_t chunk[] = {3, 2};  // 284 chunks: a B-tree of several levels
        H5Pset_chunk(p, 2, chunk);
        if (filtered) H5Pset_fletcher32(p);
        if (filtered) H5Pset_shuffle(p);
        if (filtered) H5Pset_deflate(p, 6);
        expect_read(p, type, latest);
      }
    }
  }
  // Chunks of the newest format are refused with what helps.
  {
    const Raw raw(folder / "latest.h5", true);
    const hid_t p = creation();
    const hsize_t chunk[] = {3, 2};
    H5Pset_chunk(p, 2, chunk);
    raw.dataset(shape, p, H5T_IEEE_F64LE, numbers.data());
  }
  EXPECT_NE(complaint(folder / "latest.h5").find("h5repack"), std::string::npos) << complaint(folder / "latest.h5");
}

// Three zeroed bytes anywhere, and other small damage, with the readers as they are used. Under the sanitizers this is
// what finds a read out of bounds.
template <class Load>
void expect_survives_holes(const TemporaryFolder& folder, const char* good, Load load) {
  const std::string bytes = read_text(folder / good);
  const fs::path file = folder / "hole.h5";
  std::uint64_t state = 99;
  const auto random = [&state] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
  for (int i = 0; i < std::max(60, test::samples(300)); ++i) {
    std::string changed = bytes;
    for (std::uint64_t k = 0; k <= random() % 3; ++k) {
      // Half of the damage goes where the structure is.
      const std::uint64_t at =
          random() % (random() % 2 == 0 ? changed.size() : std::min<std::size_t>(4096, changed.size()));
      const std::uint64_t length = std::min<std::uint64_t>(1 + random() % 8, changed.size() - at);
      constexpr char kBytes[] = {0, -1, 1, 127};
      changed.replace(at, length, length, random() % 2 == 0 ? '\0' : kBytes[random() % 4]);
    }
    write_text(file, changed);
    try {
      load(file);
    } catch (const InputError&) {
    }
  }
}

TEST(HostileFile, HolesGiveErrors) {
  const TemporaryFolder folder;
  const Model model = make_scene("box_on_plane");
  Simulation sim(model);
  {
    RecordingWriter writer(folder / "run.h5", model, {"box_on_plane", 0.01, sim.options(), "test"});
    for (int i = 0; i < 3; ++i) {
      sim.step();
      const Energy e = energy(model, sim.state());
      writer.add(sim.state(), sim.report(), e, sim.contacts(), forces_of(sim));
    }
    writer.close();
  }
  save_problem(folder / "problem.h5", sim.problem(), sim.warm_start_impulses(), sim.impulses());
  {
    RawFile fclib(folder / "fclib.h5", RawFile::create);
    fclib.put("/fclib_local/spacedim", std::vector<int>{3});
    fclib.put("/fclib_local/vectors/q", std::vector<double>{-1, 0, 0});
    fclib.put("/fclib_local/vectors/mu", std::vector<double>{0.5});
    for (const auto& [name, value] : {std::pair{"m", 3}, std::pair{"n", 3}, std::pair{"nz", -1}}) {
      fclib.put(fmt::format("/fclib_local/W/{}", name), std::vector<int>{value});
    }
    fclib.put("/fclib_local/W/p", std::vector<int>{0, 1, 2, 3});
    fclib.put("/fclib_local/W/i", std::vector<int>{0, 1, 2});
    fclib.put("/fclib_local/W/x", std::vector<double>{1, 1, 1});
  }
  EXPECT_EQ(load_fclib(folder / "fclib.h5").info.contacts, 1);
  expect_survives_holes(folder, "problem.h5", [](const fs::path& f) { load_problem(f); });
  expect_survives_holes(folder, "run.h5", [&](const fs::path& f) { load_recording(f, model); });
  expect_survives_holes(folder, "fclib.h5", [&](const fs::path& f) {
    load_fclib(f);
    hdf5::Reader(f, "make it again").copy_to(hdf5::File("copy", hdf5::create_image()), "/solution");
  });
}

}  // namespace
}  // namespace sarrus::hostile_file_test
