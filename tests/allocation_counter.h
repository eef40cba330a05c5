// Counts allocations in malloc itself, which operator new and Eigen end in; with sanitizers, which own malloc, only
// operator new is counted. It replaces the allocator of the executable: include it in one source of a test.
#pragma once

#include <Eigen/Core>  // its intrinsics declare posix_memalign in their own way: before our definition
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

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

}  // namespace
}  // namespace sarrus
