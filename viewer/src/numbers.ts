// Numbers for people: as many digits as are worth reading, none that jump about.
export function short(x: number): string {
  if (Number.isNaN(x)) return '–';
  return x < 0 ? `\u2212${magnitude(-x)}` : magnitude(x);
}

function magnitude(v: number): string {
  const a = Math.abs(v);
  if (a === 0) return '0';
  if (a < 1e-3 || a >= 1e5) return v.toExponential(1).replace('e+', 'e').replace('e-', 'e\u2212');
  return a >= 1000 ? v.toFixed(0) : a >= 100 ? v.toFixed(1) : a >= 1 ? v.toFixed(2) : v.toFixed(3);
}

export const fixed = (v: number, digits: number): string =>
  Number.isNaN(v) ? '–' : v.toFixed(digits).replace('-', '\u2212');

// Of values whose order of magnitude is what counts.
export function small(v: number): string {
  if (Number.isNaN(v)) return 'not recorded';
  return v === 0 ? '0' : v.toExponential(1).replace('.0e', 'e').replace('e+', 'e').replace('e-', 'e\u2212');
}

// A gap of a joint. Below 1e-13 m recorded ones are not told apart (docs/motion-format.md), that of a live frame is itself.
export const gapText = (v: number, recorded: boolean): string =>
  recorded && Math.abs(v / 1e-13 - 1) < 1e-6 ? `\u2264\u00a0${small(v)}` : small(v);

// 1/8 of real time rather than 0.125.
export const speedName = (x: number): string =>
  x < 1
    ? Math.abs(1 / x - Math.round(1 / x)) < 1e-6
      ? `1/${Math.round(1 / x)}×`
      : `${x.toPrecision(2)}×`
    : `${Number(x.toPrecision(3))}×`;
