// The run row: reset, step back, play, step on, the timeline with its strip, clock and speed.
import { button, el, icon } from './dom';
import type { Player } from './player';
import { speedName } from './numbers';
import { Timeline } from './timeline';

export class Bar {
  readonly box = el('footer', 'panel bar');
  readonly timeline: Timeline;
  readonly right = el('div', 'group');
  private readonly playButton: HTMLButtonElement;
  private playing = false;
  private readonly slider = el('input', 'scrub');
  private readonly clock = el('span', 'clock');
  private readonly speed = el('span', 'speed');

  constructor(
    private readonly player: Player,
    act: { toggle: () => void; step: (n: number) => void; reset: () => void; faster: (factor: number) => void },
  ) {
    this.timeline = new Timeline(player.history);
    this.timeline.onSeek = (t) => player.seek(t);
    this.playButton = button(icon('play'), 'Play or pause (space)', () => act.toggle(), 'play');
    const s = this.slider;
    s.type = 'range';
    s.step = 'any';
    s.setAttribute('aria-label', 'Time');
    s.addEventListener('input', () => player.seek(Number(s.value)));
    s.addEventListener('keydown', (e) => {
      if (e.key !== 'Tab') e.preventDefault();
    });
    s.addEventListener('change', () => s.blur());
    this.box.append(
      el(
        'div',
        'group',
        button(icon('reset'), 'Reset (backspace)', () => act.reset(), 'round'),
        button(icon('back'), 'Step back (←, with shift ten)', () => act.step(-1), 'round'),
        this.playButton,
        button(icon('on'), 'Step on (→, with shift ten)', () => act.step(1), 'round'),
      ),
      el('div', 'time', s, this.timeline.canvas),
      this.clock,
      el(
        'div',
        'group',
        button('−', 'Half the speed (-)', () => act.faster(0.5), 'round'),
        this.speed,
        button('+', 'Twice the speed (+)', () => act.faster(2), 'round'),
      ),
      this.right,
    );
  }

  update(): void {
    const p = this.player,
      from = p.begin,
      to = Math.max(p.end, from + 1e-9);
    if (this.playing !== p.playing) this.playButton.replaceChildren(icon(p.playing ? 'pause' : 'play'));
    this.playing = p.playing;
    this.playButton.setAttribute('aria-pressed', String(p.playing));
    if (this.slider.min !== String(from)) this.slider.min = String(from);
    if (this.slider.max !== String(to)) this.slider.max = String(to);
    this.slider.value = String(p.time);
    this.clock.textContent = `${p.time.toFixed(3)} s`;
    this.speed.textContent = speedName(p.speed);
    this.timeline.draw(from, to);
  }
}
