"""Models: loading, named elements, checks, poses, and what is said of bad input."""

from __future__ import annotations

import copy
import json
import pathlib
import pickle

import numpy as np
import pytest
from conftest import PENDULUM

import sarrus

MJCF = """<mujoco><worldbody><body name="rod" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" size="0.02 0.2" mass="1"/></body></worldbody></mujoco>"""
URDF = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/><origin xyz="0 0 0.2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hinge"
type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
SDF = """<sdf version="1.9"><model name="arm"><link name="rod"><pose>0 0 1 0 0 0</pose><inertial><mass>1</mass><inertia>
<ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial></link><joint name="hinge" type="revolute">
<parent>world</parent><child>rod</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""


@pytest.mark.parametrize(("name", "text"), [("a.xml", MJCF), ("a.urdf", URDF), ("a.sdf", SDF)])
def test_robots_load(tmp_path: pathlib.Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    model = sarrus.load(tmp_path / name)
    assert "rod" in model.body
    assert model.body["rod"].mass == pytest.approx(1)
    assert model.joint["hinge"].type == "revolute"
    assert json.loads(model.import_report_json)["format"] in ("MJCF", "URDF", "SDF")
    assert model.import_report
    assert sarrus.load(tmp_path / name, hold=True).nu == 1


def test_scene_round_trip(tmp_path: pathlib.Path, model: sarrus.Model) -> None:
    model.save(tmp_path / "m.json")
    again = sarrus.load(tmp_path / "m.json")
    assert again.to_json() == model.to_json() == pickle.loads(pickle.dumps(model)).to_json()
    assert again.source.endswith("m.json")
    assert again.import_report == ""


def test_names(model: sarrus.Model) -> None:
    assert model.name == "fourbar_free" and model.description
    assert (model.nbody, model.njoint, model.nq, model.nu) == (4, 4, 4, 1)
    assert model.drives == ("crank.angle",)
    assert (model.dt, model.duration) == pytest.approx((0.001, 5)) or model.dt > 0
    assert model.integrator in ("moreau", "semi-implicit")
    np.testing.assert_allclose(model.gravity, [0, 0, -9.81])
    body = model.body["crank"]
    assert body.index == 1 and body.name == "crank" and model.body[1].name == "crank" and model.body[-1].index == 3
    assert body.inertia.shape == (3, 3) and np.allclose(body.inertia, body.inertia.T)
    assert body.position.shape == (3,) and np.isclose(np.linalg.norm(body.quaternion_xyzw), 1)
    assert (body.linear_damping, body.angular_damping, body.gravity_scale) == (0, 0, 1)
    assert model.mass == pytest.approx(sum(b.mass for b in model.body))
    joint = model.joint["crank"]
    assert joint.type == "revolute" and joint.coordinates == ("crank.angle",) and joint.size > 0
    assert {joint.base, joint.follower} <= {*model.body.names, "world"} and joint.index == 0 and joint.name == "crank"
    assert [j.name for j in model.joint if j.closes_loop] == [loop.joint for loop in model.loops]
    loop = model.loops[0]
    assert len(loop.joints) == 4 and len(loop.bodies) == 4
    dof = model.dof["crank"]
    assert dof is not None and dof.name == "crank.angle" and dof.index == 0 and dof.joint == "crank"
    assert dof.drive in ("position", "velocity", "force") and dof.drive_name == ""
    assert dof.limit[0] < dof.limit[1] and dof.effort_limit[0] < 0 < dof.effort_limit[1]
    assert dof.target_limit == (-np.inf, np.inf)
    assert min(dof.kp, dof.kd, dof.armature, dof.stiffness, dof.damping, dof.dry_friction) >= 0 and dof.rest == 0
    geom = model.geom[0]
    assert geom.kind in ("plane", "box") and geom.size.shape == geom.position.shape == (3,) and geom.index == 0
    assert geom.quaternion_xyzw.shape == (4,) and geom.material in model.material and isinstance(geom.name, str)
    assert geom.body in {*model.body.names, "world"}
    material = model.material[geom.material]
    assert material.mu > 0 and material.restitution == 0 and material.name == geom.material
    assert len(model.dof) == 4 and "crank.angle" in model.dof and dict(model.body.items())["base"].index == 0
    for thing in (model, body, joint, dof, geom, material, loop, model.body):
        assert repr(thing).startswith("<")


@pytest.mark.parametrize(
    ("access", "words"),
    [
        (lambda m: m.body["crnk"], ["crnk", "did you mean 'crank'"]),
        (lambda m: m.joint[7], ["joint 7", "there are 4"]),
        (lambda m: m.dof[None], ["name or an index"]),
        (lambda m: sarrus.Model.builtin("fourbar"), ["fourbar"]),
        (lambda m: sarrus.Model.from_json("{"), ["from_json"]),
        (lambda m: sarrus.load("nowhere.json"), ["nowhere.json"]),
        (lambda m: sarrus.load("fourbar_free"), ["Model.builtin('fourbar_free')"]),
        (lambda m: sarrus.load("x.xml", base="floating"), ["base", "fixed, free"]),
        (lambda m: m.pose({"crnk": 1.0}), ["did you mean 'crank'"]),
        (lambda m: m.save("/nowhere/at/all.json"), ["all.json"]),
    ],
)
def test_errors_name_the_culprit(model: sarrus.Model, access, words: list[str]) -> None:
    with pytest.raises(sarrus.InputError) as caught:
        access(model)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value.element, str)
    for word in words:
        assert word in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.element == caught.value.element


def test_check(model: sarrus.Model) -> None:
    check = model.check()
    assert (check.bodies, check.joints, check.loops, check.rows, check.rank) == (4, 4, 1, 20, 17)
    assert (check.redundant_rows, check.mobility, check.contacts) == (3, 7, 4)
    assert check.condition > 1 and check.mass_ratio >= 1 and check.penetration < 1e-9
    assert max(check.joint_gap, check.joint_angle) < 1e-12
    assert "redundant" in check.warnings[0] and "mobility" in str(check)


def test_pose_closes_the_loop() -> None:
    model = sarrus.Model.builtin("fourbar_fixed")
    start = model.pose({})
    state = model.pose({"crank": start.q[0] + 0.3})
    sim = sarrus.Simulation(model)
    sim.state = state
    assert max(sim.joint_gap.values) < 1e-10
    assert sim.q[0] == pytest.approx(start.q[0] + 0.3, abs=1e-9)
    assert model.pose({"crank": start.q[0]}, start=state).q[0] == pytest.approx(start.q[0], abs=1e-9)
    with pytest.raises(sarrus.InputError):
        sarrus.Model.builtin("fourbar_swing").pose({"nothing": 1.0})


def test_held_keeps_its_pose() -> None:
    free = sarrus.Model.builtin("double_pendulum")
    sim = sarrus.Simulation(free.held())
    before = sim.q.copy()
    sim.step(100)
    assert np.abs(sim.q - before).max() < 0.1


def test_state_is_a_copy(pendulum: sarrus.Model) -> None:
    state = pendulum.initial_state()
    twin, deep, other = copy.copy(state), copy.deepcopy(state), state.copy()
    state.q[0] += 1
    state.time = 3
    for s in (twin, deep, other):
        assert s.q[0] != state.q[0] and s.time == 0 and s.hash != state.hash
    assert state.position.shape == (1, 3) and state.quaternion_xyzw.shape == (1, 4) and state.twist.shape == (1, 6)


def test_lists() -> None:
    assert "fourbar_free" in sarrus.scenes() and "cascade" in sarrus.solvers()
    assert sarrus.__version__.count(".") == 2
    assert PENDULUM["name"] == "pendulum"
    assert all(isinstance(v, float) for v in sarrus.solvers()["cascade"].values())
