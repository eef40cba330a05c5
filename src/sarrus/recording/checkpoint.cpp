#include "sarrus/recording/checkpoint.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"

namespace sarrus {
namespace {

constexpr std::string_view kCheckpointMagic = "SARRUSCP";
constexpr std::uint32_t kCheckpointVersion = 1;
constexpr std::uintmax_t kMaxCheckpoint = std::uintmax_t{1} << 30;
constexpr std::size_t kCheckpointHeader = 8 + sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr const char* kTakeAnother = "take another one, or run from the start";

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class T>
T get(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::uint64_t hash_of(std::string_view bytes) {
  Hash64 h;
  h.bytes(bytes.data(), bytes.size());
  return h.value();
}

}  // namespace

void save_checkpoint(const std::filesystem::path& file, const Snapshot& snapshot) {
  std::string bytes(kCheckpointMagic);
  put(bytes, kCheckpointVersion);
  put(bytes, std::uint64_t{snapshot.bytes().size()});
  bytes += snapshot.bytes();
  put(bytes, hash_of(bytes));
  write_file_atomically(file, bytes);
}

Snapshot load_checkpoint(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, "a checkpoint", kMaxCheckpoint, kTakeAnother);
  const auto fail = [&](const std::string& what) -> Snapshot {
    throw InputError(file.string(), fmt::format("{}; {}", what, kTakeAnother));
  };
  if (bytes.compare(0, kCheckpointMagic.size(), kCheckpointMagic) != 0)
    return fail("is no checkpoint of sarrus run --checkpoint");
  if (bytes.size() < kCheckpointHeader + sizeof(std::uint64_t)) return fail("the checkpoint is cut off");
  const auto version = get<std::uint32_t>(bytes, kCheckpointMagic.size());
  if (version != kCheckpointVersion) {
    return fail(fmt::format("is a checkpoint of version {}, this program reads {}", version, kCheckpointVersion));
  }
  const std::size_t end = bytes.size() - sizeof(std::uint64_t);
  if (get<std::uint64_t>(bytes, kCheckpointMagic.size() + sizeof version) != end - kCheckpointHeader)
    return fail("the checkpoint is cut off");
  if (get<std::uint64_t>(bytes, end) != hash_of(std::string_view(bytes).substr(0, end))) {
    return fail("the checkpoint is damaged (its hash does not fit)");
  }
  return Snapshot(bytes.substr(kCheckpointHeader, end - kCheckpointHeader));
}

}  // namespace sarrus
