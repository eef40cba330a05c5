import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container } from '../src/container';
import { readLiveFrame } from '../src/frame';
import { LivePlayer } from '../src/live';
import { bars, encode } from './encode';
import { frameOf } from './liveframe';

const header = new Container(encode(bars({ kind: 'scene' }).header, []).buffer as ArrayBuffer).header;
const at = (time: number, more: Parameters<typeof frameOf>[0] = {}): ArrayBuffer =>
  frameOf({ time, latest: time, bodies: 4, dofs: 4, joints: 4, ...more });

test('a frame has what the protocol says, where it says', () => {
  const f = readLiveFrame(
    frameOf({
      time: 1.5,
      earliest: 0.5,
      latest: 2,
      bodies: 2,
      dofs: 1,
      joints: 1,
      flags: 1 | 8,
      status: 3,
      sequence: 7,
      origin: [10, 20, 30],
      contacts: 2,
      dragBody: 1,
      speed: 0.25,
    }),
  );
  assert.deepEqual(
    [f.time, f.earliest, f.latest, f.sequence, f.status, f.paused, f.failed, f.behind, f.set],
    [1.5, 0.5, 2, 7, 3, true, false, false, false],
  );
  assert.deepEqual(Array.from(f.origin), [10, 20, 30]);
  assert.deepEqual(
    [f.pose.length, f.dof.length, f.joint.length, f.contacts.count, f.dragBody, f.speedAsked],
    [14, 4, 4, 2, 1, 0.25],
  );
});

test('a frame that is cut off, or counts what is not there, is refused', () => {
  const whole = frameOf({ bodies: 2 });
  assert.throws(() => readLiveFrame(whole.slice(0, whole.byteLength - 4)), /length/);
  assert.throws(() => readLiveFrame(new ArrayBuffer(40)), /not a frame/);
  const player = new LivePlayer(header, () => {});
  assert.throws(() => player.receive(frameOf({ bodies: 3, dofs: 4 })), /another scene/);
  assert.equal(player.latest, null);
});

test('history keeps the order of time, and drops what the simulation dropped', () => {
  const p = new LivePlayer(header, () => {});
  for (const t of [0, 1, 2, 3]) p.receive(at(t));
  p.receive(at(1, { latest: 3, flags: 16 })); // sought back: what follows can still be gone to
  assert.deepEqual(
    Array.from({ length: p.history.count }, (_, i) => p.history.time(i)),
    [0, 1, 2, 3],
  );
  assert.equal(p.time, 1);
  p.receive(at(1, { latest: 1 })); // an input changed: the rest is gone
  assert.deepEqual(
    Array.from({ length: p.history.count }, (_, i) => p.history.time(i)),
    [0, 1],
  );
  p.receive(at(0, { flags: 16 })); // reset
  assert.equal(p.history.count, 1);
});

test('a moment seen again keeps its status', () => {
  const p = new LivePlayer(header, () => {});
  p.receive(at(1, { status: 4 }));
  p.receive(at(1, { status: 255 }));
  assert.equal(p.history.scalar('status', 0, 0), 4);
});

test('a step back and on does not hide what was worst', () => {
  const p = new LivePlayer(header, () => {});
  p.receive(at(1, { status: 2, steps: 16 }));
  p.receive(at(1, { status: 0, steps: 1 }));
  assert.equal(p.history.scalar('status', 0, 0), 2);
  p.receive(at(1, { status: 3, steps: 20 }));
  assert.equal(p.history.scalar('status', 0, 0), 3);
});

test('commands are those of the protocol; of what the mouse moves the newest is sent', () => {
  const sent: unknown[] = [],
    p = new LivePlayer(header, (text) => sent.push(JSON.parse(text)));
  p.receive(at(1, { earliest: 0.5, sequence: 9 }));
  p.play();
  p.step(-10);
  p.setSpeed(1e9);
  p.drag(1, [0, 0, 0], [1, 2, 3]);
  p.drag(1, [0, 0, 0], [4, 5, 6]);
  p.seek(-3);
  p.advance(0);
  p.drawn();
  p.drop();
  assert.deepEqual(sent, [
    { c: 'play' },
    { c: 'step', n: -10 },
    { c: 'speed', x: 16 },
    { c: 'seek', time: 0.5 },
    { c: 'drag', body: 1, point: [0, 0, 0], target: [4, 5, 6] },
    { c: 'ack', n: 9 },
    { c: 'drop' },
  ]);
});

test('after the connection is lost, what was seen plays here', () => {
  const sent: string[] = [],
    p = new LivePlayer(header, (text) => sent.push(text));
  for (const t of [0, 0.1, 0.2, 0.3]) p.receive(at(t));
  p.disconnect();
  p.step(-2);
  assert.equal(p.time, 0.1);
  assert.equal(p.advance(0)?.time, 0.1);
  p.play();
  p.advance(0.15);
  assert.ok(Math.abs(p.time - 0.25) < 1e-12);
  p.advance(1);
  assert.equal(p.playing, false);
  assert.deepEqual(sent, []);
});

test('a future that the simulation dropped is dropped, also where the page lagged behind', () => {
  const p = new LivePlayer(header, () => undefined);
  for (const t of [0.1, 0.2, 0.3]) p.receive(at(t));
  // It went back to 0.15, took another way, and is beyond 0.3 again when the next frame comes.
  p.receive(at(0.5, { forget: 0.15 }));
  assert.deepEqual(
    Array.from({ length: p.history.count }, (_, i) => p.history.time(i)),
    [0.1, 0.5],
  );
  p.receive(at(0.6));
  assert.equal(p.history.count, 3);
});
