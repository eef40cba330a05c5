// Short messages above the run row; what is wrong stays until it is closed.
import { button, el, tame } from './dom';

export class Notices {
  readonly box = el('div', 'notices');

  constructor() {
    this.box.setAttribute('role', 'status');
  }

  say(text: string, kind: 'info' | 'bad' = 'info'): void {
    const note = el(
      'div',
      `notice ${kind}`,
      el('span', '', tame(text)),
      button('×', 'Close', () => note.remove(), 'flat close'),
    );
    // The same thing said twice is one message.
    for (const old of [...this.box.children]) if (old.textContent === note.textContent) old.remove();
    this.box.append(note);
    while (this.box.children.length > 4) this.box.firstElementChild!.remove();
    if (kind === 'info') setTimeout(() => note.remove(), 5000);
  }
}
