// Siconos' solvers for local friction-contact problems: u = W r + q with Coulomb's law, order (n, t1, t2).
//   sarrus-peer-siconos PROBLEM ANSWER
// Both are number files (bench/trajectory.h); bench/fclib_peers.cpp has their content. Starts from r = 0. Each solver
// gets W as its documentation asks for: NSGS in 3x3 blocks, the others as a sparse matrix.
//   NSGS     nonsmooth Gauss-Seidel, its default local solver, at most 100000 sweeps
//   NSN-AC   nonsmooth Newton on Alart and Curnier's function, at most 1000 iterations
//   ADMM     at most 100000 iterations
#include <fmt/format.h>

extern "C" {
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
}

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "sarrus/bench/trajectory.h"

namespace {

using nlohmann::json;

struct Method {
  const char* name;
  int id;
  int max_iterations;
  bool blocks;
};
constexpr Method kMethods[] = {{"NSGS", SICONOS_FRICTION_3D_NSGS, 100000, true},
                               {"NSN-AC", SICONOS_FRICTION_3D_NSN_AC, 1000, false},
                               {"ADMM", SICONOS_FRICTION_3D_ADMM, 100000, false}};

const Method& method(const std::string& name) {
  for (const Method& m : kMethods) {
    if (m.name == name) return m;
  }
  throw std::runtime_error("unknown solver " + name);
}

NumericsMatrix* make_matrix(const double* W, int n, bool blocks) {
  NumericsMatrix* sparse = NM_create(NM_SPARSE, n, n);
  NM_triplet_alloc(sparse, n);
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) {
      const double x = W[static_cast<std::size_t>(k) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
      if (x != 0) NM_entry(sparse, i, k, x);
    }
  }
  if (!blocks) return sparse;
  SparseBlockStructuredMatrix* sbm = SBM_new();
  SBM_from_csparse(3, NM_csc(sparse), sbm);
  return NM_new_SBM(n, n, sbm);
}

sarrus::NumberFile solve(sarrus::NumberFile& problem) {
  using Clock = std::chrono::steady_clock;
  const json header = json::parse(problem.header);
  const int contacts = header.at("contacts").get<int>();
  const Method& m = method(header.at("solver").get<std::string>());
  const auto n = static_cast<std::size_t>(3 * contacts);
  if (problem.numbers.size() != n / 3 + n + n * n) throw std::runtime_error("the problem has a wrong size");
  double* mu = problem.numbers.data();
  double* q = mu + contacts;
  const double* W = q + n;

  sarrus::NumberFile answer;
  double seconds = std::numeric_limits<double>::infinity();
  int info = 0;
  int iterations = 0;
  const Clock::time_point start = Clock::now();
  const auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  for (int i = 0; i < header.at("repeats") && (i == 0 || since(start) < header.at("repeat_budget")); ++i) {
    // Solvers keep what they computed from the matrix and the options: new ones each time.
    FrictionContactProblem* p =
        frictionContactProblem_new_with_data(3, contacts, make_matrix(W, static_cast<int>(n), m.blocks), q, mu);
    SolverOptions* options = solver_options_create(m.id);
    options->dparam[SICONOS_DPARAM_TOL] = header.at("tolerance").get<double>();
    options->iparam[SICONOS_IPARAM_MAX_ITER] = m.max_iterations;
    std::vector<double> r(n, 0.0);
    std::vector<double> u(n, 0.0);
    const Clock::time_point begin = Clock::now();
    info = fc3d_driver(p, r.data(), u.data(), options);
    seconds = std::min(seconds, since(begin));
    iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
    answer.numbers = r;
    // The process ends soon: the problem would free q and mu, which are not its own.
  }
  answer.header = json{{"seconds", seconds}, {"iterations", iterations}, {"info", info}}.dump();
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: sarrus-peer-siconos PROBLEM ANSWER\n");
    return 2;
  }
  try {
    sarrus::NumberFile problem = sarrus::load_numbers(argv[1]);
    sarrus::save_numbers(argv[2], solve(problem));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "siconos: {}\n", e.what());
    return 1;
  }
}
