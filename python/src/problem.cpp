// Constraint problems by themselves: what one step gives to its solver, or a file holds.
#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "bindings.h"
#include "sarrus/problem_files/fclib_file.h"
#include "sarrus/problem_files/problem_file.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::python {
namespace {

struct PyProblem {
  StoredProblem stored;
  std::string file;
  std::optional<FclibInfo> fclib;
};

struct PyAnswer {
  std::vector<double> impulses;
  SolveReport report;
  Residuals residuals;
  double error = 0, seconds = 0;
  bool converged = false;
  std::string solver;
};

PyProblem load_problem_file(const std::filesystem::path& file) {
  const std::string path = file.string();
  if (problem_format(path) == ProblemFormat::sarrus) return {load_problem(path), path, {}};
  FclibProblem p = load_fclib(path);
  return {std::move(p.stored), path, p.info};
}

void save(const PyProblem& p, const std::filesystem::path& file, nb::object impulses) {
  const std::string path = file.string();
  std::vector<double> lambda = p.stored.solution;
  if (!impulses.is_none()) {
    const Doubles given = array_of(impulses, "impulses", {p.stored.problem.rows()});
    lambda.assign(given.data(), given.data() + given.size());
  }
  if (p.fclib) {
    if (lambda.empty()) throw InputError(path, "an FCLIB file needs a solution; give impulses");
    save_fclib_solution(p.file, path, lambda);
  } else {
    save_problem(path, p.stored.problem, p.stored.warm, lambda);
  }
}

PyAnswer solve(const PyProblem& p, const std::string& solver, double tolerance, const std::string& criterion,
               int budget, nb::object warm, const SolverParameters& parameters) {
  if (!(tolerance > 0 && std::isfinite(tolerance))) {
    throw InputError("tolerance", fmt::format("is {}; give a finite number > 0", tolerance));
  }
  if (budget < 1) throw InputError("budget", fmt::format("is {}; give a number >= 1", budget));
  const ConstraintProblem& problem = p.stored.problem;
  const SolverInfo& info = solver_info(solver);
  const std::unique_ptr<Solver> made = make_solver(solver, parameters);
  Goal goal(tolerance, criterion_from_name(criterion));
  goal.budget = budget;
  PyAnswer a;
  a.solver = solver;
  a.impulses.assign(static_cast<std::size_t>(problem.rows()), 0.0);
  if (!warm.is_none()) {
    const Doubles given = array_of(warm, "warm", {problem.rows()});
    a.impulses.assign(given.data(), given.data() + given.size());
  }
  {
    const nb::gil_scoped_release release;
    const auto begin = std::chrono::steady_clock::now();
    a.report = made->solve(problem, goal, a.impulses);
    a.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    JudgeWorkspace workspace;
    a.residuals = judge(problem, a.impulses, workspace);
  }
  a.error = a.residuals.error(info.law, goal.criterion);
  a.converged = meets(a.residuals, info.law, goal);
  return a;
}

Residuals judge_of(const PyProblem& p, nb::handle impulses) {
  const Doubles given = array_of(impulses, "impulses", {p.stored.problem.rows()});
  JudgeWorkspace workspace;
  return judge(p.stored.problem, {given.data(), given.size()}, workspace);
}

// Indices and values of J or M, for scipy.sparse.
nb::object triplets(const PyProblem& p, bool jacobian) {
  const ConstraintProblem& c = p.stored.problem;
  std::vector<double> value, row, column;
  const auto add = [&](int i, int j, double x) {
    row.push_back(i);
    column.push_back(j);
    value.push_back(x);
  };
  if (jacobian) {
    for (const ConstraintBlock& b : c.blocks) {
      for (int k = 0; k < b.nodes; ++k) {
        const auto node = static_cast<std::size_t>(b.node[k]);
        for (int r = 0; r < b.rows; ++r) {
          for (int j = 0; j < c.node_size[node]; ++j) {
            add(b.row + r, c.node_offset[node] + j,
                c.jacobian[static_cast<std::size_t>(b.jac[k] + r * c.node_size[node] + j)]);
          }
        }
      }
    }
  } else {
    for (std::size_t t = 0; t < c.node_size.size(); ++t) {
      const int n = c.node_size[t];
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          add(c.node_offset[t] + i, c.node_offset[t] + j,
              c.mass[static_cast<std::size_t>(c.mass_offset[t] + j * n + i)]);
        }
      }
    }
  }
  return nb::make_tuple(array_from(std::move(value)), array_from(std::move(row)), array_from(std::move(column)));
}

nb::object dense_mass(const PyProblem& p) {
  const ConstraintProblem& c = p.stored.problem;
  MatX M = MatX::Zero(c.velocity_size(), c.velocity_size());
  for (std::size_t t = 0; t < c.node_size.size(); ++t) {
    const int n = c.node_size[t], at = c.node_offset[t];
    M.block(at, at, n, n) = Eigen::Map<const MatX>(c.mass.data() + c.mass_offset[t], n, n);
  }
  return matrix_of(M);
}

nb::object by_contact(const PyProblem& p, bool row) {
  std::vector<double> out;
  for (const ConstraintBlock& b : p.stored.problem.blocks) {
    if (b.kind == BlockKind::contact) out.push_back(row ? b.row : b.mu);
  }
  return array_from(std::move(out));
}

nb::object kinds(const PyProblem& p) {
  constexpr const char* names[] = {"joint", "soft", "limit", "contact"};
  nb::dict out;
  for (std::size_t k = 0; k < 4; ++k) out[names[k]] = p.stored.problem.rows_of(static_cast<BlockKind>(k));
  return out;
}

nb::object copy_of(std::span<const double> x) { return array_from({x.begin(), x.end()}); }
nb::object optional_copy(std::span<const double> x) { return x.empty() ? nb::none() : copy_of(x); }

}  // namespace

nb::object problem_object(const ConstraintProblem& problem, std::vector<double> warm, std::vector<double> solution,
                          std::string kind) {
  return nb::cast(PyProblem{{problem, std::move(warm), std::move(solution), std::move(kind)}, {}, {}});
}

void bind_problem(nb::module_& m) {
  nb::class_<PyAnswer>(m, "Answer", "What a solver made of a problem.")
      .def_prop_ro(
          "impulses", [](const PyAnswer& a) { return copy_of(a.impulses); }, "(rows,) N s or N m s.")
      .def_ro("solver", &PyAnswer::solver, "Its name.")
      .def_prop_ro(
          "status",
          [](const PyAnswer& a) {
            const std::string_view n = name_of(a.report.status);
            return nb::str(n.data(), n.size());
          },
          "'converged', 'max_iterations', 'stalled', 'infeasible' or 'non_finite'.")
      .def_ro("converged", &PyAnswer::converged,
              "Whether the judge's error, by the solver's law, is within the tolerance.")
      .def_ro("error", &PyAnswer::error, "That error; no unit.")
      .def_ro("residuals", &PyAnswer::residuals, "Of the judge.")
      .def_prop_ro(
          "iterations", [](const PyAnswer& a) { return a.report.iterations; }, "Of the solver.")
      .def_prop_ro(
          "factorisations", [](const PyAnswer& a) { return a.report.factorisations; }, "Of the solver.")
      .def_ro("seconds", &PyAnswer::seconds, "Wall time, s.")
      .def("__repr__", [](const PyAnswer& a) {
        return fmt::format("<Answer of {}: {}, error {:.2e}, {} iterations>", a.solver,
                           a.converged ? "converged" : "not converged", a.error, a.report.iterations);
      });

  nb::class_<PyProblem>(
      m, "Problem",
      "The constraint problem of a step: M (u - u_free) = J' l,  sigma = J u + bias + R l, with l in its set.\n"
      "Rows in the order joint, soft, limit, contact; of a contact two tangents and the normal.")
      .def_prop_ro(
          "rows", [](const PyProblem& p) { return p.stored.problem.rows(); }, "Number of rows.")
      .def_prop_ro(
          "size", [](const PyProblem& p) { return p.stored.problem.velocity_size(); }, "Number of velocities.")
      .def_prop_ro(
          "dt", [](const PyProblem& p) { return p.stored.problem.dt; }, "The step, s.")
      .def_prop_ro(
          "kind", [](const PyProblem& p) { return p.stored.kind; },
          "'sarrus problem', 'FCLIB local' or 'FCLIB global'.")
      .def_prop_ro("rows_by_kind", &kinds, "Rows of joints, soft rows, limits and contacts.")
      .def_prop_ro(
          "J", [](const PyProblem& p) { return matrix_of(p.stored.problem.dense_J()); },
          "(rows, size) Jacobian, dense.")
      .def_prop_ro("M", &dense_mass, "(size, size) mass matrix, dense; kg, kg m^2.")
      .def(
          "sparse",
          [](const PyProblem& p, const std::string& name) {
            return python("sarrus._sparse", "matrix")(name, nb::cast(p), p.stored.problem.rows(),
                                                      p.stored.problem.velocity_size());
          },
          "name"_a, "'J' or 'M' as scipy.sparse matrix; needs scipy.")
      .def("_triplets", &triplets, "jacobian"_a)
      .def_prop_ro(
          "delassus", [](const PyProblem& p) { return matrix_of(p.stored.problem.dense_D_plus_R()); },
          "(rows, rows) J M^-1 J' + R, dense.")
      .def_prop_ro(
          "u_free",
          [](const PyProblem& p) {
            return copy_of({p.stored.problem.u_free.data(), static_cast<std::size_t>(p.stored.problem.u_free.size())});
          },
          "(size,) velocities without impulses, m/s and rad/s.")
      .def_prop_ro(
          "bias", [](const PyProblem& p) { return copy_of(p.stored.problem.bias); }, "(rows,) v*, m/s or rad/s.")
      .def_prop_ro(
          "R", [](const PyProblem& p) { return copy_of(p.stored.problem.R); },
          "(rows,) compliance, 1/kg or 1/(kg m^2).")
      .def_prop_ro(
          "lower", [](const PyProblem& p) { return copy_of(p.stored.problem.lower); },
          "(rows,) bounds of soft rows, N s.")
      .def_prop_ro(
          "upper", [](const PyProblem& p) { return copy_of(p.stored.problem.upper); },
          "(rows,) bounds of soft rows, N s.")
      .def_prop_ro(
          "mu", [](const PyProblem& p) { return by_contact(p, false); }, "(contacts,) coefficients of friction.")
      .def_prop_ro(
          "contact_rows", [](const PyProblem& p) { return by_contact(p, true).attr("astype")("int64"); },
          "(contacts,) first row of each contact.")
      .def_prop_ro(
          "warm", [](const PyProblem& p) { return optional_copy(p.stored.warm); }, "(rows,) warm start, N s, or None.")
      .def_prop_ro(
          "solution", [](const PyProblem& p) { return optional_copy(p.stored.solution); },
          "(rows,) stored impulses, N s, or None.")
      .def("solve", &solve, "solver"_a = "cascade", "tolerance"_a = 1e-9, nb::kw_only(), "criterion"_a = "energy",
           "budget"_a = 5000, "warm"_a = nb::none(), "parameters"_a = SolverParameters(),
           "Solves it by any solver of sarrus.solvers(), from zero or from `warm` (rows,), N s.")
      .def("judge", &judge_of, "impulses"_a, "Residuals of impulses (rows,), N s, of whomever.")
      .def("save", &save, "path"_a, "impulses"_a = nb::none(),
           "Writes it as HDF5, with its warm start and these impulses or its solution; an FCLIB file as a copy with "
           "them.")
      .def("__repr__", [](const PyProblem& p) {
        return fmt::format("<Problem: {} rows, {} velocities, {}>", p.stored.problem.rows(),
                           p.stored.problem.velocity_size(), p.stored.kind);
      });

  m.def("load_problem", &load_problem_file, "path"_a,
        "A stored problem: HDF5 of `sarrus run --dump-problems` or Problem.save(), or an FCLIB file.");
}

}  // namespace sarrus::python
