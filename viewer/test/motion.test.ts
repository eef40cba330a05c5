import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container } from '../src/container';
import { contactStride, geomOf, modeOf } from '../src/frame';
import { indexAt } from '../src/history';
import { Motion } from '../src/motion';
import { MotionPlayer } from '../src/player';
import { counterpart, kineticOf, seriesOf, twistOf } from '../src/quantity';
import { bars, encode } from './encode';

const motionOf = (b = bars()): Motion => new Motion(new Container(encode(b.header, b.sections).buffer as ArrayBuffer));
const near = (a: number, b: number, within: number, what: string): void =>
  assert.ok(Math.abs(a - b) <= within, `${what}: ${a} against ${b}`);

test('poses at and between frames follow the mechanism', () => {
  const b = bars(),
    m = motionOf(b),
    f = m.newFrame();
  for (const t of [0, 0.5, 0.507, 1.999, 2]) {
    m.interpolate(t, f);
    for (let body = 0; body < 4; ++body) {
      const p = b.body(body, t);
      for (let k = 0; k < 3; ++k) near(f.pose[7 * body + k]! + f.origin[k]!, p[k]!, 5e-5, `body ${body} at ${t}`);
      near(Math.hypot(...f.pose.subarray(7 * body + 3, 7 * body + 7)), 1, 1e-6, 'norm');
    }
  }
});

test('a moment shows the frame whose interval holds it', () => {
  const m = motionOf(),
    p = new MotionPlayer(m);
  assert.equal(indexAt(m, 0), 0);
  assert.equal(indexAt(m, 0.001), 1);
  assert.equal(indexAt(m, 1 / 60), 1);
  assert.equal(indexAt(m, 99), m.count - 1);
  p.seek(1.5 / 60);
  const f = p.advance(0)!;
  near(f.contacts.f[0]!, (0.2 * 2) / 60, 1e-5, 'contact of the interval');
});

test('steps go from frame to frame, on and back, and stop at the ends', () => {
  const m = motionOf(),
    p = new MotionPlayer(m),
    at = (): number => Math.round(p.time * 60 * 1e6) / 1e6;
  p.play();
  p.step(1);
  assert.equal(p.playing, false);
  assert.equal(at(), 1);
  p.step(10);
  assert.equal(at(), 11);
  p.step(-1);
  assert.equal(at(), 10);
  p.seek(10.5 / 60);
  p.step(-1);
  assert.equal(at(), 10);
  p.seek(10.5 / 60);
  p.step(1);
  assert.equal(at(), 11);
  p.step(-100);
  assert.equal(at(), 0);
  p.step(1000);
  assert.equal(at(), 120);
});

test('playing follows the clock, its speed and stops at the end', () => {
  const p = new MotionPlayer(motionOf());
  p.play();
  p.advance(0.25);
  near(p.time, 0.25, 1e-12, 'time');
  p.setSpeed(2);
  p.advance(0.25);
  near(p.time, 0.75, 1e-12, 'time');
  p.setSpeed(1000);
  assert.equal(p.speed, 16);
  p.setSpeed(1);
  p.advance(10);
  assert.equal(p.time, 2);
  assert.equal(p.playing, false);
  p.play();
  assert.equal(p.time, 0);
  p.pause();
  p.advance(0.1);
  assert.equal(p.advance(0.1), null);
});

test('contacts carry what was recorded', () => {
  const m = motionOf(),
    c = m.numbers(7, true).contacts;
  assert.equal(c.count, 1);
  assert.deepEqual(Array.from(c.f.subarray(6, 9)), [-4, 0, 8]);
  near(c.f[10]!, 0.5, 1e-7, 'mu');
  assert.equal(modeOf(c, 0), 2);
  assert.deepEqual([geomOf(c, 0, 0), geomOf(c, 0, 1)], [0, 1]);
  assert.equal(c.f.length % contactStride, 0);
});

test('what was not recorded is not a number, never zero', () => {
  const m = motionOf(),
    f = m.numbers(3);
  assert.ok(Number.isNaN(f.residual[3]!)); // joint_angle
  assert.ok(Number.isNaN(f.energy[4]!)); // unaccounted
  assert.ok(Number.isNaN(f.joint[1]!));
  assert.equal(f.joint[0], 0);
  assert.ok(seriesOf({ kind: 'energy', name: 'work_in' }, m).every(Number.isNaN));
});

test('velocities and energies come from the poses', () => {
  const m = motionOf();
  for (const i of [0, 30, 120]) {
    const coupler = twistOf(m, i, 1)!,
      crank = twistOf(m, i, 0)!;
    near(Math.hypot(...coupler.v), 0.25, 2e-3, 'speed of the coupler');
    near(Math.hypot(...coupler.w), 0, 1e-6, 'spin of the coupler');
    near(crank.w[1], -1, 2e-3, 'spin of the crank');
  }
  near(kineticOf(m, 60, 0), 0.5 * 0.5 * 0.125 ** 2 + 0.5 * 3e-3, 5e-5, 'energy of the crank');
});

test('series: forces, gaps and sums', () => {
  const m = motionOf();
  near(seriesOf({ kind: 'normal', body: -1 }, m)[5]!, 8, 1e-4, 'normal');
  near(seriesOf({ kind: 'friction', body: 3 }, m)[5]!, 4, 1e-4, 'friction');
  assert.equal(seriesOf({ kind: 'normal', body: 0 }, m)[5], 0);
  const gap = seriesOf({ kind: 'joint', joint: 3, what: 0 }, m)[9]!;
  assert.ok(gap >= 3e-13 * (1 - 1e-6) && gap < 3e-13 * 1.34);
  near(seriesOf({ kind: 'dof', dof: 0, what: 0 }, m)[60]!, 1, 1e-4, 'angle');
  near(seriesOf({ kind: 'position', body: 3, axis: 0 }, m)[60]!, 0.2, 1e-5, 'x');
});

test('a second run is matched by names', () => {
  const a = motionOf(),
    b = motionOf(bars({ names: 'other ' }));
  assert.deepEqual(counterpart({ kind: 'energy', name: 'kinetic' }, a.header, b.header), {
    kind: 'energy',
    name: 'kinetic',
  });
  assert.equal(counterpart({ kind: 'dof', dof: 0, what: 0 }, a.header, b.header), null);
  assert.deepEqual(counterpart({ kind: 'speed', body: 2 }, a.header, a.header), { kind: 'speed', body: 2 });
});

test('far out, what is drawn is relative to whole metres nearby', () => {
  const b = bars();
  const far = b.sections.map((s) =>
    s.name === 'position' ? { ...s, values: Array.from(s.values, (v, i) => (i % 3 === 0 ? v + 1e6 : v)) } : s,
  );
  const header = { ...b.header, view: { ...(b.header['view'] as object), follow: 0, centre: [1e6, 0, 0.4] } };
  const m = new Motion(new Container(encode(header, far).buffer as ArrayBuffer)),
    f = m.newFrame();
  m.interpolate(0.5, f);
  assert.equal(f.origin[0], 1e6);
  near(f.pose[0]!, b.body(0, 0.5)[0]!, 5e-5, 'x');
});
