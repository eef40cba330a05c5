#include "sarrus/robot_files/inertia_repair.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus::robot {

Mat3 repaired_inertia(const Mat3& I, double mass, const Link& link, Findings& findings) {
  constexpr double kFloor = 1e-3;  // m, radius of gyration
  const std::string element = fmt::format("link {}", in_quotes(link.name));
  const std::string place = link.place.text();
  const auto fail = [&](const std::string& message) {
    throw InputError(place.empty() ? element : place + ": " + element, message);
  };
  if (!I.allFinite()) fail("its inertia is not finite; correct it");
  const Eigen::SelfAdjointEigenSolver<Mat3> principal(I);
  const Vec3 p = principal.eigenvalues();
  const double largest = p.cwiseAbs().maxCoeff();
  if (p[0] < -1e-12 * largest) {
    fail(fmt::format("its inertia has the principal moment {:.6g} kg m^2; correct it", p[0]));
  }
  const bool broken = p[0] + p[1] < p[2] * (1 - 1e-9);
  const bool flat = !(p[0] > 1e-12 * largest) || !(largest > 0);
  if (!broken && !flat) return I;
  if (!findings.options().repair_inertia) {
    fail(fmt::format("no mass has the principal moments {:.6g}, {:.6g}, {:.6g}; correct them, or let them be repaired",
                     p[0], p[1], p[2]));
  }
  Vec3 moments = p.cwiseMax(0);
  if (flat) moments = moments.cwiseMax(mass * kFloor * kFloor);
  const Vec3 second = (Vec3::Constant(moments.sum() / 2) - moments).cwiseMax(0);
  const Vec3 repaired = Vec3::Constant(second.sum()) - second;
  const Mat3 R = principal.eigenvectors();
  if (flat && !broken) {
    findings.add(ImportSeverity::warning, "inertia-floor", place, element,
                 fmt::format("has an inertia of 0; it gets that of its mass at 1 mm, {:.3g} kg m^2", repaired[0]),
                 "give it an inertia");
  } else {
    findings.add(ImportSeverity::warning, "inertia-repaired", place, element,
                 fmt::format("no mass has the principal moments {:.6g}, {:.6g}, {:.6g}; the nearest ones differ by "
                             "{:.2g} %",
                             p[0], p[1], p[2], 100 * (repaired - p).norm() / p.norm()),
                 "correct its inertia");
  }
  const Mat3 out = R * repaired.asDiagonal() * R.transpose();
  return 0.5 * (out + out.transpose());
}

}  // namespace sarrus::robot
