// What is left when no exception can be caught: libraries (the JSON one) destroy values in ways that need memory, and
// the language ends the program when there is none. HDF5 does not survive it either: it calls itself without end, uses
// what it has not got, or ends the program.
#pragma once

namespace sarrus::app {

// From here on such an end removes partial files, says one line and has exit code 2 if memory (or the stack) ran out,
// or HDF5 failed, else 1. A program that reads or writes where it must not, elsewhere, removes partial files, too,
// before the system ends it.
void prepare_last_resort();

}  // namespace sarrus::app
