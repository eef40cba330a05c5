#!/usr/bin/env python3
"""How the work of a step grows with the number of bodies, by instructions: a table of docs/benchmarks.md.

usage: scaling_instructions.py SARRUS FAMILY SIZE [SIZE ...]

Runs `sarrus bench scaling` for each size under callgrind (valgrind must be installed) and divides what all calls of
Simulation::step() cost, the first ones too, by their number. Other programs on the machine do not change the count.
The last line has the power of the number of bodies that fits best.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

STEP = "sarrus::Simulation::step()"


def calls_of_step(profile):
    """How often it was called, from the lines of all callers."""
    number, calls, called = None, 0, False
    for line in profile.read_text().splitlines():
        if called and line.startswith("calls="):
            calls += int(line[6:].split()[0])
        match = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
        if match and match.group(2) == STEP:
            number = match.group(1)
        called = line.startswith("cfn=") and match is not None and match.group(1) == number
    return calls


def measure(sarrus, family, size):
    """Bodies, and instructions per step."""
    with tempfile.TemporaryDirectory() as folder:
        profile, records = pathlib.Path(folder, "profile"), pathlib.Path(folder, "scaling.json")
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}",
                               f"--toggle-collect={STEP}", sarrus, "bench", "scaling", "--families", family, "--sizes",
                               str(size), "--work", str(pathlib.Path(folder, "work")), "--json", str(records),
                               "--quiet"], capture_output=True, text=True, check=True)
        total = int(re.search(r"refs:\s*([\d,]+)", done.stderr).group(1).replace(",", ""))
        table = json.loads(records.read_text())["scaling"]
        bodies = table["rows"][0][table["columns"].index("bodies")]
        return bodies, total / calls_of_step(profile)


def main():
    sarrus, family, *sizes = sys.argv[1:]
    points = []
    for size in map(int, sizes):
        bodies, cost = measure(sarrus, family, size)
        points.append((math.log(bodies), math.log(cost)))
        print(f"| {family} | {bodies} | {cost / 1e6:.3g} | {cost / bodies / 1e3:.3g} |", flush=True)
    x, y = (sum(column) / len(points) for column in zip(*points, strict=True))
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    print(f"{family}: power {slope:.2f}")


if __name__ == "__main__":
    main()
