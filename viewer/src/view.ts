// The picture: renderer, camera and all that is drawn in three dimensions.
import { Bodies } from './bodies';
import type { Container } from './container';
import { ContactMarks, type ContactLayers } from './contacts';
import { Floor } from './floor';
import { Ghost } from './ghost';
import type { Frame } from './frame';
import { InertiaBoxes } from './inertia';
import { Joints } from './joints';
import type { Motion } from './motion';
import { qualities, type Quality } from './quality';
import { Stage } from './stage';
import type { Theme } from './theme';
import * as T from './vendor';

export interface Layers extends ContactLayers {
  joints: boolean;
  transparent: boolean;
  wireframe: boolean;
  inertia: boolean;
  touching: boolean;
  ghost: boolean;
}

export interface Margins {
  left: number;
  right: number;
  bottom: number;
}

export class View {
  readonly renderer: T.WebGLRenderer;
  readonly camera = new T.PerspectiveCamera(32, 1, 0.02, 100);
  readonly controls: T.OrbitControls;
  readonly world = new T.Group(); // all that is relative to the frame's origin
  readonly bodies: Bodies;
  readonly joints: Joints;
  readonly contacts: ContactMarks;
  readonly inertia: InertiaBoxes;
  readonly radius: number;
  readonly centre = new T.Vector3();
  private inView: T.Vector3[] = [];
  quality: Quality;
  layers: Layers = {
    contacts: true,
    cones: true,
    normals: false,
    joints: true,
    transparent: false,
    wireframe: false,
    inertia: false,
    touching: false,
    ghost: true,
  };
  ghost: Ghost | null = null;
  dirty = true;
  following = true;
  private readonly scene = new T.Scene();
  private readonly stage: Stage;
  private readonly floor: Floor;
  private readonly floorAt = new T.Vector3();
  private readonly walls = new T.Group();
  private readonly floorTurn = new T.Quaternion();
  private readonly follow: number;
  private readonly followed = new T.Vector3();
  private headroom = 0; // m
  private start: T.Vector3 | null = null;
  private readonly origin = new T.Vector3();
  private sized = '';
  private margins: Margins = { left: 0, right: 0, bottom: 0 };

  constructor(
    private readonly host: HTMLElement,
    container: Container,
    first: Frame,
    quality: Quality,
    motion: Motion | null, // where it goes to, if that is known
  ) {
    const h = container.header;
    this.quality = quality;
    this.renderer = new T.WebGLRenderer({ antialias: quality.antialias, powerPreference: 'high-performance' });
    this.renderer.debug.checkShaderErrors = false; // asking makes the first picture wait
    this.renderer.toneMapping = T.NeutralToneMapping;
    this.renderer.shadowMap.type = T.PCFShadowMap;
    this.renderer.domElement.setAttribute('aria-label', 'The mechanism');
    host.append(this.renderer.domElement);
    this.bodies = new Bodies(container);
    this.bodies.move(first);
    this.joints = new Joints(h);
    this.contacts = new ContactMarks(h, Math.min(h.view.radius / 0.5, 8 * this.bodies.typicalSize()));
    this.inertia = new InertiaBoxes(h);
    this.follow = h.view.follow;
    this.origin.set(first.origin[0]!, first.origin[1]!, first.origin[2]!);
    const moving = this.bodies.bounds(false),
      all = this.bodies.bounds(!this.bodies.hasPlane);
    const box = moving.isEmpty() ? all : moving;
    this.radius = h.view.radius;
    this.headroom = (motion ? 1.3 : 0.35) * this.radius;
    if (box.isEmpty()) {
      this.centre.set(...h.view.centre);
      for (let k = 0; k < 8; ++k)
        this.inView.push(
          new T.Vector3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).multiplyScalar(0.55 * this.radius),
        );
    } else {
      box.getCenter(this.centre);
      this.radius = Math.max(this.radius, 0.5 * box.getSize(new T.Vector3()).length());
      this.centre.add(new T.Vector3(...first.origin));
      this.fit(box, motion, first, h.view.floor);
    }
    // The floor: a horizontal plane of the scene, else one that slopes, else a grid below all that there is.
    const planes = this.bodies.planes,
      ground = planes.find((p) => p.normal.z > 0.999) ?? planes.find((p) => p.normal.z > 0.2);
    if (ground) {
      this.floorTurn.setFromUnitVectors(new T.Vector3(0, 0, 1), ground.normal);
      this.floorAt.set(...ground.position);
    } else {
      this.floorAt.z =
        h.view.floor ?? (all.isEmpty() ? -this.radius : all.min.z + first.origin[2]! - 0.002 * this.radius);
    }
    this.floor = new Floor(this.radius, ground !== undefined || h.view.floor !== null);
    this.stage = new Stage(this.radius);
    this.world.add(
      this.bodies.group,
      this.joints.group,
      this.contacts.group,
      this.inertia.group,
      this.floor.mesh,
      this.stage.group,
      this.walls,
    );
    this.addWalls(planes.filter((p) => p !== ground));
    this.scene.add(this.world);
    this.camera.up.set(0, 0, 1);
    this.camera.near = 0.01 * this.radius;
    this.camera.far = 60 * this.radius;
    this.controls = new T.OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.minDistance = 0.05 * this.radius;
    this.controls.maxDistance = 25 * this.radius;
    this.turnTo(-58, 14, 1);
    this.controls.addEventListener('change', () => (this.dirty = true));
    this.setQuality(quality);
    this.resize();
    this.show(first);
  }

  // What the view of the beginning has to show: what moves at first (down to the floor), and where it goes to, within reason;
  // points relative to the centre.
  private fit(box: T.Box3, motion: Motion | null, first: Frame, floor: number | null): void {
    const R = this.radius,
      now = box.clone().translate(this.origin),
      limit = now.clone().expandByScalar(1.2 * R);
    const points = this.bodies.corners(this.origin);
    if (motion) points.push(...this.way(motion, first));
    if (floor !== null && now.min.z > floor && now.min.z < floor + 4 * R) {
      now.min.z = floor;
      limit.min.z = Math.min(limit.min.z, floor);
      for (const x of [now.min.x, now.max.x])
        for (const y of [now.min.y, now.max.y]) points.push(new T.Vector3(x, y, floor));
    }
    for (const p of points) p.clamp(limit.min, limit.max);
    const all = new T.Box3().setFromPoints(points);
    all.getCenter(this.centre);
    // What a live simulation will do is not known: it gets some room.
    this.inView = points.map((p) => p.sub(this.centre).multiplyScalar(motion ? 1 : 1.2));
  }

  // Corners of what moves over the run, seen from the followed body in x and y as the camera sees it.
  private way(motion: Motion, first: Frame): T.Vector3[] {
    const f = motion.newFrame(),
      out: T.Vector3[] = [],
      n = Math.max(1, motion.header.bodies.names.length),
      count = Math.max(3, Math.min(40, motion.count, Math.floor(2000 / n)));
    for (let k = 0; k < count; ++k) {
      motion.interpolate(motion.time(Math.round((k * (motion.count - 1)) / (count - 1))), f);
      this.bodies.move(f);
      const went = new T.Vector3(...f.origin);
      if (this.follow >= 0) {
        const at = 7 * this.follow;
        for (const [i, axis] of [
          [0, 'x'],
          [1, 'y'],
        ] as const)
          went[axis] -= f.pose[at + i]! + f.origin[i]! - first.pose[at + i]! - first.origin[i]!;
      }
      out.push(...this.bodies.corners(went));
    }
    this.bodies.move(first);
    return out;
  }

  compareWith(other: Motion): void {
    this.ghost?.group.removeFromParent();
    this.ghost = new Ghost(other);
    this.ghost.group.visible = this.layers.ghost;
    this.world.add(this.ghost.group);
    this.dirty = true;
  }

  // Planes besides the floor are sheets of glass.
  private addWalls(planes: Bodies['planes']): void {
    const r = 4 * this.radius;
    const material = new T.MeshStandardMaterial({
      color: '#aab4c2',
      transparent: true,
      opacity: 0.35,
      roughness: 0.9,
      side: T.DoubleSide,
      depthWrite: false,
    });
    for (const p of planes) {
      const sheet = new T.Mesh(new T.PlaneGeometry(2 * r, 2 * r), material);
      sheet.quaternion.setFromUnitVectors(new T.Vector3(0, 0, 1), p.normal);
      sheet.position.set(...p.position);
      sheet.position.add(this.centre.clone().sub(sheet.position).projectOnPlane(p.normal));
      this.walls.add(sheet);
    }
  }

  setTheme(t: Theme): void {
    this.stage.setTheme(t, this.scene);
    this.floor.setTheme(t);
    this.bodies.setTheme(t);
    this.dirty = true;
  }

  setQuality(q: Quality): void {
    this.quality = q;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, q.pixelRatio));
    this.renderer.shadowMap.enabled = q.shadows;
    this.stage.key.castShadow = q.shadows;
    this.resize();
  }

  // One step down; false at the end.
  lower(): boolean {
    const next = qualities[qualities.indexOf(this.quality) + 1];
    if (next) this.setQuality(next);
    return next !== undefined;
  }

  setLayers(change: Partial<Layers>): void {
    Object.assign(this.layers, change);
    this.joints.group.visible = this.layers.joints;
    this.bodies.setTransparent(this.layers.transparent);
    this.joints.setGlass(this.layers.transparent || this.bodies.picked >= 0);
    this.bodies.setWireframe(this.layers.wireframe);
    this.inertia.group.visible = this.layers.inertia;
    if (this.ghost) this.ghost.group.visible = this.layers.ghost;
    if (change.touching !== undefined) this.bodies.setTouching(change.touching);
    this.dirty = true;
  }

  pick(body: number): void {
    this.bodies.pick(body);
    this.joints.setGlass(body >= 0 || this.layers.transparent);
    this.dirty = true;
  }

  // Where the panels on the right begin, px.
  get freeRight(): number {
    return this.host.clientWidth - this.margins.right;
  }

  setMargins(m: Margins): void {
    this.margins = m;
    this.resize();
  }

  resize(): void {
    const w = Math.max(1, this.host.clientWidth),
      h = Math.max(1, this.host.clientHeight);
    const size = `${w} ${h} ${this.renderer.getPixelRatio()}`;
    if (size !== this.sized) this.renderer.setSize(w, h);
    this.sized = size;
    this.camera.aspect = w / h;
    // The middle of what the panels leave free.
    const dx = (this.margins.right - this.margins.left) / 2,
      dy = -this.margins.bottom / 2;
    this.camera.setViewOffset(w, h, dx, -dy, w, h);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  // Azimuth and elevation of the eye, degrees; zoom 1: all that is to be seen is within what the panels leave free, as large
  // as it can be there.
  turnTo(azimuth: number, elevation: number, zoom: number): void {
    const a = (azimuth * Math.PI) / 180,
      e = (elevation * Math.PI) / 180;
    const back = new T.Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)),
      right = new T.Vector3(-Math.sin(a), Math.cos(a), 0);
    const up = back.clone().cross(right),
      w = Math.max(200, this.host.clientWidth - this.margins.left - this.margins.right),
      h = Math.max(100, this.host.clientHeight - this.margins.bottom);
    const perPixel = (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(1, this.host.clientHeight),
      wide = 0.9 * perPixel * w,
      high = 0.86 * perPixel * h;
    const p = this.inView.map((q) => [q.dot(right), q.dot(up), q.dot(back)] as const);
    let x = 0,
      y = 0,
      d = 4 * this.radius;
    for (let k = 0; k < 30; ++k) {
      let [x0, x1, y0, y1, nearest] = [Infinity, -Infinity, Infinity, -Infinity, -Infinity];
      for (const [px, py, pz] of p) {
        const depth = Math.max(0.2 * this.radius, d - pz),
          u = (px - x) / depth,
          v = (py - y) / depth;
        x0 = Math.min(x0, u);
        x1 = Math.max(x1, u);
        y0 = Math.min(y0, v);
        y1 = Math.max(y1, v);
        nearest = Math.max(nearest, pz);
      }
      if (!(x1 >= x0)) break;
      x += ((x0 + x1) / 2) * d;
      y += ((y0 + y1) / 2) * d;
      const more = Math.max((x1 - x0) / wide, (y1 - y0) / high);
      d = Math.max(
        nearest + 0.3 * this.radius,
        0.5 * this.radius,
        nearest + (d - nearest) * Math.min(3, Math.max(0.3, more)),
      );
    }
    this.controls.target
      .copy(this.centre)
      .addScaledVector(right, x)
      .addScaledVector(up, y)
      .add(this.followed)
      .sub(this.origin);
    this.camera.position
      .copy(back)
      .multiplyScalar(d / zoom)
      .add(this.controls.target);
    this.controls.update();
    this.dirty = true;
  }

  // Moves all to a frame; nothing is drawn yet.
  show(f: Frame): void {
    // Eye and target are relative to the origin, as all else: they stay where they are in the world, or go with the mechanism.
    const shift = this.origin.clone();
    this.origin.set(f.origin[0]!, f.origin[1]!, f.origin[2]!);
    shift.sub(this.origin);
    const before = this.followed.clone();
    this.placeFollowed(f);
    if (this.following) shift.add(this.followed.clone().sub(before));
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.walls.position.copy(this.origin).negate();
    this.bodies.move(f);
    this.joints.move(f, this.bodies.matrices);
    this.contacts.show(f, this.layers);
    this.inertia.move(this.bodies.matrices);
    if (this.layers.ghost) this.ghost?.move(f.time, f.origin);
    const middle = this.centre.clone().add(this.followed).sub(this.origin);
    this.floor.moveTo(middle, this.floorAt.clone().sub(this.origin), this.floorTurn);
    this.stage.moveTo(middle.x, middle.y, middle.z - 0.2 * Math.max(0, this.centre.z - this.floorAt.z));
    this.dirty = true;
  }

  // How far the followed body is from where it was at first; in height beyond what the view of the beginning has.
  private placeFollowed(f: Frame): void {
    if (this.follow < 0) return;
    const at = 7 * this.follow;
    this.followed.set(f.pose[at]!, f.pose[at + 1]!, f.pose[at + 2]!).add(this.origin);
    this.start ??= this.followed.clone();
    this.followed.sub(this.start);
    this.followed.z -= Math.min(this.headroom, Math.max(-this.headroom, this.followed.z));
  }

  draw(): void {
    this.joints.group.visible = this.layers.joints && this.pinPixels() > 0.7;
    // A ghost stands a little behind, so that it does not shine through where both runs are the same.
    if (this.ghost?.group.visible)
      this.ghost.stand(this.camera.getWorldDirection(new T.Vector3()).multiplyScalar(0.012 * this.radius));
    this.renderer.render(this.scene, this.camera);
    this.dirty = false;
  }

  // Radius of the pins that are nearest to the eye. What is less than a pixel in all of a crowd is not drawn.
  private pinPixels(): number {
    if (this.bodies.matrices.length < 300) return Infinity;
    const eye = this.camera.position,
      at = new T.Vector3();
    let near = Infinity;
    for (let b = 0; b + 1 < this.bodies.matrices.length; ++b)
      near = Math.min(near, at.setFromMatrixPosition(this.bodies.matrices[b]!).distanceToSquared(eye));
    const perMetre = this.renderer.domElement.height / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
    return (this.joints.size / Math.sqrt(near)) * perMetre;
  }

  // Pixels of a point (relative to origin) on the page; z > 1: behind the eye.
  toScreen(p: T.Vector3): { x: number; y: number; z: number } {
    const v = p.clone().project(this.camera),
      r = this.renderer.domElement;
    return { x: ((v.x + 1) / 2) * r.clientWidth, y: ((1 - v.y) / 2) * r.clientHeight, z: v.z };
  }

  // A ray through a pixel of the page.
  ray(x: number, y: number): T.Raycaster {
    const r = this.renderer.domElement.getBoundingClientRect(),
      ray = new T.Raycaster();
    this.scene.updateMatrixWorld();
    ray.setFromCamera(new T.Vector2(((x - r.left) / r.width) * 2 - 1, 1 - ((y - r.top) / r.height) * 2), this.camera);
    return ray;
  }
}
