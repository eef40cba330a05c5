// Makes the n-th call of a kind fail in the program that it is preloaded into, and counts them. From the start of
// main():
//
//   SARRUS_FAULT=malloc:17       the 17th allocation
//   SARRUS_FAULT=write:3:all     the third write to a file and all after it, as on a full disk
//   SARRUS_FAULT_COUNTS=FILE     at the end: "malloc 1234 open 5 write 6 sync 2 rename 2"
//
// Kinds: malloc; open (for writing); write (also ftruncate); sync; rename. Standard output and error are left alone.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Kind { kMalloc, kOpen, kWrite, kSync, kRename, kKinds };
constexpr const char* kNames[kKinds] = {"malloc", "open", "write", "sync", "rename"};

std::atomic<bool> in_main = false;
std::atomic<long> calls[kKinds];
int kind_to_fail = kKinds;
long call_to_fail = 0;
bool all_after = false;

std::atomic<bool> has_failed = false;

bool fails(Kind kind) {
  if (!in_main.load(std::memory_order_relaxed)) return false;
  const long n = ++calls[kind];
  if (kind != kind_to_fail || n < call_to_fail) return false;
  if (has_failed && !all_after) return false;
  has_failed = true;
  return true;
}

void read_wish() {
  const char* wish = std::getenv("SARRUS_FAULT");
  if (wish == nullptr) return;
  for (int k = 0; k < kKinds; ++k) {
    const std::size_t length = std::strlen(kNames[k]);
    if (std::strncmp(wish, kNames[k], length) != 0 || wish[length] != ':') continue;
    char* end = nullptr;
    call_to_fail = std::strtol(wish + length + 1, &end, 10);
    all_after = std::strcmp(end, ":all") == 0;
    kind_to_fail = k;
  }
}

void tell_counts() {
  in_main = false;
  const char* file = std::getenv("SARRUS_FAULT_COUNTS");
  if (file == nullptr) return;
  std::FILE* out = std::fopen(file, "w");
  if (out == nullptr) return;
  for (int k = 0; k < kKinds; ++k) std::fprintf(out, "%s %ld ", kNames[k], calls[k].load());
  std::fclose(out);
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_wish();
  std::atexit(tell_counts);
  in_main = true;
  return real_main(argc, argv, environment);
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of the C library
extern "C" {
int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*end)(), void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return next<Start>("__libc_start_main")(counted_main, argc, argv, init, fini, end, stack);
}

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) {
  if (!fails(kMalloc)) return __libc_malloc(n);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(std::size_t n, std::size_t size) {
  if (!fails(kMalloc)) return __libc_calloc(n, size);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* p, std::size_t n) {
  if (!fails(kMalloc)) return __libc_realloc(p, n);
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  if (!fails(kMalloc)) return __libc_memalign(alignment, n);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  if (fails(kMalloc)) return ENOMEM;
  *p = __libc_memalign(alignment, n);
  return *p == nullptr ? ENOMEM : 0;
}

int open(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_ACCMODE) != O_RDONLY && fails(kOpen)) {
    errno = ENOSPC;
    return -1;
  }
  return next<int (*)(const char*, int, mode_t)>("open")(name, flags, mode);
}
int open64(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(name, flags, mode);
}
std::FILE* fopen(const char* name, const char* mode) {
  if (mode[0] != 'r' && fails(kOpen)) {
    errno = ENOSPC;
    return nullptr;
  }
  return next<std::FILE* (*)(const char*, const char*)>("fopen")(name, mode);
}
std::FILE* fopen64(const char* name, const char* mode) { return fopen(name, mode); }

ssize_t write(int file, const void* data, std::size_t n) {
  if (file > 2 && fails(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return next<ssize_t (*)(int, const void*, std::size_t)>("write")(file, data, n);
}
ssize_t writev(int file, const iovec* parts, int n) {
  if (file > 2 && fails(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return next<ssize_t (*)(int, const iovec*, int)>("writev")(file, parts, n);
}
ssize_t pwrite(int file, const void* data, std::size_t n, off_t at) {
  if (fails(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return next<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite")(file, data, n, at);
}
ssize_t pwrite64(int file, const void* data, std::size_t n, off_t at) { return pwrite(file, data, n, at); }
int ftruncate(int file, off_t size) noexcept {
  if (fails(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return next<int (*)(int, off_t)>("ftruncate")(file, size);
}
int ftruncate64(int file, off_t size) noexcept { return ftruncate(file, size); }
int fsync(int file) {
  if (fails(kSync)) {
    errno = EIO;
    return -1;
  }
  return next<int (*)(int)>("fsync")(file);
}
int rename(const char* from, const char* to) noexcept {
  if (fails(kRename)) {
    errno = EACCES;
    return -1;
  }
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
