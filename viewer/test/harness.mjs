// One Chromium for all tests: pages that are offline, whose console is watched, and pictures of them.
import { chromium } from 'playwright-core';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { PNG } from 'pngjs';
import { page as makePage } from './page.mjs';

export const dist = new URL('../dist/', import.meta.url);
const out = new URL('../out/', import.meta.url);

export const executable =
  process.env.SARRUS_CHROMIUM ??
  ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export function launch(args = []) {
  if (!executable) throw new Error('no Chromium: scripts/setup.sh test installs it, or SARRUS_CHROMIUM names it');
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({
    executablePath: executable,
    headless: true,
    args: [
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--hide-scrollbars',
      '--force-color-profile=srgb',
      '--font-render-hinting=none',
      ...root,
      ...args,
    ],
  });
}

export function write(name, motion, options) {
  mkdirSync(out, { recursive: true });
  const file = new URL(`${name}.html`, out);
  writeFileSync(file, makePage(dist, motion, options));
  return pathToFileURL(file.pathname).href;
}

// A page at an address, with what went wrong in it and what it asked for.
export async function open(
  browser,
  address,
  { width = 640, height = 360, offline = true, init = null, dark = false, expectHook = true } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height },
    offline,
    colorScheme: dark ? 'dark' : 'light',
    deviceScaleFactor: 1,
    acceptDownloads: true,
  });
  const page = await context.newPage(),
    errors = [],
    requests = [];
  page.on('console', (m) => {
    if (m.type() === 'error' || m.type() === 'warning') errors.push(m.text());
  });
  page.on('pageerror', (e) => errors.push(String(e)));
  page.on('dialog', (d) => {
    errors.push(`dialog ${d.message()}`);
    void d.dismiss();
  });
  page.on('request', (r) => requests.push(r.url()));
  if (init) await page.addInitScript(init);
  await page.goto(address);
  if (expectHook)
    await page.waitForFunction(() => window.sarrus?.frames > 0 || window.sarrus?.error, null, { timeout: 60_000 });
  return { page, errors, requests, close: () => context.close() };
}

export async function picture(page) {
  const png = PNG.sync.read(await page.screenshot({ timeout: 60_000 }));
  return {
    ...png,
    at: (x, y) => [
      ...png.data.subarray(
        4 * (Math.round(y) * png.width + Math.round(x)),
        4 * (Math.round(y) * png.width + Math.round(x)) + 3,
      ),
    ],
  };
}

// Until two frames after what was asked is drawn.
export const settle = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))),
  );

export async function until(what, condition, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`${what}: not within ${ms / 1000} s`);
    await new Promise((done) => setTimeout(done, 30));
  }
}

// CPU seconds of this process and all below it.
export async function cpuSeconds() {
  const { readdirSync, readFileSync } = await import('node:fs');
  const all = new Map();
  for (const d of readdirSync('/proc')) {
    if (!/^\d+$/.test(d)) continue;
    try {
      const s = readFileSync(`/proc/${d}/stat`, 'utf8'),
        f = s.slice(s.lastIndexOf(')') + 2).split(' ');
      all.set(Number(d), {
        parent: Number(f[1]),
        t: (Number(f[11]) + Number(f[12]) + Number(f[13]) + Number(f[14])) / 100,
      });
    } catch {
      /* it ended meanwhile */
    }
  }
  let sum = 0;
  for (const [pid, v] of all) {
    let p = pid;
    while (all.has(p) && p !== process.pid) p = all.get(p).parent;
    if (p === process.pid) sum += v.t;
  }
  return sum;
}
