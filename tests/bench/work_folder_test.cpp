// Work shared through a folder: every unit once, nothing twice, what is lost is taken over and said.
#include "sarrus/work/work_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "bench/temporary_folder.h"
#include "sarrus/math/error.h"

namespace sarrus::work_folder_test {
namespace {

namespace fs = std::filesystem;

void touch(const fs::path& path, const std::string& text = {}) { std::ofstream(path) << text; }

struct Counted {
  std::vector<WorkUnit> units;
  std::vector<std::atomic<int>> runs;
};

// Units that note how often they ran; each waits for the one before if `chained`.
Counted make_units(const fs::path& folder, int count, bool chained = false) {
  Counted c{{}, std::vector<std::atomic<int>>(static_cast<std::size_t>(count))};
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const fs::path result = folder / "results" / std::to_string(i);
    WorkUnit u{"unit" + std::to_string(i), result, {}, 1, {}};
    if (chained && i > 0) u.after = {k - 1};
    c.units.push_back(std::move(u));
  }
  return c;
}

void attach(Counted& c) {
  for (std::size_t i = 0; i < c.units.size(); ++i) {
    c.units[i].run = [&c, i] {
      ++c.runs[i];
      touch(c.units[i].result);
    };
  }
}

TEST(WorkFolder, RunsEveryUnitOnceInOrderOfNeed) {
  const test::TemporaryFolder folder;
  Counted c = make_units(folder.path(), 5, true);
  attach(c);
  std::vector<WorkFolder::Progress> seen;
  WorkFolder work(folder.path(), "a");
  work.run(c.units, [&](const WorkFolder::Progress& p) { seen.push_back(p); });
  for (const std::atomic<int>& n : c.runs) EXPECT_EQ(n, 1);
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen.front().done, 0u);
  EXPECT_EQ(seen.back().done, 5u);
  EXPECT_EQ(seen.back().share, 1);
  EXPECT_EQ(seen.back().left, 0);
  EXPECT_TRUE(work.lost().empty());
}

TEST(WorkFolder, ResumesWhereItStopped) {
  const test::TemporaryFolder folder;
  Counted c = make_units(folder.path(), 4);
  attach(c);
  {
    WorkFolder work(folder.path(), "a");
    std::vector<WorkUnit> broken = c.units;
    broken[2].run = [] { throw std::runtime_error("full disk"); };
    EXPECT_THROW(work.run(broken, {}), std::runtime_error);
  }
  WorkFolder work(folder.path(), "b");
  work.run(c.units, {});
  for (const std::atomic<int>& n : c.runs) EXPECT_EQ(n, 1);
  EXPECT_TRUE(work.lost().empty()) << "a unit that threw was given back";
}

TEST(WorkFolder, WorkersShareTheUnits) {
  const test::TemporaryFolder folder;
  Counted c = make_units(folder.path(), 40);
  attach(c);
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&, w] {
      WorkFolder work(folder.path(), "worker" + std::to_string(w));
      work.run(c.units, {});
      EXPECT_TRUE(work.lost().empty());
    });
  }
  for (std::thread& t : workers) t.join();
  for (const std::atomic<int>& n : c.runs) EXPECT_EQ(n, 1);
  EXPECT_TRUE(fs::is_empty(folder.path() / "alive"));
  EXPECT_TRUE(fs::is_empty(folder.path() / "claims"));
}

TEST(WorkFolder, TakesOverFromTheLostAndSaysSo) {
  const test::TemporaryFolder folder;
  Counted c = make_units(folder.path(), 2);
  attach(c);
  WorkFolder work(folder.path(), "a", 0.3);
  touch(folder.path() / "claims" / "unit1", "ghost");
  touch(folder.path() / "alive" / "ghost");  // lives now, and never again
  work.run(c.units, {});
  EXPECT_EQ(c.runs[1], 1);
  EXPECT_EQ(work.lost(), (std::vector<std::string>{"ghost (unit unit1)"}));
}

TEST(WorkFolder, RefusesAFolderThatIsNone) {
  const test::TemporaryFolder folder;
  touch(folder.path() / "file");
  EXPECT_THROW(WorkFolder(folder.path() / "file", "a"), InputError);
}

}  // namespace
}  // namespace sarrus::work_folder_test
