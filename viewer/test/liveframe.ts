// Writes messages of type 2 (docs/live-protocol.md).
export interface LiveGiven {
  time?: number;
  earliest?: number;
  latest?: number;
  forget?: number;
  bodies?: number;
  dofs?: number;
  joints?: number;
  contacts?: number;
  flags?: number;
  status?: number;
  steps?: number;
  sequence?: number;
  origin?: number[];
  dragBody?: number;
  drag?: number[];
  speed?: number;
  pose?: ArrayLike<number>;
  dof?: ArrayLike<number>;
  index?: number;
  energy?: number[];
  residual?: number[];
}

export function frameOf(g: LiveGiven): ArrayBuffer {
  const n = g.bodies ?? 0,
    nd = g.dofs ?? 0,
    nj = g.joints ?? 0,
    k = g.contacts ?? 0,
    data = new ArrayBuffer(184 + 28 * n + 16 * nd + 16 * nj + 56 * k),
    v = new DataView(data);
  v.setUint8(0, 2);
  v.setUint8(1, g.flags ?? 0);
  v.setUint8(2, g.status ?? 0);
  v.setUint8(3, 0);
  v.setUint32(4, g.sequence ?? 0, true);
  v.setFloat64(8, g.time ?? 0, true);
  (g.origin ?? [0, 0, 0]).forEach((x, i) => v.setFloat64(16 + 8 * i, x, true));
  v.setFloat64(40, g.earliest ?? 0, true);
  v.setFloat64(48, g.latest ?? g.time ?? 0, true);
  v.setUint32(56, g.index ?? 0, true);
  v.setUint32(60, g.steps ?? 1, true);
  v.setFloat32(64, g.speed ?? 1, true);
  v.setFloat32(68, 1, true);
  (g.residual ?? [1e-11, 2e-10, 3e-13, 0, 0, 0]).forEach((x, i) => v.setFloat32(72 + 4 * i, x, true));
  v.setFloat32(96, 5, true);
  (g.energy ?? [0.1, 0.2, 0, 0, 0]).forEach((x, i) => v.setFloat32(100 + 4 * i, x, true));
  [n, nd, nj, k].forEach((x, i) => v.setUint32(120 + 4 * i, x, true));
  v.setInt32(136, g.dragBody ?? -1, true);
  (g.drag ?? []).forEach((x, i) => v.setFloat32(140 + 4 * i, x, true));
  v.setFloat64(176, g.forget ?? Infinity, true);
  const pose = new Float32Array(data, 184, 7 * n);
  if (g.pose) pose.set(g.pose);
  else for (let b = 0; b < n; ++b) pose[7 * b + 3] = 1;
  if (g.dof) new Float32Array(data, 184 + 28 * n, 4 * nd).set(g.dof);
  return data;
}
