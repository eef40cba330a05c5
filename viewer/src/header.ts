// The header of an SRV1 container (docs/motion-format.md), and a check of what the page indexes by.
export type Vec3 = [number, number, number];

export interface Section {
  name: string;
  codec: string;
  shape: number[];
  offset: number;
  bytes: number;
  bits?: number;
  planes?: number;
  steps?: number;
  lo?: number[];
  scale?: number[];
}

export interface SerialAxis {
  angular: boolean | number;
  position: Vec3;
  axis: Vec3;
}
export interface Loop {
  joints: number[];
  bodies: number[];
}
export interface Coupling {
  name: string;
  a: number;
  b: number;
}
export type Limit = number | null;

export interface Header {
  version: number;
  kind: 'motion' | 'scene';
  scene: string;
  description: string;
  dt: number;
  solver: string;
  integrator: string;
  tolerance: number;
  acceptable: number;
  gravity: Vec3;
  sarrus_version: string;
  begin: number;
  duration: number;
  samples: number;
  frames: number;
  frame_rate: number;
  every_step: boolean;
  end: { status: string; message: string };
  missing: string[];
  bodies: { names: string[]; mass: number[]; inertia: number[][]; limb: number[]; shaft: number[] };
  joints: {
    names: string[];
    type: string[];
    base: number[];
    follower: number[];
    anchor_base: Vec3[];
    anchor_follower: Vec3[];
    axes_base: number[][];
    axes_follower: number[][];
    length: number[];
    closes_loop: number[];
    first_dof: number[];
    dofs: number[];
    glyph: [number, number][];
    axes: (SerialAxis[] | null)[];
  };
  loops: Loop[];
  couplings: Coupling[];
  dofs: {
    names: string[];
    unit: string[];
    joint: number[];
    mode: string[];
    lower: Limit[];
    upper: Limit[];
    target_lower: Limit[];
    target_upper: Limit[];
    effort_lower: Limit[];
    effort_upper: Limit[];
    drive: string[];
  };
  geoms: { names: string[]; body: number[] };
  parts: {
    body: number[];
    geom: number[];
    kind: string[];
    size: number[][];
    position: Vec3[];
    quaternion: number[][];
    mesh: number[];
    height_field: number[];
    colour: (string | null)[];
  };
  meshes: number;
  height_fields: { columns: number; rows: number; dx: number; dy: number }[];
  view: { radius: number; centre: Vec3; follow: number; floor: number | null; weight: number };
  sections: Section[];
}

// What is not given becomes empty, so that the page shows less instead of failing.
const absent: Omit<Header, 'sections' | 'version' | 'kind'> = {
  scene: '',
  description: '',
  dt: 0,
  solver: '',
  integrator: '',
  tolerance: 0,
  acceptable: 0,
  gravity: [0, 0, -9.81],
  sarrus_version: '',
  begin: 0,
  duration: 0,
  samples: 0,
  frames: 0,
  frame_rate: 0,
  every_step: true,
  end: { status: 'unknown', message: '' },
  missing: [],
  bodies: { names: [], mass: [], inertia: [], limb: [], shaft: [] },
  joints: {
    names: [],
    type: [],
    base: [],
    follower: [],
    anchor_base: [],
    anchor_follower: [],
    axes_base: [],
    axes_follower: [],
    length: [],
    closes_loop: [],
    first_dof: [],
    dofs: [],
    glyph: [],
    axes: [],
  },
  loops: [],
  couplings: [],
  dofs: {
    names: [],
    unit: [],
    joint: [],
    mode: [],
    lower: [],
    upper: [],
    target_lower: [],
    target_upper: [],
    effort_lower: [],
    effort_upper: [],
    drive: [],
  },
  geoms: { names: [], body: [] },
  parts: {
    body: [],
    geom: [],
    kind: [],
    size: [],
    position: [],
    quaternion: [],
    mesh: [],
    height_field: [],
    colour: [],
  },
  meshes: 0,
  height_fields: [],
  view: { radius: 0.5, centre: [0, 0, 0], follow: -1, floor: null, weight: 1 },
};

// Header from parsed JSON. Throws where an index would point nowhere.
export function readHeader(json: unknown): Header {
  if (typeof json !== 'object' || json === null) throw new Error('the header is not an object');
  const given = json as Partial<Header>;
  if (given.version !== 1)
    throw new Error(`the motion has version ${String(given.version)}; this page shows version 1`);
  const h = { sections: [], kind: 'motion', ...absent, ...given } as Header;
  for (const key of ['bodies', 'joints', 'dofs', 'geoms', 'parts', 'view'] as const) {
    Object.assign(h, { [key]: { ...absent[key], ...given[key] } });
  }
  const n = h.bodies.names.length,
    nj = h.joints.names.length,
    nd = h.dofs.names.length;
  const inRange = (name: string, values: number[], end: number): void => {
    for (const v of values)
      if (!Number.isInteger(v) || v < -1 || v >= end) throw new Error(`${name}: there is no index ${v}`);
  };
  const sameLength = (name: string, values: object, length: number, except: string[] = []): void => {
    for (const [key, v] of Object.entries(values)) {
      if (Array.isArray(v) && v.length !== length && !except.includes(key)) {
        throw new Error(`${name}.${key} has ${v.length} entries of ${length}`);
      }
    }
  };
  sameLength('bodies', h.bodies, n, ['inertia']);
  sameLength('joints', h.joints, nj);
  sameLength('dofs', h.dofs, nd);
  sameLength('parts', h.parts, h.parts.kind.length);
  sameLength('geoms', h.geoms, h.geoms.names.length);
  if (h.bodies.inertia.length !== 0 && h.bodies.inertia.length !== n)
    throw new Error('bodies.inertia has another length');
  inRange('joints.base', h.joints.base, n);
  inRange('joints.follower', h.joints.follower, n);
  inRange('parts.body', h.parts.body, n);
  inRange('parts.mesh', h.parts.mesh, h.meshes);
  inRange('parts.height_field', h.parts.height_field, h.height_fields.length);
  inRange('geoms.body', h.geoms.body, n);
  inRange('dofs.joint', h.dofs.joint, nj);
  inRange('view.follow', [h.view.follow], n);
  for (const c of h.couplings) inRange('couplings', [c.a, c.b], nd);
  for (const l of h.loops) {
    inRange('loops', l.joints, nj);
    inRange('loops', l.bodies, n);
  }
  if (!(h.view.radius > 0)) h.view.radius = 0.5;
  return h;
}
