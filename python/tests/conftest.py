"""What the tests share. Sizes of long ones are divided by SARRUS_SAMPLE_DIVISOR, as those of the engine's tests."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

import sarrus

DIVISOR = int(os.environ.get("SARRUS_SAMPLE_DIVISOR", "1"))
ROOT = pathlib.Path(__file__).resolve().parents[2]

PENDULUM = {
    "format": "sarrus-scene",
    "version": 1,
    "angle_unit": "rad",
    "name": "pendulum",
    "bodies": [
        {
            "name": "rod",
            "mass": 1.0,
            "pose": {"p": [0.25, 0, 1]},
            "shapes": [{"type": "box", "half_extents": [0.25, 0.02, 0.02]}],
        }
    ],
    "joints": [
        {"name": "pivot", "type": "revolute", "base": "world", "follower": "rod", "at": [0, 0, 1], "axis": [0, 1, 0]}
    ],
}


@pytest.fixture
def model() -> sarrus.Model:
    return sarrus.Model.builtin("fourbar_free")


@pytest.fixture
def sim(model: sarrus.Model) -> sarrus.Simulation:
    return sarrus.Simulation(model, dt=1e-3)


@pytest.fixture
def pendulum() -> sarrus.Model:
    return sarrus.Model.from_json(json.dumps(PENDULUM))
