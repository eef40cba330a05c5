#include "sarrus/inverse/inverse_dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/cones.h"
#include "sarrus/math/error.h"
#include "sarrus/rows/rows.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/assembler.h"

namespace sarrus {
namespace {

// The model without its drives: their efforts are what is asked for.
Model without_drives(const Model& model) {
  ModelData d = model.data();
  for (Dof& dof : d.dofs) dof.drive = {};
  for (Combination& c : d.combinations) c.law.drive = {};
  return finish_model(std::move(d));
}

std::vector<bool> actuated_dofs(const Model& model, bool all) {
  std::vector<bool> out;
  for (int i = 0; i < model.scalar_count(); ++i) {
    const bool driven = model.scalars()[static_cast<std::size_t>(i)].drive.mode != DriveMode::none;
    out.push_back(driven || (all && !model.is_combination(i)));
  }
  return out;
}

std::span<const int> nodes_of(const ConstraintBlock& b) { return {b.node, static_cast<std::size_t>(b.nodes)}; }

// Copies the Jacobian of a block, its rows combined by `mix` (rows of the result x rows of the source).
template <class Mix>
void copy_rows(const ConstraintProblem& from, const ConstraintBlock& source, const Mix& mix, ConstraintProblem& to,
               const ConstraintBlock& target) {
  for (int k = 0; k < source.nodes; ++k) {
    const int n = from.node_size[static_cast<std::size_t>(source.node[k])];
    for (int r = 0; r < target.rows; ++r) {
      double* out = to.jacobian_row(target, k, r);
      for (int s = 0; s < source.rows; ++s) {
        const double* J = from.jacobian.data() + source.jac[k] + s * n;
        for (int c = 0; c < n; ++c) out[c] += mix(r, s) * J[c];
      }
    }
  }
}

constexpr int kEffort = -1;  // source of a row of the least squares that is an actuated dof

}  // namespace

std::string_view name_of(InverseStatus status) {
  constexpr std::string_view names[] = {"realised", "underactuated", "infeasible", "not_converged"};
  return names[static_cast<std::size_t>(status)];
}

struct InverseDynamics::Impl {
  Impl(Model model_in, InverseOptions options_in)
      : options(std::move(options_in)),
        actuated(actuated_dofs(model_in, options.all_actuated)),
        assembler(without_drives(model_in), options.step),
        inputs(assembler.model()),
        linear(make_solver("cascade")),
        conic(make_solver("admm-ccp", {{"max_iterations", 20000}})) {}

  // How a block of `problem` enters: its impulse is known from u_ref, or it is an unknown of the least squares.
  struct Unknown {
    const ConstraintBlock* source;
    BlockKind kind;
    Vec3 ray;  // sliding contacts: the direction of the impulse in [t, o, n]
    bool sliding() const { return kind == BlockKind::limit && source->kind == BlockKind::contact; }
  };

  void undo_rotation();
  void known_impulses(std::span<const Vec3> start_W);
  void soft_block(const ConstraintBlock& b);
  void limit_block(const ConstraintBlock& b);
  void contact_block(const ConstraintBlock& b, std::span<const Vec3> start_W);
  void rigid_contact(const ConstraintBlock& b, const Vec3& c);
  void refuse(InverseStatus status, const std::string& what);
  void build_rest(double effort_weight);
  void add_rest(std::size_t unknown);
  void solve_rest();
  void report_efforts();
  double largest_impulse() const;
  std::string contact_name(const ConstraintBlock& b) const;

  InverseOptions options;
  std::vector<bool> actuated;
  Assembler assembler;
  Inputs inputs;
  std::unique_ptr<Solver> linear, conic;
  const ConstraintProblem* problem = nullptr;
  VecX u_ref;
  std::vector<Pose> start_poses, end_poses;  // before and after the step
  VecX velocity;                             // J u_ref + v* by row
  std::vector<Unknown> unknowns;
  ConstraintProblem rest;
  std::vector<double> rest_lambda;
  std::vector<int> effort_row;  // of `rest`, by dof
  InverseResult result;
};

void InverseDynamics::Impl::refuse(InverseStatus status, const std::string& what) {
  if (status == InverseStatus::infeasible) ++result.infeasible_rows;
  if (result.message.empty()) result.message = what;
  result.status = std::max(result.status, status);
}

std::string InverseDynamics::Impl::contact_name(const ConstraintBlock& b) const {
  const Contact& c = assembler.contacts()[static_cast<std::size_t>(b.source)];
  const auto& geoms = assembler.model().geoms();
  return fmt::format("contact between '{}' and '{}'", geoms[static_cast<std::size_t>(c.geom_a)].name,
                     geoms[static_cast<std::size_t>(c.geom_b)].name);
}

// Springs, dampers and armature follow from the rate; dry friction only if the dof moves.
void InverseDynamics::Impl::soft_block(const ConstraintBlock& b) {
  const auto i = static_cast<std::size_t>(b.row);
  const double v = velocity[b.row];
  double& lambda = result.impulses[i];
  if (problem->R[i] > 0) {
    lambda = std::clamp(-v / problem->R[i], problem->lower[i], problem->upper[i]);
  } else if (std::abs(v) > options.velocity_tolerance) {
    lambda = v > 0 ? problem->lower[i] : problem->upper[i];
  } else {
    unknowns.push_back({&b, BlockKind::soft, Vec3::Zero()});
  }
}

void InverseDynamics::Impl::limit_block(const ConstraintBlock& b) {
  const auto i = static_cast<std::size_t>(b.row);
  const double v = velocity[b.row];
  if (problem->R[i] > 0) {
    result.impulses[i] = std::max(0.0, -v / problem->R[i]);
  } else if (v < -options.velocity_tolerance) {
    refuse(InverseStatus::infeasible, fmt::format("the reference moves a limit or rope beyond its end at {:.3g} m/s or "
                                                  "rad/s",
                                                  -v));
  } else if (v <= options.velocity_tolerance) {
    unknowns.push_back({&b, BlockKind::limit, Vec3::Zero()});
  }
}

// A rigid contact: open, sticking or sliding by the reference, or impossible (docs/theory/inverse.md §2, §4).
void InverseDynamics::Impl::rigid_contact(const ConstraintBlock& b, const Vec3& c) {
  const double slip = length2(c[0], c[1]);
  const double surface = options.contact.law == Law::ncp ? 0.0 : b.mu * slip;
  const double opening = c[2] - surface;
  if (opening > options.velocity_tolerance) return;
  if (opening < -options.velocity_tolerance) {
    refuse(InverseStatus::infeasible,
           fmt::format(
               "{}: the reference {} at {:.3g} m/s, which no impulse of a rigid contact allows", contact_name(b),
               options.contact.law == Law::ncp ? "penetrates" : "leaves the dual cone of the convex model", -opening));
    return;
  }
  if (slip > options.velocity_tolerance) {
    unknowns.push_back({&b, BlockKind::limit, Vec3(-b.mu * c[0] / slip, -b.mu * c[1] / slip, 1.0)});
  } else {
    unknowns.push_back({&b, BlockKind::contact, Vec3::Zero()});
  }
}

void InverseDynamics::Impl::contact_block(const ConstraintBlock& b, std::span<const Vec3> start_W) {
  const auto i = static_cast<std::size_t>(b.row);
  const Vec3 R(problem->R[i], problem->R[i + 1], problem->R[i + 2]);
  Vec3 c = velocity.segment<3>(b.row);
  ++result.contacts;
  if (R.isZero(0)) {
    if (options.method == InverseMethod::analytical) {
      refuse(InverseStatus::infeasible, fmt::format("{}: is rigid; the analytical method needs compliance, give its "
                                                    "materials one or use the proximal method",
                                                    contact_name(b)));
      return;
    }
    if (options.minimum_torque) {
      rigid_contact(b, c);
      return;
    }
    // Rounding of a reference that holds the contact would be divided by rho.
    if (std::abs(c[2]) <= options.velocity_tolerance) c[2] = 0;
    if (length2(c[0], c[1]) <= options.velocity_tolerance) c[0] = c[1] = 0;
  }
  Vec3 lambda = Vec3::Zero();
  if (options.method == InverseMethod::analytical) {
    lambda = contact_inverse_closed_form(c, R, b.mu, options.contact.law);
  } else {
    const Contact& contact = assembler.contacts()[static_cast<std::size_t>(b.source)];
    const Vec3 start = start_W.empty()
                           ? Vec3(Vec3::Zero())
                           : Vec3(contact_frame(contact.n_W).transpose() * start_W[static_cast<std::size_t>(b.source)]);
    const ContactInverse answer = contact_inverse_proximal(c, R, b.mu, start, options.contact);
    result.iterations = std::max(result.iterations, answer.iterations);
    result.contact_residual = std::max(result.contact_residual, answer.natural_map);
    if (answer.status != SolveStatus::converged) {
      const bool infeasible = answer.status == SolveStatus::infeasible;
      refuse(infeasible ? InverseStatus::infeasible : InverseStatus::not_converged,
             fmt::format("{}: {} after {} iterations, velocity ({:.3g}, {:.3g}, {:.3g}) m/s", contact_name(b),
                         name_of(answer.status), answer.iterations, c[0], c[1], c[2]));
    }
    lambda = answer.lambda;
  }
  for (std::size_t k = 0; k < 3; ++k) result.impulses[i + k] = lambda[static_cast<Eigen::Index>(k)];
}

void InverseDynamics::Impl::known_impulses(std::span<const Vec3> start_W) {
  unknowns.clear();
  for (const ConstraintBlock& b : problem->blocks) {
    switch (b.kind) {
      case BlockKind::joint:
        unknowns.push_back({&b, BlockKind::soft, Vec3::Zero()});
        break;
      case BlockKind::soft:
        soft_block(b);
        break;
      case BlockKind::limit:
        limit_block(b);
        break;
      case BlockKind::contact:
        contact_block(b, start_W);
        break;
    }
  }
  // `rest` wants its blocks in segment order.
  std::stable_sort(unknowns.begin(), unknowns.end(),
                   [](const Unknown& a, const Unknown& b) { return a.kind < b.kind; });
}

void InverseDynamics::Impl::add_rest(std::size_t unknown) {
  const Unknown& u = unknowns[unknown];
  const ConstraintBlock& source = *u.source;
  const bool ray = u.sliding();
  ConstraintBlock& b = rest.add_block(u.kind, ray ? 1 : source.rows, nodes_of(source));
  b.mu = source.mu;
  b.source = static_cast<int>(unknown);
  const auto mix = [&](int r, int row) {
    if (ray) return u.ray[row];
    return r == row ? 1.0 : 0.0;
  };
  copy_rows(*problem, source, mix, rest, b);
  if (u.kind == BlockKind::soft) {
    for (int r = 0; r < b.rows; ++r) {
      rest.lower[static_cast<std::size_t>(b.row + r)] = problem->lower[static_cast<std::size_t>(source.row + r)];
      rest.upper[static_cast<std::size_t>(b.row + r)] = problem->upper[static_cast<std::size_t>(source.row + r)];
    }
  }
}

// From the twists after the step to the velocity that its problem was solved for: the step corrects the gyroscopic
// torque, moves, and carries angular velocities to the new poses (docs/theory/integrators.md §4). All three are
// O(dt^2), so that a few rounds of fixed point iteration undo them to round-off.
void InverseDynamics::Impl::undo_rotation() {
  constexpr int kRounds = 8;
  Coordinates& x = assembler.coordinates();
  const FreeMotion motion = assembler.free_motion(inputs, assembler.options().dt);
  const VecX after = u_ref;
  VecX carried = after;
  for (int i = 0; i < kRounds; ++i) {
    x.move(motion, start_poses, carried, end_poses);
    carried = after;
    x.carry(end_poses, assembler.row_poses(), carried);
  }
  u_ref = carried;
  if (!assembler.projection().has_rows()) return;
  for (int i = 0; i < kRounds; ++i) {
    VecX corrected = u_ref;
    x.correct_rotation(motion, corrected);
    u_ref += carried - corrected;
  }
}

// The least squares as a constraint problem: free velocity u_f - u_ref + M^-1 J' lambda_known.
void InverseDynamics::Impl::build_rest(double effort_weight) {
  rest.set_nodes(problem->node_size);
  rest.mass = problem->mass;
  rest.mass_inverse = problem->mass_inverse;
  rest.dt = problem->dt;
  VecX impulse(problem->velocity_size());
  problem->multiply_Jt(result.impulses, impulse);
  problem->multiply_M_inverse(impulse, rest.u_free);
  rest.u_free += problem->u_free - u_ref;
  rest.clear_constraints();
  std::size_t next = 0;
  for (; next < unknowns.size() && unknowns[next].kind == BlockKind::soft; ++next) add_rest(next);
  effort_row.assign(actuated.size(), -1);
  for (std::size_t i = 0; i < actuated.size(); ++i) {
    if (!actuated[i]) continue;
    const int dof = static_cast<int>(i);
    ConstraintBlock& b =
        with_scalar_row(assembler.model(), assembler.row_kinematics(), dof, [&](const auto& row) -> ConstraintBlock& {
          return add_dof_block(assembler.coordinates(), BlockKind::soft, RowSource::servo, dof, row, 1.0, rest);
        });
    b.source = kEffort;
    effort_row[i] = b.row;
  }
  for (; next < unknowns.size(); ++next) add_rest(next);
  VecX D(rest.rows());
  rest.diagonal_D_plus_R(D);
  for (int i = 0; i < rest.rows(); ++i) rest.R[static_cast<std::size_t>(i)] = options.tikhonov * D[i];
  for (const int row : effort_row) {
    if (row >= 0) rest.R[static_cast<std::size_t>(row)] = effort_weight * D[row];
  }
  rest.finish();
}

// Impulses of the unknowns, from the least squares back to the rows they came from.
void InverseDynamics::Impl::solve_rest() {
  rest_lambda.assign(static_cast<std::size_t>(rest.rows()), 0.0);
  const bool cones = rest.rows_of(BlockKind::contact) > 0;
  const SolveReport report = (cones ? conic : linear)->solve(rest, 1e-10, rest_lambda);
  const double residual = report.residuals.error(cones ? Law::ccp : Law::ncp);
  if (!report.residuals.finite || !(residual <= 1e-7)) {
    refuse(InverseStatus::not_converged,
           fmt::format("the least squares of efforts and joints stopped at a residual of {:.3g}", residual));
  }
  for (const ConstraintBlock& b : rest.blocks) {
    if (b.source == kEffort) continue;
    const Unknown& u = unknowns[static_cast<std::size_t>(b.source)];
    const double* lambda = rest_lambda.data() + b.row;
    for (int r = 0; r < u.source->rows; ++r) {
      result.impulses[static_cast<std::size_t>(u.source->row + r)] = u.sliding() ? lambda[0] * u.ray[r] : lambda[r];
    }
  }
}

void InverseDynamics::Impl::report_efforts() {
  const double dt = problem->dt;
  result.effort.assign(actuated.size(), 0.0);
  for (std::size_t i = 0; i < actuated.size(); ++i) {
    if (effort_row[i] >= 0) result.effort[i] = rest_lambda[static_cast<std::size_t>(effort_row[i])] / dt;
  }
  // Momentum that is left.
  JudgeWorkspace ws;
  judge(rest, rest_lambda, ws);
  VecX left(rest.velocity_size());
  rest.multiply_M(ws.u, left);
  if (left.size() == 0) return;
  result.unrealised = left.cwiseAbs().maxCoeff() / dt;
  result.largest_force = largest_impulse() / dt;
  // Without any force, what is left is the rounding of the momentum itself.
  VecX momentum(rest.velocity_size());
  rest.multiply_M(u_ref, momentum);
  const double rounding = 1e-12 * momentum.cwiseAbs().maxCoeff() / dt;
  if (!(result.unrealised <= options.force_tolerance * result.largest_force + rounding)) {
    result.status = std::max(result.status, InverseStatus::underactuated);
  }
}

// The largest part of the momentum balance: inertia, forces from outside, every row and effort by itself, since those
// that cancel each other leave rounding errors of their own size.
double InverseDynamics::Impl::largest_impulse() const {
  const auto largest_momentum = [&](const VecX& change) {
    VecX impulse(change.size());
    problem->multiply_M(change, impulse);
    return impulse.cwiseAbs().maxCoeff();
  };
  double largest =
      std::max(largest_momentum(u_ref - assembler.u_minus()), largest_momentum(problem->u_free - assembler.u_minus()));
  const auto add_block = [&](const ConstraintProblem& p, const ConstraintBlock& b, const double* lambda) {
    for (int k = 0; k < b.nodes; ++k) {
      const int n = p.node_size[static_cast<std::size_t>(b.node[k])];
      const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> J(
          p.jacobian.data() + b.jac[k], b.rows, n);
      const Eigen::Map<const VecX> l(lambda, b.rows);
      largest = std::max(largest, (J.transpose() * l).cwiseAbs().maxCoeff());
    }
  };
  for (const ConstraintBlock& b : problem->blocks) add_block(*problem, b, result.impulses.data() + b.row);
  for (const ConstraintBlock& b : rest.blocks) {
    if (b.source == kEffort) add_block(rest, b, rest_lambda.data() + b.row);
  }
  return largest;
}

InverseDynamics::InverseDynamics(Model model, InverseOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(options))) {}
InverseDynamics::~InverseDynamics() = default;
InverseDynamics::InverseDynamics(InverseDynamics&&) noexcept = default;
InverseDynamics& InverseDynamics::operator=(InverseDynamics&&) noexcept = default;

void InverseDynamics::set_state(const State& state) {
  check_state(state, impl_->assembler.model(), "InverseDynamics::set_state");
  impl_->assembler.forget();  // whatever was asked before
  impl_->assembler.assemble(state, impl_->inputs, impl_->assembler.options().dt);
  impl_->problem = &impl_->assembler.problem();
  impl_->start_poses = state.X_WB;
  impl_->end_poses = state.X_WB;
}

const InverseResult& InverseDynamics::solve(std::span<const Vec6> u_ref, std::span<const Vec3> start_W) {
  Impl& d = *impl_;
  if (d.problem == nullptr) throw InputError("InverseDynamics::solve", "call set_state first");
  const auto bodies = static_cast<std::size_t>(d.assembler.model().body_count());
  if (u_ref.size() != bodies) {
    throw InputError("InverseDynamics::solve",
                     fmt::format("the reference has {} twists, the model {} bodies", u_ref.size(), bodies));
  }
  if (!start_W.empty() && start_W.size() != d.assembler.contacts().size()) {
    throw InputError("InverseDynamics::solve", fmt::format("{} start impulses were given, there are {} contacts",
                                                           start_W.size(), d.assembler.contacts().size()));
  }
  d.u_ref.resize(d.problem->velocity_size());
  d.assembler.coordinates().gather(d.assembler.row_poses(), u_ref, d.u_ref);
  if (!d.u_ref.allFinite()) throw InputError("InverseDynamics::solve", "the reference has a number that is not finite");
  if (d.assembler.scheme().rotation == Rotation::middle) d.undo_rotation();
  d.result = {};
  d.result.impulses.assign(static_cast<std::size_t>(d.problem->rows()), 0.0);
  d.velocity.resize(d.problem->rows());
  d.problem->multiply_J(d.u_ref, d.velocity);
  for (int i = 0; i < d.problem->rows(); ++i) d.velocity[i] += d.problem->bias[static_cast<std::size_t>(i)];
  d.known_impulses(start_W);
  const bool choice = std::any_of(d.unknowns.begin(), d.unknowns.end(),
                                  [](const Impl::Unknown& u) { return u.source->kind != BlockKind::joint; });
  if (choice) {
    d.build_rest(d.options.minimum_torque ? d.options.torque_weight : d.options.tikhonov);
    d.solve_rest();
    // With the choice made, efforts and joints once more without the weight, which would leave a part of the force.
    std::erase_if(d.unknowns, [](const Impl::Unknown& u) { return u.source->kind != BlockKind::joint; });
    for (const Impl::Unknown& u : d.unknowns) {
      std::fill_n(d.result.impulses.begin() + u.source->row, u.source->rows, 0.0);
    }
  }
  d.build_rest(d.options.tikhonov);
  d.solve_rest();
  d.report_efforts();
  return d.result;
}

const ConstraintProblem& InverseDynamics::problem() const { return *impl_->problem; }
std::span<const Contact> InverseDynamics::contacts() const { return impl_->assembler.contacts(); }
const std::vector<bool>& InverseDynamics::actuated() const { return impl_->actuated; }

}  // namespace sarrus
