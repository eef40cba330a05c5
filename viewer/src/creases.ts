// Normals of a triangle mesh: smooth across edges flatter than an angle, sharp across others. A vertex is split where its
// corners need different normals.
export interface Creased {
  position: Float32Array;
  normal: Float32Array;
  index: Uint32Array;
}

// Equal points get equal numbers (files repeat vertices for each triangle).
function weld(vertices: ArrayLike<number>): { of: Uint32Array; count: number } {
  const n = vertices.length / 3;
  const bits = new Uint32Array(Float32Array.from(vertices).buffer);
  let size = 1;
  while (size < 2 * n) size *= 2;
  const slots = new Int32Array(size).fill(-1);
  const of = new Uint32Array(n);
  let count = 0;
  for (let i = 0; i < n; ++i) {
    const [x, y, z] = [bits[3 * i]!, bits[3 * i + 1]!, bits[3 * i + 2]!];
    let slot = (Math.imul(x, 73856093) ^ Math.imul(y, 19349663) ^ Math.imul(z, 83492791)) >>> 0;
    for (slot = (slot ^ (slot >>> 15)) & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const j = slots[slot]!;
      if (j < 0) {
        slots[slot] = i;
        of[i] = count++;
        break;
      }
      if (bits[3 * j] === x && bits[3 * j + 1] === y && bits[3 * j + 2] === z) {
        of[i] = of[j]!;
        break;
      }
    }
  }
  return { of, count };
}

export function crease(vertices: ArrayLike<number>, triangles: ArrayLike<number>, angle: number): Creased {
  const { of, count } = weld(vertices);
  const faces = triangles.length / 3;
  // Normals of faces: weighted by area, and of unit length.
  const weighted = new Float64Array(3 * faces);
  const unit = new Float64Array(3 * faces);
  const first = new Uint32Array(count + 1);
  const at = (f: number, c: number, k: number): number => vertices[3 * triangles[3 * f + c]! + k]!;
  for (let f = 0; f < faces; ++f) {
    const a = [0, 1, 2].map((k) => at(f, 1, k) - at(f, 0, k));
    const b = [0, 1, 2].map((k) => at(f, 2, k) - at(f, 0, k));
    const n = [a[1]! * b[2]! - a[2]! * b[1]!, a[2]! * b[0]! - a[0]! * b[2]!, a[0]! * b[1]! - a[1]! * b[0]!];
    const length = Math.hypot(n[0]!, n[1]!, n[2]!) || 1;
    for (let k = 0; k < 3; ++k) {
      weighted[3 * f + k] = n[k]!;
      unit[3 * f + k] = n[k]! / length;
      ++first[of[triangles[3 * f + k]!]! + 1]!;
    }
  }
  // Faces around each point.
  for (let i = 0; i < count; ++i) first[i + 1]! += first[i]!;
  const around = new Uint32Array(3 * faces);
  const filled = first.slice();
  for (let f = 0; f < faces; ++f) for (let c = 0; c < 3; ++c) around[filled[of[triangles[3 * f + c]!]!]!++] = f;

  const position: number[] = [];
  const normal: number[] = [];
  const index = new Uint32Array(3 * faces);
  const latest = new Int32Array(count).fill(-1); // vertices made of a point, the newest first
  const before: number[] = [];
  const least = Math.cos(angle);
  for (let f = 0; f < faces; ++f) {
    const [ux, uy, uz] = [unit[3 * f]!, unit[3 * f + 1]!, unit[3 * f + 2]!];
    for (let c = 0; c < 3; ++c) {
      const point = of[triangles[3 * f + c]!]!;
      let [x, y, z] = [0, 0, 0];
      for (let i = first[point]!; i < first[point + 1]!; ++i) {
        const g = 3 * around[i]!;
        if (ux * unit[g]! + uy * unit[g + 1]! + uz * unit[g + 2]! < least) continue;
        x += weighted[g]!;
        y += weighted[g + 1]!;
        z += weighted[g + 2]!;
      }
      const length = Math.hypot(x, y, z) || 1;
      [x, y, z] = [x / length, y / length, z / length];
      let v = latest[point]!;
      while (v >= 0 && normal[3 * v]! * x + normal[3 * v + 1]! * y + normal[3 * v + 2]! * z < 0.99999) v = before[v]!;
      if (v < 0) {
        v = before.length;
        before.push(latest[point]!);
        latest[point] = v;
        for (let k = 0; k < 3; ++k) position.push(at(f, c, k));
        normal.push(x, y, z);
      }
      index[3 * f + c] = v;
    }
  }
  return { position: Float32Array.from(position), normal: Float32Array.from(normal), index };
}
