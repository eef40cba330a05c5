"""What a call of step() costs besides the step: n calls of step() against one of step(n), the least of many runs.

python python/examples/call_overhead.py [repetitions]
"""

from __future__ import annotations

import sys
import time

import sarrus

N = 500


def least(run, repetitions: int) -> float:
    """Microseconds a step."""
    best = float("inf")
    for _ in range(repetitions):
        begin = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best / N


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    sim = sarrus.Simulation(sarrus.Model.builtin("free_body"))
    sim.step(100)
    step = sim.step

    def calls() -> None:
        for _ in range(N):
            step()

    many = least(calls, repetitions)
    one = least(lambda: sim.step(N), repetitions)
    print(f"free_body: {one:.3f} us a step in step({N}), {many:.3f} us in calls of step(): {many - one:.3f} us a call")


if __name__ == "__main__":
    main()
