// The readers of files under the targets of fuzz/: what was found once is found no more, and a few changed files each.
#include <gtest/gtest.h>

#include <filesystem>

#include "../../fuzz/mutate.h"
#include "../../fuzz/readers.h"
#include "effort.h"

namespace sarrus::fuzz_corpus_test {
namespace {

namespace fs = std::filesystem;

TEST(FuzzCorpus, FindingsStayFixed) {
  const fs::path corpus = fs::path(SARRUS_SOURCE_DIR) / "fuzz" / "corpus";
  int files = 0;
  fuzz::ask_all = true;
  for (const fuzz::Reader& target : fuzz::kReaders) {
    for (const fs::directory_entry& entry : fs::directory_iterator(corpus / target.name)) {
      EXPECT_EQ(target.run(fuzz::bytes_of(entry.path())), "") << entry.path();
      ++files;
    }
  }
  fuzz::ask_all = false;
  EXPECT_GE(files, 6);
}

TEST(FuzzCorpus, SeedsAreGoodAndTheirChangesSurvived) {
  for (const fuzz::Reader& target : fuzz::kReaders) {
    SCOPED_TRACE(target.name);
    const std::vector<std::string> seeds = target.seeds();
    for (const std::string& seed : seeds) EXPECT_EQ(target.run(seed), "");
    fuzz::Random random(5);
    const int changes = target.slow ? 4 : std::max(10, test::samples(40));
    for (int i = 0; i < changes; ++i) {
      EXPECT_EQ(target.run(fuzz::mutate(seeds, random)), "") << i;
    }
  }
}

}  // namespace
}  // namespace sarrus::fuzz_corpus_test
