#!/usr/bin/env python3
"""The table of docs/robots.md: each robot runs 2 s passively in Sarrus and in MuJoCo, one after the other, and 2 s held.

    pip install 'mujoco==3.12.*'            (in a virtual environment)
    scripts/robots_table.py DATA build/release/apps/sarrus

Time is the median per step. "missed" counts steps of both runs that did not meet the tolerance. The gap of MuJoCo is the largest distance between two points that a connect or weld joins,
after the first 0.1 s, in which it pulls open loops together.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

import mujoco
import numpy as np

FILES = """agility_cassie/scene anybotics_anymal_c/scene franka_emika_panda/scene iit_softfoot/scene kuka_iiwa_14/scene
pal_talos/scene_motor pal_talos/scene_position robotiq_2f85/2f85 robotiq_2f85/scene shadow_hand/scene_right
toddlerbot_2xc/scene unitree_g1/scene unitree_g1/scene_mjx unitree_go2/scene universal_robots_ur5e/scene
wonik_allegro/scene_right""".split()


def sarrus(command, path):
    arguments = [command, "run", str(path), "--accept", "all", "--duration", "2", "--json", "-", "--quiet"]
    run = subprocess.run(arguments, capture_output=True, text=True)
    held = subprocess.run([*arguments, "--hold"], capture_output=True, text=True)
    check = subprocess.run([command, "check", str(path), "--accept", "all", "--json", "-"], capture_output=True, text=True)
    if run.returncode or held.returncode or check.returncode:
        return None
    return json.loads(run.stdout), json.loads(held.stdout), json.loads(check.stdout)


def gap_of(m, d):
    gap = 0.0
    for e in range(m.neq):
        kind = mujoco.mjtEq(m.eq_type[e])
        if kind not in (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD):
            continue
        a, b = m.eq_obj1id[e], m.eq_obj2id[e]
        if mujoco.mjtObj(m.eq_objtype[e]) == mujoco.mjtObj.mjOBJ_SITE:
            p, q = d.site_xpos[a], d.site_xpos[b]
        else:
            data = m.eq_data[e]
            one, two = (data[0:3], data[3:6]) if kind == mujoco.mjtEq.mjEQ_CONNECT else (data[3:6], data[0:3])
            p = d.xpos[a] + d.xmat[a].reshape(3, 3) @ one
            q = d.xpos[b] + d.xmat[b].reshape(3, 3) @ two
        gap = max(gap, float(np.linalg.norm(p - q)))
    return gap


def mujoco_run(path):
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    times, gap = [], 0.0
    for _ in range(round(2 / m.opt.timestep)):
        start = time.perf_counter()
        mujoco.mj_step(m, d)
        times.append(time.perf_counter() - start)
        if d.time > 0.1:
            gap = max(gap, gap_of(m, d))
    return 1e6 * statistics.median(times), gap


def main():
    data, command = pathlib.Path(sys.argv[1]), sys.argv[2]
    print("| file | bodies | joints | loops | couplings | rank/rows | mobility | contacts | gap, m | gap held, m | missed | limits | µs | µs held | MuJoCo gap, m | MuJoCo µs |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in FILES:
        path = data / "mjcf" / (name + ".xml")
        both = sarrus(command, path)
        if both is None:
            print(f"| {name} | refused |")
            continue
        run, held, check = both
        us, gap = mujoco_run(path)
        worst = run["max"]
        print(f"| {name} | {check['bodies']} | {check['joints']} | {check['loops']} | {check['couplings']} | "
              f"{check['rank']}/{check['rows']} | {check['mobility']} | {run['contacts']['median']} | "
              f"{worst['joint_gap_m']:.1e} | {held['max']['joint_gap_m']:.1e} | "
              f"{run['non_converged_steps'] + held['non_converged_steps']} | {worst['limit_violation']:.1e} | "
              f"{run['us_per_step']['median']:.0f} | {held['us_per_step']['median']:.0f} | "
              f"{gap:.1e} | {us:.0f} |")


if __name__ == "__main__":
    main()
