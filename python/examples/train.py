"""Learns a task of sarrus.rl by CMA-ES (package `cma`): a linear policy, one world for each candidate.

    python python/examples/train.py                              # stewart_tracking, 0.9 of the most that there is
    python python/examples/train.py --curve curve.svg --save policy.npy

Ends with exit code 0 when the mean policy of the search, on episodes it has not seen, has the wanted reward, else 1.
"""

from __future__ import annotations

import argparse
import time

import cma
import numpy as np

import sarrus.rl


def episodes(env: sarrus.rl.VectorEnv, policies: np.ndarray, seeds: list[int]) -> np.ndarray:
    """The reward of an episode of each world with its policy, (worlds,)."""
    weights = policies.reshape(env.num_envs, env.action_size, env.observation_size)
    observation, _ = env.reset(seed=seeds)
    total = np.zeros(env.num_envs)
    alive = np.ones(env.num_envs, bool)
    for _ in range(env.task.horizon):
        action = np.tanh(np.einsum("wao,wo->wa", weights, observation))
        observation, reward, terminated, truncated, _ = env.step(action)
        total += np.where(alive, reward, 0)
        alive &= ~(terminated | truncated)
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="stewart_tracking", choices=sorted(sarrus.rl.TASKS))
    parser.add_argument("--worlds", type=int, default=24, help="candidates of a generation")
    parser.add_argument("--generations", type=int, default=150)
    parser.add_argument("--reward", type=float, default=0.9, help="of an action, where the search may end")
    parser.add_argument("--sigma", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--curve", help="picture of the rewards, .svg or .png")
    parser.add_argument("--save", help="the policy, .npy (actions x observations)")
    a = parser.parse_args()

    env = sarrus.rl.make(a.task, a.worlds, a.threads)
    size = env.action_size * env.observation_size
    search = cma.CMAEvolutionStrategy(
        np.zeros(size), a.sigma, {"popsize": a.worlds, "seed": a.seed, "verbose": -9, "CMA_diagonal": True}
    )
    curve = []
    begin = time.perf_counter()
    for generation in range(a.generations):
        candidates = np.array(search.ask())
        # The same episodes for all candidates, others in every generation.
        rewards = episodes(env, candidates, [1000 + generation] * a.worlds)
        search.tell(list(candidates), list(-rewards))
        unseen = episodes(env, np.tile(search.mean, (a.worlds, 1)), [10**6 + i for i in range(a.worlds)])
        curve.append((time.perf_counter() - begin, rewards.mean(), unseen.mean()))
        mean = unseen.mean() / env.task.horizon
        print(f"generation {generation:3d}  {curve[-1][0]:6.1f} s  reward of an action {mean:.3f}", flush=True)
        if mean >= a.reward:
            break
    if a.save:
        np.save(a.save, search.mean.reshape(env.action_size, env.observation_size))
    if a.curve:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        data = np.array(curve)
        figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
        axes.plot(data[:, 0], data[:, 1] / env.task.horizon, label="candidates, mean")
        axes.plot(data[:, 0], data[:, 2] / env.task.horizon, label="mean policy, episodes it has not seen")
        axes.axhline(a.reward, color="grey", linewidth=0.8)
        axes.set(xlabel="wall time [s]", ylabel="reward of an action", title=a.task)
        axes.legend()
        figure.savefig(a.curve)
    return 0 if mean >= a.reward else 1


if __name__ == "__main__":
    raise SystemExit(main())
