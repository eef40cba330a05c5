// What is left when no exception can be caught: libraries (the JSON one) destroy values in ways that need memory, and
// the language ends the program when there is none.
#pragma once

namespace sarrus::app {

// From here on such an end removes partial files, says one line and has exit code 2 if memory ran out before, else 1.
void prepare_last_resort();

}  // namespace sarrus::app
