// Tables of the HTML report: typed cells, sortable by a click on the header (the script of the page), readable without.
//
//   Table table("Solvers", {{"solver", "", ""}, {"time", "us", "median over all solves"}});
//   table.row({cell_text("cascade"), cell_number(12.3)});
//   out += table.html("What the rows are.", result.command);
#pragma once

#include <string>
#include <vector>

namespace sarrus {

struct Cell {
  std::string html;         // escaped already
  double key = 0;           // sorts numbers; infinite and NaN go last
  bool number = false;      // aligned right
  std::string explanation;  // shown when pointed at
  enum class Tone : unsigned char { plain, good, bad, faint } tone = Tone::plain;
};

Cell cell_text(const std::string& text);
// `digits` significant ones, fixed notation between 1e-3 and 1e6, else scientific; infinite: "∞", NaN: "–".
Cell cell_number(double value, int digits = 3);
// Scientific with one decimal, for residuals.
Cell cell_residual(double value);
Cell cell_count(long long value);
// "18 / 20", sorted by the share; good if all, bad if none.
Cell cell_share(long long part, long long total);
// "–": nothing was measured, and why.
Cell cell_none(const std::string& why);

// Short, as people write it: 1e-9, 0.001.
std::string power_text(double value);
// As in cell_number, for running text.
std::string number_text(double value, int digits = 3);

struct Column {
  std::string title;
  std::string unit;         // empty: none
  std::string explanation;  // shown when pointed at
};

class Table {
 public:
  Table(std::string title, std::vector<Column> columns) : title_(std::move(title)), columns_(std::move(columns)) {}
  // Throws std::invalid_argument for another number of cells than columns.
  void row(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  std::size_t rows() const { return rows_.size(); }
  // `caption`: what the numbers are, HTML allowed; `command`: that made them.
  std::string html(const std::string& caption, const std::string& command) const;

 private:
  std::string title_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// A picture, or several side by side, with a caption (HTML allowed) and the command that made the numbers.
std::string figure_html(const std::string& title, const std::string& pictures, const std::string& caption,
                        const std::string& command);

}  // namespace sarrus
