// Elements without markup: text is always text, whatever a file is called.
export type Child = Node | string;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...children);
  return e;
}

export function button(text: string | Node, title: string, action: () => void, className = ''): HTMLButtonElement {
  const b = el('button', className, text);
  b.type = 'button';
  b.title = title;
  b.setAttribute('aria-label', title);
  b.addEventListener('click', () => {
    action();
    b.blur(); // space stays play and pause
  });
  return b;
}

const paths = {
  play: 'M4 2.5v11l10-5.5z',
  pause: 'M4 2.5h3v11H4zM9 2.5h3v11H9z',
  back: 'M12 3v10L4.5 8zM3 3h1.6v10H3z',
  on: 'M4 3v10l7.5-5zM11.4 3H13v10h-1.6z',
  reset: 'M8 2.5a5.5 5.5 0 1 1-5.300 4h1.700A3.900 3.900 0 1 0 8 4.100V6.5L4 3.300 8 .1z',
};
export type Icon = keyof typeof paths;

export function icon(name: Icon): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg',
    svg = document.createElementNS(space, 'svg'),
    path = document.createElementNS(space, 'path');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}

// Bidirectional controls and other invisible characters of names are shown, not obeyed.
export const tame = (name: string): string =>
  name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '\u00b7');

export function download(blob: Blob, name: string): void {
  const a = el('a'),
    url = URL.createObjectURL(blob);
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const fileName = (scene: string): string => scene.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60) || 'motion';
