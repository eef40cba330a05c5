// Two builds of the command on built-in scenes, run in turn so that both meet the same load of the machine.
//
// Of each scene the best of all rounds counts, for each figure by itself: median, 95th and 99th percentile and worst of
// the time per step, as ratios second build over first. Times of a shared machine are comparable within such a run
// only. What depends on no clock (gaps, residuals, drift, misses) is that of the first round.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sarrus {

struct BuildComparison {
  struct Run {                                       // of one build
    double median = 0, p95 = 0, p99 = 0, worst = 0;  // us per step
    double gap = 0;                                  // m
    double residual = 0;                             // judged error, by the criterion of the run
    double drift = 0;                                // of the energy, relative
    int missed = 0;                                  // steps beyond the tolerance
    std::string failure;                             // why it did not run to its end; empty: it did
  };
  struct Row {
    std::string scene;
    std::string problem;  // why there is nothing to compare; empty: there is
    Run old_build, new_build;
  };
  std::string old_command, new_command;
  int rounds = 0;
  double duration = 0;  // s; 0: that of each scene
  std::vector<Row> rows;
};

struct BuildComparisonOptions {
  std::filesystem::path old_command, new_command;
  std::vector<std::string> scenes;  // none: all built-in ones
  int rounds = 3;
  double duration = 0;    // s; 0: that of each scene
  double timeout = 3600;  // s, of one run
};

// `done` is called with every row. Throws InputError if a command cannot be run.
BuildComparison compare_builds(const BuildComparisonOptions& options,
                               const std::function<void(const BuildComparison::Row&)>& done);

// What `sarrus run --json` wrote, reduced to the figures that are compared; throws InputError. Figures that are no
// number (null) are NaN. A run that failed before its end has the message of its failure in `failure`.
BuildComparison::Run build_run_from_json(std::string_view text, std::string_view source);

std::string markdown_head();
std::string to_markdown(const BuildComparison::Row& row);
std::string to_json(const BuildComparison& comparison);

}  // namespace sarrus
