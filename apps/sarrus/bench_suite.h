// `sarrus bench suite|solvers|scenes|scaling|systems|samples` (bench_suite.cpp).
#pragma once

#include <CLI/CLI.hpp>

namespace sarrus::app {

void add_bench_suite(CLI::App& bench, int& exit_code);

}  // namespace sarrus::app
