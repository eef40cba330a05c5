// Loops shared by threads: every iteration once, whatever the numbers, and nothing allocated.
#include "sarrus/math/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/allocations.h"

namespace sarrus::workers_test {
namespace {

TEST(Workers, EveryIterationOnceForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7}) {
    Workers workers(threads);
    EXPECT_EQ(workers.count(), threads);
    for (const int n : {0, 1, 2, 3, 16, 17, 1000, 1001}) {
      std::vector<int> times(static_cast<std::size_t>(n), 0);
      std::atomic<int> beyond{0};
      workers.each(n, [&](int i, int worker) {
        ++times[static_cast<std::size_t>(i)];
        beyond += worker < 0 || worker >= threads;
      });
      EXPECT_EQ(beyond, 0);
      EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(n), 1)) << threads << " threads, " << n;
      workers.ranges(n, 5, [&](int begin, int end) {
        beyond += begin >= end || (end - begin < 5 && end != n);
        for (int i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
      });
      EXPECT_EQ(beyond, 0);
      EXPECT_EQ(times, std::vector<int>(static_cast<std::size_t>(n), 2)) << threads << " threads, " << n;
    }
  }
}

// Loop after loop, each reading what the one before it wrote: no thread may lag behind in an old one.
TEST(Workers, LoopsFollowOneAnother) {
  constexpr int kLoops = 3000;
  constexpr int kSize = 40;
  Workers workers(4);
  std::vector<int> a(kSize), b(kSize);
  std::iota(a.begin(), a.end(), 0);
  for (int k = 0; k < kLoops; ++k) {
    workers.each(kSize - k % 3, [&](int i, int) {
      const auto s = static_cast<std::size_t>(i);
      b[s] = a[s] + 1;
    });
    for (int i = kSize - k % 3; i < kSize; ++i) b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>(i)] + 1;
    a.swap(b);
  }
  for (int i = 0; i < kSize; ++i) EXPECT_EQ(a[static_cast<std::size_t>(i)], i + kLoops);
}

// Each worker has memory of its own: no two run under one number at a time.
TEST(Workers, NumbersOfWorkersAreTheirOwn) {
  Workers workers(3);
  std::atomic<int> busy[3] = {};
  std::atomic<int> clashes{0};
  for (int k = 0; k < 200; ++k) {
    workers.each(64, [&](int, int worker) {
      clashes += busy[worker]++ != 0;
      --busy[worker];
    });
  }
  EXPECT_EQ(clashes, 0);
}

TEST(Workers, LoopsAllocateNothing) {
  Workers workers(2);
  std::vector<double> x(1000, 0.0);
  // A thread allocates when it begins, which may be late.
  std::atomic<bool> began = false;
  for (int k = 0; k < 1'000'000 && !began; ++k) {
    workers.each(64, [&](int, int worker) {
      if (worker == 1) began = true;
    });
  }
  ASSERT_TRUE(began);
  const long n = test::allocations_of([&] {
    for (int k = 0; k < 100; ++k) {
      workers.each(1000, [&](int i, int) { x[static_cast<std::size_t>(i)] += 1; });
    }
  });
  EXPECT_EQ(n, 0);
  EXPECT_EQ(x[999], 100);
}

// Whoever runs the iteration that throws: the caller gets the exception of the first one, all before it were run, and
// the team goes on.
TEST(Workers, TheFirstExceptionReachesTheCaller) {
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    std::vector<int> times(1000, 0);
    for (int k = 0; k < 300; ++k) {
      const int first = (7 * k) % 900;
      std::fill(times.begin(), times.end(), 0);
      std::string what;
      try {
        workers.each(1000, [&](int i, int) {
          if (i >= first && (i - first) % 50 == 0) throw std::out_of_range(std::to_string(i));
          ++times[static_cast<std::size_t>(i)];
        });
      } catch (const std::out_of_range& e) {
        what = e.what();
      }
      ASSERT_EQ(what, std::to_string(first)) << threads << " threads";
      for (int i = 0; i < first; ++i) ASSERT_EQ(times[static_cast<std::size_t>(i)], 1) << threads << " threads";
      std::atomic<int> sum{0};
      workers.each(1000, [&](int i, int) { sum += i; });
      ASSERT_EQ(sum, 499500);
    }
  }
}

}  // namespace
}  // namespace sarrus::workers_test
