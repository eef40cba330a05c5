#include "sarrus/bench/result.h"

#include <iterator>

#include "sarrus/bench/result_fields.h"

namespace sarrus {
namespace {

using bench::Json;

constexpr const char* kRemedy = "write it again with sarrus bench";

Json machine_json(const MachineInfo& m) {
  return {{"cpu", m.cpu}, {"cores", m.cores}, {"compiler", m.compiler}, {"version", m.version}, {"ranks", m.ranks}};
}

MachineInfo machine_from(const Json& j) {
  return {j.at("cpu"), j.at("cores"), j.at("compiler"), j.at("version"), j.at("ranks")};
}

// Indices are what the rest of the program follows without looking.
void require_index(const char* table, const char* column, int index, std::size_t size) {
  if (index >= 0 && static_cast<std::size_t>(index) < size) return;
  throw std::invalid_argument(fmt::format("'{}' has a {} {}, there are {}", table, column, index, size));
}

void require_indices(const BenchResult& r) {
  for (const SampleInfo& s : r.samples) require_index("samples", "system", s.system, r.systems.size());
  for (const SolveRecord& s : r.solves) {
    require_index("solves", "sample", s.sample, r.samples.size());
    require_index("solves", "solver", s.solver, r.solvers.size());
    require_index("solves", "level", s.level, r.tolerances.size());
  }
  for (const RunRecord& s : r.runs) require_index("runs", "system", s.system, r.systems.size());
  for (const CurveRecord& c : r.curves) {
    require_index("curves", "sample", c.sample, r.samples.size());
    require_index("curves", "solver", c.solver, r.solvers.size());
    if (c.iterations.size() != c.residual.size()) throw std::invalid_argument("'curves' has lists of unequal length");
  }
}

// Quoted where needed (RFC 4180).
std::string csv_cell(const Json& cell) {
  if (!cell.is_string()) return cell.dump();
  const std::string text = cell.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// `name_of(column, cell)` may replace an index by the name it stands for.
template <class Record, class NameOf>
std::string table_csv(const std::vector<Record>& records, NameOf name_of) {
  const Json table = bench::table_json(records);
  const Json& columns = table["columns"];
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) out += (i > 0 ? "," : "") + columns[i].get<std::string>();
  out += "\n";
  for (const Json& row : table["rows"]) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ",";
      out += csv_cell(name_of(columns[i].get<std::string>(), row[i]));
    }
    out += "\n";
  }
  return out;
}

template <class List>
Json named(const List& list, const Json& index) {
  return list[index.get<std::size_t>()].id;
}

}  // namespace

std::string_view name_of(Start start) { return start == Start::cold ? "cold" : "warm"; }

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view kNames[] = {"converged",  "max_iterations", "stalled",  "infeasible",
                                         "non_finite", "refused",        "too_large"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::string to_json(const BenchResult& r) {
  using bench::table_json;
  Json j;
  j["format"] = "sarrus-bench";
  j["version"] = r.format;
  j["kind"] = r.kind;
  j["command"] = r.command;
  j["quick"] = r.quick;
  j["machine"] = machine_json(r.machine);
  j["tolerances"] = r.tolerances;
  j["success"] = r.success;
  j["repeats"] = r.repeats;
  j["seconds"] = r.seconds;
  j["solvers"] = table_json(r.solvers);
  j["systems"] = table_json(r.systems);
  j["samples"] = table_json(r.samples);
  j["solves"] = table_json(r.solves);
  j["runs"] = table_json(r.runs);
  j["curves"] = table_json(r.curves);
  j["scaling"] = table_json(r.scaling);
  // Not indented: tens of thousands of rows.
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

BenchResult bench_result_from_json(std::string_view text, const std::string& file) {
  using bench::table_from_json;
  try {
    const Json j = Json::parse(text);
    if (!j.is_object() || j.value("format", "") != "sarrus-bench") {
      throw InputError(file, "is no result of a benchmark (format is not \"sarrus-bench\"); give a file of --json");
    }
    BenchResult r;
    r.format = j.at("version");
    if (r.format != kBenchFormat) {
      throw InputError(file, fmt::format("has version {}, this program reads {}; {}", r.format, kBenchFormat, kRemedy));
    }
    r.kind = j.at("kind");
    r.command = j.at("command");
    r.quick = j.at("quick");
    r.machine = machine_from(j.at("machine"));
    r.tolerances = j.at("tolerances").get<std::vector<double>>();
    r.success = j.at("success");
    r.repeats = j.at("repeats");
    r.seconds = j.at("seconds");
    r.solvers = table_from_json<SolverSetup>(j.at("solvers"));
    r.systems = table_from_json<SystemInfo>(j.at("systems"));
    r.samples = table_from_json<SampleInfo>(j.at("samples"));
    r.solves = table_from_json<SolveRecord>(j.at("solves"));
    r.runs = table_from_json<RunRecord>(j.at("runs"));
    r.curves = table_from_json<CurveRecord>(j.at("curves"));
    r.scaling = table_from_json<ScalingRecord>(j.at("scaling"));
    require_indices(r);
    return r;
  } catch (const Json::exception& e) {
    throw InputError(file, fmt::format("cannot be read ({}); {}", e.what(), kRemedy));
  } catch (const std::invalid_argument& e) {
    throw InputError(file, fmt::format("{}; {}", e.what(), kRemedy));
  }
}

std::string solves_csv(const BenchResult& r) {
  return table_csv(r.solves, [&](const std::string& column, const Json& cell) -> Json {
    if (column == "sample") return named(r.samples, cell);
    if (column == "solver") return named(r.solvers, cell);
    if (column == "level") return r.tolerances[cell.get<std::size_t>()];
    return cell;
  });
}

std::string runs_csv(const BenchResult& r) {
  return table_csv(r.runs, [&](const std::string& column, const Json& cell) -> Json {
    return column == "system" ? named(r.systems, cell) : cell;
  });
}

std::string scaling_csv(const BenchResult& r) {
  return table_csv(r.scaling, [](const std::string&, const Json& cell) { return cell; });
}

}  // namespace sarrus
