// The one exception type of the library for bad input: it names the element and the remedy. And what its messages are
// made of: text of users and files, and suggestions.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sarrus {

// what() reads "<element>: <problem>; <remedy>", prefixed by "<file>: " where a file is involved.
class InputError : public std::runtime_error {
 public:
  InputError(std::string element, const std::string& message)
      : std::runtime_error(element.empty() ? message : element + ": " + message), element_(std::move(element)) {}
  const std::string& element() const { return element_; }

 private:
  std::string element_;
};

// Known name nearest to `wrong` by edit distance, for "did you mean" messages; empty if none is near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);
// "did you mean 'x'?", or the choices if none is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known, std::string_view kind);
// Foreign text for a message: control characters escaped, cut to a readable length.
std::string printable(std::string_view text, std::size_t max_size = 80);
// printable() in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace sarrus
