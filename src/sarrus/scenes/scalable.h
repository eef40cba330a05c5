// Models of any size, for measurements against the number of bodies n. Building takes time in proportion to n. Those of
// bars do not collide with themselves: their bars are only drawn. All throw InputError for too few bodies.
#pragma once

#include "sarrus/model/model.h"

namespace sarrus {

// The scene clutter40 with n bodies: spheres and cubes in four columns fall on a floor, or into a box with walls, which
// holds a few hundred. make_clutter(40, true) is clutter40 but for its name.
Model make_clutter(int bodies, bool walls);
// The same with the compliant contacts and the step of clutter40_soft.
Model make_soft_clutter(int bodies, bool walls);

// n bars of 0.1 m, 0.1 kg on hinges along y hang from the world in a zigzag of 30 degrees and are released. 5n rows of
// full rank, mobility n.
Model make_chain(int bodies);

// A binary tree of n hinged bars (0.2 m, 0.2 kg) hangs from the world: bar i on bar (i - 1)/2, hinges along y and x in
// turn from level to level. 5n rows of full rank, mobility n.
Model make_tree(int bodies);

// A hanging curtain of parallelograms: r rows of c cells, r = floor(sqrt(n/2)), c = floor((n/r - 1)/2). Rows of c + 1
// upright bars alternate with rows of c level ones, all 0.1 m, 0.1 kg, hinges along y; the top ones hang on the world.
// One mechanism of r (2c + 1) <= n bodies, r (3c + 1) hinges and r c closed loops with three redundant rows each. Every
// row of uprights swings as one: mobility r.
Model make_linkage_grid(int bodies);

// Boxes of 0.2 m, 1 kg in up to five layers on a floor, gaps of 2 cm within a layer; each upper box rests on two lower
// ones, along x and y in turn, so that all are one island of about 8 contacts per box. The lowest layer has a x b
// boxes; at most n bodies, as many as fit: (5a - 6) b - 4a + 7 with the largest a = b and then the largest b >= a.
Model make_pile(int bodies);

// n/3 four-bars that hang from the world 1 m apart and swing, started at different angles, and one pendulum for each
// body left over. Islands of 3 bodies, 20 rows of rank 17, mobility 1.
Model make_islands(int bodies);

}  // namespace sarrus
