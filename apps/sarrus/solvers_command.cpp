// `sarrus solvers`: lists the constraint solvers and their parameters.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::app {
namespace {

void list_solvers(const std::string& json_path) {
  OutputFile json("--json", json_path);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SolverInfo& s : solver_registry()) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const ParameterInfo& p : s.parameters) {
      parameters.push_back({{"name", p.name}, {"default", p.default_value}, {"meaning", p.meaning}});
    }
    list.push_back({{"id", s.id}, {"law", name_of(s.law)}, {"summary", s.summary}, {"parameters", parameters}});
  }
  json.write(list.dump(2) + "\n");
  if (OutputFile::is_standard_output(json_path)) return;
  for (const SolverInfo& s : solver_registry()) {
    fmt::print("{}  [{}]  {}\n", s.id, name_of(s.law), s.summary);
    for (const ParameterInfo& p : s.parameters) {
      fmt::print("    {:<18} {:<10g} {}\n", p.name, p.default_value, p.meaning);
    }
  }
}

}  // namespace

void add_solvers_command(CLI::App& app) {
  auto json_path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("solvers", "List the solvers, their law and their parameters with defaults");
  command->add_option("--json", *json_path, "Write the list as JSON")->type_name("FILE");
  command->callback([json_path] { list_solvers(*json_path); });
}

}  // namespace sarrus::app
