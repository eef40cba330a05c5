// Colours of the page, light and dark.
export interface Theme {
  name: 'light' | 'dark';
  sky: string;
  horizon: string;
  floor: string;
  minor: string;
  major: string;
  key: number;
  ambient: number;
  fill: number;
  rim: number;
  hub: string;
  shaft: string;
  foot: string;
  world: string;
  ghost: string;
}

export const light: Theme = {
  name: 'light',
  sky: '#dfe5ec',
  horizon: '#eef0f2',
  floor: '#c9ccd1',
  minor: '#b3b8c0',
  major: '#8d95a1',
  key: 2.7,
  ambient: 2.1,
  fill: 0.7,
  rim: 0.6,
  hub: '#58616f',
  shaft: '#343a44',
  foot: '#2c313a',
  world: '#98a1af',
  ghost: '#7a828e',
};
export const dark: Theme = {
  name: 'dark',
  sky: '#12151a',
  horizon: '#1a1e25',
  floor: '#1c2027',
  minor: '#272c35',
  major: '#3a414d',
  key: 2.6,
  ambient: 1.5,
  fill: 0.6,
  rim: 0.9,
  hub: '#c3c9d2',
  shaft: '#8d96a3',
  foot: '#6a7280',
  world: '#565e6b',
  ghost: '#aab2be',
};

// Mid-tones that keep their hue under the key light and read on both themes. Neighbours differ.
export const limbs = ['#5b8fc4', '#e2994f', '#6faa78', '#cc6f68', '#9382bd', '#55a9a5', '#d8b146', '#c282a9'];

export const steel = '#aeb6c2',
  ring = '#20242c',
  disc = '#fbfbfa';
export const amber = '#f0a412',
  red = '#e0322c';
export const accent = '#0b5cad',
  accentDark = '#5aa9f5';
export const force = { sticking: '#d62f2f', sliding: '#f08a24', open: '#8f96a1', unknown: '#d62f2f' } as const;
export const cone = '#e7a93c';
export const ghostRun = '#3f8fe0'; // bodies of a second run

// By status of a step: converged, accepted, fallback, substepped, failed.
export const statusColours = ['#4f9e62', '#d9b12f', '#e58a2e', '#d8352f', '#b3152a'];

// Gaps of joints: fine, worth a look, wrong.
export const gapAmber = 1e-9,
  gapRed = 1e-6;
export const gapColour = (gap: number): string => (gap > gapRed ? red : gap > gapAmber ? amber : ring);

// Lines of plots, in the order in which they are given away: those of the benchmark report, told apart by colour-blind readers.
export const lines = {
  light: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8a6d00', '#56a4d9', '#7d3ac1', '#555555'],
  dark: ['#4aa8e0', '#ff8a3d', '#35d0a0', '#f0a0cc', '#e0c040', '#9ad0f5', '#b98cf0', '#c0c0c0'],
};

// From 0 to 1: slow to fast, little to much (a ramp that keeps its order in grey).
export function ramp(x: number): [number, number, number] {
  const stops: [number, number, number][] = [
    [0.19, 0.27, 0.55],
    [0.15, 0.5, 0.62],
    [0.28, 0.68, 0.46],
    [0.85, 0.75, 0.25],
    [0.9, 0.4, 0.2],
  ];
  const t = Math.min(1, Math.max(0, x)) * (stops.length - 1),
    i = Math.min(stops.length - 2, Math.floor(t)),
    u = t - i;
  const a = stops[i]!,
    b = stops[i + 1]!;
  return [a[0] + u * (b[0] - a[0]), a[1] + u * (b[1] - a[1]), a[2] + u * (b[2] - a[2])];
}
