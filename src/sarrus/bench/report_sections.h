// The parts of the HTML report. Each returns the body of its section, empty if the result has no such data.
#pragma once

#include <string>

#include "sarrus/bench/report_data.h"

namespace sarrus {

inline constexpr int kReportWidth = 1200;  // px, of a picture as wide as the page

std::string report_style();   // CSS of the page, without that of the pictures
std::string report_script();  // sorts tables, opens what is folded for printing

std::string report_head(const ReportData& data);  // what was run, headline, how to read the page
std::string report_systems(const ReportData& data);
std::string report_solvers(const ReportData& data);
std::string report_failures(const ReportData& data);
std::string report_profiles(const ReportData& data);
std::string report_accuracy(const ReportData& data);
std::string report_curves(const ReportData& data);
std::string report_boxes(const ReportData& data);
std::string report_runs(const ReportData& data);
std::string report_scaling(const ReportData& data);
std::string scaling_headline(const BenchResult& result);  // a sentence with the fitted exponents

// Folded away until the reader asks; prints open.
std::string folded(const std::string& summary, const std::string& html, bool open = false);

}  // namespace sarrus
