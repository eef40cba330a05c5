#!/usr/bin/env python3
"""What MuJoCo makes of MJCF files, as small JSON files for tests/robots: names, masses, inertias, poses at some qpos.

Of robots also how they move: without their constraints accelerations at a random state and where they are half a second
later, the forces of their actuators, and which pairs of geoms may collide.

    pip install 'mujoco==3.12.*'            (in a virtual environment)
    scripts/mujoco_facts.py DATA OUT        DATA: the folder with mjcf/; OUT: tests/robots/facts

Small models share a file, robots have one each. Numbers have 16 digits.
"""

import json
import os
import pathlib
import re
import sys
import tempfile

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


def model_with(path, extra):
    """The model with more elements, from a folder of links to what is beside its file."""
    with tempfile.TemporaryDirectory() as folder:
        for entry in path.parent.iterdir():
            os.symlink(entry.resolve(), pathlib.Path(folder) / entry.name)
        wrapper = pathlib.Path(folder) / "oracle-wrapper.xml"
        wrapper.write_text(f'<mujoco><include file="{path.name}"/>{extra}</mujoco>')
        return mujoco.MjModel.from_xml_path(str(wrapper))


def motion_of(path):
    """From a random state, without contacts, limits, friction, equalities and actuators: accelerations, and the state
    0.5 s later by fourth-order steps of 0.05 ms. Springs and dampers are left out where they are too stiff for those."""
    for flags in ("", ' spring="disable" damper="disable"'):
        flags = 'constraint="disable" actuation="disable"' + flags
        m = model_with(path, f'<option integrator="RK4"><flag {flags}/></option>')
        d = mujoco.MjData(m)
        rng = Lcg()
        d.qpos[:] = random_qpos(m, rng)
        d.qvel[:] = [rng() - 0.5 for _ in range(m.nv)]
        out = {"flags": flags, "qpos": rounded(d.qpos), "qvel": rounded(d.qvel)}
        mujoco.mj_forward(m, d)
        out["qacc"] = rounded(d.qacc)
        if np.abs(d.qacc).max() < 1000:
            break
    m.opt.timestep = 5e-5
    for _ in range(10000):
        mujoco.mj_step(m, d)
    assert d.warning.number.sum() == 0, f"{path}: unstable"
    out["end"] = rounded(d.qpos)
    return out


def actuation_of(path):
    """The sum of the actuators' forces by coordinate at three random states and controls. Joints that an equality ties to
    another one follow it."""
    m = model_with(path, "")
    d = mujoco.MjData(m)
    rng = Lcg()
    out = []
    for _ in range(3 if m.nu else 0):
        d.qpos[:] = random_qpos(m, rng)
        d.qvel[:] = [rng() - 0.5 for _ in range(m.nv)]
        for e in range(m.neq):
            if m.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT and m.eq_obj2id[e] >= 0:
                a, b = m.eq_obj1id[e], m.eq_obj2id[e]
                qa, qb = m.jnt_qposadr[a], m.jnt_qposadr[b]
                c, x = m.eq_data[e][:5], d.qpos[qb] - m.qpos0[qb]
                d.qpos[qa] = m.qpos0[qa] + sum(c[k] * x**k for k in range(5))
                slope = sum(k * c[k] * x ** (k - 1) for k in range(1, 5))
                d.qvel[m.jnt_dofadr[a]] = slope * d.qvel[m.jnt_dofadr[b]]
        for i in range(m.nu):
            lo, hi = m.actuator_ctrlrange[i] if m.actuator_ctrllimited[i] else (-1, 1)
            d.ctrl[i] = lo + rng() * (hi - lo)
        mujoco.mj_forward(m, d)
        out.append({"qpos": rounded(d.qpos), "qvel": rounded(d.qvel), "ctrl": rounded(d.ctrl),
                    "force": rounded(d.qfrc_actuator)})
    return out


def pairs_of(path):
    """How many pairs of geoms of two bodies MuJoCo looks for contacts between: [body, body, pairs]. All margins are
    wide for it, and all shapes but planes small spheres, so that each pair that may collide does."""
    m = model_with(path, '<size memory="1G"/>')
    d = mujoco.MjData(m)
    wide = 3.0
    solid = m.geom_type > int(mujoco.mjtGeom.mjGEOM_HFIELD)
    m.geom_type[solid] = int(mujoco.mjtGeom.mjGEOM_SPHERE)
    m.geom_size[solid] = 0.01
    m.geom_margin[:] = wide
    m.pair_margin[:] = wide
    m.body_margin[:] = wide
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_collision(m, d)
    geoms = {tuple(sorted((int(c.geom1), int(c.geom2)))) for c in d.contact}
    bodies = {}
    for a, b in geoms:
        pair = tuple(sorted((int(m.geom_bodyid[a]), int(m.geom_bodyid[b]))))
        bodies[pair] = bodies.get(pair, 0) + 1
    return [[a, b, n] for (a, b), n in sorted(bodies.items())]


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
            facts = facts_of(path, data)
            facts["actuation"] = actuation_of(path)
            facts["pairs"] = pairs_of(path)
            if "softfoot" not in stem:  # its tendons in space have springs
                facts["motion"] = motion_of(path)
            (out / f"{stem}.json").write_text(json.dumps([facts], separators=(",", ":")) + "\n")
    for i in range(0, len(small), 10):
        (out / f"small_{i // 10}.json").write_text(json.dumps(small[i : i + 10], separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
