// How far a constraint gives way, as a choice of the problem (docs/theory/rows.md §6; docs/compliance.md).
//
// Every model turns into the same two numbers per row, the compliance R and the bias v* of the law
//   sigma = J u+ + v* + R lambda        (rows/compliance.h has the formulas)
// so that no solver knows which one was chosen. With the gap or residual phi and the step dt:
//   rigid          R = 0; ERP, restitution, projection of joints. The default.
//   cfm_erp        R = cfm, v* = erp phi/dt                                                    [T] 87
//   mujoco         R = (1-d)/d D_ii, v* from a reference acceleration, d the impedance          [T] V-D
//   physical       force -k (phi+ + tau_d v+), switched to nearly rigid where dt cannot resolve k   [S] V
//   spring_damper  force -K phi+ - B v+, friction rows with a damper of their own               [D], [M]
//   hertz          force -K_h delta^(3/2) - B v+, K_h = (4/3) E* sqrt(r); contacts only         [D] 6.4
// Numbers are in SI units (m, rad, N, N m). A joint has rows of both kinds: its rotational rows take the stiffness and
// the damping times length^2 (and cfm/length^2).
// Compliant contacts and limits ignore restitution and erp of the rigid model; compliant joints are not projected.
#pragma once

#include <cstdint>
#include <string_view>

#include "sarrus/model/constants.h"

namespace sarrus {

enum class ComplianceModel : std::uint8_t { rigid, cfm_erp, mujoco, physical, spring_damper, hertz };
inline constexpr int kComplianceModelCount = 6;
std::string_view name_of(ComplianceModel model);

// Each model reads the parameters listed under it and ignores the others.
struct Compliance {
  ComplianceModel model = ComplianceModel::rigid;

  // cfm_erp
  double cfm = 1e-5;  // epsilon, 1/kg (rotational rows: 1/(kg m^2)), > 0
  double erp = 0.2;   // nu, share of the residual that one step removes, [0, 1]

  // mujoco: solimp (d0, dw, width, midpoint, power) and solref (time constant, damping ratio)
  double d0 = 0.9;              // impedance at zero violation, [1e-4, 0.9999]
  double dw = 0.95;             // impedance from a violation of `width` on
  double width = 1e-3;          // w, m or rad
  double midpoint = 0.5;        // m, (0, 1)
  double power = 2;             // p >= 1
  double time_constant = 0.02;  // T, s; at least 2 dt is used
  double damping_ratio = 1;     // zeta
  double margin = 0;            // rho_m, m or rad: the row acts from this gap on (limits and contacts)

  // physical and spring_damper
  double stiffness = 0;    // k, N/m (rotational: N m/rad)
  double dissipation = 0;  // physical: tau_d = b/k, s
  double near_rigid = 1;   // physical: beta; periods below beta dt are taken as rigid
  double stiction = 1e-3;  // physical: sigma, R_t = sigma w

  // spring_damper and hertz
  double damping = 0;                     // B, N s/m (rotational: N m s/rad)
  double friction_damping = kUseDefault;  // B_T of the friction rows, N s/m; default 1e6/dt

  // hertz
  double modulus = 0;        // E*, Pa: E/(1 - nu^2) of one material; two combine in series
  double radius = 0;         // r, m, of the surface at the contact; two combine as 1/r = 1/r_a + 1/r_b
  bool unit_factor = false;  // K_h = E* sqrt(r) without the 4/3, as printed in [D]

  double length = 1;  // joints: characteristic length of rotational rows, m

  bool compliant() const { return model != ComplianceModel::rigid; }
  double hertz_stiffness() const;  // K_h, N/m^(3/2)

  // Model with its main parameters; the others can be set afterwards.
  static Compliance soft_cfm_erp(double cfm, double erp);
  static Compliance soft_mujoco(double time_constant = 0.02, double damping_ratio = 1);
  static Compliance soft_physical(double stiffness, double dissipation);
  static Compliance soft_spring_damper(double stiffness, double damping);
  static Compliance soft_hertz(double modulus, double radius, double damping);

  // Regularisation of the MLCP comparison [M] (docs/theory/rows.md §6.6): k = 1e10, b = 1e8 for joints and couplings;
  // k = 1e5, b = 1e4 for contacts and limits, whose friction rows have C = 1/(dt b).
  static Compliance mlcp_bilateral();
  static Compliance mlcp_unilateral();

  bool operator==(const Compliance&) const = default;
};

// Compliance of a contact between two materials (docs/theory/model.md §6, docs/compliance.md). A rigid one leaves the
// other as it is. Two of one model act in series:
//   physical, spring_damper  k = k_a k_b/(k_a + k_b), tau_d = (k_b tau_a + k_a tau_b)/(k_a + k_b), tau = B/K
//   hertz                    1/E* = 1/E*_a + 1/E*_b, 1/r = 1/r_a + 1/r_b, dampers in series
//   cfm_erp                  cfm = cfm_a + cfm_b, the smaller erp
//   mujoco                   the mean of every parameter, the larger margin
// the larger beta and sigma, the smaller B_T. Of two different models the first in the order hertz, physical,
// spring_damper, mujoco, cfm_erp counts alone: laws of force come before laws of the solver.
Compliance combine_compliances(const Compliance& a, const Compliance& b);

}  // namespace sarrus
