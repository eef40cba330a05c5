// The page in headless Chromium with software GL. node test/browser.mjs [--golden] [name …]; SARRUS_COMMAND: the program, for the live view.
import { cpuSeconds, launch } from './harness.mjs';
import { tests as goldenTests } from './golden.mjs';
import { tests as liveTests } from './live.browser.mjs';
import { tests as pageTests } from './page.browser.mjs';

const flags = process.argv.slice(2).filter((a) => a.startsWith('--')),
  wanted = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const renew = flags.includes('--golden');
const tests = renew ? goldenTests(true) : [...pageTests(), ...liveTests(), ...goldenTests(false)];
const browser = await launch();
console.log(`Chromium ${browser.version()}`);
let failed = 0;
for (const [name, run] of tests) {
  if (wanted.length && !wanted.some((w) => name.includes(w))) continue;
  const start = Date.now();
  try {
    await run(browser);
    console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error instanceof Error ? error.stack : String(error)}`);
  }
}
console.log(`${failed ? `${failed} failed` : 'all passed'}; ${(await cpuSeconds()).toFixed(0)} s of CPU`);
await browser.close();
process.exit(failed ? 1 : 0);
