#include "sarrus/geometry/convex_hull.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "sarrus/geometry/hull_internal.h"
#include "sarrus/geometry/surface_tools.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// Of the dot product of a step with a unit direction, relative to the step: six roundings and a margin.
constexpr double kRiseRoundOff = 1e-15;
constexpr int kMinStartCells = 4;  // along the side of a face of the cube map
constexpr int kMaxStartCells = 64;

// Directions in 6 k^2 cells: the faces of a cube, each cut into k x k squares.
// Defined for every l, also zero and NaN: some cell.
int cube_map_cell(const Vec3& l, int k) {
  int axis = 0;
  if (std::abs(l.y()) > std::abs(l[axis])) axis = 1;
  if (std::abs(l.z()) > std::abs(l[axis])) axis = 2;
  const double half = 0.5 * k;
  const double scale = half / std::abs(l[axis]);
  const auto square = [&](double u) {
    const double s = scale * u + half;
    return s > 0 ? static_cast<int>(std::min(s, k - 0.5)) : 0;
  };
  const int face = 2 * axis + (l[axis] < 0 ? 1 : 0);
  return (face * k + square(l[axis == 0 ? 1 : 0])) * k + square(l[axis == 2 ? 1 : 2]);
}

// Direction through the middle of a cell, not unit.
Vec3 cube_map_direction(int cell, int k) {
  const int face = cell / (k * k);
  const int axis = face / 2;
  Vec3 l;
  l[axis] = face % 2 == 0 ? 1 : -1;
  l[axis == 0 ? 1 : 0] = (2 * (cell / k % k) + 1.0) / k - 1;
  l[axis == 2 ? 1 : 2] = (2 * (cell % k) + 1.0) / k - 1;
  return l;
}

int best_of_all(std::span<const Vec3> vertices, const Vec3& l) {
  int best = 0;
  double height = l.dot(vertices[0]);
  for (std::size_t v = 1; v < vertices.size(); ++v) {
    const double h = l.dot(vertices[v]);
    if (h > height) {
      height = h;
      best = static_cast<int>(v);
    }
  }
  return best;
}

// Undirected edges of the polygons.
std::vector<EdgeUse> edge_uses(const std::vector<int>& begin, const std::vector<int>& corner, int vertex_count) {
  std::vector<int> head(corner.size());
  for (std::size_t f = 0; f + 1 < begin.size(); ++f) {
    for (int c = begin[f]; c < begin[f + 1]; ++c) head[at(c)] = corner[at(c + 1 < begin[f + 1] ? c + 1 : begin[f])];
  }
  return sorted_edge_uses(corner, head, vertex_count);
}

// Positions of `keep` corners of a convex polygon, ascending: takes away, again and again, the corner that cuts off
// the least area.
std::vector<int> largest_polygon(std::span<const Vec3> vertices, std::span<const int> corners, int keep) {
  const int n = static_cast<int>(corners.size());
  std::vector<int> before(at(n));
  std::vector<int> after(at(n));
  for (int k = 0; k < n; ++k) {
    before[at(k)] = (k + n - 1) % n;
    after[at(k)] = (k + 1) % n;
  }
  const auto position = [&](int k) -> const Vec3& { return vertices[at(corners[at(k)])]; };
  std::vector<double> loss(at(n));
  const auto measure = [&](int k) {
    loss[at(k)] = (position(before[at(k)]) - position(k)).cross(position(after[at(k)]) - position(k)).norm();
  };
  std::set<std::pair<double, int>> by_loss;
  for (int k = 0; k < n; ++k) {
    measure(k);
    by_loss.insert({loss[at(k)], k});
  }
  std::vector<bool> kept(at(n), true);
  while (static_cast<int>(by_loss.size()) > keep) {
    const int k = by_loss.begin()->second;
    by_loss.erase(by_loss.begin());
    kept[at(k)] = false;
    const int a = before[at(k)];
    const int b = after[at(k)];
    after[at(a)] = b;
    before[at(b)] = a;
    for (const int j : {a, b}) {
      by_loss.erase({loss[at(j)], j});
      measure(j);
      by_loss.insert({loss[at(j)], j});
    }
  }
  std::vector<int> positions;
  for (int k = 0; k < n; ++k) {
    if (kept[at(k)]) positions.push_back(k);
  }
  return positions;
}

}  // namespace

int ConvexHull::support(const Vec3& l) const {
  if (vertex_count() <= kMaxTryAll) return best_of_all(vertices_, l);
  int v = start_vertex_[at(cube_map_cell(l, start_cells_))];
  // A step must rise by more than its round-off: it then rises truly, and the climb cannot go round in circles on the
  // plateau of a face.
  const double length = l.lpNorm<1>();
  for (;;) {
    const Link* const end = link_.data() + link_begin_[at(v) + 1];
    int next = -1;
    double best = 0;
    for (const Link* link = link_.data() + link_begin_[at(v)]; link != end; ++link) {
      const double rise = l.x() * link->x + l.y() * link->y + l.z() * link->z - length * link->noise;
      if (rise > best) {
        best = rise;
        next = link->vertex;
      }
    }
    if (next < 0) return v;
    v = next;
  }
}

std::vector<std::array<int, 3>> ConvexHull::triangles() const {
  std::vector<std::array<int, 3>> out;
  out.reserve(corner_vertex_.size() - 2 * faces_.size());
  for (int f = 0; f < face_count(); ++f) {
    const std::span<const int> v = face_vertices(f);
    for (std::size_t k = 1; k + 1 < v.size(); ++k) out.push_back({v[0], v[k], v[k + 1]});
  }
  return out;
}

std::shared_ptr<const ConvexHull> HullFiller::fill(std::vector<Vec3> vertices, const Polygons& faces,
                                                   const Polygons& links, double tolerance) {
  const auto hull = std::make_shared<ConvexHull>();
  hull->vertices_ = std::move(vertices);
  HullFiller filler(*hull);
  filler.number_faces(faces);
  if (!filler.number_edges()) return nullptr;
  if (hull->vertex_count() > ConvexHull::kMaxTryAll) {
    filler.fill_links(links);
    filler.fill_starts();
  }
  filler.fill_vertex_faces();
  if (!filler.place_planes(tolerance)) return nullptr;
  filler.measure();
  filler.choose_contact_corners();
  return hull;
}

// Each face starts at its lowest vertex, and faces are in the order of their vertices: nothing is left of the order in
// which they were found.
void HullFiller::number_faces(const Polygons& faces) {
  std::vector<std::vector<int>> cycles;
  cycles.reserve(at(faces.count()));
  for (int f = 0; f < faces.count(); ++f) {
    const std::span<const int> v = faces.of(f);
    cycles.emplace_back(v.begin(), v.end());
    std::rotate(cycles.back().begin(), std::min_element(cycles.back().begin(), cycles.back().end()),
                cycles.back().end());
  }
  std::sort(cycles.begin(), cycles.end());
  for (const std::vector<int>& cycle : cycles) {
    h_.faces_.push_back({static_cast<int>(h_.corner_vertex_.size()), static_cast<int>(cycle.size()), Vec3::Zero(), 0});
    h_.corner_vertex_.insert(h_.corner_vertex_.end(), cycle.begin(), cycle.end());
  }
}

bool HullFiller::number_edges() {
  std::vector<int> begin;
  for (const ConvexHull::Face& f : h_.faces_) begin.push_back(f.first);
  begin.push_back(static_cast<int>(h_.corner_vertex_.size()));
  const std::vector<EdgeUse> uses = edge_uses(begin, h_.corner_vertex_, h_.vertex_count());
  h_.corner_edge_.resize(uses.size());
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const bool first = k % 2 == 0;
    // Dropping vertices from the merged faces may have joined edges: the pairs have to be checked anew.
    if (!first && (!uses[k].same_edge(uses[k - 1]) || uses[k].forward == uses[k - 1].forward)) return false;
    if (first) h_.edges_.push_back({uses[k].lo, uses[k].hi});
    h_.corner_edge_[at(uses[k].side)] = h_.edge_count() - 1;
  }
  link_rows(uses, h_.vertex_count(), h_.neighbour_begin_, h_.neighbour_);
  return uses.size() % 2 == 0 && h_.vertex_count() - h_.edge_count() + h_.face_count() == 2;
}

void HullFiller::fill_links(const Polygons& links) {
  std::vector<int> to;
  link_rows(edge_uses(links.begin, links.corner, h_.vertex_count()), h_.vertex_count(), h_.link_begin_, to);
  h_.link_.reserve(to.size());
  for (int v = 0; v < h_.vertex_count(); ++v) {
    for (const int w : ConvexHull::row(h_.link_begin_, to, v)) {
      const Vec3 step = h_.vertex(w) - h_.vertex(v);
      h_.link_.push_back({step.x(), step.y(), step.z(), static_cast<float>(kRiseRoundOff * step.norm()), w});
    }
  }
}

// A coarse map by trying every vertex, then a finer one (about six cells per vertex) by climbing from the coarse one.
void HullFiller::fill_starts() {
  h_.start_cells_ = kMinStartCells;
  h_.start_vertex_.resize(at(6 * kMinStartCells * kMinStartCells));
  for (int cell = 0; cell < static_cast<int>(h_.start_vertex_.size()); ++cell) {
    const Vec3 l = cube_map_direction(cell, kMinStartCells);
    int best = 0;
    for (int v = 1; v < h_.vertex_count(); ++v) {
      if (l.dot(h_.vertex(v)) > l.dot(h_.vertex(best))) best = v;
    }
    h_.start_vertex_[at(cell)] = best;
  }
  const int k = std::clamp(static_cast<int>(std::sqrt(h_.vertex_count())), kMinStartCells, kMaxStartCells);
  std::vector<int> fine(at(6 * k * k));
  for (int cell = 0; cell < static_cast<int>(fine.size()); ++cell) {
    fine[at(cell)] = h_.support(cube_map_direction(cell, k));
  }
  h_.start_cells_ = k;
  h_.start_vertex_ = std::move(fine);
}

void HullFiller::fill_vertex_faces() {
  h_.vertex_face_begin_.assign(h_.vertices_.size() + 1, 0);
  for (const int v : h_.corner_vertex_) ++h_.vertex_face_begin_[at(v) + 1];
  std::partial_sum(h_.vertex_face_begin_.begin(), h_.vertex_face_begin_.end(), h_.vertex_face_begin_.begin());
  std::vector<int> next(h_.vertex_face_begin_.begin(), h_.vertex_face_begin_.end() - 1);
  h_.vertex_face_.resize(h_.corner_vertex_.size());
  for (int f = 0; f < h_.face_count(); ++f) {
    for (const int v : h_.face_vertices(f)) h_.vertex_face_[at(next[at(v)]++)] = f;
  }
}

bool HullFiller::place_planes(double tolerance) {
  for (int f = 0; f < h_.face_count(); ++f) {
    ConvexHull::Face& face = h_.faces_[at(f)];
    const Vec3 area = area_vector(h_.vertices_, h_.face_vertices(f));
    if (!(area.squaredNorm() > 0)) return false;
    face.normal = area.normalized();
    // Corners of a merged face deviate a little from its plane, which therefore touches the highest vertex of all.
    const Vec3& top = h_.vertex(h_.support(face.normal));
    for (const int v : h_.face_vertices(f)) {
      if (std::abs(face.normal.dot(top - h_.vertex(v))) > tolerance) return false;
    }
    face.offset = face.normal.dot(top);
  }
  return true;
}

void HullFiller::measure() {
  h_.box_ = Aabb::nothing();
  for (const Vec3& x : h_.vertices_) {
    h_.box_.add(x);
    h_.outer_radius_ = std::max(h_.outer_radius_, x.norm());
  }
  h_.mass_ = surface_mass_properties(h_.vertices_, h_.triangles());
  h_.inner_radius_ = std::numeric_limits<double>::infinity();
  for (int f = 0; f < h_.face_count(); ++f) {
    const ConvexHull::Face& face = h_.faces_[at(f)];
    // From a corner rather than the offset, which far from the origin carries the round-off of that distance.
    const Vec3& corner = h_.vertex(h_.face_vertices(f).front());
    h_.inner_radius_ = std::min(h_.inner_radius_, face.normal.dot(corner - h_.mass_.centre));
  }
}

void HullFiller::choose_contact_corners() {
  h_.contact_begin_.push_back(0);
  for (int f = 0; f < h_.face_count(); ++f) {
    const std::span<const int> corners = h_.face_vertices(f);
    if (static_cast<int>(corners.size()) <= kMaxFaceCorners) {
      for (std::size_t k = 0; k < corners.size(); ++k) h_.contact_corner_.push_back(static_cast<int>(k));
    } else {
      const std::vector<int> chosen = largest_polygon(h_.vertices_, corners, kMaxFaceCorners);
      h_.contact_corner_.insert(h_.contact_corner_.end(), chosen.begin(), chosen.end());
    }
    h_.contact_begin_.push_back(static_cast<int>(h_.contact_corner_.size()));
  }
}

}  // namespace sarrus
