#!/usr/bin/env python3
"""Writes meshes of 1.3 million triangles as STL, and scenes in which each falls on a plane, a box and a height field:
a sphere, a sphere with bumps of 2 %, a cube, and a cube with crowned sides.

usage: large_mesh.py FOLDER

The figures of docs/collision.md come from: sarrus run FOLDER/sphere_plane.json --duration 20
"""
import json
import math
import os
import struct
import sys

LEVELS = 8  # 20 * 4^8 triangles
CELLS = 330  # 12 * 330^2 triangles
RADIUS = 0.5  # half the side of cubes
BUMPS = 0.02  # of the radius
CROWN = 5e-4  # m

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


def bumpy(points):
    def factor(x, y, z):
        return RADIUS * (1 + BUMPS * math.sin(9 * x) * math.sin(9 * y + 1) * math.sin(9 * z + 2))

    return [tuple(factor(*p) * c for c in p) for p in points]


def cube(cells, crown):
    """Its sides are grids, each bulged by `crown` in the middle."""
    points, triangles = [], []
    for axis in range(3):
        for side in (-1, 1):
            first = len(points)
            for j in range(cells + 1):
                for i in range(cells + 1):
                    u, v = side * (2 * i / cells - 1), 2 * j / cells - 1
                    x = [0.0, 0.0, 0.0]
                    x[axis] = side * (RADIUS + crown * (1 - u * u) * (1 - v * v))
                    x[(axis + 1) % 3] = RADIUS * u
                    x[(axis + 2) % 3] = RADIUS * v
                    points.append(tuple(x))
            for j in range(cells):
                for i in range(cells):
                    a = first + j * (cells + 1) + i
                    triangles += [(a, a + 1, a + cells + 2), (a, a + cells + 2, a + cells + 1)]
    return points, triangles


def write_stl(path, points, triangles):
    packed = [struct.pack("<3f", *p) for p in points]
    with open(path, "wb") as file:
        file.write(bytes(80) + struct.pack("<I", len(triangles)))
        file.write(b"".join(bytes(12) + packed[a] + packed[b] + packed[c] + bytes(2) for a, b, c in triangles))


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    points, triangles = icosphere(LEVELS)
    meshes = {
        "sphere": ([tuple(RADIUS * c for c in p) for p in points], triangles, [20, 10, 0]),
        "bumpy": (bumpy(points), triangles, [20, 10, 0]),
        "cube": (*cube(CELLS, 0), [0, 0, 0]),
        "crowned": (*cube(CELLS, CROWN), [0, 0, 0]),
    }
    for mesh, (vertices, faces, angles) in meshes.items():
        write_stl(os.path.join(folder, mesh + ".stl"), vertices, faces)
        for ground, shape in GROUNDS.items():
            scene = {
                "format": "sarrus-scene", "version": 1, "angle_unit": "deg", "name": f"large_mesh_{mesh}_{ground}",
                "bodies": [{
                    "name": mesh, "density": 1000, "recenter": True, "pose": {"p": [0, 0, RADIUS + 0.03], "euler_xyz": angles},
                    "shapes": [{"type": "mesh", "file": mesh + ".stl"}]
                }],
                "world_shapes": [shape],
            }
            with open(os.path.join(folder, f"{mesh}_{ground}.json"), "w", encoding="utf-8") as file:
                json.dump(scene, file)


if __name__ == "__main__":
    main()
