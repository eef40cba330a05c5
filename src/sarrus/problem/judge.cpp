#include "sarrus/problem/judge.h"

#include <fmt/format.h>

#include "sarrus/math/error.h"
#include "sarrus/math/tools.h"

namespace sarrus {
namespace {

constexpr Law kLaws[] = {Law::ncp, Law::ccp, Law::box};

void raise(double& to, double value) { to = std::max(to, value); }

// A block's natural maps by law, raw and divided by what each row is measured by.
struct BlockVerdict {
  Violation violation;
  double natural[3] = {};
  double error[3] = {};
};

// What is compared with the tolerance, of a row and of a contact. Never inlined: measure() and decide() must find the
// same to the last bit, and where a product meets a sum depends on the code around it.
[[gnu::noinline]] double row_error(const ConstraintProblem& p, const ConstraintBlock& b, int i, double l, double s,
                                   double size) {
  const auto k = static_cast<std::size_t>(i);
  const double lower = b.kind == BlockKind::limit ? 0 : p.lower[k];
  const double scale = p.scale[i];
  return natural_map(l / scale, s * scale, lower / scale, p.upper[k] / scale) / std::max(size, p.least_size[i]);
}

[[gnu::noinline]] double contact_error(const ConstraintProblem& p, const ConstraintBlock& b, const Vec3& l,
                                       const Vec3& s, double size, Law law) {
  const double scale = p.scale[b.row];
  return natural_map(l / scale, s * scale, b.mu, law) / std::max(size, p.least_size[b.row]);
}

[[gnu::noinline]] double joint_error(const ConstraintProblem& p, const ConstraintBlock& b, const GrowingVector& sigma,
                                     double size) {
  double error = 0;
  for (int k = b.row; k < b.row + b.rows; ++k) {
    error = std::max(error, std::abs(sigma[k]) * p.scale[k] / std::max(size, p.least_size[k]));
  }
  return error;
}

void judge_row(const ConstraintProblem& p, const ConstraintBlock& b, int i, double l, double s, double size,
               BlockVerdict& out) {
  const auto k = static_cast<std::size_t>(i);
  const double lower = b.kind == BlockKind::limit ? 0 : p.lower[k];
  const Violation v = violation(l, s, lower, p.upper[k]);
  raise(out.violation.primal, v.primal);
  raise(out.violation.dual, v.dual);
  raise(out.violation.complementarity, v.complementarity);
  const double natural = natural_map(l, s, lower, p.upper[k]);
  const double error = row_error(p, b, i, l, s, size);
  for (int law = 0; law < 3; ++law) {
    raise(out.natural[law], natural);
    raise(out.error[law], error);
  }
}

BlockVerdict judge_contact(const ConstraintProblem& p, const ConstraintBlock& b, const Vec3& l, const Vec3& s,
                           double size) {
  BlockVerdict out;
  out.violation = violation(l, s, b.mu);
  for (const Law law : kLaws) {
    out.natural[static_cast<int>(law)] = natural_map(l, s, b.mu, law);
    out.error[static_cast<int>(law)] = contact_error(p, b, l, s, size, law);
  }
  return out;
}

// Of a block by the law ncp; what decide() computes among others.
double block_error(const ConstraintProblem& p, const ConstraintBlock& b, std::span<const double> lambda,
                   const GrowingVector& sigma, double size) {
  if (b.kind == BlockKind::joint) return joint_error(p, b, sigma, size);
  if (b.kind == BlockKind::contact) {
    return contact_error(p, b, Eigen::Map<const Vec3>(lambda.data() + b.row), sigma.segment<3>(b.row), size, Law::ncp);
  }
  double error = 0;
  for (int i = b.row; i < b.row + b.rows; ++i) {
    raise(error, row_error(p, b, i, lambda[static_cast<std::size_t>(i)], sigma[i], size));
  }
  return error;
}

// Rows of joints have no bounds: all laws ask for sigma = 0. They come first; returns how many blocks they are.
std::size_t judge_joints(const ConstraintProblem& p, JudgeWorkspace& ws, Residuals& out) {
  double natural = 0, largest = 0;
  std::size_t i = 0;
  for (; i < p.blocks.size() && p.blocks[i].kind == BlockKind::joint; ++i) {
    const ConstraintBlock& b = p.blocks[i];
    const int island = p.islands.of(b);
    const double size = island >= 0 ? ws.size[static_cast<std::size_t>(island)] : 0.0;
    for (int k = b.row; k < b.row + b.rows; ++k) natural = std::max(natural, std::abs(ws.sigma[k]));
    const double error = joint_error(p, b, ws.sigma, size);
    if (island >= 0) raise(ws.error[static_cast<std::size_t>(island)], error);
    if (error > largest || i == 0) out.worst_block = static_cast<int>(i);
    largest = std::max(largest, error);
  }
  out.dual = out.natural_map = out.natural_map_ccp = out.natural_map_box = out.natural_map_joint = natural;
  for (double& e : out.energy) e = largest;
  return i;
}

// A NaN never wins a comparison: it is looked for by itself, and islands that have one have no error that meets a goal.
void mark_not_finite(const ConstraintProblem& p, JudgeWorkspace& ws) {
  for (const ConstraintBlock& b : p.blocks) {
    const int island = p.islands.of(b);
    if (island >= 0 && !ws.sigma.segment(b.row, b.rows).allFinite()) {
      ws.error[static_cast<std::size_t>(island)] = std::numeric_limits<double>::infinity();
    }
  }
}

// True if all are finite: anything else times zero is not a number.
template <class Vector>
bool is_finite(const Vector& v) {
  return (v.array() * 0.0).sum() == 0;
}

// S by island.
void measure_islands(const ConstraintProblem& p, JudgeWorkspace& ws) {
  ws.size.assign(static_cast<std::size_t>(p.islands.count()), 0.0);
  ws.error.assign(static_cast<std::size_t>(p.islands.count()), 0.0);
  for (int k = 0; k < p.node_count(); ++k) {
    const int island = p.islands.of_node(k);
    if (island < 0) continue;
    const int o = p.node_offset[static_cast<std::size_t>(k)];
    const int n = p.node_size[static_cast<std::size_t>(k)];
    raise(ws.size[static_cast<std::size_t>(island)], ws.impulse.segment(o, n).dot(ws.du.segment(o, n)));
  }
  for (double& size : ws.size) size = std::sqrt(size);
}

// u, sigma and S of an answer; false if some number of it is not finite.
bool evaluate(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  const int n = p.rows();
  ws.du.resize(p.velocity_size());
  ws.u.resize(p.velocity_size());
  ws.impulse.resize(p.velocity_size());
  ws.sigma.resize(n);
  p.multiply_Jt(lambda, ws.impulse);
  p.multiply_M_inverse(ws.impulse, ws.du);
  ws.u = p.u_free + ws.du;
  p.multiply_J(ws.u, ws.sigma);
  measure_islands(p, ws);
  ws.joint_velocity =
      p.rows_of(BlockKind::joint) == 0 ? 0.0 : ws.sigma.head(p.rows_of(BlockKind::joint)).cwiseAbs().maxCoeff();
  const Eigen::Map<const VecX> impulses(lambda.data(), n);
  ws.sigma += Eigen::Map<const VecX>(p.bias.data(), n) + Eigen::Map<const VecX>(p.R.data(), n).cwiseProduct(impulses);
  return is_finite(impulses) && is_finite(ws.u) && is_finite(ws.sigma) && is_finite(p.scale);
}

// The verdict on what evaluate() left.
Residuals decide(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws, bool finite) {
  Residuals out;
  out.joint_velocity = ws.joint_velocity;
  std::fill(ws.error.begin(), ws.error.end(), 0.0);
  double* by_kind[] = {&out.natural_map_joint, &out.natural_map_soft, &out.natural_map_limit, &out.natural_map_contact};
  for (std::size_t i = judge_joints(p, ws, out); i < p.blocks.size(); ++i) {
    const ConstraintBlock& b = p.blocks[i];
    const int island = p.islands.of(b);
    const double size = island >= 0 ? ws.size[static_cast<std::size_t>(island)] : 0.0;
    BlockVerdict r;
    if (b.kind == BlockKind::contact) {
      r = judge_contact(p, b, Eigen::Map<const Vec3>(lambda.data() + b.row), ws.sigma.segment<3>(b.row), size);
    } else {
      for (int k = b.row; k < b.row + b.rows; ++k) {
        judge_row(p, b, k, lambda[static_cast<std::size_t>(k)], ws.sigma[k], size, r);
      }
    }
    if (island >= 0) raise(ws.error[static_cast<std::size_t>(island)], r.error[0]);
    if (r.error[0] > out.energy[0] || out.worst_block < 0) out.worst_block = static_cast<int>(i);
    raise(out.primal, r.violation.primal);
    raise(out.dual, r.violation.dual);
    raise(out.complementarity, r.violation.complementarity);
    raise(out.natural_map, r.natural[0]);
    raise(out.natural_map_ccp, r.natural[1]);
    raise(out.natural_map_box, r.natural[2]);
    raise(*by_kind[static_cast<std::size_t>(b.kind)], r.natural[0]);
    for (int law = 0; law < 3; ++law) raise(out.energy[law], r.error[law]);
  }
  ws.momentum.resize(p.velocity_size());
  p.multiply_M(ws.du, ws.momentum);
  out.equations = p.velocity_size() == 0 ? 0.0 : (ws.momentum - ws.impulse).cwiseAbs().maxCoeff();
  if (!finite) mark_not_finite(p, ws);
  out.finite = finite;
  return out;
}

}  // namespace

std::string_view name_of(Law law) { return law == Law::ncp ? "ncp" : law == Law::ccp ? "ccp" : "box"; }

std::string_view name_of(Criterion criterion) {
  return criterion == Criterion::energy ? "energy" : criterion == Criterion::absolute ? "absolute" : "papers";
}

Criterion criterion_from_name(std::string_view text) {
  for (const Criterion c : {Criterion::energy, Criterion::absolute, Criterion::papers}) {
    if (text == name_of(c)) return c;
  }
  throw InputError("criterion", fmt::format("'{}' is unknown; give energy, absolute or papers", text));
}

// Limits: primal, dual and their product. Boxes: sigma vanishes inside, is >= 0 at the lower bound, <= 0 at the upper.
Violation violation(double l, double s, double lower, double upper) {
  if (lower == 0 && upper == kInf) return {std::max(0.0, -l), std::max(0.0, -s), std::abs(l * s)};
  const double inside = project_interval(l, lower, upper);
  Violation v;
  v.primal = std::abs(l - inside);
  v.dual = inside <= lower ? std::max(0.0, -s) : inside >= upper ? std::max(0.0, s) : std::abs(s);
  return v;
}

Violation violation(const Vec3& l, const Vec3& s, double mu) {
  Vec3 v = s;
  v[2] += de_saxce(s, mu);
  return {(l - project_cone(l, mu)).cwiseAbs().maxCoeff(), (v - project_dual_cone(v, mu)).cwiseAbs().maxCoeff(),
          std::abs(l.dot(v))};
}

Residuals judge(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  ws.problem = nullptr;
  const bool finite = evaluate(p, lambda, ws);
  ws.verdict = decide(p, lambda, ws, finite);
  return ws.verdict;
}

double measure(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  const bool finite = evaluate(p, lambda, ws);
  ws.problem = &p;
  ws.judged = false;
  ws.finite = finite;
  ws.lambda.resize(lambda.size());
  std::copy(lambda.begin(), lambda.end(), ws.lambda.begin());
  double largest = 0;
  for (const ConstraintBlock& b : p.blocks) {
    const int island = p.islands.of(b);
    const double size = island >= 0 ? ws.size[static_cast<std::size_t>(island)] : 0.0;
    const double error = block_error(p, b, lambda, ws.sigma, size);
    if (island >= 0) raise(ws.error[static_cast<std::size_t>(island)], error);
    raise(largest, error);
  }
  if (finite) return largest;
  mark_not_finite(p, ws);
  return kInf;
}

Residuals judge_measured(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  const bool same = ws.problem == &p && std::equal(lambda.begin(), lambda.end(), ws.lambda.begin(), ws.lambda.end());
  if (!same) return judge(p, lambda, ws);
  if (!ws.judged) ws.verdict = decide(p, lambda, ws, ws.finite);
  ws.judged = true;
  return ws.verdict;
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
