// Changes of XML documents: attributes, numbers in texts, references, whole elements. Parts come from a second
// document.
#pragma once

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <string>
#include <vector>

#include "random.h"

namespace sarrus::fuzz {

inline void collect(tinyxml2::XMLElement* e, std::vector<tinyxml2::XMLElement*>& out, int depth = 0) {
  for (; e != nullptr; e = e->NextSiblingElement()) {
    out.push_back(e);
    if (depth < 40) collect(e->FirstChildElement(), out, depth + 1);
  }
}

// Another number, or another number of numbers.
inline std::string changed_text(const std::string& text, Random& random) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\n", i);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    i = end;
  }
  if (words.empty()) return fmt::format("{}", odd_number(random));
  const std::size_t at = random.below(words.size());
  switch (random.below(5)) {
    case 0:
    case 1:
      words[at] = fmt::format("{}", odd_number(random));
      break;
    case 2:
      words[at] = fmt::format("{}", static_cast<std::int64_t>(random.below(20)) - 3);
      break;
    case 3:
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    default:
      words.push_back(words[at]);
  }
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
  return out;
}

inline const tinyxml2::XMLAttribute* some_attribute(const tinyxml2::XMLElement& e, Random& random) {
  int count = 0;
  for (const auto* a = e.FirstAttribute(); a != nullptr; a = a->Next()) ++count;
  const auto* a = e.FirstAttribute();
  for (std::size_t i = random.below(static_cast<std::size_t>(count)); i > 0; --i) a = a->Next();
  return a;
}

inline void mutate_xml(tinyxml2::XMLDocument& document, Random& random, tinyxml2::XMLDocument& other) {
  std::vector<tinyxml2::XMLElement*> all, others;
  collect(document.RootElement(), all);
  collect(other.RootElement(), others);
  if (all.empty() || others.empty()) return;
  tinyxml2::XMLElement& here = *all[random.below(all.size())];
  const tinyxml2::XMLElement& part = *others[random.below(others.size())];
  const auto* attribute = some_attribute(here, random);
  switch (random.below(8)) {
    case 0:
      if (attribute != nullptr) {
        const std::string name = attribute->Name();
        here.SetAttribute(name.c_str(), changed_text(attribute->Value(), random).c_str());
      }
      return;
    case 1:  // another element's value: references that go elsewhere
      if (const auto* donor = some_attribute(part, random); donor != nullptr && attribute != nullptr) {
        const std::string name = random.one_in(3) ? donor->Name() : attribute->Name();
        here.SetAttribute(name.c_str(), std::string(donor->Value()).c_str());
      }
      return;
    case 2:
      if (attribute != nullptr) here.DeleteAttribute(std::string(attribute->Name()).c_str());
      return;
    case 3:
    case 4:
      if (const char* text = here.GetText()) here.SetText(changed_text(text, random).c_str());
      return;
    case 5:
      here.InsertEndChild(part.DeepClone(&document));
      return;
    case 6:
      if (here.Parent() != nullptr && &here != document.RootElement()) here.Parent()->DeleteChild(&here);
      return;
    default:
      here.SetName(part.Name());
  }
}

}  // namespace sarrus::fuzz
