// Writes SRV1 containers for tests: the other side of src/container.ts, and motions that are known in closed form.
import { gzipSync } from 'node:zlib';

export interface Given {
  name: string;
  codec: string;
  shape: number[];
  values: ArrayLike<number>;
  steps?: number;
}

const plain: Record<string, (v: ArrayLike<number>) => { buffer: ArrayBufferLike }> = {
  f8: (v) => Float64Array.from(v),
  f4: (v) => Float32Array.from(v),
  u4: (v) => Uint32Array.from(v),
  i4: (v) => Int32Array.from(v),
  i2: (v) => Int16Array.from(v),
  u2: (v) => Uint16Array.from(v),
  i1: (v) => Int8Array.from(v),
  u1: (v) => Uint8Array.from(v),
};

const range = (x: number[]): [number, number] =>
  x.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)] as [number, number], [Infinity, -Infinity]);

export function encodeSection(g: Given): { bytes: Uint8Array; entry: Record<string, unknown> } {
  const F = g.shape[0] ?? 0,
    count = g.shape.reduce((a, b) => a * b, 1),
    c = F ? count / F : 0;
  const entry: Record<string, unknown> = { name: g.name, codec: g.codec, shape: g.shape };
  if (g.codec in plain) return { bytes: new Uint8Array(plain[g.codec]!(g.values).buffer), entry };
  const lo: number[] = [],
    scale: number[] = [];
  const channel = (k: number): number[] => Array.from({ length: F }, (_, i) => g.values[i * c + k]!);
  if (g.codec === 'l1') {
    const steps = g.steps ?? 8,
      out = new Int8Array(count);
    for (let k = 0; k < c; ++k)
      channel(k).forEach(
        (v, i) =>
          (out[k * F + i] = v > 0 ? Math.min(127, Math.max(-127, Math.ceil(steps * Math.log10(v) - 1e-9))) : -128),
      );
    return { bytes: new Uint8Array(out.buffer), entry: { ...entry, steps } };
  }
  const planes = g.codec === 'd2' ? 3 : 2,
    out = new Uint8Array(planes * count);
  for (let k = 0; k < c; ++k) {
    const x = channel(k),
      [a, b] = range(x),
      s = (b - a) / 65535;
    lo.push(a);
    scale.push(s);
    const q = x.map((v) => (s > 0 ? Math.round((v - a) / s) : 0));
    q.forEach((v, i) => {
      let z = v;
      if (g.codec === 'd2') {
        const e = i === 0 ? v : i === 1 ? v - q[0]! : v - 2 * q[i - 1]! + q[i - 2]!;
        z = e >= 0 ? 2 * e : -2 * e - 1;
      }
      for (let p = 0; p < planes; ++p) out[p * count + k * F + i] = (z >> (8 * p)) & 255;
    });
  }
  return { bytes: out, entry: { ...entry, ...(g.codec === 'd2' ? { bits: 16, planes } : {}), lo, scale } };
}

export function encode(header: Record<string, unknown>, sections: readonly Given[]): Uint8Array {
  const entries: Record<string, unknown>[] = [],
    parts: Uint8Array[] = [];
  let offset = 0;
  for (const g of sections) {
    const { bytes, entry } = encodeSection(g),
      padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
    padded.set(bytes);
    entries.push({ ...entry, offset, bytes: bytes.length });
    parts.push(padded);
    offset += padded.length;
  }
  const json = new TextEncoder().encode(JSON.stringify({ ...header, sections: entries })),
    head = new Uint8Array(Math.ceil(json.length / 8) * 8).fill(32);
  head.set(json);
  const out = new Uint8Array(8 + head.length + offset);
  out.set(new TextEncoder().encode('SRV1'));
  new DataView(out.buffer).setUint32(4, head.length, true);
  out.set(head, 8);
  let at = 8 + head.length;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

export const zip = (raw: Uint8Array): Buffer => gzipSync(raw);

const identity = [1, 0, 0, 0],
  about = (angle: number): number[] => [Math.cos(angle / 2), 0, -Math.sin(angle / 2), 0];
// The hinges' x axes along the world's y.
const hinge = [Math.SQRT1_2, 0, 0, Math.SQRT1_2];

export interface Bars {
  header: Record<string, unknown>;
  sections: Given[];
  // Where joint j is in the world at time t, and body b.
  joint: (j: number, t: number) => number[];
  body: (b: number, t: number) => number[];
}

// A parallelogram of three bars above a floor, its crank turning at 1 rad/s about y; the last hinge closes the loop. A ball slides on
// the floor beside it, pushed against its friction. F frames at 60 Hz; options break what a test wants broken.
export function bars(
  options: {
    frames?: number;
    status?: (i: number) => number;
    gap?: (i: number) => number;
    names?: string;
    kind?: 'motion' | 'scene';
    floor?: boolean;
    scene?: string;
    lag?: number;
  } = {},
): Bars {
  const F = options.frames ?? 121,
    fps = 60,
    r = 0.25,
    w = 0.6,
    high = 0.5,
    name = (s: string): string => (options.names ?? '') + s;
  const floor = options.floor ?? true;
  const angle = (t: number): number => 0.6 + t - (options.lag ?? 0),
    tip = (t: number): number[] => [r * Math.cos(angle(t)), 0, high + r * Math.sin(angle(t))];
  const body = (b: number, t: number): number[] => {
    const p = tip(t);
    return b === 0
      ? [p[0]! / 2, 0, high + (p[2]! - high) / 2]
      : b === 1
        ? [p[0]! + w / 2, 0, p[2]!]
        : b === 2
          ? [w + p[0]! / 2, 0, high + (p[2]! - high) / 2]
          : [0.2 * t, -0.35, 0.05];
  };
  const turn = (b: number, t: number): number[] => (b === 0 || b === 2 ? about(angle(t)) : identity);
  const joint = (j: number, t: number): number[] => {
    const p = tip(t);
    return j === 0 ? [0, 0, high] : j === 1 ? p : j === 2 ? [p[0]! + w, 0, p[2]!] : [w, 0, high];
  };
  const n = 4,
    times = Array.from({ length: F }, (_, i) => i / fps),
    each = (f: (t: number, i: number) => number[]): number[] => times.flatMap(f);
  const gap = options.gap ?? (() => 3e-13),
    status = options.status ?? (() => 0),
    contact = floor ? 1 : 0;
  const sections: Given[] = [
    { name: 'time', codec: 'f8', shape: [F], values: times },
    { name: 'steps', codec: 'u4', shape: [F], values: times.map((_, i) => (i ? 16 : 0)) },
    { name: 'position', codec: 'd2', shape: [F, n, 3], values: each((t) => [0, 1, 2, 3].flatMap((b) => body(b, t))) },
    { name: 'quaternion', codec: 'd2', shape: [F, n, 4], values: each((t) => [0, 1, 2, 3].flatMap((b) => turn(b, t))) },
    { name: 'coordinates', codec: 'd2', shape: [F, 4], values: each((t) => [t, -t, t, t]) },
    { name: 'rates', codec: 'd2', shape: [F, 4], values: each(() => [1, -1, 1, 1]) },
    { name: 'efforts', codec: 'd2', shape: [F, 4], values: each((t) => [2 * Math.cos(3 * t), 0, 0, 0]) },
    { name: 'targets', codec: 'd2', shape: [F, 4], values: each(() => [1, 0, 0, 0]) },
    { name: 'joint_gap', codec: 'l1', shape: [F, 4], steps: 8, values: each((_, i) => [0, 1e-14, 1e-13, gap(i)]) },
    {
      name: 'reactions',
      codec: 'l1',
      shape: [F, 4, 2],
      steps: 8,
      values: each(() => [20, 1, 10, 0.5, 10, 0.5, 20, 1]),
    },
    { name: 'residual.natural_map', codec: 'f4', shape: [F], values: times.map((_, i) => 1e-11 * (1 + (i % 7))) },
    { name: 'residual.error', codec: 'f4', shape: [F], values: times.map((_, i) => (status(i) === 4 ? 1e-3 : 2e-10)) },
    { name: 'residual.joint_gap', codec: 'f4', shape: [F], values: times.map((_, i) => gap(i)) },
    { name: 'residual.penetration', codec: 'f4', shape: [F], values: times.map(() => 0) },
    { name: 'status', codec: 'u1', shape: [F], values: times.map((_, i) => (i ? status(i) : 255)) },
    { name: 'iterations', codec: 'u4', shape: [F], values: times.map(() => 9) },
    { name: 'energy.kinetic', codec: 'f4', shape: [F], values: times.map(() => 0.4) },
    { name: 'energy.potential', codec: 'f4', shape: [F], values: times.map((t) => 9.81 * 1.5 * tip(t)[2]!) },
    {
      name: 'contacts.offset',
      codec: 'u4',
      shape: [F + 1],
      values: Array.from({ length: F + 1 }, (_, i) => i * contact),
    },
  ];
  if (contact) {
    sections.push(
      { name: 'contacts.point', codec: 'q2', shape: [F, 3], values: each((t) => [0.2 * t, -0.35, 0]) },
      { name: 'contacts.normal', codec: 'q2', shape: [F, 3], values: each(() => [0, 0, 1]) },
      { name: 'contacts.force', codec: 'f4', shape: [F, 3], values: each(() => [-4, 0, 8]) },
      { name: 'contacts.gap', codec: 'f4', shape: [F], values: times.map(() => 0) },
      { name: 'contacts.mu', codec: 'f4', shape: [F], values: times.map(() => 0.5) },
      { name: 'contacts.mode', codec: 'u1', shape: [F], values: times.map(() => 2) },
      { name: 'contacts.geoms', codec: 'i4', shape: [F, 2], values: each(() => [0, 1]) },
    );
  }
  const none = (k: number): null[] => Array.from({ length: k }, () => null);
  const header = {
    version: 1,
    kind: options.kind ?? 'motion',
    scene: options.scene ?? name('bars'),
    description: '',
    dt: 1e-3,
    solver: 'cascade',
    integrator: 'moreau',
    tolerance: 1e-9,
    acceptable: 1e-6,
    gravity: [0, 0, -9.81],
    sarrus_version: '0.1.0',
    begin: 0,
    duration: (F - 1) / fps,
    samples: F,
    frames: F,
    frame_rate: fps,
    every_step: true,
    end: { status: 'ok', message: '' },
    missing: ['joint_angle', 'energy.work_in', 'energy.dissipated', 'energy.unaccounted'],
    bodies: {
      names: ['crank', 'coupler', 'rocker', 'ball'].map(name),
      mass: [0.5, 1.2, 0.5, 0.8],
      inertia: [
        [1e-4, 3e-3, 3e-3, 0, 0, 0],
        [2e-4, 4e-2, 4e-2, 0, 0, 0],
        [1e-4, 3e-3, 3e-3, 0, 0, 0],
        [8e-4, 8e-4, 8e-4, 0, 0, 0],
      ],
      limb: [0, 0, 0, 1],
      shaft: [0, 0, 0, 0],
    },
    joints: {
      names: ['drive', 'elbow', 'wrist', 'closing'].map(name),
      type: ['revolute', 'revolute', 'revolute', 'revolute'],
      base: [-1, 0, 1, -1],
      follower: [0, 1, 2, 2],
      anchor_base: [
        [0, 0, high],
        [r / 2, 0, 0],
        [w / 2, 0, 0],
        [w, 0, high],
      ],
      anchor_follower: [
        [-r / 2, 0, 0],
        [-w / 2, 0, 0],
        [r / 2, 0, 0],
        [-r / 2, 0, 0],
      ],
      axes_base: [hinge, hinge, hinge, hinge],
      axes_follower: [hinge, hinge, hinge, hinge],
      length: [0, 0, 0, 0],
      closes_loop: [0, 0, 0, 1],
      first_dof: [0, 1, 2, 3],
      dofs: [1, 1, 1, 1],
      glyph: [
        [0.02, 0.03],
        [0.02, 0.03],
        [0.02, 0.03],
        [0.02, 0.03],
      ],
      axes: none(4),
    },
    loops: [{ joints: [3, 2, 1, 0], bodies: [-1, 2, 1, 0] }],
    couplings: [],
    dofs: {
      names: ['drive', 'elbow', 'wrist', 'closing'].map(name),
      unit: ['rad', 'rad', 'rad', 'rad'],
      joint: [0, 1, 2, 3],
      mode: ['velocity', 'none', 'none', 'none'],
      lower: none(4),
      upper: none(4),
      target_lower: [-3, null, null, null],
      target_upper: [3, null, null, null],
      effort_lower: [-5, null, null, null],
      effort_upper: [5, null, null, null],
      drive: [name('motor'), '', '', ''],
    },
    geoms: { names: [name('floor'), name('ball')], body: [-1, 3] },
    parts: {
      body: [0, 1, 2, 3, ...(floor ? [-1] : [])],
      geom: [-1, -1, -1, 1, ...(floor ? [0] : [])],
      kind: ['box', 'box', 'box', 'sphere', ...(floor ? ['plane'] : [])],
      size: [
        [r / 2, 0.02, 0.02],
        [w / 2, 0.02, 0.02],
        [r / 2, 0.02, 0.02],
        [0.05, 0, 0],
        ...(floor ? [[0, 0, 0]] : []),
      ],
      position: [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], ...(floor ? [[0, 0, 0]] : [])],
      quaternion: [identity, identity, identity, identity, ...(floor ? [identity] : [])],
      mesh: [-1, -1, -1, -1, ...(floor ? [-1] : [])],
      height_field: [-1, -1, -1, -1, ...(floor ? [-1] : [])],
      colour: [null, null, null, '#20a040ff', ...(floor ? [null] : [])],
    },
    meshes: 0,
    height_fields: [],
    view: { radius: 0.55, centre: [0.3, -0.1, 0.4], follow: -1, floor: floor ? 0 : null, weight: 29.4 },
  };
  return { header, sections, joint, body };
}
