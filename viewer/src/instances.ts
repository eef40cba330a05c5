// Many copies of one shape, each fixed to a body: its matrix is the body's times its own.
import * as T from './vendor';

export class Instances {
  mesh: T.InstancedMesh | null = null;
  private readonly items: { body: number; local: T.Matrix4; tag: number }[] = [];
  private readonly scratch = new T.Matrix4();

  constructor(
    private readonly shape: T.BufferGeometry,
    private readonly material: T.Material,
  ) {}

  // tag: what the copy stands for (a joint), to pick and to colour by.
  add(body: number, local: T.Matrix4, tag = -1): void {
    this.items.push({ body, local, tag });
  }

  build(group: T.Group, shadow: boolean): void {
    if (!this.items.length) return;
    this.mesh = new T.InstancedMesh(this.shape, this.material, this.items.length);
    this.mesh.instanceMatrix.setUsage(T.DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = shadow;
    group.add(this.mesh);
  }

  move(bodies: readonly T.Matrix4[]): void {
    const mesh = this.mesh;
    if (!mesh) return;
    this.items.forEach((x, i) => mesh.setMatrixAt(i, this.scratch.multiplyMatrices(bodies[x.body]!, x.local)));
    mesh.instanceMatrix.needsUpdate = true;
    mesh.boundingSphere = null;
  }

  colour(of: (tag: number, out: T.Color) => void): void {
    const mesh = this.mesh,
      c = new T.Color();
    if (!mesh) return;
    this.items.forEach((x, i) => {
      of(x.tag, c);
      mesh.setColorAt(i, c);
    });
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  tagOf(instance: number): number {
    return this.items[instance]?.tag ?? -1;
  }
}

// Copies that are set anew for every frame; grows as needed.
export class Marks {
  private mesh: T.InstancedMesh | null = null;
  private used = 0;

  constructor(
    private readonly group: T.Group,
    private readonly shape: T.BufferGeometry,
    private readonly material: T.Material,
    private readonly order = 0,
  ) {}

  begin(atMost: number): void {
    this.used = 0;
    if (this.mesh && this.mesh.instanceMatrix.count >= atMost) return;
    if (atMost === 0) return;
    if (this.mesh) {
      this.group.remove(this.mesh);
      this.mesh.dispose();
    }
    this.mesh = new T.InstancedMesh(this.shape, this.material, Math.max(32, 2 * atMost));
    this.mesh.setColorAt(0, new T.Color()); // colours exist from the start: a material compiles once
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = this.order;
    this.group.add(this.mesh);
  }

  add(matrix: T.Matrix4, colour: T.Color): void {
    if (!this.mesh) return;
    this.mesh.setMatrixAt(this.used, matrix);
    this.mesh.setColorAt(this.used, colour);
    ++this.used;
  }

  end(): void {
    if (!this.mesh) return;
    this.mesh.count = this.used;
    this.mesh.visible = this.used > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}
