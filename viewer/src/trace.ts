// The way of a picked point over the last seconds.
import type { History } from './history';
import { indexAt } from './history';
import { Ribbon } from './ribbon';
import { accent, accentDark, type Theme } from './theme';
import * as T from './vendor';

const seconds = 5,
  atMost = 600;

export class Trace {
  private readonly ribbon = new Ribbon({ colour: accent, width: 2.5, onTop: false });
  readonly object = this.ribbon.object;
  private body = -1;
  private readonly point = new T.Vector3();

  constructor(private readonly history: History) {}

  get on(): boolean {
    return this.body >= 0;
  }

  // Of a point in the frame of a body; -1: no trace.
  of(body: number, point: T.Vector3): void {
    this.body = body;
    this.point.copy(point);
    if (body < 0) {
      this.ribbon.begin();
      this.ribbon.end();
    }
  }

  setTheme(t: Theme): void {
    this.ribbon.setColour(t.name === 'dark' ? accentDark : accent);
  }

  move(time: number, origin: ArrayLike<number>): void {
    if (this.body < 0 || !this.history.count) return;
    const a = indexAt(this.history, time - seconds),
      b = indexAt(this.history, time),
      step = Math.max(1, Math.ceil((b - a) / atMost));
    const pose = new Float64Array(7),
      points: T.Vector3[] = [],
      q = new T.Quaternion();
    // Counted from the first frame, so that points do not swim from picture to picture.
    for (let i = Math.ceil(a / step) * step; ; i += step) {
      const k = Math.min(i, b);
      this.history.pose(k, this.body, pose);
      q.set(pose[4]!, pose[5]!, pose[6]!, pose[3]!);
      points.push(
        this.point
          .clone()
          .applyQuaternion(q)
          .add(new T.Vector3(pose[0]! - origin[0]!, pose[1]! - origin[1]!, pose[2]! - origin[2]!)),
      );
      if (i >= b) break;
    }
    this.ribbon.begin();
    this.ribbon.line(points);
    this.ribbon.end();
  }
}
