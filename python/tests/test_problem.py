"""Problems of steps and files: matrices, every solver, the judge, inverse dynamics."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import sarrus


@pytest.fixture
def problem(sim: sarrus.Simulation) -> sarrus.Problem:
    sim.step(20)
    return sim.problem()


def test_matrices(problem: sarrus.Problem) -> None:
    J, M, m = problem.J, problem.M, problem.rows
    assert J.shape == (m, problem.size) == (m, 24) and M.shape == (24, 24)
    np.testing.assert_array_equal(M, M.T)
    np.testing.assert_allclose(problem.delassus, J @ np.linalg.solve(M, J.T) + np.diag(problem.R), rtol=1e-9, atol=1e-9)
    assert problem.u_free.shape == (24,) and problem.bias.shape == problem.lower.shape == problem.upper.shape == (m,)
    assert problem.mu.tolist() == [0.7] * 4 and problem.dt == 1e-3 and problem.kind == "sarrus problem"
    kinds = problem.rows_by_kind
    assert kinds["contact"] == 12 and sum(kinds.values()) == m
    np.testing.assert_array_equal(problem.contact_rows, m - 12 + 3 * np.arange(4))
    assert problem.warm is None and problem.solution is None and repr(problem).startswith("<Problem")


def test_answers_meet_the_law(problem: sarrus.Problem) -> None:
    answer = problem.solve("cascade", 1e-9)
    assert answer.converged and answer.status == "converged" and answer.solver == "cascade" and answer.error <= 1e-9
    assert answer.residuals.natural_map == problem.judge(answer.impulses).natural_map
    assert answer.iterations >= 0 and answer.factorisations >= 0 and answer.seconds > 0 and repr(answer)
    u = problem.u_free + np.linalg.solve(problem.M, problem.J.T @ answer.impulses)
    sigma = problem.J @ u + problem.bias + problem.R * answer.impulses
    joints = problem.rows_by_kind["joint"]
    assert np.abs(sigma[:joints]).max() < 1e-8
    for row in problem.contact_rows:
        t, o, n = answer.impulses[row : row + 3]
        assert n >= 0 and np.hypot(t, o) <= 0.7 * n * (1 + 1e-6) and sigma[row + 2] > -1e-8
    warm = problem.solve(warm=answer.impulses, budget=10, parameters={}, criterion="absolute", tolerance=1e-8)
    assert warm.iterations <= answer.iterations


@pytest.mark.parametrize("solver", sorted(sarrus.solvers()))
def test_every_solver(problem: sarrus.Problem, solver: str) -> None:
    answer = problem.solve(solver, 1e-4)
    assert answer.impulses.shape == (problem.rows,) and np.all(np.isfinite(answer.impulses))
    assert answer.residuals.error == pytest.approx(problem.judge(answer.impulses).error)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda p: p.solve("pgs"), ["pgs", "unknown"]),
        (lambda p: p.solve(tolerance=0.0), ["tolerance"]),
        (lambda p: p.solve(budget=0), ["budget"]),
        (lambda p: p.solve(warm=[1.0]), ["warm", "(1,)"]),
        (lambda p: p.judge(np.full(p.rows, np.nan)), ["impulses", "nan"]),
        (lambda p: p.sparse("D"), ["D"]),
        (lambda p: sarrus.load_problem("nowhere.h5"), ["nowhere.h5"]),
    ],
)
def test_bad_input(problem: sarrus.Problem, do, words: list[str]) -> None:
    with pytest.raises(sarrus.InputError) as caught:
        do(problem)
    for word in words:
        assert word in str(caught.value)


def test_files(tmp_path: pathlib.Path, sim: sarrus.Simulation) -> None:
    sim.step(5)
    problem = sim.last_problem()
    assert problem.solution is not None and problem.judge(problem.solution).error <= 1e-9 and problem.warm is not None
    problem.save(tmp_path / "p.h5", problem.solution)
    again = sarrus.load_problem(tmp_path / "p.h5")
    np.testing.assert_array_equal(again.J, problem.J)
    np.testing.assert_array_equal(again.solution, problem.solution)


def test_fclib(tmp_path: pathlib.Path) -> None:
    """A block of weight 1 on one frictional contact, pushed less than friction holds: the answer is known."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "one.hdf5"
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.int32(3)
        w = group.create_group("W")
        w["nzmax"], w["m"], w["n"], w["nz"] = (np.int32(x) for x in (3, 3, 3, -2))
        w["p"] = np.array([0, 1, 2, 3], np.int32)
        w["i"] = np.array([0, 1, 2], np.int32)
        w["x"] = np.ones(3)
        vectors = group.create_group("vectors")
        vectors["q"] = np.array([-1.0, 0.3, 0.0])
        vectors["mu"] = np.array([0.5])
    try:
        problem = sarrus.load_problem(path)
    except sarrus.InputError as error:
        pytest.fail(str(error))
    assert problem.kind == "FCLIB local" and problem.mu.tolist() == [0.5]
    impulses = problem.solve("cascade", 1e-10).impulses
    assert sorted(np.round(np.abs(impulses), 6)) == [0.0, 0.3, 1.0]
    problem.save(tmp_path / "solved.hdf5", impulses)
    np.testing.assert_allclose(sarrus.load_problem(tmp_path / "solved.hdf5").solution, impulses, atol=1e-9)
    with pytest.raises(sarrus.InputError, match="give impulses"):
        problem.save(tmp_path / "none.hdf5")


def test_sparse(problem: sarrus.Problem) -> None:
    try:
        import scipy  # noqa: F401
    except ImportError:
        with pytest.raises(sarrus.InputError, match="scipy"):
            problem.sparse("J")
        return
    np.testing.assert_array_equal(problem.sparse("J").toarray(), problem.J)
    np.testing.assert_array_equal(problem.sparse("M").toarray(), problem.M)


def test_inverse_dynamics_finds_the_effort() -> None:
    model = sarrus.Model.builtin("arm7d")
    sim = sarrus.Simulation(model, integrator="semi-implicit")
    sim.step(50)
    state = sim.state
    sim.step()
    inverse = sarrus.InverseDynamics(model, sim.dt, integrator="semi-implicit", minimum_torque=True)
    result = inverse.solve(state, sim.twist)
    assert result.status == "realised" and result.unrealised < 1e-6 * max(1.0, result.largest_force)
    np.testing.assert_allclose(result.effort.values, sim.effort.values, atol=1e-3, rtol=1e-3)
    assert result.effort[model.dof[0].name] == result.effort[0] and result.impulses.ndim == 1
    assert result.contacts == result.infeasible_rows == 0 and result.message == "" and result.contact_residual == 0
    with pytest.raises(sarrus.InputError, match="u_ref"):
        inverse.solve(state, np.zeros(6))
    with pytest.raises(sarrus.InputError, match="method"):
        sarrus.InverseDynamics(model, method="magic")
    assert repr(result).startswith("<InverseResult")
