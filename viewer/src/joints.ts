// What joints look like, by type. One that closes a loop is a white disc in a dark ring, whose colour tells its gap: the number
// that was recorded, not what drawn poses give.
import type { Frame } from './frame';
import type { Header } from './header';
import { Instances } from './instances';
import { Ribbon } from './ribbon';
import { cylinder, roundedBox } from './shapes';
import { disc, gapAmber, gapRed, ring, steel, amber, red } from './theme';
import * as T from './vendor';

const X = new T.Vector3(1, 0, 0),
  Y = new T.Vector3(0, 1, 0),
  Z = new T.Vector3(0, 0, 1);

export class Joints {
  readonly group = new T.Group();
  private readonly sets: Record<
    'pin' | 'ball' | 'whiteBall' | 'collar' | 'rail' | 'block' | 'plate' | 'ring' | 'disc',
    Instances
  >;
  private readonly rods: { joint: number; rope: boolean; closes: boolean }[] = [];
  private readonly bars: Instances;
  private readonly solid = new T.MeshStandardMaterial({ color: steel, roughness: 0.4, metalness: 0 });
  private readonly barBodies: T.Matrix4[] = [];
  private readonly dashes: Ribbon;
  private readonly colours = { ring: new T.Color(ring), amber: new T.Color(amber), red: new T.Color(red) };
  private readonly a = new T.Vector3();
  private readonly b = new T.Vector3();

  constructor(private readonly header: Header) {
    const many = header.joints.names.length > 300,
      sides = many ? 10 : 28;
    const solid = this.solid;
    const dark = new T.MeshStandardMaterial({ color: '#ffffff', roughness: 0.6, metalness: 0 });
    const white = new T.MeshBasicMaterial({ color: disc });
    white.toneMapped = false;
    const set = (g: T.BufferGeometry, m: T.Material): Instances => new Instances(g, m);
    this.sets = {
      pin: set(cylinder(1, 1, sides, !many), solid),
      ball: set(new T.SphereGeometry(1, sides, Math.ceil(sides / 2)), solid),
      whiteBall: set(new T.SphereGeometry(1, sides, Math.ceil(sides / 2)), white),
      collar: set(new T.TorusGeometry(1, 0.28, many ? 6 : 10, sides), solid),
      rail: set(roundedBox([1, 1, 1], 0.05, 1), solid),
      block: set(roundedBox([1, 1, 1], 0.25, 2), solid),
      plate: set(cylinder(1, 1, sides), solid),
      ring: set(new T.TorusGeometry(1, 0.2, many ? 3 : 8, sides), dark),
      disc: set(new T.CircleGeometry(1, sides), white),
    };
    this.bars = set(new T.CylinderGeometry(1, 1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5), solid);
    header.joints.names.forEach((_, j) => this.place(j));
    for (const s of Object.values(this.sets)) s.build(this.group, s !== this.sets.disc && s !== this.sets.ring);
    this.rods.forEach((_, k) => {
      this.barBodies.push(new T.Matrix4());
      this.bars.add(k, new T.Matrix4());
    });
    this.bars.build(this.group, true);
    this.dashes = new Ribbon({ colour: '#7d8794', width: 2, onTop: false });
    this.group.add(this.dashes.object);
  }

  private place(j: number): void {
    const h = this.header,
      t = h.joints,
      n = h.bodies.names.length,
      type = t.type[j]!;
    const base = t.base[j]! < 0 ? n : t.base[j]!,
      follower = t.follower[j]! < 0 ? n : t.follower[j]!;
    const qb = t.axes_base[j]!,
      qf = t.axes_follower[j]!;
    const turnB = new T.Quaternion(qb[1], qb[2], qb[3], qb[0]),
      turnF = new T.Quaternion(qf[1], qf[2], qf[3], qf[0]);
    const at = new T.Vector3(...t.anchor_base[j]!),
      atF = new T.Vector3(...t.anchor_follower[j]!),
      closes = t.closes_loop[j] === 1;
    let [r, half] = t.glyph[j]!;
    const R = h.view.radius;
    if (!(r > 0)) r = 0.018 * R;
    if (!(half > 0)) half = 0.05 * R;
    const axis = (v: T.Vector3, q: T.Quaternion): T.Vector3 => v.clone().applyQuaternion(q);
    switch (type) {
      case 'free':
        return;
      case 'revolute':
      case 'cylindrical':
        this.pin(base, at, axis(X, turnB), r, type === 'cylindrical' ? 1.6 * half : half, closes, j);
        return;
      case 'universal':
        this.pin(base, at, axis(X, turnB), 0.8 * r, Math.min(half, 3 * r), false, j);
        this.pin(follower, atF, axis(Y, turnF), 0.8 * r, Math.min(half, 3 * r), closes, j);
        return;
      case 'spherical':
      case 'gimbal':
        (closes ? this.sets.whiteBall : this.sets.ball).add(follower, this.at(atF, turnF, 1.25 * r), j);
        (closes ? this.sets.ring : this.sets.collar).add(
          base,
          this.at(at, turnB.clone().multiply(new T.Quaternion().setFromUnitVectors(Z, X)), 1.35 * r),
          j,
        );
        return;
      case 'prismatic':
        this.rails(j, base, at, turnB, follower, atF, turnF, r, half, closes);
        return;
      case 'planar':
      case 'cartesian':
        this.sets.plate.add(base, new T.Matrix4().compose(at, turnB, new T.Vector3(3 * r, 3 * r, 0.25 * r)), j);
        this.sets.ball.add(follower, this.at(atF, turnF, 0.8 * r), j);
        if (closes) this.marker(base, at, axis(Z, turnB), r, 0.3 * r, j);
        return;
      case 'distance':
      case 'rope':
        this.rods.push({ joint: j, rope: type === 'rope', closes });
        this.ends(j, base, at, follower, atF, 0.8 * r, closes);
        return;
      case 'serial':
        this.serial(j, base, at, turnB, r, half);
        if (closes) this.marker(follower, atF, axis(X, turnF), r, half, j);
        return;
      default: // fixed
        this.sets.block.add(base, new T.Matrix4().compose(at, turnB, new T.Vector3(0.9 * r, 0.9 * r, 0.9 * r)), j);
        if (closes) this.marker(base, at, axis(X, turnB), r, r, j);
    }
  }

  private at(p: T.Vector3, q: T.Quaternion, s: number): T.Matrix4 {
    return new T.Matrix4().compose(p, q, new T.Vector3(s, s, s));
  }

  private pin(body: number, p: T.Vector3, axis: T.Vector3, r: number, half: number, closes: boolean, j: number): void {
    const turn = new T.Quaternion().setFromUnitVectors(Z, axis);
    this.sets.pin.add(body, new T.Matrix4().compose(p, turn, new T.Vector3(r, r, half)), j);
    if (closes) this.marker(body, p, axis, r, half, j);
  }

  // The sign of a closed loop, on both ends of what lies along an axis.
  private marker(body: number, p: T.Vector3, axis: T.Vector3, r: number, half: number, j: number): void {
    for (const s of [1, -1]) {
      const out = axis.clone().multiplyScalar(s),
        turn = new T.Quaternion().setFromUnitVectors(Z, out);
      this.sets.disc.add(body, this.at(p.clone().addScaledVector(out, half + 0.16 * r), turn, 1.02 * r), j);
      this.sets.ring.add(body, this.at(p.clone().addScaledVector(out, half), turn, 1.05 * r), j);
    }
  }

  private rails(
    j: number,
    base: number,
    at: T.Vector3,
    turn: T.Quaternion,
    follower: number,
    atF: T.Vector3,
    turnF: T.Quaternion,
    r: number,
    half: number,
    closes: boolean,
  ): void {
    const d = this.header.dofs,
      k = this.header.joints.first_dof[j]!,
      R = this.header.view.radius;
    const lower = k >= 0 ? d.lower[k] : null,
      upper = k >= 0 ? d.upper[k] : null;
    let from = -3 * half,
      to = 3 * half;
    if (typeof lower === 'number' && typeof upper === 'number' && upper - lower < 4 * R) {
      from = lower - half;
      to = upper + half;
    }
    const long = (to - from) / 2,
      mid = (to + from) / 2,
      thin = 0.32 * r;
    for (const side of [1, -1]) {
      const p = at.clone().add(new T.Vector3(mid, side * 0.9 * r, 0).applyQuaternion(turn));
      this.sets.rail.add(base, new T.Matrix4().compose(p, turn, new T.Vector3(long, thin, thin)), j);
    }
    this.sets.block.add(follower, new T.Matrix4().compose(atF, turnF, new T.Vector3(1.5 * r, 1.35 * r, 0.8 * r)), j);
    if (closes) this.marker(follower, atF, Z.clone().applyQuaternion(turnF), 0.9 * r, 0.85 * r, j);
  }

  private ends(
    j: number,
    base: number,
    at: T.Vector3,
    follower: number,
    atF: T.Vector3,
    r: number,
    closes: boolean,
  ): void {
    const set = closes ? this.sets.whiteBall : this.sets.ball,
      none = new T.Quaternion();
    set.add(base, this.at(at, none, r), j);
    set.add(follower, this.at(atF, none, r), j);
    if (closes) {
      this.sets.ring.add(base, this.at(at, none, 1.15 * r), j);
      this.sets.ring.add(follower, this.at(atF, none, 1.15 * r), j);
    }
  }

  private serial(j: number, base: number, at: T.Vector3, turn: T.Quaternion, r: number, half: number): void {
    for (const x of this.header.joints.axes[j] ?? []) {
      const p = new T.Vector3(...x.position).applyQuaternion(turn).add(at),
        v = new T.Vector3(...x.axis).normalize().applyQuaternion(turn);
      if (x.angular) this.pin(base, p, v, r, half, false, j);
      else
        this.sets.rail.add(
          base,
          new T.Matrix4().compose(
            p,
            new T.Quaternion().setFromUnitVectors(X, v),
            new T.Vector3(3 * half, 0.3 * r, 0.3 * r),
          ),
          j,
        );
    }
  }

  // Radius of the largest pin, m.
  get size(): number {
    const r = this.header.joints.glyph.reduce((a, g) => Math.max(a, g[0]), 0);
    return r > 0 ? r : 0.018 * this.header.view.radius;
  }

  // Anchor of a joint on its base (side 0) or follower, relative to origin.
  anchor(j: number, side: 0 | 1, bodies: readonly T.Matrix4[], out: T.Vector3): T.Vector3 {
    const t = this.header.joints,
      b = side ? t.follower[j]! : t.base[j]!;
    return out
      .set(...(side ? t.anchor_follower : t.anchor_base)[j]!)
      .applyMatrix4(bodies[b < 0 ? bodies.length - 1 : b]!);
  }

  move(frame: Frame, bodies: readonly T.Matrix4[]): void {
    for (const s of Object.values(this.sets)) s.move(bodies);
    const recorded = frame.joint.length > 0,
      c = this.colours;
    this.sets.ring.colour((j, out) => {
      const gap = recorded ? frame.joint[4 * j]! : NaN;
      out.copy(gap > gapRed ? c.red : gap > gapAmber ? c.amber : c.ring);
    });
    this.dashes.begin();
    this.rods.forEach(({ joint, rope }, k) => {
      const a = this.anchor(joint, 0, bodies, this.a),
        b = this.anchor(joint, 1, bodies, this.b),
        length = a.distanceTo(b);
      const r = rope ? 0 : 0.4 * (this.header.joints.glyph[joint]![0] || 0.018 * this.header.view.radius);
      const turn = new T.Quaternion().setFromUnitVectors(Z, b.clone().sub(a).normalize());
      this.barBodies[k]!.compose(a, turn, new T.Vector3(r, r, length));
      if (rope) this.dashes.dashed([a, b], 0.05 * this.header.view.radius);
    });
    this.bars.move(this.barBodies);
    for (const x of this.header.couplings) this.arc(x.a, x.b, bodies);
    this.dashes.end();
  }

  // A dashed arc between the joints of two coupled coordinates.
  private arc(da: number, db: number, bodies: readonly T.Matrix4[]): void {
    const ja = this.header.dofs.joint[da] ?? -1,
      jb = this.header.dofs.joint[db] ?? -1,
      R = this.header.view.radius;
    if (ja < 0 || jb < 0) return;
    const a = this.anchor(ja, 0, bodies, new T.Vector3()),
      b = this.anchor(jb, 0, bodies, new T.Vector3()),
      points: T.Vector3[] = [];
    const up = new T.Vector3(0, 0, 0.35 * a.distanceTo(b) + 0.05 * R);
    for (let k = 0; k <= 16; ++k)
      points.push(
        a
          .clone()
          .lerp(b, k / 16)
          .addScaledVector(up, (4 * k * (16 - k)) / 256),
      );
    this.dashes.dashed(points, 0.03 * R);
  }

  // Pins turn to glass with the bodies; the marks of loops stay.
  setGlass(on: boolean): void {
    this.solid.transparent = on;
    this.solid.opacity = on ? 0.4 : 1;
    this.solid.depthWrite = !on;
    this.solid.needsUpdate = true;
  }

  // Middle of each white disc, relative to origin.
  markers(): { joint: number; point: T.Vector3 }[] {
    const out: { joint: number; point: T.Vector3 }[] = [],
      m = new T.Matrix4(),
      mesh = this.sets.disc.mesh;
    for (let i = 0; mesh && i < mesh.count; ++i) {
      mesh.getMatrixAt(i, m);
      out.push({ joint: this.sets.disc.tagOf(i), point: new T.Vector3().setFromMatrixPosition(m) });
    }
    return out;
  }

  // The joint whose pin or marker the ray meets.
  hit(ray: T.Raycaster): { joint: number; distance: number } | null {
    if (!this.group.visible) return null;
    let best: { joint: number; distance: number } | null = null;
    for (const s of [this.sets.pin, this.sets.ball, this.sets.whiteBall, this.sets.disc, this.sets.block]) {
      if (!s.mesh) continue;
      const found = ray.intersectObject(s.mesh, false)[0];
      if (found?.instanceId !== undefined && (!best || found.distance < best.distance))
        best = { joint: s.tagOf(found.instanceId), distance: found.distance };
    }
    return best && best.joint >= 0 ? best : null;
  }
}
