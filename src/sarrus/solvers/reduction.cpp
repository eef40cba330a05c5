#include "sarrus/solvers/reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sarrus/math/six.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr int kMostRows = 60;
constexpr int kMostRowsOfMechanism = 96;  // whose groups of four are bits of a word
// The dense problem is solved beyond what is asked of the whole.
constexpr double kInner = 0.2;

// Calls f with the first column of each group.
template <class F>
void for_each_group(std::uint32_t groups, const F& f) {
  for (; groups != 0; groups &= groups - 1) f(4 * std::countr_zero(groups));
}

// Columns of a panel (6 rows, row-major): X <- T X, T lower triangular.
void apply_lower(const double* T, int stride, std::uint32_t groups, double* X) {
  for_each_group(groups, [&](int c) {
    Four x[6];
    for (int r = 0; r < 6; ++r) x[r] = four(X + r * stride + c);
    for (int r = 5; r >= 0; --r) {
      Four y = T[r * 8 + r] * x[r];
      for (int k = 0; k < r; ++k) y += T[k * 8 + r] * x[k];
      Eigen::Map<Four>(X + r * stride + c) = y;
    }
  });
}

// Y -= B X
void subtract(const double* B, int stride, std::uint32_t groups, const double* X, double* Y) {
  for_each_group(groups, [&](int c) {
    Four x[6];
    for (int k = 0; k < 6; ++k) x[k] = four(X + k * stride + c);
    for (int r = 0; r < 6; ++r) {
      Four y = four(Y + r * stride + c);
      for (int k = 0; k < 6; ++k) y -= B[k * 8 + r] * x[k];
      Eigen::Map<Four>(Y + r * stride + c) = y;
    }
  });
}

}  // namespace

void Reduction::Shared::resize(const BlockGraph& graph) {
  w.resize(graph.padded_start(graph.node_count()));
  place.resize(at(graph.node_count()));
}

bool Reduction::begin(Shared& shared, int budget) {
  shared_ = &shared;
  const BlockGraph& graph = factor_->llt().graph();
  positions_.clear();
  for (const int node : problem_->islands.nodes(island_)) positions_.push_back(graph.position(node));
  std::sort(positions_.begin(), positions_.end());
  for (std::size_t i = 0; i < positions_.size(); ++i) shared.place[at(positions_[i])] = static_cast<int>(i);
  take_memory();
  build_S();
  return eliminate_soft(budget);
}

// As if no soft row were taken along: drives come to their bounds late in a run.
void Reduction::take_memory() {
  const int rows = static_cast<int>(rows_.size()) + along_;
  const int nodes = static_cast<int>(positions_.size());
  if (rows <= most_rows_ && nodes <= most_nodes_) return;
  most_rows_ = std::max(rows, most_rows_);
  most_nodes_ = std::max(nodes, most_nodes_);
  const int stride = (most_rows_ + 3) & ~3;
  Y_.resize(most_nodes_ * 6 * stride);
  S_.resize(most_rows_ * stride);
  for (GrowingVector* v : {&rho_, &change_, &v_, &lambda_n_}) v->resize(stride);
  used_.reserve(at(most_nodes_));
  dense_.clear(most_rows_, 0);
  dense_.units().resize(at(most_rows_));
  dense_.equilibrate();
}

void Reduction::add_unit(const ConstraintBlock& b, int row) {
  const ConstraintProblem& p = *problem_;
  DenseNcp::Unit u;
  u.row = static_cast<int>(others_.size());
  u.scale = p.scale[row];
  if (b.kind == BlockKind::contact && b.mu > 0) {
    u.contact = true;
    u.mu = b.mu;
  } else {
    u.lower = b.kind == BlockKind::soft ? p.lower[at(row)] : 0.0;
    u.upper = b.kind == BlockKind::soft ? p.upper[at(row)] : kInf;
  }
  units_.push_back(u);
}

bool Reduction::collect(const ConstraintProblem& p, const LinearFactor& factor, int island,
                        std::span<const double> lambda) {
  problem_ = &p;
  factor_ = &factor;
  island_ = island;
  linear_.clear();
  rows_.clear();
  others_.clear();
  units_.clear();
  along_ = 0;
  const int soft = p.rows_of(BlockKind::soft);
  linear_.reserve(at(p.rows_of(BlockKind::joint) + soft));
  for (std::vector<Row>* v : {&rows_, &others_}) v->reserve(at(soft + kMostRowsOfMechanism));
  units_.reserve(at(soft + kMostRowsOfMechanism));
  int joint_rows = 0, rigid_rows = 0, rigid_contacts = 0;
  bool cold = true;
  for (const int i : p.islands.blocks(island_)) {
    const ConstraintBlock& b = p.blocks[at(i)];
    const bool frictionless = b.kind == BlockKind::contact && b.mu == 0;  // its tangential impulses stay zero
    for (int r = frictionless ? 2 : 0; r < b.rows; ++r) cold = cold && lambda[at(b.row + r)] == 0;
    if (b.kind == BlockKind::joint) {
      linear_.push_back(i);
      joint_rows += b.rows;
      for (int r = b.row; r < b.row + b.rows; ++r) rigid_rows += p.R[at(r)] == 0;
    } else if (b.kind == BlockKind::soft && factor.weight(b.row) != 0) {
      linear_.push_back(i);
      along_ += b.rows;
    } else if (b.kind == BlockKind::soft) {
      for (int r = 0; r < b.rows; ++r) {
        const auto row = at(b.row + r);
        if (well_inside(p.lower[row], p.upper[row], lambda[row])) {
          rows_.push_back({i, b.row + r, r});
        } else {
          add_unit(b, b.row + r);
          others_.push_back({i, b.row + r, r});
        }
      }
    } else {
      const bool cone = b.kind == BlockKind::contact && !frictionless;
      for (int r = frictionless ? 2 : 0; r < b.rows; ++r) {
        if (!cone || r == 0) add_unit(b, b.row + r);
        others_.push_back({i, b.row + r, r});
      }
      if (b.kind == BlockKind::contact && p.R[at(b.row + 2)] == 0) rigid_contacts += frictionless ? 1 : 3;
    }
  }
  soft_ = static_cast<int>(rows_.size());
  rows_.insert(rows_.end(), others_.begin(), others_.end());
  const int rows = static_cast<int>(rows_.size());
  const int most = joint_rows > 3 * rows ? kMostRowsOfMechanism : kMostRows;
  if (joint_rows == 0 || rows > most) return false;
  const int freedom = 6 * static_cast<int>(p.islands.nodes(island_).size()) - rigid_rows;
  return !cold || rigid_contacts == 0 || rigid_contacts <= freedom;
}

// These columns of a panel are in use from now on; new ones are zero.
void Reduction::extend(int place, Groups groups) {
  Groups& used = used_[at(place)];
  double* X = panel(place);
  for_each_group(groups & ~used, [&](int c) {
    for (int r = 0; r < 6; ++r) Eigen::Map<Four>(X + r * stride_ + c).setZero();
  });
  used |= groups;
}

// Y <- J_c', by the places of the nodes.
void Reduction::scatter_rows() {
  const ConstraintProblem& p = *problem_;
  const BlockGraph& graph = factor_->llt().graph();
  const auto n = positions_.size();
  Y_.resize(static_cast<Eigen::Index>(n) * 6 * stride_);
  used_.assign(n, 0);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const ConstraintBlock& b = p.blocks[at(rows_[i].block)];
    const int column = static_cast<int>(i);
    for (int k = 0; k < b.nodes; ++k) {
      const int place = shared_->place[at(graph.position(b.node[k]))];
      const double* J = p.jacobian.data() + b.jac[k] + 6 * rows_[i].r;
      extend(place, Groups{1} << (column / 4));
      double* y = panel(place) + column;
      for (int r = 0; r < 6; ++r) y[r * stride_] = J[r];
    }
  }
}

void Reduction::build_S() {
  const BlockLLT& llt = factor_->llt();
  const BlockGraph& graph = llt.graph();
  const int m = static_cast<int>(rows_.size());
  stride_ = (m + 3) & ~3;
  S_.resize(m * stride_);
  S_.setZero();
  for (GrowingVector* v : {&rho_, &change_}) v->resize(stride_);
  if (m == 0) return;
  scatter_rows();
  double* S = S_.data();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const Groups used = used_[i];
    if (used == 0) continue;
    double* X = panel(static_cast<int>(i));
    const int k = positions_[i];
    apply_lower(llt.values() + graph.diagonal_offset(k), stride_, used, X);
    for (int r = graph.column_begin(k); r < graph.column_begin(k + 1); ++r) {
      const int to = shared_->place[at(graph.row(r))];
      extend(to, used);
      subtract(llt.values() + graph.block_offset(r), stride_, used, X, panel(to));
    }
    for_each_group(used, [&](int first) {  // S += Y_k' Y_k, the upper triangle by groups
      for_each_group(used & ~Groups{0} << (first / 4), [&](int c) {
        Four x[6];
        for (int r = 0; r < 6; ++r) x[r] = four(X + r * stride_ + c);
        for (int a = first; a < std::min(first + 4, m); ++a) {
          Four s = four(S + a * stride_ + c);
          for (int r = 0; r < 6; ++r) s += X[r * stride_ + a] * x[r];
          Eigen::Map<Four>(S + a * stride_ + c) = s;
        }
      });
    });
  }
  for (int a = 0; a < m; ++a) S[a * stride_ + a] += problem_->R[at(rows_[at(a)].row)];
}

// C' and T replace the rows of the soft ones in the upper triangle of S, S' those of the others; false if S_ss is not
// positive definite.
bool Reduction::eliminate_soft(int budget) {
  const int m = static_cast<int>(rows_.size());
  double* S = S_.data();
  for (int k = 0; k < soft_; ++k) {
    double* top = S + k * stride_;
    const double pivot = top[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const double inverse = 1 / std::sqrt(pivot);
    // By groups: what is written left of the diagonal is not read again.
    for (int c = k & ~3; c < stride_; c += 4) Eigen::Map<Four>(top + c) *= inverse;
    for (int r = k + 1; r < m; ++r) {
      const double f = top[r];
      if (f == 0) continue;
      double* row = S + r * stride_;
      for (int c = r & ~3; c < stride_; c += 4) Eigen::Map<Four>(row + c) -= f * four(top + c);
    }
  }
  dense_.clear(m - soft_, budget);
  dense_.units() = units_;
  for (GrowingVector* v : {&v_, &lambda_n_}) v->resize(m - soft_);
  double* D = dense_.S();
  for (int a = soft_; a < m; ++a) {
    for (int c = a; c < m; ++c) {
      D[(a - soft_) * dense_.stride() + c - soft_] = D[(c - soft_) * dense_.stride() + a - soft_] = S[a * stride_ + c];
    }
    dense_.unconstrained()[a - soft_] = problem_->diagonal[rows_[at(a)].row];
  }
  dense_.equilibrate();
  return true;
}

// w <- z, rho <- sigma_c + Y' z
void Reduction::eliminate_linear(const GrowingVector& sigma) {
  const ConstraintProblem& p = *problem_;
  const BlockGraph& graph = factor_->llt().graph();
  for (const int k : positions_) std::fill_n(velocity(graph.node_at(k)), 8, 0.0);
  double weighted[kMaxBlockRows];
  for (const int i : linear_) {
    const ConstraintBlock& b = p.blocks[at(i)];
    for (int r = 0; r < b.rows; ++r) weighted[r] = -factor_->weight(b.row + r) * sigma[b.row + r];
    for (int k = 0; k < b.nodes; ++k) {
      double* w = velocity(b.node[k]);
      Six sum = Six::load(w);
      for (int r = 0; r < b.rows; ++r) sum.add(Spread(weighted + r), p.jacobian.data() + b.jac[k] + 6 * r);
      sum.store(w);
    }
  }
  factor_->llt().forward(positions_, shared_->w.data());
  const int m = static_cast<int>(rows_.size());
  for (int i = 0; i < m; ++i) rho_[i] = sigma[rows_[at(i)].row];
  for (int i = m; i < stride_; ++i) rho_[i] = 0;
  for (std::size_t i = 0; i < positions_.size() && m > 0; ++i) {
    const double* X = panel(static_cast<int>(i));
    const double* z = velocity(graph.node_at(positions_[i]));
    for_each_group(used_[i], [&](int c) {
      Four s = four(rho_.data() + c);
      for (int r = 0; r < 6; ++r) s += z[r] * four(X + r * stride_ + c);
      Eigen::Map<Four>(rho_.data() + c) = s;
    });
  }
}

// Impulses of s and n, given rho; leaves what they change in change_.
bool Reduction::solve_rest(double tolerance, double size, std::span<double> lambda) {
  const ConstraintProblem& p = *problem_;
  const int m = static_cast<int>(rows_.size());
  const double* S = S_.data();
  for (int k = 0; k < soft_; ++k) {  // t
    const double* top = S + k * stride_;
    rho_[k] /= top[k];
    for (int r = k + 1; r < m; ++r) rho_[r] -= top[r] * rho_[k];
  }
  for (int i = soft_; i < m; ++i) {
    v_[i - soft_] = rho_[i];
    lambda_n_[i - soft_] = lambda[at(rows_[at(i)].row)];
    change_[i] = lambda_n_[i - soft_];
  }
  dense_.subtract_product(lambda_n_, v_);
  for (DenseNcp::Unit& u : dense_.units()) u.measure = std::max(size, p.least_size[rows_[at(soft_ + u.row)].row]);
  if (m > soft_ && !dense_.solve(v_, kInner * tolerance, lambda_n_)) return false;
  for (int i = soft_; i < m; ++i) {
    change_[i] = lambda_n_[i - soft_] - change_[i];
    lambda[at(rows_[at(i)].row)] = lambda_n_[i - soft_];
  }
  for (int k = soft_ - 1; k >= 0; --k) {
    const double* top = S + k * stride_;
    double sum = rho_[k];
    for (int c = soft_; c < m; ++c) sum += top[c] * change_[c];
    for (int c = k + 1; c < soft_; ++c) sum += top[c] * change_[c];
    change_[k] = -sum / top[k];
  }
  for (int k = 0; k < soft_; ++k) {
    const auto row = at(rows_[at(k)].row);
    lambda[row] += change_[k];
    // A drive that ran into its bound is no linear row any more.
    if (!(lambda[row] >= p.lower[row] && lambda[row] <= p.upper[row])) return false;
  }
  return true;
}

// w <- du, and with it the impulses of b.
bool Reduction::substitute_linear(const GrowingVector& sigma, std::span<double> lambda) {
  const ConstraintProblem& p = *problem_;
  const BlockGraph& graph = factor_->llt().graph();
  const int m = static_cast<int>(rows_.size());
  for (int i = m; i < stride_; ++i) change_[i] = 0;
  for (std::size_t i = 0; i < positions_.size() && m > 0; ++i) {
    const double* X = panel(static_cast<int>(i));
    double* z = velocity(graph.node_at(positions_[i]));
    if (used_[i] == 0) continue;
    Four sum[6] = {Four::Zero(), Four::Zero(), Four::Zero(), Four::Zero(), Four::Zero(), Four::Zero()};
    for_each_group(used_[i], [&](int c) {
      const Four x = four(change_.data() + c);
      for (int r = 0; r < 6; ++r) sum[r] += four(X + r * stride_ + c) * x;
    });
    for (int r = 0; r < 6; ++r) z[r] += sum[r].sum();
  }
  factor_->llt().backward(positions_, shared_->w.data());
  double none = 0;     // not a number if some impulse is not finite
  bool inside = true;  // a drive that ran into its bound is no linear row any more
  for (const int i : linear_) {
    const ConstraintBlock& b = p.blocks[at(i)];
    const double* J[kMaxBlockNodes];
    Six du[kMaxBlockNodes];
    for (int k = 0; k < b.nodes; ++k) {
      J[k] = p.jacobian.data() + b.jac[k];
      du[k] = Six::load(velocity(b.node[k]));
    }
    double change[kMaxBlockRows];
    multiply_rows_six(b.nodes, b.rows, J, du, change);
    for (int r = 0; r < b.rows; ++r) {
      double& l = lambda[at(b.row + r)];
      l -= factor_->weight(b.row + r) * (sigma[b.row + r] + change[r]);
      none += 0 * l;
      inside = inside && l >= p.lower[at(b.row + r)] && l <= p.upper[at(b.row + r)];
    }
  }
  return none == 0 && inside;
}

bool Reduction::pass(double tolerance, const JudgeWorkspace& judged, std::span<double> lambda) {
  eliminate_linear(judged.sigma);
  return solve_rest(tolerance, judged.size[at(island_)], lambda) && substitute_linear(judged.sigma, lambda);
}

}  // namespace sarrus
