// What is shown, by what it was solved, and how the last step went.
import { el, tame } from './dom';
import { energyNames, residualNames, solveNames, status, statusNames, type Frame, type LiveFrame } from './frame';
import type { Header } from './header';
import { small } from './numbers';
import { statusColours } from './theme';

const count = (n: number, one: string): string =>
  `${n} ${n === 1 ? one : one.endsWith('y') ? `${one.slice(0, -1)}ies` : `${one}s`}`;

// What the second run is, and how it is drawn.
export const comparison = (h: Header): string => `ghost, dashed: ${tame(h.scene)} · ${tame(h.solver)}`;

export class Head {
  readonly box = el('header', 'panel head');
  private readonly dot = el('i', 'dot');
  private readonly text = el('span', 'status');
  private readonly pace = el('div', 'sub pace');

  constructor(
    private readonly header: Header,
    live: boolean,
    other: Header | null,
  ) {
    const h = header,
      closed = h.joints.closes_loop.filter((x) => x).length;
    const parts = [count(h.bodies.names.length, 'body')];
    if (h.joints.names.length) parts.push(count(h.joints.names.length, 'joint'));
    if (closed) parts.push(count(closed, 'loop'));
    const title = el('h1', '', tame(h.scene) || 'motion');
    const sub = el('div', 'sub', parts.join(' · '));
    const how = el(
      'div',
      'sub',
      [h.solver, h.integrator, h.dt ? `dt ${Number(h.dt.toPrecision(3))} s` : ''].filter(Boolean).map(tame).join(' · '),
    );
    this.box.append(title, sub, how);
    if (!live && h.frames < h.samples) {
      const thinned = el(
        'div',
        'sub',
        `${h.frames} frames of ${h.samples} ${h.every_step ? 'steps' : 'samples'}, worst kept`,
      );
      thinned.title = `${h.frame_rate > 0 ? `${Number(h.frame_rate.toPrecision(3))} frames a second. ` : ''}A frame has the worst status, residuals and gaps of the steps since the last one, and the mean of their forces.`;
      this.box.append(thinned);
    }
    if (!live && !h.every_step) {
      const left = el('div', 'sub warn', 'not every step was recorded');
      left.title = 'What was worst in the steps that the recording left out is not known.';
      this.box.append(left);
    }
    this.box.append(el('div', 'statusline', this.dot, this.text), this.pace);
    this.pace.hidden = !live;
    if (other) this.box.append(el('div', 'sub', comparison(other)));
    if (h.end.status === 'failed') this.box.append(el('div', 'sub bad', `failed: ${tame(h.end.message)}`));
    else if (h.end.status === 'interrupted') this.box.append(el('div', 'sub', 'the run was interrupted'));
  }

  update(f: Frame, live: LiveFrame | null): void {
    const error = f.residual[residualNames.indexOf('error')]!,
      natural = f.residual[0]!;
    const value = Number.isNaN(error) ? natural : error,
      none = f.status === status.none;
    this.dot.style.background = none ? 'transparent' : statusColours[Math.min(4, f.status)]!;
    let text = none ? 'initial state' : (statusNames[f.status] ?? 'not known');
    if (!none && !Number.isNaN(value)) {
      const goal = this.header.tolerance;
      text += ` · ${Number.isNaN(error) ? 'natural map' : 'error'} ${small(value)}${goal > 0 && !Number.isNaN(error) ? ` ${value <= goal ? '≤' : '>'} ${small(goal)}` : ''}`;
    }
    if (!none && f.status > 0 && f.solve < 5 && f.solve > 0) text += ` · solver ${solveNames[f.solve]}`;
    const lost = f.energy[energyNames.indexOf('unaccounted')]!;
    this.text.textContent = text;
    this.text.title = Number.isNaN(lost) ? '' : `energy not accounted for: ${small(lost)} J`;
    if (!live) return;
    const reached = live.speedReached,
      asked = live.speedAsked;
    const pace = live.paused
      ? 'paused'
      : `${reached.toFixed(2)}× real time${live.behind ? ` of ${Number(asked.toPrecision(3))}× asked for: every step is taken` : ''}`;
    if (this.pace.textContent !== pace) this.pace.textContent = pace;
    this.pace.classList.toggle('warn', live.behind);
  }
}
