// What messages are made of: text of users and files, and suggestions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sarrus {

// Known name nearest to `wrong` by edit distance, for "did you mean" messages; empty if none is near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);
// "did you mean 'x'?", or the choices if none is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known, std::string_view kind);
// Whether `wrong` is most likely meant to be `right`: a letter is wrong, missing or too many, or two neighbours are
// swapped; two such slips in words from seven letters on. Nothing is taken for a word of less than three letters.
bool is_misspelt(std::string_view wrong, std::string_view right);
// Foreign text for a message: control characters escaped, cut to a readable length.
std::string printable(std::string_view text, std::size_t max_size = 80);
// printable() in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace sarrus
