// `sarrus bench compare` and `sarrus bench report` (bench_compare.cpp): from stored results.
#pragma once

#include <CLI/CLI.hpp>

namespace sarrus::app {

void add_bench_compare(CLI::App& bench, int& exit_code);

}  // namespace sarrus::app
