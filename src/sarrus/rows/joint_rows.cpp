// Bilateral rows: joints, locked dofs, couplings.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "sarrus/math/tools.h"
#include "sarrus/math/workers.h"
#include "sarrus/rows/compliance.h"
#include "sarrus/rows/writer.h"

namespace sarrus {
namespace {

const Compliance& compliance_of(const Model& model, const ConstraintBlock& b) {
  if (b.source_kind == RowSource::coupling) return model.couplings()[static_cast<std::size_t>(b.source)].compliance;
  if (b.source_kind == RowSource::locked_dof)
    return model.scalars()[static_cast<std::size_t>(b.source)].limit.compliance;
  return model.joints()[static_cast<std::size_t>(b.source)].compliance;
}

// The blocks of a model's joints are the same in every step: those that a problem begins with are written over.
class BlockWriter {
 public:
  explicit BlockWriter(ConstraintProblem& p) : p_(p), first_(p.blocks.capacity() == 0) {}

  // The next block, its Jacobian zero.
  ConstraintBlock& next(int rows, const NodeList& nodes, RowSource source_kind, int source) {
    if (ConstraintBlock* b = kept(rows, source_kind, source)) {
      for (int k = 0; k < b->nodes; ++k) {
        std::fill_n(p_.jacobian_row(*b, k, 0), b->rows * p_.node_size[static_cast<std::size_t>(b->node[k])], 0.0);
      }
      return *b;
    }
    ++count_;
    return add_labelled_block(p_, BlockKind::joint, rows, nodes, source_kind, source);
  }
  // The same if there was one, its Jacobian as it was; none otherwise.
  ConstraintBlock* kept(int rows, RowSource source_kind, int source) {
    if (count_ >= static_cast<int>(p_.blocks.size())) return nullptr;
    ConstraintBlock& b = p_.blocks[static_cast<std::size_t>(count_)];
    if (b.kind == BlockKind::joint && b.rows == rows && b.id == block_id(source_kind, source)) {
      ++count_;
      return &b;
    }
    p_.keep_blocks(count_);
    return nullptr;
  }
  void finish() {
    p_.keep_blocks(count_);
    if (!first_) return;
    // They stay as many; what vectors took beyond them while they grew would stay, too.
    p_.blocks.shrink_to_fit();
    for (std::vector<double>* v : {&p_.jacobian, &p_.R, &p_.bias, &p_.lower, &p_.upper}) v->shrink_to_fit();
  }

 private:
  ConstraintProblem& p_;
  bool first_;
  int count_ = 0;
};

template <class Linear, class Angular>
void put(double* row, const Linear& linear, const Angular& angular) {
  Eigen::Map<Vec3>{row} = linear;
  Eigen::Map<Vec3>{row + 3} = angular;
}

// Rows of six components at the nodes of base (none for the world) and follower, as base_row() and follower_row().
void put_joint_rows(const Joint& j, const JointFrame& f, int rows, double* base, double* follower) {
  JointAxis axes[6];
  const int translational = joint_constraint_axes(j, f, axes);
  const Vec3 arm_B = f.p_F_W - f.r_B_W;
  const Vec3 arm_F = f.p_F_W - f.r_F_W;
  for (int r = 0; r < translational; ++r) {
    const Vec3& a = axes[r].linear;
    put(follower + 6 * r, a, arm_F.cross(a));
    if (base != nullptr) put(base + 6 * r, -a, a.cross(arm_B));
  }
  for (int r = translational; r < rows; ++r) {
    const Vec3& a = axes[r].angular;
    put(follower + 6 * r, Vec3::Zero(), a);
    if (base != nullptr) put(base + 6 * r, Vec3::Zero(), -a);
  }
}

// Rows that are written whole, over what is there: by for_each_bilateral(), which shares that out.
bool is_plain(const Joint& j, const Coordinates& x) {
  return (j.base == kWorld || x.map(j.base).X == nullptr) && x.map(j.follower).X == nullptr &&
         j.type != JointType::distance && j.type != JointType::serial;
}

ConstraintBlock& write_joint_block(const Model& model, const Coordinates& x, const JointKinematics& kin, int i,
                                   BlockWriter& writer, ConstraintProblem& p) {
  const Joint& j = model.joints()[static_cast<std::size_t>(i)];
  const JointFrame& f = kin.frame(i);
  const int rows = joint_rows(j);
  const bool plain = is_plain(j, x);  // its rows follow
  if (ConstraintBlock* b = plain ? writer.kept(rows, RowSource::joint, i) : nullptr) return *b;
  NodeList nodes;
  nodes.add(x, j.base);
  nodes.add(x, j.follower);
  if (plain) return writer.next(rows, nodes, RowSource::joint, i);
  ConstraintBlock& b = writer.next(rows, nodes, RowSource::joint, i);
  if (j.type == JointType::distance) {
    const DofRow row = distance_row(j, f);
    add_body_row(x, p, b, nodes, j.base, 0, row.J_base);
    add_body_row(x, p, b, nodes, j.follower, 0, row.J_follower);
    return b;
  }
  JointAxis axes[6];
  kin.constraint_axes(i, axes);
  for (int r = 0; r < rows; ++r) {
    add_body_row(x, p, b, nodes, j.base, r, base_row(f, axes[r]));
    add_body_row(x, p, b, nodes, j.follower, r, follower_row(f, axes[r]));
  }
  return b;
}

ConstraintBlock& write_coupling_block(const Model& model, const Coordinates& x, const JointKinematics& kin,
                                      std::span<const double> q, int i, BlockWriter& writer, ConstraintProblem& p) {
  const Coupling& c = model.couplings()[static_cast<std::size_t>(i)];
  const DofRow a = dof_row(model, kin, c.dof_a);
  const DofRow b = dof_row(model, kin, c.dof_b);
  NodeList nodes;
  for (const int body : {a.base, a.follower, b.base, b.follower}) nodes.add(x, body);
  ConstraintBlock& block = writer.next(1, nodes, RowSource::coupling, i);
  const double slope = c.linear() ? c.ratio : c.slope(kin.coordinate(c.dof_b, q[static_cast<std::size_t>(c.dof_b)]));
  for (const auto& [row, scale] : {std::pair(a, 1.0), std::pair(b, -slope)}) {
    add_body_row(x, p, block, nodes, row.base, 0, row.J_base, scale);
    add_body_row(x, p, block, nodes, row.follower, 0, row.J_follower, scale);
  }
  return block;
}

// That a block is of; of couplings the one that has their first coordinate.
int joint_of(const Model& model, const ConstraintBlock& b) {
  if (b.source_kind == RowSource::joint) return b.source;
  const bool coupling = b.source_kind == RowSource::coupling;
  return model.joint_of_dof(coupling ? model.couplings()[static_cast<std::size_t>(b.source)].dof_a : b.source);
}

// Of the rows that bilateral_residual() counts.
double first_reach(const Model& model, const ConstraintBlock& b) {
  if (b.source_kind == RowSource::locked_dof) return model.reach(b.source);
  if (b.source_kind != RowSource::coupling) return 1.0;
  return model.reach(model.couplings()[static_cast<std::size_t>(b.source)].dof_a);
}

// Returns how many of the rows are in the units of the compliance itself: all of a locked dof or coupling, the
// translational ones of a joint.
int bilateral_residual(const Model& model, const ConstraintBlock& b, const JointKinematics& kin,
                       std::span<const double> q, double* r) {
  switch (b.source_kind) {
    case RowSource::coupling: {
      const Coupling& c = model.couplings()[static_cast<std::size_t>(b.source)];
      const double qa = kin.coordinate(c.dof_a, q[static_cast<std::size_t>(c.dof_a)]);
      const double qb = kin.coordinate(c.dof_b, q[static_cast<std::size_t>(c.dof_b)]);
      r[0] = c.residual(qa, qb);
      return 1;
    }
    case RowSource::locked_dof: {
      const Limit& l = model.scalars()[static_cast<std::size_t>(b.source)].limit;
      r[0] = kin.scalar(b.source, q) - 0.5 * (l.lower + l.upper);
      return 1;
    }
    default:
      return kin.residual(b.source, r);
  }
}

ConstraintBlock& write_locked_block(const Model& model, const Coordinates& x, const JointKinematics& kin, int i,
                                    BlockWriter& writer, ConstraintProblem& p) {
  if (model.is_combination(i)) {
    const CombinationRow row = combination_row(model, kin, i);
    NodeList nodes;
    for (int k = 0; k < row.count; ++k) nodes.add(x, row.body[k]);
    ConstraintBlock& b = writer.next(1, nodes, RowSource::locked_dof, i);
    for (int k = 0; k < row.count; ++k) add_body_row(x, p, b, nodes, row.body[k], 0, row.J[k]);
    return b;
  }
  const DofRow row = dof_row(model, kin, i);
  NodeList nodes;
  nodes.add(x, row.base);
  nodes.add(x, row.follower);
  ConstraintBlock& b = writer.next(1, nodes, RowSource::locked_dof, i);
  add_body_row(x, p, b, nodes, row.base, 0, row.J_base);
  add_body_row(x, p, b, nodes, row.follower, 0, row.J_follower);
  return b;
}

// Writes every bilateral block that the coordinates do not hold by themselves, in id order (joints, locked dofs,
// couplings), and calls f(block), on any thread. The problem consists of them then.
template <class F>
void for_each_bilateral(const Model& model, const Coordinates& x, const JointKinematics& kin, std::span<const double> q,
                        bool rigid_only, ConstraintProblem& p, F f) {
  const auto wanted = [&](const Compliance& c) { return !rigid_only || !c.compliant(); };
  BlockWriter writer(p);
  for (int i = 0; i < model.joint_count(); ++i) {
    const Joint& j = model.joints()[static_cast<std::size_t>(i)];
    if (joint_rows(j) == 0 || j.rope || x.holds(i) || !wanted(j.compliance)) continue;
    write_joint_block(model, x, kin, i, writer, p);
  }
  for (int i = 0; i < model.scalar_count(); ++i) {
    const Limit& limit = model.scalars()[static_cast<std::size_t>(i)].limit;
    if (!limit.locked() || !wanted(limit.compliance)) continue;
    write_locked_block(model, x, kin, i, writer, p);
  }
  for (int i = 0; i < static_cast<int>(model.couplings().size()); ++i) {
    const Compliance& c = model.couplings()[static_cast<std::size_t>(i)].compliance;
    if (wanted(c)) write_coupling_block(model, x, kin, q, i, writer, p);
  }
  writer.finish();
  constexpr int kLeast = 64;
  Workers::here().ranges(static_cast<int>(p.blocks.size()), kLeast, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const ConstraintBlock& b = p.blocks[static_cast<std::size_t>(i)];
      const Joint* j =
          b.source_kind == RowSource::joint ? &model.joints()[static_cast<std::size_t>(b.source)] : nullptr;
      if (j != nullptr && is_plain(*j, x)) {
        const bool anchored = j->base == kWorld;
        put_joint_rows(*j, kin.frame(b.source), b.rows, anchored ? nullptr : p.jacobian_row(b, 0, 0),
                       p.jacobian_row(b, anchored ? 0 : 1, 0));
      }
      f(b);
    }
  });
}

double bilateral_erp(const Model& model, const ConstraintBlock& b, double fallback) {
  double erp = kUseDefault;
  if (b.source_kind == RowSource::joint) erp = model.joints()[static_cast<std::size_t>(b.source)].erp;
  if (b.source_kind == RowSource::coupling) erp = model.couplings()[static_cast<std::size_t>(b.source)].erp;
  if (b.source_kind == RowSource::locked_dof) erp = model.scalars()[static_cast<std::size_t>(b.source)].limit.erp;
  return erp == kUseDefault ? fallback : erp;
}

int body_of(const Model& model, const ConstraintBlock& b) {
  int joint = b.source;
  if (b.source_kind == RowSource::coupling) {
    joint = model.joint_of_dof(model.couplings()[static_cast<std::size_t>(b.source)].dof_a);
  } else if (b.source_kind == RowSource::locked_dof) {
    joint = model.joint_of_dof(b.source);
  }
  const Joint& j = model.joints()[static_cast<std::size_t>(joint)];
  return j.follower == kWorld ? j.base : j.follower;
}

void set_rigid_joint(const RowContext& c, const ConstraintBlock& b, ConstraintProblem& p) {
  const Scheme& scheme = c.scheme_at(body_of(c.model, b));
  const double erp = c.projected ? 0.0 : bilateral_erp(c.model, b, c.options.erp_joint);
  double r_start[kMaxBlockRows] = {};
  double r_predicted[kMaxBlockRows] = {};
  if (erp != 0 || scheme.curvature != 0) bilateral_residual(c.model, b, c.start, c.q, r_start);
  if (scheme.curvature != 0) bilateral_residual(c.model, b, c.predicted, c.q, r_predicted);
  double v_minus[kMaxBlockRows];
  p.multiply_J(b, c.u_minus.data(), v_minus);
  for (int r = 0; r < b.rows; ++r) {
    const double kappa = (r_predicted[r] - r_start[r]) / c.dt - v_minus[r];
    double& bias = p.bias[static_cast<std::size_t>(b.row + r)];
    bias = erp * r_start[r] / c.dt + scheme.joint_law * v_minus[r] + scheme.curvature * kappa;
  }
}

// Residuals where the rows are; a spring needs neither curvature nor ERP to find the end of the step.
void set_compliant_joint(const RowContext& c, const Compliance& compliance, const ConstraintBlock& b,
                         ConstraintProblem& p) {
  double residual[kMaxBlockRows];
  const int translational = bilateral_residual(c.model, b, c.kinematics, c.q, residual);
  const BlockMatrix D = block_delassus(p, b);
  for (int r = 0; r < b.rows; ++r) {
    const auto i = static_cast<std::size_t>(b.row + r);
    const RowMotion state{c.dt, residual[r], row_velocity(p, b, r, c.u_minus), row_velocity(p, b, r, p.u_free),
                          D(r, r)};
    const CompliantRow row = bilateral_row(compliance, state, r >= translational);
    p.R[i] = row.R;
    p.bias[i] = row.bias;
  }
}

}  // namespace

// Each body uses its own anchor; n points from base to follower.
DofRow distance_row(const Joint& j, const JointFrame& f) {
  const Vec3 d = f.p_F_W - f.p_B_W;
  const double length = d.norm();
  const Vec3 n = length > 1e-12 * j.length ? Vec3(d / length) : Vec3::UnitZ();
  return {j.base, j.follower, spatial(-n, -Vec3(f.p_B_W - f.r_B_W).cross(n)),
          spatial(n, Vec3(f.p_F_W - f.r_F_W).cross(n))};
}

BlockReach block_reach(const Model& model, const JointKinematics& kinematics, const ConstraintBlock& b) {
  switch (b.source_kind) {
    case RowSource::joint:
      return {kinematics.translational_rows(b.source), 1.0, model.joint_size(b.source)};
    case RowSource::swing_limit:
      return {b.rows, model.joint_size(b.source), 0.0};
    case RowSource::rope:
    case RowSource::contact:
      return {b.rows, 1.0, 0.0};
    case RowSource::coupling:
      return {b.rows, first_reach(model, b), 0.0};
    default:
      return {b.rows, model.reach(b.source), 0.0};
  }
}

bool is_compliant(const Model& model, const ConstraintBlock& b) {
  const bool bilateral = b.source_kind == RowSource::joint || b.source_kind == RowSource::coupling ||
                         b.source_kind == RowSource::locked_dof;
  return bilateral && compliance_of(model, b).compliant();
}

void set_position_rows(const Model& model, Coordinates& coordinates, std::span<const Pose> X_WB,
                       const JointKinematics& kinematics, std::span<const double> q, ConstraintProblem& p) {
  coordinates.mass_blocks(X_WB, p.mass, p.mass_inverse);
  for_each_bilateral(model, coordinates, kinematics, q, true, p, [&](const ConstraintBlock& b) {
    bilateral_residual(model, b, kinematics, q, p.bias.data() + b.row);
  });
}

double position_residuals(const Model& model, std::span<const ConstraintBlock> joint_blocks, bool may_give,
                          const JointKinematics& kinematics, std::span<const double> q, Eigen::Ref<VecX> residual,
                          std::span<const std::uint8_t> released) {
  constexpr int kLeast = 64;
  double largest = 0;
  std::mutex mutex;
  Workers::here().ranges(static_cast<int>(joint_blocks.size()), kLeast, [&](int begin, int end) {
    double most = 0;
    for (int i = begin; i < end; ++i) {
      const ConstraintBlock& b = joint_blocks[static_cast<std::size_t>(i)];
      double* r = residual.data() + b.row;
      const int first = bilateral_residual(model, b, kinematics, q, r);
      if (may_give && is_compliant(model, b)) std::fill(r, r + b.rows, 0.0);
      for (int k = 0; k < b.rows && !released.empty(); ++k) {
        if (released[static_cast<std::size_t>(b.row + k)] != 0) r[k] = 0;
      }
      const int joint = joint_of(model, b);
      const double size = model.joint_size(joint);
      const double reach = first_reach(model, b);
      const double noise = reach == size ? 0 : round_off(kinematics.frame(joint));
      for (int k = 0; k < b.rows; ++k) {
        const double share = k < first ? (std::abs(r[k]) * reach - noise) / size : std::abs(r[k]);
        if (!(share <= most)) most = std::isnan(share) ? kInf : share;
      }
    }
    const std::lock_guard lock(mutex);
    if (!(most <= largest)) largest = most;
  });
  return largest;
}

void set_joint_rows(const RowContext& c, ConstraintProblem& p) {
  for_each_bilateral(c.model, c.coordinates, c.kinematics, c.q, false, p, [&](const ConstraintBlock& b) {
    const Compliance& compliance = compliance_of(c.model, b);
    compliance.compliant() ? set_compliant_joint(c, compliance, b, p) : set_rigid_joint(c, b, p);
  });
}

}  // namespace sarrus
