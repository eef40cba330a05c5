// Builds dist/: vendor.js (libraries), app.js (ours), load.js (starts them in a written page), style.css; and the tests. The same source gives the same bytes.
//   node build.mjs            write dist/
//   node build.mjs --watch    and again whenever a source changes
//   node build.mjs --out F    write into another folder than dist/
//   node build.mjs --tests    bundle test/*.test.ts into out/test/
import { build, context } from 'esbuild';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

const out = process.argv.indexOf('--out');
const folder = out < 0 ? 'dist' : process.argv[out + 1];
const common = {
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
};

// In app.js the libraries are the global that vendor.js leaves.
const vendorIsGlobal = {
  name: 'vendor',
  setup(b) {
    b.onResolve({ filter: /^\.\/vendor$/ }, () => ({ path: 'vendor', namespace: 'global' }));
    b.onLoad({ filter: /.*/, namespace: 'global' }, () => ({ contents: 'module.exports = SarrusVendor;' }));
  },
};

// What may not occur within a script element or a style element.
function check(name, text) {
  for (const bad of ['</script', '<!--', '</style'])
    if (text.toLowerCase().includes(bad)) throw new Error(`${name} holds ${bad}`);
  for (const m of text.matchAll(/https?:\/\/[^\s"'`\\)]+/g)) {
    if (!/^http:\/\/www\.w3\.org\//.test(m[0])) throw new Error(`${name} holds the address ${m[0]}`);
  }
  return text;
}

// Libraries mention pages of theirs in warnings: the page holds no address.
const withoutAddresses = (text) => text.replace(/https?:\/\/(?!www\.w3\.org\/)[^\s"'`\\)]+/g, '');

function licences() {
  const own = (name, file = 'LICENSE') => readFileSync(`node_modules/${name}/${file}`, 'utf8').trim();
  return [
    ['three.js', own('three')],
    ['uPlot', own('uplot')],
    ['webm-muxer', own('webm-muxer')],
  ]
    .map(([name, text]) => `${name}\n\n${text.replaceAll('\r', '').replace(/https?:\/\/\S+/g, '')}\n`)
    .join('\n---\n\n');
}

async function dist() {
  mkdirSync(folder, { recursive: true });
  const vendor = await build({
    ...common,
    entryPoints: ['src/vendor.ts'],
    format: 'iife',
    globalName: 'SarrusVendor',
    write: false,
  });
  writeFileSync(`${folder}/vendor.js`, check('vendor.js', withoutAddresses(vendor.outputFiles[0].text)));
  const css = await build({ ...common, entryPoints: ['src/style.css'], write: false });
  writeFileSync(`${folder}/style.css`, check('style.css', css.outputFiles[0].text));
  const load = await build({ ...common, entryPoints: ['src/load.ts'], format: 'iife', write: false });
  writeFileSync(`${folder}/load.js`, check('load.js', load.outputFiles[0].text));
  writeFileSync(`${folder}/LICENSES.txt`, licences());
  return {
    ...common,
    entryPoints: ['src/main.ts'],
    format: 'iife',
    plugins: [vendorIsGlobal],
    outfile: `${folder}/app.js`,
  };
}

if (process.argv.includes('--tests')) {
  const entryPoints = readdirSync('test')
    .filter((f) => f.endsWith('.ts'))
    .map((f) => `test/${f}`);
  await build({
    ...common,
    minify: false,
    entryPoints,
    outdir: 'out/test',
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    platform: 'node',
    sourcemap: 'inline',
  });
} else {
  const options = await dist();
  if (process.argv.includes('--watch')) {
    await (await context(options)).watch();
  } else {
    await build(options);
    check('app.js', readFileSync(`${folder}/app.js`, 'utf8'));
  }
}
