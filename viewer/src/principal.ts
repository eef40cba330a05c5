// Eigenvalues and eigenvectors (columns of v) of a symmetric matrix, by Jacobi's rotations.
export function principal(I: readonly number[]): { values: number[]; v: number[][] } {
  const [xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0] = I;
  const a = [
      [xx, xy, xz],
      [xy, yy, yz],
      [xz, yz, zz],
    ],
    v = [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ];
  for (let sweep = 0; sweep < 12; ++sweep) {
    for (const [p, q] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      const apq = a[p]![q]!;
      if (Math.abs(apq) < 1e-300) continue;
      const theta = (a[q]![q]! - a[p]![p]!) / (2 * apq),
        t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
      const c = 1 / Math.hypot(t, 1),
        s = t * c;
      for (let k = 0; k < 3; ++k) {
        const kp = a[k]![p]!,
          kq = a[k]![q]!;
        a[k]![p] = c * kp - s * kq;
        a[k]![q] = s * kp + c * kq;
      }
      for (let k = 0; k < 3; ++k) {
        const pk = a[p]![k]!,
          qk = a[q]![k]!;
        a[p]![k] = c * pk - s * qk;
        a[q]![k] = s * pk + c * qk;
        const vp = v[k]![p]!,
          vq = v[k]![q]!;
        v[k]![p] = c * vp - s * vq;
        v[k]![q] = s * vp + c * vq;
      }
    }
  }
  return { values: [a[0]![0]!, a[1]![1]!, a[2]![2]!], v };
}
