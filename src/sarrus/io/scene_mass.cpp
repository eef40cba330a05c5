#include "sarrus/io/scene_mass.h"

#include <fmt/format.h>

#include <algorithm>

#include "sarrus/model/builder.h"

namespace sarrus::scene {
namespace {

constexpr double kCentreTolerance = 1e-9;  // relative to the size of the body

double total_volume(std::span<const Geom> shapes) {
  double volume = 0;
  for (const Geom& g : shapes) volume += shape_volume(g.shape);
  return volume;
}

std::string to_text(const Vec3& x) { return fmt::format("[{:.12g}, {:.12g}, {:.12g}]", x[0], x[1], x[2]); }

// Inertia about the body origin of homogeneous shapes that have the body's mass together.
Mat3 combine_shapes(const ObjectReader& r, std::span<const Geom> shapes, const Body& body) {
  const double volume = total_volume(shapes);
  double size = 0;
  Vec3 centre = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
  for (const Geom& g : shapes) {
    const double fraction = shape_volume(g.shape) / volume;
    const double mass = body.mass * fraction;
    const Vec3& p = g.X_BG.p;
    const Mat3 R = g.X_BG.R();
    const Mat3 I = R * solid_inertia(g.shape, mass) * R.transpose();
    size = std::max(size, p.norm() + g.shape.size.sum());
    centre += fraction * p;
    inertia += 0.5 * (I + I.transpose()) + mass * (p.squaredNorm() * Mat3::Identity() - p * p.transpose());
  }
  if (centre.norm() > kCentreTolerance * size) {
    r.fail(
        fmt::format("the centre of mass of its shapes is at {} of the body frame, whose origin must be the centre "
                    "of mass; add {} to the pose.p of every shape and {} to the pose.p of the body",
                    to_text(centre), to_text(Vec3::Zero() - centre), to_text(body.X_WB0.q * centre)));
  }
  return inertia;
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

void read_given_mass(ObjectReader& r, std::span<const Geom> shapes, Body& body) {
  r.reject("density", "is given together with mass; keep one of them");
  body.mass = r.positive("mass");
  if (r.has("inertia")) {
    body.inertia_B = read_inertia(r);
  } else if (!shapes.empty()) {
    body.inertia_B = combine_shapes(r, shapes, body);
  } else {
    r.fail("has a mass, but neither inertia nor shapes; add \"inertia\": [ixx, iyy, izz] or \"shapes\"");
  }
}

}  // namespace

void read_mass(ObjectReader& r, std::optional<double> default_density, std::span<const Geom> shapes, Body& body) {
  if (r.has("mass")) {
    read_given_mass(r, shapes, body);
    return;
  }
  r.reject("inertia", "is given without mass; add mass (density computes both from the shapes)");
  if (!r.has("density") && !default_density) r.fail("has no mass; add mass, or density and shapes");
  const double density = r.has("density") ? r.positive("density") : *default_density;
  if (shapes.empty()) r.fail("has a density, but no shapes to take the volume from; add shapes, or mass and inertia");
  body.mass = density * total_volume(shapes);
  body.inertia_B = combine_shapes(r, shapes, body);
}

}  // namespace sarrus::scene
