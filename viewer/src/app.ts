// The page: panels around the picture, one loop that draws when something changed.
import { Bar } from './bar';
import { Card } from './card';
import type { Container } from './container';
import { button, download, el, fileName, tame } from './dom';
import { Drives } from './drives';
import { geomOf, type Frame, type LiveFrame } from './frame';
import { Film } from './film';
import { comparison, Head } from './head';
import { installKeys } from './keys';
import { LivePlayer } from './live';
import { Loops } from './loops';
import { Menu } from './menu';
import type { Motion } from './motion';
import { Notices } from './notices';
import { MotionPlayer, type Player } from './player';
import { Plots } from './plots';
import { Pull } from './pull';
import { graphics, isSoftware, Pace, qualities, qualityOf, type Quality } from './quality';
import { Tint, tintNames } from './tint';
import * as theme from './theme';
import { Trace } from './trace';
import * as T from './vendor';
import { View } from './view';

export interface Options {
  theme: string | null;
  quality: string | null;
  time: number | null;
  pick: string | null;
  play: boolean;
  loop: number | null;
  eye: number[] | null;
  panels: boolean;
}

export class App {
  readonly notices = new Notices();
  readonly card: Card;
  readonly plots: Plots;
  readonly drives: Drives;
  readonly bar: Bar;
  readonly head: Head;
  readonly loops: Loops;
  readonly trace: Trace;
  readonly tint: Tint;
  readonly menu: Menu;
  readonly view: View | null;
  readonly left = el('div', 'left');
  pull: Pull | null = null;
  frames = 0;
  fixedQuality: boolean;
  shown: Frame;
  private theme = theme.light;
  private last = 0;
  private panelsAt = 0;
  private panelsDue = true;
  private readonly pace = new Pace();
  readonly film = new Film(this);
  private pickedPoint = new T.Vector3();
  private contactIndex = -1;
  private readonly host: HTMLElement;

  constructor(
    root: HTMLElement,
    readonly player: Player,
    readonly container: Container,
    first: Frame,
    other: Motion | null,
    readonly options: Options,
  ) {
    const h = container.header,
      live = player instanceof LivePlayer;
    this.shown = first;
    document.title = `${tame(h.scene) || 'motion'} – Sarrus`;
    this.host = el('div', 'view');
    this.card = new Card(h, player.history);
    this.plots = new Plots(player.history, live);
    this.drives = new Drives(h, live);
    this.head = new Head(h, live, other?.header ?? null);
    this.loops = new Loops(h);
    this.trace = new Trace(player.history);
    this.bar = new Bar(player, {
      toggle: () => this.toggle(),
      step: (n) => this.step(n),
      reset: () => this.reset(),
      faster: (k) => this.faster(k),
    });
    root.replaceChildren(this.host, this.notices.box, this.left, this.plots.box, this.bar.box);
    this.left.append(this.head.box, this.card.box, this.drives.box);
    const gpu = graphics();
    this.fixedQuality = qualityOf(options.quality) !== undefined;
    this.view = gpu === null ? null : this.makeView(first, qualityOf(options.quality) ?? this.initialQuality(gpu));
    this.tint = new Tint(h, player.history);
    if (other) this.view?.compareWith(other);
    if (this.view) {
      this.view.world.add(this.loops.group, this.trace.object);
      this.host.append(this.loops.label);
      this.listen(this.view);
    } else {
      this.host.append(
        el(
          'p',
          'message',
          'This browser shows no WebGL, so there is no picture: plots, timeline and numbers are below and beside. Sarrus draws an outline strip without it: sarrus run --svg.',
        ),
      );
      document.body.classList.add('flat');
    }
    this.menu = this.makeMenu();
    root.append(this.menu.box, this.menu.help);
    this.connectPanels();
    this.defaultPlots(other);
    this.setTheme(options.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => {
      if (!options.theme) this.setTheme(e.matches ? 'dark' : 'light');
    });
    if (innerWidth < 960 || innerHeight < 420) this.plots.box.hidden = this.drives.box.hidden = true;
    document.body.classList.toggle('bare', !options.panels);
    addEventListener('resize', () => this.layout());
    this.layout();
    installKeys(this);
    const [azimuth = -58, elevation = 14, zoom = 1] = options.eye ?? [];
    this.view?.turnTo(azimuth, elevation, zoom);
    const picked = options.pick === null ? -1 : h.bodies.names.indexOf(options.pick);
    if (picked >= 0) this.pick(picked);
    if (options.loop !== null && h.loops[options.loop - 1]) this.loops.selected = options.loop - 1;
    if (player instanceof MotionPlayer) {
      if (options.time !== null) player.seek(options.time);
      else if (options.play) player.play();
    }
    requestAnimationFrame((ms) => this.tick(ms));
  }

  private initialQuality(gpu: string): Quality {
    return qualities[isSoftware(gpu) ? 2 : 0]!;
  }

  private makeView(first: Frame, q: Quality): View | null {
    try {
      return new View(
        this.host,
        this.container,
        first,
        q,
        this.player instanceof MotionPlayer ? this.player.motion : null,
      );
    } catch (error) {
      this.notices.say(`The picture could not be made: ${String(error)}`, 'bad');
      return null;
    }
  }

  private defaultPlots(other: Motion | null): void {
    this.plots.add({ kind: 'energy', name: 'kinetic' });
    this.plots.add({ kind: 'energy', name: 'potential' });
    if (this.player.live ? this.container.header.geoms.names.length > 0 : this.container.get('contacts.point') !== null)
      this.plots.add({ kind: 'normal', body: -1 });
    this.plots.add({ kind: 'residual', name: 'natural_map' });
    this.plots.add({ kind: 'residual', name: this.container.header.joints.names.length ? 'joint_gap' : 'penetration' });
    if (other) this.plots.compareWith(other);
  }

  compareWith(other: Motion): void {
    this.plots.compareWith(other);
    this.view?.compareWith(other);
    this.refresh();
    this.notices.say(comparison(other.header));
  }

  private connectPanels(): void {
    const p = this.player;
    this.plots.onSeek = (t) => {
      p.pause();
      p.seek(t);
    };
    this.card.onPlot = (q) => this.plots.toggle(q);
    this.card.plotted = (q) => this.plots.has(q);
    this.card.onClose = () => this.pick(-1);
    this.card.onJoint = (j) => this.selectLoop(this.loops.through(j));
    if (p instanceof LivePlayer) {
      this.drives.onTarget = (dof, value) => p.target(dof, value);
      this.drives.onRelease = (dof) => p.release(dof);
      if (this.view) {
        this.pull = new Pull(this.view, p, () => {
          if (!p.playing) this.notices.say('Paused: the pull acts when time goes on (space).');
        });
        this.view.world.add(this.pull.line.object);
        this.host.append(this.pull.label);
      }
    }
    this.bar.right.append(
      button('Plots', 'Show or hide the plots (O)', () => this.togglePlots(), 'flat'),
      ...(this.drives.count
        ? [
            button(
              'Drives',
              'Show or hide the drives',
              () => {
                this.drives.box.hidden = !this.drives.box.hidden;
                this.layout();
              },
              'flat',
            ),
          ]
        : []),
      button(
        'View',
        'What is drawn',
        () => {
          this.menu.sync();
          this.menu.box.hidden = !this.menu.box.hidden;
        },
        'flat',
      ),
      button('?', 'All keys (?)', () => (this.menu.help.hidden = !this.menu.help.hidden), 'flat'),
    );
  }

  private makeMenu(): Menu {
    const v = this.view,
      layer = (key: string, text: string, name: keyof View['layers'], why?: string) => ({
        key,
        text,
        on: () => v?.layers[name] ?? false,
        set: (on: boolean) => this.setLayer(name, on),
        ...(why ? { why } : {}),
      });
    const inertia = this.container.header.bodies.inertia.length ? undefined : 'not recorded';
    return new Menu(
      [
        layer('C', 'Contacts and forces', 'contacts'),
        layer('F', 'Friction cones', 'cones'),
        layer('N', 'Normals', 'normals'),
        layer('J', 'Joints', 'joints'),
        {
          key: 'L',
          text: 'All loops',
          on: () => this.loops.all,
          set: (on) => {
            this.loops.all = on;
            this.refresh();
          },
        },
        layer('T', 'Transparency', 'transparent'),
        layer('W', 'Wireframe', 'wireframe'),
        layer('I', 'Inertia boxes', 'inertia', inertia),
        { ...layer('Y', 'Second run', 'ghost'), hidden: () => !v?.ghost },
        ...(v?.bodies.dressed ? [layer('X', 'Shapes that touch', 'touching')] : []),
        { key: 'H', text: 'Trace of the picked point', on: () => this.trace.on, set: () => this.toggleTrace() },
        {
          key: 'K',
          text: 'Follow the mechanism',
          on: () => v?.following ?? false,
          set: (on) => {
            if (v) v.following = on;
          },
        },
        {
          key: 'D',
          text: 'Dark',
          on: () => this.theme.name === 'dark',
          set: (on) => this.setTheme(on ? 'dark' : 'light'),
        },
      ],
      { names: tintNames, get: () => this.tint.name, set: (name) => this.setTint(name) },
      [
        { text: 'Picture', key: 'P', act: () => this.screenshot() },
        { text: 'Video', key: 'V', act: () => void this.film.toggle() },
        ...(this.player.live
          ? [
              { text: 'Save state', key: 'S', act: () => this.save() },
              { text: 'Save problem', key: 'M', act: () => this.dump() },
            ]
          : []),
      ],
    );
  }

  // Double click picks what is below: a pin its joint and loop, else the body.
  private listen(view: View): void {
    view.renderer.domElement.addEventListener('webglcontextlost', () =>
      this.notices.say('The graphics card dropped the picture; load the page again if it does not come back.', 'bad'),
    );
    view.renderer.domElement.addEventListener('webglcontextrestored', () => this.refresh());
    view.renderer.domElement.addEventListener('dblclick', (e) => {
      const ray = view.ray(e.clientX, e.clientY),
        body = view.bodies.hit(ray),
        joint = view.joints.hit(ray);
      const jointFirst = joint && (!body || joint.distance < body.distance + 0.02 * view.radius);
      if (body && body.body >= 0) {
        this.pickedPoint.copy(body.point).applyMatrix4(view.bodies.matrices[body.body]!.clone().invert());
        if (this.trace.on) this.trace.of(body.body, this.pickedPoint);
      }
      this.pick(body ? body.body : -1, false);
      this.selectLoop(jointFirst ? this.loops.through(joint.joint) : -1);
    });
  }

  pick(body: number, resetPoint = true): void {
    if (resetPoint) this.pickedPoint.set(0, 0, 0);
    this.card.pick(body);
    this.view?.pick(body);
    if (body < 0 && this.trace.on) this.trace.of(-1, this.pickedPoint);
    this.refresh();
  }

  selectLoop(loop: number): void {
    this.loops.selected = loop;
    this.refresh();
  }

  letGo(): void {
    this.menu.help.hidden = this.menu.box.hidden = true;
    this.selectLoop(-1);
    this.pick(-1);
  }

  // The body of the next contact in the list of those that are there.
  nextContact(by: number): void {
    const c = this.shown.contacts,
      geoms = this.container.header.geoms.body;
    if (!c.count) return;
    this.contactIndex = (this.contactIndex + by + c.count) % c.count;
    const a = geoms[geomOf(c, this.contactIndex, 0)] ?? -1,
      b = geoms[geomOf(c, this.contactIndex, 1)] ?? -1;
    this.pick(b >= 0 ? b : a);
  }

  toggleTrace(): void {
    if (this.trace.on) this.trace.of(-1, this.pickedPoint);
    else if (this.card.body >= 0) this.trace.of(this.card.body, this.pickedPoint);
    else this.notices.say('Pick a point by double click first: its trace is drawn then.');
    this.refresh();
  }

  toggle(): void {
    if (this.player.playing) this.player.pause();
    else this.player.play();
  }
  step(n: number): void {
    this.player.step(n);
  }
  reset(): void {
    this.player.reset();
    this.drives.releaseAll();
  }
  faster(factor: number): void {
    this.player.setSpeed(this.player.speed * factor);
    this.panelsDue = true;
  }

  setLayer(name: keyof View['layers'], on: boolean): void {
    this.view?.setLayers({ [name]: on });
    this.refresh();
  }
  toggleLayer(name: keyof View['layers']): void {
    if (this.view) this.setLayer(name, !this.view.layers[name]);
  }

  setTint(name: string): void {
    this.tint.name = name;
    this.refresh();
  }

  setTheme(name: string): void {
    this.theme = name === 'dark' ? theme.dark : theme.light;
    document.documentElement.dataset['theme'] = this.theme.name;
    theme.lines[this.theme.name].forEach((c, k) => document.documentElement.style.setProperty(`--line-${k}`, c));
    this.view?.setTheme(this.theme);
    this.loops.setTheme(this.theme);
    this.trace.setTheme(this.theme);
    this.plots.redraw();
    this.refresh();
  }
  toggleTheme(): void {
    this.options.theme = this.theme.name === 'dark' ? 'light' : 'dark';
    this.setTheme(this.options.theme);
  }

  togglePlots(): void {
    this.plots.box.hidden = !this.plots.box.hidden;
    this.layout();
    this.plots.resize();
  }

  layout(): void {
    const wide = (b: HTMLElement): number => b.getBoundingClientRect().width + 16;
    const roomy = innerWidth >= 960 && this.options.panels;
    this.view?.setMargins({
      left: roomy ? wide(this.left) : 0,
      right: roomy && !this.plots.box.hidden ? wide(this.plots.box) : 0,
      bottom: this.options.panels ? 60 : 0,
    });
    this.plots.resize();
    this.refresh();
  }

  // Shows the frame once more, with what changed around it.
  refresh(): void {
    this.panelsDue = true;
    this.apply(this.shown);
  }

  private apply(f: Frame): void {
    this.shown = f;
    const v = this.view;
    if (!v) return;
    v.show(f);
    this.tint.apply(v.bodies, f);
    this.loops.move(f, v);
    this.trace.move(f.time, f.origin);
    if (this.pull && this.player instanceof LivePlayer && this.player.latest === f) this.pull.move(f as LiveFrame, v);
  }

  // The scene changed: another page takes over.
  stop(): void {
    this.stopped = true;
    this.view?.renderer.dispose();
  }
  private stopped = false;

  private tick(ms: number): void {
    if (this.stopped) return;
    const seconds = Math.min(0.25, Math.max(0, (ms - this.last) / 1000));
    this.last = ms;
    if (!this.film.running) {
      const f = this.player.advance(seconds);
      if (f) {
        this.apply(f);
        this.panelsDue = true;
      }
      this.draw();
      if (f && this.player instanceof LivePlayer) this.player.drawn();
      if (!this.fixedQuality && this.view && this.pace.slow(ms, f !== null)) this.view.lower();
      this.panels(ms);
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  // One picture of a video, whether something changed or not; true if it did.
  picture(seconds: number): boolean {
    const f = this.player.advance(seconds);
    if (f) this.apply(f);
    if (this.view) this.view.dirty = true;
    this.panelsDue = true;
    this.draw();
    return f !== null;
  }

  private draw(): void {
    const v = this.view;
    if (!v) {
      ++this.frames;
      return;
    }
    v.controls.update();
    if (!v.dirty) return;
    this.loops.place(v);
    v.draw();
    ++this.frames;
  }

  // Numbers and plots, at most 20 times a second; all of them once time stands still.
  panels(ms: number): void {
    this.plots.refresh();
    if (!this.panelsDue || (ms - this.panelsAt < 50 && this.player.playing)) return;
    this.panelsAt = Math.min(ms, performance.now());
    this.panelsDue = false;
    const live = this.player instanceof LivePlayer ? this.player.latest : null;
    this.bar.update();
    this.head.update(this.shown, live);
    this.card.update(this.shown);
    if (!this.drives.box.hidden) this.drives.update(this.shown);
    if (!this.plots.box.hidden) {
      this.plots.setTime(this.shown.time);
      this.plots.tell();
    }
  }

  screenshot(): void {
    const v = this.view;
    if (!v) return;
    v.draw(); // in this task: the picture is gone after it
    v.renderer.domElement.toBlob((blob) => {
      if (blob) download(blob, `${fileName(this.container.header.scene)}_${this.shown.time.toFixed(3)}s.png`);
    });
  }

  // To the file that the command line named.
  save(): void {
    if (this.player instanceof LivePlayer) this.player.save();
  }

  // The constraint problem of the step that is shown, to the folder that the command line named.
  dump(): void {
    if (this.player instanceof LivePlayer) this.player.dump();
  }
}
