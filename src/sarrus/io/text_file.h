// Reads whole text files, refusing what is no file or too large to be meant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sarrus {

// Throws InputError naming the file; `remedy` completes the messages ("give a scene file").
std::string read_text_file(const std::filesystem::path& file, std::uintmax_t max_bytes, const char* remedy);

}  // namespace sarrus
