// Boxes of uniform density with the mass and the inertia of the bodies: half extents h_x^2 = 3 (I_y + I_z - I_x) / (2 m) along
// the principal axes.
import type { Header } from './header';
import { Instances } from './instances';
import { principal } from './principal';
import { roundedBox } from './shapes';
import * as T from './vendor';

export class InertiaBoxes {
  readonly group = new T.Group();
  readonly recorded: boolean;
  private readonly boxes: Instances;

  constructor(h: Header) {
    this.recorded = h.bodies.inertia.length > 0;
    this.group.visible = false;
    this.boxes = new Instances(
      roundedBox([1, 1, 1], 0.02, 1),
      new T.MeshStandardMaterial({
        color: '#c05fb0',
        transparent: true,
        opacity: 0.5,
        depthWrite: false,
        roughness: 0.6,
      }),
    );
    h.bodies.inertia.forEach((I, b) => {
      const m = h.bodies.mass[b]!,
        { values, v } = principal(I),
        [x = 0, y = 0, z = 0] = values;
      const half = [y + z - x, x + z - y, x + y - z].map((d) => Math.sqrt(Math.max(0, (1.5 * d) / m)) || 1e-4);
      const column = (k: number): T.Vector3 => new T.Vector3(v[0]![k]!, v[1]![k]!, v[2]![k]!);
      const e = [column(0), column(1), column(2)];
      if (e[0]!.clone().cross(e[1]!).dot(e[2]!) < 0) e[2]!.negate();
      this.boxes.add(b, new T.Matrix4().makeBasis(e[0]!, e[1]!, e[2]!).scale(new T.Vector3(half[0], half[1], half[2])));
    });
    this.boxes.build(this.group, false);
  }

  move(bodies: readonly T.Matrix4[]): void {
    if (this.group.visible) this.boxes.move(bodies);
  }
}
