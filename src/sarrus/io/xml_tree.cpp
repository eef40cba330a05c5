#include "sarrus/io/xml_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "sarrus/io/scene_reader.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

constexpr std::size_t kMaxDepth = 200;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Some editors put a mark, bytes beyond ASCII, in front of UTF-8 text.
bool is_space_or_mark(char c) { return is_space(c) || static_cast<unsigned char>(c) >= 0x80; }

bool ends_name(char c) { return is_space(c) || c == '>' || c == '/' || c == '=' || c == '<'; }

class XmlParser {
 public:
  explicit XmlParser(std::string_view text) : text_(text) {}

  XmlElement parse() {
    XmlElement document;
    std::vector<XmlElement*> open = {&document};  // an element moves in memory only before it has open children
    while (at_ < text_.size()) {
      const std::size_t tag = text_.find('<', at_);
      add_text(*open.back(), text_.substr(at_, tag - at_), open.size() > 1);
      if (tag == std::string_view::npos) break;
      advance_to(tag);
      if (skip_markup(*open.back())) continue;
      if (text_.substr(at_).starts_with("</")) {
        close_element(open);
      } else {
        open_element(open);
      }
    }
    if (open.size() > 1)
      fail(fmt::format("the file is cut off within <{}>; export it again", printed(open.back()->name)));
    if (document.children.size() != 1) fail("is no XML file with one root element; export it again");
    return std::move(document.children.front());
  }

 private:
  [[noreturn]] void fail(const std::string& problem_and_remedy) const {
    throw InputError(fmt::format("line {}", line_), problem_and_remedy);
  }
  static std::string printed(std::string_view text) { return scene::printable(text); }

  void advance_to(std::size_t position) {
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    at_ = position;
  }
  void skip_space() {
    std::size_t end = at_;
    while (end < text_.size() && is_space(text_[end])) ++end;
    advance_to(end);
  }
  std::string_view take_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !ends_name(text_[at_])) ++at_;
    if (at_ == begin) fail("a name is missing in a tag; export the file again");
    return text_.substr(begin, at_ - begin);
  }
  void take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) fail(fmt::format("'{}' is missing in a tag; export the file again", c));
    ++at_;
  }

  void add_text(XmlElement& element, std::string_view text, bool inside) {
    if (inside) {
      element.text += text;
    } else if (!std::all_of(text.begin(), text.end(), is_space_or_mark)) {
      fail("text stands outside of all elements, so this is no Collada file; export it again");
    }
    advance_to(std::min(at_ + text.size(), text_.size()));
  }

  // Comments, instructions, CDATA (which is text) and the document type.
  bool skip_markup(XmlElement& element) {
    const auto skip = [this](std::string_view begin, std::string_view end) {
      if (!text_.substr(at_).starts_with(begin)) return false;
      const std::size_t close = text_.find(end, at_ + begin.size());
      if (close == std::string_view::npos) fail("the file is cut off within a comment or instruction; export it again");
      advance_to(close + end.size());
      return true;
    };
    const std::size_t begin = at_;
    if (skip("<![CDATA[", "]]>")) {
      element.text += text_.substr(begin + 9, at_ - begin - 12);
      return true;
    }
    if (skip("<!--", "-->") || skip("<?", "?>")) return true;
    if (!skip("<!", ">")) return false;
    if (text_.substr(begin, at_ - begin).find('[') != std::string_view::npos) {
      fail("the document type declares names of its own; export the file again without them");
    }
    return true;
  }

  void open_element(std::vector<XmlElement*>& open) {
    ++at_;
    XmlElement& element = open.back()->children.emplace_back();
    element.line = line_;
    element.name = take_name();
    for (;;) {
      skip_space();
      if (at_ >= text_.size()) fail("the file is cut off within a tag; export it again");
      if (text_[at_] == '>' || text_[at_] == '/') break;
      element.attributes.push_back(take_attribute());
    }
    const bool closed = text_[at_] == '/';
    if (closed) ++at_;
    take('>');
    if (closed) return;
    if (open.size() > kMaxDepth) {
      fail(fmt::format("elements are nested more than {} deep; flatten the scene before exporting it", kMaxDepth));
    }
    open.push_back(&element);
  }

  std::pair<std::string_view, std::string_view> take_attribute() {
    const std::string_view key = take_name();
    skip_space();
    take('=');
    skip_space();
    const char quote = at_ < text_.size() && text_[at_] == '\'' ? '\'' : '"';
    take(quote);
    const std::size_t begin = at_;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("the file is cut off within a tag; export it again");
    advance_to(end);
    ++at_;
    return {key, text_.substr(begin, end - begin)};
  }

  void close_element(std::vector<XmlElement*>& open) {
    at_ += 2;
    const std::string_view name = take_name();
    skip_space();
    take('>');
    if (open.size() == 1 || open.back()->name != name) {
      fail(fmt::format("</{}> closes no element; export the file again", printed(name)));
    }
    open.pop_back();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::string_view XmlElement::attribute(std::string_view key) const {
  const auto it = std::find_if(attributes.begin(), attributes.end(), [key](const auto& a) { return a.first == key; });
  return it == attributes.end() ? std::string_view() : it->second;
}

const XmlElement* XmlElement::child(std::string_view key) const {
  const auto it = std::find_if(children.begin(), children.end(), [key](const XmlElement& c) { return c.name == key; });
  return it == children.end() ? nullptr : &*it;
}

XmlElement parse_xml(std::string_view text) { return XmlParser(text).parse(); }

}  // namespace sarrus
