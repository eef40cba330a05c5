// The little of XML that Collada files need: elements, attributes and text as a tree.
//
// Comments, processing instructions and a document type without declarations of its own are skipped. Entities are left
// as they are written: names and numbers of Collada have none.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sarrus {

struct XmlElement {
  std::string_view name;  // views into the parsed text
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  std::string text;  // outside of the children
  std::vector<XmlElement> children;
  std::size_t line = 0;

  // Empty if there is none.
  std::string_view attribute(std::string_view key) const;
  // The first child with this name, or null.
  const XmlElement* child(std::string_view key) const;
};

// The root element; the text must outlive it. Throws InputError "line 12: problem; remedy" for text that is not
// well-formed or nested too deeply to be walked by recursion.
XmlElement parse_xml(std::string_view text);

}  // namespace sarrus
