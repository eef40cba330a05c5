// Ends the program with one line where the processor lacks what its objects are compiled for. Compiled for every x86-64
// (apps/CMakeLists.txt), and holds nothing else.
//
// It has to come before the constructors of shared libraries, which the loader calls before any of ours: where a
// library and this program hold the same template of the standard library, the loader gives the library the copy of the
// program.
#include <unistd.h>

#include "sarrus/math/cpu.h"

#if defined(__ELF__)

namespace {

void say(const char* text) {
  const char* end = text;
  while (*end != '\0') ++end;
  if (write(STDERR_FILENO, text, static_cast<unsigned long>(end - text)) < 0) _exit(2);
}

void check() {
  const char* problem = sarrus::check_cpu();
  if (problem == nullptr) return;
  say("sarrus: error: ");
  say(problem);
  say("\n");
  _exit(2);  // kExitBadInput: commands.h has code of others
}

// Called when all is loaded, and before all constructors.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all)() = check;

}  // namespace

#endif
