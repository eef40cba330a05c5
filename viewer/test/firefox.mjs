// The page in Firefox, from a file and offline: node test/firefox.mjs [PAGE.html]. By hand, before a release: the gate has
// Chromium alone. Firefox is told what to do over Marionette, a socket that says JSON with its length before it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PNG } from 'pngjs';
import { bars, encode, zip } from '../out/test/encode.mjs';
import { until, write } from './harness.mjs';

const program =
  process.env.SARRUS_FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));
assert.ok(program, 'no Firefox: SARRUS_FIREFOX names it');
const profile = mkdtempSync(join(tmpdir(), 'sarrus-firefox-')),
  port = 20000 + (process.pid % 20000);
writeFileSync(join(profile, 'user.js'), `user_pref("marionette.port", ${port});\n`);
const firefox = [
  program,
  ...['--marionette', '--remote-allow-system-access', '--profile', profile, '--width', '1280', '--height', '720'],
];
// Without a screen there is no WebGL: xvfb has one.
const words = process.env.DISPLAY ? firefox : ['xvfb-run', '-a', '-s', '-screen 0 1400x1000x24', ...firefox];
const child = spawn(words[0], words.slice(1), { stdio: 'ignore', detached: true });

class Marionette {
  #waiting = new Map();
  #id = 0;
  #text = Buffer.alloc(0);

  constructor(socket) {
    this.socket = socket;
    socket.on('data', (data) => {
      this.#text = Buffer.concat([this.#text, data]);
      for (;;) {
        const colon = this.#text.indexOf(':');
        if (colon < 0) return;
        const length = Number(this.#text.subarray(0, colon));
        if (this.#text.length < colon + 1 + length) return;
        const said = JSON.parse(this.#text.subarray(colon + 1, colon + 1 + length).toString());
        this.#text = this.#text.subarray(colon + 1 + length);
        if (!Array.isArray(said)) continue; // the greeting
        const { done, failed } = this.#waiting.get(said[1]);
        if (said[2]) failed(new Error(said[2].message));
        else done(said[3]);
      }
    });
  }
  ask(command, parameters = {}) {
    const id = ++this.#id,
      text = Buffer.from(JSON.stringify([0, id, command, parameters]));
    this.socket.write(`${text.length}:`);
    this.socket.write(text);
    return new Promise((done, failed) => this.#waiting.set(id, { done, failed }));
  }
  async run(script, ...args) {
    return (await this.ask('WebDriver:ExecuteScript', { script, args })).value;
  }
}

const open = () =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(socket));
    socket.on('error', () => done(null));
  });

try {
  let socket = null;
  await until('Firefox', async () => (socket = await open()) !== null, 60_000);
  const fox = new Marionette(socket);
  const { capabilities } = await fox.ask('WebDriver:NewSession', {});
  await fox.ask('Marionette:SetContext', { value: 'chrome' });
  await fox.run('Services.io.offline = true; Services.console.reset();');
  await fox.ask('Marionette:SetContext', { value: 'content' });
  const b = bars(),
    given = process.argv[2],
    page = given ? pathToFileURL(given).href : write('firefox', zip(encode(b.header, b.sections)));
  const start = Date.now();
  await fox.ask('WebDriver:Navigate', { url: `${page}?t=0.5&theme=light&eye=-90,5,1` });
  const ask = (what) => fox.run(`return window.sarrus?.${what} ?? null`);
  await until('a picture', async () => (await ask('frames')) > 0 || (await ask('error')), 90_000);
  console.log(
    `Firefox ${capabilities.browserVersion}: first picture after ${((Date.now() - start) / 1000).toFixed(1)} s`,
  );
  assert.equal(await ask('error'), null);
  const picture = async () => {
    const png = (await fox.ask('WebDriver:TakeScreenshot', { full: false })).value;
    if (process.env.SARRUS_PICTURE) writeFileSync(process.env.SARRUS_PICTURE, Buffer.from(png, 'base64'));
    return PNG.sync.read(Buffer.from(png, 'base64'));
  };
  const shot = await picture();
  if (!given) {
    // The white disc of the hinge that closes the loop is where the page says.
    const found = (await fox.run('return JSON.stringify(window.sarrus.markers())')) ?? '[]';
    const scale = shot.width / (await fox.run('return innerWidth'));
    assert.ok(
      JSON.parse(found).some(({ x, y }) => {
        const at = 4 * (Math.round(y * scale) * shot.width + Math.round(x * scale));
        return Math.min(...shot.data.subarray(at, at + 3)) > 225;
      }),
      `white at ${found}`,
    );
  }
  await ask('play()');
  await until('playing', async () => (await ask('time')) > 0.55);
  await ask('pause()');
  const before = await ask('time');
  await new Promise((done) => setTimeout(done, 300));
  assert.equal(await ask('time'), before);
  await fox.ask('Marionette:SetContext', { value: 'chrome' });
  const said = await fox.run(`return Services.console.getMessageArray()
    .filter((m) => m instanceof Ci.nsIScriptError && /^file:/.test(m.sourceName)).map((m) => m.message)`);
  assert.deepEqual(said, []);
  console.log('plays and pauses offline, without a word on the console');
  socket.destroy();
} finally {
  process.kill(-child.pid); // with the screen
  await new Promise((done) => (child.exitCode === null ? child.on('exit', done) : done()));
  rmSync(profile, { recursive: true, force: true });
}
