"""Many worlds: the bits of simulations of their own, per-world models, masks, rollouts, frozen worlds."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import sarrus


def test_worlds_are_simulations(model: sarrus.Model) -> None:
    batch = sarrus.Batch(model, 5, threads=2, dt=1e-3)
    targets = np.linspace(1, 5, 5)[:, None]
    batch.step(targets, 50)
    batch.step(n=10)
    for world in range(5):
        sim = sarrus.Simulation(model, dt=1e-3)
        sim.target[:] = targets[world]
        sim.step(60)
        np.testing.assert_array_equal(batch.position[world], sim.position)
        np.testing.assert_array_equal(batch.quaternion_xyzw[world], sim.quaternion_xyzw)
        np.testing.assert_array_equal(batch.twist[world], sim.twist)
        np.testing.assert_array_equal(batch.q[world], sim.q)
        np.testing.assert_allclose(batch.qd[world], sim.qd, rtol=1e-12, atol=1e-12)
        assert batch.energy[world].tolist() == pytest.approx([sim.energy.kinetic, sim.energy.potential])
        assert batch.effort[world, 0] == sim.effort["crank"] and batch.state(world).hash == sim.hash
        going_on = batch.simulation(world)
        going_on.step(3)
        sim.step(3)
        assert going_on.hash == sim.hash
    assert batch.time.tolist() == [sim.time - 3e-3] * 5 or np.allclose(batch.time, 0.06)


def test_same_bits_for_any_number_of_threads(model: sarrus.Model) -> None:
    states = []
    for threads in (1, 2, 7):
        batch = sarrus.Batch(model, 12, threads)
        batch.step(np.linspace(0, 3, 12)[:, None], 40)
        states.append(batch.position.copy())
    assert all(np.array_equal(states[0], s) for s in states[1:])


def test_views_stay(model: sarrus.Model) -> None:
    batch = sarrus.Batch(model, 3)
    names = ["time", "position", "quaternion_xyzw", "twist", "q", "qd", "contact_force", "energy", "effort"]
    views = {n: getattr(batch, n) for n in names}
    addresses = {n: v.ctypes.data for n, v in views.items()}
    assert {n: v.shape for n, v in views.items()} == {
        "time": (3,), "position": (3, 4, 3), "quaternion_xyzw": (3, 4, 4), "twist": (3, 4, 6), "q": (3, 4),
        "qd": (3, 4), "contact_force": (3, 4, 3), "energy": (3, 2), "effort": (3, 1),
    }  # fmt: skip
    batch.step(n=20)
    batch.reset([1])
    assert addresses == {n: getattr(batch, n).ctypes.data for n in names}
    assert batch.time.tolist() == pytest.approx([0.02, 0, 0.02]) and not views["position"].flags.writeable
    total = batch.contact_force[0].sum(0)
    assert total[2] == pytest.approx(9.81 * model.mass, rel=0.5)
    del batch
    assert np.all(np.isfinite(views["position"]))


def test_models_of_their_own(model: sarrus.Model) -> None:
    models = [model.changed({"body.crank.mass": m}) for m in (0.1, 0.2, 0.4)]
    batch = sarrus.Batch(models)
    assert len(batch) == batch.worlds == 3 and batch.model_of(2).body["crank"].mass == pytest.approx(0.4)
    batch.step(n=30)
    sim = sarrus.Simulation(models[1])
    sim.step(30)
    np.testing.assert_array_equal(batch.position[1], sim.position)
    batch.set_model(0, models[2])
    assert batch.model_of(0).body["crank"].mass == pytest.approx(0.4) and batch.time[0] == 0
    assert batch.model.name == model.name and batch.drives == ("crank.angle",) and batch.nu == 1 and batch.dt > 0
    assert batch.threads >= 1 and batch.bytes_per_world > 0 and repr(batch).startswith("<Batch")


def test_rollout(model: sarrus.Model) -> None:
    batch = sarrus.Batch(model, 2, dt=1e-3)
    target = np.stack([np.zeros((4, 1)), np.ones((4, 1))])
    keep = ["position", "quaternion_xyzw", "twist", "q", "qd", "contact_force", "energy"]
    out = batch.rollout(target, hold=10, every=5, keep=keep)
    assert {k: v.shape for k, v in out.items()} == {
        "time": (2, 8), "position": (2, 8, 4, 3), "quaternion_xyzw": (2, 8, 4, 4), "twist": (2, 8, 4, 6),
        "q": (2, 8, 4), "qd": (2, 8, 4), "contact_force": (2, 8, 4, 3), "energy": (2, 8, 2),
    }  # fmt: skip
    np.testing.assert_allclose(out["time"][0], 5e-3 * np.arange(1, 9))
    sim = sarrus.Simulation(model, dt=1e-3)
    sim.target[:] = 1.0
    sim.step(40)
    np.testing.assert_array_equal(out["position"][1, -1], sim.position)
    assert set(batch.rollout(np.zeros((3, 1)))) == {"time", "position", "quaternion_xyzw", "q"}
    assert batch.rollout(steps=4, keep=["q"])["q"].shape == (2, 4, 4)


def test_reset_and_snapshots(model: sarrus.Model) -> None:
    batch = sarrus.Batch(model, 3)
    batch.step(n=20)
    snapshot = batch.save(0)
    state = batch.state(1)
    batch.step(n=5)
    after = batch.position[0].copy()
    batch.restore(0, snapshot)
    batch.reset(np.array([False, True, True]), state)
    np.testing.assert_array_equal(batch.position[1], state.position)
    batch.step(n=5)
    np.testing.assert_array_equal(batch.position[0], after)
    np.testing.assert_array_equal(batch.position[1], batch.position[2])
    batch.reset(states=[state] * 3)
    assert batch.time.tolist() == [state.time] * 3
    batch.reset()
    assert not batch.time.any() and not batch.failed.any() and batch.message(0) == ""


def test_forces(model: sarrus.Model) -> None:
    batch = sarrus.Batch(model, 2)
    wrench = np.zeros((2, 4, 6))
    wrench[1, 0, 2] = 100
    batch.set_wrench(wrench)
    batch.set_force(np.zeros((2, 4)))
    batch.step(n=100)
    assert batch.position[1, 0, 2] > batch.position[0, 0, 2] + 0.01


def test_a_failed_world_is_frozen_and_the_others_go_on() -> None:
    model = sarrus.Model.builtin("jansen_walker")
    batch = sarrus.Batch(model, 2, solver="pgs-ncp", parameters={"max_iterations": 1}, fallback="pgs-ccp",
                         acceptable=1e-14, tolerance=1e-15)  # fmt: skip
    batch.step(n=3)
    assert batch.failed.all() and batch.message(0) and np.isfinite(batch.position).all()
    assert batch.reports["status"].tolist() == [1, 1] and batch.reports.dtype == sarrus.REPORT
    batch.reset()
    assert not batch.failed.any()


def test_reports(model: sarrus.Model) -> None:
    batch = sarrus.Batch(model, 2)
    batch.step(n=7)
    r = batch.reports
    assert r["steps"].tolist() == [7, 7] and r["error"].max() <= 1e-9 and r["joint_gap"].max() < 1e-10
    assert r["seconds"].min() > 0 and not r["creates_energy"].any() and r["fallback"].sum() == r["accepted"].sum() == 0


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda b: b.step(np.zeros((3, 1))), ["target", "(3, 1)", "(2, 1)"]),
        (lambda b: b.step(np.zeros(2)), ["target", "(2,)", "(1,)"]),
        (lambda b: b.step(n=0), ["n is 0"]),
        (lambda b: b.step([[np.inf], [0]]), ["target", "inf"]),
        (lambda b: b.rollout(), ["number of steps"]),
        (lambda b: b.rollout(np.zeros((3, 1)), steps=5), ["3 rows", "5 steps"]),
        (lambda b: b.rollout(steps=2, keep=["speed"]), ["speed", "position"]),
        (lambda b: b.reset([True]), ["mask", "2"]),
        (lambda b: b.reset([5]), ["world 5 of 2"]),
        (lambda b: b.reset(["all"]), ["mask"]),
        (lambda b: b.reset(states="home"), ["State"]),
        (lambda b: b.state(2), ["2 of 2"]),
        (lambda b: b.set_force(np.zeros((2, 3))), ["force", "(2, 4)"]),
        (lambda b: b.set_wrench(np.full((2, 4, 6), np.nan)), ["wrench", "nan"]),
        (lambda b: b.set_model(0, sarrus.Model.builtin("double_pendulum")), [""]),
        (lambda b: sarrus.Batch(b.model, 0), [""]),
        (lambda b: sarrus.Batch([b.model], 2), ["1 models for 2"]),
        (lambda b: sarrus.Batch("fourbar"), ["a model"]),
        (lambda b: b.model.changed({"body.crnk.mass": 1.0}), ["crnk"]),
        (lambda b: b.model.changed({"body.crank.mass": -1.0}), ["crank"]),
        (lambda b: b.model.parameter("body.crank.colour"), ["colour"]),
    ],
)
def test_bad_input(model: sarrus.Model, do, words: list[str]) -> None:
    batch = sarrus.Batch(model, 2)
    before = batch.position.copy()
    with pytest.raises(sarrus.InputError) as caught:
        do(batch)
    for word in words:
        assert word in str(caught.value)
    np.testing.assert_array_equal(batch.position, before)


def test_a_running_batch_is_not_touched(model: sarrus.Model) -> None:
    batch = sarrus.Batch(model, 8, threads=1)
    for _ in range(20):
        thread = threading.Thread(target=lambda: batch.step(n=300))
        thread.start()
        time.sleep(0.005)
        try:
            _ = batch.position
        except sarrus.SimulationBusy:
            thread.join()
            return
        thread.join()
    pytest.fail("nothing was refused while the batch ran")


def test_parameters(model: sarrus.Model) -> None:
    assert "body.crank.mass" in model.parameters
    both = model.changed({"body.crank.mass": 2.0}, factors={"body.rocker.mass": 3.0})
    assert both.parameter("body.crank.mass") == 2 and both.body["rocker"].mass == pytest.approx(
        3 * model.body["rocker"].mass
    )
