#include "sarrus/problem/judge.h"

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"

namespace sarrus {
namespace {

// Residuals of one constraint block.
struct BlockResiduals {
  double primal = 0;
  double dual = 0;
  double complementarity = 0;
  double natural = 0;
  double natural_ccp = 0;
  double natural_box = 0;
};

BlockResiduals judge_contact(const double* lambda, const double* sigma, double mu) {
  const Vec3 l(lambda[0], lambda[1], lambda[2]);
  const Vec3 s(sigma[0], sigma[1], sigma[2]);
  Vec3 v = s;
  v[2] += de_saxce(s, mu);
  BlockResiduals r;
  r.primal = (l - project_cone(l, mu)).cwiseAbs().maxCoeff();
  r.dual = (v - project_dual_cone(v, mu)).cwiseAbs().maxCoeff();
  r.complementarity = std::abs(l.dot(v));
  r.natural = (l - project_cone(l - v, mu)).cwiseAbs().maxCoeff();
  r.natural_ccp = (l - project_cone(l - s, mu)).cwiseAbs().maxCoeff();
  const double bound = mu * std::max(0.0, l[2]);
  r.natural_box = std::abs(l[2] - std::max(0.0, l[2] - s[2]));
  for (int k = 0; k < 2; ++k) {
    r.natural_box = std::max(r.natural_box, std::abs(l[k] - std::clamp(l[k] - s[k], -bound, bound)));
  }
  return r;
}

BlockResiduals judge_limit(double l, double s) {
  BlockResiduals r;
  r.primal = std::max(0.0, -l);
  r.dual = std::max(0.0, -s);
  r.complementarity = std::abs(l * s);
  r.natural = r.natural_ccp = r.natural_box = std::abs(l - std::max(0.0, l - s));
  return r;
}

// Box rows: sigma must vanish inside, be >= 0 at the lower bound and <= 0 at the upper one.
BlockResiduals judge_box(double l, double s, double lower, double upper) {
  BlockResiduals r;
  const double inside = std::clamp(l, lower, upper);
  r.primal = std::abs(l - inside);
  r.dual = inside <= lower ? std::max(0.0, -s) : inside >= upper ? std::max(0.0, s) : std::abs(s);
  r.natural = r.natural_ccp = r.natural_box = std::abs(l - std::clamp(l - s, lower, upper));
  return r;
}

void merge(BlockResiduals& a, const BlockResiduals& b) {
  a.primal = std::max(a.primal, b.primal);
  a.dual = std::max(a.dual, b.dual);
  a.complementarity = std::max(a.complementarity, b.complementarity);
  a.natural = std::max(a.natural, b.natural);
  a.natural_ccp = std::max(a.natural_ccp, b.natural_ccp);
  a.natural_box = std::max(a.natural_box, b.natural_box);
}

BlockResiduals judge_block(const ConstraintProblem& p, const ConstraintBlock& b, const double* lambda,
                           const double* sigma) {
  BlockResiduals r;
  switch (b.kind) {
    case BlockKind::joint:
      for (int k = 0; k < b.rows; ++k) r.dual = std::max(r.dual, std::abs(sigma[b.row + k]));
      r.natural = r.natural_ccp = r.natural_box = r.dual;
      break;
    case BlockKind::soft:
      for (int k = b.row; k < b.row + b.rows; ++k) {
        const auto i = static_cast<std::size_t>(k);
        merge(r, judge_box(lambda[k], sigma[k], p.lower[i], p.upper[i]));
      }
      break;
    case BlockKind::limit:
      for (int k = b.row; k < b.row + b.rows; ++k) merge(r, judge_limit(lambda[k], sigma[k]));
      break;
    case BlockKind::contact:
      r = judge_contact(lambda + b.row, sigma + b.row, b.mu);
      break;
  }
  return r;
}

// All the momentum there is: sum of masses times the largest free velocity. Contradicting rows drive impulses beyond
// any bound; counting them into S would let such an answer pass as converged.
double plausible_impulse(const ConstraintProblem& p) {
  double mass = 0;
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    double largest = 0;
    for (int k = 0; k < p.node_size[i]; ++k) {
      largest = std::max(largest, p.mass[static_cast<std::size_t>(p.mass_offset[i] + k * (p.node_size[i] + 1))]);
    }
    mass += largest;
  }
  return p.u_free.size() == 0 ? 0.0 : mass * p.u_free.cwiseAbs().maxCoeff();
}

}  // namespace

std::string_view name(Law law) { return law == Law::ncp ? "ncp" : law == Law::ccp ? "ccp" : "box"; }

std::string_view name(Criterion criterion) {
  return criterion == Criterion::energy ? "energy" : criterion == Criterion::absolute ? "absolute" : "papers";
}

Residuals judge(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  const int n = p.rows();
  ws.du.resize(p.velocity_size());
  ws.u.resize(p.velocity_size());
  ws.impulse.resize(p.velocity_size());
  ws.sigma.resize(n);
  p.multiply_Jt(lambda, ws.impulse);
  p.multiply_M_inverse(ws.impulse, ws.du);
  ws.u = p.u_free + ws.du;
  p.multiply_J(ws.u, ws.sigma);

  Residuals out;
  double largest_velocity = 0;
  double largest_impulse = 0;
  bool finite_impulses = true;
  for (const ConstraintBlock& b : p.blocks) {
    for (int k = b.row; k < b.row + b.rows; ++k) {
      if (b.kind == BlockKind::joint) out.joint_velocity = std::max(out.joint_velocity, std::abs(ws.sigma[k]));
      const auto i = static_cast<std::size_t>(k);
      ws.sigma[k] += p.bias[i] + p.R[i] * lambda[i];
      largest_velocity = std::max(largest_velocity, std::abs(p.v_free[k]));
      largest_impulse = std::max(largest_impulse, std::abs(lambda[i]));
      finite_impulses = finite_impulses && std::isfinite(lambda[i]);
    }
  }
  double* by_kind[] = {&out.natural_map_joint, &out.natural_map_soft, &out.natural_map_limit, &out.natural_map_contact};
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const ConstraintBlock& b = p.blocks[i];
    const BlockResiduals r = judge_block(p, b, lambda.data(), ws.sigma.data());
    // A NaN never wins a comparison, so it is looked for by itself.
    if (!std::isfinite(r.natural) || !std::isfinite(r.dual)) out.finite = false;
    if (r.natural > out.natural_map || out.worst_block < 0) out.worst_block = static_cast<int>(i);
    out.primal = std::max(out.primal, r.primal);
    out.dual = std::max(out.dual, r.dual);
    out.complementarity = std::max(out.complementarity, r.complementarity);
    out.natural_map = std::max(out.natural_map, r.natural);
    out.natural_map_ccp = std::max(out.natural_map_ccp, r.natural_ccp);
    out.natural_map_box = std::max(out.natural_map_box, r.natural_box);
    double& kind = *by_kind[static_cast<std::size_t>(b.kind)];
    kind = std::max(kind, r.natural);
  }
  ws.momentum.resize(p.velocity_size());
  p.multiply_M(ws.du, ws.momentum);
  out.equations = p.velocity_size() == 0 ? 0.0 : (ws.momentum - ws.impulse).cwiseAbs().maxCoeff();
  out.finite = out.finite && ws.u.allFinite() && ws.sigma.allFinite() && finite_impulses;
  out.scale = p.physical ? std::max({1.0, largest_velocity, std::min(largest_impulse, plausible_impulse(p))})
                         : std::max({1e-300, largest_velocity, largest_impulse});
  for (const Law law : {Law::ncp, Law::ccp, Law::box}) {
    out.energy[static_cast<int>(law)] = out.natural_map_of(law) / out.scale;
  }
  return out;
}

double delta_psi(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& workspace) {
  judge(p, lambda, workspace);
  double sum = 0;
  for (const ConstraintBlock& block : p.blocks) {
    for (int i = block.row; i < block.row + block.rows; ++i) {
      const auto k = static_cast<std::size_t>(i);
      double lower = p.lower[k];
      double upper = p.upper[k];
      const bool normal = block.kind == BlockKind::contact && i == block.row + 2;
      if (block.kind == BlockKind::limit || normal) lower = 0;
      if (block.kind == BlockKind::contact && !normal) {
        upper = block.mu * std::max(0.0, lambda[static_cast<std::size_t>(block.row + 2)]);
        lower = -upper;
      }
      const double w = workspace.sigma[i];
      sum += std::max(std::abs(std::min(lambda[k] - lower, std::max(w, 0.0))),
                      std::abs(std::min(upper - lambda[k], std::max(-w, 0.0))));
    }
  }
  return sum;
}

ConvexErrors convex_errors(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  judge(p, lambda, ws);
  // After judge(): du = M^-1 J' lambda, momentum = M du, impulse = J' lambda, u = u_f + du.
  VecX total(p.velocity_size());
  p.multiply_M(ws.u, total);
  double error = 0, momentum = 0, impulse = 0;
  for (std::size_t t = 0; t < p.node_size.size(); ++t) {
    const int n = p.node_size[t];
    for (int k = 0; k < n; ++k) {
      const int i = p.node_offset[t] + k;
      const double scale = 1 / p.mass[static_cast<std::size_t>(p.mass_offset[t] + k * (n + 1))];
      const double e = ws.momentum[i] - ws.impulse[i];
      error += scale * e * e;
      momentum += scale * total[i] * total[i];
      impulse += scale * ws.impulse[i] * ws.impulse[i];
    }
  }
  ConvexErrors out;
  const double largest = std::sqrt(std::max(momentum, impulse));
  if (largest > 0) out.momentum = std::sqrt(error) / largest;

  double cost = 0.5 * ws.du.dot(ws.momentum);
  for (std::size_t i = 0; i < lambda.size(); ++i) cost += 0.5 * p.R[i] * lambda[i] * lambda[i];
  double sum = 0;
  int contacts = 0;
  for (const ConstraintBlock& b : p.blocks) {
    if (b.kind != BlockKind::contact) continue;
    double work = 0;
    for (int k = b.row; k < b.row + 3; ++k) work += ws.sigma[k] * lambda[static_cast<std::size_t>(k)];
    sum += std::abs(work);
    ++contacts;
  }
  if (contacts > 0 && cost > 0) out.complementarity = sum / contacts / cost;
  return out;
}

}  // namespace sarrus
