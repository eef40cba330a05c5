#include "common.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <queue>

#include "sarrus/bench/trajectory.h"
#include "sarrus/collision/filter.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::peers {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// False if a number is not finite: the run is over then.
bool sample(Engine& engine, double time, std::vector<BodyMotion>& bodies, Trajectory& out) {
  engine.read(bodies);
  bool finite = true;
  out.time.push_back(time);
  for (const BodyMotion& b : bodies) {
    const Quat q = b.X_WB.q.normalized();
    const double numbers[kNumbersPerBody] = {b.X_WB.p.x(), b.X_WB.p.y(), b.X_WB.p.z(), q.w(),     q.x(),
                                             q.y(),        q.z(),        b.v_W.x(),    b.v_W.y(), b.v_W.z(),
                                             b.w_W.x(),    b.w_W.y(),    b.w_W.z()};
    out.motion.insert(out.motion.end(), std::begin(numbers), std::end(numbers));
    for (const double x : numbers) finite = finite && std::isfinite(x);
  }
  return finite;
}

void simulate(const Model& model, const Arguments& a, const MakeEngine& make, Trajectory& out) {
  using Clock = std::chrono::steady_clock;
  const std::unique_ptr<Engine> engine = make(model, a);
  out.version = engine->version();
  out.setting_text = engine->setting_text();
  const auto steps = static_cast<int>(std::lround(a.duration / a.dt));
  const int every = std::max(1, static_cast<int>(std::lround(a.sample / a.dt)));
  std::vector<BodyMotion> bodies(at(model.body_count()));
  sample(*engine, 0, bodies, out);
  for (int i = 1; i <= steps; ++i) {
    const Clock::time_point begin = Clock::now();
    engine->step();
    out.step_seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    if (i % every != 0 && i != steps) continue;
    if (!sample(*engine, i * a.dt, bodies, out)) {
      out.status = fmt::format("unstable: not finite at {:.3g} s", i * a.dt);
      return;
    }
  }
}

Quat orientation(const Model& model, int body) {
  return body == kWorld ? Quat::Identity() : model.bodies()[at(body)].X_WB0.q;
}

void require_plain_joint(const Joint& j) {
  const auto refuse = [&](std::string_view what) { throw NotSupported(fmt::format("joint '{}': {}", j.name, what)); };
  if (j.type != JointType::revolute && j.type != JointType::fixed && j.type != JointType::spherical) {
    refuse(fmt::format("{} joints are not translated", joint_type_info(j.type).name));
  }
  if (j.swing_limit < kUnlimited) refuse("swing limits are not translated");
}

}  // namespace

int run(int argc, char** argv, const std::string& engine, const MakeEngine& make) {
  CLI::App app("A built-in scene of sarrus computed by " + engine);
  Arguments a;
  app.add_option("--scene", a.scene)->required();
  app.add_option("--setting", a.setting)->check(CLI::IsMember({"default", "stiff"}));
  app.add_option("--level", a.level)->check(CLI::NonNegativeNumber);
  app.add_option("--dt", a.dt)->check(CLI::PositiveNumber);
  app.add_option("--duration", a.duration)->check(CLI::PositiveNumber);
  app.add_option("--sample", a.sample)->check(CLI::PositiveNumber);
  app.add_option("--output", a.output)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const Model model = make_scene(a.scene);
    if (a.dt == 0) a.dt = model.defaults().dt;
    if (a.duration == 0) a.duration = model.defaults().duration;
    if (a.sample == 0) a.sample = 0.01;
    Trajectory out;
    out.engine = engine;
    out.setting = a.setting;
    out.scene = a.scene;
    out.dt = a.dt;
    out.bodies = model.body_count();
    try {
      require_simple(model);
      simulate(model, a, make, out);
    } catch (const NotSupported& e) {
      out.status = std::string("not supported: ") + e.what();
    }
    save_trajectory(a.output, out);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", engine, e.what());
    return 1;
  }
}

std::vector<TreeLink> spanning_tree(const Model& model) {
  const std::vector<int>& loops = model.loop_joints();
  std::vector<TreeLink> links;
  std::vector<bool> seen(at(model.body_count()), false);
  const auto grow = [&](int root) {
    std::queue<int> open({root});
    while (!open.empty()) {
      const int parent = open.front();
      open.pop();
      for (int j = 0; j < model.joint_count(); ++j) {
        const Joint& joint = model.joints()[at(j)];
        if (joint.base != parent && joint.follower != parent) continue;
        if (joint.type == JointType::free || std::ranges::count(loops, j) > 0) continue;
        const int child = joint.base == parent ? joint.follower : joint.base;
        if (child == kWorld || seen[at(child)]) continue;
        seen[at(child)] = true;
        links.push_back({child, parent, j});
        open.push(child);
      }
    }
  };
  grow(kWorld);
  for (int body = 0; body < model.body_count(); ++body) {
    if (seen[at(body)]) continue;
    seen[at(body)] = true;
    links.push_back({body, kWorld, -1});
    grow(body);
  }
  return links;
}

std::vector<Joint> loop_joints(const Model& model) {
  std::vector<Joint> joints;
  for (const int j : model.loop_joints()) joints.push_back(model.joints()[at(j)]);
  return joints;
}

Pose reference_pose(const Model& model, int body) { return body == kWorld ? Pose{} : model.bodies()[at(body)].X_WB0; }

JointPlace place(const Model& model, const Joint& joint) {
  const Quat q_W = orientation(model, joint.base) * joint.q_BJ;
  return {reference_pose(model, joint.base) * joint.p_BJ, q_W * Vec3::UnitX(), q_W};
}

std::vector<int> colliding_geoms(const Model& model) {
  const PairFilter filter(model);
  const int n = static_cast<int>(model.geoms().size());
  std::vector<int> geoms;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      if (a == b || !filter.allowed(a, b)) continue;
      geoms.push_back(a);
      break;
    }
  }
  return geoms;
}

bool bodies_collide(const Model& model, int a, int b) {
  const PairFilter filter(model);
  const int n = static_cast<int>(model.geoms().size());
  for (int i = 0; i < n; ++i) {
    if (model.geoms()[at(i)].body != a) continue;
    for (int k = 0; k < n; ++k) {
      if (k != i && model.geoms()[at(k)].body == b && filter.allowed(i, k)) return true;
    }
  }
  return false;
}

double common_friction(const Model& model) {
  const ContactLaws laws(model);
  const std::vector<int> geoms = colliding_geoms(model);
  double mu = -1;
  for (const int a : geoms) {
    for (const int b : geoms) {
      if (a == b || (model.geoms()[at(a)].body == kWorld && model.geoms()[at(b)].body == kWorld)) continue;
      const ContactLaw& law = laws.between(a, b);
      if (law.restitution != 0) throw NotSupported("restitution is not translated");
      if (law.compliance >= 0) throw NotSupported("compliant contacts are not translated");
      if (mu >= 0 && std::abs(law.mu - mu) > 1e-12) throw NotSupported("contacts with different friction");
      mu = law.mu;
    }
  }
  return std::max(mu, 0.0);
}

void require_simple(const Model& model) {
  if (!model.couplings().empty()) throw NotSupported("couplings are not translated");
  if (!model.combinations().empty()) throw NotSupported("combinations of coordinates are not translated");
  if (!model.contact_pairs().empty()) throw NotSupported("contact pairs are not translated");
  for (const Body& b : model.bodies()) {
    if (b.gravity_scale != 1) throw NotSupported("shares of gravity are not translated");
  }
  for (const Joint& j : model.joints()) require_plain_joint(j);
  for (int d = 0; d < model.dof_count(); ++d) {
    const Dof& dof = model.dofs()[at(d)];
    const bool passive = dof.armature != 0 || dof.stiffness != 0 || dof.damping != 0 || dof.dry_friction != 0;
    if (dof.limit.active() || dof.drive.mode != DriveMode::none || passive) {
      throw NotSupported(
          fmt::format("dof '{}': drives, limits and passive forces are not translated", model.dof_name(d)));
    }
  }
  for (const Body& b : model.bodies()) {
    if (!b.v0_W.isZero() || !b.w0_W.isZero()) throw NotSupported("initial velocities are not translated");
    const Mat3 diagonal = b.inertia_B.diagonal().asDiagonal();
    if (!(b.inertia_B - diagonal).isZero(1e-12))
      throw NotSupported("bodies off their principal axes are not translated");
  }
  for (const int g : colliding_geoms(model)) {
    const ShapeKind kind = model.geoms()[at(g)].shape.kind;
    if (kind != ShapeKind::plane && kind != ShapeKind::box && kind != ShapeKind::sphere) {
      throw NotSupported(fmt::format("shape {} is not translated", name_of(kind)));
    }
  }
  common_friction(model);
}

}  // namespace sarrus::peers
