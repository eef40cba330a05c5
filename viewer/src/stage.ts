// Light and sky. Distances are in multiples of the radius of what moves.
import type { Theme } from './theme';
import * as T from './vendor';

export class Stage {
  readonly group = new T.Group();
  private readonly sky = new T.HemisphereLight('#ffffff', '#b9b4ad', 1);
  readonly key = new T.DirectionalLight('#fff9f0', 1);
  private readonly fill = new T.DirectionalLight('#cfe0ff', 1);
  private readonly rim = new T.DirectionalLight('#ffffff', 1);

  constructor(private readonly radius: number) {
    this.sky.position.set(0, 0, 1);
    const s = this.key.shadow,
      c = s.camera,
      r = 1.6 * radius;
    this.key.castShadow = true;
    s.mapSize.set(2048, 2048);
    s.radius = 4;
    s.bias = -0.0004;
    s.normalBias = 0.008 * radius;
    c.left = c.bottom = -r;
    c.right = c.top = r;
    c.near = 0.2 * radius;
    c.far = 12 * radius;
    this.group.add(this.sky, this.key, this.key.target, this.fill, this.fill.target, this.rim, this.rim.target);
  }

  setTheme(t: Theme, scene: T.Scene): void {
    this.key.intensity = t.key;
    this.sky.intensity = t.ambient;
    this.fill.intensity = t.fill;
    this.rim.intensity = t.rim;
    const canvas = document.createElement('canvas'),
      x = canvas.getContext('2d');
    canvas.width = 2;
    canvas.height = 256;
    if (!x) return;
    const g = x.createLinearGradient(0, 0, 0, 256);
    g.addColorStop(0, t.sky);
    g.addColorStop(0.55, t.horizon);
    g.addColorStop(1, t.horizon);
    x.fillStyle = g;
    x.fillRect(0, 0, 2, 256);
    const texture = new T.CanvasTexture(canvas);
    texture.colorSpace = T.SRGBColorSpace;
    scene.background = texture;
  }

  moveTo(x: number, y: number, z: number): void {
    const r = this.radius;
    for (const [light, dx, dy, dz] of [
      [this.key, -1.2, -2, 5.2],
      [this.fill, 3, -3, 1.6],
      [this.rim, 1, 4, 2.2],
    ] as const) {
      light.target.position.set(x, y, z);
      light.position.set(x + dx * r, y + dy * r, z + dz * r);
    }
  }
}
