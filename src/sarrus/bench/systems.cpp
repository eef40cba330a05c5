#include "sarrus/bench/systems.h"

#include <fmt/format.h>

#include <algorithm>

#include "sarrus/analysis/analysis.h"
#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/scenes/scalable.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus {
namespace {

constexpr std::string_view kTableTwo = "maximal-coordinate suite (Table II)";
constexpr std::string_view kAdmmPaper = "proximal ADMM paper";
constexpr std::string_view kSapPaper = "SAP paper";
constexpr std::string_view kMlcpPaper = "MLCP paper";
constexpr std::string_view kImplicitPaper = "compliant-constraint paper";
constexpr std::string_view kClosedLoops = "closed loops";

struct Row {
  const char* scene;
  std::string_view group;
  bool pushed = false;
  bool quick = false;
  double duration = 0;
};

// Table II first, in its order.
constexpr Row kRows[] = {{"box_on_plane", kTableTwo, false, true},
                         {"boxes_fixed", kTableTwo, false, true},
                         {"nunchuk", kTableTwo, false, true},
                         {"fourbar_fixed", kTableTwo, false, true},
                         {"fourbar_free", kTableTwo, false, true},
                         {"arm7d", kTableTwo, true, true},
                         {"quadruped", kTableTwo, true, true},
                         {"bdx_like", kTableTwo, true, true},
                         {"lima_like", kTableTwo, true, true},
                         {"misha_like", kTableTwo, true, true},
                         {"walker_like", kTableTwo, true, true},
                         {"gazelle_like", kTableTwo, true, true},
                         {"ironman_like", kTableTwo, true, true},
                         {"box_wall", kAdmmPaper, false, true},
                         {"stack15", kAdmmPaper},
                         {"clutter40_soft", kSapPaper, false, true},
                         {"clutter40_soft_open", kSapPaper},
                         {"spring_cylinder", kSapPaper},
                         {"slip_control", kSapPaper},
                         {"log_grasp", kMlcpPaper},
                         {"winch", kMlcpPaper},
                         {"closed_loop_drop", kMlcpPaper, false, true},
                         {"brick_wall", kMlcpPaper},
                         {"foundation_cube", kImplicitPaper},
                         {"incline_hertz", kImplicitPaper, false, true},
                         {"sphere_stack100", kImplicitPaper},
                         {"pendulum_stop", kImplicitPaper, false, false, 0.1},
                         {"jansen_walker", kClosedLoops, false, true, 5},
                         {"stewart_platform", kClosedLoops, false, true, 5},
                         {"bennett_linkage", kClosedLoops, false, true, 5},
                         {"delta_robot", kClosedLoops, false, true},
                         {"fivebar_leg", kClosedLoops, false, true},
                         {"ring20", kClosedLoops},
                         {"jansen_swarm20", kClosedLoops, false, false, 0.5}};

// The size sweep of the clutter, with and without walls; 40 bodies are scenes of their own.
constexpr int kClutterSizes[] = {4, 8, 16, 80, 160};

std::vector<BenchSystem> all_systems() {
  std::vector<BenchSystem> out;
  for (const Row& r : kRows) {
    const std::string id = r.scene;
    out.push_back({id, r.group, [id] { return make_scene(id); }, r.pushed, r.quick, r.duration});
  }
  for (const bool walls : {true, false}) {
    for (const int n : kClutterSizes) {
      out.push_back({fmt::format("clutter{}_soft{}", n, walls ? "" : "_open"), kSapPaper,
                     [n, walls] { return make_soft_clutter(n, walls); }, false, false, 5});
    }
  }
  return out;
}

}  // namespace

const std::vector<BenchSystem>& bench_systems() {
  static const std::vector<BenchSystem> systems = all_systems();
  return systems;
}

const BenchSystem& bench_system(std::string_view id) {
  std::vector<std::string> known;
  for (const BenchSystem& s : bench_systems()) {
    if (s.id == id) return s;
    known.push_back(s.id);
  }
  const std::string near = nearest_name(id, known);
  throw InputError(fmt::format("system '{}'", id), near.empty()
                                                       ? std::string("unknown; `sarrus bench systems` lists them")
                                                       : fmt::format("unknown; did you mean '{}'?", near));
}

int pushed_body(const Model& model) {
  std::vector<bool> welded(static_cast<std::size_t>(model.body_count()), false);
  for (const Joint& j : model.joints()) {
    if (j.type != JointType::fixed) continue;
    if (j.base == kWorld && j.follower != kWorld) welded[static_cast<std::size_t>(j.follower)] = true;
    if (j.follower == kWorld && j.base != kWorld) welded[static_cast<std::size_t>(j.base)] = true;
  }
  int best = -1;
  for (int i = 0; i < model.body_count(); ++i) {
    if (welded[static_cast<std::size_t>(i)]) continue;
    const double mass = model.bodies()[static_cast<std::size_t>(i)].mass;
    if (best < 0 || mass > model.bodies()[static_cast<std::size_t>(best)].mass) best = i;
  }
  return best;
}

void apply_push(Simulation& sim, int body, const Push& push) {
  // Half a step of slack: the time is a sum of steps.
  const double t = sim.time() + 0.5 * sim.dt();
  const bool on = t >= push.start && t < push.start + push.duration;
  Vec6 wrench = Vec6::Zero();
  if (on) wrench[0] = push.force;
  sim.set_body_wrench(body, wrench);
}

SystemInfo describe(const BenchSystem& system, const Model& model) {
  SystemInfo info;
  info.id = system.id;
  info.group = system.group;
  info.summary = model.description();
  info.bodies = model.body_count();
  info.joints = model.joint_count();
  info.loops = static_cast<int>(model.loop_joints().size());
  double lightest = kInf, heaviest = 0;
  for (const Body& b : model.bodies()) {
    lightest = std::min(lightest, b.mass);
    heaviest = std::max(heaviest, b.mass);
  }
  info.mass_ratio = heaviest / lightest;
  info.dt = model.defaults().dt;
  info.duration = system.duration > 0 ? system.duration : model.defaults().duration;
  Simulation sim(model);
  const ConstraintProblem& problem = sim.assemble();
  info.joint_rows = problem.rows_of(BlockKind::joint);
  info.joint_rank = joint_rank(problem);
  info.mobility = problem.velocity_size() - info.joint_rank;
  return info;
}

}  // namespace sarrus
