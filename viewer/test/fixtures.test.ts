// Containers that C++ wrote (tests/view/fixtures_test.cpp), against what C++ reads from them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Container } from '../src/container';
import { Motion } from '../src/motion';

interface Expected {
  header: Record<string, unknown>;
  sections: Record<string, { shape: number[]; values: number[] }>;
}

for (const name of ['motion', 'scene']) {
  test(`the ${name} that C++ writes is what C++ reads`, () => {
    const raw = gunzipSync(readFileSync(`test/fixtures/${name}.srv1.gz`));
    const expected = JSON.parse(readFileSync(`test/fixtures/${name}.json`, 'utf8')) as Expected;
    const c = new Container(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
    const header = c.header as unknown as Record<string, unknown>;
    for (const [key, value] of Object.entries(expected.header)) {
      if (key !== 'sections') assert.deepEqual(header[key], value, key);
    }
    const names = Object.keys(expected.sections);
    assert.deepEqual(c.header.sections.map((s) => s.name).sort(), names.sort());
    for (const section of names) {
      const { shape, values } = expected.sections[section]!;
      const entry = c.header.sections.find((s) => s.name === section)!;
      assert.deepEqual(entry.shape, shape, section);
      const got = c.get(section)!;
      assert.equal(got.length, values.length, section);
      values.forEach((v, i) => {
        const within = (entry.codec === 'f8' || entry.codec === 'd2' ? 1e-14 : 2e-7) * Math.max(1e-18, Math.abs(v));
        assert.ok(
          Math.abs(got[i]! - v) <= within + 1e-16 * Number(entry.codec === 'd2'),
          `${section}[${i}]: ${got[i]} against ${v}`,
        );
      });
    }
    if (name === 'motion') assert.equal(new Motion(c).count, c.header.frames);
  });
}
