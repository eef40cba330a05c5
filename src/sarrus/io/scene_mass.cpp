#include "sarrus/io/scene_mass.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sarrus/geometry/aabb.h"
#include "sarrus/geometry/mass_properties.h"

namespace sarrus::scene {
namespace {

constexpr double kCentreTolerance = 1e-9;  // relative to the size of the body

// Where a part is and how much of the whole it is.
struct Solid {
  MassProperties own;  // density one, shape frame
  Vec3 centre_B;
};

std::vector<Solid> solids_of(std::span<const SolidPart> parts) {
  std::vector<Solid> solids;
  solids.reserve(parts.size());
  for (const SolidPart& part : parts) {
    const MassProperties own = mass_properties(part.shape, part.label);
    solids.push_back({own, part.X_BS * own.centre});
  }
  return solids;
}

double total_volume(const std::vector<Solid>& solids) {
  double volume = 0;
  for (const Solid& s : solids) volume += s.own.volume;
  return volume;
}

std::string point_text(const Vec3& x) { return fmt::format("[{:.12g}, {:.12g}, {:.12g}]", x[0], x[1], x[2]); }

// Centre of mass, zero if it is the body origin but for rounding.
Vec3 common_centre(std::span<const SolidPart> parts, const std::vector<Solid>& solids) {
  const double volume = total_volume(solids);
  double size = 0;
  Vec3 centre = Vec3::Zero();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    centre += solids[i].own.volume / volume * solids[i].centre_B;
    size = std::max(size, solids[i].centre_B.norm() + shape_box(parts[i].shape).diagonal());
  }
  return centre.norm() > kCentreTolerance * size ? centre : Vec3::Zero();
}

// Sets the inertia about the common centre of mass, which it returns, for the mass that the body has.
Vec3 take_inertia(const ObjectReader& r, std::span<const SolidPart> parts, const std::vector<Solid>& solids,
                  bool recenter, Body& body) {
  Vec3 centre = common_centre(parts, solids);
  if (!recenter && !centre.isZero(0)) {
    r.fail(
        fmt::format("the centre of mass of its shapes is at {} of the body frame, whose origin must be the centre "
                    "of mass; set \"recenter\": true, or add {} to the pose.p of every shape and {} to the pose.p of "
                    "the body",
                    point_text(centre), point_text(Vec3::Zero() - centre), point_text(body.X_WB0.q * centre)));
  }
  const double volume = total_volume(solids);
  body.inertia_B.setZero();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Shape& shape = parts[i].shape;
    const MassProperties& own = solids[i].own;
    const double mass = body.mass * (own.volume / volume);
    const Vec3 p = solids[i].centre_B - centre;
    const Mat3 R = parts[i].X_BS.R();
    // Closed forms take the mass itself, so that a box of 1 kg has the inertia of the formula to the last bit.
    const Mat3 I_S =
        shape.kind < ShapeKind::hull ? solid_inertia(shape, mass) : Mat3((mass / own.volume) * own.inertia);
    const Mat3 I = R * I_S * R.transpose();
    body.inertia_B += 0.5 * (I + I.transpose()) + mass * (p.squaredNorm() * Mat3::Identity() - p * p.transpose());
  }
  return centre;
}

Mat3 read_inertia(ObjectReader& r) {
  const std::vector<double> x = r.numbers("inertia", {3, 6, 9});
  Mat3 I = Mat3::Zero();
  if (x.size() == 9) {
    I << x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8];
    return I;
  }
  I.diagonal() << x[0], x[1], x[2];
  if (x.size() == 6) {
    I(0, 1) = I(1, 0) = x[3];
    I(0, 2) = I(2, 0) = x[4];
    I(1, 2) = I(2, 1) = x[5];
  }
  return I;
}

Vec3 read_given_mass(ObjectReader& r, std::span<const SolidPart> parts, bool recenter, Body& body) {
  r.reject("density", "is given together with mass; keep one of them");
  body.mass = r.positive("mass");
  if (r.has("inertia")) {
    if (recenter) {
      r.fail("recenter takes the centre of mass from the shapes, but the inertia is given; remove one of them");
    }
    body.inertia_B = read_inertia(r);
    return Vec3::Zero();
  }
  if (parts.empty()) {
    r.fail("has a mass, but neither inertia nor shapes; add \"inertia\": [ixx, iyy, izz] or \"shapes\"");
  }
  return take_inertia(r, parts, solids_of(parts), recenter, body);
}

}  // namespace

Vec3 read_mass(ObjectReader& r, std::optional<double> default_density, std::span<const SolidPart> parts, Body& body) {
  const bool recenter = r.flag("recenter", false);
  if (r.has("mass")) return read_given_mass(r, parts, recenter, body);
  r.reject("inertia", "is given without mass; add mass (density computes both from the shapes)");
  if (!r.has("density") && !default_density) r.fail("has no mass; add mass, or density and shapes");
  const double density = r.has("density") ? r.positive("density") : *default_density;
  if (parts.empty()) r.fail("has a density, but no shapes to take the volume from; add shapes, or mass and inertia");
  const std::vector<Solid> solids = solids_of(parts);
  body.mass = density * total_volume(solids);
  return take_inertia(r, parts, solids, recenter, body);
}

}  // namespace sarrus::scene
