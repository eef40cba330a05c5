// Maximal coordinates: node = body, M_i = blkdiag(m 1, R I R').
#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "sarrus/dynamics/coordinates.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"

namespace sarrus {
namespace {

// q v q^-1 for a q of length 1 + eps: without the division its error eps is always of one sign, and angular velocities
// that are carried from pose to pose would grow by it in every step.
Vec3 rotated(const Quat& q, const Vec3& v) {
  const Vec3 t = q.vec().cross(v);
  return v + (2 / q.squaredNorm()) * (q.w() * t + q.vec().cross(t));
}

// The matrix of the same rotation.
Mat3 rotation_of(const Quat& q) {
  const double s = 2 / q.squaredNorm();
  const Vec3 v = s * q.vec();
  const double xx = v.x() * q.x(), yy = v.y() * q.y(), zz = v.z() * q.z();
  const double xy = v.x() * q.y(), xz = v.x() * q.z(), yz = v.y() * q.z();
  const double wx = v.x() * q.w(), wy = v.y() * q.w(), wz = v.z() * q.w();
  Mat3 R;
  R << 1 - (yy + zz), xy - wz, xz + wy,  //
      xy + wz, 1 - (xx + zz), yz - wx,   //
      xz - wy, yz + wx, 1 - (xx + yy);
  return R;
}

// Angular velocity after dt of torque-free motion, body axes:
//   I (w+ - w) + dt wm x I wm = 0,   wm = (w + w+)/2
// to round-off: by fixed-point steps while these contract fast (most bodies of mechanisms turn about an axis of
// inertia, and are done with the first), by Newton's method otherwise. Not a number if that does not converge, which
// takes more than 2 rad per step.
Vec3 rotate_torque_free(const Mat3& I, const Mat3& I_inverse, const Vec3& w, double dt) {
  constexpr int kIterations = 30;
  if (w.isZero(0)) return w;
  const double nil = 1e-36 * w.squaredNorm();  // round-off, with a margin for the errors of all steps to come
  Vec3 x = w - dt * (I_inverse * w.cross(I * w));
  double change = (x - w).squaredNorm();
  if (change <= nil) return x;
  for (int i = 0; i < 3 && dt * dt * w.squaredNorm() < 1e-2; ++i) {
    const Vec3 m = 0.5 * (w + x);
    const Vec3 next = w - dt * (I_inverse * m.cross(I * m));
    const double last = change;
    change = (next - x).squaredNorm();
    x = next;
    if (change * change <= nil * last) return x;  // so would be the next step's, at the same rate
  }
  for (int i = 0; i < kIterations; ++i) {
    const Vec3 m = 0.5 * (w + x);
    const Vec3 Im = I * m;
    const Vec3 residual = I * (x - w) + dt * m.cross(Im);
    const Mat3 A = I + 0.5 * dt * (skew(m) * I - skew(Im));
    const Vec3 dx = A.inverse() * residual;
    x -= dx;
    // Newton's method squares relative errors: the next one is round-off.
    if (dx.squaredNorm() <= 1e-16 * x.squaredNorm()) return x;
  }
  return Vec3::Constant(std::numeric_limits<double>::quiet_NaN());
}

// cay(phi), and about the angular momentum L after it what that lacks of the angle of exp(phi). The first keeps L where
// it is in space, to which the second adds nothing; a body that turns about its own L turns by exactly phi.
Quat turn(const Vec3& phi, const Vec3& L) {
  const double a2 = phi.squaredNorm();
  const double L2 = L.squaredNorm();
  if (!(a2 > 0 && L2 > 0)) return so3_cayley(phi);
  // Of the angle; by its series where the next term is below rounding, and the difference would lose digits.
  const double lacking =
      a2 < 1e-3 ? a2 * (1.0 / 12 - a2 * (1.0 / 80 - a2 / 448)) : 1 - 2 * std::atan(0.5 * std::sqrt(a2)) / std::sqrt(a2);
  return so3_cayley(phi) * so3_exp((lacking * phi.dot(L) / L2) * L);
}

// Rotation of the theta-scheme: w+ with
//   I(q_theta)(w+ - w) + dt w_theta x I(q_theta) w_theta = dt torque,    q_theta = exp(dt theta w_pos) q
// by Newton's method to round-off; `q_theta` returns the orientation where the inertia was taken.
Vec3 rotate_stage(const Mat3& inertia_B, const Quat& q_WB, const Vec3& w_W, const Vec3& torque_W, double dt,
                  const Scheme& scheme, Quat& q_theta) {
  Vec3 x = w_W;
  for (int i = 0; i < 20; ++i) {
    const Vec3 w_pos = scheme.position * x + (1 - scheme.position) * w_W;
    const Vec3 w_theta = scheme.force * x + (1 - scheme.force) * w_W;
    q_theta = (so3_exp(dt * scheme.force * w_pos) * q_WB).normalized();
    const Mat3 R = q_theta.toRotationMatrix();
    const Mat3 I = R * inertia_B * R.transpose();
    const Vec3 Iw = I * w_theta;
    const Vec3 residual = I * (x - w_W) + dt * (w_theta.cross(Iw) - torque_W);
    // The turning of I with x is left out: it is of second order in dt and costs an iteration at most.
    const Mat3 A = I + dt * scheme.force * (skew(w_theta) * I - skew(Iw));
    const Vec3 dx = A.partialPivLu().solve(residual);
    x -= dx;
    if (dx.norm() <= 1e-15 * (1 + x.norm())) break;
  }
  return x;
}

class MaximalCoordinates final : public Coordinates {
 public:
  explicit MaximalCoordinates(const Model& model) : model_(model) {
    node_sizes_.assign(model.bodies().size(), 6);
    velocity_size_ = 6 * model.body_count();
    holds_.assign(model.joints().size(), false);
    for (int i = 0; i < model.body_count(); ++i) maps_.push_back({i, 6 * i, 6, nullptr});
    inertia_inverse_B_.resize(model.bodies().size());
    isotropic_.resize(model.bodies().size());
    diagonal_.resize(model.bodies().size());
    MaximalCoordinates::read_again();
    w_free_B_.assign(model.bodies().size(), Vec3::Zero());
    w_B_ = w_free_B_;
    R_WB_.assign(model.bodies().size(), Mat3::Identity());
    jointed_.assign(model.bodies().size(), false);
    for (const Joint& j : model.joints()) {
      if (joint_rows(j) == 0) continue;
      for (const int body : {j.base, j.follower}) {
        if (body != kWorld) jointed_[static_cast<std::size_t>(body)] = true;
      }
    }
  }

  void read_again() override {
    for (std::size_t i = 0; i < model_.bodies().size(); ++i) {
      const Mat3& I = model_.bodies()[i].inertia_B;
      inertia_inverse_B_[i] = I.inverse();
      isotropic_[i] = (I - I(0, 0) * Mat3::Identity()).norm() <= 1e-14 * I.norm();
      diagonal_[i] = I.isDiagonal(0);
    }
  }

  void gather(std::span<const Pose>, std::span<const Vec6> twist, VecX& u) const override {
    for_bodies([&](std::size_t i) { u.segment<6>(offset(i)) = twist[i]; });
  }
  void scatter(std::span<const Pose>, const VecX& u, std::span<Vec6> twist) const override {
    for_bodies([&](std::size_t i) { twist[i] = u.segment<6>(offset(i)); });
  }

  void mass_blocks(std::span<const Pose> X_WB, std::span<double> mass, std::span<double> mass_inverse) override {
    for_bodies([&](std::size_t i) { mass_block(i, X_WB[i].q.toRotationMatrix(), mass, mass_inverse); });
  }

  void free_velocity(const FreeMotion& m, std::span<double> mass, std::span<double> mass_inverse,
                     VecX& u_free) override {
    for_bodies([&](std::size_t i) {
      const Body& b = model_.bodies()[i];
      const Quat& q = m.X_WB[i].q;
      const Vec3 w = m.twist[i].tail<3>();
      const Vec3 torque = m.wrench_W[i].tail<3>();
      const Mat3 R = rotation_of(q);
      R_WB_[i] = R;
      w_B_[i] = R.transpose() * w;
      auto u = u_free.segment<6>(offset(i));
      u.head<3>() =
          m.twist[i].head<3>() + m.dt * (model_.gravity_on(static_cast<int>(i)) + m.wrench_W[i].head<3>() / b.mass);
      if (m.scheme[i]->rotation == Rotation::stage) {
        Quat q_theta = q;
        u.tail<3>() = rotate_stage(b.inertia_B, q, w, torque, m.dt, *m.scheme[i], q_theta);
        mass_block(i, q_theta.toRotationMatrix(), mass, mass_inverse);
      } else {
        mass_block(i, R, mass, mass_inverse);
        const Eigen::Map<const Mat6> W(mass_inverse.data() + 36 * i);
        w_free_B_[i] = isotropic_[i] ? w_B_[i] : rotate_torque_free(b.inertia_B, inertia_inverse_B_[i], w_B_[i], m.dt);
        u.tail<3>() = isotropic_[i] ? w : Vec3(R * w_free_B_[i]);
        if (!torque.isZero(0)) u.tail<3>() += m.dt * (W.bottomRightCorner<3, 3>() * torque);
      }
    });
  }

  void rotate_freely(const FreeMotion& m, Rotation kind, VecX& u_minus) const override {
    for_bodies([&](std::size_t i) {
      if (isotropic_[i] || m.scheme[i]->rotation != kind) return;
      u_minus.segment<3>(offset(i) + 3) = R_WB_[i] * w_free_B_[i];
    });
  }

  void damp(std::span<const double> mass, double dt, VecX& u_free) const override {
    for (std::size_t i = 0; i < model_.bodies().size(); ++i) {
      const Body& b = model_.bodies()[i];
      auto u = u_free.segment<6>(offset(i));
      if (b.linear_damping > 0) u.head<3>() *= b.mass / (b.mass + dt * b.linear_damping);
      if (b.angular_damping > 0) {
        const Mat3 I = Eigen::Map<const Mat6>(mass.data() + 36 * i).bottomRightCorner<3, 3>();
        const Mat3 damped = I + dt * b.angular_damping * Mat3::Identity();
        u.tail<3>() = damped.partialPivLu().solve(Vec3(I * u.tail<3>()));
      }
    }
  }

  void correct_rotation(const FreeMotion& m, VecX& u_plus) const override {
    for_bodies([&](std::size_t i) {
      if (isotropic_[i] || m.scheme[i]->rotation != Rotation::middle) return;
      const Mat3& I = model_.bodies()[i].inertia_B;
      const Mat3& R = R_WB_[i];
      auto w_plus_W = u_plus.segment<3>(offset(i) + 3);
      const Vec3& w = w_B_[i];
      const Vec3 w_plus = R.transpose() * w_plus_W;
      const Vec3 assumed = 0.5 * (w + w_free_B_[i]);
      const Vec3 actual = 0.5 * (w + w_plus);
      const Vec3 torque = assumed.cross(I * assumed) - actual.cross(I * actual);
      Vec3 change = m.dt * (inertia_inverse_B_[i] * torque);
      // A scheme without a finish has nothing that makes the result tangent again: where the step does not resolve the
      // spin the correction would create energy, and may only turn the velocity or take from it.
      constexpr double kResolved = 0.25;  // rad per step
      if (!m.scheme[i]->finish && m.dt * w_plus.norm() > kResolved) {
        const Vec3 corrected = w_plus + change;
        const double most = w_plus.dot(I * w_plus);
        const double reached = corrected.dot(I * corrected);
        if (reached > most) change = std::sqrt(most / reached) * corrected - w_plus;
      }
      w_plus_W += R * change;
    });
  }

  void move(const FreeMotion& m, std::span<const Pose> from, const VecX& u_plus, std::span<Pose> to) override {
    for_bodies([&](std::size_t i) {
      const double a = m.scheme[i]->position;
      const auto u = u_plus.segment<6>(offset(i));
      const Vec6 mean = a * u + (1 - a) * m.twist[i];
      if (m.scheme[i]->rotation == Rotation::stage) {
        to[i] =
            integrate_pose(from[i], mean, m.dt, m.scheme[i]->attitude == AttitudeMap::cayley ? so3_cayley : so3_exp);
        return;
      }
      const Vec3& w_B = w_B_[i];
      const Vec3 w_plus_B = R_WB_[i].transpose() * u.tail<3>();
      const Vec3 turn_B = jointed_[i] ? Vec3(a * w_plus_B + (1 - a) * w_B)
                                      : Vec3(0.5 * (w_B + w_free_B_[i]) + a * (w_plus_B - w_free_B_[i]));
      to[i].p = from[i].p + m.dt * mean.head<3>();
      to[i].q = (from[i].q * turn(m.dt * turn_B, model_.bodies()[i].inertia_B * w_plus_B)).normalized();
    });
  }

  void carry(std::span<const Pose> from, std::span<const Pose> to, VecX& u) const override {
    for_bodies([&](std::size_t i) {
      if (isotropic_[i]) return;
      auto w = u.segment<3>(offset(i) + 3);
      w = rotated(to[i].q, rotated(from[i].q.conjugate(), w));
    });
  }

  void integrate(std::span<const Pose> from, const VecX& u, double dt, AttitudeMap map,
                 std::span<Pose> to) const override {
    for_bodies([&](std::size_t i) {
      to[i] = integrate_pose(from[i], u.segment<6>(offset(i)), dt, map == AttitudeMap::cayley ? so3_cayley : so3_exp);
    });
  }

 private:
  // Bodies know nothing of each other: any thread may have any of them.
  template <class F>
  void for_bodies(const F& f) const {
    constexpr int kLeast = 64;
    Workers::here().ranges(model_.body_count(), kLeast, [&f](int begin, int end) {
      for (int i = begin; i < end; ++i) f(static_cast<std::size_t>(i));
    });
  }
  static Eigen::Index offset(std::size_t body) { return static_cast<Eigen::Index>(6 * body); }

  void mass_block(std::size_t i, const Mat3& R, std::span<double> mass, std::span<double> mass_inverse) const {
    const Body& body = model_.bodies()[i];
    Eigen::Map<Mat6> M(mass.data() + 36 * i);
    Eigen::Map<Mat6> W(mass_inverse.data() + 36 * i);
    M.setZero();
    W.setZero();
    M.topLeftCorner<3, 3>().diagonal().setConstant(body.mass);
    W.topLeftCorner<3, 3>().diagonal().setConstant(1.0 / body.mass);
    turn_inertia(R, body.inertia_B, diagonal_[i], M);
    turn_inertia(R, inertia_inverse_B_[i], diagonal_[i], W);
  }

  // R I R' into the lower right block, symmetric to the bit.
  static void turn_inertia(const Mat3& R, const Mat3& I_B, bool diagonal, Eigen::Map<Mat6>& M) {
    Mat3 RI;
    if (diagonal) {
      for (int k = 0; k < 3; ++k) RI.col(k) = I_B(k, k) * R.col(k);
    } else {
      RI.noalias() = R * I_B;
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) M(3 + i, 3 + j) = M(3 + j, 3 + i) = RI.row(i).dot(R.row(j));
    }
  }

  Model model_;
  std::vector<Mat3> inertia_inverse_B_;
  std::vector<bool> isotropic_;  // by body: the same inertia about all axes, so none to be carried with
  std::vector<bool> jointed_;    // by body
  std::vector<bool> diagonal_;   // by body: its inertia
  // Of the last free_velocity(): rotations, angular velocities before the step in body axes, and after its torque-free
  // rotation alone.
  std::vector<Mat3> R_WB_;
  std::vector<Vec3> w_B_, w_free_B_;
};

}  // namespace

std::unique_ptr<Coordinates> maximal_coordinates(const Model& model) {
  return std::make_unique<MaximalCoordinates>(model);
}

}  // namespace sarrus
