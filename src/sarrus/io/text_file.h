// Reads whole text files, refusing what is no file or too large to be meant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sarrus {

// Throws InputError naming the file; `what` it should have been completes the messages ("a scene file").
std::string read_text_file(const std::filesystem::path& file, std::uintmax_t max_bytes, const char* what);

}  // namespace sarrus
