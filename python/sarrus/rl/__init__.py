"""Reinforcement learning: a vector environment with the interface of Gymnasium on a :class:`sarrus.Batch`.

>>> import sarrus.rl
>>> env = sarrus.rl.make("stewart_tracking", 4, threads=1)
>>> observation, info = env.reset(seed=1)
>>> observation.shape, env.action_size
((4, 10), 6)

A :class:`Task` says what is observed, what an action does, what is rewarded and where worlds begin. ``gymnasium`` is
optional: with it a ``VectorEnv`` is one of its class and has its spaces.
"""

from __future__ import annotations

from sarrus.rl.environment import Task, VectorEnv
from sarrus.rl.tasks import TASKS, GripperLift, QuadrupedWalk, StewartTracking, make

__all__ = ["TASKS", "GripperLift", "QuadrupedWalk", "StewartTracking", "Task", "VectorEnv", "make"]
