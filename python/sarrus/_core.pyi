"""The classes and functions of C++ in sarrus._core, as type checkers see them.

stubtest and python/tests/test_stubs.py hold this file to the module.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sarrus._named import Named, NamedArray

_Floats = NDArray[np.float64]

__version__: str

def _load(
    path: str,
    key: str,
    base: str,
    packages: list[str],
    loops_from: str,
    accept: list[str],
    strict: bool,
    allow_outside: bool,
    compliance: str,
    mesh: str,
    assemble: str,
    visuals: bool,
    hold: bool,
) -> Model: ...
def _view(simulation: Simulation, port: int) -> View: ...
def solvers() -> dict[str, dict[str, float]]:
    """The solvers by name, each with its parameters and their defaults."""

def scenes() -> dict[str, str]:
    """The built-in scenes by name, each with a line that describes it."""

class Body:
    """A body of a model. Its frame has its origin at the centre of mass."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def index(self) -> int:
        """Its row in the arrays by body."""

    @property
    def mass(self) -> float:
        """Mass, kg."""

    @property
    def inertia(self) -> _Floats:
        """(3, 3) inertia about the centre of mass, body axes, kg m^2."""

    @property
    def position(self) -> _Floats:
        """(3,) centre of mass at the reference pose, world, m."""

    @property
    def quaternion_xyzw(self) -> _Floats:
        """(4,) orientation at the reference pose, x y z w."""

    @property
    def linear_damping(self) -> float:
        """N s/m."""

    @property
    def angular_damping(self) -> float:
        """N m s/rad."""

    @property
    def gravity_scale(self) -> float:
        """Share of the model's gravity that acts on it."""

    def __repr__(self) -> str: ...

class Joint:
    """A joint of a model, from a base to a follower."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def index(self) -> int:
        """Its row in the arrays by joint."""

    @property
    def type(self) -> str:
        """'revolute', 'spherical', ... (docs/scene-format.md)."""

    @property
    def base(self) -> str:
        """Name of the base body, or 'world'."""

    @property
    def follower(self) -> str:
        """Name of the follower."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its coordinates, 'joint.coordinate'."""

    @property
    def closes_loop(self) -> bool:
        """Whether it closes a loop of the spanning forest (Model.loops)."""

    @property
    def size(self) -> float:
        """What lengths of the joint are small or large against, m."""

    def __repr__(self) -> str: ...

class Dof:
    """
    A coordinate of a joint, or a combination of coordinates, with its laws. SI units.
    """

    @property
    def name(self) -> str:
        """'joint.coordinate'."""

    @property
    def index(self) -> int:
        """Its row in the arrays by coordinate."""

    @property
    def joint(self) -> str:
        """Name of its joint."""

    @property
    def limit(self) -> tuple[float, float]:
        """(lower, upper), m or rad; infinite where there is none."""

    @property
    def drive(self) -> str:
        """Mode of its drive: 'none', 'force', 'position' or 'velocity'."""

    @property
    def drive_name(self) -> str:
        """Of the actuator; may be empty."""

    @property
    def kp(self) -> float:
        """Of the drive, N/m or N m/rad."""

    @property
    def kd(self) -> float:
        """Of the drive, N s/m or N m s/rad."""

    @property
    def effort_limit(self) -> tuple[float, float]:
        """(least, largest) effort of the drive, N or N m."""

    @property
    def target_limit(self) -> tuple[float, float]:
        """(least, largest) target of the drive."""

    @property
    def armature(self) -> float:
        """kg or kg m^2."""

    @property
    def stiffness(self) -> float:
        """N/m or N m/rad."""

    @property
    def rest(self) -> float:
        """Where its spring rests, m or rad."""

    @property
    def damping(self) -> float:
        """N s/m or N m s/rad."""

    @property
    def dry_friction(self) -> float:
        """N or N m."""

    def __repr__(self) -> str: ...

class Geom:
    """A shape that collides."""

    @property
    def name(self) -> str:
        """Its name; may be empty."""

    @property
    def index(self) -> int:
        """Its number in contacts."""

    @property
    def body(self) -> str:
        """Of which body, or 'world'."""

    @property
    def kind(self) -> str:
        """'box', 'sphere', ..."""

    @property
    def size(self) -> _Floats:
        """(3,) by kind, m: half extents; radius, half length; semi-axes."""

    @property
    def position(self) -> _Floats:
        """(3,) in the body frame, m."""

    @property
    def quaternion_xyzw(self) -> _Floats:
        """(4,) in the body frame, x y z w."""

    @property
    def material(self) -> str:
        """Name of its material."""

    def __repr__(self) -> str: ...

class Material:
    """What surfaces are made of."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def mu(self) -> float:
        """Coefficient of friction."""

    @property
    def restitution(self) -> float:
        """Coefficient of restitution."""

    def __repr__(self) -> str: ...

class Loop:
    """A closed chain of joints and bodies."""

    @property
    def joint(self) -> str:
        """The joint that closes it."""

    @property
    def joints(self) -> tuple[str, ...]:
        """All of its joints, by name."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """Its bodies, by name."""

    def __repr__(self) -> str: ...

class Check:
    """What `sarrus check` tells of a model at its reference pose; print it."""

    def __str__(self) -> str: ...
    @property
    def bodies(self) -> int:
        """Number of bodies."""

    @property
    def joints(self) -> int:
        """Number of joints."""

    @property
    def loops(self) -> int:
        """Joints beyond a spanning forest."""

    @property
    def rows(self) -> int:
        """Rigid bilateral constraint rows."""

    @property
    def rank(self) -> int:
        """Their rank; -1: not computed."""

    @property
    def redundant_rows(self) -> int:
        """rows - rank; -1: not computed."""

    @property
    def mobility(self) -> int:
        """6 bodies - rank; -1: not computed."""

    @property
    def mass_ratio(self) -> float:
        """Largest over smallest mass."""

    @property
    def condition(self) -> float:
        """Of J M^-1 J' without its null space."""

    @property
    def joint_gap(self) -> float:
        """At the reference pose, m."""

    @property
    def joint_angle(self) -> float:
        """At the reference pose, rad."""

    @property
    def contacts(self) -> int:
        """At the reference pose."""

    @property
    def penetration(self) -> float:
        """The deepest of them, m."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks wrong."""

class Model:
    """
    The immutable description of a mechanism: bodies, joints, drives, shapes.
    """

    @staticmethod
    def builtin(name: str) -> Model:
        """A built-in scene by name; sarrus.scenes() lists them."""

    @staticmethod
    def from_json(text: str, folder: str | os.PathLike[str] = "") -> Model:
        """
        The model of a scene in JSON (docs/scene-format.md); relative mesh files start in `folder`.
        """

    def to_json(self) -> str:
        """The scene as JSON, lossless."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scene as JSON: the file is complete or as it was."""

    def check(self) -> Check:
        """
        What `sarrus check` tells: loops, rank, mobility, and what looks wrong. Print it.
        """

    def held(self) -> Model:
        """
        The model with drives that keep the pose in which it begins, as `--hold` of the command.
        """

    def initial_state(self) -> State:
        """The State in which it begins."""

    def pose(self, coordinates: Mapping[str, float], start: State | None = None) -> State:
        """
        The State in which coordinates (m, rad, by name) have these values, all others following so that loops stay
        closed; continued from `start`, or from the initial state. Raises InputError where it cannot be reached.
        """

    def changed(self, values: Mapping[str, float] = {}, *, factors: Mapping[str, float] = {}) -> Model:
        """
        The model with other numbers: {'body.crank.mass': 2.0, 'material.*.friction': 0.4}; factors multiply its own.
        """

    def parameter(self, name: str) -> float:
        """The value of a parameter, 'body.crank.mass'."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters that changed() takes."""

    @property
    def name(self) -> str:
        """Name of the scene."""

    @property
    def description(self) -> str:
        """Its description."""

    @property
    def source(self) -> str:
        """The file it was read from; may be empty."""

    @property
    def import_report(self) -> str:
        """
        What the reader of a robot's file kept, approximated and dropped; empty for scenes.
        """

    @property
    def import_report_json(self) -> str:
        """The same as JSON."""

    @property
    def dt(self) -> float:
        """The step it recommends, s."""

    @property
    def duration(self) -> float:
        """Recommended, s."""

    @property
    def integrator(self) -> str:
        """Recommended."""

    @property
    def gravity(self) -> _Floats:
        """(3,) m/s^2."""

    @property
    def nbody(self) -> int:
        """Number of bodies."""

    @property
    def njoint(self) -> int:
        """Number of joints."""

    @property
    def nq(self) -> int:
        """Number of joint coordinates."""

    @property
    def nu(self) -> int:
        """Number of drives."""

    @property
    def mass(self) -> float:
        """Of all bodies, kg."""

    @property
    def body(self) -> Named[Body]:
        """The bodies, by name or index."""

    @property
    def joint(self) -> Named[Joint]:
        """The joints, by name or index."""

    @property
    def dof(self) -> Named[Dof]:
        """
        The joint coordinates and, after them, combinations of them, by name or index. 'joint' is enough for
        joints with one coordinate, else 'joint.coordinate'.
        """

    @property
    def geom(self) -> Named[Geom]:
        """The shapes that collide, by name or index."""

    @property
    def material(self) -> Named[Material]:
        """The materials, by name or index."""

    @property
    def drives(self) -> tuple[str, ...]:
        """
        Names of the drives, in the order of Simulation.target: the actuator's, or its coordinate's.
        """

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The closed loops, one by joint that closes one."""

    def __reduce__(self) -> tuple[Any, ...]: ...
    def __repr__(self) -> str: ...

class Answer:
    """What a solver made of a problem."""

    @property
    def impulses(self) -> _Floats:
        """(rows,) N s or N m s."""

    @property
    def solver(self) -> str:
        """Its name."""

    @property
    def status(self) -> str:
        """
        'converged', 'max_iterations', 'stalled', 'infeasible' or 'non_finite'.
        """

    @property
    def converged(self) -> bool:
        """
        Whether the judge's error, by the solver's law, is within the tolerance.
        """

    @property
    def error(self) -> float:
        """That error; no unit."""

    @property
    def residuals(self) -> Residuals:
        """Of the judge."""

    @property
    def iterations(self) -> int:
        """Of the solver."""

    @property
    def factorisations(self) -> int:
        """Of the solver."""

    @property
    def seconds(self) -> float:
        """Wall time, s."""

    def __repr__(self) -> str: ...

class Problem:
    """
    The constraint problem of a step: M (u - u_free) = J' l,  sigma = J u + bias + R l, with l in its set.
    Rows in the order joint, soft, limit, contact; of a contact two tangents and the normal.
    """

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def size(self) -> int:
        """Number of velocities."""

    @property
    def dt(self) -> float:
        """The step, s."""

    @property
    def kind(self) -> str:
        """'sarrus problem', 'FCLIB local' or 'FCLIB global'."""

    @property
    def rows_by_kind(self) -> dict[str, int]:
        """Rows of joints, soft rows, limits and contacts."""

    @property
    def J(self) -> _Floats:
        """(rows, size) Jacobian, dense."""

    @property
    def M(self) -> _Floats:
        """(size, size) mass matrix, dense; kg, kg m^2."""

    def _triplets(self, jacobian: bool) -> tuple[_Floats, _Floats, _Floats]: ...
    def sparse(self, name: str) -> Any:
        """'J' or 'M' as scipy.sparse matrix; needs scipy."""

    @property
    def delassus(self) -> _Floats:
        """(rows, rows) J M^-1 J' + R, dense."""

    @property
    def u_free(self) -> _Floats:
        """(size,) velocities without impulses, m/s and rad/s."""

    @property
    def bias(self) -> _Floats:
        """(rows,) v*, m/s or rad/s."""

    @property
    def R(self) -> _Floats:
        """(rows,) compliance, 1/kg or 1/(kg m^2)."""

    @property
    def lower(self) -> _Floats:
        """(rows,) bounds of soft rows, N s."""

    @property
    def upper(self) -> _Floats:
        """(rows,) bounds of soft rows, N s."""

    @property
    def mu(self) -> _Floats:
        """(contacts,) coefficients of friction."""

    @property
    def contact_rows(self) -> NDArray[np.int64]:
        """(contacts,) first row of each contact."""

    @property
    def warm(self) -> _Floats | None:
        """(rows,) warm start, N s, or None."""

    @property
    def solution(self) -> _Floats | None:
        """(rows,) stored impulses, N s, or None."""

    def solve(
        self,
        solver: str = "cascade",
        tolerance: float = 1e-09,
        *,
        criterion: str = "energy",
        budget: int = 5000,
        warm: ArrayLike | None = None,
        parameters: Mapping[str, float] = {},
    ) -> Answer:
        """
        Solves it by any solver of sarrus.solvers(), from zero or from `warm` (rows,), N s.
        """

    def judge(self, impulses: ArrayLike) -> Residuals:
        """Residuals of impulses (rows,), N s, of whomever."""

    def save(self, path: str | os.PathLike[str], impulses: ArrayLike | None = None) -> None:
        """
        Writes it as HDF5, with its warm start and these impulses or its solution; an FCLIB file as a copy with them.
        """

    def __repr__(self) -> str: ...

def load_problem(path: str | os.PathLike[str]) -> Problem:
    """
    A stored problem: HDF5 of `sarrus run --dump-problems` or Problem.save(), or an FCLIB file.
    """

class State:
    """
    What changes with time, a copy: its arrays may be written. Assign it to Simulation.state.
    """

    @property
    def time(self) -> float:
        """Time, s."""

    @time.setter
    def time(self, arg: float, /) -> None: ...
    @property
    def position(self) -> _Floats:
        """(nbody, 3) centres of mass, world, m."""

    @property
    def quaternion_xyzw(self) -> _Floats:
        """(nbody, 4) orientations, x y z w."""

    @property
    def twist(self) -> _Floats:
        """
        (nbody, 6) velocity of the centre of mass, m/s, and angular velocity, rad/s, world axes.
        """

    @property
    def q(self) -> _Floats:
        """(nq,) joint coordinates, m or rad, turns counted."""

    @property
    def hash(self) -> int:
        """Over every bit of the state."""

    def copy(self) -> State:
        """A state of its own."""

    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any) -> State: ...
    def __repr__(self) -> str: ...

class Energy:
    """Energies, J."""

    @property
    def kinetic(self) -> float:
        """Of bodies and armatures, J."""

    @property
    def potential(self) -> float:
        """Of gravity (0 at z = 0) and joint springs, J."""

    @property
    def total(self) -> float:
        """Their sum, J."""

    def __repr__(self) -> str: ...

class EnergyFlow:
    """Energy that entered the system by cause, J; losses are negative."""

    @property
    def change(self) -> float:
        """Of kinetic and potential energy."""

    @property
    def drives(self) -> float:
        """By drives and joint forces."""

    @property
    def external(self) -> float:
        """By wrenches and drags."""

    @property
    def friction(self) -> float:
        """By friction of contacts and joints."""

    @property
    def impacts(self) -> float:
        """By normal impulses of contacts and limits."""

    @property
    def damping(self) -> float:
        """By dampers and compliant rows."""

    @property
    def unaccounted(self) -> float:
        """What is left: the error of the scheme."""

    @property
    def work_in(self) -> float:
        """drives + external."""

    @property
    def dissipated(self) -> float:
        """-(friction + impacts + damping)."""

    def __repr__(self) -> str: ...

class Residuals:
    """What the judge says of an answer (docs/theory/judge.md)."""

    @property
    def error(self) -> float:
        """What tolerances are compared with; no unit."""

    def error_of(self, law: str = "ncp", criterion: str = "energy") -> float:
        """
        The error by a law (ncp, ccp, box) and criterion (energy, absolute, papers).
        """

    @property
    def primal(self) -> float:
        """|lambda - P_K(lambda)|, N s."""

    @property
    def dual(self) -> float:
        """|v - P_K*(v)|, m/s."""

    @property
    def complementarity(self) -> float:
        """J."""

    @property
    def natural_map(self) -> float:
        """NCP, raw SI units."""

    @property
    def natural_map_ccp(self) -> float:
        """CCP, raw SI units."""

    @property
    def natural_map_box(self) -> float:
        """Box friction, raw SI units."""

    @property
    def equations(self) -> float:
        """Of motion, N s."""

    @property
    def joint_velocity(self) -> float:
        """Of bilateral rows, m/s or rad/s."""

    @property
    def finite(self) -> bool:
        """False: some number was not; the rest is meaningless."""

    def __repr__(self) -> str: ...

class StepReport:
    """
    What happened in a step, judged by code that is not the solver. Of several steps: the worst
    residuals, gaps and status, sums of iterations and times, contacts and rows of the last one.
    """

    @property
    def status(self) -> str:
        """'converged', 'accepted', 'fallback', 'substepped' or 'failed'."""

    @property
    def ok(self) -> bool:
        """Whether no step failed."""

    @property
    def steps(self) -> int:
        """Steps it stands for, a failed one included."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of steps by status."""

    @property
    def solve_status(self) -> str:
        """Of the solver in the step with the largest error."""

    @property
    def residuals(self) -> Residuals:
        """Of the step with the largest error."""

    @property
    def stage(self) -> str:
        """
        Last stage of the solver that was needed; empty: the warm start was good.
        """

    @property
    def message(self) -> str:
        """Of a failed step: what was worst."""

    @property
    def locked_joint(self) -> str:
        """Gimbal or serial joint next to its lock, if something acts there."""

    @property
    def energy(self) -> EnergyFlow:
        """EnergyFlow of these steps, J."""

    def __repr__(self) -> str: ...
    @property
    def error(self) -> float:
        """What is compared with the tolerance; no unit."""

    @property
    def met_tolerance(self) -> bool:
        """Whether it is within the tolerance."""

    @property
    def iterations(self) -> int:
        """Of the solver."""

    @property
    def factorisations(self) -> int:
        """Of the solver."""

    @property
    def contacts(self) -> int:
        """Number of contacts."""

    @property
    def contacts_matched(self) -> int:
        """Contacts that found their impulse of the last step."""

    @property
    def limits(self) -> int:
        """Rows of limits."""

    @property
    def rows(self) -> int:
        """Constraint rows."""

    @property
    def substeps(self) -> int:
        """Parts that were integrated."""

    @property
    def rejected(self) -> int:
        """Attempts that were not."""

    @property
    def joint_gap(self) -> float:
        """Largest translational residual of rigid joints, m."""

    @property
    def joint_angle(self) -> float:
        """Largest rotational residual of rigid joints, rad."""

    @property
    def compliant_gap(self) -> float:
        """Largest deformation of compliant joints, m."""

    @property
    def compliant_angle(self) -> float:
        """Likewise, rad."""

    @property
    def limit_violation(self) -> float:
        """m or rad."""

    @property
    def penetration(self) -> float:
        """Deepest contact, m."""

    @property
    def restitution_scale(self) -> float:
        """< 1: restitution was reduced to create no energy."""

    @property
    def creates_energy(self) -> bool:
        """Whether more energy than the scheme's bound was created."""

    @property
    def seconds_collision(self) -> float:
        """Wall time, s."""

    @property
    def seconds_assembly(self) -> float:
        """Wall time, s."""

    @property
    def seconds_solve(self) -> float:
        """Wall time, s."""

    @property
    def seconds_projection(self) -> float:
        """Wall time, s."""

    @property
    def seconds_total(self) -> float:
        """Wall time, s."""

class Snapshot:
    """All that a simulation is at a moment, warm start included. A value."""

    def __bytes__(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Snapshot:
        """The snapshot of these bytes; they are checked when it is restored."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, which `sarrus run --resume` takes, too."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Snapshot:
        """Reads a checkpoint."""

    def __eq__(self, other: Any) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __repr__(self) -> str: ...

class Inputs:
    """
    Inputs of a simulation by name, index or slice. They stay until they are changed.
    """

    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: ArrayLike) -> None: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> _Floats: ...
    @property
    def names(self) -> tuple[str, ...]:
        """Names, in order."""

    def __repr__(self) -> str: ...

class Simulation:
    """
    Advances a model step by step, every solve judged.

    Arrays are SI units, world axes. position, quaternion_xyzw, twist and q are read-only views of the
    state: they follow every step and keep the simulation alive.
    """

    def __init__(
        self,
        model: Model,
        dt: float = 0.0,
        solver: str = "cascade",
        parameters: Mapping[str, float] = {},
        tolerance: float = 1e-09,
        integrator: str | None = None,
        *,
        fallback: str = "admm-ncp-sa",
        criterion: str = "energy",
        acceptable: float = 0.001,
        budget: int = 1000,
        max_step_time: float = 0.0,
        warm_start: bool = True,
        projection: bool = True,
        contact_compliance: float = 0.0,
        margin: float = 0.01,
        threads: int = 1,
    ) -> None:
        """
        dt: s, 0: the model's. solver, parameters: sarrus.solvers(). tolerance: of the judged error. budget:
        factorisations per island and step. max_step_time: wall time of a step's solves, s; 0: no bound. threads:
        that share a step; the same bits for any number.
        """

    def step(self, n: int = 1, check: bool = True) -> StepReport:
        """
        Takes n steps without the lock of the interpreter, and returns their StepReport. A step that fails ends it with
        StepFailed, or, without check, with the report; the state is then the one before that step.
        """

    @property
    def model(self) -> Model:
        """The Model."""

    @property
    def options(self) -> dict[str, Any]:
        """All options, as a dict."""

    @property
    def dt(self) -> float:
        """The step, s."""

    @property
    def time(self) -> float:
        """Time, s."""

    @property
    def position(self) -> _Floats:
        """(nbody, 3) centres of mass, world, m. Read-only view."""

    @property
    def quaternion_xyzw(self) -> _Floats:
        """(nbody, 4) orientations, x y z w. Read-only view."""

    @property
    def twist(self) -> _Floats:
        """
        (nbody, 6) velocity of the centre of mass, m/s, and angular velocity, rad/s, world axes. Read-only view.
        """

    @property
    def q(self) -> _Floats:
        """(nq,) joint coordinates, m or rad, turns counted. Read-only view."""

    @property
    def qd(self) -> _Floats:
        """(nq,) rates of the joint coordinates, m/s or rad/s. A copy."""

    @property
    def quaternion_wxyz(self) -> _Floats:
        """(nbody, 4) orientations, w x y z. A copy."""

    @property
    def rotation(self) -> _Floats:
        """(nbody, 3, 3) rotations from body to world. A copy."""

    @property
    def target(self) -> Inputs:
        """
        (nu,) targets of the drives, by name or index; m or rad, m/s or rad/s, N or N m by the drive's mode.
        NaN: the scene's own signal.
        """

    @target.setter
    def target(self, arg: ArrayLike, /) -> None: ...
    @property
    def force(self) -> Inputs:
        """
        (nq,) forces on coordinates besides their drives, by name or index, N or N m.
        """

    @force.setter
    def force(self, arg: ArrayLike, /) -> None: ...
    @property
    def wrench(self) -> Inputs:
        """
        (nbody, 6) force, N, and torque, N m, on bodies at the centre of mass, world axes, by name or index.
        """

    @wrench.setter
    def wrench(self, arg: ArrayLike, /) -> None: ...
    def set_target(self, name: str, target: float, rate: float = 0.0) -> None:
        """The target of a drive and its rate, per s: a position drive that follows a motion wants both."""

    def drag(self, body: str, target: ArrayLike, point: ArrayLike | None = None) -> None:
        """
        Pulls a point of a body (3,), body frame, m, to a target (3,), world, m, like a hand on a spring, until drop().
        """

    def drop(self) -> None:
        """Ends drag()."""

    @property
    def report(self) -> StepReport:
        """StepReport of the last step."""

    @property
    def contacts(self) -> NDArray[np.void]:
        """
        Contacts of the last step, a structured array: point (m, on A), normal (from A to B), force (N, on B), gap (m),
        mu, mode (ContactMode), body_a, body_b (-1: world), geom_a, geom_b. A copy.
        """

    @property
    def energy(self) -> Energy:
        """Energy now, J."""

    @property
    def energy_flow(self) -> EnergyFlow:
        """
        EnergyFlow since the construction or the last assignment of a state, J.
        """

    @property
    def energy_bound(self) -> float:
        """What energy_flow.unaccounted may amount to, J."""

    @property
    def momentum(self) -> tuple[_Floats, _Floats]:
        """((3,) kg m/s, (3,) kg m^2/s about the world's origin)."""

    @property
    def joint_gap(self) -> NamedArray:
        """(njoint,) how far joints are open, m, by name or index. A copy."""

    @property
    def joint_angle(self) -> NamedArray:
        """(njoint,) likewise, rad. A copy."""

    @property
    def reaction(self) -> NamedArray:
        """
        (njoint, 6) mean force, N, and torque, N m, over the last step of joints on their followers, world axes, at the
        follower's anchor, by name or index. A copy.
        """

    @property
    def effort(self) -> NamedArray:
        """
        (nq,) efforts of the drives in the last step, N or N m, by name or index of coordinates. A copy.
        """

    def save(self) -> Snapshot:
        """A Snapshot: state, warm start, inputs, time."""

    def restore(self, snapshot: Snapshot) -> None:
        """
        Goes back to a snapshot of the same model and options; what follows has the same bits.
        """

    @property
    def state(self) -> State:
        """
        The State, a copy; assigning one drops the warm start and the sums of energy.
        """

    @state.setter
    def state(self, arg: State, /) -> None: ...
    def reset(self) -> None:
        """The initial state, all inputs as in the scene."""

    @property
    def hash(self) -> int:
        """Over every bit of the state."""

    def problem(self) -> Problem:
        """
        The Problem of the step that would be taken now, neither solved nor taken.
        """

    def last_problem(self) -> Problem:
        """The Problem of the last step with its warm start and impulses."""

    def record(self, path: str | os.PathLike[str], every: int = 1) -> Recorder:
        """
        A context manager that writes a file of the steps within it; its ending tells the kind: .h5 (recording), .html
        (page), .csv (row per step), .json (summary), .svg (drawing). every: steps per sample of a recording.
        """

    @property
    def overlaps(self) -> tuple[tuple[int, int, float], ...]:
        """
        Shapes that overlapped at the start: (geom_a, geom_b, depth in m), worst first.
        """

    def __repr__(self) -> str: ...

class Recorder:
    """Writes a file of the steps that are taken within its `with` block."""

    def __enter__(self) -> Recorder: ...
    def __exit__(self, type: Any, value: Any, traceback: Any) -> bool: ...

class Recording:
    """
    A motion in a file (HDF5, docs/recording-format.md). Shows itself in notebooks.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None: ...
    @property
    def path(self) -> str:
        """The file."""

    def to_html(self, path: str | os.PathLike[str], fps: float = 0.0, compare: str | os.PathLike[str] = "") -> None:
        """
        Writes one page that any browser opens. fps: frames per second, 0: as many as fit. compare: a second recording.
        """

    def html(self, fps: float = 0.0) -> str:
        """The page as text."""

    def motion(self, model: Model) -> dict[str, _Floats]:
        """
        time (T,) s, position (T, nbody, 3) m, quaternion_xyzw (T, nbody, 4), twist (T, nbody, 6), q (T, nq), as a dict.
        """

    def state(self, model: Model, index: int) -> State:
        """The State of a sample; negative: from the end."""

    def __repr__(self) -> str: ...

class View:
    """A page in the browser that shows a simulation as the program steps it."""

    @property
    def url(self) -> str:
        """Its address; who has it can look."""

    @property
    def pages(self) -> int:
        """How many pages are open."""

    def sync(self) -> None:
        """Shows the present state."""

    def close(self) -> None:
        """Ends the view."""

    def __enter__(self) -> View: ...
    def __exit__(self, type: Any, value: Any, traceback: Any) -> bool: ...
    def __repr__(self) -> str: ...

class InverseResult:
    """Efforts and impulses that make the next step reach given velocities."""

    @property
    def status(self) -> str:
        """'realised', 'underactuated', 'infeasible' or 'not_converged'."""

    @property
    def effort(self) -> NamedArray:
        """
        (nq,) efforts of the actuated coordinates, N or N m, by name or index; 0 elsewhere.
        """

    @property
    def impulses(self) -> _Floats:
        """(rows,) of the problem, N s."""

    @property
    def unrealised(self) -> float:
        """Largest component of the force that no actuator gives, N or N m."""

    @property
    def largest_force(self) -> float:
        """What it is compared with, N or N m."""

    @property
    def contact_residual(self) -> float:
        """Natural map, worst."""

    @property
    def contacts(self) -> int:
        """Number of contacts."""

    @property
    def infeasible_rows(self) -> int:
        """Contacts and limits without an answer."""

    @property
    def message(self) -> str:
        """Of what went wrong, the first one, by name."""

    def __repr__(self) -> str: ...

class InverseDynamics:
    """
    Impulses and drive efforts that make the next step reach given velocities.
    """

    def __init__(
        self,
        model: Model,
        dt: float = 0.0,
        *,
        integrator: str | None = None,
        law: str = "ncp",
        method: str = "proximal",
        minimum_torque: bool = True,
        all_actuated: bool = False,
        rho: float = 1e-08,
        tolerance: float = 1e-06,
        velocity_tolerance: float = 1e-07,
    ) -> None:
        """
        dt: s, 0: the model's. all_actuated: every coordinate counts as driven. Others: docs/inverse.md.
        """

    def solve(self, state: State, u_ref: ArrayLike) -> InverseResult:
        """
        From a State to twists u_ref (nbody, 6) after the step: velocity of the centre of mass, m/s, and angular
        velocity, rad/s, world axes.
        """

class Batch:
    """
    Many worlds of one mechanism, stepped by all cores; each with the bits of a simulation of its own.

    Arrays are read-only views with the world as first dimension; they are up to date after every call and stay
    where they are. A world whose step fails is frozen and flagged until it gets another state.
    """

    def __init__(
        self,
        model: Model | Sequence[Model],
        worlds: int | None = None,
        threads: int = 0,
        *,
        dt: float = 0.0,
        solver: str = "cascade",
        parameters: Mapping[str, float] = {},
        tolerance: float = 1e-09,
        integrator: str | None = None,
        fallback: str = "admm-ncp-sa",
        criterion: str = "energy",
        acceptable: float = 0.001,
        budget: int = 1000,
        warm_start: bool = True,
        margin: float = 0.01,
    ) -> None:
        """
        model: one for all worlds, or a list with one for each, of equal structure (Model.changed). threads: 0: as many
        as the machine has. Others: as of Simulation.
        """

    def step(self, target: ArrayLike | None = None, n: int = 1) -> None:
        """
        n steps of each running world, without the lock of the interpreter. target: (worlds, nu) or (nu,), kept from
        here on; NaN: the drive's own signal.
        """

    def rollout(
        self,
        target: ArrayLike | None = None,
        steps: int | None = None,
        hold: int = 1,
        every: int = 1,
        keep: Sequence[str] = ["position", "quaternion_xyzw", "q"],
    ) -> dict[str, _Floats]:
        """
        Steps with targets known before, (worlds, T, nu) or (T, nu) for all, each row held for `hold` steps. Returns a
        dict with time (worlds, frames), s, and what `keep` names, a frame after every `every` steps: position (worlds,
        frames, nbody, 3), quaternion_xyzw, twist, q, qd, contact_force (N, by body), energy (kinetic, potential, J).
        """

    def reset(self, mask: ArrayLike | None = None, states: State | Sequence[State] | None = None) -> None:
        """
        Worlds begin again, at the initial state or at a State, one for all or one by world. mask: booleans by world, or
        indices; None: all.
        """

    def set_force(self, force: ArrayLike) -> None:
        """
        (worlds, nq) forces on coordinates besides their drives, N or N m; kept.
        """

    def set_wrench(self, wrench: ArrayLike) -> None:
        """
        (worlds, nbody, 6) force, N, and torque, N m, on bodies, world axes, at the centre of mass; kept.
        """

    def set_model(self, world: int, model: Model) -> None:
        """
        Another model of equal structure for one world, from its initial state on.
        """

    def model_of(self, world: int) -> Model:
        """The model of one world, with its numbers."""

    def state(self, world: int) -> State:
        """The State of one world, a copy."""

    def save(self, world: int) -> Snapshot:
        """
        A Snapshot of one world; a Simulation of its model and options takes it, too.
        """

    def restore(self, world: int, snapshot: Snapshot) -> None:
        """One world goes back to a snapshot."""

    def simulation(self, world: int) -> Simulation:
        """A Simulation that goes on from where one world is, in the same bits."""

    def message(self, world: int) -> str:
        """Why a world is frozen; empty: it is not."""

    @property
    def model(self) -> Model:
        """The model, of world 0 if they differ."""

    @property
    def worlds(self) -> int:
        """Number of worlds."""

    @property
    def threads(self) -> int:
        """Threads that share them."""

    @property
    def dt(self) -> float:
        """The step, s."""

    @property
    def nu(self) -> int:
        """Number of drives."""

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of the drives, in the order of targets."""

    @property
    def time(self) -> _Floats:
        """(worlds,) s."""

    @property
    def position(self) -> _Floats:
        """(worlds, nbody, 3) centres of mass, world, m."""

    @property
    def quaternion_xyzw(self) -> _Floats:
        """(worlds, nbody, 4) orientations, x y z w."""

    @property
    def twist(self) -> _Floats:
        """(worlds, nbody, 6) m/s and rad/s, world axes."""

    @property
    def q(self) -> _Floats:
        """(worlds, nq) joint coordinates, m or rad."""

    @property
    def qd(self) -> _Floats:
        """(worlds, nq) their rates."""

    @property
    def contact_force(self) -> _Floats:
        """
        (worlds, nbody, 3) sum of the contact forces on a body, mean over the last step, N.
        """

    @property
    def energy(self) -> _Floats:
        """(worlds, 2) kinetic and potential, J."""

    @property
    def effort(self) -> _Floats:
        """(worlds, nu) efforts of the drives in the last step, N or N m."""

    @property
    def failed(self) -> NDArray[np.bool_]:
        """(worlds,) whether a world is frozen."""

    @property
    def reports(self) -> NDArray[np.void]:
        """
        (worlds,) of the last call, an array of REPORT: status, worst, steps, accepted, fallback, substepped,
        iterations, error, joint_gap (m), penetration (m), creates_energy, seconds.
        """

    @property
    def bytes_per_world(self) -> float:
        """Memory that a world holds besides what threads and the model have."""

    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
