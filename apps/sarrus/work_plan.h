// What a folder of unfinished work belongs to.
#pragma once

#include <filesystem>
#include <string>

namespace sarrus::app {

// The folder belongs to one command: what it was begun with is noted in it as plan.txt. Throws InputError if that is
// another one, or the folder cannot be used.
void require_same_plan(const std::filesystem::path& folder, const std::string& command);

}  // namespace sarrus::app
