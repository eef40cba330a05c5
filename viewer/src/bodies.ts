// All bodies as one batch: the parts of a body are one geometry with vertex colours, a draw call moves them all.
import type { Container } from './container';
import type { Frame } from './frame';
import type { Header, Vec3 } from './header';
import * as S from './shapes';
import { limbs, type Theme } from './theme';
import * as T from './vendor';

// A stretch of vertices and what gives them their colour.
interface Paint {
  from: number;
  to: number;
  role: 'file' | 'limb' | 'hub' | 'shaft' | 'foot' | 'world';
  colour: string;
}
// Of bodies with shapes that are only seen, those and the ones that touch are drawn in turn: they lie in each other.
type Stand = 'always' | 'seen' | 'touching';
interface Piece {
  body: number;
  geometry: T.BufferGeometry;
  paint: Paint[];
  id: number;
  translucent: boolean;
  stand: Stand;
}

const white = new T.Color(1, 1, 1);
const leastLight = 0.022; // linear

export class Bodies {
  readonly group = new T.Group();
  readonly matrices: T.Matrix4[] = []; // by body, relative to the frame's origin; the world is the last one
  readonly hasPlane: boolean;
  readonly planes: { position: Vec3; normal: T.Vector3 }[] = [];
  private readonly pieces: Piece[] = [];
  private readonly material = new T.MeshStandardMaterial({ vertexColors: true, roughness: 0.52, metalness: 0 });
  private readonly clear = new T.MeshStandardMaterial({
    vertexColors: true,
    roughness: 0.4,
    metalness: 0,
    transparent: true,
    depthWrite: false,
  });
  private batch: T.BatchedMesh | null = null;
  private clearBatch: T.BatchedMesh | null = null;
  private readonly highlight: T.Mesh;
  picked = -1;
  dressed = false; // some shapes are only seen
  private touching = false;
  private transparent = false;
  private tinted = false;
  private theme: Theme | null = null;

  // Of a ghost only what moves is built.
  constructor(
    container: Container,
    private readonly ghost = false,
  ) {
    const h = container.header,
      n = h.bodies.names.length;
    for (let b = 0; b <= n; ++b) this.matrices.push(new T.Matrix4());
    this.hasPlane = this.build(container);
    this.makeBatches();
    this.highlight = new T.Mesh(
      new T.BufferGeometry(),
      new T.MeshStandardMaterial({ vertexColors: true, roughness: 0.52, metalness: 0 }),
    );
    this.highlight.matrixAutoUpdate = false;
    this.highlight.visible = false;
    this.highlight.frustumCulled = false;
    this.highlight.castShadow = this.highlight.receiveShadow = true;
    this.group.add(this.highlight);
  }

  private build(container: Container): boolean {
    const h = container.header,
      n = h.bodies.names.length,
      p = h.parts;
    const detail = p.kind.length > 1200 ? S.coarse : S.fine;
    const colourOf = palette(h);
    const lists: { g: T.BufferGeometry; role: Paint['role']; colour: string; alpha: number; stand: Stand }[][] =
      Array.from({ length: n + 1 }, () => []);
    const jointed = new Set<number>([...h.joints.base, ...h.joints.follower]);
    const partsOf = new Array<number>(n + 1).fill(0);
    p.body.forEach((b) => ++partsOf[b < 0 ? n : b]!);
    const dressed = new Set(p.body.filter((_, i) => p.geom[i]! < 0));
    this.dressed = dressed.size > 0;
    let hasPlane = false;
    const X = new T.Matrix4(),
      one = new T.Vector3(1, 1, 1);
    const meshCache = new Map<number, T.BufferGeometry>();
    p.kind.forEach((kind, i) => {
      const body = p.body[i]!;
      if (this.ghost && body < 0) return;
      const q = p.quaternion[i]!,
        turn = new T.Quaternion(q[1], q[2], q[3], q[0]),
        at = p.position[i]!;
      if (kind === 'plane') {
        hasPlane = true;
        this.planes.push({ position: at, normal: new T.Vector3(0, 0, 1).applyQuaternion(turn) });
        return;
      }
      let g: T.BufferGeometry | null;
      const mesh = p.mesh[i]!,
        field = p.height_field[i]!;
      if (mesh >= 0) {
        g = meshCache.get(mesh) ?? readMesh(container, mesh);
        if (g) meshCache.set(mesh, g);
      } else if (field >= 0) {
        g = readField(container, field);
      } else {
        g = S.primitive(kind, p.size[i]!, detail);
      }
      if (!g) return;
      const own = body < 0 ? n : body,
        given = p.colour[i];
      const foot = kind === 'sphere' && body >= 0 && jointed.has(body) && partsOf[own]! > 1;
      const role = given ? 'file' : body < 0 ? 'world' : foot ? 'foot' : roleOf(h, body);
      g = g.clone().applyMatrix4(X.compose(new T.Vector3(...at), turn, one));
      const alpha = given
        ? given.length === 9
          ? parseInt(given.slice(7, 9), 16) / 255
          : 1
        : body < 0 && isWall(h, g)
          ? 0.3
          : 1;
      if (alpha <= 0.01) return;
      const stand: Stand = !dressed.has(body) ? 'always' : p.geom[i]! < 0 ? 'seen' : 'touching';
      lists[own]!.push({ g, role, colour: given ? given.slice(0, 7) : colourOf(body), alpha, stand });
    });
    const bare = barePieces(
      h,
      lists.map((l) => l.length > 0),
    );
    for (const { body, g } of bare) {
      lists[body]!.push({ g, role: roleOf(h, body), colour: colourOf(body), alpha: 1, stand: 'always' });
    }
    for (let b = 0; b <= n; ++b) {
      for (const translucent of [false, true]) {
        for (const stand of ['always', 'seen', 'touching'] as const) {
          const list = lists[b]!.filter((x) => x.alpha < 0.99 === translucent && x.stand === stand);
          if (!list.length) continue;
          const paint: Paint[] = [];
          let from = 0;
          const ready = list.map((x) => {
            const g = uniform(x.g, x.alpha),
              count = g.getAttribute('position').count;
            paint.push({ from, to: from + count, role: x.role, colour: x.colour });
            from += count;
            return g;
          });
          this.pieces.push({ body: b, geometry: T.mergeGeometries(ready), paint, id: -1, translucent, stand });
        }
      }
    }
    return hasPlane;
  }

  private makeBatches(): void {
    for (const translucent of [false, true]) {
      const own = this.pieces.filter((x) => x.translucent === translucent);
      if (!own.length) continue;
      const sum = (f: (g: T.BufferGeometry) => number): number => own.reduce((a, x) => a + f(x.geometry), 0);
      const batch = new T.BatchedMesh(
        own.length,
        sum((g) => g.getAttribute('position').count),
        sum((g) => g.index!.count),
        translucent ? this.clear : this.material,
      );
      for (const x of own) x.id = batch.addInstance(batch.addGeometry(x.geometry));
      batch.castShadow = !translucent;
      batch.receiveShadow = true;
      batch.perObjectFrustumCulled = false;
      batch.sortObjects = translucent;
      batch.frustumCulled = false;
      if (translucent) {
        this.clearBatch = batch;
        batch.renderOrder = 1;
      } else this.batch = batch;
      this.group.add(batch);
    }
  }

  private batchOf(x: Piece): T.BatchedMesh {
    return (x.translucent ? this.clearBatch : this.batch)!;
  }

  move(frame: Frame): void {
    const n = this.matrices.length - 1,
      p = new T.Vector3(),
      q = new T.Quaternion(),
      one = new T.Vector3(1, 1, 1);
    for (let b = 0; b < n; ++b) {
      const at = 7 * b,
        v = frame.pose;
      this.matrices[b]!.compose(
        p.set(v[at]!, v[at + 1]!, v[at + 2]!),
        q.set(v[at + 4]!, v[at + 5]!, v[at + 6]!, v[at + 3]!),
        one,
      );
    }
    this.matrices[n]!.makeTranslation(-frame.origin[0]!, -frame.origin[1]!, -frame.origin[2]!);
    for (const x of this.pieces) this.batchOf(x).setMatrixAt(x.id, this.matrices[x.body]!);
    if (this.picked >= 0) this.highlight.matrix.copy(this.matrices[this.picked]!);
  }

  // Colours of theme and files; with tint all is white, for colours by body.
  private paint(): void {
    if (!this.theme) return;
    const c = new T.Color();
    for (const x of this.pieces) {
      const colour = x.geometry.getAttribute('color') as T.BufferAttribute;
      for (const s of x.paint) {
        if (this.tinted && x.body < this.matrices.length - 1) c.copy(white);
        else c.set(s.role === 'file' || s.role === 'limb' ? s.colour : this.theme[s.role]);
        // Black things of files keep their form.
        if (s.role === 'file' && !this.tinted) c.multiplyScalar(1 - leastLight).addScalar(leastLight);
        for (let i = s.from; i < s.to; ++i) colour.setXYZ(i, c.r, c.g, c.b);
      }
      this.batchOf(x).setGeometryAt(x.id, x.geometry);
    }
  }

  setTheme(t: Theme): void {
    this.theme = t;
    this.paint();
    this.pick(this.picked);
  }

  // A colour by body in place of its own; null: its own again.
  setTint(colour: ((body: number, out: T.Color) => void) | null): void {
    if (this.tinted !== (colour !== null)) {
      this.tinted = colour !== null;
      this.paint();
      this.pick(this.picked);
    }
    const c = new T.Color();
    for (const x of this.pieces) {
      if (colour && x.body < this.matrices.length - 1) colour(x.body, c);
      else c.copy(white);
      this.batchOf(x).setColorAt(x.id, c);
    }
    if (this.picked >= 0) {
      if (colour) colour(this.picked, c);
      (this.highlight.material as T.MeshStandardMaterial).color.copy(colour ? c : white);
    }
  }

  // The picked body stays as it is, the others turn to glass; -1: none is picked.
  pick(body: number, glass = true): void {
    this.picked = body;
    const own = this.pieces.filter((x) => x.body === body && !x.translucent && this.shown(x));
    this.highlight.visible = body >= 0 && own.length > 0;
    for (const x of this.pieces) {
      const apart = this.highlight.visible && x.body === body && !x.translucent;
      this.batchOf(x).setVisibleAt(x.id, this.shown(x) && !apart);
    }
    if (this.highlight.visible) {
      this.highlight.geometry = own[0]!.geometry; // a body has one that is shown and opaque
      this.highlight.matrix.copy(this.matrices[body]!);
    }
    if (glass) this.setGlass();
  }

  private shown(x: Piece): boolean {
    return x.stand === 'always' || x.stand === (this.touching ? 'touching' : 'seen');
  }

  // The shapes that touch in place of those that are only seen.
  setTouching(on: boolean): void {
    this.touching = on;
    this.pick(this.picked);
  }

  setTransparent(on: boolean): void {
    this.transparent = on;
    this.setGlass();
  }

  setWireframe(on: boolean): void {
    for (const m of [this.material, this.clear, this.highlight.material as T.MeshStandardMaterial]) m.wireframe = on;
  }

  private setGlass(): void {
    const glass = this.transparent || this.picked >= 0;
    if (!this.batch) return;
    if (this.material.transparent !== glass) this.material.needsUpdate = true;
    this.material.transparent = glass;
    this.material.opacity = this.transparent ? 0.35 : glass ? 0.25 : 1;
    this.material.depthWrite = !glass;
    this.batch.sortObjects = glass;
    this.batch.renderOrder = glass ? 1 : 0;
  }

  // All bodies in one translucent colour, behind what they coincide with. The nearest surfaces are drawn first and hide the
  // others: a ghost is seen through, but not its inside.
  haunt(colour: T.Color): void {
    const c = colour.clone();
    for (const m of [this.material, this.clear]) {
      m.transparent = true;
      m.opacity = 0.34;
      m.vertexColors = false;
      m.color.copy(c);
      m.depthWrite = true;
      m.polygonOffset = true;
      m.polygonOffsetFactor = 1;
      m.polygonOffsetUnits = 8;
    }
    for (const batch of [this.batch, this.clearBatch]) {
      if (!batch) continue;
      batch.castShadow = batch.receiveShadow = false;
      batch.sortObjects = true;
      batch.setCustomSort((list) => list.sort((a, b) => a.z - b.z));
      batch.renderOrder = 3;
    }
    this.pick(-1, false);
  }

  // Nearest body that the ray meets, -1: the world's part of the scene, null: nothing.
  hit(ray: T.Raycaster): { body: number; point: T.Vector3; distance: number } | null {
    let best: { body: number; point: T.Vector3; distance: number } | null = null;
    const meshes = [this.batch, this.clearBatch].filter((x): x is T.BatchedMesh => x !== null);
    for (const x of this.pieces) this.batchOf(x).setVisibleAt(x.id, this.shown(x));
    for (const mesh of meshes) {
      const found = ray.intersectObject(mesh, false)[0];
      if (!found || (best && found.distance >= best.distance)) continue;
      const piece = this.pieces.find((x) => this.batchOf(x) === mesh && x.id === found.batchId);
      if (piece)
        best = {
          body: piece.body === this.matrices.length - 1 ? -1 : piece.body,
          point: found.point.clone(),
          distance: found.distance,
        };
    }
    this.pick(this.picked);
    return best;
  }

  // Box around all that is drawn of bodies (and of the world, if asked), relative to origin.
  bounds(withWorld: boolean): T.Box3 {
    const box = new T.Box3();
    for (const x of this.pieces) {
      if (x.body === this.matrices.length - 1 && !withWorld) continue;
      box.union(boxOf(x.geometry).clone().applyMatrix4(this.matrices[x.body]!));
    }
    return box;
  }

  // Corners of the boxes of all that moves, in the world: of each body, of all in one where there are many.
  corners(origin: T.Vector3): T.Vector3[] {
    const out: T.Vector3[] = [],
      moving = this.pieces.filter((x) => x.body < this.matrices.length - 1),
      add = (b: T.Box3, m: T.Matrix4 | null): void => {
        for (let k = 0; k < 8; ++k) {
          const p = new T.Vector3((k & 1 ? b.max : b.min).x, (k & 2 ? b.max : b.min).y, (k & 4 ? b.max : b.min).z);
          if (m) p.applyMatrix4(m);
          out.push(p.add(origin));
        }
      };
    if (moving.length > 300) add(this.bounds(false), null);
    else for (const x of moving) add(boxOf(x.geometry), this.matrices[x.body]!);
    return out;
  }

  // Median of half the diagonals of what moves, m.
  typicalSize(): number {
    const sizes = this.pieces
      .filter((x) => x.body < this.matrices.length - 1)
      .map((x) => 0.5 * boxOf(x.geometry).getSize(new T.Vector3()).length())
      .sort((a, b) => a - b);
    return sizes[sizes.length >> 1] ?? 1;
  }

  get triangles(): number {
    return this.pieces.reduce((a, x) => a + x.geometry.index!.count / 3, 0);
  }
}

// A large part of the world that stands on the floor and carries no joint hides what moves behind it: it is drawn as glass.
function isWall(h: Header, g: T.BufferGeometry): boolean {
  const box = boxOf(g).clone(),
    R = h.view.radius,
    floor = h.view.floor;
  if (floor === null || box.min.z > floor + 0.25 * R) return false;
  if (box.max.z < floor + 0.25 * R || box.getSize(new T.Vector3()).length() < 0.7 * R) return false;
  box.expandByScalar(0.05 * R);
  const p = new T.Vector3();
  return !h.joints.names.some(
    (_, j) =>
      (h.joints.base[j]! < 0 && box.containsPoint(p.set(...h.joints.anchor_base[j]!))) ||
      (h.joints.follower[j]! < 0 && box.containsPoint(p.set(...h.joints.anchor_follower[j]!))),
  );
}

function roleOf(h: Header, body: number): Paint['role'] {
  // A part of a limb keeps its colour although it turns in place.
  if ((h.bodies.limb[body] ?? 0) >= 0) return 'limb';
  return h.bodies.shaft[body] && body !== h.view.follow ? 'shaft' : 'hub';
}

// A colour for each limb. Where nothing is a hub a limb is a whole mechanism: if there is one, its bodies are told apart instead.
function palette(h: Header): (body: number) => string {
  const ids = h.bodies.limb,
    many = new Set(ids.filter((x, i) => ids.indexOf(x) !== i)),
    apart = many.size === 1 && !ids.some((x) => x < 0);
  return (body) => limbs[Math.max(0, apart ? body : (ids[body] ?? 0)) % limbs.length]!;
}

function boxOf(g: T.BufferGeometry): T.Box3 {
  if (!g.boundingBox) g.computeBoundingBox();
  return g.boundingBox!;
}

// Index, normal and a colour with alpha: what geometries that are merged must share.
function uniform(g: T.BufferGeometry, alpha: number): T.BufferGeometry {
  const count = g.getAttribute('position').count;
  for (const name of Object.keys(g.attributes)) if (name !== 'position' && name !== 'normal') g.deleteAttribute(name);
  if (!g.getAttribute('normal')) g.computeVertexNormals();
  if (!g.index)
    g.setIndex(
      new T.BufferAttribute(
        Uint32Array.from({ length: count }, (_, i) => i),
        1,
      ),
    );
  else g.setIndex(new T.BufferAttribute(Uint32Array.from(g.index.array), 1));
  const colour = new Float32Array(4 * count);
  for (let i = 0; i < count; ++i) colour[4 * i + 3] = alpha;
  g.setAttribute('color', new T.BufferAttribute(colour, 4));
  return g;
}

function readMesh(c: Container, i: number): T.BufferGeometry | null {
  const vo = c.get('mesh.vertex_offset'),
    to = c.get('mesh.triangle_offset'),
    v = c.get('mesh.vertices'),
    t = c.get('mesh.triangles');
  if (!vo || !to || !v || !t) return null;
  const a = vo[i]!,
    b = vo[i + 1]!,
    index = Uint32Array.from(t.subarray(3 * to[i]!, 3 * to[i + 1]!));
  if (index.some((x) => x >= b - a)) throw new Error(`mesh ${i} has a triangle without vertices`);
  return index.length ? S.triangles(v.subarray(3 * a, 3 * b), index) : null;
}

function readField(c: Container, i: number): T.BufferGeometry | null {
  const offset = c.get('height_field.offset'),
    heights = c.get('height_field.heights'),
    f = c.header.height_fields[i];
  if (!offset || !heights || !f) return null;
  return S.heightField(heights.subarray(offset[i]!, offset[i + 1]!), f.columns, f.rows, f.dx, f.dy);
}

// Bodies without a shape: bars from their joints to their centre, so that a mechanism of pure masses can be seen.
function barePieces(h: Header, has: boolean[]): { body: number; g: T.BufferGeometry }[] {
  const out: { body: number; g: T.BufferGeometry }[] = [],
    thick = 0.014 * h.view.radius;
  const up = new T.Vector3(0, 0, 1),
    d = new T.Vector3();
  h.bodies.names.forEach((_, b) => {
    if (has[b]) return;
    const anchors: T.Vector3[] = [];
    h.joints.names.forEach((__, j) => {
      if (h.joints.base[j] === b) anchors.push(new T.Vector3(...h.joints.anchor_base[j]!));
      if (h.joints.follower[j] === b) anchors.push(new T.Vector3(...h.joints.anchor_follower[j]!));
    });
    out.push({ body: b, g: new T.SphereGeometry(1.8 * thick, 16, 10) });
    for (const a of anchors) {
      const length = a.length();
      if (length < 2 * thick) continue;
      const g = new T.CapsuleGeometry(thick, length, 4, 12).rotateX(Math.PI / 2);
      g.applyQuaternion(new T.Quaternion().setFromUnitVectors(up, d.copy(a).normalize())).translate(
        a.x / 2,
        a.y / 2,
        a.z / 2,
      );
      out.push({ body: b, g });
    }
  });
  return out;
}
