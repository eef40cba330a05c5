#!/usr/bin/env python3
"""Runs built-in scenes and prints the Markdown table of docs/measured.md.

usage: scripts/scene_table.py build/release/apps/sarrus [scene ...]
"""
import json
import subprocess
import sys
import tempfile


def run(sarrus, scene, out):
    code = subprocess.run([sarrus, "run", scene, "--quiet", "--json", out], check=False).returncode
    with open(out, encoding="utf-8") as file:
        return code, json.load(file)


def main():
    sarrus, scenes = sys.argv[1], sys.argv[2:]
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        if not scenes:
            subprocess.run([sarrus, "scenes", "--json", file.name], check=True, stdout=subprocess.DEVNULL)
            with open(file.name, encoding="utf-8") as listing:
                scenes = [s["name"] for s in json.load(listing)]
        print("| scene | dt, s | steps | µs/step median | p95 | p99 | worst | iterations median (p99, max) | not converged | sub-stepped "
              "| joint gap, m | penetration, m | error | energy drift | contacts |")
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        for scene in scenes:
            code, r = run(sarrus, scene, file.name)
            worst, us, its = r["max"], r["us_per_step"], r["iterations"]
            print(f"| {scene}{'' if code == 0 else ' (' + r['status'] + ')'} | {r['dt']:.3g} | {r['steps']} "
                  f"| {us['median']:.1f} | {us['p95']:.1f} | {us['p99']:.1f} | {us['max']:.0f} "
                  f"| {its['median']:.0f} ({its['p99']:.0f}, {its['max']:.0f}) "
                  f"| {r['non_converged_steps']} | {r['substepped_steps']} | {worst['joint_gap_m']:.1e} "
                  f"| {worst['penetration_m']:.1e} | {worst['natural_map_relative']:.1e} "
                  f"| {100 * r['energy']['drift_relative']:+.2f} % | {r['contacts']['max']} |", flush=True)


if __name__ == "__main__":
    main()
