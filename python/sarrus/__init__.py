"""Rigid mechanisms with closed kinematic loops, joint limits and hard frictional contact.

>>> import sarrus
>>> model = sarrus.Model.builtin("fourbar_free")
>>> sim = sarrus.Simulation(model, dt=1e-3)
>>> report = sim.step(1000)
>>> report.ok, round(sim.time, 3)
(True, 1.0)

Arrays have SI units and world axes. ``sim.position`` and its like are read-only views that follow every step.
"""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Sequence

from sarrus import _cpu as _cpu  # first: says it if the processor lacks something

# isort: split
from sarrus._contacts import CONTACT, REPORT, ContactMode
from sarrus._core import (
    Answer,
    Batch,
    Body,
    Check,
    Dof,
    Energy,
    EnergyFlow,
    Geom,
    Inputs,
    InverseDynamics,
    InverseResult,
    Joint,
    Loop,
    Material,
    Model,
    Problem,
    Recorder,
    Recording,
    Residuals,
    Simulation,
    Snapshot,
    State,
    StepReport,
    View,
    __version__,
    _load,
    _view,
    load_problem,
    scenes,
    solvers,
)
from sarrus._errors import InputError, SimulationBusy, StepFailed
from sarrus._named import Named, NamedArray

__all__ = [
    "CONTACT",
    "REPORT",
    "Answer",
    "Batch",
    "Body",
    "Check",
    "ContactMode",
    "Dof",
    "Energy",
    "EnergyFlow",
    "Geom",
    "InputError",
    "Inputs",
    "InverseDynamics",
    "InverseResult",
    "Joint",
    "Loop",
    "Material",
    "Model",
    "Named",
    "NamedArray",
    "Problem",
    "Recorder",
    "Recording",
    "Residuals",
    "Simulation",
    "SimulationBusy",
    "Snapshot",
    "State",
    "StepFailed",
    "StepReport",
    "View",
    "__version__",
    "load",
    "load_problem",
    "scenes",
    "solvers",
    "view",
]


def load(
    path: str | os.PathLike[str],
    *,
    key: str = "",
    base: str = "fixed",
    packages: Sequence[str | os.PathLike[str]] = (),
    loops_from: str | os.PathLike[str] = "",
    accept: Sequence[str] = (),
    strict: bool = False,
    allow_outside: bool = False,
    compliance: str = "none",
    mesh: str = "hull",
    assemble: str = "auto",
    visuals: bool = True,
    hold: bool = False,
) -> Model:
    """The model of a file: a scene (JSON) or a robot (MJCF, URDF, SDF).

    The options are those of the command (docs/robots.md). ``Model.import_report`` tells what the reader of a robot's
    file did. Raises InputError that names file, element and remedy.
    """
    return _load(
        os.fspath(path),
        key,
        base,
        [os.fspath(p) for p in packages],
        os.fspath(loops_from),
        list(accept),
        strict,
        allow_outside,
        compliance,
        mesh,
        assemble,
        visuals,
        hold,
    )


def view(simulation: Simulation, port: int = 0, open: bool = True) -> View:
    """Shows a simulation in the browser; ``View.sync()`` shows its present state.

    The page listens to this machine alone, at ``port`` or any that is free. ``open=False`` opens no browser.
    """
    made = _view(simulation, port)
    if open:
        webbrowser.open(made.url)
    return made
