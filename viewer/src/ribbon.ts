// Lines of a width in pixels: loops, traces, ropes, the pull of the mouse.
import * as T from './vendor';

export class Ribbon {
  readonly object: T.LineSegments2;
  private readonly material: T.LineMaterial;
  private points: number[] = [];

  constructor(options: { colour: string; width: number; onTop: boolean; opacity?: number }) {
    this.material = new T.LineMaterial({
      color: options.colour,
      linewidth: options.width,
      transparent: (options.opacity ?? 1) < 1 || options.onTop,
      opacity: options.opacity ?? 1,
      depthTest: !options.onTop,
    });
    this.material.toneMapped = false;
    this.object = new T.LineSegments2(new T.LineSegmentsGeometry(), this.material);
    this.object.frustumCulled = false;
    this.object.renderOrder = options.onTop ? 5 : 0;
    this.object.visible = false;
  }

  setColour(colour: string): void {
    this.material.color.set(colour);
  }

  begin(): void {
    this.points = [];
  }

  line(points: readonly T.Vector3[]): void {
    for (let i = 0; i + 1 < points.length; ++i) this.segment(points[i]!, points[i + 1]!);
  }

  segment(a: T.Vector3, b: T.Vector3): void {
    this.points.push(a.x, a.y, a.z, b.x, b.y, b.z);
  }

  dashed(points: readonly T.Vector3[], dash: number): void {
    let walked = 0;
    for (let i = 0; i + 1 < points.length; ++i) {
      const a = points[i]!,
        b = points[i + 1]!,
        length = a.distanceTo(b);
      // At most 200 dashes a stretch, however long it is.
      const step = Math.max(dash, length / 200);
      for (let s = 0; s < length; ) {
        const phase = (walked + s) % (2 * step),
          left = Math.min(length - s, phase < step ? step - phase : 2 * step - phase) + 1e-9 * step;
        if (phase < step)
          this.segment(a.clone().lerp(b, s / length), a.clone().lerp(b, Math.min(1, (s + left) / length)));
        s += left;
      }
      walked += length;
    }
  }

  end(): void {
    this.object.visible = this.points.length > 0;
    if (!this.points.length) return;
    this.object.geometry.dispose();
    this.object.geometry = new T.LineSegmentsGeometry();
    this.object.geometry.setPositions(this.points);
  }
}
