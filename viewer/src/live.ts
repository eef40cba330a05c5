// The live simulation over its WebSocket (docs/live-protocol.md): what came is its history, what is wanted are commands.
import { readLiveFrame, type Frame, type LiveFrame } from './frame';
import type { Header } from './header';
import { indexAt, type History, type Scalar } from './history';
import { fastest, slowest, type Player } from './player';

const mostBytes = 96 << 20,
  mostFrames = 18_000;

// A frame of fewer steps does not hide what was worst in those that the old one stands for.
function keepWorst(old: LiveFrame, f: LiveFrame): void {
  if (f.status === 255 || (old.status !== 255 && old.status > f.status)) f.status = old.status;
  old.residual.forEach((x, k) => {
    if (Number.isNaN(f.residual[k]!) || x > f.residual[k]!) f.residual[k] = x;
  });
  f.iterations = Math.max(f.iterations, old.iterations);
  f.steps = Math.max(f.steps, old.steps);
  if (old.joint.length !== f.joint.length) return;
  // Gap and angle; reactions are those of the moment.
  old.joint.forEach((x, k) => {
    if (k % 4 < 2 && x > f.joint[k]!) f.joint[k] = x;
  });
}

// Frames in the order of time.
export class LiveHistory implements History {
  version = 0;
  private frames: LiveFrame[] = [];
  private bytes = 0;
  potential = NaN;

  constructor(readonly header: Header) {}

  get count(): number {
    return this.frames.length;
  }
  time(i: number): number {
    return this.frames[i]!.time;
  }
  numbers(i: number): Frame {
    return this.frames[i]!;
  }

  add(f: LiveFrame): void {
    if (Number.isNaN(this.potential)) this.potential = f.energy[1]!;
    const size = (x: LiveFrame): number => x.pose.buffer.byteLength;
    // What the simulation dropped is dropped here, also where this page lagged and it has gone beyond that time again.
    const kept = Math.min(Math.max(f.time, f.latest), f.forget);
    let at = this.frames.length;
    while (at > 0 && this.frames[at - 1]!.time > kept + 1e-9) --at;
    for (const x of this.frames.splice(at)) this.bytes -= size(x);
    at = this.frames.length;
    while (at > 0 && this.frames[at - 1]!.time > f.time + 1e-9) --at;
    const same = at > 0 && Math.abs(this.frames[at - 1]!.time - f.time) <= 1e-9;
    if (same) {
      // The moment again (paused, or gone back to): what happened on the way to it stays known.
      const old = this.frames[at - 1]!;
      if (f.status === 255 || f.steps < old.steps) keepWorst(old, f);
      this.bytes += size(f) - size(old);
      this.frames[at - 1] = f;
    } else {
      this.frames.splice(at, 0, f);
      this.bytes += size(f);
    }
    let drop = 0;
    while (this.frames.length - drop > 2 && (this.bytes > mostBytes || this.frames.length - drop > mostFrames))
      this.bytes -= size(this.frames[drop++]!);
    if (drop) this.frames.splice(0, drop);
    ++this.version;
  }

  scalar(what: Scalar, i: number, k: number): number {
    const f = this.frames[i]!;
    switch (what) {
      case 'status':
        return f.status;
      case 'iterations':
        return f.iterations;
      default:
        return f[what][k] ?? NaN;
    }
  }

  pose(i: number, body: number, out: Float64Array): void {
    const f = this.frames[i]!;
    for (let k = 0; k < 7; ++k) out[k] = f.pose[7 * body + k]! + (k < 3 ? f.origin[k]! : 0);
  }
}

export interface Notice {
  kind: string;
  text: string;
  command?: string;
}

export class LivePlayer implements Player {
  readonly live = true;
  readonly history: LiveHistory;
  latest: LiveFrame | null = null;
  onNotice: (n: Notice) => void = () => {};
  private fresh = false;
  private wanted: { target: string | null; seek: string | null; drag: string | null } = {
    target: null,
    seek: null,
    drag: null,
  };
  private askedSpeed = 1;
  private lost: { time: number; playing: boolean; shown: number } | null = null;

  constructor(
    readonly header: Header,
    private readonly send: (text: string) => void,
  ) {
    this.history = new LiveHistory(header);
  }

  // A message of type 2. Acknowledged when it is drawn.
  receive(data: ArrayBuffer): void {
    const f = readLiveFrame(data),
      n = this.header.bodies.names.length;
    if (f.pose.length !== 7 * n || f.dof.length !== 4 * this.header.dofs.names.length)
      throw new Error('a frame of another scene');
    if (f.joint.length !== 0 && f.joint.length !== 4 * this.header.joints.names.length)
      throw new Error('a frame of another scene');
    if (f.dragBody >= n) throw new Error('a frame that drags what is not there');
    this.history.add(f);
    this.latest = f;
    this.askedSpeed = f.speedAsked;
    this.fresh = true;
  }

  private command(o: Record<string, unknown>): void {
    this.send(JSON.stringify(o));
  }

  get begin(): number {
    return Math.min(this.latest?.earliest ?? 0, this.history.count ? this.history.time(0) : 0);
  }
  get end(): number {
    return this.latest?.latest ?? 0;
  }
  get time(): number {
    return this.lost?.time ?? this.latest?.time ?? 0;
  }
  get playing(): boolean {
    return this.lost ? this.lost.playing : this.latest !== null && !this.latest.paused;
  }
  get speed(): number {
    return this.askedSpeed;
  }

  // The connection is gone: from now on what was seen plays here.
  disconnect(): void {
    this.lost = { time: this.latest?.time ?? 0, playing: false, shown: this.latest?.time ?? 0 };
  }

  play(): void {
    if (this.lost) {
      if (this.lost.time >= this.history.time(this.history.count - 1)) this.lost.time = this.history.time(0);
      this.lost.playing = true;
    } else this.command({ c: 'play' });
  }
  pause(): void {
    if (this.lost) this.lost.playing = false;
    else this.command({ c: 'pause' });
  }
  step(n: number): void {
    if (!this.lost) this.command({ c: 'step', n });
    else if (this.history.count) {
      this.lost.playing = false;
      this.lost.time = this.history.time(
        Math.min(this.history.count - 1, Math.max(0, indexAt(this.history, this.lost.time) + n)),
      );
    }
  }
  reset(): void {
    if (!this.lost) this.command({ c: 'reset' });
    else if (this.history.count) this.lost.time = this.history.time(0);
  }
  setSpeed(x: number): void {
    this.askedSpeed = Math.min(fastest, Math.max(slowest, x));
    this.command({ c: 'speed', x: this.askedSpeed });
  }
  seek(t: number): void {
    const f = this.latest;
    if (this.lost) this.lost.time = t;
    else if (f) this.wanted.seek = JSON.stringify({ c: 'seek', time: Math.min(f.latest, Math.max(f.earliest, t)) });
  }
  target(dof: number, value: number): void {
    this.wanted.target = JSON.stringify({ c: 'target', dof, value });
  }
  release(dof: number): void {
    this.flush();
    this.command({ c: 'release', dof });
  }
  drag(body: number, point: [number, number, number], target: [number, number, number]): void {
    this.wanted.drag = JSON.stringify({ c: 'drag', body, point, target });
  }
  drop(): void {
    this.wanted.drag = null;
    this.command({ c: 'drop' });
  }
  layer(name: 'joints' | 'contacts', on: boolean): void {
    this.command({ c: 'layer', name, on });
  }
  save(): void {
    this.command({ c: 'save' });
  }
  dump(): void {
    this.command({ c: 'dump' });
  }

  // What the mouse moves is sent once a picture, the newest only.
  private flush(): void {
    for (const key of ['target', 'seek', 'drag'] as const) {
      const text = this.wanted[key];
      if (text !== null) this.send(text);
      this.wanted[key] = null;
    }
  }

  advance(seconds: number): Frame | null {
    this.flush();
    const l = this.lost;
    if (l) {
      if (!this.history.count) return null;
      if (l.playing) l.time += seconds * this.askedSpeed;
      const last = this.history.time(this.history.count - 1);
      if (l.time >= last) [l.time, l.playing] = [last, false];
      if (l.time === l.shown) return null;
      l.shown = l.time;
      return this.history.numbers(indexAt(this.history, l.time));
    }
    if (!this.fresh || !this.latest) return null;
    this.fresh = false;
    return this.latest;
  }

  drawn(): void {
    if (this.latest) this.command({ c: 'ack', n: this.latest.sequence });
  }
}

export interface Connection {
  scene: (type: number, data: Uint8Array) => Promise<void>; // messages 1, 4 and 5: gzipped containers
  frame: (data: ArrayBuffer) => void;
  notice: (n: Notice) => void;
  closed: (reason: string) => void;
}

// Opens the socket of the server that the page came from. Messages are handled one after the other.
export function connect(token: string, to: Connection): (text: string) => void {
  const socket = new WebSocket(`ws://${location.host}/ws`);
  socket.binaryType = 'arraybuffer';
  let queue: Promise<void> = Promise.resolve(),
    ended = '',
    opened = false;
  socket.addEventListener('open', () => {
    opened = true;
    socket.send(JSON.stringify({ c: 'hello', token, version: 1 }));
  });
  const handle = async (data: ArrayBuffer): Promise<void> => {
    const type = new DataView(data).getUint8(0);
    if (type === 2) to.frame(data);
    else if (type === 3) {
      const n = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 1))) as Notice;
      if (n.kind === 'end') ended = String(n.text);
      to.notice({
        kind: String(n.kind),
        text: String(n.text),
        ...(n.command === undefined ? {} : { command: String(n.command) }),
      });
    } else if (type === 1 || type === 4 || type === 5) {
      await to.scene(type, new Uint8Array(data, 1));
    }
  };
  socket.addEventListener('message', (e: MessageEvent<ArrayBuffer | string>) => {
    const data = e.data;
    if (typeof data === 'string' || data.byteLength === 0) return;
    queue = queue
      .then(() => handle(data))
      .catch((error: unknown) => to.notice({ kind: 'warning', text: String(error) }));
  });
  socket.addEventListener('close', () => {
    void queue.then(() =>
      to.closed(
        ended
          ? `${ended.charAt(0).toUpperCase()}${ended.slice(1)}. What was seen can still be looked at.`
          : opened
            ? 'The connection to the simulation is lost. What was seen can still be looked at; start `sarrus view` again to go on.'
            : 'There is no simulation at this address: start `sarrus view` again.',
      ),
    );
  });
  return (text) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
  };
}
