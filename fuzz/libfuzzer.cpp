// The readers (readers.h) under libFuzzer:
//
//   sarrus_libfuzzer list
//   sarrus_libfuzzer READER FOLDER [FLAG or FOLDER]...   seeds are put into the first folder if it is empty
//
// Three of four changes are those of mutate.h, which know JSON, XML and HDF5.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "mutate.h"
#include "readers.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace sarrus::fuzz;

const Reader* reader = nullptr;

std::string_view view_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

void write_seeds(const fs::path& folder) {
  fs::create_directories(folder);
  if (!fs::is_empty(folder)) return;
  int count = 0;
  for (const std::string& seed : reader->seeds()) {
    std::ofstream(folder / fmt::format("seed-{}", count++), std::ios::binary) << seed;
  }
}

}  // namespace

// Takes the name of the reader out of the arguments; the rest is libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string_view wanted = *argc > 1 ? (*argv)[1] : "";
  for (const Reader& r : kReaders) {
    if (wanted == "list") fmt::print("{}\n", r.name);
    if (wanted == r.name) reader = &r;
  }
  if (wanted == "list") std::exit(0);
  if (reader == nullptr || *argc < 3) {
    fmt::print(stderr, "sarrus_libfuzzer list, or sarrus_libfuzzer READER FOLDER [FLAG or FOLDER]...\n");
    std::exit(2);
  }
  ask_all = fs::is_regular_file((*argv)[2]);
  if (!ask_all) write_seeds((*argv)[2]);
  (*argv)[1] = (*argv)[0];
  ++*argv;
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Finding finding = reader->run(view_of(data, size));
  if (finding.empty()) return 0;
  fmt::print(stderr, "{}: {}\n", reader->name, finding);
  std::abort();
}

namespace {

// What mutate.h makes of the files, if it fits.
std::size_t changed(const std::vector<std::string>& files, std::uint8_t* out, std::size_t max_size, unsigned seed) {
  Random random(seed * 0x9e3779b97f4a7c15ULL);
  const std::string bytes = mutate(files, random);
  if (bytes.empty() || bytes.size() > max_size) return 0;
  std::copy(bytes.begin(), bytes.end(), out);
  return bytes.size();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (size == 0 || seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::size_t done = changed({std::string(view_of(data, size))}, data, max_size, seed);
  return done > 0 ? done : LLVMFuzzerMutate(data, size, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t size_a, const std::uint8_t* b,
                                                 std::size_t size_b, std::uint8_t* out, std::size_t max_size,
                                                 unsigned seed) {
  if (size_a == 0 || size_b == 0) return 0;
  return changed({std::string(view_of(a, size_a)), std::string(view_of(b, size_b))}, out, max_size, seed);
}
