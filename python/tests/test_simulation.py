"""Simulations: views, inputs, reports, contacts, energies, snapshots, failures."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import pytest

import sarrus


def test_views_follow_and_stay(sim: sarrus.Simulation) -> None:
    views = [sim.position, sim.quaternion_xyzw, sim.twist, sim.q]
    addresses = [v.ctypes.data for v in views]
    before = [v.copy() for v in views]
    assert views[0].strides == (64, 8) and views[1].ctypes.data == views[0].ctypes.data + 32
    sim.step(200)
    for view, address, old, now in zip(
        views, addresses, before, [sim.position, sim.quaternion_xyzw, sim.twist, sim.q], strict=True
    ):
        assert not view.flags.writeable and not np.array_equal(view, old)
        assert now.ctypes.data == address and np.array_equal(view, now)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
    snapshot, state = sim.save(), sim.state
    sim.step(5)
    sim.restore(snapshot)
    sim.state = state
    sim.reset()
    assert [v.ctypes.data for v in (sim.position, sim.quaternion_xyzw, sim.twist, sim.q)] == addresses
    assert all(np.array_equal(v, b) for v, b in zip(views, before, strict=True))


def test_computed_copies(sim: sarrus.Simulation) -> None:
    sim.step(50)
    x, y, z, w = sim.quaternion_xyzw.T
    np.testing.assert_array_equal(sim.quaternion_wxyz, np.stack([w, x, y, z], 1))
    rotation = sim.rotation
    assert rotation.shape == (4, 3, 3)
    np.testing.assert_allclose(
        rotation @ rotation.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-12
    )
    np.testing.assert_allclose(rotation[:, 2, 2], w * w - x * x - y * y + z * z, atol=1e-12)


def test_rates_are_those_of_the_coordinates(pendulum: sarrus.Model) -> None:
    sim = sarrus.Simulation(pendulum, dt=1e-3)
    sim.step(100)
    before, rate = sim.q.copy(), sim.qd
    sim.step()
    np.testing.assert_allclose(sim.q - before, sim.dt * (rate + sim.qd) / 2, atol=1e-8)


def test_pendulum_swings_as_it_must(pendulum: sarrus.Model) -> None:
    sim = sarrus.Simulation(pendulum, dt=1e-4)
    inertia = pendulum.body["rod"].inertia[1, 1] + 0.25**2
    while sim.q[0] < np.pi / 2:
        sim.step(10)
    assert sim.qd[0] == pytest.approx(np.sqrt(2 * 9.81 * 0.25 / inertia), rel=1e-4)
    assert sim.energy.total == pytest.approx(9.81, abs=1e-5)
    assert sim.energy.kinetic == pytest.approx(9.81 * 0.25, rel=1e-3) and sim.energy.potential < 9.81 * 0.76
    flow = sim.energy_flow
    assert abs(flow.change) < 1e-4 and abs(flow.unaccounted) <= sim.energy_bound and flow.work_in == 0
    assert flow.drives == flow.external == flow.friction == flow.impacts == 0 and abs(flow.damping) < 1e-9
    assert abs(flow.dissipated) < 1e-9
    linear, angular = sim.momentum
    assert linear[2] == pytest.approx(sim.twist[0, 2]) and abs(linear[1]) < 1e-9 and angular.shape == (3,)


def test_report(sim: sarrus.Simulation) -> None:
    report = sim.step()
    assert report.ok and report.status == "converged" and report.steps == 1 and report.met_tolerance
    many = sim.step(30)
    assert many.steps == 30 and sum(many.counts.values()) == 30 and set(many.counts) >= {"converged", "failed"}
    assert many.error <= 1e-9 and many.residuals.error == pytest.approx(many.error) and many.residuals.finite
    assert many.solve_status == "converged" and many.joint_gap < 1e-12 and many.joint_angle < 1e-10
    assert many.contacts == 4 and many.rows > 20 and many.iterations >= 0 and many.factorisations >= 0
    assert many.seconds_total >= many.seconds_solve > 0 and many.seconds_assembly > 0
    assert many.seconds_collision > 0 and many.seconds_projection >= 0
    assert many.substeps >= 30 and many.rejected == 0 and not many.creates_energy and many.restitution_scale == 1
    assert many.penetration < 1e-4 and many.limit_violation == 0 and many.limits == 0 and many.contacts_matched == 4
    assert many.compliant_gap == many.compliant_angle == 0
    assert many.message == many.locked_joint == "" and isinstance(many.stage, str)
    assert isinstance(many.energy.change, float) and sim.report.steps == 1 and "30 steps" in repr(many)
    r = many.residuals
    assert r.error_of("ncp", "absolute") == r.natural_map and r.error_of("ccp", "absolute") == r.natural_map_ccp
    assert r.error_of("box", "absolute") == r.natural_map_box and r.error_of("ncp", "papers") >= r.primal
    assert max(r.dual, r.complementarity, r.equations) < 1e-6 and 0 <= r.joint_velocity < 1e-3
    with pytest.raises(sarrus.InputError, match="law"):
        r.error_of("coulomb")


def test_step_n_is_n_steps(model: sarrus.Model) -> None:
    one, many = sarrus.Simulation(model), sarrus.Simulation(model)
    for _ in range(100):
        one.step()
    many.step(100)
    assert one.hash == many.hash and one.time == many.time == pytest.approx(100 * model.dt)


def test_inputs_by_name(sim: sarrus.Simulation) -> None:
    own = sim.target["crank"]
    sim.target["crank"] = 6.28
    assert sim.target["crank.angle"] == sim.target[0] == sim.target[:][0] == 6.28
    sim.set_target("crank", 1.0, rate=0.5)
    assert sim.target["crank"] == 1.0
    sim.target[:] = [np.nan]
    assert sim.target["crank"] == pytest.approx(own)
    sim.target = 2.0
    assert np.asarray(sim.target).tolist() == [2.0] and len(sim.target) == 1 and sim.target.names == ("crank.angle",)
    sim.force["rocker"] = 0.1
    sim.force[0:2] = 3
    np.testing.assert_array_equal(sim.force[:], [3, 3, 0, 0.1])
    sim.wrench["base"] = [0, 0, 5, 0, 0, 0]
    sim.wrench[[1, 2]] = np.ones((2, 6))
    np.testing.assert_array_equal(sim.wrench["base"], [0, 0, 5, 0, 0, 0])
    np.testing.assert_array_equal(sim.wrench[:].sum(1), [5, 6, 6, 0])
    sim.wrench = np.zeros(6)
    assert not np.any(sim.wrench[:])
    assert repr(sim.wrench).startswith("<")
    sim.reset()
    assert not np.any(sim.force[:]) and sim.target["crank"] == pytest.approx(own)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda s: s.target.__setitem__("crnk", 1), ["crnk", "did you mean 'crank'"]),
        (lambda s: s.target.__setitem__("rocker", 1), ["rocker", "has no drive", "crank.angle"]),
        (lambda s: s.target.__setitem__("crank", np.inf), ["crank", "inf"]),
        (lambda s: s.target.__setitem__("crank", "fast"), ["crank", "no number"]),
        (lambda s: s.target.__setitem__(slice(None), [1, 2]), ["target", "(2,)", "(1,)"]),
        (lambda s: s.force.__setitem__("crank", np.nan), ["crank", "nan"]),
        (lambda s: s.force.__setitem__(slice(None), np.zeros((4, 1))), ["force", "(4, 1)"]),
        (lambda s: s.force.__setitem__(9, 1), ["force", "there are 4"]),
        (lambda s: s.wrench.__setitem__("bse", np.zeros(6)), ["bse", "did you mean 'base'"]),
        (lambda s: s.wrench.__setitem__("base", np.zeros(3)), ["base", "(3,)", "(6,)"]),
        (lambda s: s.wrench.__setitem__(slice(None), [[0, 0, np.nan, 0, 0, 0]] * 4), ["[0, 2] is nan"]),
        (lambda s: s.wrench.__setitem__("base", "up"), ["no array of numbers"]),
        (lambda s: s.step(0), ["n is 0"]),
        (lambda s: s.set_target("rocker", 1.0), ["rocker", "has no drive"]),
        (lambda s: s.set_target("crank", 1.0, np.nan), ["rate", "nan"]),
        (lambda s: s.drag("base", [0, 0]), ["target", "(2,)"]),
        (lambda s: setattr(s, "state", 3), ["sarrus.State"]),
        (lambda s: s.record("motion.mp4").__enter__(), ["motion.mp4", ".h5"]),
        (lambda s: s.record("motion.h5", every=0), ["every"]),
        (lambda s: s.restore(sarrus.Snapshot.from_bytes(b"nothing")), [""]),
        (lambda s: sarrus.Simulation(s.model, solver="newton"), ["newton", "cascade"]),
        (lambda s: sarrus.Simulation(s.model, dt=-1.0), ["dt"]),
        (lambda s: sarrus.Simulation(s.model, integrator="rk4"), ["rk4"]),
        (lambda s: sarrus.Simulation(s.model, parameters={"speed": 1.0}), ["speed"]),
    ],
)
def test_bad_input(sim: sarrus.Simulation, do, words: list[str]) -> None:
    sim.step(2)
    before = sim.hash
    with pytest.raises(sarrus.InputError) as caught:
        do(sim)
    for word in words:
        assert word in str(caught.value)
    assert sim.hash == before
    sim.step()


def test_bad_states_are_refused(sim: sarrus.Simulation) -> None:
    state = sim.state
    state.twist[0, 0] = np.nan
    with pytest.raises(sarrus.InputError):
        sim.state = state
    with pytest.raises(sarrus.InputError):
        sim.state = sarrus.Model.builtin("double_pendulum").initial_state()


def test_contacts(sim: sarrus.Simulation) -> None:
    sim.step(500)
    contacts = sim.contacts
    assert contacts.dtype == sarrus.CONTACT and len(contacts) == 4
    total = sum(np.where(contacts["body_a"] == -1, 1, -1)[:, None] * contacts["force"])
    linear = sim.momentum[0]
    sim.step()
    gained = (sim.momentum[0] - linear) / sim.dt + [0, 0, 9.81 * sim.model.mass]
    contacts = sim.contacts
    total = (np.where(contacts["body_a"] == -1, 1, -1)[:, None] * contacts["force"]).sum(0)
    np.testing.assert_allclose(total, gained, atol=1e-5)
    normal = (contacts["force"] * contacts["normal"]).sum(1)
    tangential = np.linalg.norm(contacts["force"] - normal[:, None] * contacts["normal"], axis=1)
    assert np.all(normal >= 0) and np.all(tangential <= contacts["mu"] * normal * (1 + 1e-6))
    assert set(contacts["mode"]) <= {int(m) for m in sarrus.ContactMode}
    assert np.all(np.abs(contacts["gap"]) < 1e-4) and contacts["geom_a"].max() < len(sim.model.geom)
    assert contacts["point"].shape == (4, 3) and contacts["geom_b"].min() >= 0 and contacts["body_b"].min() >= -1


def test_effort_reaction_and_gaps(sim: sarrus.Simulation) -> None:
    sim.step(10)
    assert len(sim.effort) == 4 and sim.effort["rocker"] == 0 and sim.effort["crank"] == sim.effort.values[0] != 0
    assert sim.joint_gap["crank"] < 1e-12 and sim.joint_gap.names == sim.model.joint.names
    assert sim.joint_angle[2] < 1e-10 and np.asarray(sim.joint_angle).shape == (4,)
    assert sim.reaction["rocker"].shape == (6,) and sim.reaction.values.shape == (4, 6)
    assert len(list(sim.effort)) == len(dict(sim.effort.items())) == 4 and repr(sim.effort).startswith("<coordinate")
    with pytest.raises(sarrus.InputError, match="did you mean"):
        sim.joint_gap["crnk"]


def test_drag(sim: sarrus.Simulation) -> None:
    height = sim.position[0, 2]
    sim.drag("base", [0, 0, 1.0], point=[0, 0, 0])
    sim.step(200)
    assert sim.position[0, 2] > height + 0.01 and sim.energy_flow.external > 0
    sim.drop()


def test_snapshots_go_on_in_the_same_bits(tmp_path: pathlib.Path, sim: sarrus.Simulation) -> None:
    sim.step(100)
    sim.target["crank"] = 1.0
    snapshot = sim.save()
    assert bytes(snapshot) and snapshot == pickle.loads(pickle.dumps(snapshot)) and snapshot != 3
    sim.step(50)
    after = sim.hash
    snapshot.save(tmp_path / "s.checkpoint")
    twin = sarrus.Simulation(sim.model, dt=1e-3)
    twin.restore(sarrus.Snapshot.load(tmp_path / "s.checkpoint"))
    assert twin.target["crank"] == 1.0
    twin.step(50)
    assert twin.hash == after
    sim.restore(snapshot)
    sim.step(50)
    assert sim.hash == after


def test_state_drops_what_is_not_state(sim: sarrus.Simulation) -> None:
    sim.step(20)
    state = sim.state
    sim.step(5)
    sim.state = state
    assert sim.hash == state.hash and sim.time == state.time and sim.energy_flow.change == 0


def test_failed_step_keeps_the_state() -> None:
    sim = sarrus.Simulation(
        sarrus.Model.builtin("jansen_walker"),
        solver="pgs-ncp",
        parameters={"max_iterations": 1},
        fallback="pgs-ccp",
        acceptable=1e-14,
        tolerance=1e-15,
    )
    before = sim.hash
    with pytest.raises(sarrus.StepFailed) as caught:
        sim.step(20)
    report = caught.value.report
    assert isinstance(caught.value, RuntimeError) and report.status == "failed" and not report.ok
    assert report.message and report.message in str(caught.value) and report.counts["failed"] == 1
    assert sim.hash == before and np.all(np.isfinite(sim.position))
    assert not sim.step(3, check=False).ok


def test_options_and_overlaps(model: sarrus.Model) -> None:
    sim = sarrus.Simulation(model, 2e-3, "ssn", {}, 1e-8, "semi-implicit", budget=500, threads=2, margin=0.02)
    options = sim.options
    assert (options["dt"], options["solver"], options["tolerance"], options["integrator"]) == (
        2e-3,
        "ssn",
        1e-8,
        "semi-implicit",
    )
    assert options["threads"] == 2 and options["budget"] == 500 and options["margin"] == 0.02
    assert (
        sim.overlaps == () and sim.dt == 2e-3 and sim.model.name == model.name and repr(sim).startswith("<Simulation")
    )
    assert sarrus.Simulation(model, **options).options == options
