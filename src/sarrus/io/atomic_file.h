// Writes whole files so that a reader, or a crash, never sees half of one.
#pragma once

#include <filesystem>
#include <string_view>

namespace sarrus {

// Writes a temporary file beside the target, flushes it to disk and renames it over the target. A symbolic
// link is followed and an existing file keeps its permissions. Throws InputError that names the path; the
// target is then unchanged.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace sarrus
