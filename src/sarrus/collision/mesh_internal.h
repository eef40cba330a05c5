// What collides with a mesh or height field sees of it: its triangles, and the best direction off an edge
// (docs/theory/collision.md §6). Private to the mesh pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sarrus/collision/convex_distance.h"
#include "sarrus/collision/mesh_cull.h"
#include "sarrus/collision/mesh_pairs.h"
#include "sarrus/geometry/height_field.h"
#include "sarrus/geometry/triangle_mesh.h"
#include "sarrus/math/types.h"

namespace sarrus {

// One triangle. All coordinates are in the axes of the mesh and relative to an origin of the caller's choice, so that
// nothing loses digits far from the origin of the mesh.
struct Facet {
  int id;
  int cell[2];      // column and row of its cell (height fields)
  int v[3];         // vertex ids
  Vec3 x[3];        // corners, CCW seen from outside
  Vec3 n;           // outward unit normal
  double height;    // n.x on its plane
  Vec3 outward[3];  // across edge k (from corner k to k+1), in the plane, as long as the edge

  void find_height() { height = n.dot(x[0]); }
  void find_outward() {
    for (int k = 0; k < 3; ++k) outward[k] = (x[(k + 1) % 3] - x[k]).cross(n);
  }
  // Distance of x outside edge k in projection along n, times the edge's length.
  double beyond(int k, const Vec3& y) const { return outward[k].dot(y - x[k]); }
  bool is_beyond(int k, const Vec3& y, double slack) const {
    const double reach = beyond(k, y);
    return reach > 0 && reach * reach > slack * slack * outward[k].squaredNorm();
  }
};

// One view of meshes ...
class MeshSurface {
 public:
  MeshSurface(const TriangleMesh& mesh, const Vec3& origin) : mesh_(mesh), origin_(origin) {}

  // Appends the triangles near the body; if they are many, only those of parts that may touch it (mesh_cull.h). False,
  // with some of them, if those are more than `most`.
  bool find_triangles(const PlacedShape& body, double margin, double tol, std::size_t most, MeshWorkspace& w) const {
    const Aabb box = shape_aabb(body).grown(margin + tol);
    MeshCull cull(body, mesh_.part_origin(), margin, tol);
    const auto still_few = [&](const SurfacePart&) {
      ++w.work.parts;
      return w.triangles.size() <= w.many_triangles;
    };
    mesh_.find_triangles(box, still_few, w.triangles);
    if (w.triangles.size() > w.many_triangles) {
      w.triangles.clear();
      const auto may_touch = [&](const SurfacePart& part) {
        if (w.triangles.size() > most) return false;
        ++w.work.parts;
        return cull.is_near(part.box()) && cull.may_touch(part);
      };
      mesh_.find_triangles(box, may_touch, w.triangles);
      if (w.triangles.size() > most) return false;
    }
    if (cull.is_tilted()) {
      std::erase_if(w.triangles, [&](int t) {
        const Aabb t_box = mesh_.triangle_box(t);
        return !cull.is_near({t_box.lo - mesh_.part_origin(), t_box.hi - mesh_.part_origin()});
      });
    }
    w.work.triangles += static_cast<long>(w.triangles.size());
    return true;
  }

  // In three parts, since most triangles need no more than the first, and of the others most no more than the second:
  // corners, plane, and what is across the edges.
  void load_corners(int t, Facet& f) const {
    f.id = t;
    const TriangleMesh::Triangle& v = mesh_.triangle(t);
    for (int k = 0; k < 3; ++k) {
      f.v[k] = v[static_cast<std::size_t>(k)];
      f.x[k] = vertex(f.v[k]);
    }
  }
  void load_plane(Facet& f) const {
    f.n = mesh_.normal(f.id);
    f.find_height();
  }
  void load(int t, Facet& f) const {
    load_corners(t, f);
    load_plane(f);
    f.find_outward();
  }
  Vec3 vertex(int v) const { return mesh_.vertex(v) - origin_; }
  Vec3 normal(int t) const { return mesh_.normal(t); }
  int neighbour(int t, int k) const { return mesh_.neighbour(t, k); }

  Bend bend(const Facet& f, int k) const { return mesh_.bend(f.id, k); }

  int first_triangle(int v) const { return mesh_.triangles_of(v).front(); }
  int corner_of(int t, int v) const { return mesh_.triangle(t)[0] == v ? 0 : mesh_.triangle(t)[1] == v ? 1 : 2; }

  // True if `test` holds for every triangle around corner k of f, and which of its corners that is.
  template <class Test>
  bool all_triangles(const Facet& f, int k, const Test& test) const {
    const auto ring = mesh_.triangles_of(f.v[k]);
    return std::all_of(ring.begin(), ring.end(), [&](int t) { return test(t, corner_of(t, f.v[k])); });
  }
  // True if `test` holds for every vertex linked to v by an edge.
  template <class Test>
  bool all_links(int v, const Test& test) const {
    for (const int w : mesh_.vertex_neighbours(v)) {
      if (!test(vertex(w))) return false;
    }
    return true;
  }

 private:
  const TriangleMesh& mesh_;
  Vec3 origin_;
};

// ... and height fields.
class FieldSurface {
 public:
  FieldSurface(const HeightField& field, const Vec3& origin) : field_(field), origin_(origin) {}

  bool find_triangles(const PlacedShape& body, double margin, double tol, std::size_t, MeshWorkspace& w) const {
    field_.find_triangles(shape_aabb(body).grown(margin + tol), w.triangles);
    w.work.triangles += static_cast<long>(w.triangles.size());
    return true;
  }

  void load_corners(int t, Facet& f) const {
    const int columns = field_.columns();
    const int j = t / 2 / (columns - 1);
    const int i = t / 2 - j * (columns - 1);
    const int v = j * columns + i;
    f.id = t;
    f.cell[0] = i;
    f.cell[1] = j;
    f.v[0] = v;
    f.x[0] = sample(i, j);
    if (t % 2 == 0) {
      f.v[1] = v + 1;
      f.x[1] = sample(i + 1, j);
      f.v[2] = v + columns + 1;
      f.x[2] = sample(i + 1, j + 1);
    } else {
      f.v[1] = v + columns + 1;
      f.x[1] = sample(i + 1, j + 1);
      f.v[2] = v + columns;
      f.x[2] = sample(i, j + 1);
    }
  }
  void load_plane(Facet& f) const {
    const std::span<const double> h = field_.heights();
    f.n = slope_normal(f.id % 2, h[at(f.v[0])], h[at(f.v[1])], h[at(f.v[2])]);
    f.find_height();
  }
  void load(int t, Facet& f) const {
    load_corners(t, f);
    load_plane(f);
    f.find_outward();
  }
  Vec3 vertex(int v) const { return field_.vertex(v) - origin_; }
  Vec3 normal(int t) const { return field_.normal(t); }
  int neighbour(int t, int k) const { return field_.neighbour(t, k); }

  Bend bend(const Facet& f, int k) const {
    // The far corner of the neighbour, as steps in the grid from the cell's first sample, and from corner k.
    static constexpr int kFar[2][3][2] = {{{0, -1}, {2, 1}, {0, 1}}, {{1, 0}, {1, 2}, {-1, 0}}};
    static constexpr int kWay[2][3][2] = {{{0, -1}, {1, 1}, {-1, 0}}, {{1, 0}, {0, 1}, {-1, -1}}};
    const int half = f.id % 2;
    const int i = f.cell[0] + kFar[half][k][0];
    const int j = f.cell[1] + kFar[half][k][1];
    if (i < 0 || j < 0 || i >= field_.columns() || j >= field_.rows()) return Bend::border;
    const std::span<const double> h = field_.heights();
    const Vec3 way(kWay[half][k][0] * field_.dx(), kWay[half][k][1] * field_.dy(),
                   h[at(j * field_.columns() + i)] - h[at(f.v[k])]);
    return bend_across(f.n, Vec3::Zero(), f.outward[k], way);
  }

  int first_triangle(int v) const {
    std::array<int, 6> ring;
    field_.triangles_of(v, ring);
    return ring[0];
  }
  int corner_of(int t, int v) const {
    const std::array<int, 3> c = field_.triangle(t);
    return c[0] == v ? 0 : c[1] == v ? 1 : 2;
  }

  template <class Test>
  bool all_triangles(const Facet& f, int k, const Test& test) const {
    // Column and row of the cell from those of the vertex, half, and which corner the vertex is: ascending.
    static constexpr int kRing[6][4] = {{-1, -1, 0, 2}, {-1, -1, 1, 1}, {0, -1, 1, 2},
                                        {-1, 0, 0, 1},  {0, 0, 0, 0},   {0, 0, 1, 0}};
    static constexpr int kStep[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
    const int cells = field_.columns() - 1;
    const int column = f.cell[0] + kStep[f.id % 2][k][0];
    const int row = f.cell[1] + kStep[f.id % 2][k][1];
    for (const auto& [di, dj, half, corner] : kRing) {
      const int i = column + di;
      const int j = row + dj;
      if (i < 0 || j < 0 || i >= cells || j > field_.rows() - 2) continue;
      if (!test(2 * (j * cells + i) + half, corner)) return false;
    }
    return true;
  }
  template <class Test>
  bool all_links(int v, const Test& test) const {
    std::array<int, 6> links;
    const int count = field_.vertex_neighbours(v, links);
    for (int k = 0; k < count; ++k) {
      if (!test(vertex(links[at(k)]))) return false;
    }
    return true;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // As HeightField::vertex, without its divisions.
  Vec3 sample(int i, int j) const {
    return Vec3((i - 0.5 * (field_.columns() - 1)) * field_.dx(), (j - 0.5 * (field_.rows() - 1)) * field_.dy(),
                field_.heights()[at(j * field_.columns() + i)]) -
           origin_;
  }
  // As HeightField::normal: half 0 runs along x, then y; half 1 along the diagonal, then back along x.
  Vec3 slope_normal(int half, double a, double b, double c) const {
    const double slope_x = half == 0 ? (b - a) / field_.dx() : (b - c) / field_.dx();
    const double slope_y = half == 0 ? (c - b) / field_.dy() : (c - a) / field_.dy();
    return Vec3(-slope_x, -slope_y, 1).normalized();
  }

  const HeightField& field_;
  Vec3 origin_;
};

struct MeshEdge {
  Vec3 a, b;
  // Normals of the faces on both sides; at a border the second one points outwards in the plane of the first.
  Vec3 n[2];
};

struct EdgeDirection {
  Vec3 n;    // unit, from the edge to the body
  double s;  // s(n), m
  double t;  // the nearest point of the edge is a + t (b - a)
};

// The direction that separates a convex body best from an edge of a mesh (docs/theory/collision.md §6).
//
// For the edge E = [a, b] and the body X, with n from E to X:  s(n) = min over X of n.x - max(n.a, n.b).
// Apart, the closest points give the largest s(n), and it is the only local maximum. Overlapping, there are several,
// and only the caller knows which of them are normals of the surface at E. The search climbs from one seed after the
// other, the best first, by proximal steps (§5 step 5): X is moved along n until it is clear of E, and the closest
// points there give the next n, with s never smaller.
class EdgeSearch {
 public:
  // `centre` is a point inside the body.
  EdgeSearch(const Convex& x, const Vec3& centre, const MeshEdge& edge, double margin, double tol);

  // The next local maximum with s <= margin; false if there is none, or if some direction proves s > margin.
  bool next(EdgeDirection& found);

 private:
  struct Seed {
    Vec3 n;
    double s;
  };
  struct Nearest;

  double s(const Vec3& n) const;
  Vec3 core_support(const Vec3& n) const;
  double parameter(const Vec3& y) const;
  void add_seed(const Vec3& n);
  void add_face_seed(const Vec3& n);
  void add_seeds();
  bool take_seed(EdgeDirection& found);
  bool take_global(EdgeDirection& found);
  Convex segment() const;
  Nearest nearest(const Vec3& shift) const;
  void climb(EdgeDirection& found) const;

  const Convex& x_;
  Vec3 centre_;
  const MeshEdge& edge_;
  Vec3 u_;  // b - a
  double margin_;
  double tol_;
  FixedList<Seed, 8> seeds_;
  FixedList<Vec3, 9> tried_;  // directions handed out
  bool global_left_ = false;
};

}  // namespace sarrus
