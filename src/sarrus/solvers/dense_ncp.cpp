#include "sarrus/solvers/dense_ncp.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"
#include "sarrus/math/tools.h"
#include "sarrus/problem/judge.h"

namespace sarrus {
namespace {

// Of the diagonal without joints; below, S_ii is round-off.
constexpr double kFloor = 1e-8;

// A x = b in place by LU with row pivoting; A row-major, its stride a multiple of 4 with zeros behind the columns.
bool solve_dense(double* A, int stride, int n, double* b) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    double largest = std::abs(A[k * stride + k]);
    for (int r = k + 1; r < n; ++r) {
      const double a = std::abs(A[r * stride + k]);
      if (a > largest) {
        largest = a;
        pivot = r;
      }
    }
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    double* top = A + k * stride;
    if (pivot != k) {
      std::swap_ranges(top + (k & ~3), top + stride, A + pivot * stride + (k & ~3));
      std::swap(b[k], b[pivot]);
    }
    const double inverse = 1 / top[k];
    for (int r = k + 1; r < n; ++r) {
      double* row = A + r * stride;
      const double f = row[k] * inverse;
      if (f == 0) continue;
      for (int c = (k + 1) & ~3; c < stride; c += 4) Eigen::Map<Four>(row + c) -= f * four(top + c);
      b[r] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    double s = b[k];
    for (int c = k + 1; c < n; ++c) s -= A[k * stride + c] * b[c];
    b[k] = s / A[k * stride + k];
  }
  return true;
}

Vec3 three(const GrowingVector& x, int row) { return {x[row], x[row + 1], x[row + 2]}; }
void put(GrowingVector& x, int row, const Vec3& value) {
  for (int k = 0; k < 3; ++k) x[row + k] = value[k];
}

}  // namespace

const DenseNcp::Pass DenseNcp::kQuick{1.0, 1e-8, 8, 2, false, 0.1};
const DenseNcp::Pass DenseNcp::kAdaptive{1.0, 1e-3, 30, 10, true, 0.1};
const DenseNcp::Pass DenseNcp::kLong{10.0, 1e-3, 60, 20, true, 0.3};

void DenseNcp::clear(int rows, int budget) {
  rows_ = rows;
  budget_ = budget;
  stride_ = (rows + 3) & ~3;
  units_.clear();
  iterations_ = 0;
  if (rows == 0) return;
  S_.resize(rows_ * stride_);
  S_.setZero();
  matrix_.resize(rows_ * stride_);
  // The padding of what S multiplies stays zero.
  for (GrowingVector* v : {&floor_,
                           &q_,
                           &v_,
                           &start_,
                           &best_,
                           &answer_,
                           &projected_,
                           &product_,
                           &step_,
                           &S_step_,
                           &right_,
                           &swept_,
                           &x_.lambda,
                           &x_.sigma,
                           &x_.F,
                           &trial_.lambda,
                           &trial_.sigma,
                           &trial_.F,
                           &best_trial_.lambda,
                           &best_trial_.sigma,
                           &best_trial_.F}) {
    v->resize(stride_);
    v->setZero();
  }
  active_.resize(at(stride_));
}

void DenseNcp::equilibrate() {
  // Now, not at their first use, which may come many steps later.
  for (Iterate* x : {&x_, &trial_, &best_trial_}) x->zones.resize(units_.size());
  zones_.resize(units_.size());
  locals_.resize(units_.size());
  const auto inverse_root = [](double d, double floor) { return 1 / std::sqrt(std::max({d, kFloor * floor, 1e-300})); };
  for (const Unit& u : units_) {
    double d = 0, floor = 0;
    const int n = u.contact ? 3 : 1;
    for (int k = u.row; k < u.row + n; ++k) {
      d += S_[k * stride_ + k] / n;
      floor += floor_[k] / n;
    }
    for (int k = u.row; k < u.row + n; ++k) q_[k] = inverse_root(d, floor);
  }
  for (int i = 0; i < rows_; ++i) {
    double* row = S_.data() + i * stride_;
    for (int j = 0; j < rows_; ++j) row[j] *= q_[i] * q_[j];
  }
}

double DenseNcp::row_times(int row, const GrowingVector& x) const {
  const double* s = S_.data() + row * stride_;
  Four sum = Four::Zero();
  for (int j = 0; j < stride_; j += 4) sum += four(s + j) * four(x.data() + j);
  return sum.sum();
}

void DenseNcp::multiply(const GrowingVector& x, GrowingVector& y) const {
  for (int i = 0; i < rows_; ++i) y[i] = row_times(i, x);
}

void DenseNcp::subtract_product(const GrowingVector& lambda, GrowingVector& v) const {
  for (int i = 0; i < rows_; ++i) {
    const double* row = S_.data() + i * stride_;
    double s = 0;
    for (int j = 0; j < rows_; ++j) s += row[j] * (lambda[j] / q_[j]);
    v[i] -= s / q_[i];
  }
}

// F = lambda - P_K(lambda - r v^) and its zones.
void DenseNcp::classify(double r, Iterate& x) const {
  double sum = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& u = units_[i];
    const int k = u.row;
    if (!u.contact) {
      const double lower = u.lower / q_[k];
      const double upper = u.upper / q_[k];
      const double y = x.lambda[k] - r * x.sigma[k];
      x.zones[i] = y <= lower ? Zone::open : y >= upper ? Zone::slip : Zone::stick;
      x.F[k] = y <= lower ? x.lambda[k] - lower : y >= upper ? x.lambda[k] - upper : r * x.sigma[k];
      sum += x.F[k] * x.F[k];
      continue;
    }
    const Vec3 l = three(x.lambda, k);
    Vec3 v = three(x.sigma, k);
    v[2] += de_saxce(v, u.mu);
    const Vec3 y = l - r * v;
    const double t = length2(y[0], y[1]);
    x.zones[i] = t <= u.mu * y[2] ? Zone::stick : u.mu * t <= -y[2] ? Zone::open : Zone::slip;
    const Vec3 F = x.zones[i] == Zone::stick ? Vec3(r * v) : Vec3(l - project_cone(y, u.mu));
    put(x.F, k, F);
    sum += F.squaredNorm();
  }
  x.norm = std::sqrt(sum);
}

double DenseNcp::error(const GrowingVector& lambda, const GrowingVector& sigma) const {
  double worst = 0;
  for (const Unit& u : units_) {
    const double to_impulse = q_[u.row] / u.scale;
    const double to_velocity = u.scale / q_[u.row];
    const double natural = u.contact ? natural_map(Vec3(three(lambda, u.row) * to_impulse),
                                                   Vec3(three(sigma, u.row) * to_velocity), u.mu, Law::ncp)
                                     : natural_map(lambda[u.row] * to_impulse, sigma[u.row] * to_velocity,
                                                   u.lower / u.scale, u.upper / u.scale);
    if (!(natural < kInf)) return kInf;
    worst = std::max(worst, natural / u.measure);
  }
  return worst;
}

// Rows that are open or at a bound have dlambda = -F, the others are unknown; returns their number.
int DenseNcp::collect(const Iterate& x) {
  int n = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& u = units_[i];
    const bool fixed = u.contact ? x.zones[i] == Zone::open : x.zones[i] != Zone::stick;
    for (int k = u.row; k < u.row + (u.contact ? 3 : 1); ++k) {
      step_[k] = fixed ? -x.F[k] : 0.0;
      if (!fixed) active_[at(n++)] = k;
    }
  }
  return n;
}

void DenseNcp::set_scalar(const Pass& pass, const Iterate& x, const Unit& u, int first, int n) {
  const int stride = (n + 3) & ~3;
  double* row = matrix_.data() + first * stride;
  const double* s = S_.data() + u.row * stride_;
  for (int c = 0; c < n; ++c) row[c] = s[active_[at(c)]];
  std::fill(row + n, row + stride, 0.0);
  row[first] += pass.delta;
  right_[first] = -x.sigma[u.row] - product_[u.row];
}

void DenseNcp::set_contact(const Pass& pass, const Iterate& x, const Unit& u, Zone zone, int first, int n) {
  const int stride = (n + 3) & ~3;
  const int k = u.row;
  const Vec3 sigma = three(x.sigma, k);
  const double speed = length2(sigma[0], sigma[1]);
  const double q0 = speed < 1e-13 ? 0 : u.mu / speed * sigma[0];
  const double q1 = speed < 1e-13 ? 0 : u.mu / speed * sigma[1];
  double* row[3];
  const double* s[3];
  for (int d = 0; d < 3; ++d) {
    row[d] = matrix_.data() + (first + d) * stride;
    s[d] = S_.data() + (k + d) * stride_;
    std::fill(row[d] + n, row[d] + stride, 0.0);
  }
  for (int c = 0; c < n; ++c) {
    const int j = active_[at(c)];
    row[0][c] = s[0][j];
    row[1][c] = s[1][j];
    row[2][c] = s[2][j] + q0 * s[0][j] + q1 * s[1][j];
  }
  for (int d = 0; d < 3; ++d) row[d][first + d] += pass.delta;
  const double w0 = product_[k];
  const double w1 = product_[k + 1];
  const Vec3 w(w0, w1, product_[k + 2] + q0 * w0 + q1 * w1);
  const Vec3 F = three(x.F, k);
  if (zone == Zone::stick) {  // F = r v^
    put(right_, first, -F / pass.r - w);
    return;
  }
  Vec3 v = sigma;
  v[2] += u.mu * speed;
  const Vec3 y = three(x.lambda, k) - pass.r * v;
  const double t = length2(y[0], y[1]);
  const double tx = y[0] / t, ty = y[1] / t;
  const double mm = 1 + u.mu * u.mu;
  const double m = std::sqrt(mm);
  const Vec3 e1(u.mu * tx / m, u.mu * ty / m, 1 / m);
  const Vec3 tau(-ty, tx, 0);
  const Vec3 e2(tx / m, ty / m, -u.mu / m);
  const double kappa = u.mu * (u.mu * t + y[2]) / mm / t;
  for (int c = 0; c < n; ++c) {
    const Vec3 b(row[0][c], row[1][c], row[2][c]);
    row[0][c] = pass.r * e1.dot(b);
    row[1][c] = pass.r * kappa * tau.dot(b);
    row[2][c] = 0;
  }
  for (int d = 0; d < 3; ++d) {
    row[1][first + d] += (1 - kappa) * tau[d];
    row[2][first + d] = e2[d];
  }
  put(right_, first, {-e1.dot(F) - pass.r * e1.dot(w), -tau.dot(F) - pass.r * kappa * tau.dot(w), -e2.dot(F)});
}

bool DenseNcp::direction(const Pass& pass, const Iterate& x) {
  const int n = collect(x);
  if (n == 0) return true;
  multiply(step_, product_);  // of the fixed rows
  int first = 0;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& u = units_[i];
    if (u.contact && x.zones[i] != Zone::open) {
      set_contact(pass, x, u, x.zones[i], first, n);
      first += 3;
    } else if (!u.contact && x.zones[i] == Zone::stick) {
      set_scalar(pass, x, u, first, n);
      ++first;
    }
  }
  if (!solve_dense(matrix_.data(), (n + 3) & ~3, n, right_.data())) return false;
  for (int c = 0; c < n; ++c) {
    if (!std::isfinite(right_[c])) return false;
    step_[active_[at(c)]] = right_[c];
  }
  return true;
}

// What counts is the projection on K, as in NcpSearch::offer().
bool DenseNcp::offer(const Iterate& x, double error_of_x) {
  if (error_of_x < best_error_) {
    best_error_ = error_of_x;
    best_ = x.lambda;
  }
  if (!(error_of_x < answer_error_)) return false;
  projected_ = x.lambda;
  for (const Unit& u : units_) {
    if (u.contact) {
      put(projected_, u.row, project_cone(three(projected_, u.row), u.mu));
    } else {
      projected_[u.row] = std::clamp(projected_[u.row], u.lower / q_[u.row], u.upper / q_[u.row]);
    }
  }
  if (projected_ != x.lambda) {
    multiply(projected_, product_);
    product_ += v_;
    error_of_x = error(projected_, product_);
  }
  if (!(error_of_x < answer_error_)) return false;
  answer_error_ = error_of_x;
  answer_ = projected_;
  return answer_error_ <= tolerance_;
}

// Nonmonotone over the last norms; if no trial is accepted, the one with the smallest norm.
void DenseNcp::search(const Pass& pass, double reference) {
  multiply(step_, S_step_);
  double best = kInf;
  double a = 1;
  for (int k = 0; k < 6; ++k, a *= 0.5) {
    trial_.lambda = x_.lambda + a * step_;
    trial_.sigma = x_.sigma + a * S_step_;
    classify(pass.r, trial_);
    if (trial_.norm <= (1 - 1e-4 * a) * reference) {
      std::swap(x_, trial_);
      return;
    }
    if (trial_.norm < best) {
      best = trial_.norm;
      std::swap(best_trial_, trial_);
    }
  }
  if (best < kInf) std::swap(x_, best_trial_);
}

bool DenseNcp::run(Pass pass) {
  multiply(x_.lambda, x_.sigma);
  x_.sigma += v_;
  classify(pass.r, x_);
  double best = error(x_.lambda, x_.sigma);
  if (offer(x_, best)) return true;
  double history[4] = {x_.norm, 0, 0, 0};
  int bad = 0;
  for (int step = 1; step <= pass.steps && iterations_ < budget_; ++step) {
    if (!std::isfinite(x_.norm) || !direction(pass, x_)) return false;
    ++iterations_;
    const double norm = x_.norm;
    zones_ = x_.zones;
    search(pass, *std::max_element(history, history + 4));
    history[step % 4] = x_.norm;
    const double now = error(x_.lambda, x_.sigma);
    if (offer(x_, now)) return true;
    if (now < best) {
      if (now < 0.9 * best) bad = 0;
      best = now;
    } else if (++bad > pass.patience) {
      return false;
    }
    if (!pass.adaptive) continue;
    if (x_.zones == zones_) {
      pass.delta = std::max(1e-11, (x_.norm < 0.5 * norm ? 0.1 : pass.shrink) * pass.delta);
    } else if (x_.norm > norm) {
      pass.delta = std::min(1e-3, 10 * pass.delta);
    }
  }
  return false;
}

bool DenseNcp::run_from(const GrowingVector& lambda, const Pass& pass) {
  x_.lambda = lambda;
  return run(pass);
}

void DenseNcp::sweep(int count) {
  for (int n = 0; n < count; ++n) {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const Unit& u = units_[i];
      const int k = u.row;
      if (!u.contact) {
        const double d = std::max(S_[k * stride_ + k], 1e-12);
        const double next = swept_[k] - (v_[k] + row_times(k, swept_)) / d;
        swept_[k] = std::clamp(next, u.lower / q_[k], u.upper / q_[k]);
        continue;
      }
      const Vec3 l = three(swept_, k);
      Vec3 sigma;
      for (int d = 0; d < 3; ++d) sigma[d] = v_[k + d] + row_times(k + d, swept_);
      put(swept_, k, solve_contact_ncp(locals_[i], sigma - locals_[i].G * l, l));
    }
  }
}

bool DenseNcp::sweep_and_run() {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& u = units_[i];
    if (!u.contact) continue;
    Mat3 G;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) G(a, b) = S_[(u.row + a) * stride_ + u.row + b];
    }
    locals_[i].set(G, u.mu);
  }
  swept_ = start_;
  constexpr int kSweeps[] = {5, 10, 20, 40};
  for (const int n : kSweeps) {
    if ((rows_ > 48 && n > 10) || iterations_ >= budget_) break;  // with many rows Newton steps cost less
    sweep(n);
    if (run_from(swept_, kQuick) || run_from(swept_, kAdaptive)) return true;
  }
  return false;
}

bool DenseNcp::solve(const GrowingVector& v, double tolerance, GrowingVector& lambda) {
  for (int i = 0; i < rows_; ++i) {
    v_[i] = v[i] * q_[i];
    start_[i] = lambda[i] / q_[i];
  }
  tolerance_ = tolerance;
  best_error_ = answer_error_ = kInf;
  best_ = start_;
  const bool done =
      run_from(start_, kQuick) || sweep_and_run() || run_from(start_, kAdaptive) || run_from(best_, kLong);
  if (!done) return false;
  for (int i = 0; i < rows_; ++i) lambda[i] = answer_[i] * q_[i];
  // Scaling back rounds: impulses at a bound shall be exactly there.
  for (const Unit& u : units_) {
    if (!u.contact) lambda[u.row] = std::clamp(lambda[u.row], u.lower, u.upper);
  }
  return true;
}

}  // namespace sarrus
