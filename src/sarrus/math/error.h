// The one exception type of the library for bad input: it names the element and the remedy.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

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

}  // namespace sarrus
