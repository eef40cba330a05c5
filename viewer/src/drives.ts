// A slider for each drive, with its limits, where the joint is, and how hard the drive works.
import { button, el, tame } from './dom';
import type { Frame } from './frame';
import type { Header } from './header';
import { fixed, short } from './numbers';

interface Row {
  dof: number;
  slider: HTMLInputElement;
  target: HTMLElement;
  now: HTMLElement;
  effort: HTMLElement;
  bar: HTMLElement;
  held: boolean;
  free: HTMLButtonElement;
  most: number;
}

// From where to where the target of a drive goes (docs/motion-format.md).
export function rangeOf(h: Header, d: number): [number, number] {
  const t = h.dofs,
    rad = t.unit[d] === 'rad',
    mode = t.mode[d];
  let lo = t.target_lower[d] ?? null,
    hi = t.target_upper[d] ?? null;
  if (lo === null)
    lo = mode === 'position' ? (t.lower[d] ?? null) : mode === 'force' ? (t.effort_lower[d] ?? null) : null;
  if (hi === null)
    hi = mode === 'position' ? (t.upper[d] ?? null) : mode === 'force' ? (t.effort_upper[d] ?? null) : null;
  const free =
    mode === 'velocity'
      ? rad
        ? 4 * Math.PI
        : 2 * h.view.radius
      : mode === 'force'
        ? (rad ? 1 : 0.2) * h.view.weight * (rad ? h.view.radius : 1)
        : rad
          ? Math.PI
          : 1;
  lo ??= hi !== null && hi < -free ? hi - 2 * free : -free;
  hi ??= lo > free ? lo + 2 * free : free;
  return lo < hi ? [lo, hi] : [lo - free, lo + free];
}

const unitOf = (h: Header, d: number): string => {
  const rad = h.dofs.unit[d] === 'rad';
  return h.dofs.mode[d] === 'velocity'
    ? rad
      ? 'rad/s'
      : 'm/s'
    : h.dofs.mode[d] === 'force'
      ? rad
        ? 'N m'
        : 'N'
      : rad
        ? '°'
        : 'm';
};

export class Drives {
  readonly box = el('section', 'panel drives');
  onTarget: (dof: number, value: number) => void = () => {};
  onRelease: (dof: number) => void = () => {};
  private readonly rows: Row[] = [];

  constructor(
    private readonly header: Header,
    private readonly live: boolean,
  ) {
    const list = el('div', 'rows');
    header.dofs.mode.forEach((mode, d) => {
      if (mode !== 'none') list.append(this.row(d, mode));
    });
    this.box.hidden = this.rows.length === 0;
    this.box.setAttribute('aria-label', 'Drives');
    const head = el('div', 'plotbar', el('b', '', 'Drives'), el('span', 'cursors', live ? '' : 'as recorded'));
    if (live)
      head.append(
        button(
          'release all',
          'All drives follow the signals of the scene again',
          () => this.rows.forEach((r) => this.release(r)),
          'flat',
        ),
      );
    this.box.append(head, list);
  }

  get count(): number {
    return this.rows.length;
  }

  private row(d: number, mode: string): HTMLElement {
    const h = this.header,
      [lo, hi] = rangeOf(h, d),
      slider = el('input'),
      name = h.dofs.drive[d] || h.dofs.names[d]!;
    slider.type = 'range';
    slider.min = String(lo);
    slider.max = String(hi);
    slider.step = 'any';
    slider.disabled = !this.live;
    slider.setAttribute('aria-label', `target of ${tame(name)}`);
    const now = el('i', 'now'),
      bar = el('i', 'fill'),
      target = el('span', 'value'),
      effort = el('span', 'value sub');
    const r: Row = {
      dof: d,
      slider,
      target,
      now,
      effort,
      bar,
      held: false,
      free: button('↺', 'Follow the signal of the scene again', () => this.release(r), 'flat'),
      most: 0,
    };
    r.free.hidden = true;
    slider.addEventListener('input', () => {
      r.held = true;
      r.free.hidden = false;
      this.onTarget(d, Number(slider.value));
      this.showTarget(r, Number(slider.value));
    });
    slider.addEventListener('keydown', (e) => e.stopPropagation());
    slider.addEventListener('change', () => slider.blur());
    this.rows.push(r);
    const scale = h.dofs.unit[d] === 'rad' && mode === 'position' ? 180 / Math.PI : 1;
    const limit = (x: number): string =>
      Math.abs(x * scale) >= 100 ? fixed(x * scale, 0) : `${Number((x * scale).toPrecision(2))}`.replace('-', '\u2212');
    return el(
      'div',
      'drive',
      el('div', 'row', el('span', 'name', tame(name)), target, r.free),
      el(
        'div',
        'slide',
        el('span', 'limit', limit(lo)),
        el('div', 'track', slider, now),
        el('span', 'limit', limit(hi)),
      ),
      el('div', 'row effort', el('span', 'name sub', 'effort'), el('div', 'meter', bar), effort),
    );
  }

  private release(r: Row): void {
    if (!r.held) return;
    r.held = false;
    r.free.hidden = true;
    this.onRelease(r.dof);
  }

  // All follow the scene again (after a reset).
  releaseAll(): void {
    for (const r of this.rows) {
      r.held = false;
      r.free.hidden = true;
    }
  }

  private showTarget(r: Row, v: number): void {
    const deg = this.header.dofs.unit[r.dof] === 'rad' && this.header.dofs.mode[r.dof] === 'position';
    const text = Number.isNaN(v)
      ? 'not recorded'
      : `${deg ? fixed((v * 180) / Math.PI, 1) : short(v)}${deg ? '' : ' '}${unitOf(this.header, r.dof)}`;
    if (r.target.textContent !== text) r.target.textContent = text;
  }

  update(f: Frame): void {
    for (const r of this.rows) {
      const h = this.header,
        mode = h.dofs.mode[r.dof],
        q = f.dof[4 * r.dof]!,
        rate = f.dof[4 * r.dof + 1]!,
        effort = f.dof[4 * r.dof + 2]!,
        target = f.dof[4 * r.dof + 3]!;
      const lo = Number(r.slider.min),
        hi = Number(r.slider.max);
      if (!(document.activeElement === r.slider && r.held)) {
        if (!Number.isNaN(target)) r.slider.value = String(target);
        this.showTarget(r, target);
      }
      r.slider.hidden = Number.isNaN(target) && !this.live;
      const at = mode === 'velocity' ? rate : mode === 'force' ? effort : q,
        share = Math.min(1, Math.max(0, (at - lo) / (hi - lo)));
      r.now.hidden = Number.isNaN(at);
      r.now.style.left = `${(100 * share).toFixed(2)}%`;
      const rad = h.dofs.unit[r.dof] === 'rad';
      r.most = Math.max(r.most, Math.abs(effort) || 0);
      const limit =
          (effort < 0 ? -(h.dofs.effort_lower[r.dof] ?? NaN) : (h.dofs.effort_upper[r.dof] ?? NaN)) || r.most || 1,
        part = Math.min(1, Math.abs(effort) / limit) || 0;
      r.bar.style.width = `${(50 * part).toFixed(1)}%`;
      r.bar.style.left = effort < 0 ? `${(50 - 50 * part).toFixed(1)}%` : '50%';
      r.bar.classList.toggle('full', part > 0.995 && h.dofs.effort_upper[r.dof] !== null);
      const text = Number.isNaN(effort) ? 'not recorded' : `${short(effort)} ${rad ? 'N m' : 'N'}`;
      if (r.effort.textContent !== text) r.effort.textContent = text;
    }
  }
}
