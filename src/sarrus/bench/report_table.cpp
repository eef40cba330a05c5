#include "sarrus/bench/report_table.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <stdexcept>

#include "sarrus/bench/plot_frame.h"

namespace sarrus {
namespace {

constexpr std::size_t kLongText = 36;  // letters; longer cells are wrapped

std::string caption_html(const std::string& title, const std::string& caption, const std::string& command) {
  return fmt::format("<figcaption><b>{}.</b> {} <span class=\"made\">Made by <code>{}</code></span></figcaption>\n",
                     escape_xml(title), caption, escape_xml(command));
}

const char* tone_class(Cell::Tone tone) {
  switch (tone) {
    case Cell::Tone::good:
      return "good";
    case Cell::Tone::bad:
      return "bad";
    case Cell::Tone::faint:
      return "faint";
    case Cell::Tone::plain:
      break;
  }
  return "";
}

std::string attribute(const char* key, const std::string& value) {
  return value.empty() ? std::string() : fmt::format(" {}=\"{}\"", key, escape_xml(value));
}

void append_cell(const Cell& cell, bool heads_row, std::string& out) {
  std::string classes = cell.number ? "num" : "";
  const std::string tone = tone_class(cell.tone);
  if (!cell.number && letters(cell.html) > kLongText) classes = "long";
  if (!tone.empty()) classes += (classes.empty() ? "" : " ") + tone;
  std::string key;
  if (cell.number) key = std::isfinite(cell.key) ? fmt::format("{:.6g}", cell.key) : std::string("last");
  fmt::format_to(std::back_inserter(out), "<{0}{1}{2}{3}{4}>{5}</{0}>", heads_row ? "th" : "td",
                 heads_row ? " scope=\"row\"" : "", attribute("class", classes), attribute("data-k", key),
                 attribute("title", cell.explanation), cell.html);
}

}  // namespace

std::string power_text(double v) {
  std::string text = fmt::format("{:g}", v);
  for (const char* zero : {"e-0", "e+0"}) {
    const std::size_t at = text.find(zero);
    if (at != std::string::npos) text.erase(at + 2, 1);
  }
  return text;
}

std::string number_text(double v, int digits) {
  if (std::isnan(v)) return "–";
  if (std::isinf(v)) return v > 0 ? "∞" : "−∞";
  const double size = std::abs(v);
  if (v == std::round(v) && size < 1e6) return fmt::format("{:.0f}", v);
  if (size < 1e-3 || size >= 1e6) return fmt::format("{:.{}e}", v, std::max(0, digits - 1));
  // Rounding may carry into the next decade: 9.996 with three digits is 10.0.
  const double rounded = std::abs(std::stod(fmt::format("{:.{}e}", v, std::max(0, digits - 1))));
  const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(rounded) + 1e-12));
  return fmt::format("{:.{}f}", v, std::max(0, decimals));
}

Cell cell_text(const std::string& text) {
  Cell cell;
  cell.html = escape_xml(text);
  return cell;
}

Cell cell_number(double value, int digits) {
  Cell cell;
  cell.html = number_text(value, digits);
  cell.key = value;
  cell.number = true;
  return cell;
}

Cell cell_residual(double value) {
  Cell cell = cell_number(value);
  if (std::isfinite(value) && value != 0) cell.html = fmt::format("{:.1e}", value);
  if (std::isinf(value)) cell.explanation = "no finite answer";
  return cell;
}

Cell cell_count(long long value) {
  Cell cell;
  cell.html = fmt::format("{}", value);
  cell.key = static_cast<double>(value);
  cell.number = true;
  if (value == 0) cell.tone = Cell::Tone::faint;
  return cell;
}

Cell cell_share(long long part, long long total) {
  if (total == 0) return cell_none("no such sample");
  Cell cell;
  cell.html = fmt::format("{} / {}", part, total);
  cell.key = static_cast<double>(part) / static_cast<double>(total);
  cell.number = true;
  cell.explanation = fmt::format("{:.1f} %", 100 * cell.key);
  cell.tone = part == total ? Cell::Tone::good : part == 0 ? Cell::Tone::bad : Cell::Tone::plain;
  return cell;
}

Cell cell_none(const std::string& why) {
  Cell cell = cell_number(std::nan(""));
  cell.explanation = why;
  cell.tone = Cell::Tone::faint;
  return cell;
}

void Table::row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size()) {
    throw std::invalid_argument(
        fmt::format("table \"{}\": {} cells for {} columns", title_, cells.size(), columns_.size()));
  }
  rows_.push_back(std::move(cells));
}

std::string Table::html(const std::string& caption, const std::string& command) const {
  std::string out = "<figure class=\"data\">\n" + caption_html(title_, caption, command);
  out += "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\"><thead><tr>";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& c = columns_[i];
    const bool number = !rows_.empty() && rows_.front()[i].number;
    out += fmt::format("<th scope=\"col\"{}{}>{}{}</th>", number ? " class=\"num\"" : "",
                       attribute("title", c.explanation), escape_xml(c.title),
                       c.unit.empty() ? std::string() : fmt::format(" <small>[{}]</small>", escape_xml(c.unit)));
  }
  out += "</tr></thead><tbody>\n";
  for (const std::vector<Cell>& row : rows_) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) append_cell(row[i], i == 0, out);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div></figure>\n";
}

std::string figure_html(const std::string& title, const std::string& pictures, const std::string& caption,
                        const std::string& command) {
  return "<figure class=\"picture\">\n<div class=\"pictures\">" + pictures + "</div>\n" +
         caption_html(title, caption, command) + "</figure>\n";
}

}  // namespace sarrus
