// Colours by a quantity in place of those of limbs and files.
import type { Bodies } from './bodies';
import type { Frame } from './frame';
import type { Header } from './header';
import { indexAt, type History } from './history';
import { twistOf } from './quantity';
import { amber, gapAmber, gapRed, limbs, ramp, red } from './theme';
import { Color } from './vendor';

export const tintNames = ['limb', 'body', 'mechanism', 'mass', 'speed', 'gap'] as const;

export class Tint {
  name: string = 'limb';
  private applied = 'limb';
  private readonly mechanism: number[];
  private readonly mass: number[];
  private readonly jointsOf: number[][];

  constructor(
    private readonly header: Header,
    private readonly history: History,
  ) {
    const n = header.bodies.names.length,
      root = Array.from({ length: n }, (_, i) => i),
      t = header.joints;
    const find = (x: number): number => {
      while (root[x] !== x) x = root[x] = root[root[x]!]!;
      return x;
    };
    t.base.forEach((b, j) => {
      const f = t.follower[j]!;
      if (b >= 0 && f >= 0) root[find(b)] = find(f);
    });
    const ids = new Map<number, number>();
    this.mechanism = root.map((_, b) => {
      const r = find(b);
      if (!ids.has(r)) ids.set(r, ids.size);
      return ids.get(r)!;
    });
    const logs = header.bodies.mass.map((m) => Math.log10(Math.max(m, 1e-12))),
      lo = Math.min(...logs),
      hi = Math.max(...logs);
    this.mass = logs.map((x) => (hi > lo ? (x - lo) / (hi - lo) : 0.5));
    this.jointsOf = Array.from({ length: n }, (_, b) =>
      t.base.flatMap((base, j) => (base === b || t.follower[j] === b ? [j] : [])),
    );
  }

  apply(bodies: Bodies, f: Frame): void {
    const moving = this.name === 'speed' || this.name === 'gap';
    if (!moving && this.name === this.applied) return;
    this.applied = this.name;
    bodies.setTint(this.colour(f));
  }

  private colour(f: Frame): ((body: number, out: Color) => void) | null {
    const set = (out: Color, x: number): void => {
      out.setRGB(...ramp(x), 'srgb');
    };
    switch (this.name) {
      case 'body':
        return (b, out) => out.set(limbs[b % limbs.length]!);
      case 'mechanism':
        return (b, out) => out.set(limbs[this.mechanism[b]! % limbs.length]!);
      case 'mass':
        return (b, out) => set(out, this.mass[b]!);
      case 'speed': {
        const i = indexAt(this.history, f.time),
          r = this.header.view.radius;
        return (b, out) => {
          const t = twistOf(this.history, i, b);
          set(out, t ? Math.sqrt(Math.hypot(...t.v) / (6 * Math.sqrt(9.81 * r))) : 0);
        };
      }
      case 'gap':
        return (b, out) => {
          let worst = NaN;
          if (f.joint.length)
            for (const j of this.jointsOf[b]!) {
              const g = f.joint[4 * j]!;
              if (!(worst >= g)) worst = g;
            }
          // From 1e-15 m to 1e-6 m by order of magnitude, then amber and red as the rings.
          if (Number.isNaN(worst)) out.set('#9aa0a8');
          else if (worst > gapRed) out.set(red);
          else if (worst > gapAmber) out.set(amber);
          else set(out, 0.7 * Math.max(0, (Math.log10(Math.max(worst, 1e-15)) + 15) / 6));
        };
      default:
        return null;
    }
  }
}
