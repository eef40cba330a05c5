import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crease } from '../src/creases';

const cube = {
  v: [0, 1].flatMap((z) => [0, 1].flatMap((y) => [0, 1].flatMap((x) => [x, y, z]))),
  t: [0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5],
};

test('a cube keeps its edges: four vertices a side, normals along the axes', () => {
  const m = crease(cube.v, cube.t, 0.6);
  assert.equal(m.position.length / 3, 24);
  assert.equal(m.index.length, 36);
  for (let f = 0; f < 12; ++f) {
    const corner = [0, 1, 2].map((c) => m.index[3 * f + c]!);
    for (const v of corner) {
      const n = m.normal.subarray(3 * v, 3 * v + 3);
      assert.deepEqual(Array.from(n, Math.abs).sort(), [0, 0, 1]);
      // Outwards: away from the middle of the cube.
      const p = m.position.subarray(3 * v, 3 * v + 3);
      assert.ok(n[0]! * (p[0]! - 0.5) + n[1]! * (p[1]! - 0.5) + n[2]! * (p[2]! - 0.5) > 0);
    }
  }
});

test('a flat angle is smooth, whether or not the file repeats its vertices', () => {
  // A roof of 10 degrees: the ridge has one normal, upwards.
  const h = Math.tan(Math.PI / 36);
  const shared = crease([-1, 0, 0, 0, 0, h, 0, 1, h, 1, 0, 0], [0, 1, 2, 1, 3, 2], 0.6);
  assert.equal(shared.position.length / 3, 4);
  const repeated = crease([-1, 0, 0, 0, 0, h, 0, 1, h, 0, 0, h, 1, 0, 0, 0, 1, h], [0, 1, 2, 3, 4, 5], 0.6);
  assert.equal(repeated.position.length / 3, 4);
  const ridge = [0, 1, 2, 3].filter((v) => Math.abs(repeated.position[3 * v]!) < 1e-9);
  assert.equal(ridge.length, 2);
  for (const v of ridge) assert.ok(repeated.normal[3 * v + 2]! > 0.9999);
});

test('triangles without area do no harm', () => {
  const m = crease([0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0], [0, 1, 2, 0, 1, 3], 0.6);
  assert.ok(m.normal.every(Number.isFinite));
});
