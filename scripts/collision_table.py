#!/usr/bin/env python3
"""Turns the output of collision_pairs_bench into the table of docs/collision.md.

usage: collision_table.py pairs.json

pairs.json comes from: collision_pairs_bench --benchmark_format=json > pairs.json
"""
import json
import sys

GAPS = ("open", "touching", "deep")
# Best library of the comparison that the design rests on: nanoseconds on its machine, and what is wrong with it.
LIBRARY = {
    "plane-box": ("58", "31 % of touching poses missed"),
    "box-box/face": ("200", "46 % of touching poses missed"),
    "box-box/identical": ("200", "46 % of touching poses missed"),
    "box-box/tilted": ("200", "46 % of touching poses missed"),
    "box-box/edge": ("143", "47 % of touching poses missed"),
    "box-box/vertex": ("173", "55 % of touching poses missed"),
    "sphere-box": ("55", "46 % of touching poses missed"),
    "capsule-box": ("69", "one point instead of two"),
    "plane-cylinder/standing": ("57", "4 points, 26 % of touching poses missed"),
    "plane-cylinder/lying": ("57", "48 % of touching poses missed"),
    "box-cylinder/standing": ("1 450", "55 % of touching poses missed"),
    "box-ellipsoid": ("1 480", "gap 3e-7 m, point 0.2 mm off"),
    "box-hull200/vertex": ("1 700", "one depth per patch"),
    "box-hull200/flat": ("3 070", "one depth per patch"),
    "hull200-hull200/vertex": ("2 900", "one depth per patch"),
    "hull200-hull200/flat": ("4 000", "one depth per patch"),
    "hull1000-hull1000": ("4 300", "one depth per patch, point 12 mm off"),
    "mesh-sphere": ("44 000", "flipped or sideways normals"),
    "mesh-box": ("190 000", "64 unmerged points, flipped or sideways normals"),
}


def read(path):
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)["benchmarks"]
    table = {}
    for run in runs:
        who, scene, gap = run["name"].split(":")
        table.setdefault(scene, {})[(who, gap)] = (run["real_time"], run["points"])
    return table


def times(row, who):
    if (who, GAPS[0]) not in row:
        return "–"
    return " / ".join(f"{row[(who, gap)][0]:.0f}" for gap in GAPS)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("| pair | points | Sarrus, ns | Bullet, same run, ns | best library, its machine, ns | its defect |")
    print("|---|---|---|---|---|---|")
    for scene, row in read(sys.argv[1]).items():
        points = row[("sarrus", "touching")][1]
        library, defect = LIBRARY.get(scene, ("–", ""))
        print(f"| {scene} | {points:.3g} | {times(row, 'sarrus')} | {times(row, 'bullet')} | {library} | {defect} |")


if __name__ == "__main__":
    main()
