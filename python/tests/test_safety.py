"""Lifetimes, threads and memory."""

from __future__ import annotations

import gc
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import DIVISOR

import sarrus


def resident() -> float:
    """Memory of the process, MiB."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def test_views_outlive_their_simulation(model: sarrus.Model) -> None:
    views = []
    for _ in range(20):
        sim = sarrus.Simulation(model)
        sim.step(3)
        views.append((sim.position, sim.q, sim.twist, sim.quaternion_xyzw, sim.position.copy()))
        del sim
    gc.collect()
    _ = [sarrus.Simulation(model) for _ in range(20)]
    for position, q, twist, quaternion, copy in views:
        np.testing.assert_array_equal(position, copy)
        assert np.all(np.isfinite(q)) and np.all(np.isfinite(twist)) and np.all(np.isfinite(quaternion))
    state = sarrus.Model.builtin("double_pendulum").initial_state()
    view = state.position
    del state
    gc.collect()
    assert view.shape == (2, 3) and np.all(np.isfinite(view))


def test_elements_outlive_their_model() -> None:
    body = sarrus.Model.builtin("fourbar_free").body["crank"]
    target = sarrus.Simulation(sarrus.Model.builtin("fourbar_free")).target
    gc.collect()
    assert body.mass > 0 and len(target[:]) == 1


def test_memory_stays(pendulum: sarrus.Model) -> None:
    """10^5 simulations are made, stepped and forgotten (fewer with SARRUS_SAMPLE_DIVISOR): memory is flat."""

    def use(n: int) -> None:
        for _ in range(n):
            sim = sarrus.Simulation(pendulum)
            sim.step(2)
            assert len(sim.position) == 1 and sim.save() is not None and sim.report.ok
            sim.target[:] = []

    use(1000)
    gc.collect()
    before = resident()
    use(max(2000, 100_000 // DIVISOR))
    gc.collect()
    # A hundredth of what one leaked pendulum in ten would be.
    assert resident() - before < 4


TOUCHES = {
    "time": lambda s: s.time,
    "position": lambda s: s.position,
    "q": lambda s: s.q,
    "qd": lambda s: s.qd,
    "rotation": lambda s: s.rotation,
    "quaternion_wxyz": lambda s: s.quaternion_wxyz,
    "energy": lambda s: s.energy,
    "energy_flow": lambda s: s.energy_flow,
    "energy_bound": lambda s: s.energy_bound,
    "momentum": lambda s: s.momentum,
    "contacts": lambda s: s.contacts,
    "effort": lambda s: s.effort,
    "joint_gap": lambda s: s.joint_gap,
    "joint_angle": lambda s: s.joint_angle,
    "reaction": lambda s: s.reaction,
    "report": lambda s: s.report,
    "state": lambda s: s.state,
    "hash": lambda s: s.hash,
    "options": lambda s: s.options,
    "dt": lambda s: s.dt,
    "overlaps": lambda s: s.overlaps,
    "save": lambda s: s.save(),
    "step": lambda s: s.step(),
    "reset": lambda s: s.reset(),
    "problem": lambda s: s.problem(),
    "last_problem": lambda s: s.last_problem(),
    "target": lambda s: s.target,
    "force": lambda s: s.force.__setitem__(0, 1),
    "wrench": lambda s: s.wrench,
    "drag": lambda s: s.drag("base", [0, 0, 0]),
    "drop": lambda s: s.drop(),
    "record": lambda s: s.record("x.h5"),
    "view": lambda s: sarrus.view(s, open=False),
}


def test_a_running_simulation_is_not_touched(model: sarrus.Model) -> None:
    """Another thread gets an exception whatever it asks, and the step goes on in the same bits."""
    sim, twin = sarrus.Simulation(model), sarrus.Simulation(model)
    target, state, snapshot = sim.target, sim.state, sim.save()
    steps, refused, round_ = 0, set(), 0
    touches = dict(TOUCHES)
    touches["input"] = lambda s: target.__setitem__("crank", 1.0)
    touches["restore"] = lambda s: s.restore(snapshot)
    touches["set state"] = lambda s: setattr(s, "state", state)
    while len(refused) < len(touches) and round_ < 50:
        n = 4000
        thread = threading.Thread(target=sim.step, args=(n,))
        thread.start()
        steps, round_ = steps + n, round_ + 1
        while "a step runs" not in repr(sim) and thread.is_alive():
            time.sleep(0)
        for name in [t for t in touches if t not in refused]:
            if not thread.is_alive() or "a step runs" not in repr(sim):
                break
            with pytest.raises(sarrus.SimulationBusy):
                touches[name](sim)
            refused.add(name)
        thread.join()
    assert refused == set(touches)
    twin.step(steps)
    assert sim.hash == twin.hash


def test_threads_step_their_own(model: sarrus.Model) -> None:
    sims = [sarrus.Simulation(model) for _ in range(4)]
    threads = [threading.Thread(target=s.step, args=(200,)) for s in sims]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({s.hash for s in sims}) == 1


def test_interrupt(model: sarrus.Model) -> None:
    """Ctrl-C ends step(n) after the step that runs."""
    import _thread

    sim = sarrus.Simulation(model)
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.step(10**9)
    assert 0 < sim.time < 1e5
    sim.step()


def test_cpu() -> None:
    """On a processor of before 2011, which QEMU's user mode has, the import says what is missing and nothing dies."""
    from sarrus import _cpu

    qemu = shutil.which("qemu-x86_64")
    if qemu is None or b"(x86-64-v3)" not in pathlib.Path(str(_cpu.__file__)).read_bytes():
        pytest.skip("needs qemu-x86_64 (Debian: qemu-user), and a build for x86-64-v3")
    command = [qemu, "-cpu", "Nehalem", sys.executable, "-c", "import sarrus"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "ImportError: this processor lacks LZCNT, MOVBE, BMI1" in run.stderr
    assert "-DSARRUS_MARCH=x86-64" in run.stderr


def test_a_recording_ends_with_the_steps_of_another_thread(tmp_path: pathlib.Path) -> None:
    sim = sarrus.Simulation(sarrus.Model.builtin("fourbar_free"))
    with sim.record(str(tmp_path / "motion.h5")):
        thread = threading.Thread(target=sim.step, args=(2000,))
        thread.start()
        while sim_is_idle(sim) and thread.is_alive():
            pass
    thread.join()
    assert len(sarrus.Recording(tmp_path / "motion.h5").motion(sim.model)["time"]) > 1


def sim_is_idle(sim: sarrus.Simulation) -> bool:
    try:
        return sim.time == 0
    except sarrus.SimulationBusy:
        return False


def test_inverse_dynamics_in_threads() -> None:
    model = sarrus.Model.builtin("fourbar_fixed")
    inverse = sarrus.InverseDynamics(model, dt=1e-3)
    state = model.initial_state()
    expected = inverse.solve(state, state.twist).effort
    results: list[object] = []

    def work() -> None:
        for _ in range(50):
            results.append(inverse.solve(state, state.twist).effort)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 150
    assert all(np.array_equal(np.asarray(r), np.asarray(expected)) for r in results)


def test_none_among_worlds_is_refused() -> None:
    model = sarrus.Model.builtin("fourbar_free")
    with pytest.raises(sarrus.InputError, match="Batch"):
        sarrus.Batch([model, None])  # type: ignore[list-item]
    batch = sarrus.Batch(model, 2)
    with pytest.raises(sarrus.InputError, match="states"):
        batch.reset(None, [model.initial_state(), None])  # type: ignore[list-item]
    with pytest.raises(sarrus.InputError, match="mask"):
        batch.reset(np.ones((2, 2), bool))
    with pytest.raises(sarrus.InputError, match="target"):
        batch.step([[0.0], [0.0, 1.0]])  # type: ignore[list-item]
    with pytest.raises(sarrus.InputError, match="too many"):
        batch.rollout(np.zeros((3, len(model.drives))), hold=2**30)
