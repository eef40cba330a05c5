#include "sarrus/solvers/sap_model.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/block_graph.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

double mu_of(const NcpProblem& p, int contact) { return p.blocks[at(p.scalar_blocks + contact)].mu; }

}  // namespace

Mat3Row sap_contact_hessian(const Vec3& y, double mu, double w_t, double w_n) {
  const double r = length2(y[0], y[1]);
  const double mu_hat = mu * w_t / w_n;
  Mat3Row G = Mat3Row::Zero();
  if (r <= mu * y[2]) {
    G.diagonal() << 1.0 / w_t, 1.0 / w_t, 1.0 / w_n;
    return G;
  }
  const double s = y[2] + mu_hat * r;
  if (s <= 0) return G;
  const double f = 1.0 / (w_n * (1.0 + mu * mu_hat));
  // W^-1 [mu^ t; 1] = [mu t; 1] / w_n.
  const Vec3 e(mu * y[0] / r, mu * y[1] / r, 1.0);
  const Vec3 tau(-y[1] / r, y[0] / r, 0.0);
  return f * (e * e.transpose() + (mu * w_n / w_t) * (s / r) * tau * tau.transpose());
}

void SapModel::load(const NcpProblem& p, double shift) {
  for (GrowingVector* v : {&W_, &Q_, &anchor_, &velocity_, &y_, &gamma_, &dv_}) v->resize(p.rows());
  for (GrowingVector* v : {&inverse_root_, &du_free_, &gradient_, &momentum_, &impulse_}) v->resize(p.padded_size());
  g_.resize(at(p.scalar_rows));
  cones_.resize(at(9 * p.contacts()));
  W_ = p.R.cwiseMax(shift);
  for (int row = p.scalar_rows; row < p.rows(); row += 3) {
    W_.segment<2>(row).setConstant(W_.segment<2>(row).maxCoeff());
  }
  Q_ = W_ - p.R;
  proximal_ = p.rows() > 0 && Q_.maxCoeff() > 0;
  anchor_.setZero();
  inverse_root_.setZero();
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    for (int k = 0; k < n; ++k) {
      inverse_root_[p.node_start[i] + k] = 1.0 / std::sqrt(p.mass[at(p.mass_offset[i] + k * (BlockGraph::pad(n) + 1))]);
    }
  }
}

void SapModel::evaluate(const NcpProblem& p, const GrowingVector& u) {
  p.multiply_J(u.data(), velocity_.data());
  velocity_ += p.bias;
  update(p, u);
}

void SapModel::advance(const NcpProblem& p, const GrowingVector& u, double a) {
  velocity_ += a * dv_;
  update(p, u);
}

void SapModel::update(const NcpProblem& p, const GrowingVector& u) {
  y_ = (anchor_ - velocity_).cwiseQuotient(W_);
  for (int i = 0; i < p.scalar_rows; ++i) gamma_[i] = std::clamp(y_[i], p.lower[i], p.upper[i]);
  for (int k = 0; k < p.contacts(); ++k) {
    const int row = p.scalar_rows + 3 * k;
    gamma_.segment<3>(row) = project_cone_metric(y_.segment<3>(row), mu_of(p, k), W_[row], W_[row + 2]);
  }
  p.multiply_A(u, momentum_);
  momentum_size_ = momentum_.cwiseProduct(inverse_root_).norm();
  du_free_ = u - p.u_free;
  p.multiply_A(du_free_, momentum_);
  kinetic_ = 0.5 * du_free_.dot(momentum_);
  p.multiply_Jt(gamma_.data(), impulse_.data());
  gradient_ = momentum_ - impulse_;
  momentum_size_ = std::max(momentum_size_, impulse_.cwiseProduct(inverse_root_).norm());
  momentum_error_ = gradient_.cwiseProduct(inverse_root_).norm();
}

double SapModel::newton_error(const NcpProblem& p) {
  p.multiply_A_inverse(gradient_.data(), impulse_.data());
  p.multiply_J(impulse_.data(), dv_.data());
  return dv_.cwiseAbs().maxCoeff();
}

double SapModel::anchor_error() const { return (Q_.cwiseProduct(gamma_) - anchor_).cwiseAbs().maxCoeff(); }

double SapModel::cost() const { return kinetic_ + W_.cwiseProduct(gamma_).dot(y_ - 0.5 * gamma_); }

void SapModel::linearise(const NcpProblem& p) {
  for (int i = 0; i < p.scalar_rows; ++i) g_[at(i)] = y_[i] >= p.lower[i] && y_[i] <= p.upper[i] ? 1.0 / W_[i] : 0.0;
  for (int k = 0; k < p.contacts(); ++k) {
    const int row = p.scalar_rows + 3 * k;
    Eigen::Map<Mat3Row>(cones_.data() + 9 * k) =
        sap_contact_hessian(y_.segment<3>(row), mu_of(p, k), W_[row], W_[row + 2]);
  }
}

void SapModel::set_line(const NcpProblem& p, const GrowingVector& du) {
  p.multiply_J(du.data(), dv_.data());
  p.multiply_A(du, momentum_);
  line_curvature_ = du.dot(momentum_);
  line_kinetic_ = momentum_.dot(du_free_);
}

SapModel::Line SapModel::line(const NcpProblem& p, double a) const {
  Line out{line_kinetic_ + a * line_curvature_, line_curvature_};
  for (int i = 0; i < p.scalar_rows; ++i) {
    const double y = y_[i] - a * dv_[i] / W_[i];
    out.slope -= dv_[i] * std::clamp(y, p.lower[i], p.upper[i]);
    if (y >= p.lower[i] && y <= p.upper[i]) out.curvature += dv_[i] * dv_[i] / W_[i];
  }
  for (int k = 0; k < p.contacts(); ++k) {
    const int row = p.scalar_rows + 3 * k;
    const Vec3 d = dv_.segment<3>(row);
    const Vec3 y = y_.segment<3>(row) - a * d.cwiseQuotient(W_.segment<3>(row));
    const double mu = mu_of(p, k);
    out.slope -= d.dot(project_cone_metric(y, mu, W_[row], W_[row + 2]));
    out.curvature += d.dot(sap_contact_hessian(y, mu, W_[row], W_[row + 2]) * d);
  }
  return out;
}

double SapModel::line_cost(const NcpProblem& p, double a) const {
  double cost = kinetic_ + a * line_kinetic_ + 0.5 * a * a * line_curvature_;
  for (int i = 0; i < p.scalar_rows; ++i) {
    const double y = y_[i] - a * dv_[i] / W_[i];
    const double gamma = std::clamp(y, p.lower[i], p.upper[i]);
    cost += W_[i] * gamma * (y - 0.5 * gamma);
  }
  for (int k = 0; k < p.contacts(); ++k) {
    const int row = p.scalar_rows + 3 * k;
    const Vec3 W = W_.segment<3>(row);
    const Vec3 y = y_.segment<3>(row) - a * dv_.segment<3>(row).cwiseQuotient(W);
    const Vec3 gamma = project_cone_metric(y, mu_of(p, k), W[0], W[2]);
    cost += W.cwiseProduct(gamma).dot(y - 0.5 * gamma);
  }
  return cost;
}

}  // namespace sarrus
