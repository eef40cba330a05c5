"""Three tasks on machines with closed loops."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sarrus._core import Batch, Model, Simulation, State
from sarrus._errors import InputError
from sarrus.rl.environment import Floats, Task, VectorEnv


def _turned(quaternion: Floats, v: tuple[float, float, float]) -> Floats:
    """A vector of the body in the world, of quaternions (..., 4) x y z w."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    t = 2 * np.cross(axis, v)
    return np.asarray(v + w * t + np.cross(axis, t))


class StewartTracking(Task):
    """A Stewart platform (six legs, five loops) follows a pose that wanders; actions are lengths of its legs.

    Observed: error of position, position wanted next, way to there (3 each), and 1. Reward: exp(-(50 |error|)^2) per
    action, so at most ``horizon`` in an episode.
    """

    observation_size = 10
    action_size = 6
    decimation = 10
    horizon = 100
    stroke = 0.08  # m, of the actions

    def __init__(self) -> None:
        self.model = Model.builtin("stewart_platform")
        self.options = {"dt": 2e-3, "tolerance": 1e-6}
        self._home = self.model.initial_state()
        self._phase: dict[int, Floats] = {}
        self._centre = self._home.position[0].copy()

    def copy(self) -> StewartTracking:
        other = copy.copy(self)
        other._phase = {}
        return other

    def begin(self, world: int, rng: np.random.Generator) -> State:
        self._phase[world] = rng.uniform(0, 2 * np.pi, 3)
        return self._home

    def wanted(self, worlds: int, count: NDArray[np.int64]) -> Floats:
        """(worlds, 3) where the platform shall be, m."""
        t = count[:, None] * self.decimation * self.options["dt"]
        phase = np.array([self._phase.get(i, np.zeros(3)) for i in range(worlds)])
        return np.asarray(self._centre + [0.04, 0.04, 0.03] * np.sin([2.0, 2.5, 3.0] * t + phase))

    def targets(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        return self.stroke * action

    def observe(self, batch: Batch, count: NDArray[np.int64]) -> Floats:
        wanted = self.wanted(batch.worlds, count)
        soon = self.wanted(batch.worlds, count + 1)
        return np.concatenate(
            [
                20 * (wanted - batch.position[:, 0]),
                20 * (soon - self._centre),
                20 * (soon - wanted),
                np.ones((batch.worlds, 1)),
            ],
            axis=1,
        )

    def reward(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        error = np.linalg.norm(self.wanted(batch.worlds, count) - batch.position[:, 0], axis=1)
        return np.asarray(np.exp(-((50 * error) ** 2)))

    def terminated(self, batch: Batch) -> NDArray[np.bool_]:
        return np.asarray(np.linalg.norm(batch.position[:, 0] - self._centre, axis=1) > 0.3)


class QuadrupedWalk(Task):
    """A quadruped with five-bar legs (four loops) walks along x; actions are angles of its eight hips.

    Observed: height, the body's up and forward (6), velocity and angular velocity (6), hips and their rates (16),
    and a clock of 2 Hz (2). Reward per action: speed along x, m/s, less 0.005 |action|^2. A fall ends it.
    """

    observation_size = 31
    action_size = 8
    decimation = 10
    horizon = 150
    swing = 0.5  # rad, of the actions

    def __init__(self) -> None:
        self.model = Model.builtin("fivebar_leg")
        self.options = {"dt": 2e-3, "tolerance": 1e-6}
        self._hips = np.array([self.model.dof[name].index for name in self.model.drives])
        sim = Simulation(self.model)
        sim.target[:] = 0.0
        sim.step(300)
        self._home = sim.state
        self._home.time = 0.0
        self._home.twist[:] = 0
        self._height = float(self._home.position[0, 2])

    def begin(self, world: int, rng: np.random.Generator) -> State:
        state = self._home.copy()
        state.twist[:, :2] = 0.02 * rng.standard_normal(2)
        return state

    def targets(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        return self.swing * action

    def observe(self, batch: Batch, count: NDArray[np.int64]) -> Floats:
        phase = 2 * np.pi * 2.0 * count[:, None] * self.decimation * self.options["dt"]
        quaternion = batch.quaternion_xyzw[:, 0]
        return np.concatenate(
            [
                10 * (batch.position[:, 0, 2:] - self._height),
                _turned(quaternion, (0, 0, 1)),
                _turned(quaternion, (1, 0, 0)),
                batch.twist[:, 0],
                batch.q[:, self._hips],
                0.1 * batch.qd[:, self._hips],
                np.sin(phase),
                np.cos(phase),
            ],
            axis=1,
        )

    def reward(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        return np.asarray(batch.twist[:, 0, 0] - 0.005 * (action**2).sum(1))

    def terminated(self, batch: Batch) -> NDArray[np.bool_]:
        up = _turned(batch.quaternion_xyzw[:, 0], (0, 0, 1))[:, 2]
        return np.asarray((up < 0.5) | (batch.position[:, 0, 2] < 0.4 * self._height))


def gripper() -> Model:
    """A gripper on a vertical rail; each finger is a parallelogram, so that its pad stays upright, over a box."""
    bodies: list[dict[str, Any]] = [
        {
            "name": "palm",
            "mass": 1.0,
            "pose": {"p": [0, 0, 0.26]},
            "shapes": [{"type": "box", "half_extents": [0.06, 0.03, 0.02], "group": "none", "collides_with": "none"}],
        },
        {
            "name": "box",
            "mass": 0.2,
            "pose": {"p": [0, 0, 0.025]},
            "shapes": [{"type": "box", "half_extents": [0.025, 0.025, 0.025], "name": "box"}],
        },
    ]
    joints: list[dict[str, Any]] = [
        {
            "name": "rail",
            "type": "prismatic",
            "base": "world",
            "follower": "palm",
            "at": [0, 0, 0.26],
            "axis": [0, 0, 1],
            "drive": {"mode": "position", "kp": 4000, "kd": 250, "effort_limit": 60, "target": 0},
        }
    ]
    y = [0, 1, 0]
    for side, s in (("left", -1), ("right", 1)):
        for bar, x in (("outer", 0.06), ("inner", 0.04)):
            bodies.append(
                {
                    "name": f"{side}_{bar}",
                    "mass": 0.05,
                    "pose": {"p": [s * (x + 0.01), 0, 0.2]},
                    "shapes": [
                        {"type": "box", "half_extents": [0.004, 0.008, 0.06], "group": "none", "collides_with": "none"}
                    ],
                }
            )
            joints.append(
                {
                    "name": f"{side}_{bar}_top",
                    "type": "revolute",
                    "base": "palm",
                    "follower": f"{side}_{bar}",
                    "at": [s * (x + 0.01), 0, 0.26],
                    "axis": y,
                    "damping": 0.002,
                }
            )
            if bar == "outer":
                joints[-1]["drive"] = {"mode": "position", "kp": 6, "kd": 0.15, "effort_limit": 2, "target": 0}
        bodies.append(
            {
                "name": f"{side}_pad",
                "mass": 0.05,
                "pose": {"p": [s * 0.06, 0, 0.12]},
                "shapes": [
                    {"type": "box", "half_extents": [0.012, 0.004, 0.02], "group": "none", "collides_with": "none"},
                    {
                        "type": "box",
                        "name": f"{side}_tip",
                        "half_extents": [0.006, 0.02, 0.04],
                        "pose": {"p": [-s * 0.008, 0, -0.05]},
                    },
                ],
                "inertia": [1e-4, 1e-4, 1e-4],
            }
        )
        for bar, x in (("outer", 0.06), ("inner", 0.04)):
            joints.append(
                {
                    "name": f"{side}_{bar}_bottom",
                    "type": "revolute",
                    "base": f"{side}_{bar}",
                    "follower": f"{side}_pad",
                    "at": [s * (x + 0.01), 0, 0.14],
                    "axis": y,
                }
            )
    return Model.from_json(
        json.dumps(
            {
                "format": "sarrus-scene",
                "version": 1,
                "angle_unit": "rad",
                "name": "gripper",
                "materials": [{"name": "rubber", "mu": 1.0}],
                "bodies": bodies,
                "world_shapes": [{"type": "plane", "name": "floor"}],
                "joints": joints,
            }
        )
    )


class GripperLift(Task):
    """A gripper with four-bar fingers lifts a box; actions are the height of the palm and the angles of both fingers.

    Observed: box from between the tips (3), pads from the box (6), velocity of the box (3), drive coordinates and rates
    (6), and 1. Reward per action: height of the box in decimetres, less 5 times its distance from between the tips, m.
    """

    observation_size = 19
    action_size = 3
    decimation = 10
    horizon = 100

    def __init__(self) -> None:
        self.model = gripper()
        self.options = {"dt": 2e-3, "tolerance": 1e-6}
        self._dofs = np.array([self.model.dof[name].index for name in self.model.drives])
        names = self.model.body
        self._box, self._palm = names["box"].index, names["palm"].index
        self._pads = np.array([names["left_pad"].index, names["right_pad"].index])
        self._home = self.model.initial_state()

    def begin(self, world: int, rng: np.random.Generator) -> State:
        state = self._home.copy()
        state.position[self._box, 0] += rng.uniform(-0.005, 0.005)
        return state

    def targets(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        # Palm from 0.12 m below to 0.12 m above its place; fingers open at -1, closed at 1.
        return action * [0.12, -0.6, 0.6]

    def _between(self, batch: Batch) -> Floats:
        tips = batch.position[:, self._pads].mean(1) - [0, 0, 0.05]
        return np.asarray(batch.position[:, self._box] - tips)

    def observe(self, batch: Batch, count: NDArray[np.int64]) -> Floats:
        box = batch.position[:, self._box]
        pads = batch.position[:, self._pads] - box[:, None]
        return np.concatenate(
            [
                10 * self._between(batch),
                10 * pads.reshape(batch.worlds, 6),
                batch.twist[:, self._box, :3],
                batch.q[:, self._dofs],
                0.1 * batch.qd[:, self._dofs],
                np.ones((batch.worlds, 1)),
            ],
            axis=1,
        )

    def reward(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        height = 10 * (batch.position[:, self._box, 2] - 0.025)
        return np.asarray(height - 5 * np.linalg.norm(self._between(batch), axis=1))

    def terminated(self, batch: Batch) -> NDArray[np.bool_]:
        return np.asarray(np.abs(batch.position[:, self._box, 0]) > 0.2)


TASKS: dict[str, type[Task]] = {
    "stewart_tracking": StewartTracking,
    "quadruped_walk": QuadrupedWalk,
    "gripper_lift": GripperLift,
}


def make(name: str, worlds: int, threads: int = 0, autoreset: str = "next_step") -> VectorEnv:
    """A VectorEnv of a task by name, one of ``sarrus.rl.TASKS``."""
    if name not in TASKS:
        raise InputError(f"task '{name}': unknown; give one of {', '.join(TASKS)}", f"task '{name}'")
    task = TASKS[name]()
    return VectorEnv(task.batch(worlds, threads), task, autoreset=autoreset)
