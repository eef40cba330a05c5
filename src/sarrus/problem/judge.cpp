#include "sarrus/problem/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sarrus/math/error.h"
#include "sarrus/math/six.h"
#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"

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

// Rows of joints have no bounds: all laws ask for sigma = 0.
void judge_joint(const ConstraintProblem& p, int i, const GrowingVector& sigma, double size, Residuals& out) {
  const ConstraintBlock& b = p.blocks[at(i)];
  double natural = 0;
  for (int k = b.row; k < b.row + b.rows; ++k) natural = std::max(natural, std::abs(sigma[k]));
  const double error = joint_error(p, b, sigma, size);
  if (error > out.energy[0] || out.worst_block < 0) out.worst_block = i;
  for (double Residuals::*x : {&Residuals::dual, &Residuals::natural_map, &Residuals::natural_map_ccp,
                               &Residuals::natural_map_box, &Residuals::natural_map_joint}) {
    raise(out.*x, natural);
  }
  for (double& e : out.energy) raise(e, error);
}

void judge_block(const ConstraintProblem& p, int i, std::span<const double> lambda, const GrowingVector& sigma,
                 double size, Residuals& out) {
  double* by_kind[] = {&out.natural_map_joint, &out.natural_map_soft, &out.natural_map_limit, &out.natural_map_contact};
  const ConstraintBlock& b = p.blocks[at(i)];
  BlockVerdict r;
  if (b.kind == BlockKind::joint) {
    judge_joint(p, i, sigma, size, out);
    return;
  }
  if (b.kind == BlockKind::contact) {
    r = judge_contact(p, b, Eigen::Map<const Vec3>(lambda.data() + b.row), sigma.segment<3>(b.row), size);
  } else {
    for (int k = b.row; k < b.row + b.rows; ++k) judge_row(p, b, k, lambda[at(k)], sigma[k], size, r);
  }
  if (r.error[0] > out.energy[0] || out.worst_block < 0) out.worst_block = i;
  raise(out.primal, r.violation.primal);
  raise(out.dual, r.violation.dual);
  raise(out.complementarity, r.violation.complementarity);
  raise(out.natural_map, r.natural[0]);
  raise(out.natural_map_ccp, r.natural[1]);
  raise(out.natural_map_box, r.natural[2]);
  raise(*by_kind[static_cast<std::size_t>(b.kind)], r.natural[0]);
  for (int law = 0; law < 3; ++law) raise(out.energy[law], r.error[law]);
}

// Of several blocks with the largest error the first is named.
void add_part(const Residuals& part, Residuals& out) {
  const bool worse = part.energy[0] > out.energy[0];
  const bool earlier = part.energy[0] == out.energy[0] && part.worst_block < out.worst_block;
  if (part.worst_block >= 0 && (worse || earlier || out.worst_block < 0)) out.worst_block = part.worst_block;
  for (double Residuals::*x :
       {&Residuals::primal, &Residuals::dual, &Residuals::complementarity, &Residuals::natural_map,
        &Residuals::natural_map_ccp, &Residuals::natural_map_box, &Residuals::natural_map_joint,
        &Residuals::natural_map_soft, &Residuals::natural_map_limit, &Residuals::natural_map_contact}) {
    raise(out.*x, part.*x);
  }
  for (int law = 0; law < 3; ++law) raise(out.energy[law], part.energy[law]);
}

// True if all are finite: anything else times zero is not a number.
template <class Vector>
bool is_finite(const Vector& v) {
  return (v.array() * 0.0).sum() == 0;
}

// A NaN never wins a comparison: it is looked for by itself, and islands that have one have no error that meets a goal.
void mark_not_finite(JudgeWorkspace& ws) {
  for (std::size_t i = 0; i < ws.error.size(); ++i) {
    if (ws.is_finite[i] == 0) ws.error[i] = kInf;
  }
}

// M^-1 J' lambda, u and twice the energy of what impulses do to node k; adds what is not zero if u is not finite.
double move_node(const ConstraintProblem& p, int k, JudgeWorkspace& ws, double& none) {
  const int o = p.node_offset[at(k)];
  if (p.node_size[at(k)] == 6) {
    const double* impulse = ws.impulse.data() + o;
    const Six du = times_six(p.mass_inverse.data() + p.mass_offset[at(k)], 6, impulse);
    const Six u = Six::load(p.u_free.data() + o).plus(du);
    du.store(ws.du.data() + o);
    u.store(ws.u.data() + o);
    none += 0 * u.sum();
    return du.dot(impulse);
  }
  p.multiply_M_inverse({&k, 1}, ws.impulse, ws.du);
  double energy = 0;
  for (int i = o; i < o + p.node_size[at(k)]; ++i) {
    ws.u[i] = p.u_free[i] + ws.du[i];
    energy += ws.impulse[i] * ws.du[i];
    none += 0 * ws.u[i];
  }
  return energy;
}

// u and S of an island; not zero if some number of u is not finite.
double move_island(const ConstraintProblem& p, int island, std::span<const double> lambda, JudgeWorkspace& ws) {
  const std::span<const int> nodes = p.islands.nodes(island);
  for (const int k : nodes) std::fill_n(ws.impulse.data() + p.node_offset[at(k)], p.node_size[at(k)], 0.0);
  p.add_Jt(p.islands.blocks(island), lambda, ws.impulse);
  double largest = 0;
  double none = 0;
  for (const int k : nodes) raise(largest, move_node(p, k, ws, none));
  ws.size[at(island)] = std::sqrt(largest);
  return none;
}

// Adds v* + R lambda to some rows; not zero if some number of them is not finite. (Impulses that are not
// finite leave velocities that are not.)
double bias_rows(const ConstraintProblem& p, int row, int rows, std::span<const double> lambda, JudgeWorkspace& ws) {
  using Rows = Eigen::Map<const Eigen::ArrayXd>;
  Eigen::Map<Eigen::ArrayXd> sigma(ws.sigma.data() + row, rows);
  sigma += Rows(p.bias.data() + row, rows) + Rows(p.R.data() + row, rows) * Rows(lambda.data() + row, rows);
  return (0.0 * sigma).sum();
}

void evaluate_island(const ConstraintProblem& p, int island, std::span<const double> lambda, JudgeWorkspace& ws) {
  const std::span<const int> blocks = p.islands.blocks(island);
  double none = move_island(p, island, lambda, ws);
  p.multiply_J(blocks, ws.u, ws.sigma);
  double joint_velocity = 0;
  // Blocks that follow each other, joints first, are one range of rows.
  for (std::size_t begin = 0, end = 0; begin < blocks.size(); begin = end) {
    const ConstraintBlock& first = p.blocks[at(blocks[begin])];
    while (end < blocks.size() && blocks[end] == blocks[begin] + static_cast<int>(end - begin) &&
           p.blocks[at(blocks[end])].kind == first.kind) {
      ++end;
    }
    const ConstraintBlock& last = p.blocks[at(blocks[end - 1])];
    const int rows = last.row + last.rows - first.row;
    if (first.kind == BlockKind::joint) raise(joint_velocity, ws.sigma.segment(first.row, rows).cwiseAbs().maxCoeff());
    none += bias_rows(p, first.row, rows, lambda, ws);
  }
  ws.joint_velocity[at(island)] = joint_velocity;
  ws.is_finite[at(island)] = none == 0;
}

void begin(const ConstraintProblem& p, JudgeWorkspace& ws) {
  for (VecX* v : {&ws.du, &ws.u, &ws.impulse}) v->resize(p.velocity_size());
  ws.sigma.resize(p.rows());
  const auto islands = at(p.islands.count());
  for (std::vector<double>* v : {&ws.size, &ws.error, &ws.joint_velocity}) v->assign(islands, 0.0);
  ws.is_finite.assign(islands, 1);
}

// Nodes that no block touches, and blocks without nodes; true if all numbers are finite, of islands and beside them.
bool finish(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  double none = 0;
  for (int k = 0; k < p.node_count(); ++k) {
    if (p.islands.of_node(k) >= 0) continue;
    const int o = p.node_offset[at(k)];
    const int n = p.node_size[at(k)];
    ws.impulse.segment(o, n).setZero();
    ws.du.segment(o, n).setZero();
    ws.u.segment(o, n) = p.u_free.segment(o, n);
    for (int c = o; c < o + n; ++c) none += 0 * ws.u[c];
  }
  if (p.islands.block_count() < static_cast<int>(p.blocks.size())) {
    for (const ConstraintBlock& b : p.blocks) {
      if (b.nodes > 0) continue;
      ws.sigma.segment(b.row, b.rows).setZero();
      none += bias_rows(p, b.row, b.rows, lambda, ws);
    }
  }
  return none == 0 && is_finite(p.scale) &&
         std::find(ws.is_finite.begin(), ws.is_finite.end(), 0) == ws.is_finite.end();
}

double joint_velocity(const JudgeWorkspace& ws) {
  double largest = 0;
  for (const double v : ws.joint_velocity) raise(largest, v);
  return largest;
}

// u, sigma and S of an answer; false if some number of it is not finite.
bool evaluate(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  begin(p, ws);
  Workers::here().each(p.islands.count(), [&](int i, int) { evaluate_island(p, i, lambda, ws); });
  return finish(p, lambda, ws);
}

// The verdict on what evaluate() left.
Residuals decide(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws, bool finite) {
  ws.part.resize(at(p.islands.count()));
  Workers::here().each(p.islands.count(), [&](int island, int) {
    Residuals& part = ws.part[at(island)];
    part = Residuals{};
    for (const int i : p.islands.blocks(island)) judge_block(p, i, lambda, ws.sigma, ws.size[at(island)], part);
    ws.error[at(island)] = part.energy[0];
  });
  Residuals out;
  for (const Residuals& part : ws.part) add_part(part, out);
  if (p.islands.block_count() < static_cast<int>(p.blocks.size())) {
    Residuals part;
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      if (p.blocks[i].nodes == 0) judge_block(p, static_cast<int>(i), lambda, ws.sigma, 0, part);
    }
    add_part(part, out);
  }
  out.joint_velocity = joint_velocity(ws);
  ws.momentum.resize(p.velocity_size());
  p.multiply_M(ws.du, ws.momentum);
  out.equations = p.velocity_size() == 0 ? 0.0 : (ws.momentum - ws.impulse).cwiseAbs().maxCoeff();
  if (!finite) mark_not_finite(ws);
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

void begin_measure(const ConstraintProblem& p, JudgeWorkspace& ws) {
  ws.problem = nullptr;
  begin(p, ws);
}

double measure_island(const ConstraintProblem& p, int island, std::span<const double> lambda, JudgeWorkspace& ws) {
  evaluate_island(p, island, lambda, ws);
  double largest = 0;
  for (const int i : p.islands.blocks(island)) {
    raise(largest, block_error(p, p.blocks[at(i)], lambda, ws.sigma, ws.size[at(island)]));
  }
  if (ws.is_finite[at(island)] == 0) largest = kInf;
  ws.error[at(island)] = largest;
  return largest;
}

double finish_measure(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  ws.finite = finish(p, lambda, ws);
  ws.problem = &p;
  ws.judged = false;
  ws.lambda.resize(lambda.size());
  std::copy(lambda.begin(), lambda.end(), ws.lambda.begin());
  double largest = 0;
  for (const double e : ws.error) raise(largest, e);
  if (p.islands.block_count() < static_cast<int>(p.blocks.size())) {
    for (const ConstraintBlock& b : p.blocks) {
      if (b.nodes == 0) raise(largest, block_error(p, b, lambda, ws.sigma, 0));
    }
  }
  return ws.finite ? largest : kInf;
}

double measure(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  begin_measure(p, ws);
  Workers::here().each(p.islands.count(), [&](int i, int) { measure_island(p, i, lambda, ws); });
  return finish_measure(p, lambda, ws);
}

Residuals judge_measured(const ConstraintProblem& p, std::span<const double> lambda, JudgeWorkspace& ws) {
  const bool same = ws.problem == &p && lambda.size() == ws.lambda.size() &&
                    (lambda.empty() || std::memcmp(lambda.data(), ws.lambda.data(), lambda.size_bytes()) == 0);
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
