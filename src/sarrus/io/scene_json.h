// Strict JSON for scene files: a syntax error names its line and column; duplicate keys, deep nesting and
// numbers that overflow a double are errors.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace sarrus::scene {

using Json = nlohmann::json;

// Throws InputError without a file name, which the caller adds.
Json parse_strict_json(std::string_view text);

}  // namespace sarrus::scene
