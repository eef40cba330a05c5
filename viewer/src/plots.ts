// Plots that follow the playhead: a panel of small charts with cursors A and B, a window or the whole run, a second run dashed.
import { button, el, tame } from './dom';
import { energyNames, residualNames } from './frame';
import { indexAt, type History } from './history';
import { short } from './numbers';
import { counterpart, keyOf, labelOf, plotOf, seriesOf, type Quantity } from './quantity';
import { lines } from './theme';
import { Plot } from './vendor';

interface Curve {
  q: Quantity;
  look: number; // of theme.lines
  values: Float64Array;
  other: Float64Array | null;
  legend: HTMLElement;
}
interface Chart {
  title: string;
  unit: string;
  log: boolean;
  curves: Curve[];
  box: HTMLElement;
  legends: HTMLElement;
  host: HTMLElement;
  plot: Plot | null;
  head: HTMLElement;
  marks: Record<'A' | 'B', HTMLElement>;
}

export class Plots {
  readonly box = el('section', 'panel plots');
  cursors: { A: number | null; B: number | null } = { A: null, B: null };
  window: number | null = null; // s; null: the whole run
  onSeek: (t: number) => void = () => {};
  private readonly charts: Chart[] = [];
  private readonly list = el('div', 'charts');
  private readonly cursorText = el('span', 'cursors');
  private readonly windowButton: HTMLButtonElement;
  private other: History | null = null;
  private times: Float64Array = new Float64Array(0);
  private version = -1;
  private refreshed = 0;
  private now = 0;
  private followed = -Infinity;

  constructor(
    private readonly history: History,
    private readonly live: boolean,
  ) {
    this.box.setAttribute('aria-label', 'Plots');
    this.windowButton = button(
      'all',
      'Whole run, or a window that follows the playhead',
      () => this.setWindow(this.window === null ? 2 : null),
      'flat',
    );
    const head = el(
      'div',
      'plotbar',
      el('b', '', 'Plots'),
      this.cursorText,
      button('A', 'Cursor A at the playhead (shift-click in a plot)', () => this.setCursor('A', this.now), 'flat'),
      button('B', 'Cursor B at the playhead (alt-click in a plot)', () => this.setCursor('B', this.now), 'flat'),
      this.windowButton,
    );
    head.insertBefore(this.chooser(), this.cursorText);
    this.box.append(head, this.list);
    if (live) this.setWindow(10);
  }

  // A list of what can be plotted besides what the card offers.
  private chooser(): HTMLElement {
    const select = el('select', 'chooser', el('option', '', 'add …')),
      h = this.history.header,
      choices: Quantity[] = [];
    const group = (label: string, list: readonly Quantity[]): void => {
      const g = el('optgroup');
      g.label = label;
      for (const q of list) {
        const o = el('option', '', tame(labelOf(q, h)));
        o.value = String(choices.push(q) - 1);
        g.append(o);
      }
      if (list.length) select.append(g);
    };
    group(
      'Energy',
      energyNames.map((name) => ({ kind: 'energy', name })),
    );
    group('Residuals', [...residualNames.map((name) => ({ kind: 'residual', name }) as const), { kind: 'iterations' }]);
    if (h.geoms.names.length)
      group('Contact forces', [
        { kind: 'normal', body: -1 },
        { kind: 'friction', body: -1 },
      ]);
    // Each coordinate of a crowd is found by its body.
    const dofs = h.dofs.names.map((_, i) => i).slice(0, 120),
      driven = dofs.filter((i) => h.dofs.mode[i] !== 'none');
    group(
      'Efforts',
      driven.map((dof) => ({ kind: 'dof', dof, what: 2 })),
    );
    group(
      'Targets',
      driven.map((dof) => ({ kind: 'dof', dof, what: 3 })),
    );
    group(
      'Coordinates',
      dofs.map((dof) => ({ kind: 'dof', dof, what: 0 })),
    );
    group(
      'Rates',
      dofs.map((dof) => ({ kind: 'dof', dof, what: 1 })),
    );
    select.title = 'Add a curve';
    select.setAttribute('aria-label', select.title);
    select.addEventListener('change', () => {
      const q = choices[Number(select.value)];
      select.selectedIndex = 0;
      select.blur();
      if (q) this.show(q);
    });
    return select;
  }

  compareWith(other: History): void {
    this.other = other;
    for (const c of this.charts) {
      this.fill(c);
      this.draw(c); // with more series
    }
    this.scale(true);
  }

  has(q: Quantity): boolean {
    return this.charts.some((c) => c.curves.some((x) => keyOf(x.q) === keyOf(q)));
  }

  toggle(q: Quantity): void {
    if (this.has(q)) this.remove(q);
    else this.show(q);
  }

  show(q: Quantity): void {
    this.add(q);
    this.charts.find((c) => c.curves.some((x) => keyOf(x.q) === keyOf(q)))?.box.scrollIntoView({ block: 'nearest' });
  }

  add(q: Quantity): void {
    if (this.has(q)) return;
    const p = plotOf(q, this.history.header);
    let chart = this.charts.find(
      (c) => c.title === p.title && c.unit === p.unit && c.curves.length < lines.light.length,
    );
    if (!chart) {
      const legends = el('span', 'legends'),
        host = el('div', 'chart');
      const head = el('div', 'charthead', el('b', '', p.unit ? `${p.title}, ${p.unit}` : p.title), legends);
      const marks = { A: el('i', 'mark cursor'), B: el('i', 'mark cursor') };
      chart = {
        ...p,
        curves: [],
        box: el('div', 'plot', head, host),
        legends,
        host,
        plot: null,
        head: el('i', 'mark playhead'),
        marks,
      };
      this.charts.push(chart);
      this.list.append(chart.box);
    }
    const look = lines.light.findIndex((_, k) => !chart.curves.some((x) => x.look === k));
    const legend = button(
      '',
      `${tame(labelOf(q, this.history.header))}: remove from the plot`,
      () => this.remove(q),
      'legend',
    );
    legend.style.color = `var(--line-${look})`;
    chart.curves.push({ q, look, values: new Float64Array(0), other: null, legend });
    chart.legends.append(legend);
    this.fill(chart);
    this.draw(chart);
    this.tell();
  }

  remove(q: Quantity): void {
    for (const c of this.charts) {
      const i = c.curves.findIndex((x) => keyOf(x.q) === keyOf(q));
      if (i < 0) continue;
      c.curves[i]!.legend.remove();
      c.curves.splice(i, 1);
      if (c.curves.length) this.draw(c);
      else {
        c.plot?.destroy();
        c.box.remove();
        this.charts.splice(this.charts.indexOf(c), 1);
      }
      return;
    }
  }

  setWindow(w: number | null): void {
    this.window = w;
    this.windowButton.textContent = w === null ? 'all' : `${w} s`;
    this.scale(true);
  }

  setCursor(which: 'A' | 'B', t: number | null): void {
    this.cursors[which] =
      this.cursors[which] !== null && t !== null && Math.abs(this.cursors[which] - t) < 1e-12 ? null : t;
    this.tell();
    this.place();
  }

  // The playhead is at t.
  setTime(t: number): void {
    this.now = t;
    this.scale(false);
    this.place();
  }

  // Draws anew if frames came; live at most four times a second.
  refresh(force = false): void {
    const now = performance.now();
    if (!force && (this.version === this.history.version || now - this.refreshed < 250)) return;
    this.version = this.history.version;
    this.refreshed = now;
    for (const c of this.charts) {
      this.fill(c);
      this.data(c);
    }
    this.scale(true);
    this.tell();
  }

  // Numbers at the playhead, differences between the cursors.
  tell(): void {
    if (!this.history.count) return;
    const i = indexAt(this.history, this.now),
      { A, B } = this.cursors,
      both = A !== null && B !== null;
    const a = A === null ? 0 : indexAt(this.history, A),
      b = B === null ? 0 : indexAt(this.history, B);
    for (const c of this.charts) {
      for (const x of c.curves) {
        const name = tame(labelOf(x.q, this.history.header)),
          v = x.values[Math.min(i, x.values.length - 1)] ?? NaN; // the newest moments come a little later
        const show = c.log
          ? (y: number): string => (Number.isNaN(y) ? '–' : y === 0 ? '0' : y.toExponential(0))
          : short;
        let text = c.curves.length > 1 || name !== 'sum' ? `${name} ` : '';
        if (x.values.length > 1 && x.values.every(Number.isNaN)) text += 'not recorded';
        else if (both) text += `Δ ${short((x.values[b] ?? NaN) - (x.values[a] ?? NaN))}`;
        else text += show(v);
        x.legend.textContent = text;
      }
    }
    const t = (x: number): string => x.toFixed(3);
    this.cursorText.textContent = both ? `Δt ${t(B - A)} s` : A !== null ? `A ${t(A)}` : B !== null ? `B ${t(B)}` : '';
  }

  redraw(): void {
    for (const c of this.charts) c.plot?.redraw(false);
  }

  resize(): void {
    for (const c of this.charts) c.plot?.setSize({ width: this.width, height: 92 });
  }

  private get width(): number {
    return Math.max(160, this.list.clientWidth || 268);
  }

  private fill(c: Chart): void {
    this.times = Float64Array.from({ length: this.history.count }, (_, i) => this.history.time(i));
    for (const x of c.curves) {
      x.values = seriesOf(x.q, this.history);
      const q = this.other && counterpart(x.q, this.history.header, this.other.header);
      x.other = q && this.other ? seriesOf(q, this.other) : null;
    }
  }

  private table(c: Chart): unknown[] {
    // Exactly zero is drawn a little below all that is not.
    let tiny = Infinity;
    if (c.log)
      for (const v of c.curves.flatMap((x) => [x.values, x.other]))
        for (const x of v ?? []) if (x > 0 && x < tiny) tiny = x;
    tiny = tiny < Infinity ? tiny / 4 : 1e-18;
    const y = (v: Float64Array): (number | null)[] =>
      Array.from(v, (x) => (Number.isFinite(x) ? (c.log ? Math.log10(Math.max(x, tiny)) : x) : null));
    const own = [Array.from(this.times), ...c.curves.map((x) => y(x.values))];
    if (!this.other) return own;
    const o = this.other,
      none = new Float64Array(o.count).fill(NaN);
    const second = [Array.from({ length: o.count }, (_, i) => o.time(i)), ...c.curves.map((x) => y(x.other ?? none))];
    return Plot.join([own, second] as never) as unknown[];
  }

  private data(c: Chart): void {
    c.plot?.setData(this.table(c) as never, false);
  }

  private draw(c: Chart): void {
    c.plot?.destroy();
    const css = (name: string) => (): string => getComputedStyle(document.documentElement).getPropertyValue(name);
    const axis = {
      stroke: css('--sub'),
      grid: { stroke: css('--line'), width: 1 },
      ticks: { show: false },
      font: '10px system-ui, sans-serif',
    };
    const log = (v: number): string => `1e${Math.round(v)}`;
    const tick = (v: number): string =>
      Math.abs(v) >= 1e4 ? v.toExponential(0).replace('e+', 'e') : `${Number(v.toPrecision(3))}`;
    const series = c.curves.map((x) => ({
      label: keyOf(x.q),
      stroke: css(`--line-${x.look}`),
      width: 1.25,
      points: { show: false },
      spanGaps: true,
    }));
    const dashed = this.other
      ? c.curves.map((x) => ({
          label: keyOf(x.q) + '2',
          stroke: css(`--line-${x.look}`),
          width: 1.1,
          dash: [4, 3],
          points: { show: false },
          spanGaps: true,
        }))
      : [];
    const yRange = c.log
      ? (_: Plot, lo: number | null, hi: number | null): [number, number] => [
          Math.floor(Math.max(-18, (lo ?? -12) - 0.3)),
          Math.ceil((hi ?? -6) + 0.3),
        ]
      : (_: Plot, lo: number | null, hi: number | null): [number, number] => {
          const a = lo ?? 0,
            b = hi ?? 1,
            pad = Math.max(0.08 * (b - a), 1e-6 * Math.max(Math.abs(a), Math.abs(b))) || 1;
          return [a - pad, b + pad];
        };
    c.plot = new Plot(
      {
        width: this.width,
        height: 92,
        cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false, setScale: false } },
        legend: { show: false },
        padding: [6, 8, 0, 0],
        scales: { x: { time: false, range: () => this.span() }, y: { range: yRange } },
        axes: [
          { ...axis, size: 18, space: 44 },
          {
            ...axis,
            size: 42,
            space: 22,
            values: (_: Plot, v: number[]) => v.map(c.log ? log : tick),
            ...(c.log ? { incrs: [1, 2, 3, 4, 5, 6, 8, 10] } : {}),
          },
        ],
        series: [{}, ...series, ...dashed],
      },
      this.table(c) as never,
      c.host,
    );
    const over = c.plot.over;
    over.append(c.head, c.marks.A, c.marks.B);
    over.addEventListener('click', (e) => {
      const t = c.plot!.posToVal(e.offsetX, 'x');
      if (e.shiftKey) this.setCursor('A', t);
      else if (e.altKey) this.setCursor('B', t);
      else this.onSeek(t);
    });
    this.place();
  }

  // Stretch of time that is shown.
  private span(): [number, number] {
    const n = this.history.count;
    const first = n ? this.history.time(0) : 0;
    let last = n ? this.history.time(n - 1) : 1;
    if (this.other?.count) last = Math.max(last, this.other.time(this.other.count - 1));
    if (!(last > first)) return [first, first + 1];
    if (this.window === null || last - first <= this.window) return [first, last];
    const ahead = this.live ? 0.02 : 0.3;
    const to = Math.min(last, Math.max(first + this.window, this.now + ahead * this.window));
    return [to - this.window, to];
  }

  private scale(force: boolean): void {
    if (!force && (this.window === null || Math.abs(this.now - this.followed) < 0.01 * this.window)) return;
    this.followed = this.now;
    const [min, max] = this.span();
    for (const c of this.charts) c.plot?.setScale('x', { min, max });
    this.place();
  }

  private place(): void {
    for (const c of this.charts) {
      if (!c.plot) continue;
      const at = (e: HTMLElement, t: number | null): void => {
        const x = t === null ? NaN : c.plot!.valToPos(t, 'x');
        e.hidden = !(x >= 0 && x <= c.plot!.over.clientWidth);
        if (!e.hidden) e.style.transform = `translateX(${x}px)`;
      };
      at(c.head, this.now);
      at(c.marks.A, this.cursors.A);
      at(c.marks.B, this.cursors.B);
    }
  }
}
