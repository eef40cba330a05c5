// Tables of solver_families_bench: markdown or padded columns on stdout, every solve as CSV.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iostream>
#include <stdexcept>

#include "family_runs.h"

namespace sarrus::bench {

using Row = std::vector<std::string>;

inline void print_table(const std::string& title, const std::vector<Row>& rows, bool markdown) {
  if (markdown) {
    std::cout << fmt::format("\n**{}**\n\n| {} |\n|", title, fmt::join(rows.front(), " | "));
    for (std::size_t i = 0; i < rows.front().size(); ++i) std::cout << "---|";
    std::cout << "\n";
    for (std::size_t r = 1; r < rows.size(); ++r) std::cout << fmt::format("| {} |\n", fmt::join(rows[r], " | "));
    return;
  }
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::cout << "\n" << title << "\n";
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) std::cout << fmt::format("{:<{}}  ", row[i], width[i]);
    std::cout << "\n";
  }
}

inline std::string title(Mode mode) {
  switch (mode) {
    case Mode::cold:
      return "Cold solves";
    case Mode::warm:
      return "Warm solves: u_f changed by 1e-3 N(0,1) after a solve";
    case Mode::sequence:
      return fmt::format("Sequences of {} warm steps: u_f changed by up to .01 per step", kSequenceSteps);
  }
  return {};
}

// Values in the order of their first appearance.
template <class Key>
std::vector<std::string> distinct(const std::vector<Batch>& batches, Mode mode, Key key) {
  std::vector<std::string> out;
  for (const Batch& b : batches) {
    if (b.mode == mode && std::find(out.begin(), out.end(), key(b)) == out.end()) out.push_back(key(b));
  }
  return out;
}

// One line per family, one column per solver.
inline void print_summary(const std::vector<Batch>& batches, Mode mode, bool markdown) {
  const auto families = distinct(batches, mode, [](const Batch& b) { return b.family; });
  if (families.empty()) return;
  std::vector<Row> rows = {{"family"}};
  for (const auto& s : distinct(batches, mode, [](const Batch& b) { return b.solver; })) rows[0].push_back(s);
  for (const std::string& family : families) {
    Row row = {family};
    for (const Batch& b : batches) {
      if (b.mode != mode || b.family != family) continue;
      const Summary s = summarise(b.runs);
      row.push_back(mode == Mode::sequence ? fmt::format("{:.0f}/{:.0f} ({})", s.microseconds[0], s.microseconds[1],
                                                         static_cast<int>(s.count) - s.solved)
                                           : fmt::format("{} of {} / {:.0f} fac / {:.0f}", s.solved, s.count,
                                                         s.factorisations[0], s.microseconds[0]));
    }
    rows.push_back(row);
  }
  const char* cell =
      mode == Mode::sequence ? ": median/p90 us (misses)" : ": solved / median factorisations / median us";
  print_table(title(mode) + cell, rows, markdown);
}

// One line per family and solver.
inline void print_details(const std::vector<Batch>& batches, Mode mode, bool markdown) {
  std::vector<Row> rows = {{"family", "solver", "solved", "factorisations", "iterations", "us", "worst error"}};
  for (const Batch& b : batches) {
    if (b.mode != mode) continue;
    const Summary s = summarise(b.runs);
    rows.push_back({b.family, b.solver, fmt::format("{}/{}", s.solved, s.count),
                    fmt::format("{:.0f} / {:.0f}", s.factorisations[0], s.factorisations[1]),
                    fmt::format("{:.0f} / {:.0f}", s.iterations[0], s.iterations[1]),
                    fmt::format("{:.0f} / {:.0f}", s.microseconds[0], s.microseconds[1]),
                    fmt::format("{:.1e}", s.worst)});
  }
  if (rows.size() > 1) print_table(title(mode) + ", median / p90", rows, markdown);
}

// Everything that was not solved.
inline void print_misses(const std::vector<Batch>& batches) {
  std::cout << "\nMisses:\n\n";
  int count = 0;
  for (const Batch& b : batches) {
    for (const Measured& m : b.runs) {
      if (m.solved) continue;
      ++count;
      std::cout << fmt::format("- {} {} {} seed {}{}: {}, {:.2e}\n", name_of(b.mode), b.family, b.solver, m.seed,
                               b.mode == Mode::sequence ? fmt::format(" step {}", m.step) : "", name_of(m.status),
                               m.error);
    }
  }
  if (count == 0) std::cout << "none\n";
}

// False if a repeated solve gave other bits.
inline bool print_unrepeatable(const std::vector<Batch>& batches) {
  bool all = true;
  for (const Batch& b : batches) {
    for (const Measured& m : b.runs) {
      if (m.repeatable) continue;
      all = false;
      std::cout << fmt::format("NOT REPEATABLE: {} {} {} seed {} step {}\n", name_of(b.mode), b.family, b.solver,
                               m.seed, m.step);
    }
  }
  if (all) std::cout << "\nEvery repeat of a solve gave the same bits.\n";
  return all;
}

inline void write_csv(const std::string& path, const std::vector<Batch>& batches) {
  std::ofstream file(path);
  file << "mode,family,solver,seed,step,status,factorisations,iterations,us,natural_map,error,solved\n";
  for (const Batch& b : batches) {
    for (const Measured& m : b.runs) {
      file << fmt::format("{},{},{},{},{},{},{},{},{:.3f},{:.6e},{:.6e},{}\n", name_of(b.mode), b.family, b.solver,
                          m.seed, m.step, name_of(m.status), m.factorisations, m.iterations, m.microseconds,
                          m.natural_map, m.error, m.solved ? 1 : 0);
    }
  }
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace sarrus::bench
