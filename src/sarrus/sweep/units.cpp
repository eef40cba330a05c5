#include "sarrus/sweep/units.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/archive.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

constexpr int kMostUnits = 2000;

int unit_size(const SweepPlan& plan) { return (plan.runs() + kMostUnits - 1) / kMostUnits; }

// A record: length and hash of its bytes, and these. What was cut off when its writer was killed is not read.
struct Frame {
  std::uint64_t length = 0;
  std::uint64_t hash = 0;
};

std::uint64_t hash_of(std::string_view bytes) {
  Hash64 h;
  h.bytes(bytes.data(), bytes.size());
  return h.value();
}

std::vector<SweepRun> read_records(const fs::path& file) {
  std::vector<SweepRun> records;
  std::error_code error;
  if (!fs::exists(file, error)) return records;
  const std::string text = read_file(file, "a file of runs");
  std::string_view rest = text;
  while (rest.size() >= sizeof(Frame)) {
    Frame frame;
    std::memcpy(&frame, rest.data(), sizeof frame);
    rest.remove_prefix(sizeof frame);
    if (frame.length > rest.size() || frame.hash != hash_of(rest.substr(0, frame.length))) break;
    try {
      ArchiveReader in(rest.substr(0, frame.length));
      SweepRun record;
      in(record);
      records.push_back(std::move(record));
    } catch (const ArchiveError&) {
      break;
    }
    rest.remove_prefix(frame.length);
  }
  return records;
}

// At the end of the file, by one call: two workers of one unit would write whole records.
class Appender {
 public:
  explicit Appender(const fs::path& file)
      : path_(file), descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail();
  }
  ~Appender() { ::close(descriptor_); }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  void add(SweepRun& record) {
    ArchiveWriter out;
    out(record);
    const Frame frame{out.bytes().size(), hash_of(out.bytes())};
    std::string bytes(sizeof frame, '\0');
    std::memcpy(bytes.data(), &frame, sizeof frame);
    bytes += out.bytes();
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail();
      done += static_cast<std::size_t>(n);
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(path_.string(), fmt::format("cannot be written ({}); check the folder and the free space",
                                                 std::generic_category().message(errno)));
  }
  fs::path path_;
  int descriptor_;
};

// Whole records alone, so that what follows them can be read.
void rewrite(const fs::path& file, std::vector<SweepRun>& records) {
  const fs::path fresh = file.string() + ".rewritten";
  {
    std::error_code ignored;
    fs::remove(fresh, ignored);
    Appender out(fresh);
    for (SweepRun& r : records) out.add(r);
  }
  fs::rename(fresh, file);
}

void run_unit(const SweepPlan& plan, int first, int end, const fs::path& result) {
  const fs::path part = result.string() + ".part";
  std::vector<SweepRun> records = read_records(part);
  rewrite(part, records);
  {
    Appender out(part);
    for (int i = first; i < end; ++i) {
      if (std::ranges::any_of(records, [i](const SweepRun& r) { return r.run == i; })) continue;
      SweepRun record = execute(plan, i);
      out.add(record);
    }
  }
  std::error_code error;
  fs::rename(part, result, error);
  if (error && !fs::exists(result)) {
    throw InputError(result.string(), fmt::format("cannot be written ({})", error.message()));
  }
}

}  // namespace

std::vector<WorkUnit> sweep_units(const SweepPlan& plan, const fs::path& folder) {
  std::vector<WorkUnit> units;
  const int size = unit_size(plan);
  for (int first = 0; first < plan.runs(); first += size) {
    const int end = std::min(plan.runs(), first + size);
    const std::string name = fmt::format("runs-{}-{}", first, end - 1);
    const fs::path result = folder / "results" / name;
    units.push_back({name, result, {}, static_cast<double>(end - first), [&plan, first, end, result] {
                       run_unit(plan, first, end, result);
                     }});
  }
  return units;
}

void collect_sweep(const SweepPlan& plan, const std::vector<WorkUnit>& units,
                   const std::function<void(const SweepRun&)>& take) {
  int next = 0, end = 0;
  for (const WorkUnit& unit : units) {
    std::vector<SweepRun> records = read_records(unit.result);
    std::ranges::stable_sort(records, {}, &SweepRun::run);
    for (const SweepRun& r : records) {
      if (r.run != next) continue;  // of two workers
      take(r);
      ++next;
    }
    end += unit_size(plan);
    if (next != std::min(plan.runs(), end)) {
      throw InputError(unit.result.string(), "is damaged; remove it and run again");
    }
  }
}

}  // namespace sarrus
