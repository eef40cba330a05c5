#!/usr/bin/env python3
"""What MuJoCo makes of MJCF files, as small JSON files for tests/robots: names, masses, inertias, poses at some qpos.

    pip install 'mujoco==3.12.*'            (in a virtual environment)
    scripts/mujoco_facts.py DATA OUT        DATA: the folder with mjcf/; OUT: tests/robots/facts

Small models share a file, robots have one each. Numbers have 16 digits.
"""

import json
import pathlib
import re
import sys

import mujoco
import numpy as np


class Lcg:
    """x <- 1664525 x + 1013904223 mod 2^32, as numbers in [0, 1)."""

    def __init__(self):
        self.x = 1

    def __call__(self):
        self.x = (1664525 * self.x + 1013904223) % 2**32
        return self.x / 2**32


def rounded(x):
    return [float(f"{v:.16g}") for v in np.asarray(x).ravel()]


def random_qpos(m, rng):
    q = m.qpos0.copy()
    for j in range(m.njnt):
        a = m.jnt_qposadr[j]
        kind = m.jnt_type[j]
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            q[a : a + 3] += [rng() - 0.5 for _ in range(3)]
            a += 3
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            turn = np.array([rng() - 0.5 for _ in range(4)])
            q[a : a + 4] = turn / np.linalg.norm(turn)
        elif m.jnt_limited[j]:
            lo, hi = m.jnt_range[j]
            q[a] = lo + rng() * (hi - lo)
        else:
            reach = np.pi if kind == mujoco.mjtJoint.mjJNT_HINGE else 0.1
            q[a] = m.qpos0[a] + (2 * rng() - 1) * reach
    return q


def facts_of(path, data_folder):
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    name = lambda kind, i: mujoco.mj_id2name(m, kind, i) or ""
    body = mujoco.mjtObj.mjOBJ_BODY
    joint = mujoco.mjtObj.mjOBJ_JOINT
    out = {"file": str(path.relative_to(data_folder)), "bodies": [], "joints": [], "poses": []}
    mujoco.mj_kinematics(m, d)
    for i in range(1, m.nbody):
        R = d.ximat[i].reshape(3, 3)
        I = R @ np.diag(m.body_inertia[i]) @ R.T
        out["bodies"].append({
            "name": name(body, i),
            "parent": int(m.body_parentid[i]),
            "mass": float(m.body_mass[i]),
            "com": rounded(d.xipos[i]),
            "inertia": rounded([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]),
        })
    for j in range(m.njnt):
        out["joints"].append({
            "name": name(joint, j),
            "type": int(m.jnt_type[j]),
            "body": int(m.jnt_bodyid[j]),
            "limited": bool(m.jnt_limited[j]),
            "range": rounded(m.jnt_range[j]),
            "stiffness": float(m.jnt_stiffness[j] if np.ndim(m.jnt_stiffness) == 1 else m.jnt_stiffness[j][0]),
            "damping": float(np.ravel(m.dof_damping[m.jnt_dofadr[j]])[0]),
            "armature": float(m.dof_armature[m.jnt_dofadr[j]]),
        })
    rng = Lcg()
    poses = [m.qpos0] + [random_qpos(m, rng) for _ in range(2)]
    if m.nkey:
        poses.append(m.key_qpos[0])
    for q in poses:
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        out["poses"].append({"qpos": rounded(q), "xpos": rounded(d.xpos[1:]), "xquat": rounded(d.xquat[1:])})
    # The force of each actuator on its joint, at random coordinates, rates and controls.
    out["actuators"] = []
    if m.nu:
        d.qpos[:] = poses[1]
        d.qvel[:] = [rng() - 0.5 for _ in range(m.nv)]
        for i in range(m.nu):
            lo, hi = m.actuator_ctrlrange[i] if m.actuator_ctrllimited[i] else (-1, 1)
            d.ctrl[i] = lo + rng() * (hi - lo)
        mujoco.mj_forward(m, d)
        out["actuation"] = {"qvel": rounded(d.qvel), "ctrl": rounded(d.ctrl), "qfrc": rounded(d.qfrc_actuator)}
        out["actuators"] = [name(mujoco.mjtObj.mjOBJ_ACTUATOR, i) for i in range(m.nu)]
    return out


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    small = []
    for path in sorted((data / "mjcf").rglob("*.xml")):
        if "keyframes" in path.name:
            continue
        if "mjcf/mujoco" in str(path):
            small.append(facts_of(path, data))
        elif not path.name.startswith("scene") or "softfoot" in str(path):
            stem = re.sub(r"[^a-z0-9]+", "_", f"{path.parent.name}_{path.stem}".lower())
            (out / f"{stem}.json").write_text(json.dumps([facts_of(path, data)], separators=(",", ":")) + "\n")
    for i in range(0, len(small), 10):
        (out / f"small_{i // 10}.json").write_text(json.dumps(small[i : i + 10], separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
