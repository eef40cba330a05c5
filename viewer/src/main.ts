// Starts the page: with the motion that is in it, or with the simulation that served it.
import { App, type Options } from './app';
import { Container, fromBase64, inflate } from './container';
import { el } from './dom';
import { install, installError } from './hook';
import { connect, LivePlayer } from './live';
import { Motion } from './motion';
import { MotionPlayer } from './player';

// In a file's address behind a question mark, in a server's behind its token:
// ?t=3.3&theme=dark&quality=high&pick=chassis&loop=1&eye=-58,14,1&panels=0
function options(): Options {
  const q = new URLSearchParams(location.search || location.hash.replace(/^[^&]*&?/, '')),
    number = (name: string): number | null => (q.has(name) ? Number(q.get(name)) : null);
  const eye = q.get('eye')?.split(',').map(Number) ?? null;
  return {
    theme: q.get('theme'),
    quality: q.get('quality'),
    time: number('t'),
    pick: q.get('pick'),
    play: q.get('play') !== '0',
    loop: number('loop'),
    eye: eye?.every(Number.isFinite) ? eye : null,
    panels: q.get('panels') !== '0',
  };
}

function fail(text: string): void {
  installError(text);
  document.getElementById('app')?.replaceChildren(el('p', 'message', text));
}

async function load(bytes: Uint8Array): Promise<Container> {
  return new Container(await inflate(bytes));
}

async function start(): Promise<void> {
  const root = document.getElementById('app');
  if (!root) return;
  if (typeof DecompressionStream === 'undefined') {
    fail(
      'This browser cannot unpack the motion: it has no DecompressionStream. Chromium 80, Firefox 113 and Safari 16.4 have it.',
    );
    return;
  }
  const text = document.getElementById('motion')?.textContent,
    second = document.getElementById('compare')?.textContent;
  const play = (motion: Motion, other: Motion | null): App => {
    const first = motion.newFrame();
    motion.fill(0, first);
    motion.interpolate(motion.begin, first);
    motion.fillContacts(0, first);
    const app = new App(root, new MotionPlayer(motion), motion.container, first, other, options());
    install(app);
    return app;
  };
  if (text) {
    const motion = new Motion(await load(fromBase64(text)));
    play(motion, second ? new Motion(await load(fromBase64(second))) : null);
    return;
  }
  root.replaceChildren(el('p', 'message', 'Connecting to the simulation …'));
  let app: App | null = null,
    player: LivePlayer | null = null,
    scene: Container | null = null,
    other: Motion | null = null;
  const send = connect(location.hash.slice(1).split('&')[0]!, {
    scene: async (type, data) => {
      const container = await load(data);
      if (type === 1) {
        scene = container;
        player = new LivePlayer(container.header, send);
        app?.stop();
        app = null;
      } else if (type === 4) app = play(new Motion(container), other);
      else {
        other = new Motion(container);
        app?.compareWith(other);
      }
    },
    frame: (data) => {
      if (!player || !scene) return;
      player.receive(data);
      if (app) return;
      app = new App(root, player, scene, player.latest!, other, options());
      install(app);
    },
    notice: (n) => {
      if (n.kind === 'end') return; // told when the connection closes
      if (app)
        app.notices.say(
          n.command && !n.text.startsWith(`${n.command}:`) ? `${n.command}: ${n.text}` : n.text,
          n.kind === 'saved' ? 'info' : 'bad',
        );
      else fail(n.text);
    },
    closed: (reason) => {
      player?.disconnect();
      if (app && !app.player.live) app.notices.say('The server has ended; the recording stays here.');
      else if (app) app.notices.say(reason, 'bad');
      else fail(reason);
    },
  });
}

start().catch((error: unknown) =>
  fail(`The motion cannot be shown: ${error instanceof Error ? error.message : String(error)}`),
);
