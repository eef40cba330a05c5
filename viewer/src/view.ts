// The picture: renderer, camera and all that is drawn in three dimensions.
import { Bodies } from './bodies';
import type { Container } from './container';
import { ContactMarks, type ContactLayers } from './contacts';
import { Floor } from './floor';
import type { Frame } from './frame';
import { InertiaBoxes } from './inertia';
import { Joints } from './joints';
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
}

export interface Box {
  min: [number, number, number];
  max: [number, number, number];
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
  private readonly extent = new T.Vector3();
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
  };
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
  private start: T.Vector3 | null = null;
  private readonly origin = new T.Vector3();
  private sized = '';
  private margins: Margins = { left: 0, right: 0, bottom: 0 };

  constructor(
    private readonly host: HTMLElement,
    container: Container,
    first: Frame,
    quality: Quality,
    way: Box | null,
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
    if (box.isEmpty()) {
      this.centre.set(...h.view.centre);
      this.extent.setScalar(1.1 * this.radius);
    } else {
      box.getCenter(this.centre);
      this.radius = Math.max(this.radius, 0.5 * box.getSize(new T.Vector3()).length());
      this.centre.add(new T.Vector3(...first.origin));
      this.fit(box, way, h.view.floor);
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

  // Centre and distance of the view: what moves at first, and where it goes to (down to the floor at least), within reason.
  private fit(box: T.Box3, way: Box | null, floor: number | null): void {
    const all = box.clone().translate(this.origin),
      R = this.radius;
    if (floor !== null && all.min.z > floor && all.min.z < floor + 4 * R) all.min.z = floor;
    if (way) {
      const margin = 0.15 * R;
      all
        .expandByPoint(new T.Vector3(...way.min).subScalar(margin))
        .expandByPoint(new T.Vector3(...way.max).addScalar(margin));
    }
    const limit = box
      .clone()
      .translate(this.origin)
      .expandByScalar(1.2 * R);
    all.intersect(limit);
    all.getCenter(this.centre);
    all.getSize(this.extent);
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

  // Azimuth and elevation of the eye, degrees; zoom 1 fits the mechanism.
  turnTo(azimuth: number, elevation: number, zoom: number): void {
    const a = (azimuth * Math.PI) / 180,
      e = (elevation * Math.PI) / 180;
    const back = new T.Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)),
      right = new T.Vector3(-Math.sin(a), Math.cos(a), 0);
    const up = back.clone().cross(right),
      w = Math.max(200, this.host.clientWidth - 0.65 * (this.margins.left + this.margins.right)),
      h = Math.max(1, this.host.clientHeight);
    const ty = Math.tan((this.camera.fov * Math.PI) / 360),
      tx = (1.02 * ty * w) / h,
      free = 0.95 * ty * (1 - this.margins.bottom / h),
      x = this.extent;
    // So far that all corners of the box are within what the panels leave free, or a little below them.
    let d = 0.5 * this.radius;
    for (let k = 0; k < 8; ++k) {
      const c = new T.Vector3((k & 1 ? 0.5 : -0.5) * x.x, (k & 2 ? 0.5 : -0.5) * x.y, (k & 4 ? 0.5 : -0.5) * x.z),
        near = c.dot(back);
      d = Math.max(d, Math.abs(c.dot(right)) / tx + near, Math.abs(c.dot(up)) / free + near);
    }
    d /= zoom;
    this.controls.target.copy(this.centre).add(this.followed.clone().setZ(0)).sub(this.origin);
    this.camera.position.copy(back).multiplyScalar(d).add(this.controls.target);
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
    if (this.following) shift.add(this.followed.clone().sub(before).setZ(0));
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.walls.position.copy(this.origin).negate();
    this.bodies.move(f);
    this.joints.move(f, this.bodies.matrices);
    this.contacts.show(f, this.layers);
    this.inertia.move(this.bodies.matrices);
    const middle = this.centre.clone().add(this.followed).setZ(this.centre.z).sub(this.origin);
    this.floor.moveTo(middle, this.floorAt.clone().sub(this.origin), this.floorTurn);
    this.stage.moveTo(middle.x, middle.y, middle.z - 0.2 * Math.max(0, this.centre.z - this.floorAt.z));
    this.dirty = true;
  }

  // How far the followed body is from where it was at first.
  private placeFollowed(f: Frame): void {
    if (this.follow < 0) return;
    const at = 7 * this.follow;
    this.followed.set(f.pose[at]!, f.pose[at + 1]!, f.pose[at + 2]!).add(this.origin);
    this.start ??= this.followed.clone();
    this.followed.sub(this.start);
  }

  draw(): void {
    this.renderer.render(this.scene, this.camera);
    this.dirty = false;
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
