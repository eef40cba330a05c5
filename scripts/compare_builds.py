#!/usr/bin/env python3
"""Compares two builds of the command scene by scene, run in turn so that both meet the same load of the machine.

    python3 scripts/compare_builds.py OLD/sarrus NEW/sarrus [SCENE ...] [--rounds 3] [--duration 2]

Prints one row a scene: the ratio new/old of the best median and the best 95th percentile of the time per step, and of
both builds the worst joint gap, the worst residual, the energy drift and the steps that did not converge.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def scenes_of(command: str, folder: Path) -> list[str]:
    listing = folder / "scenes.json"
    subprocess.run([command, "scenes", "--json", str(listing)], check=True, capture_output=True)
    return [scene["name"] for scene in json.loads(listing.read_text())]


def run(command: str, scene: str, duration: float | None, folder: Path) -> dict[str, Any] | None:
    summary = folder / "summary.json"
    summary.unlink(missing_ok=True)
    arguments = [command, "run", scene, "--quiet", "--json", str(summary)]
    if duration:
        arguments += ["--duration", str(duration)]
    subprocess.run(arguments, check=False, capture_output=True)
    return json.loads(summary.read_text()) if summary.exists() else None


def worst_residual(summary: dict[str, Any]) -> float:
    largest = summary["max"]
    return next((v for k, v in largest.items() if k in ("error", "natural_map_relative")), float("nan"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--duration", type=float)
    a = parser.parse_args()
    print("| scene | median | p95 | gap, m | residual | drift | not converged |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for scene in a.scenes or scenes_of(a.new, Path(name)):
            runs: list[list[dict[str, Any]]] = [[], []]
            for _ in range(a.rounds):
                for build, command in enumerate((a.old, a.new)):
                    summary = run(command, scene, a.duration, Path(name))
                    if summary:
                        runs[build].append(summary)
            if not runs[0] or not runs[1]:
                print(f"| {scene} | one of the builds wrote no summary | | | | | |")
                continue
            best = [{k: min(r["us_per_step"][k] for r in b) for k in ("median", "p95")} for b in runs]
            old, new = runs[0][0], runs[1][0]
            cells = [f"{best[1][k] / best[0][k]:.2f}" for k in ("median", "p95")]
            for value in (
                lambda s: s["max"]["joint_gap_m"],
                worst_residual,
                lambda s: s["energy"]["drift_relative"],
            ):
                cells.append(f"{value(old):.2g} → {value(new):.2g}")
            cells.append(f"{old['non_converged_steps']} → {new['non_converged_steps']}")
            print(f"| {scene} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
