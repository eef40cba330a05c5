#include "last_resort.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#if defined(__linux__)
#include <link.h>
#include <ucontext.h>
#endif

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "commands.h"
#include "sarrus/files/whole_file.h"

namespace sarrus::app {
namespace {

bool memory_ran_out = false;

void note_and_throw() {
  memory_ran_out = true;
  throw std::bad_alloc();
}

[[noreturn]] void end_with(std::string_view line, int exit_code) {
  OutputFile::remove_partial_files();
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  std::_Exit(exit_code);
}

[[noreturn]] void end_with_a_line() {
  if (memory_ran_out) {
    end_with("sarrus: error: out of memory; make the scene or the file smaller, or give it more memory\n",
             kExitBadInput);
  }
  end_with("sarrus: error: internal error (an exception that nothing could catch)\n", kExitInternal);
}

// Addresses from begin up to end; none: not known.
struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};
Range below_stack;  // of the main thread: its last page, and what is not its own any more
Range hdf5_code;

void find_stack() {
#if defined(__linux__)
  constexpr std::uintptr_t kNear = std::uintptr_t{1} << 18;  // a frame, and the guard
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
    below_stack = {begin - kNear, begin + kNear};
  }
  ::pthread_attr_destroy(&attributes);
#endif
}

#if defined(__linux__)
int take_hdf5_code(dl_phdr_info* library, std::size_t /*size*/, void* /*unused*/) {
  if (std::strstr(library->dlpi_name, "libhdf5") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    hdf5_code = {begin, begin + segment.p_memsz};
    return 1;
  }
  return 0;
}
#endif

void find_hdf5() {
#if defined(__linux__)
  ::dl_iterate_phdr(take_hdf5_code, nullptr);
#endif
}

// Whether the fault is one of HDF5, or of a function of the C library that it calls (strlen of what it has not got):
// such functions call nobody, so that where they return to is still where the processor has put it.
bool is_in_hdf5([[maybe_unused]] const void* context) {
#if defined(__linux__) && defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto returns_to = *reinterpret_cast<const std::uintptr_t*>(registers[REG_RSP]);
  return hdf5_code.holds(static_cast<std::uintptr_t>(registers[REG_RIP])) || hdf5_code.holds(returns_to);
#elif defined(__linux__) && defined(__aarch64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
  return hdf5_code.holds(registers.pc) || hdf5_code.holds(registers.regs[30]);
#else
  return false;
#endif
}

[[noreturn]] void end_in_hdf5() {
  end_with(
      "sarrus: error: the HDF5 library failed in a way it does not tell, as where memory or the stack runs out; make "
      "the "
      "scene or the file smaller, or give it more memory\n",
      kExitBadInput);
}

// Runs on a stack of its own. Returns into the same fault, for which the system has its own end again.
void end_after_fault(int /*signal*/, siginfo_t* info, void* context) {
  if (below_stack.holds(reinterpret_cast<std::uintptr_t>(info->si_addr)) || is_in_hdf5(context)) end_in_hdf5();
  OutputFile::remove_partial_files();
}

void catch_faults() {
#if !defined(__SANITIZE_ADDRESS__)  // which has handlers of its own
  static std::array<char, 1 << 16> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  if (::sigaltstack(&other, nullptr) != 0) return;
  struct sigaction action {};
  action.sa_sigaction = end_after_fault;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) ::sigaction(signal, &action, nullptr);
#endif
}

// A library ended the program: ours leaves no partial files.
void look_for_partial_files() {
  if (OutputFile::remove_partial_files()) end_in_hdf5();
}

}  // namespace

void prepare_last_resort() {
  std::set_new_handler(note_and_throw);
  std::set_terminate(end_with_a_line);
  std::atexit(look_for_partial_files);
  find_stack();
  find_hdf5();
  catch_faults();
}

}  // namespace sarrus::app
