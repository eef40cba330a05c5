// What is known of one moment, as the page draws it: the layout of live frames (docs/live-protocol.md), into which motions are
// unpacked too. All points are relative to origin.

export const status = { converged: 0, accepted: 1, fallback: 2, substepped: 3, failed: 4, none: 255 } as const;
export const statusNames = ['converged', 'accepted', 'fallback', 'substepped', 'failed'];
export const solveNames = ['converged', 'out of iterations', 'stalled', 'infeasible', 'not finite'];

export const residualNames = [
  'natural_map',
  'error',
  'joint_gap',
  'joint_angle',
  'penetration',
  'limit_violation',
] as const;
export const energyNames = ['kinetic', 'potential', 'work_in', 'dissipated', 'unaccounted'] as const;
export type ResidualName = (typeof residualNames)[number];
export type EnergyName = (typeof energyNames)[number];

export const contactStride = 14; // point, normal, force, gap, mu, geom A, geom B, mode
export const modeNames = ['open', 'sticking', 'sliding', 'touching'];
export const mode = { open: 0, sticking: 1, sliding: 2, unknown: 3 } as const;

export interface Contacts {
  count: number;
  f: Float32Array;
  i: Int32Array; // the same bytes
}

export interface Frame {
  time: number;
  origin: Float64Array;
  status: number;
  solve: number;
  steps: number;
  iterations: number; // NaN: not recorded, as everywhere below
  residual: Float32Array; // by residualNames
  energy: Float32Array; // by energyNames
  pose: Float32Array; // by body: x y z, w x y z
  dof: Float32Array; // by dof: coordinate, rate, effort, target
  joint: Float32Array; // by joint: gap, angle, reaction force, reaction torque; empty: not there
  contacts: Contacts;
}

// What only a live frame has.
export interface LiveFrame extends Frame {
  paused: boolean;
  failed: boolean;
  behind: boolean;
  set: boolean; // the state was set: traces begin again
  sequence: number;
  earliest: number;
  latest: number;
  forget: number; // frames of later times are of a future that is no more; Infinity: of none
  index: number;
  speedAsked: number;
  speedReached: number;
  dragBody: number;
  drag: Float32Array; // point held, target (both relative to origin), force
}

export const geomOf = (c: Contacts, k: number, side: 0 | 1): number => c.i[contactStride * k + 11 + side]!;
export const modeOf = (c: Contacts, k: number): number => c.i[contactStride * k + 13]! & 255;

export function contactsOf(count: number): Contacts {
  const f = new Float32Array(contactStride * count);
  return { count, f, i: new Int32Array(f.buffer) };
}

export function emptyFrame(bodies: number, dofs: number, joints: number): Frame {
  const pose = new Float32Array(7 * bodies);
  for (let b = 0; b < bodies; ++b) pose[7 * b + 3] = 1;
  return {
    time: 0,
    origin: new Float64Array(3),
    status: status.none,
    solve: status.none,
    steps: 0,
    iterations: NaN,
    residual: new Float32Array(6).fill(NaN),
    energy: new Float32Array(5).fill(NaN),
    pose,
    dof: new Float32Array(4 * dofs).fill(NaN),
    joint: new Float32Array(4 * joints).fill(NaN),
    contacts: contactsOf(0),
  };
}

// A message of type 2. Throws if its counts and its length do not agree.
export function readLiveFrame(data: ArrayBuffer): LiveFrame {
  const v = new DataView(data);
  if (data.byteLength < 184 || v.getUint8(0) !== 2) throw new Error('not a frame');
  const n = v.getUint32(120, true),
    nd = v.getUint32(124, true),
    nj = v.getUint32(128, true),
    k = v.getUint32(132, true);
  const dofAt = 184 + 28 * n,
    jointAt = dofAt + 16 * nd,
    contactAt = jointAt + 16 * nj;
  if (contactAt + 56 * k !== data.byteLength) throw new Error('a frame whose length is not that of its counts');
  const flags = v.getUint8(1);
  return {
    status: v.getUint8(2),
    solve: v.getUint8(3),
    time: v.getFloat64(8, true),
    origin: new Float64Array(data, 16, 3),
    steps: v.getUint32(60, true),
    residual: new Float32Array(data, 72, 6),
    iterations: v.getFloat32(96, true),
    energy: new Float32Array(data, 100, 5),
    pose: new Float32Array(data, 184, 7 * n),
    dof: new Float32Array(data, dofAt, 4 * nd),
    joint: new Float32Array(data, jointAt, 4 * nj),
    contacts: { count: k, f: new Float32Array(data, contactAt, 14 * k), i: new Int32Array(data, contactAt, 14 * k) },
    paused: (flags & 1) !== 0,
    failed: (flags & 2) !== 0,
    behind: (flags & 4) !== 0,
    set: (flags & 16) !== 0,
    sequence: v.getUint32(4, true),
    earliest: v.getFloat64(40, true),
    latest: v.getFloat64(48, true),
    forget: v.getFloat64(176, true),
    index: v.getUint32(56, true),
    speedAsked: v.getFloat32(64, true),
    speedReached: v.getFloat32(68, true),
    dragBody: v.getInt32(136, true),
    drag: new Float32Array(data, 140, 9),
  };
}
