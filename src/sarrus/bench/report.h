// One self-contained HTML page about a benchmark run: tables that sort, SVG pictures, light and dark, printable.
//
// The page is also well-formed XML. It loads nothing: no font, no script, no picture from elsewhere. A section is there
// if the result has its data. Every table and picture names the command that made its numbers.
#pragma once

#include <string>
#include <vector>

#include "sarrus/bench/result.h"

namespace sarrus {

// A part of the page by another author; `html` must be well-formed and load nothing (report_table.h helps).
struct ReportSection {
  std::string title;
  std::string html;
};

std::string html_report(const BenchResult& result);
// `sections` come after the page's own.
std::string html_report(const BenchResult& result, const std::vector<ReportSection>& sections);

}  // namespace sarrus
