// The keyboard.
import type { App } from './app';

export function installKeys(app: App): void {
  addEventListener('keydown', (e) => {
    const target = e.target as HTMLElement | null;
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (
      target &&
      (target.tagName === 'SELECT' || (target.tagName === 'INPUT' && (target as HTMLInputElement).type === 'text'))
    )
      return;
    const n = e.shiftKey ? 10 : 1;
    const plot = app.plots;
    const actions: Record<string, () => void> = {
      ' ': () => app.toggle(),
      ArrowRight: () => app.step(n),
      ArrowLeft: () => app.step(-n),
      Backspace: () => app.reset(),
      '+': () => app.faster(2),
      '=': () => app.faster(2),
      '-': () => app.faster(0.5),
      _: () => app.faster(0.5),
      ']': () => {
        app.loops.next(1);
        app.refresh();
      },
      '[': () => {
        app.loops.next(-1);
        app.refresh();
      },
      '}': () => app.nextContact(1),
      '{': () => app.nextContact(-1),
      Escape: () => app.letGo(),
      c: () => app.toggleLayer('contacts'),
      f: () => app.toggleLayer('cones'),
      n: () => app.toggleLayer('normals'),
      j: () => app.toggleLayer('joints'),
      l: () => {
        app.loops.all = !app.loops.all;
        app.refresh();
      },
      g: () => app.setTint(app.tint.name === 'gap' ? 'limb' : 'gap'),
      t: () => app.toggleLayer('transparent'),
      w: () => app.toggleLayer('wireframe'),
      i: () => app.toggleLayer('inertia'),
      x: () => app.toggleLayer('touching'),
      y: () => app.toggleLayer('ghost'),
      h: () => app.toggleTrace(),
      k: () => {
        if (app.view) app.view.following = !app.view.following;
      },
      d: () => app.toggleTheme(),
      p: () => app.screenshot(),
      v: () => void app.film.toggle(),
      s: () => app.save(),
      m: () => app.dump(),
      o: () => app.togglePlots(),
      a: () => plot.setCursor('A', app.player.time),
      b: () => plot.setCursor('B', app.player.time),
      '?': () => {
        app.menu.help.hidden = !app.menu.help.hidden;
      },
      0: () => app.view?.turnTo(-58, 14, 1),
    };
    const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!action) return;
    e.preventDefault();
    action();
    if (!app.menu.box.hidden) app.menu.sync();
  });
}
