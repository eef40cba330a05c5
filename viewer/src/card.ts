// The card of the picked body: what it is, how it moves, its joints and contacts. A number that is clicked is plotted.
import { button, el, tame } from './dom';
import { geomOf, modeNames, modeOf, type Contacts, type Frame } from './frame';
import type { Header } from './header';
import type { History } from './history';
import { indexAt } from './history';
import { fixed, gapText, short } from './numbers';
import { contactForces, kineticOf, twistOf, type Quantity } from './quantity';
import { force, gapColour } from './theme';

interface Cell {
  element: HTMLElement;
  text: (f: Frame, i: number) => string;
  colour?: (f: Frame) => string;
}

export class Card {
  readonly box = el('section', 'panel card');
  body = -1;
  onPlot: (q: Quantity) => void = () => {};
  onJoint: (joint: number) => void = () => {};
  onClose: () => void = () => {};
  plotted: (q: Quantity) => boolean = () => false;
  private cells: Cell[] = [];
  private readonly contacts = el('div', 'contacts');
  private readonly buttons: { q: Quantity; b: HTMLButtonElement }[] = [];

  constructor(
    private readonly header: Header,
    private readonly history: History,
  ) {
    this.box.hidden = true;
    this.box.setAttribute('aria-label', 'Picked body');
  }

  pick(body: number): void {
    this.body = body;
    this.box.hidden = body < 0;
    this.cells = [];
    this.buttons.length = 0;
    if (body < 0) return;
    const h = this.header,
      list = el('div', 'rows');
    const title = el(
      'div',
      'cardhead',
      el('b', '', tame(h.bodies.names[body]!)),
      button('×', 'Let go (Esc)', () => this.onClose(), 'flat close'),
    );
    list.append(this.row('mass', `${short(h.bodies.mass[body]!)} kg`));
    const axes = [0, 1, 2] as const;
    list.append(
      this.row(
        'position',
        ...axes.map((axis) =>
          this.number({ kind: 'position', body, axis }, (f) => fixed(f.pose[7 * body + axis]! + f.origin[axis]!, 3)),
        ),
        'm',
      ),
    );
    list.append(
      this.row(
        'speed',
        this.number({ kind: 'speed', body }, (_, i) => this.twist(i, (t) => short(Math.hypot(...t.v)))),
        'm/s',
      ),
    );
    list.append(
      this.row(
        'spin',
        this.number({ kind: 'spin', body }, (_, i) => this.twist(i, (t) => short(Math.hypot(...t.w)))),
        'rad/s',
      ),
    );
    list.append(
      this.row(
        h.bodies.inertia.length ? 'kinetic energy' : 'kinetic energy (of the centre)',
        this.number({ kind: 'kinetic', body }, (_, i) => short(kineticOf(this.history, i, body))),
        'J',
      ),
    );
    h.joints.names.forEach((_, j) => {
      if (h.joints.base[j] === body || h.joints.follower[j] === body) list.append(this.joint(j));
    });
    this.contacts.replaceChildren();
    this.box.replaceChildren(title, list, this.contacts);
  }

  private twist(i: number, text: (t: NonNullable<ReturnType<typeof twistOf>>) => string): string {
    const t = twistOf(this.history, i, this.body);
    return t ? text(t) : '–';
  }

  private row(name: string, ...values: (Node | string)[]): HTMLElement {
    return el(
      'div',
      'row',
      el('span', 'name', name),
      el('span', 'value', ...values.map((v) => (typeof v === 'string' ? el('span', 'unit', v) : v))),
    );
  }

  private number(q: Quantity, text: Cell['text'], colour?: Cell['colour']): HTMLElement {
    const b = button(
      '',
      'Plot it',
      () => {
        this.onPlot(q);
        this.mark();
      },
      'number',
    );
    this.cells.push(colour ? { element: b, text, colour } : { element: b, text });
    this.buttons.push({ q, b });
    return b;
  }

  // Numbers that are in the plots are underlined.
  mark(): void {
    for (const { q, b } of this.buttons) b.classList.toggle('on', this.plotted(q));
  }

  private joint(j: number): HTMLElement {
    const h = this.header,
      t = h.joints,
      closes = t.closes_loop[j] === 1,
      first = t.first_dof[j]!;
    const name = button(
      `${closes ? '◎' : '●'} ${tame(t.names[j]!)}`,
      closes ? 'Closes a loop: show it' : 'Show a loop through it',
      () => this.onJoint(j),
      'joint',
    );
    const box = el('div', 'jointbox', el('div', 'jointhead', name, el('span', 'type', t.type[j]!)));
    const at =
      (k: number) =>
      (f: Frame): number =>
        f.joint.length ? f.joint[4 * j + k]! : NaN;
    for (let d = first; first >= 0 && d < first + t.dofs[j]!; ++d) {
      const rad = h.dofs.unit[d] === 'rad',
        scale = rad ? 180 / Math.PI : 1;
      const value = this.number({ kind: 'dof', dof: d, what: 0 }, (f) =>
        rad ? `${fixed(f.dof[4 * d]! * scale, 2)}°` : fixed(f.dof[4 * d]!, 4),
      );
      const rate = this.number({ kind: 'dof', dof: d, what: 1 }, (f) => short(f.dof[4 * d + 1]!));
      const suffix = t.dofs[j]! > 1 ? ` ${d - first + 1}` : '';
      box.append(this.row(`value, rate${suffix}`, value, rad ? '' : 'm', rate, rad ? 'rad/s' : 'm/s'));
      if (h.dofs.mode[d] !== 'none') {
        box.append(
          this.row(
            `effort${suffix}`,
            this.number({ kind: 'dof', dof: d, what: 2 }, (f) => short(f.dof[4 * d + 2]!)),
            rad ? 'N m' : 'N',
          ),
        );
      }
    }
    const gap = at(0),
      strength = at(2);
    const figure = (v: number, unit: string, show: (x: number) => string): string =>
      Number.isNaN(v) ? 'not recorded' : `${show(v)} ${unit}`;
    box.append(
      this.row(
        'gap',
        this.number(
          { kind: 'joint', joint: j, what: 0 },
          (f) => figure(gap(f), 'm', (x) => gapText(x, h.kind === 'motion')),
          (f) => {
            const c = gapColour(gap(f));
            return c === gapColour(0) ? '' : c;
          },
        ),
      ),
    );
    box.append(
      this.row(
        'reaction',
        this.number({ kind: 'joint', joint: j, what: 2 }, (f) => figure(strength(f), 'N', short)),
      ),
    );
    return box;
  }

  update(f: Frame): void {
    if (this.body < 0 || !this.history.count) return;
    const i = indexAt(this.history, f.time);
    for (const c of this.cells) {
      const text = c.text(f, i);
      if (c.element.textContent !== text) c.element.textContent = text;
      if (c.colour) c.element.style.color = c.colour(f);
    }
    this.mark();
    this.showContacts(f.contacts);
  }

  private showContacts(c: Contacts): void {
    const h = this.header,
      rows: HTMLElement[] = [];
    let count = 0;
    for (let k = 0; k < c.count; ++k) {
      const a = geomOf(c, k, 0),
        b = geomOf(c, k, 1),
        bodyA = h.geoms.body[a] ?? -1,
        bodyB = h.geoms.body[b] ?? -1;
      if (bodyA !== this.body && bodyB !== this.body) continue;
      if (++count > 12) continue;
      const other = bodyA === this.body ? b : a,
        forces = contactForces(c, k),
        m = modeOf(c, k);
      const name =
        h.geoms.names[other] ||
        (h.geoms.body[other] === -1 ? 'world' : h.bodies.names[h.geoms.body[other] ?? -1]) ||
        'geom';
      const dot = el('i', 'dot'),
        colour = [force.open, force.sticking, force.sliding, force.unknown][m] ?? force.unknown;
      dot.style.background = m === 0 ? 'transparent' : colour;
      dot.style.borderColor = colour;
      rows.push(
        el(
          'div',
          'row',
          el('span', 'name', dot, `${tame(name)} · ${modeNames[m] ?? 'touching'}`),
          el('span', 'value', `${short(forces.normal)} N, ${short(forces.friction)} N`),
        ),
      );
    }
    const normal = button(
      'contacts',
      'Plot the sum of normal forces on this body',
      () => {
        this.onPlot({ kind: 'normal', body: this.body });
        this.mark();
      },
      'joint',
    );
    const head = el('div', 'jointhead', normal, el('span', 'type', count ? 'normal, friction' : 'none'));
    if (count > 12) rows.push(el('div', 'row', el('span', 'name', `and ${count - 12} more`)));
    this.contacts.replaceChildren(head, ...rows);
  }
}
