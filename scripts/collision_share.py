#!/usr/bin/env python3
"""What part of a step collision detection takes, by instructions: the table of docs/collision.md.

usage: collision_share.py SARRUS [SCENE ...]

Runs each scene for 0.3 s under callgrind (valgrind must be installed) and divides what CollisionDetector costs by what
Simulation::step() costs. Without scenes: all mechanisms of docs/measured.md. Valgrind 3.19 does not know one of the
instructions that convex hulls are built with (vmovq between registers): such scenes have no figures then.
"""
import re
import subprocess
import sys
import tempfile

MECHANISMS = """nunchuk fourbar_fixed fourbar_free spinning_top arm7d quadruped bdx_like lima_like misha_like walker_like
gazelle_like ironman_like fourbar_swing fourbar_parallelogram double_pendulum slider_crank bennett_linkage sarrus_linkage
stewart_platform jansen_walker jansen_swarm20 delta_robot fivebar_leg ring20 ring20_tilted hull_gears pendulum_stop
slip_control closed_loop_drop""".split()
SECONDS = {"jansen_swarm20": 0.05, "pendulum_stop": 0.02, "ring20": 2, "ring20_tilted": 2, "closed_loop_drop": 2}
PARTS = ["Simulation::step()", "CollisionDetector::detect(", "CollisionDetector::detect_again("]


def instructions(profile):
    """Inclusive costs of PARTS."""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", profile], capture_output=True,
                          text=True, check=True).stdout
    costs = dict.fromkeys(PARTS, 0)
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) ", line)
        for part in PARTS:
            if match and f"sarrus::{part}" in line:
                costs[part] = max(costs[part], int(match.group(1).replace(",", "")))
    return costs


def main():
    sarrus = sys.argv[1]
    print("| scene | instructions per second of motion, 1e6 | of it collision |\n|---|---|---|")
    for scene in sys.argv[2:] or MECHANISMS:
        seconds = SECONDS.get(scene, 0.3)
        with tempfile.NamedTemporaryFile() as profile:
            done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile.name}", sarrus, "run",
                                   scene, "--duration", str(seconds)], capture_output=True, check=False)
            if done.returncode < 0:
                print(f"| {scene} | – | – |", flush=True)
                continue
            step, *collision = instructions(profile.name).values()
        print(f"| {scene} | {step / seconds / 1e6:.0f} | {100 * sum(collision) / step:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
