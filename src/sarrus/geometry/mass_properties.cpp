#include "sarrus/geometry/mass_properties.h"

namespace sarrus {
namespace {

// Inertia of a point of mass m at distance d from the pole.
Mat3 steiner(double m, const Vec3& d) { return m * (d.squaredNorm() * Mat3::Identity() - d * d.transpose()); }

Vec3 mean_of(std::span<const Vec3> vertices) {
  Vec3 sum = Vec3::Zero();
  // Offsets from the first vertex: far from the origin a plain sum would lose digits.
  for (const Vec3& x : vertices) sum += x - vertices.front();
  return vertices.front() + sum / static_cast<double>(vertices.size());
}

}  // namespace

MassProperties MassProperties::in_frame(const Pose& X_AS) const {
  const Mat3 R = X_AS.R();
  const Mat3 rotated = R * inertia * R.transpose();
  return {volume, X_AS * centre, 0.5 * (rotated + rotated.transpose())};
}

MassProperties combine_masses(const MassProperties& a, const MassProperties& b) {
  const double volume = a.volume + b.volume;
  if (volume == 0) return {0, 0.5 * (a.centre + b.centre), a.inertia + b.inertia};
  const Vec3 ab = b.centre - a.centre;
  const double share = b.volume / volume;
  return {volume, a.centre + share * ab, a.inertia + b.inertia + steiner(a.volume * share, ab)};
}

MassProperties surface_mass_properties(std::span<const Vec3> vertices, std::span<const std::array<int, 3>> triangles) {
  if (vertices.empty() || triangles.empty()) return {};
  const Vec3 mean = mean_of(vertices);
  double sum_w = 0;
  Vec3 sum_wS = Vec3::Zero();
  Mat3 sum_C = Mat3::Zero();
  for (const std::array<int, 3>& t : triangles) {
    const Vec3 a = vertices[static_cast<std::size_t>(t[0])] - mean;
    const Vec3 b = vertices[static_cast<std::size_t>(t[1])] - mean;
    const Vec3 c = vertices[static_cast<std::size_t>(t[2])] - mean;
    const Vec3 S = a + b + c;
    const double w = a.dot(b.cross(c));
    sum_w += w;
    sum_wS += w * S;
    sum_C += w * (a * a.transpose() + b * b.transpose() + c * c.transpose() + S * S.transpose());
  }
  const double volume = sum_w / 6;
  if (volume == 0) return {0, mean, Mat3::Zero()};
  const Vec3 c = sum_wS / (24 * volume);
  const Mat3 C = sum_C / 120 - volume * c * c.transpose();
  return {volume, mean + c, C.trace() * Mat3::Identity() - C};
}

}  // namespace sarrus
