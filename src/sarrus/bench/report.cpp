#include "sarrus/bench/report.h"

#include <fmt/format.h>

#include "sarrus/bench/plot.h"
#include "sarrus/bench/report_sections.h"

namespace sarrus {
namespace {

std::vector<ReportSection> own_sections(const ReportData& data) {
  std::vector<ReportSection> sections = {
      {"Systems and samples", report_systems(data)},
      {"Solvers", report_solvers(data)},
      {"Why solves failed", report_failures(data)},
      {"Performance profiles", report_profiles(data)},
      {"Accuracy against time", report_accuracy(data)},
      {"Convergence", report_curves(data)},
      {"Spread over the systems", report_boxes(data)},
      {"Whole simulations", report_runs(data)},
      {"Scaling", report_scaling(data)},
  };
  std::erase_if(sections, [](const ReportSection& s) { return s.html.empty(); });
  return sections;
}

}  // namespace

std::string html_report(const BenchResult& result) { return html_report(result, {}); }

std::string html_report(const BenchResult& result, const std::vector<ReportSection>& sections) {
  const ReportData data(result);
  std::vector<ReportSection> all = own_sections(data);
  all.insert(all.end(), sections.begin(), sections.end());
  const std::string title =
      escape_xml(fmt::format("Sarrus benchmark: {}{}", result.kind, result.quick ? " (quick)" : ""));

  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<meta name=\"color-scheme\" content=\"light dark\"/><title>{}</title>\n<style>{}{}</style></head>\n<body>\n",
      title, report_style(), plot_style());
  out += fmt::format("<header><h1>{}</h1>\n{}</header>\n<nav aria-label=\"Sections\"><ul>", title, report_head(data));
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += fmt::format("<li><a href=\"#s{}\">{}</a></li>", i + 1, escape_xml(all[i].title));
  }
  out += "</ul></nav>\n<main>\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += fmt::format("<section id=\"s{0}\"><h2>{0}. {1}</h2>\n{2}</section>\n", i + 1, escape_xml(all[i].title),
                       all[i].html);
  }
  out += fmt::format(
      "</main>\n<footer>Made by <code>{}</code>, sarrus {}. This page loads nothing from elsewhere.</footer>\n",
      escape_xml(result.command), escape_xml(result.machine.version));
  out += "<script>" + report_script() + "</script>\n</body></html>\n";
  return out;
}

}  // namespace sarrus
