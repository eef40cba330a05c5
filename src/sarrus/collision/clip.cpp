#include "sarrus/collision/clip.h"

#include <algorithm>
#include <cmath>

#include "sarrus/collision/projection.h"

namespace sarrus {
namespace {

// A side line of a projected convex polygon: outward unit normal nu, points inside have offset <= 0.
struct ClipLine {
  Vec2 nu;
  double c;
  int edge;
  int vertex[2];  // ids of its ends

  double offset(const Vec2& u) const { return nu.dot(u) - c; }
};

// Side lines of a face. `reversed`: the face looks against n, so its corners run clockwise in projection.
void side_lines(const BoxFace& face, const ProjectionFrame& frame, bool reversed, ClipLine lines[4]) {
  Vec2 u[4];
  for (int k = 0; k < 4; ++k) u[k] = frame.project(face.corner[k].p);
  for (int k = 0; k < 4; ++k) {
    const int next = (k + 1) % 4;
    const Vec2 e = reversed ? Vec2(u[k] - u[next]) : Vec2(u[next] - u[k]);
    ClipLine& line = lines[k];
    line.nu = Vec2(e.y(), -e.x()).normalized();
    line.c = line.nu.dot(u[k]);
    line.edge = face.corner[k].edge;
    line.vertex[0] = face.corner[k].vertex;
    line.vertex[1] = face.corner[next].vertex;
  }
}

// Height over the projection plane of the plane through x0 with normal N: eta(u) = c0 + slope . u. For the best
// aligned face of a box |N.n| >= 1/sqrt(3), so the division is safe.
struct Height {
  Vec2 slope;
  double c0;

  Height(const Vec3& N, const Vec3& x0, const ProjectionFrame& frame) {
    const double Nn = N.dot(frame.n);
    slope = -frame.project(N) / Nn;
    c0 = N.dot(x0) / Nn;
  }
  double at(const Vec2& u) const { return c0 + slope.dot(u); }
};

struct ClipVertex {
  Vec2 u;
  FeatureKey key;
  int line;    // side line of A on which the edge to the next vertex lies, or -1: it is an edge of B
  int edge_b;  // id of that edge if line < 0
};
using ClipPolygon = FixedList<ClipVertex, 16>;

// Key of the point where the edge leaving `from` meets line i of A: a crossing of two edges, or, if the edge
// already lies on another line of A, the vertex of A between the two lines.
FeatureKey crossing_key(const ClipVertex& from, const ClipLine lines[4], int i) {
  if (from.line < 0) return make_key(FeatureKind::edge_edge, lines[i].edge, from.edge_b);
  for (const int v : lines[i].vertex) {
    if (v == lines[from.line].vertex[0] || v == lines[from.line].vertex[1]) {
      return make_key(FeatureKind::vertex_a, v, 0);
    }
  }
  // Opposite sides of A meet only if A is thinner than tol; any id of its own will do.
  return make_key(FeatureKind::edge_edge, lines[i].edge, 64 + from.line);
}

// One Sutherland-Hodgman pass with hysteresis: vertices up to tol outside stay, and a crossing is made only
// between a vertex clearly outside and one clearly inside. Touching features so keep their keys under noise.
void clip_by_line(const ClipPolygon& in, const ClipLine lines[4], int i, double tol, ClipPolygon& out) {
  out.clear();
  for (int k = 0; k < in.size(); ++k) {
    const ClipVertex& cur = in[k];
    const ClipVertex& next = in[(k + 1) % in.size()];
    const double x = lines[i].offset(cur.u);
    const double y = lines[i].offset(next.u);
    const bool crosses = (x > tol && y < -tol) || (x < -tol && y > tol);
    if (x <= tol) {
      ClipVertex kept = cur;
      if (y > tol && !crosses) kept.line = i;  // cur itself stands for the crossing
      out.push(kept);
    }
    if (crosses) {
      ClipVertex cut = cur;
      cut.u = cur.u + (x / (x - y)) * (next.u - cur.u);
      cut.key = crossing_key(cur, lines, i);
      if (y > 0) cut.line = i;
      out.push(cut);
    }
  }
}

}  // namespace

int box_support_vertex(const Vec3& l) { return (l[0] >= 0 ? 1 : 0) | (l[1] >= 0 ? 2 : 0) | (l[2] >= 0 ? 4 : 0); }

int box_support_edge(const Vec3& l, int axis) { return 8 * axis + (box_support_vertex(l) & ~(1 << axis)); }

Vec3 box_vertex(const Vec3& half_extents, int vertex) {
  return {(vertex & 1) != 0 ? half_extents[0] : -half_extents[0],
          (vertex & 2) != 0 ? half_extents[1] : -half_extents[1],
          (vertex & 4) != 0 ? half_extents[2] : -half_extents[2]};
}

BoxFace box_support_face(const PlacedShape& box, const Vec3& p, const Vec3& n) {
  const Vec3 l = box.R_WG.transpose() * n;
  int i = 0;
  l.cwiseAbs().maxCoeff(&i);
  const int j = (i + 1) % 3;
  const int k = (i + 2) % 3;
  const bool positive = l[i] >= 0;
  // (+,+) (-,+) (-,-) (+,-) in (j, k) is counter-clockwise about +i; about -i j and k change places.
  const int first = positive ? j : k;
  const int second = positive ? k : j;
  const int base = positive ? 1 << i : 0;
  const int vertices[4] = {base | 1 << first | 1 << second, base | 1 << second, base, base | 1 << first};
  BoxFace face;
  face.normal = positive ? Vec3(box.R_WG.col(i)) : Vec3(-box.R_WG.col(i));
  for (int c = 0; c < 4; ++c) {
    const int v = vertices[c];
    const int axis = c % 2 == 0 ? first : second;  // direction of the edge to the next corner
    face.corner[c] = {p + box.R_WG * box_vertex(box.size, v), v, 8 * axis + (v & ~(1 << axis))};
  }
  return face;
}

CapsuleSide capsule_support_side(const PlacedShape& capsule, const Vec3& p, const Vec3& n) {
  const double r = capsule.size[0];
  const Vec3 axis = capsule.R_WG.col(2);
  const Vec3 end = capsule.size[1] * axis;
  const double lz = axis.dot(n);
  CapsuleSide side;
  if (std::abs(lz) > 0.1) {
    side.size = 1;
    side.p[0] = p + (lz >= 0 ? end : Vec3(-end)) + r * n;
    return side;
  }
  // The near end touches with its cap along n; at the far end only the cylinder's rim is on the surface.
  const Vec3 across = (n - lz * axis).normalized();
  side.size = 2;
  side.p[0] = p + end + r * (lz >= 0 ? n : across);
  side.p[1] = p - end + r * (lz >= 0 ? across : n);
  return side;
}

double clip_faces(const BoxFace& face_a, const BoxFace& face_b, const Vec3& n, double margin, double tol,
                  Manifold& manifold) {
  const ProjectionFrame frame(n);
  ClipLine lines[4];
  side_lines(face_a, frame, false, lines);
  ClipPolygon buffer[2];          // taking turns; after four passes the result is in the first again
  for (int k = 3; k >= 0; --k) {  // reversed: counter-clockwise about n
    const BoxFace::Corner& corner = face_b.corner[k];
    buffer[0].push({frame.project(corner.p), make_key(FeatureKind::vertex_b, 0, corner.vertex), -1,
                    face_b.corner[(k + 3) % 4].edge});
  }
  for (int i = 0; i < 4; ++i) clip_by_line(buffer[i % 2], lines, i, tol, buffer[(i + 1) % 2]);
  const Height eta_a(face_a.normal, face_a.corner[0].p, frame);
  const Height eta_b(face_b.normal, face_b.corner[0].p, frame);
  double smallest = kInf;
  for (const ClipVertex& v : buffer[0]) {
    const double height = eta_a.at(v.u);
    const double gap = eta_b.at(v.u) - height;
    if (gap > margin) continue;
    manifold.push({frame.lift(v.u, height), n, gap, v.key});
    smallest = std::min(smallest, gap);
  }
  return smallest;
}

double clip_side(const CapsuleSide& side_a, const BoxFace& face_b, const Vec3& n, double margin, double tol,
                 Manifold& manifold) {
  if (side_a.size < 2) return kInf;
  const ProjectionFrame frame(n);
  ClipLine lines[4];
  side_lines(face_b, frame, true, lines);
  const Vec2 u0 = frame.project(side_a.p[0]);
  const Vec2 u1 = frame.project(side_a.p[1]);
  double s[2] = {0, 1};  // what is left of the segment, 0 = + end
  FeatureKey key[2] = {make_key(FeatureKind::vertex_a, 0, 0), make_key(FeatureKind::vertex_a, 1, 0)};
  for (const ClipLine& line : lines) {
    const double x0 = line.offset(u0);
    const double x1 = line.offset(u1);
    if (x0 > tol && x1 > tol) return kInf;
    if (x0 <= tol && x1 <= tol) continue;
    const double cut = std::clamp(x0 / (x0 - x1), 0.0, 1.0);
    const int end = x0 > tol ? 0 : 1;
    const FeatureKey cut_key = make_key(FeatureKind::edge_edge, end, line.edge);
    const double deeper = (end == 0 ? cut - s[0] : s[1] - cut) * (u1 - u0).norm();
    // Through a corner both of its edges cut at the same place: the lower key stands for it.
    if (deeper > tol || (deeper >= -tol && cut_key < key[end])) key[end] = cut_key;
    s[end] = end == 0 ? std::max(s[0], cut) : std::min(s[1], cut);
  }
  const double length = (s[1] - s[0]) * (u1 - u0).norm();
  if (length < -tol) return kInf;
  const Height eta_b(face_b.normal, face_b.corner[0].p, frame);
  const double h0 = n.dot(side_a.p[0]);
  const double h1 = n.dot(side_a.p[1]);
  double smallest = kInf;
  for (int end = 0; end < (length < tol ? 1 : 2); ++end) {
    const Vec2 u = u0 + s[end] * (u1 - u0);
    const double height = h0 + s[end] * (h1 - h0);
    const double gap = eta_b.at(u) - height;
    if (gap > margin) continue;
    manifold.push({frame.lift(u, height), n, gap, key[end]});
    smallest = std::min(smallest, gap);
  }
  return smallest;
}

}  // namespace sarrus
