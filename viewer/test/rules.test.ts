// Rules that the sources keep: text stays text, and the bundle holds no address and nothing that ends a script element.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileName, tame } from '../src/dom';
import { rangeOf } from '../src/drives';
import { Container } from '../src/container';
import { principal } from '../src/principal';
import { fixed, gapText, short, small, speedName } from '../src/numbers';
import { bars, encode } from './encode';

const sources = readdirSync('src').filter((f) => f.endsWith('.ts'));

test('no markup from strings, no code from strings', () => {
  assert.ok(sources.length > 20);
  for (const f of sources) {
    const text = readFileSync(`src/${f}`, 'utf8');
    for (const bad of [
      'innerHTML',
      'outerHTML',
      'insertAdjacentHTML',
      'document.write',
      'eval(',
      'new Function',
      'DOMParser',
      'createContextualFragment',
      "setAttribute('style",
      'fetch(',
      'localStorage',
    ]) {
      assert.ok(!text.includes(bad), `${f} uses ${bad}`);
    }
  }
});

test('the bundle holds no address but XML namespaces, and nothing that ends its element', () => {
  for (const f of ['app.js', 'vendor.js', 'load.js', 'style.css', 'page.html', 'LICENSES.txt']) {
    const text = readFileSync(`dist/${f}`, 'utf8');
    for (const m of text.matchAll(/[a-z]+:\/\/[^\s"'`]*/gi)) {
      // ws:// is completed by the host that served the page.
      assert.ok(m[0].startsWith('http://www.w3.org/') || m[0].startsWith('ws://${'), `${f}: ${m[0]}`);
    }
    if (f !== 'page.html') assert.ok(!/<\/script|<\/style|<!--/i.test(text), f);
    assert.ok(!text.includes('\r'), f);
  }
  const page = readFileSync('dist/page.html', 'utf8');
  for (const place of ['head', 'style', 'motion', 'scripts'])
    assert.equal(page.split(`<!--sarrus:${place}-->`).length, 2, place);
  assert.ok(!/ style=| on[a-z]+=/.test(page));
});

test('sources stay small', () => {
  for (const f of sources) assert.ok(readFileSync(`src/${f}`, 'utf8').split('\n').length <= 500, f);
});

test('names are shown, not obeyed', () => {
  assert.equal(tame('a\u202eb\u0007c\u2066'), 'a·b·c·');
  assert.equal(fileName('../../<b>"x'), '_b_x');
  assert.equal(fileName('\u202e'), '_');
});

test('numbers for people', () => {
  assert.equal(short(0), '0');
  assert.equal(short(-12.345), '−12.35');
  assert.equal(short(1234.5), '1235');
  assert.equal(short(1.23e-7), '1.2e−7');
  assert.equal(small(3.2e-13), '3.2e−13');
  assert.equal(small(NaN), 'not recorded');
  assert.equal(gapText(1e-13, true), '≤\u00a01e−13');
  assert.equal(gapText(1e-13, false), '1e−13');
  assert.equal(gapText(2e-13, true), '2e−13');
  assert.equal(fixed(-0.5, 2), '−0.50');
  assert.equal(speedName(0.125), '1/8×');
  assert.equal(speedName(2), '2×');
});

test('sliders go where the drive may go', () => {
  const header = (change: object): Container['header'] => {
    const b = bars();
    return new Container(
      encode({ ...b.header, dofs: { ...(b.header['dofs'] as object), ...change } }, []).buffer as ArrayBuffer,
    ).header;
  };
  assert.deepEqual(rangeOf(header({}), 0), [-3, 3]);
  const none = [null, null, null, null];
  assert.deepEqual(
    rangeOf(
      header({
        mode: ['position', 'none', 'none', 'none'],
        target_lower: none,
        target_upper: none,
        lower: [-0.5, null, null, null],
        upper: [1.5, null, null, null],
      }),
      0,
    ),
    [-0.5, 1.5],
  );
  assert.deepEqual(
    rangeOf(header({ mode: ['position', 'none', 'none', 'none'], target_lower: none, target_upper: none }), 0),
    [-Math.PI, Math.PI],
  );
  assert.deepEqual(
    rangeOf(header({ mode: ['force', 'none', 'none', 'none'], target_lower: none, target_upper: none }), 0),
    [-5, 5],
  );
  const [lo, hi] = rangeOf(
    header({
      mode: ['position', 'none', 'none', 'none'],
      target_lower: none,
      target_upper: none,
      lower: [7, null, null, null],
    }),
    0,
  );
  assert.ok(lo === 7 && hi > lo);
});

test('principal axes of an inertia', () => {
  const { values, v } = principal([2, 3, 4, 0.5, -0.3, 0.2]),
    I = [
      [2, 0.5, -0.3],
      [0.5, 3, 0.2],
      [-0.3, 0.2, 4],
    ];
  for (let k = 0; k < 3; ++k) {
    for (let i = 0; i < 3; ++i) {
      const left = I[i]!.reduce((a, x, j) => a + x * v[j]![k]!, 0);
      assert.ok(Math.abs(left - values[k]! * v[i]![k]!) < 1e-12);
    }
  }
});
