// A recorded motion: frames of a container, with poses in between.
import type { Container, Values } from './container';
import { contactStride, contactsOf, emptyFrame, energyNames, residualNames, status, type Frame } from './frame';
import type { Header } from './header';
import type { History, Scalar } from './history';

const dofSections = ['coordinates', 'rates', 'efforts', 'targets'];
const jointSections = ['joint_gap', 'joint_angle'];

export class Motion implements History {
  readonly header: Header;
  readonly count: number;
  readonly version = 0;
  private readonly times: Values;
  private readonly positions: Values;
  private readonly quaternions: Values;
  private readonly scratch: Frame;
  private readonly n: number;

  constructor(readonly container: Container) {
    this.header = container.header;
    this.n = this.header.bodies.names.length;
    const need = (name: string): Values => {
      const v = container.get(name);
      if (!v) throw new Error(`the motion has no section ${name}`);
      return v;
    };
    this.times = need('time');
    this.count = this.times.length;
    if (this.count === 0) throw new Error('the motion has no frames');
    this.positions = this.n ? need('position') : new Float64Array(0);
    this.quaternions = this.n ? need('quaternion') : new Float64Array(0);
    if (this.positions.length < 3 * this.n * this.count || this.quaternions.length < 4 * this.n * this.count) {
      throw new Error('the motion lacks poses');
    }
    this.scratch = this.newFrame();
  }

  newFrame(): Frame {
    return emptyFrame(this.n, this.header.dofs.names.length, this.header.joints.names.length);
  }

  get potential(): number {
    return this.scalar('energy', 0, 1);
  }
  get begin(): number {
    return this.times[0]!;
  }
  get end(): number {
    return this.times[this.count - 1]!;
  }
  time(i: number): number {
    return this.times[i]!;
  }

  numbers(i: number, contacts = false): Frame {
    this.scratch.time = this.time(i);
    this.fill(i, this.scratch);
    if (contacts) this.fillContacts(i, this.scratch);
    return this.scratch;
  }

  scalar(what: Scalar, i: number, k: number): number {
    const get = (name: string, at: number): number => this.container.get(name)?.[at] ?? NaN;
    const h = this.header,
      nd = h.dofs.names.length,
      nj = h.joints.names.length;
    switch (what) {
      case 'status':
        return this.container.get('status')?.[i] ?? status.none;
      case 'iterations':
        return get('iterations', i);
      case 'energy':
        return get('energy.' + energyNames[k]!, i);
      case 'residual':
        return get('residual.' + residualNames[k]!, i);
      case 'dof':
        return get(dofSections[k & 3]!, i * nd + (k >> 2));
      case 'joint':
        return (k & 3) < 2
          ? get(jointSections[k & 3]!, i * nj + (k >> 2))
          : get('reactions', 2 * (i * nj + (k >> 2)) + (k & 1));
    }
  }

  pose(i: number, body: number, out: Float64Array): void {
    const p = 3 * (i * this.n + body),
      q = 4 * (i * this.n + body);
    for (let k = 0; k < 3; ++k) out[k] = this.positions[p + k]!;
    for (let k = 0; k < 4; ++k) out[3 + k] = this.quaternions[q + k]!;
  }

  // All numbers that are recorded for frame i.
  fill(i: number, out: Frame): void {
    const h = this.header,
      nd = h.dofs.names.length,
      nj = h.joints.names.length,
      get = (name: string): Values | null => this.container.get(name);
    out.status = get('status')?.[i] ?? status.none;
    out.steps = get('steps')?.[i] ?? 0;
    out.iterations = get('iterations')?.[i] ?? NaN;
    residualNames.forEach((name, k) => (out.residual[k] = get('residual.' + name)?.[i] ?? NaN));
    energyNames.forEach((name, k) => (out.energy[k] = get('energy.' + name)?.[i] ?? NaN));
    dofSections.forEach((name, k) => {
      const v = get(name);
      for (let d = 0; d < nd; ++d) out.dof[4 * d + k] = v ? v[i * nd + d]! : NaN;
    });
    jointSections.forEach((name, k) => {
      const v = get(name);
      for (let j = 0; j < nj; ++j) out.joint[4 * j + k] = v ? v[i * nj + j]! : NaN;
    });
    const reactions = get('reactions');
    for (let j = 0; j < nj; ++j) {
      for (let k = 0; k < 2; ++k) out.joint[4 * j + 2 + k] = reactions ? reactions[2 * (i * nj + j) + k]! : NaN;
    }
  }

  // Contacts of frame i, relative to out.origin.
  fillContacts(i: number, out: Frame): void {
    const get = (name: string): Values | null => this.container.get('contacts.' + name);
    const offset = get('offset'),
      from = offset?.[i] ?? 0,
      count = (offset?.[i + 1] ?? 0) - from;
    if (out.contacts.f.length < contactStride * count) out.contacts = contactsOf(count);
    const c = out.contacts;
    c.count = count;
    if (count === 0) return;
    const point = get('point'),
      normal = get('normal'),
      force = get('force');
    const gap = get('gap'),
      mu = get('mu'),
      modes = get('mode'),
      geoms = get('geoms');
    for (let k = 0; k < count; ++k) {
      const at = contactStride * k,
        row = from + k;
      for (let a = 0; a < 3; ++a) {
        c.f[at + a] = (point?.[3 * row + a] ?? 0) - out.origin[a]!;
        c.f[at + 3 + a] = normal?.[3 * row + a] ?? 0;
        c.f[at + 6 + a] = force?.[3 * row + a] ?? 0;
      }
      c.f[at + 9] = gap?.[row] ?? NaN;
      c.f[at + 10] = mu?.[row] ?? NaN;
      c.i[at + 11] = geoms?.[2 * row] ?? -1;
      c.i[at + 12] = geoms?.[2 * row + 1] ?? -1;
      c.i[at + 13] = modes?.[row] ?? 3;
    }
  }

  // Poses at time t, between frames by straight lines and normalised quaternions. Far out the origin follows in whole metres.
  interpolate(t: number, out: Frame): void {
    let a = 0,
      b = this.count - 1;
    while (b - a > 1) {
      const m = (a + b) >> 1;
      if (this.times[m]! <= t) a = m;
      else b = m;
    }
    const span = this.times[b]! - this.times[a]!;
    const u = span > 0 ? Math.min(1, Math.max(0, (t - this.times[a]!) / span)) : 0;
    out.time = t;
    const n = this.n,
      P = this.positions,
      Q = this.quaternions,
      follow = this.header.view.follow;
    for (let k = 0; k < 3; ++k) {
      const x = follow >= 0 ? P[3 * (a * n + follow) + k]! : this.header.view.centre[k]!;
      out.origin[k] = Math.abs(x) < 100 ? 0 : Math.round(x);
    }
    for (let body = 0; body < n; ++body) {
      const pa = 3 * (a * n + body),
        pb = 3 * (b * n + body),
        qa = 4 * (a * n + body),
        qb = 4 * (b * n + body),
        at = 7 * body;
      for (let k = 0; k < 3; ++k) out.pose[at + k] = P[pa + k]! + u * (P[pb + k]! - P[pa + k]!) - out.origin[k]!;
      let dot = 0,
        norm = 0;
      for (let k = 0; k < 4; ++k) dot += Q[qa + k]! * Q[qb + k]!;
      for (let k = 0; k < 4; ++k) {
        const v = (1 - u) * Q[qa + k]! + (dot < 0 ? -u : u) * Q[qb + k]!;
        out.pose[at + 3 + k] = v;
        norm += v * v;
      }
      const s = norm > 0 ? 1 / Math.sqrt(norm) : 0;
      for (let k = 0; k < 4; ++k) out.pose[at + 3 + k]! *= s;
    }
  }
}
