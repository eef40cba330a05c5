// SRV1: "SRV1", u32 header length, JSON header, sections of little-endian values (docs/motion-format.md).
import { readHeader, type Header, type Section } from './header';

export type Values =
  | Float64Array
  | Float32Array
  | Uint32Array
  | Int32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array;

const plain = {
  f8: Float64Array,
  f4: Float32Array,
  u4: Uint32Array,
  i4: Int32Array,
  i2: Int16Array,
  u2: Uint16Array,
  i1: Int8Array,
  u1: Uint8Array,
} as const;

export class Container {
  readonly header: Header;
  private readonly base: number;
  private readonly decoded = new Map<string, Values>();

  constructor(private readonly raw: ArrayBuffer) {
    const view = new DataView(raw);
    if (raw.byteLength < 8 || view.getUint32(0, true) !== 0x31565253) throw new Error('this is not a motion of Sarrus');
    const length = view.getUint32(4, true);
    if (8 + length > raw.byteLength) throw new Error('the motion is cut off within its header');
    this.header = readHeader(JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 8, length))));
    this.base = 8 + length;
  }

  // Decoded values of a section, kept; null if the motion does not have it.
  get(name: string): Values | null {
    const known = this.decoded.get(name);
    if (known) return known;
    const section = this.header.sections.find((s) => s.name === name);
    if (!section) return null;
    const values = this.decode(section);
    this.decoded.set(name, values);
    return values;
  }

  private decode(s: Section): Values {
    const at = this.base + s.offset;
    if (!(s.offset >= 0) || !(s.bytes >= 0) || at + s.bytes > this.raw.byteLength)
      throw new Error(`section ${s.name} is cut off`);
    if (!s.shape.every((x) => Number.isSafeInteger(x) && x >= 0)) throw new Error(`section ${s.name} has a bad shape`);
    const count = s.shape.reduce((a, b) => a * b, 1);
    const need = (bytes: number): void => {
      if (bytes > s.bytes) throw new Error(`section ${s.name} is too short`);
    };
    if (Object.hasOwn(plain, s.codec)) {
      const type = plain[s.codec as keyof typeof plain];
      need(count * type.BYTES_PER_ELEMENT);
      // A copy where the section is not aligned to its type.
      return at % type.BYTES_PER_ELEMENT === 0
        ? new type(this.raw, at, count)
        : new type(this.raw.slice(at, at + count * type.BYTES_PER_ELEMENT));
    }
    const bytes = new Uint8Array(this.raw, at, s.bytes);
    const rows = s.shape[0] ?? 0,
      columns = rows > 0 ? count / rows : 0;
    switch (s.codec) {
      case 'd2':
        if (!(s.planes! >= 1 && s.planes! <= 4)) throw new Error(`section ${s.name} has bad planes`);
        need(count * s.planes!);
        return differences(s, bytes, rows, columns);
      case 'q2':
        need(count * 2);
        return quantised(s, bytes, rows, columns);
      case 'l1':
        need(count);
        return logarithms(s, bytes, rows, columns);
      default:
        throw new Error(`section ${s.name}: unknown codec ${s.codec}`);
    }
  }
}

// d2: second differences in time, zigzag, byte planes by channel; decoded by two running sums in 32 bits.
function differences(s: Section, bytes: Uint8Array, rows: number, columns: number): Float64Array {
  const out = new Float64Array(rows * columns),
    plane = rows * columns,
    planes = s.planes ?? 0;
  for (let k = 0; k < columns; ++k) {
    const lo = s.lo?.[k] ?? 0,
      scale = s.scale?.[k] ?? 0;
    let q = 0,
      d = 0;
    for (let i = 0; i < rows; ++i) {
      let z = 0;
      for (let b = 0; b < planes; ++b) z |= bytes[b * plane + k * rows + i]! << (8 * b);
      const e = (z >>> 1) ^ -(z & 1);
      if (i === 0) {
        q = e;
      } else {
        d = i === 1 ? e : (d + e) | 0;
        q = (q + d) | 0;
      }
      out[i * columns + k] = lo + scale * q;
    }
  }
  return out;
}

function quantised(s: Section, bytes: Uint8Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(rows * columns),
    plane = rows * columns;
  for (let k = 0; k < columns; ++k) {
    const lo = s.lo?.[k] ?? 0,
      scale = s.scale?.[k] ?? 0;
    for (let i = 0; i < rows; ++i) {
      const at = k * rows + i;
      out[i * columns + k] = lo + scale * (bytes[at]! | (bytes[plane + at]! << 8));
    }
  }
  return out;
}

function logarithms(s: Section, bytes: Uint8Array, rows: number, columns: number): Float32Array {
  const steps = s.steps ?? 8,
    table = new Float32Array(256);
  for (let v = 0; v < 256; ++v) {
    const signed = v < 128 ? v : v - 256;
    table[v] = signed === -128 ? 0 : 10 ** (signed / steps);
  }
  const out = new Float32Array(rows * columns);
  for (let k = 0; k < columns; ++k) {
    for (let i = 0; i < rows; ++i) out[i * columns + k] = table[bytes[k * rows + i]!]!;
  }
  return out;
}

export async function inflate(bytes: Uint8Array): Promise<ArrayBuffer> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

// The bytes of a base64 text, without regard to white space around it.
export function fromBase64(text: string): Uint8Array {
  const binary = atob(text.trim()),
    bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
