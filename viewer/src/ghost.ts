// The second run of a comparison in the picture: its bodies as one pale, translucent hue at the same moment.
import { Bodies } from './bodies';
import type { Motion } from './motion';
import { ghostRun } from './theme';
import * as T from './vendor';

export class Ghost {
  readonly group: T.Group;
  private readonly bodies: Bodies;
  private readonly frame;
  private readonly place = new T.Vector3();

  constructor(private readonly motion: Motion) {
    this.bodies = new Bodies(motion.container, true);
    this.bodies.haunt(new T.Color(ghostRun));
    this.group = this.bodies.group;
    this.frame = motion.newFrame();
  }

  // Moved by so much from where it is.
  stand(by: T.Vector3): void {
    this.group.position.copy(this.place).add(by);
  }

  // At time t, or the end of its run; `origin` is that of the frame that is shown.
  move(t: number, origin: Float64Array): void {
    const f = this.frame,
      m = this.motion;
    m.interpolate(Math.min(m.end, Math.max(m.begin, t)), f);
    this.bodies.move(f);
    this.place.set(f.origin[0]! - origin[0]!, f.origin[1]! - origin[1]!, f.origin[2]! - origin[2]!);
  }
}
