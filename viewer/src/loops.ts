// Loops as ribbons through their joints, with the recorded gap of the joint that closes them in figures.
import { el } from './dom';
import type { Frame } from './frame';
import type { Header } from './header';
import { gapText } from './numbers';
import { Ribbon } from './ribbon';
import { accent, accentDark, amber, gapAmber, gapRed, red, type Theme } from './theme';
import * as T from './vendor';
import type { View } from './view';

export class Loops {
  readonly group = new T.Group();
  readonly label = el('div', 'tag');
  selected = -1;
  all = false;
  private readonly ribbon = new Ribbon({ colour: accent, width: 5, onTop: true, opacity: 0.92 });
  private readonly others = new Ribbon({ colour: accent, width: 2.5, onTop: true, opacity: 0.55 });
  private theme: Theme | null = null;

  constructor(private readonly header: Header) {
    this.label.hidden = true;
    this.group.add(this.others.object, this.ribbon.object);
  }

  setTheme(t: Theme): void {
    this.theme = t;
  }

  // Loop that a joint closes, or the first one through it; -1: none.
  through(joint: number): number {
    const own = this.header.loops.findIndex((l) => l.joints[0] === joint);
    return own >= 0 ? own : this.header.loops.findIndex((l) => l.joints.includes(joint));
  }

  next(by: number): void {
    const n = this.header.loops.length;
    if (n) this.selected = this.selected < 0 ? (by > 0 ? 0 : n - 1) : (this.selected + by + n) % n;
  }

  private points(loop: number, view: View): T.Vector3[] {
    const l = this.header.loops[loop]!,
      out: T.Vector3[] = [];
    l.joints.forEach((j, i) => {
      const first = this.header.joints.base[j] === l.bodies[i] ? 0 : 1;
      out.push(
        view.joints.anchor(j, first, view.bodies.matrices, new T.Vector3()),
        view.joints.anchor(j, (1 - first) as 0 | 1, view.bodies.matrices, new T.Vector3()),
      );
    });
    if (out.length) out.push(out[0]!.clone());
    return out;
  }

  move(frame: Frame, view: View): void {
    this.others.begin();
    if (this.all)
      this.header.loops.forEach((_, i) => {
        if (i !== this.selected) this.others.line(this.points(i, view));
      });
    this.others.end();
    this.ribbon.begin();
    const loop = this.header.loops[this.selected];
    if (loop) this.ribbon.line(this.points(this.selected, view));
    this.ribbon.end();
    this.label.hidden = !loop;
    const own = this.theme?.name === 'dark' ? accentDark : accent;
    this.others.setColour(own);
    if (!loop) return;
    const j = loop.joints[0]!,
      gap = frame.joint.length ? frame.joint[4 * j]! : NaN;
    this.ribbon.setColour(gap > gapRed ? red : gap > gapAmber ? amber : own);
    this.label.textContent = `loop ${this.selected + 1} of ${this.header.loops.length} · gap ${Number.isNaN(gap) ? 'not recorded' : `${gapText(gap, this.header.kind === 'motion')} m`}`;
    this.label.classList.toggle('bad', gap > gapRed);
  }

  // Puts the figures beside the joint that closes the loop; after the camera moved, too.
  place(view: View): void {
    const loop = this.header.loops[this.selected];
    if (!loop) return;
    const p = view.toScreen(view.joints.anchor(loop.joints[0]!, 0, view.bodies.matrices, new T.Vector3()));
    this.label.hidden = p.z > 1;
    // On the other side where panels would hide it.
    const left = p.x + 230 > view.freeRight;
    this.label.style.transform = `translate(${Math.round(p.x + (left ? -14 : 14))}px, ${Math.round(p.y - 12)}px)${left ? ' translateX(-100%)' : ''}`;
  }
}
