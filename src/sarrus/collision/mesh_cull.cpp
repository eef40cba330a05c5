#include "sarrus/collision/mesh_cull.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

// A box in the axes of the surface that has less than this many times the volume of the body's own one is as good.
constexpr double kTiltedVolume = 1.2;
// Parts with normals farther apart than this are not judged by them.
constexpr double kWideSpread = 0.25;
// A contact counts as one along n if its normal is off by kLevelSlope = 1e-3 (mesh_pairs.cpp), or if x is no support
// point but lies up to tol above one. Such an x has a support point of a normal n' near it,
// |x' - x| <= lambda and |n' - n| <= tol/lambda for every lambda > 0 (Brondsted and Rockafellar); here lambda is 500
// tol.
constexpr double kSupportSpread = 1e-3 + 2e-3;
constexpr double kSupportReach = 500;  // tol
// To wider cones, or with more support vertices, a hull shows all of itself.
constexpr double kMaxHullSpread = 0.1;
constexpr int kMaxShownVertices = 32;
// Cones that differ by less than this see the same corners of a hull.
constexpr double kHullSlack = 1e-6;

}  // namespace

MeshCull::MeshCull(const PlacedShape& body, const Vec3& part_origin, double margin, double tol)
    : body_(body),
      R_AB_(body.R_WG.transpose()),
      abs_R_AB_(R_AB_.cwiseAbs()),
      reach_(margin + tol),
      margin_(margin),
      tol_(tol) {
  body_.p_W -= part_origin;
  PlacedShape local = body;
  local.R_WG.setIdentity();
  local.p_W.setZero();
  const Aabb box = body.kind == ShapeKind::hull ? body.hull->box() : shape_aabb(local);
  local_box_ = {box.centre(), 0.5 * (box.hi - box.lo)};
  is_tilted_ =
      body.kind != ShapeKind::sphere && (abs_R_AB_ * local_box_.half).prod() > kTiltedVolume * local_box_.half.prod();
  if (body.kind == ShapeKind::sphere || body.kind == ShapeKind::capsule) margin_ += body.size[0];
}

MeshCull::Region MeshCull::region_of(const Vec3& middle, const Vec3& half) const {
  return {R_AB_ * (middle - body_.p_W), abs_R_AB_ * half};
}

bool MeshCull::is_near_tilted(const Aabb& box) const {
  const Region y = region_of(box.centre(), 0.5 * (box.hi - box.lo));
  const Vec3 apart = (y.centre - local_box_.centre).cwiseAbs() - (y.half + local_box_.half);
  return apart.maxCoeff() <= reach_;
}

bool MeshCull::may_touch(const SurfacePart& part) {
  if (part.spread > kWideSpread) return true;
  Region y = region_of(part.middle_point(), part.half_extents());
  const Cone n{R_AB_ * part.mean_normal(), part.spread};
  if (part.sharp) {
    const Region around{y.centre, y.half + Vec3::Constant(kSupportReach * tol_)};
    if (meets(support_region(widened(n)), around, widened(n))) return true;
  }
  // A corner that has passed a concave edge counts for the face that it is no longer over: it is behind the other one,
  // or between the two.
  y.half += Vec3::Constant(part.rim + 2 * tol_);
  find_corners(n);
  return std::any_of(corners_.begin(), corners_.end(), [&](const Region& x) { return meets(x, y, n); });
}

// Normals at edges and corners are combinations of those in the cone, and of unit length: they may leave it by half
// the square of its width.
MeshCull::Cone MeshCull::widened(const Cone& n) { return {n.axis, n.spread + n.spread * n.spread + kSupportSpread}; }

bool MeshCull::meets(const Region& x, const Region& y, const Cone& n) const {
  const Vec3 d = x.centre - y.centre;
  const Vec3 half = x.half + y.half;
  const Vec3 a = n.axis.cwiseAbs();
  const double least = d.dot(n.axis) - half.dot(a) - (d.norm() + half.norm()) * n.spread;
  if (least > margin_) return false;
  const Vec3 cross = d.cross(n.axis).cwiseAbs();
  const Vec3 far = n.spread * (d.cwiseAbs() + half);
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3;
    const int j = (k + 2) % 3;
    if (cross[k] > half[i] * a[j] + half[j] * a[i] + far[i] + far[j]) return false;
  }
  return true;
}

// Support points along -n, of the core for spheres and capsules.
MeshCull::Region MeshCull::support_region(const Cone& n) const {
  const Vec3& s = body_.size;
  switch (body_.kind) {
    case ShapeKind::capsule:
      return side_region(n, Vec3(0, 0, s[1]));
    case ShapeKind::box:
      return side_region(n, s);
    case ShapeKind::cylinder: {
      const Region ends = side_region(n, Vec3(0, 0, s[1]));
      return rim_region(n, ends.centre.z(), ends.half.z());
    }
    case ShapeKind::ellipsoid:
      return ellipsoid_region(n);
    case ShapeKind::hull:
      return hull_support(n);
    default:
      return {Vec3::Zero(), Vec3::Zero()};
  }
}

// Of the box |x_i| <= h_i.
MeshCull::Region MeshCull::side_region(const Cone& n, const Vec3& h) {
  Region r{Vec3::Zero(), Vec3::Zero()};
  for (int i = 0; i < 3; ++i) {
    if (std::abs(n.axis[i]) > n.spread) {
      r.centre[i] = n.axis[i] > 0 ? -h[i] : h[i];
    } else {
      r.half[i] = h[i];
    }
  }
  return r;
}

// The deepest points of a cylinder's rim, at heights z +- half_z.
MeshCull::Region MeshCull::rim_region(const Cone& n, double z, double half_z) const {
  const double r = body_.size[0];
  const double length = n.axis.head<2>().norm();
  if (!(length > 1.5 * n.spread)) return {{0, 0, z}, {r, r, half_z}};
  const Vec2 p = n.axis.head<2>() * (-r / length);
  const double half = 1.1 * r * n.spread / length;  // the chord of an arc whose sine is spread/length <= 2/3
  return {{p.x(), p.y(), z}, {half, half, half_z}};
}

MeshCull::Region MeshCull::ellipsoid_region(const Cone& n) const {
  const Vec3& e = body_.size;
  const Vec3 en = e.cwiseProduct(n.axis);
  const double steepest = e.maxCoeff() * e.maxCoeff() / e.minCoeff();  // the largest radius of curvature
  return {e.cwiseProduct(en) / -en.norm(), Vec3::Constant(steepest * n.spread / (n.axis.norm() - n.spread))};
}

// Corners of the features along -n (feature.h), and the support points that stand in where no corner is as deep.
void MeshCull::find_corners(const Cone& n) {
  corners_.clear();
  switch (body_.kind) {
    case ShapeKind::capsule:
      add_capsule_ends(n);
      break;
    case ShapeKind::box:
      add_box_corners(n);
      break;
    case ShapeKind::cylinder:
      add_cylinder_corners(n);
      break;
    case ShapeKind::ellipsoid:
      corners_.push(ellipsoid_region(n));
      break;
    case ShapeKind::hull:
      add_hull_corners(n);
      break;
    default:
      corners_.push({Vec3::Zero(), Vec3::Zero()});
  }
}

void MeshCull::add_capsule_ends(const Cone& n) {
  const double r = body_.size[0];
  const double h = body_.size[1];
  const bool both = std::abs(n.axis.z()) - n.spread <= kMaxSegmentSlope;
  // The far end of a capsule that lies across n is on the rim of its cylinder, not where n leads from the core.
  const Vec3 half = both ? Vec3(0.01 * r, 0.01 * r, 1.1 * kMaxSegmentSlope * r) : Vec3(Vec3::Zero());
  if (both || n.axis.z() <= 0) corners_.push({{0, 0, h}, half});
  if (both || n.axis.z() >= 0) corners_.push({{0, 0, -h}, half});
}

void MeshCull::add_box_corners(const Cone& n) {
  const Vec3 a = n.axis.cwiseAbs();
  const double best = a.maxCoeff() - n.spread;
  unsigned shown = 0;  // bits of the vertices
  for (const BoxFace& face : kBoxFaces) {
    const double along = face.positive ? -n.axis[face.axis] : n.axis[face.axis];
    if (along + n.spread < best) continue;
    for (const int v : face.forward.vertex) shown |= 1U << v;
  }
  for (int v = 0; v < 8; ++v) {
    if ((shown >> v & 1U) != 0) corners_.push({box_vertex(body_.size, v), Vec3::Zero()});
  }
}

void MeshCull::add_cylinder_corners(const Cone& n) {
  const double h = body_.size[1];
  const double steepest = std::abs(n.axis.z()) + n.spread;
  const double flattest = std::abs(n.axis.z()) - n.spread;
  const bool tilted = n.axis.head<2>().norm() + n.spread > kMinCapTilt;
  for (const bool top : {true, false}) {
    const double z = top ? h : -h;
    if (flattest > kMaxSegmentSlope && top != (n.axis.z() < 0)) continue;
    if (steepest >= kMinCapCosine) {
      const RimCorners rim = rim_corners(Vec3(0, 0, 1));
      for (int k = 0; k < 8; ++k) corners_.push({rim.point(body_.size[0], h, k, top), Vec3::Zero()});
    }
    if (tilted || flattest < kMinCapCosine) corners_.push(rim_region(n, z, 0));
  }
}

// Vertices of a hull that are lowest along some l in the cone, or higher by no more than `band`; false, with some of
// them, if they are many. With v0 one that is lowest along the axis, they have axis.(v - v0) <= spread |v - v0| + band.
// They are connected by edges, since the lowest vertex moves along edges while l turns.
bool MeshCull::find_lowest(const Cone& n, double band, VertexList& found) const {
  const ConvexHull& hull = *body_.hull;
  const int first = hull.support(-n.axis);
  found.clear();
  found.push(first);
  IdSet seen;
  seen.insert(first);
  for (int k = 0; k < found.size(); ++k) {
    for (const int v : hull.neighbours(found[k])) {
      const Vec3 way = hull.vertex(v) - hull.vertex(first);
      if (n.axis.dot(way) > n.spread * way.norm() + band) continue;
      if (found.size() == kMaxShownVertices) return false;
      if (seen.insert(v)) found.push(v);
    }
  }
  return true;
}

MeshCull::Region MeshCull::hull_support(const Cone& n) const {
  VertexList lowest;
  if (n.spread > kMaxHullSpread || !find_lowest(n, 0, lowest)) return local_box_;
  Aabb box = Aabb::nothing();
  for (const int v : lowest) box.add(body_.hull->vertex(v));
  return {box.centre(), 0.5 * (box.hi - box.lo)};
}

// The flat parts of a floor all see the same: what was found last is kept.
void MeshCull::add_hull_corners(const Cone& n) {
  if ((n.axis - seen_.axis).norm() + n.spread > seen_.spread || n.spread + kHullSlack < 0.5 * seen_.spread) {
    seen_ = {n.axis, n.spread + kHullSlack};
    seen_all_ = n.spread > kMaxHullSpread || !find_hull_corners(seen_);
  }
  if (seen_all_) return corners_.push(local_box_);
  for (const int v : seen_corners_) corners_.push({body_.hull->vertex(v), Vec3::Zero()});
}

// Corners of the faces at the lowest vertices, and these vertices; false if they are many.
bool MeshCull::find_hull_corners(const Cone& n) {
  const ConvexHull& hull = *body_.hull;
  VertexList lowest;
  // The face of a feature is chosen at a vertex up to 0.01 tol above the lowest (feature.cpp).
  if (!find_lowest(n, 0.01 * tol_, lowest)) return false;
  seen_corners_.clear();
  IdSet faces;
  IdSet corners;
  int face_count = 0;
  const auto add = [&](int v) {
    if (seen_corners_.size() == seen_corners_.capacity()) return false;
    if (corners.insert(v)) seen_corners_.push(v);
    return true;
  };
  for (const int v : lowest) {
    if (!add(v)) return false;
    for (const int f : hull.faces_of(v)) {
      if (face_count == VertexList::capacity()) return false;
      if (!faces.insert(f)) continue;
      ++face_count;
      for (const int k : hull.contact_corners(f)) {
        if (!add(hull.face_vertices(f)[at(k)])) return false;
      }
    }
  }
  return true;
}

}  // namespace sarrus
