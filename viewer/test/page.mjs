// Makes the page of a motion from dist/, as the library `view` does: the four places of page.html (docs/viewer.md).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const sha = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export function page(dist, motion, { title = 'motion', compare = null } = {}) {
  const read = (name) => readFileSync(new URL(name, dist), 'utf8');
  const [style, vendor, app, load] = ['style.css', 'vendor.js', 'app.js', 'load.js'].map(read);
  const policy = [
    "default-src 'none'",
    `script-src ${[vendor, app, load].map(sha).join(' ')}`,
    `style-src ${sha(style)}`,
    'img-src data: blob:',
    'media-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types sarrus',
  ].join('; ');
  const data = (id, bytes) => `<script type="text/plain" id="${id}">${bytes.toString('base64')}</script>`;
  const places = {
    head: `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<title>${escape(title)}</title>`,
    style: `<style>${style}</style>`,
    motion: data('motion', motion) + (compare ? data('compare', compare) : ''),
    scripts: `${data('vendor.js', gzipSync(vendor))}${data('app.js', gzipSync(app))}<script>${load}</script>`,
  };
  return read('page.html').replace(/<!--sarrus:(\w+)-->/g, (_, name) => places[name]);
}
