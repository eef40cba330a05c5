// What is drawn: switches for the layers, with their keys, and the list of all keys.
import { button, el } from './dom';

export interface Switch {
  key: string;
  text: string;
  on: () => boolean;
  set: (on: boolean) => void;
  why?: string;
  hidden?: () => boolean;
}

export const keyList: readonly (readonly [string, string])[] = [
  ['space', 'play, pause'],
  ['→ ←', 'step on, back; with shift ten'],
  ['+ −', 'speed ×2, ÷2'],
  ['backspace', 'reset'],
  ['[ ]', 'previous, next loop'],
  ['{ }', 'body of the previous, next contact'],
  ['double click, esc', 'pick, let go'],
  ['ctrl-drag', 'pull the body (live)'],
  ['0', 'view of the beginning'],
  ['C', 'contacts and forces'],
  ['F', 'friction cones'],
  ['N', 'normals'],
  ['J', 'joints'],
  ['L', 'all loops'],
  ['G', 'colours by gap'],
  ['T', 'transparency'],
  ['W', 'wireframe'],
  ['I', 'inertia boxes'],
  ['X', 'shapes that touch, seen ones'],
  ['Y', 'second run'],
  ['H', 'trace of the picked point'],
  ['K', 'follow the mechanism'],
  ['A B', 'cursors of the plots at the playhead'],
  ['O', 'plots'],
  ['D', 'light, dark'],
  ['P', 'picture (PNG)'],
  ['V', 'video (WebM)'],
  ['S', 'save the state (live)'],
  ['M', 'save the problem of the step (live)'],
  ['?', 'this list'],
];

export class Menu {
  readonly box = el('section', 'panel menu');
  readonly help = el('section', 'panel help');
  private readonly boxes: { s: Switch; input: HTMLInputElement }[] = [];

  constructor(
    switches: readonly Switch[],
    colours: { names: readonly string[]; get: () => string; set: (name: string) => void },
    actions: readonly { text: string; key: string; act: () => void }[],
  ) {
    this.box.hidden = this.help.hidden = true;
    const list = el('div', 'switches');
    for (const s of switches) {
      const input = el('input'),
        label = el('label', '', input, el('span', '', s.text), el('kbd', '', s.key));
      input.type = 'checkbox';
      if (s.why) {
        input.disabled = true;
        label.lastElementChild!.replaceWith(el('span', 'sub', s.why));
      }
      input.addEventListener('change', () => {
        s.set(input.checked);
        input.blur();
      });
      this.boxes.push({ s, input });
      list.append(label);
    }
    const select = el('select');
    for (const name of colours.names) select.append(el('option', '', name));
    select.setAttribute('aria-label', 'Colours');
    select.addEventListener('change', () => {
      colours.set(select.value);
      select.blur();
    });
    this.sync = () => {
      for (const { s, input } of this.boxes) {
        input.checked = s.on();
        input.parentElement!.hidden = s.hidden?.() ?? false;
      }
      select.value = colours.get();
    };
    const row = el('div', 'actions', ...actions.map((a) => button(a.text, `${a.text} (${a.key})`, a.act, 'flat')));
    this.box.append(list, el('label', 'colours', el('span', '', 'Colours by'), select), row);
    const table = el('dl');
    for (const [key, text] of keyList)
      table.append(el('div', '', el('dt', '', el('kbd', '', key)), el('dd', '', text)));
    this.help.append(
      el(
        'div',
        'cardhead',
        el('b', '', 'Keys'),
        button('×', 'Close', () => (this.help.hidden = true), 'flat close'),
      ),
      table,
      el('p', 'sub', 'Drag to turn, right button to move, wheel to zoom. Numbers of the card are plotted by a click.'),
    );
  }

  readonly sync: () => void;
}
