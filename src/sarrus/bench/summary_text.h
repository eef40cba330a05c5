// Benchmark results as tables for a terminal. Everything else is in the report and in the JSON.
#pragma once

#include <string>

#include "sarrus/bench/result.h"

namespace sarrus {

std::string to_text(const BenchResult& result);

}  // namespace sarrus
