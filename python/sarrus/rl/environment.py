"""Task and VectorEnv."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sarrus._core import Batch, Model, State
from sarrus._errors import InputError

Floats = NDArray[np.float64]

gymnasium: Any = None
Base: Any = object
try:
    import gymnasium

    Base = gymnasium.vector.VectorEnv
except ImportError:
    pass

AUTORESET = ("next_step", "same_step", "disabled")


class Task:
    """What is learned: functions on arrays whose first dimension is the world.

    A subclass sets ``model``, ``observation_size``, ``action_size`` (actions are in [-1, 1]), ``decimation`` (steps of
    the simulation per action), ``horizon`` (actions per episode) and ``options`` (of the Batch), and has the functions
    below.
    """

    model: Model
    observation_size: int
    action_size: int
    decimation: int = 10
    horizon: int = 200
    options: dict[str, Any]

    def begin(self, world: int, rng: np.random.Generator) -> State:
        """The state in which a world begins an episode, of its own stream of random numbers."""
        raise NotImplementedError

    def targets(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        """Targets of the drives, (worlds, nu), of actions (worlds, action_size), the ``count``-th of their episodes."""
        raise NotImplementedError

    def observe(self, batch: Batch, count: NDArray[np.int64]) -> Floats:
        """What is seen after ``count`` actions, (worlds, observation_size)."""
        raise NotImplementedError

    def reward(self, batch: Batch, action: Floats, count: NDArray[np.int64]) -> Floats:
        """(worlds,) for the last action."""
        raise NotImplementedError

    def terminated(self, batch: Batch) -> NDArray[np.bool_]:
        """(worlds,) whether an episode has ended by itself: fallen, dropped."""
        return np.zeros(batch.worlds, bool)

    def copy(self) -> Task:
        """The task for one more environment: what it keeps of episodes is that environment's."""
        return copy.copy(self)

    def batch(self, worlds: int, threads: int = 0) -> Batch:
        """A Batch for this task."""
        return Batch(self.model, worlds, threads, **self.options)


class VectorEnv(Base):  # type: ignore[misc]
    """Many episodes at once, stepped by all cores; the interface of ``gymnasium.vector.VectorEnv``.

    A world whose step fails (``info["failed"]``) is terminated. ``autoreset``: a world whose episode has ended begins
    again with the next action, which is ignored (``next_step``); at once, the last observation in ``info["final_obs"]``
    (``same_step``); or when ``reset(options={"reset_mask": ...})`` says so (``disabled``).
    """

    def __init__(
        self,
        batch: Batch,
        task: Task,
        decimation: int | None = None,
        autoreset: str = "next_step",
        render_mode: str | None = None,
    ) -> None:
        if autoreset not in AUTORESET:
            raise InputError(f"autoreset: '{autoreset}' is unknown; give one of {', '.join(AUTORESET)}", "autoreset")
        if decimation is not None and decimation < 1:
            raise InputError(f"decimation: is {decimation}; give a number >= 1", "decimation")
        self.batch = batch
        self.task = task.copy()
        self.decimation = task.decimation if decimation is None else decimation
        self.task.decimation = self.decimation
        self.autoreset = autoreset
        self.num_envs = batch.worlds
        self.action_size = task.action_size
        self.observation_size = task.observation_size
        self.render_mode = render_mode
        self.spec = None
        self.closed = False
        self._count: NDArray[np.int64] = np.zeros(self.num_envs, np.int64)
        self._ended = np.zeros(self.num_envs, bool)
        self._ready = False
        self._rng: list[np.random.Generator] = [np.random.default_rng() for _ in range(self.num_envs)]
        self.metadata: dict[str, Any] = {"render_modes": []}
        if gymnasium is not None:
            modes = gymnasium.vector.AutoresetMode
            self.metadata["autoreset_mode"] = {
                "next_step": modes.NEXT_STEP,
                "same_step": modes.SAME_STEP,
                "disabled": modes.DISABLED,
            }[autoreset]
            box = gymnasium.spaces.Box
            self.single_action_space = box(-1.0, 1.0, (self.action_size,), np.float64)
            self.single_observation_space = box(-np.inf, np.inf, (self.observation_size,), np.float64)
            self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
            self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)

    def _begin(self, mask: NDArray[np.bool_]) -> None:
        if not mask.any():
            return
        states = [self.task.begin(i, self._rng[i]) if chosen else None for i, chosen in enumerate(mask)]
        some = next(s for s in states if s is not None)
        self.batch.reset(mask, [some if s is None else s for s in states])
        self._count[mask] = 0
        self._ended[mask] = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Episodes begin, those of ``options["reset_mask"]`` or all. World i has the stream of seed + i."""
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)
            if len(seeds) != self.num_envs:
                raise InputError(f"seed: {len(seeds)} seeds for {self.num_envs} worlds; give one for each", "seed")
            if any(s is not None and s < 0 for s in seeds):
                raise InputError("seed: is negative; give numbers >= 0", "seed")
        mask = np.ones(self.num_envs, bool)
        if options is not None and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"], bool)
            if mask.shape != (self.num_envs,):
                raise InputError(f"reset_mask: has shape {mask.shape}; give ({self.num_envs},)", "reset_mask")
            if not self._ready and not mask.all():
                raise InputError("reset_mask: no episode has begun yet; reset all worlds first", "reset_mask")
        if seed is not None:
            for i, s in enumerate(seeds):
                if s is not None and mask[i]:
                    self._rng[i] = np.random.default_rng(s)
        self._begin(mask)
        self._ready = True
        return self._observe(), {}

    def _observe(self) -> Floats:
        # A copy: tasks may return the arrays of the batch, which follow its steps.
        return np.array(self.task.observe(self.batch, self._count), np.float64)

    def step(self, actions: ArrayLike) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action of every world: observation, reward, terminated, truncated, info."""
        if not self._ready:
            raise InputError("step: the episodes have not begun; call reset() first", "step")
        action = np.asarray(actions, np.float64)
        if action.shape != (self.num_envs, self.action_size):
            raise InputError(
                f"actions: have shape {action.shape}; give ({self.num_envs}, {self.action_size})", "actions"
            )
        if not np.isfinite(action).all():
            raise InputError("actions: some are not finite; give numbers in [-1, 1]", "actions")
        if self.autoreset == "disabled" and self._ended.any():
            world = int(np.flatnonzero(self._ended)[0])
            raise InputError(f"step: the episode of world {world} has ended; reset it by reset_mask", "step")
        action = action.clip(-1, 1)
        again = self._ended.copy()
        self.batch.step(self.task.targets(self.batch, action, self._count), self.decimation)
        self._count += 1
        failed = self.batch.failed.copy()
        terminated = failed | self.task.terminated(self.batch)
        truncated = ~terminated & (self._count >= self.task.horizon)
        reward = np.where(failed, 0.0, self.task.reward(self.batch, action, self._count))
        info: dict[str, Any] = {}
        if again.any():  # of next_step: their action was not one
            self._begin(again)
            reward[again] = 0
            for flags in (failed, terminated, truncated):
                flags[again] = False
        if failed.any():
            info["failed"] = failed
        ended = terminated | truncated
        observation = self._observe()
        if self.autoreset == "same_step" and ended.any():
            final = np.empty(self.num_envs, object)
            for i in np.flatnonzero(ended):
                final[i] = observation[i].copy()
            info["final_obs"], info["_final_obs"] = final, ended
            info["final_info"], info["_final_info"] = {}, ended
            self._begin(ended)
            observation = self._observe()
        else:
            self._ended |= ended
        return observation, reward, terminated, truncated, info

    def close(self, **kwargs: Any) -> None:
        """Nothing is open."""
        self.closed = True
