#!/usr/bin/env python3
"""Accuracy per time of the integrators: the table of docs/measured.md from which the default was chosen.

    python3 scripts/integrator_table.py build/release/apps/sarrus [SCENE ...]

Every scene is run with both integrators at its own step and at half of it, in turn, and compared at the end with
moreau at a sixteenth of the step: by its joint coordinates if it has any, else by its kinetic and potential energy
relative to the largest of both. `gain` is how much longer semi-implicit Euler would take for the error of moreau, if
its error fell in proportion to the step, as it does at first order; below 1 semi-implicit Euler is the better choice.
"""

import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# Scene, step (s) and duration (s): short of where chaos takes over.
SCENES = {
    "fourbar_swing": (1e-3, 2.0),
    "double_pendulum": (1e-3, 1.0),
    "stewart_platform": (1e-3, 1.0),
    "quadruped": (1e-3, 0.5),
    "jansen_walker": (1e-3, 0.5),
    "delta_robot": (1e-3, 0.5),
    "stack15": (1e-3, 0.5),
    "clutter40": (1e-3, 0.2),
    "coin": (1e-3, 0.5),
}



def cross(a: list[float], b: list[float]) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def coin() -> dict[str, Any]:
    """A coin that rolls round in a circle, leaning by 20 degrees, without sliding."""
    radius, half, lean = 0.05, 0.002, math.radians(20)
    axis = [0.0, -math.cos(lean), math.sin(lean)]
    down = [0.0, -math.sin(lean), -math.cos(lean)]
    arm = [radius * d - half * a for d, a in zip(down, axis, strict=True)]  # from the centre to the floor
    spin = [12 * a for a in axis]
    spin[2] += 3
    return {
        "format": "sarrus-scene",
        "version": 1,
        "angle_unit": "rad",
        "name": "coin",
        "bodies": [
            {
                "name": "coin",
                "mass": 0.1,
                "pose": {"p": [0, 0, -arm[2]], "z_axis": axis},
                "velocity": [-x for x in cross(spin, arm)],
                "angular_velocity": spin,
                "shapes": [{"type": "cylinder", "radius": radius, "half_length": half}],
            }
        ],
        "world_shapes": [{"type": "plane"}],
    }


def run(command: str, scene: str, integrator: str, dt: float, duration: float, folder: Path) -> tuple[float, list[float]]:
    """Microseconds per step, and the numbers to compare at the end."""
    table, summary = folder / "run.csv", folder / "run.json"
    subprocess.run(
        [command, "run", scene, "--quiet", "--integrator", integrator, "--dt", repr(dt), "--duration", repr(duration)]
        + ["--csv", str(table), "--json", str(summary)],
        check=True,
    )
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    last = rows[-1]
    joints = [k for k in last if k + ".rate" in last]
    if joints:
        values = [float(last[k]) for k in joints]
    else:
        largest = max(abs(float(r[k])) for r in rows for k in ("kinetic", "potential"))
        values = [float(last[k]) / largest for k in ("kinetic", "potential")]
    return json.loads(summary.read_text())["us_per_step"]["median"], values


def distance(a: list[float], b: list[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("scenes", nargs="*", default=[])
    arguments = parser.parse_args()
    unknown = [s for s in arguments.scenes if s not in SCENES]
    if unknown:
        parser.error(f"no settings for {', '.join(unknown)}; known: {', '.join(SCENES)}")
    print("| scene | step, ms | semi-implicit: error | µs/step | moreau: error | µs/step | cost | gain |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        coin_file = folder / "coin.json"
        coin_file.write_text(json.dumps(coin()))
        for scene in arguments.scenes or SCENES:
            dt, duration = SCENES[scene]
            source = str(coin_file) if scene == "coin" else scene
            _, reference = run(arguments.command, source, "moreau", dt / 16, duration, folder)
            for step in (dt, dt / 2):
                times: dict[str, list[float]] = {"semi-implicit": [], "moreau": []}
                error: dict[str, float] = {}
                for _ in range(3):
                    for integrator, us in times.items():
                        median, values = run(arguments.command, source, integrator, step, duration, folder)
                        us.append(median)
                        error[integrator] = distance(values, reference)
                a, b = (min(times[i]) for i in times)
                cost = b / a
                gain = error["semi-implicit"] / max(error["moreau"], 1e-15) / cost
                print(
                    f"| {scene} | {1e3 * step:g} | {error['semi-implicit']:.1e} | {a:.1f} | {error['moreau']:.1e} | {b:.1f} "
                    f"| {cost:.2f} | {gain:.3g} |",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
