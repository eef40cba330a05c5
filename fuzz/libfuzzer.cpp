// A reader as libFuzzer wants it; SARRUS_FUZZ_TARGET is its name in targets.h. Half of the changes are those of
// mutate.h, which know JSON.
#include <cstdint>
#include <cstdlib>

#include "mutate.h"
#include "seeds.h"
#include "targets.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sarrus::fuzz::Finding finding = sarrus::fuzz::SARRUS_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  if (finding.empty()) return 0;
  fmt::print(stderr, "{}\n", finding);
  std::abort();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (size == 0 || seed % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  sarrus::fuzz::Random random(seed);
  std::vector<std::string> files = {std::string(reinterpret_cast<const char*>(data), size)};
  const std::string changed = sarrus::fuzz::mutate(files, random);
  if (changed.empty() || changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
