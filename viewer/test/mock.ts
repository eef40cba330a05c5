// A stand-in for `sarrus view`: serves dist/ under the policy of the product, speaks the protocol, moves a body that is pulled.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { bars, encode, zip } from './encode';
import { frameOf } from './liveframe';

export interface Mock {
  url: string;
  commands: Record<string, unknown>[];
  fail: () => void;
  close: () => void;
}

function message(data: Uint8Array, opcode: number): Buffer {
  const n = data.length,
    head =
      n < 126
        ? Buffer.from([0x80 | opcode, n])
        : n < 65536
          ? Buffer.from([0x80 | opcode, 126, n >> 8, n & 255])
          : Buffer.alloc(10);
  if (n >= 65536) {
    head[0] = 0x80 | opcode;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(n), 2);
  }
  return Buffer.concat([head, data]);
}

const typed = (type: number, data: Uint8Array): Buffer => message(Buffer.concat([Buffer.from([type]), data]), 2);

export async function mock(dist: URL): Promise<Mock> {
  const token = randomBytes(16).toString('hex'),
    scene = bars({ kind: 'scene' }),
    commands: Record<string, unknown>[] = [],
    sockets = new Set<Duplex>();
  const state = {
    time: 0,
    playing: false,
    latest: 0,
    sequence: 0,
    sent: 0,
    acked: 0,
    ball: [0, -0.35, 0.05],
    drag: null as null | number[],
    target: 1,
    set: false,
    failed: false,
    seen: false,
  };
  const read = (name: string): string => readFileSync(new URL(name, dist), 'utf8');
  const server: Server = createServer((request, response) => {
    const host = request.headers.host ?? '';
    const policy = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://${host}; img-src data: blob:; media-src blob:; frame-ancestors 'none'; require-trusted-types-for 'script'`;
    const pageText = (): string =>
      read('page.html')
        .replace('<!--sarrus:head-->', '<title>bars</title>')
        .replace('<!--sarrus:style-->', '<link rel="stylesheet" href="/style.css">')
        .replace('<!--sarrus:motion-->', '')
        .replace('<!--sarrus:scripts-->', '<script src="/vendor.js"></script><script src="/app.js"></script>');
    const file: Record<string, [string, () => string]> = {
      '/': ['text/html', pageText],
      '/style.css': ['text/css', () => read('style.css')],
      '/app.js': ['text/javascript', () => read('app.js')],
      '/vendor.js': ['text/javascript', () => read('vendor.js')],
    };
    const found = file[(request.url ?? '').split('?')[0]!];
    if (!found) {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(200, {
        'Content-Type': `${found[0]}; charset=utf-8`,
        'Content-Security-Policy': policy,
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
      })
      .end(found[1]());
  });
  const frame = (): Buffer => {
    const t = state.time,
      pose = [0, 1, 2].flatMap((b) => [
        ...scene.body(b, t),
        ...(b === 1 ? [1, 0, 0, 0] : [Math.cos((0.6 + t) / 2), 0, -Math.sin((0.6 + t) / 2), 0]),
      ]);
    const body = state.drag ? 3 : -1;
    return message(
      new Uint8Array(
        frameOf({
          time: t,
          latest: state.latest,
          bodies: 4,
          dofs: 4,
          joints: 4,
          flags: (state.playing ? 0 : 1) | (state.drag ? 8 : 0) | (state.set ? 16 : 0) | (state.failed ? 2 : 0),
          status: state.failed ? 4 : 0,
          sequence: state.sequence,
          pose: [...pose, ...state.ball, 1, 0, 0, 0],
          dof: [t, 1, 0.5, state.target, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
          dragBody: body,
          ...(state.drag ? { drag: [...state.ball, ...state.drag, 1, 2, 2] } : {}),
        }),
      ),
      2,
    );
  };
  const tick = (): void => {
    if (state.playing) {
      state.time += 1 / 60;
      state.latest = state.time;
      if (state.drag) state.ball = state.ball.map((x, k) => x + 0.2 * (state.drag![k]! - x));
    }
    if (sockets.size && state.sent - state.acked < 2 && (state.playing || state.set || !state.seen)) {
      state.sequence = ++state.sent;
      for (const s of sockets) {
        s.write(frame());
        state.seen = true;
      }
      state.set = false;
    }
  };
  const timer = setInterval(tick, 16);
  const obey = (c: Record<string, unknown>): void => {
    const number = (key: string): number => c[key] as number;
    const set = state.set;
    state.set = true;
    switch (c['c']) {
      case 'play':
        state.playing = true;
        break;
      case 'pause':
        state.playing = false;
        break;
      case 'step':
        state.playing = false;
        state.time = Math.max(0, state.time + 0.001 * number('n'));
        state.latest = Math.max(state.latest, state.time);
        break;
      case 'seek':
        state.playing = false;
        state.time = number('time');
        break;
      case 'reset':
        state.time = state.latest = 0;
        break;
      case 'target':
        state.target = number('value');
        break;
      case 'drag':
        state.drag = c['target'] as number[];
        break;
      case 'drop':
        state.drag = null;
        break;
      case 'ack':
        state.acked = number('n');
        state.set = set;
        break;
      default:
        state.set = set;
    }
  };
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    let buffer = Buffer.alloc(0),
      known = false;
    socket.on('error', () => sockets.delete(socket));
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (data: Buffer) => {
      buffer = Buffer.concat([buffer, data]);
      for (;;) {
        if (buffer.length < 6) return;
        let n = buffer[1]! & 127,
          at = 2;
        if (n === 126) {
          n = buffer.readUInt16BE(2);
          at = 4;
        }
        if (buffer.length < at + 4 + n) return;
        const mask = buffer.subarray(at, at + 4),
          body = Buffer.from(buffer.subarray(at + 4, at + 4 + n)).map((x, i) => x ^ mask[i & 3]!),
          opcode = buffer[0]! & 15;
        buffer = buffer.subarray(at + 4 + n);
        if (opcode !== 1) continue;
        const c = JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
        commands.push(c);
        if (!known) {
          if (c['c'] !== 'hello' || c['token'] !== token || c['version'] !== 1) {
            socket.destroy();
            return;
          }
          known = true;
          socket.write(typed(1, zip(encode(scene.header, []))));
          sockets.add(socket);
        } else obey(c);
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/#${token}`,
    commands,
    fail: () => {
      state.playing = false;
      state.failed = state.set = true;
      for (const s of sockets)
        s.write(
          typed(3, Buffer.from(JSON.stringify({ kind: 'failed', text: 'the solver gave no finite answer <b>' }))),
        );
    },
    close: () => {
      clearInterval(timer);
      for (const s of sockets) s.destroy();
      server.close();
    },
  };
}
