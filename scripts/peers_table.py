#!/usr/bin/env python3
"""Prints the tables of docs/peers.md from the JSON of `sarrus bench peers --json FILE`."""
import json
import statistics
import sys


def cell(value, form="{:.1e}"):
    return "–" if value is None else form.format(value)


def scene_tables(runs):
    for scene in dict.fromkeys(r["scene"] for r in runs):
        rows = [r for r in runs if r["scene"] == scene]
        duration = max(r["sim_time"] for r in rows)
        print(f"### {scene}, dt = {rows[0]['dt']:.4g} s, {duration:.3g} s\n")
        print("| engine | setting | gap, m | angle, rad | penetration, m | energy drift | energy rise | moved, m |"
              " µs/step median (p95) | status |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for r in rows:
            setting = r["setting"] + (f", level {r['level']}" if r["level"] else "")
            time = cell(r["us_per_step"], "{:.1f}") + ("" if r["us_per_step"] is None else f" ({r['us_per_step_p95']:.1f})")
            status = r["status"] if len(r["status"]) < 90 else r["status"][:87] + "..."
            print(f"| {r['engine']} | {setting} | {cell(r['gap'])} | {cell(r['angle'])} | {cell(r['penetration'])} |"
                  f" {cell(r['energy_drift'], '{:+.1e}')} | {cell(r['energy_rise'], '{:+.1e}')} |"
                  f" {cell(r['displacement'], '{:.2g}')} | {time} | {status} |")
        print()
    print("Settings as recorded:\n")
    for line in dict.fromkeys(f"- {r['engine']} {r['version']}, {r['setting']}: {r['setting_text']}"
                              for r in runs if r["setting_text"]):
        print(line)
    print()


def fclib_tables(runs):
    solvers = list(dict.fromkeys(r["solver"] for r in runs))
    by = {(r["problem"], r["solver"]): r for r in runs}
    print("| problem | contacts |" + "".join(f" {s}, ms (error) |" for s in solvers))
    print("|---|---|" + "---|" * len(solvers))
    for problem in dict.fromkeys(r["problem"] for r in runs):
        cells = []
        for s in solvers:
            r = by[problem, s]
            text = r["status"] if r["status"] != "ok" else f"{1e3 * r['seconds']:.3f} ({r['error']:.1e})"
            cells.append(text if r["success"] else f"**{text}**")
        print(f"| {problem} | {by[problem, solvers[0]]['contacts']} | " + " | ".join(cells) + " |")
    print("\n| solver | solved | median ms, its solved ones | median ms, solved by all | faster than the first |")
    print("|---|---|---|---|---|")
    problems = list(dict.fromkeys(r["problem"] for r in runs))
    common = [p for p in problems if all(by[p, s]["success"] for s in solvers)]
    for s in solvers:
        solved = [p for p in problems if by[p, s]["success"]]
        own = statistics.median(1e3 * by[p, s]["seconds"] for p in solved) if solved else float("nan")
        shared = statistics.median(1e3 * by[p, s]["seconds"] for p in common) if common else float("nan")
        faster = sum(by[p, s]["success"] and (not by[p, solvers[0]]["success"] or
                     by[p, s]["seconds"] < by[p, solvers[0]]["seconds"]) for p in problems)
        print(f"| {s} | {len(solved)} of {len(problems)} | {own:.3f} | {shared:.3f} ({len(common)}) |"
              f" {'–' if s == solvers[0] else faster} |")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: peers_table.py FILE.json ...")
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            report = json.load(file)
        if report["scenes"]:
            scene_tables(report["scenes"])
        if report["fclib"]:
            fclib_tables(report["fclib"])


if __name__ == "__main__":
    main()
