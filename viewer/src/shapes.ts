// Geometry of the parts of bodies, in the frame of the part: z is the axis of capsules and cylinders. Every edge is rounded or
// chamfered, since edges that catch light are what makes a shape look like a thing.
import { crease } from './creases';
import * as T from './vendor';

export interface Detail {
  round: number;
  edge: number;
}
export const fine: Detail = { round: 32, edge: 2 },
  coarse: Detail = { round: 14, edge: 1 };

// A box of half extents h with edges rounded by r: each face is a grid whose outer rows bend to the middle of the edges.
export function roundedBox(h: readonly number[], r: number, steps: number): T.BufferGeometry {
  const angles: number[] = [];
  for (let k = 0; k <= steps; ++k) angles.push(-(Math.PI / 4) * (1 - k / steps));
  const across = [
    ...angles.map((a) => [-1, Math.tan(a)] as const),
    ...angles.map((a) => [1, -Math.tan(a)] as const).reverse(),
  ];
  const m = across.length,
    position: number[] = [],
    normal: number[] = [],
    index: number[] = [];
  for (let axis = 0; axis < 3; ++axis) {
    for (const side of [-1, 1]) {
      const u = (axis + 1) % 3,
        v = (axis + 2) % 3,
        first = position.length / 3;
      for (const [sv, dv] of across) {
        for (const [su, du] of across) {
          const d = [0, 0, 0],
            p = [0, 0, 0];
          d[axis] = side;
          d[u] = du;
          d[v] = dv;
          const length = Math.hypot(d[0]!, d[1]!, d[2]!);
          for (let k = 0; k < 3; ++k) {
            const sign = k === axis ? side : k === u ? su : sv;
            d[k]! /= length;
            p[k] = sign * (h[k]! - r) + r * d[k]!;
          }
          position.push(...p);
          normal.push(...d);
        }
      }
      for (let b = 0; b + 1 < m; ++b) {
        for (let a = 0; a + 1 < m; ++a) {
          const i = first + b * m + a,
            quad = side > 0 ? [i, i + 1, i + m + 1, i, i + m + 1, i + m] : [i, i + m + 1, i + 1, i, i + m, i + m + 1];
          index.push(...quad);
        }
      }
    }
  }
  return geometry(position, normal, index);
}

export function geometry(
  position: ArrayLike<number>,
  normal: ArrayLike<number> | null,
  index: number[] | Uint32Array,
): T.BufferGeometry {
  const g = new T.BufferGeometry();
  g.setAttribute('position', new T.BufferAttribute(Float32Array.from(position), 3));
  if (normal) g.setAttribute('normal', new T.BufferAttribute(Float32Array.from(normal), 3));
  g.setIndex(new T.BufferAttribute(Uint32Array.from(index), 1));
  return g;
}

export function cylinder(r: number, half: number, sides: number, round = true): T.BufferGeometry {
  const b = 0.12 * Math.min(r, half),
    c = 0.29 * b;
  const outline = [
    [0, -half],
    [r - b, -half],
    ...(round ? [[r - c, -half + c]] : []),
    [r, -half + b],
    [r, half - b],
    ...(round ? [[r - c, half - c]] : []),
    [r - b, half],
    [0, half],
  ];
  return new T.LatheGeometry(
    outline.map((p) => new T.Vector2(p[0]!, p[1]!)),
    sides,
  ).rotateX(Math.PI / 2);
}

export function primitive(kind: string, s: readonly number[], detail: Detail): T.BufferGeometry | null {
  const [a = 0, b = 0, c = 0] = s,
    round = detail.round;
  switch (kind) {
    case 'box':
      return roundedBox([a, b, c], Math.min(0.35 * Math.min(a, b, c), 0.25 * Math.max(a, b, c)), detail.edge);
    case 'sphere':
      return new T.SphereGeometry(a, round, Math.ceil(0.6 * round));
    case 'capsule':
      return new T.CapsuleGeometry(a, 2 * b, Math.ceil(round / 4), round).rotateX(Math.PI / 2);
    case 'cylinder':
      return cylinder(a, b, round);
    case 'ellipsoid':
      return new T.SphereGeometry(1, round, Math.ceil(0.6 * round)).scale(a, b, c);
    default:
      return null;
  }
}

// Triangles with sharp edges where they meet at more than 35 degrees.
export function triangles(vertices: ArrayLike<number>, index: ArrayLike<number>): T.BufferGeometry {
  const m = crease(vertices, index, (35 * Math.PI) / 180);
  return geometry(m.position, m.normal, m.index);
}

export function heightField(
  heights: ArrayLike<number>,
  columns: number,
  rows: number,
  dx: number,
  dy: number,
): T.BufferGeometry {
  const position = new Float32Array(3 * columns * rows),
    index: number[] = [];
  for (let j = 0; j < rows; ++j) {
    for (let i = 0; i < columns; ++i) {
      position.set(
        [(i - (columns - 1) / 2) * dx, (j - (rows - 1) / 2) * dy, heights[j * columns + i] ?? 0],
        3 * (j * columns + i),
      );
      if (i + 1 < columns && j + 1 < rows) {
        const a = j * columns + i;
        index.push(a, a + 1, a + columns + 1, a, a + columns + 1, a + columns);
      }
    }
  }
  const g = geometry(position, null, index);
  g.computeVertexNormals();
  return g;
}
