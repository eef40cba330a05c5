// What plots, timeline and card read: moments in the order of time. A motion is one; so is what a live page has seen so far.
import type { Frame } from './frame';
import type { Header } from './header';

export type Scalar = 'status' | 'iterations' | 'energy' | 'residual' | 'dof' | 'joint';

export interface History {
  readonly header: Header;
  readonly count: number;
  readonly version: number; // another one whenever frames came or went: plots are then drawn anew
  readonly potential: number; // energy at the start, which that of plots is relative to
  time(i: number): number;
  // One number of moment i: entry k of what a frame has under that name.
  scalar(what: Scalar, i: number, k: number): number;
  // The numbers of a moment, its contacts if asked; no poses. Valid until the next call.
  numbers(i: number, contacts?: boolean): Frame;
  // Position and quaternion (w x y z) of a body in the world.
  pose(i: number, body: number, out: Float64Array): void;
}

// The first moment not before t: of a motion the frame whose interval holds t.
export function indexAt(h: History, t: number): number {
  let a = 0,
    b = h.count - 1;
  while (a < b) {
    const m = (a + b) >> 1;
    if (h.time(m) >= t - 1e-9) b = m;
    else a = m + 1;
  }
  return Math.max(0, a);
}
