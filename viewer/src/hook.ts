// window.sarrus: what tests ask the page, and what a notebook or a script may want to tell it.
import type { App } from './app';
import { qualityOf } from './quality';
import { Vector3 } from './vendor';

export interface Hook {
  readonly frames: number;
  readonly time: number;
  readonly playing: boolean;
  readonly quality: string;
  readonly live: boolean;
  readonly error: string | null;
  readonly calls: number; // of draws in the last picture
  readonly bodies: readonly string[];
  seek(t: number): void;
  play(): void;
  pause(): void;
  camera(azimuth: number, elevation: number, zoom: number): void;
  setQuality(name: string): void;
  pick(body: string): boolean;
  joint(name: string): { x: number; y: number; visible: boolean } | null;
  body(name: string): { x: number; y: number; position: [number, number, number] } | null;
  markers(): { joint: string; x: number; y: number }[];
}

export function install(app: App): void {
  const h = app.container.header,
    v = app.view;
  const hook: Hook = {
    get frames() {
      return app.frames;
    },
    get time() {
      return app.player.time;
    },
    get playing() {
      return app.player.playing;
    },
    get quality() {
      return app.view?.quality.name ?? 'none';
    },
    get live() {
      return app.player.live;
    },
    error: null,
    get calls() {
      return app.view?.renderer.info.render.calls ?? 0;
    },
    bodies: h.bodies.names,
    seek: (t) => app.player.seek(t),
    play: () => app.player.play(),
    pause: () => app.player.pause(),
    camera: (a, e, z) => v?.turnTo(a, e, z),
    setQuality: (name) => {
      const q = qualityOf(name);
      if (q && v) {
        app.fixedQuality = true;
        v.setQuality(q);
      }
    },
    pick: (body) => {
      const b = h.bodies.names.indexOf(body);
      app.pick(b);
      return b >= 0;
    },
    joint: (name) => {
      const j = h.joints.names.indexOf(name);
      if (j < 0 || !v) return null;
      const p = v.toScreen(v.joints.anchor(j, 0, v.bodies.matrices, new Vector3()));
      return { x: p.x, y: p.y, visible: p.z < 1 };
    },
    body: (name) => {
      const b = h.bodies.names.indexOf(name),
        f = app.shown;
      if (b < 0 || !v) return null;
      const p = new Vector3(f.pose[7 * b], f.pose[7 * b + 1], f.pose[7 * b + 2]),
        s = v.toScreen(p);
      return { x: s.x, y: s.y, position: [p.x + f.origin[0]!, p.y + f.origin[1]!, p.z + f.origin[2]!] };
    },
    markers: () =>
      v
        ? v.joints.markers().map((m) => {
            const s = v.toScreen(m.point);
            return { joint: h.joints.names[m.joint]!, x: s.x, y: s.y };
          })
        : [],
  };
  (window as unknown as { sarrus: Hook }).sarrus = hook;
}

export function installError(text: string): void {
  (window as unknown as { sarrus: { error: string; frames: number } }).sarrus = { error: text, frames: 0 };
}
