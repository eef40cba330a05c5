// Tests of the live view: against a stand-in, and against the program where SARRUS_COMMAND names it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mock } from '../out/test/mock.mjs';
import { dist, open, settle, until } from './harness.mjs';

const text = (page, selector) =>
  page
    .locator(selector)
    .allTextContents()
    .then((t) => t.join(' | '));
const size = { width: 1100, height: 620, offline: false };
const withQuery = (url, query) => `${url}&${query}`;

// Ctrl-drag of a body by (dx, dy) pixels; the button stays down.
async function grab(page, name, dx, dy) {
  const at = await page.evaluate((n) => window.sarrus.body(n), name);
  await page.keyboard.down('Control');
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + dx / 2, at.y + dy / 2);
  await page.mouse.move(at.x + dx, at.y + dy);
  return at;
}

async function release(page) {
  await page.mouse.up();
  await page.keyboard.up('Control');
}

export function tests() {
  const list = [
    [
      'live: plays, pauses, steps, pulls, sets drives, and says when the server is gone',
      async (browser) => {
        const server = await mock(dist);
        try {
          const p = await open(browser, withQuery(server.url, 'theme=light&eye=-90,8,1'), size),
            time = () => p.page.evaluate(() => window.sarrus.time);
          const last = (c) => server.commands.filter((x) => x.c === c).at(-1);
          assert.equal(server.commands[0].c, 'hello');
          assert.equal(await p.page.evaluate(() => window.sarrus.live), true);
          await p.page.keyboard.press(' ');
          await until('playing', async () => (await time()) > 0.2);
          assert.ok(last('ack').n > 2);
          const before = await p.page.evaluate(() => window.sarrus.body('ball').position);
          await grab(p.page, 'ball', 60, -60);
          await until('pull', async () => /N/.test((await p.page.locator('.tag:visible').allTextContents()).join('')));
          await until(
            'the body follows',
            async () => (await p.page.evaluate(() => window.sarrus.body('ball').position))[2] > before[2] + 0.02,
          );
          const { body, point, target } = last('drag');
          assert.equal(body, 3);
          assert.ok(point.every(Number.isFinite) && Math.hypot(...point) < 0.09, `on the ball: ${point}`);
          assert.ok(target[2] > before[2]);
          await release(p.page);
          await until('drop', async () => last('drop') !== undefined);
          await p.page.keyboard.press(' ');
          await until(
            'pause',
            async () => last('pause') !== undefined && !(await p.page.evaluate(() => window.sarrus.playing)),
          );
          await settle(p.page);
          const t = await time();
          await p.page.keyboard.press('ArrowLeft');
          await until('back', async () => (await time()) < t - 5e-4);
          await p.page.locator('.drive input').evaluate((e) => {
            e.value = '-2';
            e.dispatchEvent(new Event('input'));
          });
          await until('target', async () => last('target')?.value === -2);
          await p.page.locator('.drive button').click();
          await until('release', async () => last('release')?.dof === 0);
          await p.page.keyboard.press('Backspace');
          await until('reset', async () => (await time()) === 0);
          server.fail();
          await until('notice', async () => /no finite answer <b>/.test(await text(p.page, '.notice')));
          server.close();
          await until('lost', async () => /connection to the simulation is lost/.test(await text(p.page, '.notice')));
          assert.deepEqual(p.errors, []);
          await p.close();
        } finally {
          server.close();
        }
      },
    ],
    [
      'live: without the token there is nothing',
      async (browser) => {
        const server = await mock(dist);
        try {
          const p = await open(browser, server.url.replace(/#.*/, '#0000'), { ...size, expectHook: false });
          await until('message', async () => /lost|no simulation/.test(await text(p.page, '.message')));
          await p.close();
        } finally {
          server.close();
        }
      },
    ],
  ];
  if (process.env.SARRUS_COMMAND)
    list.push(['live: sarrus view fourbar_free', (browser) => program(browser, process.env.SARRUS_COMMAND)]);
  return list;
}

async function program(browser, command) {
  const problems = new URL('../out/problems', import.meta.url).pathname;
  const options = ['--no-open', '--port', '0', '--paused', '--dump-problems', problems];
  const child = spawn(command, ['view', 'fourbar_free', ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (d) => (said += d));
  child.stderr.on('data', (d) => (said += d));
  try {
    await until('address', () => /http:\/\/\S+#[0-9a-f]{32}/.test(said) || child.exitCode !== null);
    const url = /http:\/\/\S+#[0-9a-f]{32}/.exec(said)?.[0];
    assert.ok(url, said);
    const p = await open(browser, withQuery(url, 'theme=light'), size),
      time = () => p.page.evaluate(() => window.sarrus.time),
      playing = () => p.page.evaluate(() => window.sarrus.playing);
    assert.match(await text(p.page, 'h1'), /fourbar_free/);
    assert.equal(await playing(), false);
    const start = await time();
    await p.page.keyboard.press('ArrowRight');
    await until('a step', async () => (await time()) > start);
    const one = await time();
    await p.page.keyboard.press('ArrowLeft');
    await until('a step back', async () => Math.abs((await time()) - start) < 1e-12);
    await p.page.keyboard.press('ArrowRight');
    await until('the same step', async () => Math.abs((await time()) - one) < 1e-12);
    await p.page.keyboard.press('m');
    await until('problem', async () =>
      /the problem of step 1 is in .*fourbar_free-1\.h5/.test(await text(p.page, '.notice')),
    );
    await p.page.keyboard.press('s');
    await until('refusal', async () =>
      /^save: needs --save/.test(await p.page.locator('.notice.bad').first().innerText()),
    );
    await p.page.keyboard.press(' ');
    await until('playing', async () => (await time()) > one + 0.1);
    const names = await p.page.evaluate(() => window.sarrus.bodies),
      name = names[0];
    const before = (await p.page.evaluate((n) => window.sarrus.body(n), name)).position;
    await grab(p.page, name, 0, -320); // with more than its weight
    await until(
      'the body follows',
      async () => (await p.page.evaluate((n) => window.sarrus.body(n), name)).position[2] > before[2] + 0.01,
    );
    await release(p.page);
    await p.page.keyboard.press(' ');
    await until('pause', async () => !(await playing()));
    await settle(p.page);
    const t = await time();
    await p.page.waitForTimeout(300);
    assert.equal(await time(), t);
    await p.page.keyboard.press('Backspace');
    await until('reset', async () => (await time()) < one);
    child.kill();
    await until('gone', async () => /lost|ended/.test(await text(p.page, '.notice')));
    assert.deepEqual(p.errors, []);
    await p.close();
  } finally {
    child.kill();
  }
}
