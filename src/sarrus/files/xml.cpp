#include "sarrus/files/xml.h"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus::xml {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

[[noreturn]] void fail_in(const std::string& file, int line, const std::string& problem_and_remedy) {
  throw InputError(line > 0 ? fmt::format("{}:{}", file, line) : file, problem_and_remedy);
}

// Text of the element itself, which comments and children may interrupt.
std::string own_text(const tinyxml2::XMLElement& element) {
  std::string text;
  for (const tinyxml2::XMLNode* n = element.FirstChild(); n != nullptr; n = n->NextSibling()) {
    if (n->ToText() == nullptr) continue;
    if (!text.empty()) text += ' ';
    text += n->Value();
  }
  return text;
}

Node convert(const tinyxml2::XMLElement& element, const std::shared_ptr<const std::string>& file, int depth) {
  if (depth > kMaxDepth) {
    fail_in(*file, element.GetLineNum(),
            fmt::format("elements are nested deeper than {}; simplify the file", kMaxDepth));
  }
  Node node;
  node.name = element.Name();
  node.place = {file, element.GetLineNum()};
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    node.attributes.push_back({a->Name(), a->Value()});
  }
  node.text = own_text(element);
  for (const tinyxml2::XMLElement* c = element.FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) {
    node.children.push_back(convert(*c, file, depth + 1));
  }
  return node;
}

// What begins with "<!" is a comment, text, or a declaration: those of entities are refused wherever they stand.
void refuse_entities(std::string_view text, const std::string& name) {
  std::size_t close = 0, bracket = 0;  // the next ones, so that each byte is looked at once
  for (std::size_t at = text.find("<!"); at != std::string_view::npos; at = text.find("<!", at)) {
    const std::string_view rest = text.substr(at);
    const auto skip = [&](std::string_view begin, std::string_view end) {
      if (!rest.starts_with(begin)) return false;
      at = std::min(text.find(end, at + begin.size()), text.size());
      return true;
    };
    if (skip("<!--", "-->") || skip("<![CDATA[", "]]>")) continue;
    if (close <= at) close = std::min(text.find('>', at), text.size());
    if (bracket <= at) bracket = std::min(text.find('[', at), text.size());
    if (rest.starts_with("<!ENTITY") || bracket < close) {
      const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
      fail_in(name, static_cast<int>(line), "declares a document type or entities; write their values out");
    }
    at += 2;
  }
}

}  // namespace

std::string Place::text() const {
  if (file == nullptr) return {};
  return line > 0 ? fmt::format("{}:{}", *file, line) : *file;
}

const std::string* Node::find(std::string_view attribute) const {
  for (const Attribute& a : attributes) {
    if (a.name == attribute) return &a.value;
  }
  return nullptr;
}

std::string* Node::find(std::string_view attribute) {
  return const_cast<std::string*>(std::as_const(*this).find(attribute));
}

std::string Node::get(std::string_view attribute) const {
  const std::string* value = find(attribute);
  return value == nullptr ? std::string() : *value;
}

void Node::set(std::string_view attribute, std::string value) {
  if (std::string* old = find(attribute)) {
    *old = std::move(value);
  } else {
    attributes.push_back({std::string(attribute), std::move(value)});
  }
}

const Node* Node::child(std::string_view child_name) const {
  for (const Node& c : children) {
    if (c.name == child_name) return &c;
  }
  return nullptr;
}

std::size_t Node::size() const {
  std::size_t n = 1;
  for (const Node& c : children) n += c.size();
  return n;
}

void require_bounded(std::string_view text, std::size_t max_elements, int max_attributes) {
  if (text.find('\0') != std::string_view::npos) throw InputError("", "holds bytes that are no text; export it again");
  std::size_t elements = 0;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const auto skip = [&](std::string_view begin, std::string_view end) {
      if (!text.substr(at).starts_with(begin)) return false;
      at = std::min(text.find(end, at + begin.size()), text.size());
      return true;
    };
    if (skip("<!--", "-->") || skip("<![CDATA[", "]]>") || skip("<?", "?>") || skip("<!", ">")) continue;
    int attributes = 0;
    for (++at; at < text.size() && text[at] != '>'; ++at) {
      if (text[at] != '"' && text[at] != '\'') continue;
      ++attributes;
      at = std::min(text.find(text[at], at + 1), text.size() - 1);
    }
    if (++elements > max_elements || attributes > max_attributes) {
      throw InputError("", fmt::format("has more than {} elements, or {} attributes in one; simplify it", max_elements,
                                       max_attributes));
    }
  }
}

Node parse(std::string_view text, const std::string& name) {
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) fail_in(name, 0, "is empty; export it again");
  try {
    require_bounded(text, 2 * kMaxElements);
  } catch (const InputError& error) {
    fail_in(name, 0, error.what());
  }
  refuse_entities(text, name);
  tinyxml2::XMLDocument document;
  const tinyxml2::XMLError error = document.Parse(text.data(), text.size());
  if (error == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED) {
    fail_in(name, document.ErrorLineNum(), "elements are nested too deeply; simplify the file");
  }
  if (error != tinyxml2::XML_SUCCESS || document.RootElement() == nullptr) {
    fail_in(name, document.ErrorLineNum(),
            fmt::format("is no well-formed XML ({}); correct it",
                        tinyxml2::XMLDocument::ErrorIDToName(document.ErrorID())));
  }
  return convert(*document.RootElement(), std::make_shared<const std::string>(name), 0);
}

Node read(const std::filesystem::path& file) {
  return parse(read_file(file, "an XML file", kMaxFileBytes), file.string());
}

std::string root_name(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (!text.starts_with('<')) return {};
    const auto skip = [&](std::string_view begin, std::string_view end) {
      if (!text.starts_with(begin)) return false;
      const std::size_t at = text.find(end, begin.size());
      text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
      return true;
    };
    if (skip("<!--", "-->") || skip("<?", "?>") || skip("<!", ">")) continue;
    text.remove_prefix(1);
    return std::string(text.substr(0, std::min(text.find_first_of(" \t\r\n/>"), text.size())));
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool parse_number(std::string_view word, double& number) {
  if (word.starts_with('+')) {
    word.remove_prefix(1);
    if (word.starts_with('-')) return false;
  }
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, number);
  if (error == std::errc::result_out_of_range && end == last) {  // of the two ways only this one is a number: 0
    number = 0;
    return word.find("e-") != std::string_view::npos || word.find("E-") != std::string_view::npos;
  }
  return error == std::errc() && end == last && std::isfinite(number);
}

bool parse_numbers(std::string_view text, std::vector<double>& numbers) {
  for (const std::string_view word : words_of(text)) {
    if (!parse_number(word, numbers.emplace_back())) return false;
  }
  return true;
}

std::string describe(const Node& node) {
  const std::string* name = node.find("name");
  const std::string kind = printable(node.name);
  return name == nullptr || name->empty() ? kind : fmt::format("{} {}", kind, in_quotes(*name));
}

void fail(const Node& node, const std::string& problem_and_remedy) {
  const std::string where = node.place.text();
  throw InputError(where.empty() ? describe(node) : where + ": " + describe(node), problem_and_remedy);
}

}  // namespace sarrus::xml
