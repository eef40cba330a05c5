// The unconstrained convex problem in velocities that SAP minimises, for one island (docs/theory/problem.md §4,
// docs/theory/solvers.md §8; Castro, Permenter, Han, "An unconstrained convex formulation of compliant contact", 2022).
//
//   l(u)   = 1/2 |u - u_f|_A^2 + sum_i W_i (gamma_i . y_i - 1/2 gamma_i . gamma_i)
//   y      = W^-1 (Q lambda_k - (J u + v*)),    W = R + Q,    gamma_i = P^W_K(y_i), projection in the metric W
//   grad l = A (u - u_f) - J' gamma,            H = A + J' G J,   G_i = -d gamma_i / d v_i, symmetric
// R > 0 is the compliance of the rows and Q = 0: the plain method, whose minimiser has the impulses gamma of the CCP
// with D + R. Rows with R < shift are too rigid for it; they get W = shift, i.e. a proximal term Q = shift - R around
// the impulses lambda_k of the last round (method of multipliers). Its fixed point gamma = lambda_k solves the CCP of
// the unchanged problem, R = 0 included.
// For cones gamma.(y - gamma) = 0 and the second term is 1/2 |gamma|_W^2; the form above is right for boxes, too.
//
// Blocks (t = y_T / |y_T|, mu^ = mu w_t / w_n, mu~^2 = mu mu^, s = y_N + mu^ |y_T|):
//   stick  |y_T| <= mu y_N    gamma = y,  G = W^-1
//   slide  y_N > -mu^ |y_T|   gamma_N = s / (1 + mu~^2),  gamma_T = mu gamma_N t,
//                             G = W^-1 w_n / (1 + mu~^2) [mu^ (mu^ t t' + s / |y_T| (1 - t t')), mu^ t; mu^ t', 1] W^-1
//   open   gamma = 0, G = 0
//   scalar gamma = clamp(y, lower, upper),  G = 1 / W between the bounds, else 0
// Both tangents of a contact need one w_t: the larger of both R counts, the rest is proximal.
// Units: those of the equilibrated island (ncp_problem.h), where D_ii + R_ii = 1, so `shift` is relative to that.
#pragma once

#include <vector>

#include "sarrus/solvers/ncp_problem.h"

namespace sarrus {

// G of one contact, row-major like the blocks of NormalMatrix.
using Mat3Row = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
Mat3Row sap_contact_hessian(const Vec3& y, double mu, double w_t, double w_n);

class SapModel {
 public:
  // W and Q; lambda_k = 0.
  void load(const NcpProblem& problem, double shift);
  // Some row has Q > 0, so that more than one round is needed.
  bool proximal() const { return proximal_; }
  void set_anchor(const GrowingVector& lambda) { anchor_ = Q_.cwiseProduct(lambda); }

  // y, gamma and the gradient at u.
  void evaluate(const NcpProblem& problem, const GrowingVector& u);
  // The same at u + a du, which u must be already, after set_line(du). J u + v* is carried along instead of computed:
  // where it vanishes, its round-off 1e-16 |J| |u| divided by a small W would be an impulse; carried along, the
  // round-off stays what it was at first, a change of v* by 1e-16 that nobody sees.
  void advance(const NcpProblem& problem, const GrowingVector& u, double a);
  // The same at the same u, after load() or set_anchor().
  void update(const NcpProblem& problem, const GrowingVector& u);
  const GrowingVector& W() const { return W_; }
  const GrowingVector& y() const { return y_; }
  const GrowingVector& gamma() const { return gamma_; }
  const GrowingVector& gradient() const { return gradient_; }
  // Scaled momentum residual |S grad l| and what it is compared with, max(|S A u|, |S J' gamma|), S = diag(A)^-1/2.
  double momentum_error() const { return momentum_error_; }
  double momentum_size() const { return momentum_size_; }
  // |J A^-1 grad l| and |Q (gamma - lambda_k)|, largest elements: what Newton and the rounds leave in the velocities.
  double newton_error(const NcpProblem& problem);
  double anchor_error() const;
  double cost() const;

  // G at the last evaluated u: by scalar row, and 3x3 by contact.
  void linearise(const NcpProblem& problem);
  const std::vector<double>& scalar_G() const { return g_; }
  const std::vector<double>& cone_G() const { return cones_; }

  // Along u + a du from the last evaluated u.
  void set_line(const NcpProblem& problem, const GrowingVector& du);
  struct Line {
    double slope = 0;      // l'(a)
    double curvature = 0;  // l''(a)
  };
  Line line(const NcpProblem& problem, double a) const;
  double line_cost(const NcpProblem& problem, double a) const;

 private:
  bool proximal_ = false;
  GrowingVector W_, Q_, anchor_, velocity_, y_, gamma_, dv_;  // velocity = J u + v*
  GrowingVector inverse_root_;                                // S, padded; zero on padding
  GrowingVector du_free_, gradient_, momentum_, impulse_;
  std::vector<double> g_, cones_;
  double kinetic_ = 0;         // 1/2 |u - u_f|_A^2
  double line_kinetic_ = 0;    // du' A (u - u_f)
  double line_curvature_ = 0;  // du' A du
  double momentum_error_ = 0, momentum_size_ = 0;
};

}  // namespace sarrus
