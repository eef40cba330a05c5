// Whether this processor has the instructions that the libraries are compiled for (SARRUS_MARCH of CMake). A program on
// one that lacks them would end by an illegal instruction, perhaps before main(): static objects are made of the same
// code.
#pragma once

namespace sarrus {

// nullptr if nothing is missing, else one line without its end: what is missing, and the remedy. It lasts as long as
// the thread. Runs on every x86-64 processor, before the constructors of static objects, too.
//
// The command asks first of all (apps/sarrus/cpu_check.cpp shows how). A language that loads the engine as a module has
// to ask from a module that is loaded before it.
const char* check_cpu();

}  // namespace sarrus
