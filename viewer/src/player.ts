// What the run row commands and the picture shows: a motion that plays by itself, or a live simulation that is told to.
import type { Frame } from './frame';
import type { Header } from './header';
import { indexAt, type History } from './history';
import type { Motion } from './motion';

export interface Player {
  readonly header: Header;
  readonly history: History;
  readonly live: boolean;
  readonly begin: number;
  readonly end: number;
  readonly time: number;
  readonly playing: boolean;
  readonly speed: number;
  play(): void;
  pause(): void;
  step(n: number): void;
  seek(t: number): void;
  reset(): void;
  setSpeed(x: number): void;
  // The frame to draw, ms of wall time after the last call; null: nothing changed.
  advance(seconds: number): Frame | null;
}

export const slowest = 1 / 64,
  fastest = 16;

export class MotionPlayer implements Player {
  readonly live = false;
  readonly header: Header;
  readonly history: History;
  playing = false;
  speed = 1;
  time: number;
  private shown = NaN;
  private row = -1;
  private readonly frame: Frame;

  constructor(readonly motion: Motion) {
    this.header = motion.header;
    this.history = motion;
    this.time = motion.begin;
    this.frame = motion.newFrame();
  }

  get begin(): number {
    return this.motion.begin;
  }
  get end(): number {
    return this.motion.end;
  }

  play(): void {
    if (this.time >= this.end) this.time = this.begin;
    this.playing = true;
  }
  pause(): void {
    this.playing = false;
  }
  reset(): void {
    this.time = this.begin;
  }
  setSpeed(x: number): void {
    this.speed = Math.min(fastest, Math.max(slowest, x));
  }

  seek(t: number): void {
    this.time = Math.min(this.end, Math.max(this.begin, t));
  }

  // n frames on or back, from the frame that is shown.
  step(n: number): void {
    this.playing = false;
    const m = this.motion;
    let i = indexAt(this.motion, this.time);
    // Between two frames a step back goes to the earlier one.
    if (n < 0 && m.time(i) > this.time + 1e-9) ((i -= 1), (n += 1));
    if (n > 0 && m.time(i) > this.time + 1e-9) n -= 1;
    this.time = m.time(Math.min(m.count - 1, Math.max(0, i + n)));
  }

  advance(seconds: number): Frame | null {
    if (this.playing) {
      this.time += seconds * this.speed;
      if (this.time >= this.end) {
        this.time = this.end;
        this.playing = false;
      }
    }
    if (this.time === this.shown) return null;
    this.shown = this.time;
    const i = indexAt(this.motion, this.time);
    this.motion.interpolate(this.time, this.frame);
    if (i !== this.row) this.motion.fill(i, this.frame);
    this.motion.fillContacts(i, this.frame);
    this.row = i;
    return this.frame;
  }
}
