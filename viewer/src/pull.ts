// Pulling a body with the mouse: ctrl-drag moves a point of it in the plane of the screen; the simulation pulls it implicitly.
import type { LiveFrame } from './frame';
import { el } from './dom';
import { short } from './numbers';
import { Ribbon } from './ribbon';
import * as T from './vendor';
import type { View } from './view';

export interface Puller {
  drag(body: number, point: [number, number, number], target: [number, number, number]): void;
  drop(): void;
}

export class Pull {
  readonly line = new Ribbon({ colour: '#d03a8c', width: 3, onTop: true });
  readonly label = el('div', 'tag');
  private held: { body: number; point: T.Vector3; plane: T.Plane } | null = null;
  private origin: ArrayLike<number> = [0, 0, 0];

  constructor(view: View, puller: Puller, onHold: () => void) {
    this.label.hidden = true;
    const canvas = view.renderer.domElement;
    canvas.addEventListener(
      'pointerdown',
      (e) => {
        if (!(e.ctrlKey || e.metaKey) || e.button !== 0) return;
        e.preventDefault();
        e.stopImmediatePropagation();
        const hit = view.bodies.hit(view.ray(e.clientX, e.clientY));
        if (!hit || hit.body < 0) return;
        const point = hit.point.clone().applyMatrix4(view.bodies.matrices[hit.body]!.clone().invert());
        const facing = view.camera.getWorldDirection(new T.Vector3()).negate();
        this.held = { body: hit.body, point, plane: new T.Plane().setFromNormalAndCoplanarPoint(facing, hit.point) };
        view.controls.enabled = false;
        canvas.setPointerCapture(e.pointerId);
        onHold();
        this.send(view, puller, e);
      },
      { capture: true },
    );
    canvas.addEventListener('pointermove', (e) => {
      if (this.held) this.send(view, puller, e);
    });
    const drop = (): void => {
      if (!this.held) return;
      this.held = null;
      view.controls.enabled = true;
      puller.drop();
    };
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
      canvas.addEventListener(name, drop);
    canvas.addEventListener('contextmenu', (e) => {
      if (e.ctrlKey) e.preventDefault();
    });
  }

  get holding(): boolean {
    return this.held !== null;
  }

  private send(view: View, puller: Puller, e: PointerEvent): void {
    const at = view.ray(e.clientX, e.clientY).ray.intersectPlane(this.held!.plane, new T.Vector3());
    if (!at) return;
    const p = this.held!.point,
      o = this.origin;
    puller.drag(this.held!.body, [p.x, p.y, p.z], [at.x + o[0]!, at.y + o[1]!, at.z + o[2]!]);
  }

  // The pull as the simulation has it, whoever pulls.
  move(f: LiveFrame, view: View): void {
    this.origin = f.origin;
    this.line.begin();
    this.label.hidden = f.dragBody < 0;
    if (f.dragBody >= 0) {
      const v = (k: number): T.Vector3 => new T.Vector3(f.drag[k], f.drag[k + 1], f.drag[k + 2]),
        target = v(3);
      this.line.segment(v(0), target);
      const p = view.toScreen(target);
      this.label.textContent = `${short(v(6).length())} N`;
      this.label.style.transform = `translate(${Math.round(p.x + 14)}px, ${Math.round(p.y - 10)}px)`;
    }
    this.line.end();
  }
}
