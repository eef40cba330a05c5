#include "sarrus/solvers/island_sweeps.h"

#include <algorithm>

#include "sarrus/math/tools.h"
#include "sarrus/solvers/local_contact.h"

namespace sarrus {
namespace {

// Widths are multiples of 4, padding is zero.
double dot(const double* a, const double* b, int width) {
  Four sum = Four::Zero();
  for (int c = 0; c < width; c += 4) sum += four(a + c) * four(b + c);
  return sum.sum();
}

// out += A^-1 f of one node.
void add_mass_inverse(const NcpProblem& p, int node, const double* f, int width, double* out) {
  const double* W = p.mass_inverse.data() + p.mass_offset[at(node)];
  for (int c = 0; c < p.node_size[at(node)]; ++c, W += width) {
    for (int a = 0; a < width; a += 4) Eigen::Map<Four>(out + a) += f[c] * four(W + a);
  }
}

double velocity(const NcpProblem& p, const NcpBlock& b, int r, double lambda, const double* u) {
  double v = p.bias[b.row + r] + p.R[b.row + r] * lambda;
  for (int k = 0; k < b.nodes; ++k)
    v += dot(p.jacobian.data() + b.jac[k] + r * b.width[k], u + b.column[k], b.width[k]);
  return v;
}

// u += A^-1 J' change, of `rows` rows from the block's row r on.
void add(const NcpProblem& p, const NcpBlock& b, int r, int rows, const double* change, double* impulse, double* u) {
  for (int k = 0; k < b.nodes; ++k) {
    const int width = b.width[k];
    const double* J = p.jacobian.data() + b.jac[k] + r * width;
    std::fill_n(impulse, width, 0.0);
    for (int q = 0; q < rows; ++q) {
      for (int c = 0; c < width; c += 4) Eigen::Map<Four>(impulse + c) += change[q] * four(J + q * width + c);
    }
    add_mass_inverse(p, b.node[k], impulse, width, u + b.column[k]);
  }
}

}  // namespace

void IslandSweeps::resize(const NcpProblem& p) {
  step_.resize(p.scalar_rows);
  if (blocks_.size() < at(p.contacts())) blocks_.resize(at(p.contacts() + p.contacts() / 8));
}

void IslandSweeps::prepare(const NcpProblem& p) {
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const NcpBlock& b = p.blocks[i];
    double D[kMaxBlockRows][kMaxBlockRows] = {};
    for (int k = 0; k < b.nodes; ++k) {
      const int width = b.width[k];
      const double* J = p.jacobian.data() + b.jac[k];
      for (int r = 0; r < b.rows; ++r) {
        std::fill_n(node_, width, 0.0);
        add_mass_inverse(p, b.node[k], J + r * width, width, node_);
        for (int q = b.contact ? 0 : r; q <= r; ++q) D[r][q] += dot(node_, J + q * width, width);
      }
    }
    for (int r = 0; r < b.rows; ++r) {
      D[r][r] += p.R[b.row + r];
      if (!b.contact) step_[b.row + r] = D[r][r] > 0 ? 1 / D[r][r] : 0.0;
    }
    if (!b.contact) continue;
    blocks_[i - at(p.scalar_blocks)] = {{D[0][0], D[1][0], D[1][1], D[2][0], D[2][1], D[2][2]}};
  }
}

void IslandSweeps::solve_scalar(const NcpProblem& p, const NcpBlock& b, GrowingVector& lambda) {
  for (int i = b.row; i < b.row + b.rows; ++i) {
    const double v = velocity(p, b, i - b.row, lambda[i], u_);
    const double next = std::clamp(lambda[i] - step_[i] * v, p.lower[i], p.upper[i]);
    const double change = next - lambda[i];
    add(p, b, i - b.row, 1, &change, node_, u_);
    lambda[i] = next;
  }
}

void IslandSweeps::solve_contact(const NcpProblem& p, const NcpBlock& b, const ContactBlock& D, GrowingVector& lambda) {
  const double* d = D.lower;
  Mat3 G;
  G << d[0], d[1], d[3], d[1], d[2], d[4], d[3], d[4], d[5];
  LocalContact local;
  local.set_exact(G, b.mu);
  const Vec3 l = lambda.segment<3>(b.row);
  Vec3 sigma;
  for (int r = 0; r < 3; ++r) sigma[r] = velocity(p, b, r, l[r], u_);
  const Vec3 next = solve_contact_ncp(local, sigma - G * l, l);
  const Vec3 change = next - l;
  add(p, b, 0, 3, change.data(), node_, u_);
  lambda.segment<3>(b.row) = next;
}

void IslandSweeps::run(NcpSearch& search, int count, GrowingVector& lambda) {
  const NcpProblem& p = search.problem;
  search.evaluate(lambda);
  u_ = search.velocities().data();
  node_ = search.scratch().data();
  prepare(p);
  for (int n = 0; n < count; ++n) {
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      const NcpBlock& b = p.blocks[i];
      if (b.contact) {
        solve_contact(p, b, blocks_[i - at(p.scalar_blocks)], lambda);
      } else {
        solve_scalar(p, b, lambda);
      }
    }
  }
}

}  // namespace sarrus
