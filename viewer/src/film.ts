// A video of what is shown: of a recorded motion picture by picture, from cursor A to B or all of it; of a live one until it
// is asked to stop.
import type { App } from './app';
import { fileName } from './dom';
import { LivePlayer } from './live';
import { MotionPlayer } from './player';
import { mediaRecorder, webCodecs, type Recorder } from './video';

const fps = 60;

export class Film {
  running = false;
  private stop = false;

  constructor(private readonly app: App) {}

  // Begins, or ends what has begun.
  async toggle(): Promise<void> {
    const { app } = this;
    if (!app.view) return;
    if (this.running) {
      this.stop = true;
      return;
    }
    const canvas = app.view.renderer.domElement;
    const recorder = (await webCodecs(canvas, fps)) ?? mediaRecorder(canvas, fps);
    if (!recorder) {
      app.notices.say('This browser cannot encode video.', 'bad');
      return;
    }
    this.stop = false;
    this.running = true;
    const name = `${fileName(app.container.header.scene)}.webm`;
    try {
      if (app.player instanceof MotionPlayer) await this.recorded(app.player, recorder);
      else await this.live(recorder);
      await recorder.finish(name);
      app.notices.say(`Saved ${name}`);
    } catch (error) {
      app.notices.say(`The video failed: ${String(error)}`, 'bad');
    }
    this.running = false;
  }

  private async recorded(player: MotionPlayer, recorder: Recorder): Promise<void> {
    const { A, B } = this.app.plots.cursors;
    const some = A !== null && B !== null;
    const from = some ? Math.min(A, B) : player.begin;
    const to = some ? Math.max(A, B) : player.end;
    this.app.notices.say('Making a video; V stops it.');
    player.pause();
    const back = player.time;
    for (let k = 0; from + (k * player.speed) / fps <= to + 1e-9 && !this.stop; ++k) {
      player.seek(from + (k * player.speed) / fps);
      this.app.picture(0);
      await recorder.take(k / fps);
      // Now and then the page gets its turn: numbers, and keys that stop it.
      if (k % 10 === 0) {
        this.app.panels(Infinity);
        await new Promise(requestAnimationFrame);
      }
    }
    player.seek(back);
  }

  private async live(recorder: Recorder): Promise<void> {
    const { app } = this;
    app.notices.say('Recording; V stops it.');
    const start = performance.now();
    while (!this.stop) {
      await new Promise(requestAnimationFrame);
      const fresh = app.picture(1 / fps);
      if (fresh && app.player instanceof LivePlayer) app.player.drawn();
      await recorder.take((performance.now() - start) / 1000);
      app.panels(performance.now());
    }
  }
}
