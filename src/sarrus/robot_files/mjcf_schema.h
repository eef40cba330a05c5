// Which elements and attributes MJCF has: others are mistakes, and their authors want to know.
#pragma once

#include "sarrus/files/xml.h"

namespace sarrus::robot::mjcf {

// Throws InputError with the nearest known name. Includes have been spliced.
void check_schema(const xml::Node& root);

}  // namespace sarrus::robot::mjcf
