#!/usr/bin/env python3
"""Turns the output of block_factor_bench into markdown tables.

usage: block_factor_table.py factor.json

factor.json comes from: block_factor_bench --benchmark_repetitions=5 --benchmark_format=json > factor.json
The smallest of the repetitions counts.
"""
import json
import sys


def read(path):
    """{family: {method: {part: (microseconds, counters)}}}, in the order of the file."""
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)["benchmarks"]
    table = {}
    for run in runs:
        if run.get("run_type") == "aggregate" or run.get("error_occurred"):
            continue
        family, method, part = run["name"].split("/")[0].split(":")
        # Factors are timed by hand, which Google Benchmark reports as real time.
        time = 1e-3 * (run["real_time"] if part == "factor" else run["cpu_time"])
        parts = table.setdefault(family, {}).setdefault(method, {})
        if part not in parts or time < parts[part][0]:
            parts[part] = (time, run)
    return table


def methods_of(table):
    names = []
    for family in table.values():
        names += [name for name in family if name not in names]
    return names


def cell(family, method, part):
    run = family.get(method, {}).get(part)
    return f"{run[0]:.3g}" if run else "–"


def sizes(family):
    run = family["block_llt"]["factor"][1]
    return f"{run['nodes']:.0f} | {run['rows']:.0f} | {run['blocks']:.0f}/{run['updates']:.0f}"


def print_table(title, table, part, methods):
    print(f"\n**{title}**\n")
    print("| problem | nodes | rows | blocks/updates | " + " | ".join(methods) + " |")
    print("|---|---|---|---|" + "---|" * len(methods))
    for name, family in table.items():
        print(f"| {name} | {sizes(family)} | " + " | ".join(cell(family, m, part) for m in methods) + " |")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table = read(sys.argv[1])
    methods = methods_of(table)
    print_table("Factor H = M + J'GJ, us", table, "factor", methods)
    print_table("Solve, us", table, "solve", [m for m in methods if not m.startswith("assemble")])
    worst = {m: max(f[m]["solve"][1]["backward"] for f in table.values() if m in f) for m in methods}
    print("\nLargest backward error: " + ", ".join(f"{m} {e:.1e}" for m, e in worst.items()))


if __name__ == "__main__":
    main()
