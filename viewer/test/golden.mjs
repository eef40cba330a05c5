// Pictures that are compared with committed ones: 640 x 360, low quality, fixed time and eye, no panels (fonts differ). The same
// renderer and browser version give nearly the same pixels: at most 0.1 % of them may differ (pixelmatch, threshold 0.1), and 2 % where
// either is another. What the program simulates first may also differ by its last digits, which other builds and solvers round
// differently: 0.5 % and 2.4 %, still less than a bar that moved by its width. `npm run golden` renews them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { bars, encode, zip } from '../out/test/encode.mjs';
import { gallery } from '../out/test/gallery.mjs';
import { open, settle, write } from './harness.mjs';

const folder = new URL('golden/', import.meta.url),
  fixtures = new URL('fixtures/', import.meta.url),
  out = new URL('../out/', import.meta.url);
const made = (options) => () => {
  const b = bars(options);
  return zip(encode(b.header, b.sections));
};
const recorded = (name) => () => readFileSync(new URL(`${name}.srv1.gz`, fixtures));

// The page that the program writes of one of its scenes, and of two runs of it, the second one shorter: its ghost waits at the end. Without contact forces, which are not unique.
const simulated =
  (name, scene, duration, second = null) =>
  () => {
    const file = (end) => new URL(`${name}${end}`, out).pathname,
      sarrus = (...args) => {
        const run = spawnSync(process.env.SARRUS_COMMAND, args, { encoding: 'utf8' });
        assert.equal(run.status, 0, run.stderr);
      };
    mkdirSync(out, { recursive: true });
    sarrus('run', scene, '--duration', duration, '--record', file('.h5'), '--quiet');
    if (second) sarrus('run', scene, '--duration', second, '--record', file('_2.h5'), '--quiet');
    sarrus('html', file('.h5'), '-o', file('_run.html'), ...(second ? ['--compare', file('_2.h5')] : []));
    const page = readFileSync(file('_run.html'), 'utf8'),
      part = (id) => Buffer.from(new RegExp(`id="${id}">([^<]*)<`).exec(page)?.[1] ?? '', 'base64');
    return { motion: part('motion'), compare: second ? part('compare') : null };
  };

const pictures = [
  { name: 'bars_light', motion: made(), query: 't=0.5&theme=light&eye=-70,12,1&loop=1' },
  { name: 'gallery_light', motion: gallery, query: 't=0&theme=light&eye=-80,22,1.15' },
  { name: 'gallery_dark', motion: gallery, query: 't=0&theme=dark&eye=-110,30,1.3', keys: 'i' },
  { name: 'recorded_light', motion: recorded('motion'), query: 't=0.5&theme=light&loop=1' },
  { name: 'recorded_dark', motion: recorded('motion'), query: 't=1.2&theme=dark&eye=-40,25,1' },
  {
    name: 'bars_dark',
    motion: made({ floor: false, gap: () => 1e-7 }),
    query: 't=1.5&theme=dark&eye=-110,25,1.1&pick=coupler',
  },
  {
    name: 'walker_dark',
    simulated: simulated('walker', 'jansen_walker', '0.4'),
    query: 't=0.4&theme=dark&loop=3',
    keys: 'cf',
  },
  {
    name: 'fourbar_light',
    simulated: simulated('fourbar', 'fourbar_free', '0.5', '0.3'),
    query: 't=0.5&theme=light',
    keys: 'cf',
  },
];

export function tests(renew) {
  const namesFile = new URL('golden.json', folder),
    names = existsSync(namesFile) ? JSON.parse(readFileSync(namesFile, 'utf8')) : {};
  return pictures
    .filter((g) => g.motion || process.env.SARRUS_COMMAND)
    .map((g) => [
      `golden: ${g.name}`,
      async (browser) => {
        const { motion, compare } = g.simulated ? g.simulated() : { motion: g.motion(), compare: null };
        const p = await open(browser, `${write(g.name, motion, { compare })}?quality=low&panels=0&${g.query}`);
        for (const key of g.keys ?? '') await p.page.keyboard.press(key);
        await settle(p.page);
        assert.deepEqual(p.errors, []);
        const renderer = await p.page.evaluate(() => {
          const gl = document.createElement('canvas').getContext('webgl2'),
            info = gl.getExtension('WEBGL_debug_renderer_info');
          return String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
        });
        const now = `${renderer}; Chromium ${browser.version()}`,
          shot = await p.page.screenshot({ timeout: 60_000 }),
          file = new URL(`${g.name}.png`, folder);
        await p.close();
        if (renew) {
          mkdirSync(folder, { recursive: true });
          writeFileSync(
            file,
            PNG.sync.write(PNG.sync.read(shot), { deflateLevel: 9, deflateStrategy: 0, filterType: 0, colorType: 2 }),
          );
          writeFileSync(namesFile, `${JSON.stringify({ ...names, [g.name]: now }, null, 2)}\n`);
          names[g.name] = now;
          return;
        }
        const a = PNG.sync.read(readFileSync(file)),
          b = PNG.sync.read(shot),
          diff = new PNG({ width: a.width, height: a.height });
        assert.deepEqual([b.width, b.height], [a.width, a.height]);
        const share =
            pixelmatch(a.data, b.data, diff.data, a.width, a.height, { threshold: 0.1 }) / (a.width * a.height),
          most = (names[g.name] === now ? 0.001 : 0.02) + (g.simulated ? 0.004 : 0);
        if (share > most) {
          mkdirSync(out, { recursive: true });
          writeFileSync(new URL(`${g.name}.png`, out), shot);
          writeFileSync(new URL(`${g.name}.diff.png`, out), PNG.sync.write(diff));
          assert.fail(
            `${(100 * share).toFixed(2)} % of the pixels differ (at most ${100 * most} %); see ${new URL(`${g.name}.diff.png`, out).pathname}`,
          );
        }
      },
    ]);
}
