// How much is drawn: falls by itself where drawing is slow.
export interface Quality {
  name: 'high' | 'medium' | 'low' | 'lowest';
  pixelRatio: number;
  antialias: boolean;
  shadows: boolean;
}

export const qualities: readonly Quality[] = [
  { name: 'high', pixelRatio: 2, antialias: true, shadows: true },
  { name: 'medium', pixelRatio: 1, antialias: true, shadows: true },
  { name: 'low', pixelRatio: 1, antialias: false, shadows: false },
  { name: 'lowest', pixelRatio: 0.6, antialias: false, shadows: false },
];

export const qualityOf = (name: string | null): Quality | undefined => qualities.find((q) => q.name === name);

// Name of the renderer below WebGL, null without WebGL.
export function graphics(): string | null {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const gl = canvas.getContext('webgl2');
  if (!gl) return null;
  // Firefox says it without the extension, and warns of that.
  const name = String(gl.getParameter(gl.RENDERER));
  if (!/^WebKit/.test(name)) return name;
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  return info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : name;
}

export const isSoftware = (name: string): boolean => /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);

// Watches the time from frame to frame while something moves; says when to do with less.
export class Pace {
  private readonly times: number[] = [];
  private last = 0;

  // True once the median of the last 20 frames is over 50 ms.
  slow(now: number, moving: boolean): boolean {
    const span = now - this.last;
    this.last = now;
    if (!moving || span > 1000) {
      this.times.length = 0;
      return false;
    }
    this.times.push(span);
    if (this.times.length < 20) return false;
    const median = [...this.times].sort((a, b) => a - b)[10]!;
    this.times.length = 0;
    return median > 50;
  }
}
