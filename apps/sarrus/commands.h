// The subcommands of `sarrus`: each adds itself to the application and runs when it was chosen.
// Bad input leaves as InputError (exit code 2, see main.cpp); `exit_code` is for results.
#pragma once

#include <CLI/CLI.hpp>

namespace sarrus::app {

inline constexpr int kExitOk = 0;
inline constexpr int kExitInternal = 1;
inline constexpr int kExitBadInput = 2;  // or an output that cannot be written
inline constexpr int kExitInterrupted = 130;
inline constexpr int kExitSimulationFailed = 3;  // or no solver met the tolerance

void add_run_command(CLI::App& app, int& exit_code);
void add_view_command(CLI::App& app, int& exit_code);
void add_solve_command(CLI::App& app, int& exit_code);
void add_inverse_command(CLI::App& app, int& exit_code);
void add_batch_command(CLI::App& app, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);
void add_bench_batch(CLI::App& bench);
void add_bench_peers(CLI::App& bench);
void add_bench_soak(CLI::App& bench, int& exit_code);
void add_bench_worlds(CLI::App& bench, int& exit_code);
void add_check_command(CLI::App& app);
void add_pose_command(CLI::App& app, int& exit_code);
void add_convert_command(CLI::App& app);
void add_html_command(CLI::App& app);
void add_scenes_command(CLI::App& app);
void add_solvers_command(CLI::App& app);

}  // namespace sarrus::app
