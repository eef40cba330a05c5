#include "sarrus/inverse/contact_inverse.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"

namespace sarrus {
namespace {

// Beyond any impulse of a machine: the iteration diverges.
constexpr double kDiverged = 1e12;

}  // namespace

bool contact_inverse_feasible(const Vec3& c, const Vec3& R, double mu, const ContactInverseOptions& o) {
  if (R.minCoeff() > 0) return true;
  const double needed = o.law == Law::ncp ? 0.0 : mu * length2(c[0], c[1]);
  return c[2] >= needed - o.tolerance;
}

ContactInverse contact_inverse_proximal(const Vec3& c, const Vec3& R, double mu, const Vec3& start,
                                        const ContactInverseOptions& o) {
  ContactInverse out;
  out.lambda = project_cone(start, mu);
  const Vec3 W = R + Vec3::Constant(o.rho);
  while (out.iterations < o.max_iterations) {
    ++out.iterations;
    const Vec3 sigma = R.cwiseProduct(out.lambda) + c;
    Vec3 drive = c - o.rho * out.lambda;
    if (o.law == Law::ncp) drive[2] += de_saxce(sigma, mu);
    const Vec3 next = project_cone_metric(-drive.cwiseQuotient(W), mu, W[0], W[2]);
    const double change = (next - out.lambda).cwiseAbs().maxCoeff();
    if (!(next.cwiseAbs().maxCoeff() < kDiverged)) {
      out.status = SolveStatus::infeasible;
      out.natural_map = natural_map(out.lambda, R.cwiseProduct(out.lambda) + c, mu, o.law);
      return out;
    }
    out.lambda = next;
    out.natural_map = natural_map(out.lambda, R.cwiseProduct(out.lambda) + c, mu, o.law);
    if (change < o.tolerance && out.natural_map < o.tolerance) {
      out.status = SolveStatus::converged;
      return out;
    }
  }
  if (!contact_inverse_feasible(c, R, mu, o)) out.status = SolveStatus::infeasible;
  return out;
}

Vec3 contact_inverse_closed_form(const Vec3& c, const Vec3& R, double mu, Law law) {
  const Vec3 y = -c.cwiseQuotient(R);
  if (law != Law::ncp) return project_cone_metric(y, mu, R[0], R[2]);
  const double n = std::max(0.0, y[2]);
  const double t = length2(y[0], y[1]);
  const double f = t > mu * n ? mu * n / t : 1.0;
  return {f * y[0], f * y[1], n};
}

}  // namespace sarrus
