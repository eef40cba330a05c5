#!/usr/bin/env python3
"""Prints the tables of docs/benchmarks.md from the JSON of `sarrus bench suite` and `sarrus bench scaling`.

usage: bench_tables.py suite.json [scaling.json] | scaling.json
"""
import json
import math
import statistics
import sys


def rows(result, table):
    columns = result[table]["columns"]
    return [dict(zip(columns, row)) for row in result[table]["rows"]]


def number(value):
    return float(value)  # "inf" is text in the JSON


def us(seconds):
    return f"{1e6 * seconds:.0f}" if seconds >= 1e-5 else f"{1e6 * seconds:.1f}"


def solver_table(result, level, start):
    solvers = rows(result, "solvers")
    tolerance = result["tolerances"][level]
    solves = [s for s in rows(result, "solves") if s["level"] == level and s["start"] == start]
    lines = []
    for k, solver in enumerate(solvers):
        mine = [s for s in solves if s["solver"] == k]
        tried = [s for s in mine if s["outcome"] not in ("refused", "too_large")]
        solved = sum(number(s["natural_map_relative"]) <= tolerance for s in mine)
        own = sum(number(s["own_law_relative"]) <= tolerance for s in mine)
        times = sorted(s["seconds"] for s in tried)
        lines.append((-solved, f"| `{solver['id']}` | {solver['law']} | {solved} | {own} | {us(statistics.median(times))} |"
                      f" {us(times[max(0, math.ceil(0.95 * len(times)) - 1)])} |"
                      f" {statistics.median(s['iterations'] for s in tried):g} |"
                      f" {statistics.median(number(s['natural_map_relative']) for s in tried):.0e} |"))
    print(f"\n**{start.capitalize()}, tolerance {tolerance:g}**, {len(rows(result, 'samples'))} samples\n")
    print("| solver | law | solved | by its own law | µs median | µs 95 % | iterations | residual, median |")
    print("|---|---|---|---|---|---|---|---|")
    for _, line in sorted(lines, key=lambda x: x[0]):
        print(line)


def category_table(result, level, start, chosen):
    samples = rows(result, "samples")
    solvers = [s["id"] for s in rows(result, "solvers")]
    tolerance = result["tolerances"][level]
    names = sorted({s["category"] for s in samples})
    counts = {c: sum(s["category"] == c for s in samples) for c in names}
    print(f"\n**Solved by category**, {start}, tolerance {tolerance:g}\n")
    print("| solver | " + " | ".join(f"{c} ({counts[c]})" for c in names) + " |")
    print("|---|" + "---|" * len(names))
    solves = [s for s in rows(result, "solves") if s["level"] == level and s["start"] == start]
    for solver in chosen:
        k = solvers.index(solver)
        solved = {c: 0 for c in names}
        for s in solves:
            if s["solver"] == k and number(s["natural_map_relative"]) <= tolerance:
                solved[samples[s["sample"]]["category"]] += 1
        print(f"| `{solver}` | " + " | ".join(str(solved[c]) for c in names) + " |")


def run_table(result):
    systems = rows(result, "systems")
    print("\n**Whole simulations by the default solver**\n")
    print("| system | bodies | joints | loops | steps | missed | residual | joint gap, m | penetration, m | µs/step median (95 %) |"
          " × real time |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for r in rows(result, "runs"):
        if r["solver"] != "cascade":
            continue
        s = systems[r["system"]]
        print(f"| {s['id']} | {s['bodies']} | {s['joints']} | {s['loops']} | {r['steps']} | {r['not_converged']} |"
              f" {r['natural_map_relative']:.1e} | {r['joint_gap_m']:.1e} | {r['penetration_m']:.1e} |"
              f" {us(r['step_median_s'])} ({us(r['step_p95_s'])}) | {r['real_time_factor']:.3g} |")


def misses(result):
    samples = rows(result, "samples")
    solvers = [s["id"] for s in rows(result, "solvers")]
    for s in rows(result, "solves"):
        if solvers[s["solver"]] == "cascade" and number(s["natural_map_relative"]) > result["tolerances"][s["level"]]:
            print(f"missed by cascade: {samples[s['sample']]['id']} {s['start']} at {result['tolerances'][s['level']]:g}:"
                  f" {s['natural_map_relative']:.1e}")


def exponent(points):
    """Least squares in logarithms, sizes from 100 bodies on."""
    points = [(math.log(n), math.log(t)) for n, t in points if n >= 100 and t > 0]
    if len(points) < 2:
        return math.nan
    mx = statistics.mean(p[0] for p in points)
    my = statistics.mean(p[1] for p in points)
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


def scaling_table(result):
    points = rows(result, "scaling")
    print("\n| family | bodies | rows | contacts | threads | ms/step median (95 %) | iterations | kB/body | missed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for p in points:
        print(f"| {p['family']} | {p['bodies']} | {p['rows']} | {p['contacts']} | {p['threads']} |"
              f" {1e3 * p['step_median_s']:.3g} ({1e3 * p['step_p95_s']:.3g}) | {p['iterations']:.3g} |"
              f" {1e-3 * p['bytes'] / p['bodies']:.0f} | {p['not_converged']} of {p['steps']} |")
    for family in dict.fromkeys(p["family"] for p in points):
        mine = [p for p in points if p["family"] == family and p["threads"] == 1]
        print(f"{family}: time exponent {exponent([(p['bodies'], p['step_median_s']) for p in mine]):.2f},"
              f" memory exponent {exponent([(p['bodies'], p['bytes']) for p in mine]):.2f}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    if result["kind"] == "scaling":
        return scaling_table(result)
    tight = len(result["tolerances"]) - 1
    solver_table(result, tight, "cold")
    solver_table(result, tight, "warm")
    category_table(result, tight, "cold", ["cascade", "ipm", "ssn", "admm2", "admm-ncp-sa", "sap", "bpp", "pgs-ncp"])
    run_table(result)
    misses(result)
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            scaling_table(json.load(file))


if __name__ == "__main__":
    main()
