"""What ``Simulation.contacts`` is an array of."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class ContactMode(IntEnum):
    """What the friction of a contact does."""

    OPEN = 0
    STICKING = 1
    SLIDING = 2
    UNKNOWN = 3


CONTACT = np.dtype(
    [
        ("point", np.float64, (3,)),
        ("normal", np.float64, (3,)),
        ("force", np.float64, (3,)),
        ("gap", np.float64),
        ("mu", np.float64),
        ("mode", np.int32),
        ("body_a", np.int32),
        ("body_b", np.int32),
        ("geom_a", np.int32),
        ("geom_b", np.int32),
    ],
    align=True,
)

REPORT = np.dtype(
    [
        ("status", np.uint8),
        ("worst", np.uint8),
        ("steps", np.int32),
        ("accepted", np.int32),
        ("fallback", np.int32),
        ("substepped", np.int32),
        ("iterations", np.int64),
        ("error", np.float64),
        ("joint_gap", np.float64),
        ("penetration", np.float64),
        ("creates_energy", np.bool_),
        ("seconds", np.float64),
    ],
    align=True,
)
