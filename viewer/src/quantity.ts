// What can be plotted, and its values over a history.
import {
  contactStride,
  energyNames,
  geomOf,
  residualNames,
  status,
  type Contacts,
  type EnergyName,
  type ResidualName,
} from './frame';
import type { Header } from './header';
import type { History } from './history';

export type Quantity =
  | { kind: 'energy'; name: EnergyName }
  | { kind: 'residual'; name: ResidualName }
  | { kind: 'iterations' }
  | { kind: 'dof'; dof: number; what: 0 | 1 | 2 | 3 } // coordinate, rate, effort, target
  | { kind: 'joint'; joint: number; what: 0 | 1 | 2 | 3 } // gap, angle, reaction force, reaction torque
  | { kind: 'position'; body: number; axis: 0 | 1 | 2 }
  | { kind: 'speed' | 'spin' | 'kinetic'; body: number }
  | { kind: 'normal' | 'friction'; body: number }; // -1: of all contacts

export const keyOf = (q: Quantity): string => JSON.stringify(q);

const words = {
  natural_map: 'natural map',
  error: 'error',
  joint_gap: 'joint gap',
  joint_angle: 'joint angle',
  penetration: 'penetration',
  limit_violation: 'limits',
};
const energyWords = {
  kinetic: 'kinetic',
  potential: 'Δ potential',
  work_in: 'work in',
  dissipated: 'dissipated',
  unaccounted: 'unaccounted',
};

export function labelOf(q: Quantity, h: Header): string {
  switch (q.kind) {
    case 'energy':
      return energyWords[q.name];
    case 'residual':
      return words[q.name];
    case 'iterations':
      return 'iterations';
    case 'dof':
      return `${h.dofs.names[q.dof]}${['', ' rate', ' effort', ' target'][q.what]}`;
    case 'joint':
      return `${h.joints.names[q.joint]} ${['gap', 'angle error', 'force', 'torque'][q.what]}`;
    case 'position':
      return `${h.bodies.names[q.body]} ${'xyz'[q.axis]}`;
    case 'speed':
    case 'spin':
      return `${h.bodies.names[q.body]} ${q.kind}`;
    case 'kinetic':
      return `${h.bodies.names[q.body]} kinetic`;
    case 'normal':
    case 'friction':
      return q.body < 0 ? 'sum' : h.bodies.names[q.body]!;
  }
}

// Name of the plot in which quantities of the kind meet: those of one unit.
export function plotOf(q: Quantity, h: Header): { title: string; unit: string; log: boolean } {
  switch (q.kind) {
    case 'energy':
    case 'kinetic':
      return { title: 'Energy', unit: 'J', log: false };
    case 'residual':
      return { title: 'Residuals', unit: '', log: true };
    case 'iterations':
      return { title: 'Iterations', unit: '', log: false };
    case 'dof': {
      const rad = h.dofs.unit[q.dof] === 'rad';
      if (q.what === 1 || (q.what === 3 && h.dofs.mode[q.dof] === 'velocity'))
        return { title: 'Rate', unit: rad ? 'rad/s' : 'm/s', log: false };
      if (q.what === 2 || (q.what === 3 && h.dofs.mode[q.dof] === 'force'))
        return { title: 'Effort', unit: rad ? 'N m' : 'N', log: false };
      return { title: 'Coordinate', unit: rad ? 'rad' : 'm', log: false };
    }
    case 'joint':
      return [
        { title: 'Joint gap', unit: 'm', log: true },
        { title: 'Joint angle error', unit: 'rad', log: true },
        { title: 'Reaction force', unit: 'N', log: false },
        { title: 'Reaction torque', unit: 'N m', log: false },
      ][q.what]!;
    case 'position':
      return { title: 'Position', unit: 'm', log: false };
    case 'speed':
      return { title: 'Speed', unit: 'm/s', log: false };
    case 'spin':
      return { title: 'Spin', unit: 'rad/s', log: false };
    case 'normal':
      return { title: 'Normal force', unit: 'N', log: false };
    case 'friction':
      return { title: 'Friction force', unit: 'N', log: false };
  }
}

// The same quantity of another run, found by names; null: it is not there.
export function counterpart(q: Quantity, from: Header, to: Header): Quantity | null {
  const find = (a: string[], b: string[], i: number): number => b.indexOf(a[i]!);
  switch (q.kind) {
    case 'energy':
    case 'residual':
    case 'iterations':
      return q;
    case 'dof': {
      const dof = find(from.dofs.names, to.dofs.names, q.dof);
      return dof < 0 ? null : { ...q, dof };
    }
    case 'joint': {
      const joint = find(from.joints.names, to.joints.names, q.joint);
      return joint < 0 ? null : { ...q, joint };
    }
    default: {
      if (q.body < 0) return q;
      const body = find(from.bodies.names, to.bodies.names, q.body);
      return body < 0 ? null : { ...q, body };
    }
  }
}

export interface Twist {
  v: [number, number, number];
  w: [number, number, number];
}

// Velocity of a body from its poses around frame i, at least 8 ms apart where there are so many: recordings are rounded.
export function twistOf(h: History, i: number, body: number): Twist | null {
  let a = i,
    b = i;
  while (h.time(b) - h.time(a) < 0.008 - 1e-9 && (a > 0 || b + 1 < h.count)) {
    if (a > 0) --a;
    if (b + 1 < h.count && h.time(b) - h.time(a) < 0.016) ++b;
    if (a === 0 && b + 1 >= h.count) break;
  }
  const dt = h.time(b) - h.time(a);
  if (!(dt > 0)) return null;
  const p = new Float64Array(7),
    q = new Float64Array(7);
  h.pose(a, body, p);
  h.pose(b, body, q);
  const [, , , aw = 1, ax = 0, ay = 0, az = 0] = p,
    [, , , bw = 1, bx = 0, by = 0, bz = 0] = q;
  // q_b conj(q_a): the turn from a to b, in world axes.
  let w = bw * aw + bx * ax + by * ay + bz * az;
  let x = -bw * ax + bx * aw - by * az + bz * ay,
    y = -bw * ay + bx * az + by * aw - bz * ax,
    z = -bw * az - bx * ay + by * ax + bz * aw;
  if (w < 0) {
    w = -w;
    x = -x;
    y = -y;
    z = -z;
  }
  const s = Math.hypot(x, y, z),
    k = s > 0 ? (2 * Math.atan2(s, w)) / (s * dt) : 0;
  return { v: [(q[0]! - p[0]!) / dt, (q[1]! - p[1]!) / dt, (q[2]! - p[2]!) / dt], w: [k * x, k * y, k * z] };
}

// Kinetic energy; without a recorded inertia that of its centre alone.
export function kineticOf(h: History, i: number, body: number): number {
  const t = twistOf(h, i, body),
    m = h.header.bodies.mass[body]!;
  if (!t) return NaN;
  let e = 0.5 * m * (t.v[0] ** 2 + t.v[1] ** 2 + t.v[2] ** 2);
  const I = h.header.bodies.inertia[body];
  if (I) {
    const p = new Float64Array(7);
    h.pose(i, body, p);
    const [a, b, c] = rotateBack(p, t.w);
    e += 0.5 * (I[0]! * a * a + I[1]! * b * b + I[2]! * c * c) + I[3]! * a * b + I[4]! * a * c + I[5]! * b * c;
  }
  return e;
}

function rotateBack(pose: Float64Array, v: readonly number[]): [number, number, number] {
  const w = pose[3]!,
    x = -pose[4]!,
    y = -pose[5]!,
    z = -pose[6]!,
    [a = 0, b = 0, c = 0] = v;
  const tx = 2 * (y * c - z * b),
    ty = 2 * (z * a - x * c),
    tz = 2 * (x * b - y * a);
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
}

export function contactForces(c: Contacts, k: number): { normal: number; friction: number } {
  const at = contactStride * k,
    f = c.f;
  const n = f[at + 3]! * f[at + 6]! + f[at + 4]! * f[at + 7]! + f[at + 5]! * f[at + 8]!;
  const all = f[at + 6]! ** 2 + f[at + 7]! ** 2 + f[at + 8]! ** 2;
  return { normal: n, friction: Math.sqrt(Math.max(0, all - n * n)) };
}

export function valueAt(q: Quantity, h: History, i: number): number {
  switch (q.kind) {
    case 'energy':
      return h.scalar('energy', i, energyNames.indexOf(q.name)) - (q.name === 'potential' ? h.potential : 0);
    case 'residual':
      // Before the first step there is nothing to judge.
      if (h.scalar('status', i, 0) === status.none) return NaN;
      return h.scalar('residual', i, residualNames.indexOf(q.name));
    case 'iterations':
      return h.scalar('iterations', i, 0);
    case 'dof':
      return h.scalar('dof', i, 4 * q.dof + q.what);
    case 'joint':
      return h.scalar('joint', i, 4 * q.joint + q.what);
    case 'position': {
      const p = new Float64Array(7);
      h.pose(i, q.body, p);
      return p[q.axis]!;
    }
    case 'speed': {
      const t = twistOf(h, i, q.body);
      return t ? Math.hypot(...t.v) : NaN;
    }
    case 'spin': {
      const t = twistOf(h, i, q.body);
      return t ? Math.hypot(...t.w) : NaN;
    }
    case 'kinetic':
      return kineticOf(h, i, q.body);
    case 'normal':
    case 'friction': {
      const c = h.numbers(i, true).contacts,
        body = h.header.geoms.body;
      let sum = 0;
      for (let k = 0; k < c.count; ++k) {
        if (q.body >= 0 && body[geomOf(c, k, 0)] !== q.body && body[geomOf(c, k, 1)] !== q.body) continue;
        sum += contactForces(c, k)[q.kind];
      }
      return sum;
    }
  }
}

export function seriesOf(q: Quantity, h: History): Float64Array {
  return Float64Array.from({ length: h.count }, (_, i) => valueAt(q, h, i));
}
