"""VectorEnv: the interface of Gymnasium, autoreset modes, seeds, and tasks that can be done."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus
import sarrus.rl


@pytest.mark.parametrize("name", sorted(sarrus.rl.TASKS))
def test_tasks_run(name: str) -> None:
    env = sarrus.rl.make(name, 3)
    rng = np.random.default_rng(0)
    observation, info = env.reset(seed=3)
    assert observation.shape == (3, env.observation_size) and info == {}
    for _ in range(5):
        observation, reward, terminated, truncated, info = env.step(rng.uniform(-0.3, 0.3, (3, env.action_size)))
        assert observation.shape == (3, env.observation_size) and np.isfinite(observation).all()
        assert reward.shape == terminated.shape == truncated.shape == (3,) and np.isfinite(reward).all()
        assert not truncated.any() and "failed" not in info
    env.close()
    assert env.closed


def test_spaces() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    env = sarrus.rl.make("stewart_tracking", 2)
    assert isinstance(env, gymnasium.vector.VectorEnv)
    assert env.action_space.shape == (2, 6) and env.single_observation_space.shape == (10,)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP


def test_seeds_are_by_world() -> None:
    env, other = sarrus.rl.make("stewart_tracking", 3), sarrus.rl.make("stewart_tracking", 2)
    first, _ = env.reset(seed=5)
    again, _ = env.reset(seed=5)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(other.reset(seed=6)[0], first[1:])
    np.testing.assert_array_equal(other.reset(seed=[7, 5])[0], first[[2, 0]])
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(env.reset()[0], first)


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_autoreset(mode: str) -> None:
    task = sarrus.rl.StewartTracking()
    task.horizon = 3
    env = sarrus.rl.VectorEnv(task.batch(2), task, decimation=2, autoreset=mode)
    env.reset(seed=0)
    still = np.zeros((2, 6))
    for _ in range(2):
        *_, truncated, _ = env.step(still)
        assert not truncated.any()
    observation, reward, terminated, truncated, info = env.step(still)
    assert truncated.all() and not terminated.any()
    if mode == "same_step":
        assert not env.batch.time.any() and info["_final_obs"].all()
        assert info["final_obs"][0].shape == (10,) and not np.array_equal(info["final_obs"][0], observation[0])
    elif mode == "next_step":
        assert env.batch.time.all() and "final_obs" not in info
        observation, reward, terminated, truncated, info = env.step(still)
        assert not env.batch.time.any() and not reward.any() and not truncated.any()
        *_, truncated, _ = env.step(still)
        assert not truncated.any()
    else:
        with pytest.raises(sarrus.InputError, match="has ended"):
            env.step(still)
        env.reset(options={"reset_mask": np.array([True, True])})
        env.step(still)


def test_failed_worlds_end() -> None:
    task = sarrus.rl.QuadrupedWalk()
    task.options = {"dt": 2e-3, "solver": "pgs-ncp", "parameters": {"max_iterations": 1}, "fallback": "pgs-ccp",
                    "acceptable": 1e-14, "tolerance": 1e-15}  # fmt: skip
    env = sarrus.rl.VectorEnv(task.batch(2), task)
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(np.ones((2, 8)))
    assert terminated.all() and info["failed"].all() and not reward.any()


def test_bad_input() -> None:
    env = sarrus.rl.make("stewart_tracking", 2)
    with pytest.raises(sarrus.InputError, match="reset"):
        env.step(np.zeros((2, 6)))
    env.reset()
    for bad, words in ((np.zeros(6), "shape"), (np.full((2, 6), np.nan), "finite")):
        with pytest.raises(sarrus.InputError, match=words):
            env.step(bad)
    with pytest.raises(sarrus.InputError, match="autoreset"):
        sarrus.rl.make("stewart_tracking", 2, autoreset="never")
    with pytest.raises(sarrus.InputError, match="decimation"):
        sarrus.rl.VectorEnv(env.batch, env.task, decimation=0)
    with pytest.raises(sarrus.InputError, match="unknown"):
        sarrus.rl.make("hopper", 2)
    with pytest.raises(sarrus.InputError, match="seed"):
        env.reset(seed=[1])
    with pytest.raises(sarrus.InputError, match="reset_mask"):
        env.reset(options={"reset_mask": [True]})
    task = sarrus.rl.Task()
    with pytest.raises(NotImplementedError):
        task.begin(0, np.random.default_rng())


def test_the_box_can_be_lifted() -> None:
    """Down, close, up: the gripper holds the box by friction."""
    env = sarrus.rl.make("gripper_lift", 2)
    env.reset(seed=1)
    for k in range(80):
        height = -0.25 if k < 40 else min(0.8, -0.25 + 0.04 * (k - 40))
        closed = -0.3 if k < 15 else 1.0
        env.step(np.tile([height, closed, closed], (2, 1)))
    assert np.all(env.batch.position[:, env.task._box, 2] > 0.06)
