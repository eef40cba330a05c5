// The strip under the slider: the worst step of each pixel by colour. A click goes to that very step.
import { status, statusNames } from './frame';
import type { History } from './history';
import { statusColours } from './theme';

export class Timeline {
  readonly canvas = document.createElement('canvas');
  onSeek: (t: number) => void = () => {};
  private version = -1;
  private width = 0;
  private from = 0;
  private to = 0;

  constructor(private readonly history: History) {
    this.canvas.className = 'strip';
    this.canvas.title =
      'Worst step in each pixel: green converged, yellow accepted, orange fallback, red sub-stepped or failed. Click to go there.';
    this.canvas.addEventListener('click', (e) => this.onSeek(this.worstAt(e.offsetX)));
    this.canvas.addEventListener('mousemove', (e) => {
      const i = this.worst(e.offsetX),
        s = i < 0 ? status.none : this.history.scalar('status', i, 0);
      this.canvas.title = i < 0 ? '' : `${this.history.time(i).toFixed(3)} s: ${statusNames[s] ?? 'no step'}`;
    });
  }

  // Between two times, which the slider spans; drawn when something changed.
  draw(from: number, to: number, force = false): void {
    const c = this.canvas,
      ratio = Math.min(devicePixelRatio, 2),
      w = Math.max(1, Math.round(c.clientWidth * ratio));
    if (!force && this.version === this.history.version && w === this.width && from === this.from && to === this.to)
      return;
    [this.version, this.width, this.from, this.to] = [this.history.version, w, from, to];
    c.width = w;
    c.height = Math.max(1, Math.round(c.clientHeight * ratio));
    const x = c.getContext('2d');
    if (!x) return;
    const worst = new Int8Array(w).fill(-1);
    const span = to - from || 1;
    for (let i = 0; i < this.history.count; ++i) {
      const s = this.history.scalar('status', i, 0);
      if (s === status.none) continue;
      // A frame stands for what happened since the one before it.
      const a = Math.floor(((Math.max(from, this.history.time(Math.max(0, i - 1))) - from) / span) * w);
      const b = Math.max(a, Math.ceil(((this.history.time(i) - from) / span) * w) - 1);
      for (let k = Math.max(0, a); k <= b && k < w; ++k) worst[k] = Math.max(worst[k]!, Math.min(4, s));
    }
    for (let k = 0; k < w; ++k) {
      if (worst[k]! < 0) continue;
      x.fillStyle = statusColours[worst[k]!]!;
      x.globalAlpha = worst[k] === 0 ? 0.75 : 1;
      x.fillRect(k, 0, 1, c.height);
    }
    // A single bad step is at least three pixels wide.
    for (let k = 0; k < w; ++k) {
      if (worst[k]! < 2) continue;
      x.globalAlpha = 1;
      x.fillStyle = statusColours[worst[k]!]!;
      x.fillRect(k - ratio, 0, 2 * ratio + 1, c.height);
    }
  }

  // Index of the worst frame near a pixel.
  private worst(px: number): number {
    const w = this.canvas.clientWidth || 1,
      span = this.to - this.from,
      t0 = this.from + ((px - 2) / w) * span,
      t1 = this.from + ((px + 2) / w) * span;
    let best = -1,
      rank = -1;
    const middle = (t0 + t1) / 2;
    for (let i = 0; i < this.history.count; ++i) {
      const t = this.history.time(i);
      if (t < t0 || (i > 0 && this.history.time(i - 1) > t1)) continue;
      const s = this.history.scalar('status', i, 0),
        r = s === status.none ? -0.5 : s;
      if (r > rank || (r === rank && Math.abs(t - middle) < Math.abs(this.history.time(best) - middle))) {
        rank = r;
        best = i;
      }
    }
    return best;
  }

  private worstAt(px: number): number {
    const i = this.worst(px),
      w = this.canvas.clientWidth || 1;
    if (i >= 0 && this.history.scalar('status', i, 0) >= 1 && this.history.scalar('status', i, 0) <= 4)
      return this.history.time(i);
    return this.from + (px / w) * (this.to - this.from);
  }
}
