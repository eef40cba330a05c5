// Tests of pages that hold a motion.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { bars, encode, zip } from '../out/test/encode.mjs';
import { launch, open, picture, settle, until, write } from './harness.mjs';

const motion = (options) => {
  const b = bars(options);
  return zip(encode(b.header, b.sections));
};
const still = '?t=0.5&theme=light';
const text = (page, selector) =>
  page
    .locator(selector)
    .allTextContents()
    .then((t) => t.join(' | '));

// Colours as people would name them.
const white = ([r, g, b]) => Math.min(r, g, b) > 225;
const reddish = ([r, g, b]) => r > 150 && r > 1.7 * g && r > 1.7 * b;
const orange = ([r, g, b]) => r > 180 && g > 0.4 * r && g < 0.8 * r && b < 0.5 * r;

// A page as the program writes it, under the policy that it writes.
async function written(browser, command) {
  const file = new URL('../out/program.html', import.meta.url).pathname;
  const args = ['run', 'fourbar_free', '--duration', '0.2', '--html', file, '--quiet'];
  const run = spawnSync(command, args, { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
  const p = await open(browser, `${pathToFileURL(file).href}?t=0.1&theme=light`);
  await settle(p.page);
  assert.match(await text(p.page, '.head'), /fourbar_free.*4 bodies · 4 joints · 1 loop.*converged · error/);
  assert.equal((await p.page.evaluate(() => window.sarrus.markers())).length, 2);
  assert.deepEqual(p.errors, []);
  assert.deepEqual(
    p.requests.filter((u) => !/^(file|blob|data):/.test(u)),
    [],
  );
  await p.close();
}

export function tests() {
  const command = process.env.SARRUS_COMMAND;
  return [
    ...(command ? [['page: the one that sarrus run --html writes', (browser) => written(browser, command)]] : []),
    [
      'page: opens from a file, offline, without a word on the console',
      async (browser) => {
        const p = await open(browser, write('plain', motion()) + still);
        await settle(p.page);
        assert.deepEqual(p.errors, []);
        assert.deepEqual(
          p.requests.filter((u) => !/^(file|blob|data):/.test(u)),
          [],
        );
        assert.equal(await p.page.title(), 'bars – Sarrus');
        assert.match(
          await text(p.page, '.head'),
          /bars.*4 bodies · 4 joints · 1 loop.*cascade · moreau · dt 0.001 s.*converged · error 2e−10 ≤ 1e−9/,
        );
        assert.equal(await p.page.evaluate(() => window.sarrus.quality), 'low'); // a software renderer
        await p.close();
      },
    ],
    [
      'page: the hinge that closes a loop is white in a dark ring, amber and red by its gap',
      async (browser) => {
        for (const [gap, ring] of [
          [3e-13, ([r, g, b]) => Math.max(r, g, b) < 100],
          [1e-7, orange],
          [1e-4, reddish],
        ]) {
          const p = await open(browser, `${write('gap', motion({ gap: () => gap }))}${still}&panels=0&eye=-90,5,1.6`);
          await settle(p.page);
          const found = (await p.page.evaluate(() => window.sarrus.markers())).filter((m) => m.joint === 'closing');
          assert.equal(found.length, 2);
          // Eye at -y: the marker in front is the one further from the middle of the picture's depth; both project near each other.
          const shot = await picture(p.page);
          assert.ok(
            found.some((m) => white(shot.at(m.x, m.y))),
            `white: ${found.map((m) => shot.at(m.x, m.y))}`,
          );
          const around = found.flatMap((m) =>
            Array.from({ length: 72 }, (_, k) =>
              [6, 7, 8, 9, 10, 11, 12].map((r) =>
                shot.at(m.x + r * Math.cos(k / 11.46), m.y + r * Math.sin(k / 11.46)),
              ),
            ).flat(),
          );
          assert.ok(around.filter(ring).length > 20, `ring for a gap of ${gap}: ${around.filter(ring).length}`);
          await p.close();
        }
      },
    ],
    [
      'page: plays, pauses (the clock stops), steps, changes speed, resets',
      async (browser) => {
        const p = await open(browser, write('plain', motion()) + '?theme=light'),
          time = () => p.page.evaluate(() => window.sarrus.time);
        await until('playing', async () => (await time()) > 0.1);
        await p.page.keyboard.press(' ');
        await settle(p.page);
        const t = await time(),
          clock = await text(p.page, '.clock'),
          frames = await p.page.evaluate(() => window.sarrus.frames);
        await p.page.waitForTimeout(400);
        assert.equal(await time(), t);
        assert.equal(await text(p.page, '.clock'), clock);
        assert.ok((await p.page.evaluate(() => window.sarrus.frames)) <= frames + 1, 'draws although nothing changes');
        await p.page.keyboard.press('ArrowRight');
        const one = await time();
        assert.ok(one > t && one <= t + 1 / 60 + 1e-9);
        await p.page.keyboard.press('Shift+ArrowLeft');
        assert.ok(Math.abs((await time()) - Math.max(0, one - 10 / 60)) < 1e-9);
        await p.page.keyboard.press('+');
        await settle(p.page);
        assert.equal(await text(p.page, '.speed'), '2×');
        await p.page.keyboard.press('-');
        await p.page.keyboard.press('-');
        await settle(p.page);
        assert.equal(await text(p.page, '.speed'), '1/2×');
        await p.page.keyboard.press('Backspace');
        assert.equal(await time(), 0);
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: a failed step is red on the strip, and a click goes there',
      async (browser) => {
        const p = await open(
          browser,
          write('failed', motion({ status: (i) => (i === 77 ? 4 : i === 30 ? 1 : 0) })) + still,
        );
        const strip = await p.page.evaluate(() => {
          const c = document.querySelector('canvas.strip'),
            d = c.getContext('2d').getImageData(0, 3, c.width, 1).data;
          return {
            width: c.width,
            pixels: Array.from({ length: c.width }, (_, x) => [d[4 * x], d[4 * x + 1], d[4 * x + 2]]),
          };
        });
        const red = strip.pixels.flatMap((c, x) => (reddish(c) ? [x] : [])),
          yellow = strip.pixels.filter(([r, g, b]) => r > 180 && g > 140 && b < 100).length;
        assert.ok(red.length >= 2 && red.length <= 8, `${red.length} red pixels`);
        assert.ok(Math.abs(red[0] / strip.width - 77 / 120) < 0.02);
        assert.ok(yellow >= 1);
        const box = await p.page.locator('canvas.strip').boundingBox();
        await p.page.mouse.click(box.x + (red[0] / strip.width) * box.width + 2, box.y + 3);
        await settle(p.page);
        assert.ok(Math.abs((await p.page.evaluate(() => window.sarrus.time)) - 77 / 60) < 1e-9);
        await until('head', async () => /failed/.test(await text(p.page, '.status')));
        await p.close();
      },
    ],
    [
      'page: forces are arrows by mode, layers come and go with their keys',
      async (browser) => {
        const p = await open(browser, `${write('plain', motion())}${still}&panels=0&eye=-90,10,1.5`);
        await settle(p.page);
        const count = async (is) => {
          const s = await picture(p.page);
          let n = 0;
          for (let y = 0; y < s.height; ++y) for (let x = 0; x < s.width; ++x) if (is(s.at(x, y))) ++n;
          return n;
        };
        const isForce = ([r, g, b]) => r > 200 && g > 100 && g < 170 && b < 90;
        const before = await count(isForce);
        assert.ok(before > 60, `${before} pixels of an arrow`);
        await p.page.keyboard.press('c');
        await p.page.keyboard.press('f');
        await settle(p.page);
        assert.ok((await count(isForce)) < before / 4);
        const pixels = async () => Buffer.from((await picture(p.page)).data);
        for (const key of ['j', 'w', 't', 'i', 'n', 'l', 'g']) {
          const a = await pixels();
          await p.page.keyboard.press(key);
          await settle(p.page);
          assert.ok(!a.equals(await pixels()), `${key} changes nothing`);
          await p.page.keyboard.press(key);
          await settle(p.page);
          assert.ok(a.equals(await pixels()), `${key} twice is not what was`);
        }
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: double click picks; the card says what was recorded and what was not; numbers are plotted',
      async (browser) => {
        const p = await open(browser, write('plain', motion()) + still + '&eye=-90,5,1', { width: 1100, height: 620 });
        const ball = await p.page.evaluate(() => window.sarrus.body('ball'));
        await p.page.mouse.dblclick(ball.x, ball.y);
        await until(
          'card',
          async () => /ball.*mass/.test(await text(p.page, '.card')) && /N, /.test(await text(p.page, '.card')),
        );
        const card = await text(p.page, '.card');
        assert.match(card, /mass0.800 kg/);
        assert.match(card, /position0.100−0.3500.050m/);
        assert.match(card, /floor · sliding8.00 N, 4.00 N/);
        await p.page.evaluate(() => window.sarrus.pick('rocker'));
        await until('card', async () => /◎ closing/.test(await text(p.page, '.card')));
        assert.match(await text(p.page, '.card'), /● wrist/);
        const plots = await p.page.locator('.plot').count();
        await p.page.locator('.card .number').nth(3).click(); // speed
        assert.equal(await p.page.locator('.plot').count(), plots + 1);
        assert.match(await text(p.page, '.legend'), /rocker speed 0.1/);
        await p.page.locator('.legend', { hasText: 'rocker speed' }).click();
        assert.equal(await p.page.locator('.plot').count(), plots);
        await p.page.locator('.chooser').selectOption({ label: 'iterations' });
        assert.match(await text(p.page, '.legend'), /iterations 9/);
        await p.page.locator('.joint', { hasText: 'closing' }).click();
        await until('loop', async () => /loop 1 of 1 · gap 3.2e−13 m/.test(await text(p.page, '.tag')));
        await p.page.keyboard.press('a');
        await p.page.keyboard.press('Shift+ArrowRight');
        await p.page.keyboard.press('b');
        await until('cursors', async () => /Δt 0.167 s/.test(await text(p.page, '.cursors')));
        await p.page.keyboard.press('Escape');
        await settle(p.page);
        assert.equal(await p.page.locator('.card').isVisible(), false);
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: what was not recorded is said, not drawn as zero',
      async (browser) => {
        const b = bars(),
          without = ['joint_gap', 'reactions', 'targets', 'residual.error'];
        const header = { ...b.header, bodies: { ...b.header.bodies, inertia: [] } };
        const p = await open(
          browser,
          write(
            'missing',
            zip(
              encode(
                header,
                b.sections.filter((s) => !without.includes(s.name)),
              ),
            ),
          ) + still,
          { width: 1100, height: 620 },
        );
        await p.page.evaluate(() => window.sarrus.pick('rocker'));
        await until(
          'card',
          async () =>
            /gapnot recorded/.test(await text(p.page, '.card')) &&
            /reactionnot recorded/.test(await text(p.page, '.card')),
        );
        assert.match(await text(p.page, '.drives'), /motornot recorded/);
        assert.match(await text(p.page, '.status'), /natural map/);
        await p.page.keyboard.press(']');
        await until('loop', async () => /gap not recorded/.test(await text(p.page, '.tag')));
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: a second run is a ghost in the picture and dashed in the plots',
      async (browser) => {
        const second = bars({ frames: 90, lag: 0.5 });
        second.header.solver = 'pgs';
        const address = write('compare', motion(), { compare: zip(encode(second.header, second.sections)) });
        const p = await open(browser, `${address}${still}&eye=-90,10,1`, { width: 1100, height: 620 });
        assert.match(await text(p.page, '.head'), /ghost, dashed: bars · pgs/);
        // The plots have lines that those of the run alone have not.
        const ink = (page) =>
          page.evaluate(() =>
            [...document.querySelectorAll('.plot canvas')].map((c) => {
              const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
              let n = 0;
              for (let i = 3; i < d.length; i += 4) if (d[i] > 100) ++n;
              return n;
            }),
          );
        const alone = await open(browser, `${write('plain', motion())}${still}&eye=-90,10,1`, {
          width: 1100,
          height: 620,
        });
        const [both, one] = [await ink(p.page), await ink(alone.page)];
        await alone.close();
        assert.ok(both[0] > one[0] + 40, `energy: ${both[0]} pixels of two runs, ${one[0]} of one`);
        const pale = async () => {
          const s = await picture(p.page);
          let n = 0;
          for (let y = 0; y < 540; ++y)
            for (let x = 300; x < 780; ++x) {
              const [r, g, b] = s.at(x, y);
              if (b > 200 && b - r > 45 && b > g && r > 120) ++n;
            }
          return n;
        };
        const seen = await pale();
        assert.ok(seen > 300, `${seen} pixels of a ghost`);
        await p.page.keyboard.press('y');
        await settle(p.page);
        assert.ok((await pale()) < seen / 10);
        await p.page.keyboard.press('y');
        // Beyond its end it stays where it ended.
        await p.page.evaluate(() => window.sarrus.seek(1.9));
        await settle(p.page);
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: nasty names are inert text',
      async (browser) => {
        const names = '</script><img src=x onerror=window.pwned=1><b>"\'&\u202e\u0000';
        const p = await open(browser, write('nasty', motion({ names }), { title: names }) + still, {
          width: 1100,
          height: 620,
        });
        await p.page.evaluate((n) => window.sarrus.pick(`${n}rocker`), names);
        await p.page.keyboard.press(']');
        await until('card', async () => (await text(p.page, '.card')).includes('<img src=x onerror=window.pwned=1>'));
        assert.equal(await p.page.evaluate(() => window.pwned), undefined);
        assert.equal(await p.page.locator('img').count(), 0);
        assert.ok(!(await text(p.page, 'body')).includes('\u202e'));
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: so are those that C++ wrote',
      async (browser) => {
        const fixture = readFileSync(new URL('fixtures/motion.srv1.gz', import.meta.url));
        const p = await open(browser, write('written', fixture) + still, { width: 1100, height: 620 });
        const names = await p.page.evaluate(() => window.sarrus.bodies);
        for (const name of names) {
          await p.page.evaluate((n) => window.sarrus.pick(n), name);
          await settle(p.page);
        }
        assert.match(await text(p.page, 'h1'), /<\/script><img src=x onerror=alert\(1\)>/);
        assert.match(await text(p.page, '.head'), /failed: joint '<\/script>' would open/);
        assert.equal(await p.page.locator('img').count(), 0);
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: a broken motion is said in words',
      async (browser) => {
        const p = await open(browser, write('broken', Buffer.from('not gzip')), { expectHook: false });
        await until('message', async () => /The motion cannot be shown/.test(await text(p.page, '.message')));
        const b = bars();
        b.header.version = 9;
        const q = await open(browser, write('version', zip(encode(b.header, b.sections))), { expectHook: false });
        await until('message', async () => /version 9/.test(await text(q.page, '.message')));
        const r = await open(browser, write('plain', motion()), {
          expectHook: false,
          init: () => {
            delete window.DecompressionStream;
          },
        });
        await until('message', async () => /DecompressionStream/.test(await text(r.page, '.message')));
        for (const x of [p, q, r]) await x.close();
      },
    ],
    [
      'page: without WebGL it says so and shows plots',
      async () => {
        const other = await launch(['--disable-3d-apis']);
        const p = await open(other, write('plain', motion()) + still, { width: 1100, height: 620 });
        assert.match(await text(p.page, '.message'), /no WebGL/);
        assert.ok((await p.page.locator('.plot canvas').count()) >= 3);
        const before = await text(p.page, '.clock');
        await p.page.keyboard.press('ArrowRight');
        await until('clock', async () => (await text(p.page, '.clock')) !== before);
        await other.close();
      },
    ],
    [
      'page: saves a picture and a video',
      async (browser) => {
        const p = await open(browser, write('short', motion({ frames: 7 })) + still);
        const [png] = await Promise.all([p.page.waitForEvent('download'), p.page.keyboard.press('p')]);
        assert.equal(
          readFileSync(await png.path())
            .subarray(1, 4)
            .toString(),
          'PNG',
        );
        const [webm] = await Promise.all([
          p.page.waitForEvent('download', { timeout: 60_000 }),
          p.page.keyboard.press('v'),
        ]);
        const bytes = readFileSync(await webm.path());
        assert.equal(bytes.subarray(0, 4).toString('hex'), '1a45dfa3');
        assert.ok(bytes.length > 2000);
        assert.match(webm.suggestedFilename(), /^bars\.webm$/);
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
    [
      'page: without WebCodecs the video is what MediaRecorder sees; without either it says so',
      async (browser) => {
        for (const [gone, init] of [
          [
            'VideoEncoder',
            () => {
              delete window.VideoEncoder;
            },
          ],
          [
            'both',
            () => {
              delete window.VideoEncoder;
              delete window.MediaRecorder;
            },
          ],
        ]) {
          const p = await open(browser, write('short', motion({ frames: 20 })) + still, { init });
          if (gone === 'both') {
            await p.page.keyboard.press('v');
            await until('notice', async () => /cannot encode video/.test(await text(p.page, '.notice')));
          } else {
            const [webm] = await Promise.all([
              p.page.waitForEvent('download', { timeout: 60_000 }),
              p.page.keyboard.press('v'),
            ]);
            const bytes = readFileSync(await webm.path());
            assert.equal(bytes.subarray(0, 4).toString('hex'), '1a45dfa3');
            assert.ok(bytes.length > 2000, `${bytes.length} bytes`);
          }
          assert.deepEqual(p.errors, []);
          await p.close();
        }
      },
    ],
    [
      'page: a thousand bodies play',
      async (browser) => {
        const n = 1000,
          F = 30,
          b = bars({ frames: F, floor: true }),
          h = b.header,
          fill = (v) => Array.from({ length: n }, () => v);
        const at = (i, k) => [0.2 * (i % 32), 0.2 * Math.floor(i / 32), 0.1 + 0.01 * k];
        h.bodies = {
          names: Array.from({ length: n }, (_, i) => `b${i}`),
          mass: fill(1),
          inertia: [],
          limb: Array.from({ length: n }, (_, i) => i),
          shaft: fill(0),
        };
        h.joints = Object.fromEntries(Object.keys(h.joints).map((k) => [k, []]));
        h.dofs = Object.fromEntries(Object.keys(h.dofs).map((k) => [k, []]));
        h.loops = [];
        h.geoms = { names: [], body: [] };
        h.parts = {
          body: Array.from({ length: n }, (_, i) => i),
          geom: fill(-1),
          kind: fill('box'),
          size: fill([0.06, 0.06, 0.06]),
          position: fill([0, 0, 0]),
          quaternion: fill([1, 0, 0, 0]),
          mesh: fill(-1),
          height_field: fill(-1),
          colour: fill(null),
        };
        h.view = { radius: 4.4, centre: [3.1, 3.1, 0.2], follow: -1, floor: 0, weight: 9810 };
        const frames = Array.from({ length: F }, (_, k) => k);
        const sections = [
          ...b.sections.filter((s) => ['time', 'status', 'residual.natural_map', 'energy.kinetic'].includes(s.name)),
          {
            name: 'position',
            codec: 'd2',
            shape: [F, n, 3],
            values: frames.flatMap((k) => Array.from({ length: n }, (_, i) => at(i, k)).flat()),
          },
          {
            name: 'quaternion',
            codec: 'd2',
            shape: [F, n, 4],
            values: frames.flatMap(() => fill([1, 0, 0, 0]).flat()),
          },
        ];
        const p = await open(browser, write('many', zip(encode(h, sections))) + '?theme=light&panels=0&play=0');
        const frames0 = await p.page.evaluate(() => window.sarrus.frames);
        await p.page.evaluate(() => window.sarrus.play());
        await until(
          'frames',
          async () =>
            (await p.page.evaluate(() => window.sarrus.frames)) > frames0 + 2 ||
            (await p.page.evaluate(() => window.sarrus.time)) > 0.4,
        );
        assert.ok((await p.page.evaluate(() => window.sarrus.calls)) < 30);
        assert.deepEqual(p.errors, []);
        await p.close();
      },
    ],
  ];
}
