"""Worlds per second of MuJoCo's own rollout (package `mujoco`), for `sarrus bench batch` (docs/batch.md).

Every world starts at the initial state of the model and gets controls of its own, uniform in [-amplitude, amplitude], held for
`hold` steps. One rollout to warm up, then the timed one. The result is written as JSON.
"""

import argparse
import json
import time

import mujoco
import numpy as np
from mujoco import rollout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--worlds", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--hold", type=int, required=True)
    parser.add_argument("--amplitude", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", required=True)
    a = parser.parse_args()

    model = mujoco.MjModel.from_xml_path(a.model)
    data = [mujoco.MjData(model) for _ in range(a.threads)]
    mujoco.mj_forward(model, data[0])
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data[0], start, full)
    starts = np.tile(start, (a.worlds, 1))
    random = np.random.default_rng(a.seed)
    rows = -(-a.steps // a.hold)
    control = random.uniform(-a.amplitude, a.amplitude, (a.worlds, rows, model.nu))
    control = np.repeat(control, a.hold, axis=1)[:, : a.steps]

    with rollout.Rollout(nthread=a.threads if a.threads > 1 else 0) as roll:
        roll.rollout(model, data, starts, control)
        core_begin = time.process_time()
        begin = time.perf_counter()
        state, _ = roll.rollout(model, data, starts, control)
        seconds = time.perf_counter() - begin
        core_seconds = time.process_time() - core_begin
    result = {
        "seconds": seconds,
        "core_seconds": core_seconds,
        "version": mujoco.__version__,
        "finite": bool(np.isfinite(state).all()),
    }
    with open(a.out, "w", encoding="utf-8") as out:
        json.dump(result, out)


if __name__ == "__main__":
    main()
