// With sanitizers, which own malloc, their hook counts. Elsewhere glibc's malloc is replaced in the test program.
// Another C library counts nothing, and Allocation.TheCounterSeesEveryWayToAllocate says so.
#include "support/allocations.h"

#include <Eigen/Core>  // its intrinsics declare posix_memalign in their own way: before our definition
#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
// As in <sanitizer/allocator_interface.h>, which GCC does not install.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);
#endif

namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;
std::atomic<long> bytes = 0;
std::atomic<long> failing = 0;  // the allocation that fails, while counting; 0: none

// Whether this allocation is the one that fails.
[[maybe_unused]] bool fails() {
  if (!counting.load(std::memory_order_relaxed)) return false;
  return allocations.fetch_add(1, std::memory_order_relaxed) + 1 == failing.load(std::memory_order_relaxed);
}

[[maybe_unused]] void take(std::size_t taken) {
  if (counting.load(std::memory_order_relaxed)) bytes.fetch_add(static_cast<long>(taken), std::memory_order_relaxed);
}

[[maybe_unused]] void give_back(std::size_t returned) {
  if (counting.load(std::memory_order_relaxed)) bytes.fetch_sub(static_cast<long>(returned), std::memory_order_relaxed);
}

#if defined(__SANITIZE_ADDRESS__)
[[maybe_unused]] const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t n) {
      fails();
      take(n);
    },
    [](const volatile void* p) { give_back(p == nullptr ? 0 : __sanitizer_get_allocated_size(p)); });
#endif

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
namespace {

void* counted(void* p) {
  take(p == nullptr ? 0 : malloc_usable_size(p));
  return p;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the C library
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t n) { return fails() ? nullptr : counted(__libc_malloc(n)); }
void* calloc(std::size_t n, std::size_t size) { return fails() ? nullptr : counted(__libc_calloc(n, size)); }
void* realloc(void* p, std::size_t n) {
  if (fails()) return nullptr;
  if (p != nullptr) give_back(malloc_usable_size(p));
  return counted(__libc_realloc(p, n));
}
void free(void* p) {
  if (p != nullptr) give_back(malloc_usable_size(p));
  __libc_free(p);
}
void* memalign(std::size_t alignment, std::size_t n) {
  return fails() ? nullptr : counted(__libc_memalign(alignment, n));
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  return fails() ? nullptr : counted(__libc_memalign(alignment, n));
}
int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  if (fails()) return ENOMEM;
  *p = counted(__libc_memalign(alignment, n));
  return *p == nullptr ? ENOMEM : 0;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

namespace sarrus::test {

long allocations_of(const std::function<void()>& f) {
  allocations = 0;
  counting = true;
  f();
  counting = false;
  return allocations;
}

long bytes_held_by(const std::function<void()>& f) {
  bytes = 0;
  counting = true;
  f();
  counting = false;
  return bytes;
}

bool can_fail_allocations() {
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

void with_failing_allocation(long n, const std::function<void()>& f) {
  struct Ended {
    ~Ended() {
      counting = false;
      failing = 0;
    }
  };
  const Ended ended;
  allocations = 0;
  failing = n;
  counting = true;
  f();
}

}  // namespace sarrus::test
