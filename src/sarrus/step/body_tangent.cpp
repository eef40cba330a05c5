#include "sarrus/step/body_tangent.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sarrus/math/tools.h"

namespace sarrus {

BodyTangent::BodyTangent(const Model& model) : model_(model) {
  inertia_inverse_B_.resize(model.bodies().size());
  read_again();
  constexpr std::size_t kUsual = 96;  // rows
  rows_.reserve(kUsual);
  diagonal_.reserve(kUsual);
  velocity_.reserve(kUsual);
}

void BodyTangent::read_again() {
  for (std::size_t i = 0; i < inertia_inverse_B_.size(); ++i) {
    inertia_inverse_B_[i] = model_.bodies()[i].inertia_B.inverse();
  }
}

void BodyTangent::begin(int body, const Pose& X_WB) {
  const Body& b = model_.bodies()[at(body)];
  const Mat3 R = X_WB.R();
  mass_ = b.mass;
  inertia_ = R * b.inertia_B * R.transpose();
  inertia_inverse_ = R * inertia_inverse_B_[at(body)] * R.transpose();
  p_ = X_WB.p;
  rows_.clear();
  diagonal_.clear();
}

void BodyTangent::add(const Contact& c, bool stuck) {
  arm_ = c.p_W - p_;
  if (stuck) {
    const Mat3 R = contact_frame(c.n_W);
    add_row(R.col(0));
    add_row(R.col(1));
  }
  add_row(c.n_W);
}

void BodyTangent::add_row(const Vec3& n) {
  const Vec3 turn = arm_.cross(n);
  rows_.push_back((Vec6() << n, turn).finished());
  diagonal_.push_back(1 / mass_ + turn.dot(inertia_inverse_ * turn));
}

// The largest |J u|, left in velocity_.
double BodyTangent::violation(const Vec6& u) {
  velocity_.clear();
  double largest = 0;
  for (const Vec6& row : rows_) {
    velocity_.push_back(row.dot(u));
    largest = std::max(largest, std::abs(velocity_.back()));
  }
  return largest;
}

void BodyTangent::finish(double regularisation, double negligible, Eigen::Ref<Vec6> u) {
  if (!(violation(u) > negligible)) return;
  Mat6 H = Mat6::Zero();
  H.topLeftCorner<3, 3>().diagonal().setConstant(mass_);
  H.bottomRightCorner<3, 3>() = inertia_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Vec6 weighted = rows_[i] / (regularisation * diagonal_[i]);
    for (int c = 0; c < 6; ++c) H.col(c) += rows_[i][c] * weighted;
  }
  const Eigen::LLT<Mat6> factor(H);
  if (factor.info() != Eigen::Success) return;
  for (int pass = 0; pass < 2; ++pass) {
    Vec6 impulse = Vec6::Zero();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      impulse -= velocity_[i] / (regularisation * diagonal_[i]) * rows_[i];
    }
    const Vec6 d = factor.solve(impulse);
    if (!d.allFinite()) return;
    u += d;
    if (pass == 0 && !(violation(u) > negligible)) return;
  }
}

}  // namespace sarrus
