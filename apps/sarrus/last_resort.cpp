#include "last_resort.h"

#include <unistd.h>

#include <cstdlib>
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

[[noreturn]] void end_with_a_line() {
  OutputFile::remove_partial_files();
  const std::string_view line =
      memory_ran_out ? "sarrus: error: out of memory; make the scene or the file smaller, or give it more memory\n"
                     : "sarrus: error: internal error (an exception that nothing could catch)\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  std::_Exit(memory_ran_out ? kExitBadInput : kExitInternal);
}

}  // namespace

void prepare_last_resort() {
  std::set_new_handler(note_and_throw);
  std::set_terminate(end_with_a_line);
}

}  // namespace sarrus::app
