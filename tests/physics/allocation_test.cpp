// step() allocates nothing once its buffers have grown. Allocations are counted in malloc itself, which operator new
// and Eigen end in; with sanitizers, which own malloc, only operator new is counted.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "physics/harness.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SARRUS_COUNT_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SARRUS_COUNT_MALLOC 0
#endif
#endif
#if !defined(SARRUS_COUNT_MALLOC)
#if defined(__GLIBC__)
#define SARRUS_COUNT_MALLOC 1
#else
#define SARRUS_COUNT_MALLOC 0
#endif
#endif

namespace {

// Not atomic: the tests are single-threaded, and only what happens between start and stop counts.
bool counting = false;
long allocations = 0;

void count() {
  if (counting) ++allocations;
}

}  // namespace

#if SARRUS_COUNT_MALLOC
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the C library
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) {
  count();
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
  count();
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
  count();
  return __libc_realloc(p, n);
}
void* memalign(std::size_t alignment, std::size_t n) {
  count();
  return __libc_memalign(alignment, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  count();
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  count();
  *p = __libc_memalign(alignment, n);
  return *p == nullptr ? ENOMEM : 0;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

namespace {

void* counted_new(std::size_t n, std::size_t alignment) {
  count();
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(n)
                : std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

// Not inlined: GCC would see free() meet an operator new and call it a mismatch.
[[gnu::noinline]] void release(void* p) { std::free(p); }

}  // namespace

void* operator new(std::size_t n) { return counted_new(n, 1); }
void* operator new[](std::size_t n) { return counted_new(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return counted_new(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return counted_new(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

namespace sarrus {
namespace {

// Allocations during f().
template <class F>
long allocations_of(F f) {
  allocations = 0;
  counting = true;
  f();
  counting = false;
  return allocations;
}

template <class T>
void keep(const T& x) {  // the compiler may remove allocations that nobody looks at
  asm volatile("" : : "g"(&x) : "memory");
}

TEST(Allocation, TheCounterSeesEveryWayToAllocate) {
  EXPECT_GT(allocations_of([] { keep(std::make_unique<int>(1)); }), 0);
  EXPECT_GT(allocations_of([] { keep(std::vector<Pose>(3)); }), 0);
  EXPECT_GT(allocations_of([] { keep(std::string(100, 'x')); }), 0);
#if SARRUS_COUNT_MALLOC
  EXPECT_GT(allocations_of([] { keep(VecX(VecX::Zero(50))); }), 0);
  EXPECT_GT(allocations_of([] {
              void* p = std::malloc(10);
              keep(p);
              std::free(p);
            }),
            0);
#endif
  EXPECT_EQ(allocations_of([] { keep(Vec6(Vec6::Zero())); }), 0);
}

struct Case {
  const char* scene;
  int warm_up;
  int counted;
};

void expect_no_allocations(const Case& c, SimulationOptions options) {
  Simulation sim = testing::simulate(c.scene, std::move(options));
  for (int i = 0; i < c.warm_up; ++i) sim.step();
  int failed = 0;
  int fewest = sim.report().contacts;
  int most = fewest;
  const long n = allocations_of([&] {
    for (int i = 0; i < c.counted; ++i) {
      const StepReport& r = sim.step();
      failed += r.status == StepStatus::failed;
      fewest = std::min(fewest, r.contacts);
      most = std::max(most, r.contacts);
    }
  });
  EXPECT_EQ(n, 0) << c.scene << " " << name(*sim.options().integrator);
  EXPECT_EQ(failed, 0) << c.scene;
  ::testing::Test::RecordProperty(
      fmt::format("{}_{}", c.scene, name(*sim.options().integrator)),
      fmt::format("{} allocations in {} steps, {} to {} contacts", n, c.counted, fewest, most));
}

TEST(Allocation, StepsAllocateNothingAfterWarmUp) {
  for (const Case& c :
       {Case{"fourbar_swing", 10, 500}, Case{"stewart_platform", 10, 300}, Case{"ring20", 30, 100},
        Case{"stack15_equal", 10, 300}, Case{"bennett_linkage", 10, 300}, Case{"slider_crank", 10, 300}}) {
    for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
      SimulationOptions o;
      o.integrator = integrator;
      expect_no_allocations(c, o);
    }
  }
}

// The counted steps of the nunchuk hold its landing, so the number of contacts grows while counting. The landing
// of an equal one in the warm-up is what a user's warm-up would be.
TEST(Allocation, ANunchukThatHasLandedOnceFallsAgainWithoutAllocating) {
  for (const Integrator integrator : {Integrator::semi_implicit, Integrator::moreau}) {
    SimulationOptions o;
    o.integrator = integrator;
    Simulation sim = testing::simulate("nunchuk", o);
    const State start = sim.state();
    for (int i = 0; i < 500; ++i) sim.step();
    sim.set_state(start);
    const long n = allocations_of([&] {
      for (int i = 0; i < 500; ++i) sim.step();
    });
    EXPECT_EQ(n, 0) << name(integrator);
    expect_no_allocations({"nunchuk", 400, 300}, o);
  }
}

TEST(Allocation, TheWalkerAllocatesNothing) {
  expect_no_allocations({"jansen_walker", 60, 60}, {});
  SimulationOptions moreau;
  moreau.integrator = Integrator::moreau;
  expect_no_allocations({"jansen_walker", 60, 60}, moreau);
}

TEST(Allocation, ColdStartsAllocateNothingEither) {
  SimulationOptions o;
  o.warm_start = false;
  expect_no_allocations({"stack15_equal", 10, 50}, o);
}

}  // namespace
}  // namespace sarrus
