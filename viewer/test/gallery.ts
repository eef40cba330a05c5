// Everything that can be drawn, side by side: kinds of parts in one row, types of joints in another, terrain, walls, colours of files.
import { encode, zip, type Given } from './encode';

const identity = [1, 0, 0, 0],
  kinds = ['box', 'sphere', 'capsule', 'cylinder', 'ellipsoid', 'mesh', 'hull', 'box', 'box'];
const sizes = [
  [0.1, 0.06, 0.04],
  [0.08, 0, 0],
  [0.05, 0.08, 0],
  [0.07, 0.08, 0],
  [0.1, 0.06, 0.05],
  [0, 0, 0],
  [0, 0, 0],
  [0.07, 0.07, 0.07],
  [0.07, 0.07, 0.07],
];
const types = [
  'revolute',
  'cylindrical',
  'prismatic',
  'universal',
  'spherical',
  'planar',
  'distance',
  'rope',
  'fixed',
  'serial',
];

const tetrahedron = {
  v: [0.1, 0, -0.05, -0.06, 0.09, -0.05, -0.06, -0.09, -0.05, 0, 0, 0.12],
  t: [0, 1, 3, 1, 2, 3, 2, 0, 3, 0, 2, 1],
};
const wedge = {
  v: [-0.1, -0.06, -0.06, 0.1, -0.06, -0.06, 0.1, 0.06, -0.06, -0.1, 0.06, -0.06, -0.1, -0.06, 0.06, -0.1, 0.06, 0.06],
  t: [0, 2, 1, 0, 3, 2, 0, 1, 4, 3, 5, 2, 0, 4, 5, 0, 5, 3, 1, 2, 5, 1, 5, 4],
};

export function gallery(): Buffer {
  const n = kinds.length + types.length,
    F = 2,
    columns = 12,
    rows = 5;
  const place = (b: number): number[] =>
    b < kinds.length ? [0.3 * b, 0, 0.3] : [0.27 * (b - kinds.length), -0.5, 0.35];
  const poses = Array.from({ length: n }, (_, b) => place(b)),
    nj = types.length,
    fill = <T>(v: T, k = nj): T[] => Array.from({ length: k }, () => v);
  const heights = Array.from(
    { length: columns * rows },
    (_, i) => 0.06 * Math.sin(i % columns) * Math.cos(Math.floor(i / columns)),
  );
  const sections: Given[] = [
    { name: 'time', codec: 'f8', shape: [F], values: [0, 1] },
    { name: 'position', codec: 'd2', shape: [F, n, 3], values: [...poses, ...poses].flat() },
    { name: 'quaternion', codec: 'd2', shape: [F, n, 4], values: fill(identity, F * n).flat() },
    {
      name: 'joint_gap',
      codec: 'l1',
      shape: [F, nj],
      values: fill([0, 0, 1e-13, 1e-8, 1e-5, 0, 0, 0, 0, 0], F).flat(),
    },
    { name: 'mesh.vertex_offset', codec: 'u4', shape: [3], values: [0, 4, 10] },
    { name: 'mesh.triangle_offset', codec: 'u4', shape: [3], values: [0, 4, 12] },
    { name: 'mesh.vertices', codec: 'f4', shape: [10, 3], values: [...tetrahedron.v, ...wedge.v] },
    { name: 'mesh.triangles', codec: 'u4', shape: [12, 3], values: [...tetrahedron.t, ...wedge.t] },
    { name: 'height_field.offset', codec: 'u4', shape: [2], values: [0, columns * rows] },
    { name: 'height_field.heights', codec: 'f4', shape: [columns * rows], values: heights },
  ];
  // Joints hang below the world at y = -0.5; each carries a small box, which some are drawn away from.
  const offset = (j: number): number[] => (types[j] === 'distance' || types[j] === 'rope' ? [0, 0, -0.2] : [0, 0, 0]);
  const parts = {
    body: [] as number[],
    kind: [] as string[],
    size: [] as number[][],
    position: [] as number[][],
    mesh: [] as number[],
    height_field: [] as number[],
    colour: [] as (string | null)[],
  };
  const add = (
    body: number,
    kind: string,
    size: number[],
    position: number[],
    more: { mesh?: number; field?: number; colour?: string } = {},
  ): void => {
    parts.body.push(body);
    parts.kind.push(kind);
    parts.size.push(size);
    parts.position.push(position);
    parts.mesh.push(more.mesh ?? -1);
    parts.height_field.push(more.field ?? -1);
    parts.colour.push(more.colour ?? null);
  };
  kinds.forEach((kind, b) =>
    add(b, kind, sizes[b]!, [0, 0, 0], {
      ...(kind === 'mesh' ? { mesh: 0 } : kind === 'hull' ? { mesh: 1 } : {}),
      ...(b === 7 ? { colour: '#ff8c00ff' } : b === 8 ? { colour: '#3060ff60' } : {}),
    }),
  );
  types.forEach((_, j) => add(kinds.length + j, 'box', [0.07, 0.02, 0.02], [offset(j)[0]! + 0.09, 0, offset(j)[2]!]));
  add(-1, 'plane', [0, 0, 0], [0, 0, 0]);
  add(-1, 'height_field', [0, 0, 0], [1.2, 0.7, 0.1], { field: 0 });
  add(-1, 'box', [1.3, 0.02, 0.3], [1.2, 1.2, 0.3]); // a wall
  const header = {
    version: 1,
    kind: 'motion',
    scene: 'gallery',
    description: '',
    dt: 1e-3,
    solver: '',
    integrator: '',
    tolerance: 1e-9,
    acceptable: 1e-6,
    gravity: [0, 0, -9.81],
    sarrus_version: '0.1.0',
    begin: 0,
    duration: 1,
    samples: F,
    frames: F,
    frame_rate: 0,
    every_step: true,
    end: { status: 'ok', message: '' },
    missing: [],
    bodies: {
      names: poses.map((_, b) => `b${b}`),
      mass: fill(1, n),
      inertia: fill([2e-3, 5e-3, 6e-3, 0, 0, 0], n),
      limb: poses.map((_, b) => (b === 0 || b === 3 ? -1 : b)),
      shaft: poses.map((_, b) => (b === 3 ? 1 : 0)),
    },
    joints: {
      names: types.map((t, j) => `${t}${j}`),
      type: types,
      base: fill(-1),
      follower: types.map((_, j) => kinds.length + j),
      anchor_base: types.map((_, j) => place(kinds.length + j)),
      anchor_follower: types.map((_, j) => offset(j)),
      axes_base: fill([Math.SQRT1_2, 0, 0, Math.SQRT1_2]),
      axes_follower: fill([Math.SQRT1_2, 0, 0, Math.SQRT1_2]),
      length: fill(0.2),
      closes_loop: types.map((t) => (['prismatic', 'universal', 'spherical'].includes(t) ? 1 : 0)),
      first_dof: types.map((_, j) => (j < 2 ? j : -1)),
      dofs: types.map((_, j) => (j < 2 ? 1 : 0)),
      glyph: fill([0.024, 0.035]),
      axes: types.map((t) =>
        t === 'serial'
          ? [
              { angular: true, position: [0, 0, 0], axis: [0, 0, 1] },
              { angular: false, position: [0, 0, 0.05], axis: [0, 1, 0] },
            ]
          : null,
      ),
    },
    loops: [],
    couplings: [{ name: 'gear', a: 0, b: 1 }],
    dofs: {
      names: ['a', 'b'],
      unit: ['rad', 'rad'],
      joint: [0, 1],
      mode: ['none', 'none'],
      lower: [null, null],
      upper: [null, null],
      target_lower: [null, null],
      target_upper: [null, null],
      effort_lower: [null, null],
      effort_upper: [null, null],
      drive: ['', ''],
    },
    geoms: { names: [], body: [] },
    parts: { ...parts, geom: fill(-1, parts.kind.length), quaternion: fill(identity, parts.kind.length) },
    meshes: 2,
    height_fields: [{ columns, rows, dx: 0.2, dy: 0.1 }],
    view: { radius: 1.3, centre: [1.2, -0.1, 0.3], follow: -1, floor: 0, weight: 100 },
  };
  return zip(encode(header, sections));
}
