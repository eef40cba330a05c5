// Contacts of a frame: a disc where it touches, the force as an arrow, the friction cone around the normal, colours by mode.
import { contactStride, geomOf, mode, modeOf, type Frame } from './frame';
import type { Header } from './header';
import { Marks } from './instances';
import * as theme from './theme';
import * as T from './vendor';

const Y = new T.Vector3(0, 1, 0);

export interface ContactLayers {
  contacts: boolean;
  cones: boolean;
  normals: boolean;
}

export class ContactMarks {
  readonly group = new T.Group();
  private readonly shaft: Marks;
  private readonly head: Marks;
  private readonly cone: Marks;
  private readonly rim: Marks;
  private readonly dot: Marks;
  private readonly hollow: Marks;
  private readonly normal: Marks;
  private readonly colours = [theme.force.open, theme.force.sticking, theme.force.sliding, theme.force.unknown].map(
    (c) => new T.Color(c),
  );
  private readonly coneColour = new T.Color(theme.cone);
  private readonly normalColour = new T.Color('#4f7fd0');

  // scale: 1 for a mechanism half a metre large.
  constructor(
    private readonly header: Header,
    private readonly scale: number,
  ) {
    const lit = new T.MeshStandardMaterial({ color: '#ffffff', roughness: 0.45 });
    // Marks glow a little, so that their colour is the same on all sides.
    lit.onBeforeCompile = (s) => {
      s.fragmentShader = s.fragmentShader.replace(
        '#include <emissivemap_fragment>',
        '#include <emissivemap_fragment>\ntotalEmissiveRadiance += 0.45 * diffuseColor.rgb;',
      );
    };
    const flat = new T.MeshBasicMaterial({ color: '#ffffff' });
    flat.toneMapped = false;
    const glass = new T.MeshBasicMaterial({
      color: '#ffffff',
      transparent: true,
      opacity: 0.22,
      side: T.DoubleSide,
      depthWrite: false,
    });
    glass.toneMapped = false;
    this.shaft = new Marks(this.group, new T.CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), lit);
    this.head = new Marks(this.group, new T.ConeGeometry(1, 1, 20).translate(0, 0.5, 0), lit);
    this.cone = new Marks(
      this.group,
      new T.ConeGeometry(1, 1, 40, 1, true).rotateX(Math.PI).translate(0, 0.5, 0),
      glass,
      2,
    );
    this.rim = new Marks(
      this.group,
      new T.TorusGeometry(1, 0.018, 6, 40).rotateX(Math.PI / 2).translate(0, 1, 0),
      flat,
    );
    this.dot = new Marks(this.group, new T.CylinderGeometry(1, 1, 1, 24), flat);
    this.hollow = new Marks(this.group, new T.TorusGeometry(0.84, 0.16, 6, 24).rotateX(Math.PI / 2), flat);
    this.normal = new Marks(this.group, new T.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), flat);
  }

  // Body of a geom, -1 for the world and what is not known.
  bodyOf(geom: number): number {
    return this.header.geoms.body[geom] ?? -1;
  }

  show(frame: Frame, layers: ContactLayers): void {
    const c = frame.contacts,
      all = [this.shaft, this.head, this.cone, this.rim, this.dot, this.hollow, this.normal];
    for (const m of all) m.begin(layers.contacts || layers.cones || layers.normals ? c.count : 0);
    const p = new T.Vector3(),
      f = new T.Vector3(),
      n = new T.Vector3(),
      tip = new T.Vector3(),
      turn = new T.Quaternion(),
      s = new T.Vector3(),
      M = new T.Matrix4();
    const k0 = this.scale,
      half = 0.5 * this.header.view.weight,
      smallest = 1e-6 * this.header.view.weight;
    for (let k = 0; k < c.count; ++k) {
      const at = contactStride * k,
        v = c.f;
      p.set(v[at]!, v[at + 1]!, v[at + 2]!);
      n.set(v[at + 3]!, v[at + 4]!, v[at + 5]!);
      f.set(v[at + 6]!, v[at + 7]!, v[at + 8]!);
      // On the body that is not the world.
      if (this.bodyOf(geomOf(c, k, 1)) < 0) {
        f.negate();
        n.negate();
      }
      const size = f.length(),
        m = modeOf(c, k),
        open = !(size > smallest) || m === mode.open,
        colour = open ? this.colours[0]! : (this.colours[m] ?? this.colours[3]!);
      turn.setFromUnitVectors(Y, n);
      if (layers.contacts) {
        if (open) this.hollow.add(M.compose(p, turn, s.setScalar(0.013 * k0)), colour);
        else this.dot.add(M.compose(p, turn, s.set(0.014 * k0, 0.0015 * k0, 0.014 * k0)), colour);
      }
      if (layers.normals)
        this.normal.add(M.compose(p, turn, s.set(0.0022 * k0, 0.16 * k0, 0.0022 * k0)), this.normalColour);
      const mu = v[at + 10]!;
      if (layers.cones && !open && mu > 0) {
        const high = 0.07 * k0 * Math.min(1, 1.5 / mu);
        M.compose(p, turn, s.set(mu * high, high, mu * high));
        this.cone.add(M, this.coneColour);
        this.rim.add(M, this.coneColour);
      }
      if (layers.contacts && !open) {
        f.divideScalar(size);
        const length = Math.min(0.22 * k0 * Math.sqrt(size / half), 3 * this.header.view.radius),
          head = Math.min(0.036 * k0, 0.45 * length),
          r = 0.0055 * k0 * Math.min(1, length / (0.06 * k0));
        turn.setFromUnitVectors(Y, f);
        this.shaft.add(M.compose(p, turn, s.set(r, length - head, r)), colour);
        this.head.add(
          M.compose(tip.copy(p).addScaledVector(f, length - head), turn, s.set(2.4 * r, head, 2.4 * r)),
          colour,
        );
      }
    }
    for (const m of all) m.end();
  }
}
