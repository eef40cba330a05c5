// JSON text that people read: whatever fits on a line stays on one, the rest is indented.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sarrus::scene {

using OrderedJson = nlohmann::ordered_json;

// Numbers are written with enough digits to keep their bits. Throws InputError if a string is not UTF-8.
std::string print_json(const OrderedJson& document);

}  // namespace sarrus::scene
