#!/usr/bin/env python3
"""Writes a sphere of 1.3 million triangles as STL, and scenes in which it falls on a plane, a box and a height field.

usage: large_mesh.py FOLDER

The figures of docs/collision.md come from: sarrus run FOLDER/plane.json --duration 20
"""
import json
import math
import os
import struct
import sys

LEVELS = 8  # 20 * 4^8 triangles
RADIUS = 0.5

GROUNDS = {
    "plane": {"type": "plane"},
    "box": {"type": "box", "half_extents": [5, 5, 0.5], "pose": {"p": [0, 0, -0.5]}},
    "height_field": {"type": "height_field", "spacing": [0.25, 0.25], "heights": [[0.0] * 41] * 41},
}


def unit(x, y, z):
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


def icosphere(levels):
    """Points on the unit sphere and triangles of an icosahedron whose triangles are cut in four again and again."""
    g = (1 + math.sqrt(5)) / 2
    points = [unit(*p) for p in [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g),
                                 (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]]
    triangles = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2),
                 (10, 7, 6), (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11),
                 (6, 2, 10), (8, 6, 7), (9, 8, 1)]
    for _ in range(levels):
        middle = {}

        def between(i, j):
            key = (min(i, j), max(i, j))
            if key not in middle:
                middle[key] = len(points)
                points.append(unit(*(p + q for p, q in zip(points[i], points[j]))))
            return middle[key]

        cut = []
        for a, b, c in triangles:
            ab, bc, ca = between(a, b), between(b, c), between(c, a)
            cut += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = cut
    return points, triangles


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    points, triangles = icosphere(LEVELS)
    packed = [struct.pack("<3f", *(RADIUS * c for c in p)) for p in points]
    with open(os.path.join(folder, "sphere.stl"), "wb") as file:
        file.write(bytes(80) + struct.pack("<I", len(triangles)))
        file.write(b"".join(bytes(12) + packed[a] + packed[b] + packed[c] + bytes(2) for a, b, c in triangles))
    for name, ground in GROUNDS.items():
        scene = {
            "format": "sarrus-scene", "version": 1, "angle_unit": "deg", "name": "large_mesh_" + name,
            "bodies": [{
                "name": "ball", "density": 1000, "pose": {"p": [0, 0, RADIUS + 0.03], "euler_xyz": [20, 10, 0]},
                "shapes": [{"type": "mesh", "file": "sphere.stl"}]
            }],
            "world_shapes": [ground],
        }
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(scene, file)


if __name__ == "__main__":
    main()
