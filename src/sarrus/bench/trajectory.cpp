#include "sarrus/bench/trajectory.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"

namespace sarrus {
namespace {

static_assert(std::endian::native == std::endian::little, "number files are little endian");

using nlohmann::json;

constexpr std::string_view kMagic = "sarrus-numbers 1\n";

std::uint64_t hash_of(std::string_view bytes) {
  Hash64 hash;
  hash.bytes(bytes.data(), bytes.size());
  return hash.value();
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& problem) {
  throw InputError(path.string(), problem + "; let the program that wrote it run again");
}

json parse_header(const std::filesystem::path& path, const std::string& text) {
  json header = json::parse(text, nullptr, false);
  if (!header.is_object()) fail(path, "the header is no JSON object");
  return header;
}

template <class T>
T member(const std::filesystem::path& path, const json& header, const char* name) {
  try {
    return header.at(name).get<T>();
  } catch (const json::exception&) {
    fail(path, fmt::format("the header has no valid member \"{}\"", name));
  }
}

std::size_t count(const std::filesystem::path& path, const json& header, const char* name) {
  const auto n = member<std::int64_t>(path, header, name);
  if (n < 0 || n > (std::int64_t{1} << 40)) fail(path, fmt::format("\"{}\" is {}, no count", name, n));
  return static_cast<std::size_t>(n);
}

}  // namespace

void save_numbers(const std::filesystem::path& path, const NumberFile& file) {
  json header = parse_header(path, file.header);
  header["numbers"] = file.numbers.size();
  std::string bytes(kMagic);
  bytes += header.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  bytes.append(reinterpret_cast<const char*>(file.numbers.data()), sizeof(double) * file.numbers.size());
  const std::uint64_t hash = hash_of(bytes);
  bytes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw InputError(path.string(), "cannot be written; choose another path");
}

NumberFile load_numbers(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "cannot be read");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!std::string_view(bytes).starts_with(kMagic)) fail(path, "is no number file");
  const std::size_t end = bytes.find('\n', kMagic.size());
  if (end == std::string::npos) fail(path, "has no header");
  NumberFile file;
  json header = parse_header(path, bytes.substr(kMagic.size(), end - kMagic.size()));
  const std::size_t n = count(path, header, "numbers");
  std::uint64_t hash = 0;
  const std::size_t size = end + 1 + sizeof(double) * n;
  if (bytes.size() != size + sizeof hash) {
    fail(path, fmt::format("has {} bytes, {} expected", bytes.size(), size + sizeof hash));
  }
  std::memcpy(&hash, bytes.data() + size, sizeof hash);
  if (hash != hash_of(std::string_view(bytes).substr(0, size))) fail(path, "is damaged: the hash does not fit");
  file.numbers.resize(n);
  if (n > 0) std::memcpy(file.numbers.data(), bytes.data() + end + 1, sizeof(double) * n);
  header.erase("numbers");
  file.header = header.dump();
  return file;
}

void save_trajectory(const std::filesystem::path& path, const Trajectory& t) {
  NumberFile file;
  file.header = json{{"engine", t.engine},
                     {"version", t.version},
                     {"setting", t.setting},
                     {"setting_text", t.setting_text},
                     {"scene", t.scene},
                     {"status", t.status},
                     {"dt", t.dt},
                     {"bodies", t.bodies},
                     {"samples", t.time.size()},
                     {"steps", t.step_seconds.size()}}
                    .dump(-1, ' ', false, json::error_handler_t::replace);
  file.numbers = t.time;
  file.numbers.insert(file.numbers.end(), t.motion.begin(), t.motion.end());
  file.numbers.insert(file.numbers.end(), t.step_seconds.begin(), t.step_seconds.end());
  save_numbers(path, file);
}

Trajectory load_trajectory(const std::filesystem::path& path) {
  const NumberFile file = load_numbers(path);
  const json header = parse_header(path, file.header);
  Trajectory t;
  t.engine = member<std::string>(path, header, "engine");
  t.version = member<std::string>(path, header, "version");
  t.setting = member<std::string>(path, header, "setting");
  t.setting_text = member<std::string>(path, header, "setting_text");
  t.scene = member<std::string>(path, header, "scene");
  t.status = member<std::string>(path, header, "status");
  t.dt = member<double>(path, header, "dt");
  const std::size_t bodies = count(path, header, "bodies");
  const std::size_t samples = count(path, header, "samples");
  const std::size_t steps = count(path, header, "steps");
  const std::size_t motion = samples * bodies * kNumbersPerBody;
  if (bodies > 1000000 || samples + motion + steps != file.numbers.size()) {
    fail(path, fmt::format("{} samples of {} bodies and {} steps do not make {} numbers", samples, bodies, steps,
                           file.numbers.size()));
  }
  t.bodies = static_cast<int>(bodies);
  const auto at = [&](std::size_t i) { return file.numbers.begin() + static_cast<std::ptrdiff_t>(i); };
  t.time.assign(at(0), at(samples));
  t.motion.assign(at(samples), at(samples + motion));
  t.step_seconds.assign(at(samples + motion), file.numbers.end());
  return t;
}

}  // namespace sarrus
