import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container, fromBase64, inflate } from '../src/container';
import { encode, zip, type Given } from './encode';

// The same numbers on every run.
function random(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), s | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const open = (header: Record<string, unknown>, sections: Given[]): Container =>
  new Container(encode({ version: 1, ...header }, sections).buffer as ArrayBuffer);

test('plain codecs are exact, at any alignment', () => {
  const values: Record<string, number[]> = {
    f8: [Math.PI, -1e300],
    f4: [0.5, -2],
    u4: [4294967295, 0],
    i4: [-2147483648, 7],
    i2: [-32768, 32767],
    u2: [65535, 1],
    i1: [-128, 127],
    u1: [255, 0],
  };
  const c = open(
    {},
    Object.entries(values).map(([codec, v]) => ({ name: codec, codec, shape: [2], values: v })),
  );
  for (const [codec, v] of Object.entries(values)) assert.deepEqual(Array.from(c.get(codec)!), v);
  const raw = encode({ version: 1 }, [
    { name: 'x', codec: 'u1', shape: [16], values: Array.from({ length: 16 }, (_, i) => i) },
  ]);
  const text = new TextDecoder()
    .decode(raw.subarray(8))
    .replace('"codec":"u1","shape":[16],"offset":0,"bytes":16', '"codec":"f4","shape":[2],"offset":3,"bytes":8  ');
  const moved = new Uint8Array(raw.length);
  moved.set(raw.subarray(0, 8));
  moved.set(new TextEncoder().encode(text).subarray(0, raw.length - 8), 8);
  const bytes = new Uint8Array(8).map((_, i) => i + 3);
  assert.deepEqual(Array.from(new Container(moved.buffer).get('x')!), Array.from(new Float32Array(bytes.buffer)));
});

test('d2 is within half a quantum of what was given, and exact where nothing changes', () => {
  const next = random(1),
    F = 257,
    c = 6,
    values = new Float64Array(F * c);
  for (let k = 0; k < c; ++k) {
    let x = 10 * next();
    for (let i = 0; i < F; ++i)
      values[i * c + k] = k === 0 ? 0.1 : k === 1 ? (next() < 0.5 ? -1 : 1) : (x += next() - 0.5);
  }
  const got = open({}, [{ name: 'x', codec: 'd2', shape: [F, 2, 3], values }]).get('x')!;
  for (let k = 0; k < c; ++k) {
    const column = Array.from({ length: F }, (_, i) => values[i * c + k]!),
      quantum = (Math.max(...column) - Math.min(...column)) / 65535;
    column.forEach((v, i) =>
      assert.ok(Math.abs(got[i * c + k]! - v) <= 0.5 * quantum * (1 + 1e-9) + 1e-15, `channel ${k} frame ${i}`),
    );
    if (k === 0) assert.ok(column.every((v, i) => got[i * c] === v));
  }
});

test('q2 is within half a quantum', () => {
  const next = random(2),
    K = 100,
    values = Array.from({ length: 3 * K }, () => next() - 0.5),
    got = open({}, [{ name: 'x', codec: 'q2', shape: [K, 3], values }]).get('x')!;
  values.forEach((v, i) => assert.ok(Math.abs(got[i]! - v) <= 0.5 / 65535 + 1e-7));
});

test('l1 never shows less than there was, and zero as zero', () => {
  const next = random(3),
    F = 50,
    c = 3,
    values = Array.from({ length: F * c }, (_, i) => (i % 7 === 0 ? 0 : 10 ** (-15 + 14 * next()))),
    got = open({}, [{ name: 'x', codec: 'l1', shape: [F, c], values, steps: 8 }]).get('x')!;
  values.forEach((v, i) => {
    if (v === 0) assert.equal(got[i], 0);
    else assert.ok(got[i]! >= v * (1 - 1e-6) && got[i]! <= v * 10 ** (1 / 8) * (1 + 1e-6));
  });
});

test('what is cut off, unknown or points nowhere is refused by name', () => {
  assert.throws(() => new Container(new ArrayBuffer(4)), /not a motion/);
  assert.throws(
    () => new Container(new TextEncoder().encode('SRV1\u0000\u0000\u0001\u0000{}').buffer as ArrayBuffer),
    /cut off/,
  );
  assert.throws(() => open({ version: 2 }, []), /version 2/);
  assert.throws(
    () =>
      open(
        {
          bodies: { names: ['a'], mass: [1], inertia: [], limb: [0], shaft: [0] },
          parts: {
            body: [1],
            geom: [-1],
            kind: ['box'],
            size: [[1, 1, 1]],
            position: [[0, 0, 0]],
            quaternion: [[1, 0, 0, 0]],
            mesh: [-1],
            height_field: [-1],
            colour: [null],
          },
        },
        [],
      ),
    /parts.body: there is no index 1/,
  );
  assert.throws(
    () => open({ bodies: { names: ['a'], mass: [], inertia: [], limb: [0], shaft: [0] } }, []),
    /bodies.mass has 0 entries of 1/,
  );
  const raw = encode({ version: 1 }, [{ name: 'x', codec: 'f8', shape: [4], values: [1, 2, 3, 4] }]);
  assert.throws(() => new Container(raw.slice(0, raw.length - 8).buffer as ArrayBuffer).get('x'), /x is cut off/);
  assert.throws(() => open({}, [{ name: 'x', codec: 'u1', shape: [4], values: [1, 2] }]).get('x'), /x is too short/);
  const unknown = new TextDecoder('latin1').decode(raw).replace('"codec":"f8"', '"codec":"zz"');
  assert.throws(
    () => new Container(Uint8Array.from(unknown, (ch) => ch.charCodeAt(0)).buffer).get('x'),
    /unknown codec zz/,
  );
  assert.equal(open({}, []).get('nothing'), null);
});

test('keys and sections that are not known are ignored', () => {
  const c = open({ later: { than: 'this' } }, [{ name: 'future', codec: 'u1', shape: [1], values: [1] }]);
  assert.equal(c.header.bodies.names.length, 0);
});

test('a page holds the container gzipped, as base64', async () => {
  const raw = encode({ version: 1 }, [{ name: 'x', codec: 'f8', shape: [2], values: [1, 2] }]);
  const back = await inflate(fromBase64(`\n  ${zip(raw).toString('base64')} \n`));
  assert.deepEqual(new Uint8Array(back), raw);
});
