// Stand-ins for the robots of the benchmark of Tsounis et al. ([T] Table II) whose data are not public: they have the
// same bodies, joints, rows, rank, mobility, mass ratio and actuation, and none of the shape. Rules:
// docs/theory/benchmarks.md §1.1, standin_modules.h. Each seed is the first whose figure has the rank of the table,
// non-zero singular values above 1e-4 of the largest, and no overlap at the start. The push of the benchmark (20 N for
// 0.1 s at 2 s) is an input of the run, not of the model.
#include "sarrus/scenes/standin_modules.h"

namespace sarrus::scenes {
namespace {

// A limb and its mirror image.
void add_pair(StandinPlan& plan, const LimbPlan& left) {
  LimbPlan right = left;
  right.name = "right_" + left.name;
  right.root.y() = -left.root.y();
  right.along.y() = -left.along.y();
  plan.limbs.push_back(left);
  plan.limbs.back().name = "left_" + left.name;
  plan.limbs.push_back(right);
}

LimbPlan arm_plan(std::string_view modules, const StandinPlan& plan) {
  LimbPlan arm;
  arm.name = "arm";
  arm.modules = modules;
  arm.root = Vec3(0, plan.torso_half_extents.y(), 0.8 * plan.torso_half_extents.z());
  arm.along = Vec3(0, 0.8, -0.6);
  arm.kind = 1;
  return arm;
}

LimbPlan leg_plan(std::string_view modules, const StandinPlan& plan) {
  LimbPlan leg;
  leg.name = "leg";
  leg.modules = modules;
  leg.root = Vec3(0, 0.6 * plan.torso_half_extents.y(), -plan.torso_half_extents.z());
  leg.along = -Vec3::UnitZ();
  leg.kind = 2;
  leg.bend = radians(20);
  leg.stands = !plan.welded;
  return leg;
}

LimbPlan neck_plan(std::string_view modules, const StandinPlan& plan) {
  LimbPlan neck;
  neck.name = "neck";
  neck.modules = modules;
  neck.root = Vec3(0, 0, plan.torso_half_extents.z());
  neck.along = Vec3::UnitZ();
  neck.kind = 3;
  return neck;
}

// A small robot of 6 kg; the animated figures ("AA" in the paper) have 20 kg, shells and half the scale.
StandinPlan small_robot(double mass_ratio, std::uint64_t seed) {
  StandinPlan plan;
  plan.seed = seed;
  plan.scale = 0.3;
  plan.mass = 6;
  plan.mass_ratio = mass_ratio;
  plan.torso_half_extents = Vec3(0.04, 0.07, 0.06);
  return plan;
}

StandinPlan animated_figure(double mass_ratio, std::uint64_t seed) {
  StandinPlan plan;
  plan.seed = seed;
  plan.scale = 0.15;
  plan.mass = 20;
  plan.mass_ratio = mass_ratio;
  plan.shells = true;
  plan.torso_half_extents = Vec3(0.03, 0.05, 0.06);
  return plan;
}

}  // namespace

// Legs of 5 hinges, neck of 4. 15 bodies, 14 R: 70 rows of full rank, mobility 20, 14 driven, mass ratio 42.49.
Model bdx_like() {
  StandinPlan plan = small_robot(42.49, 1);
  plan.name = "bdx_like";
  plan.description = "Two-legged robot with a neck, 14 driven hinges, on a floor (stand-in for BDX).";
  add_pair(plan, leg_plan("trppf", plan));
  plan.limbs.push_back(neck_plan("ptrp", plan));
  return make_standin(plan);
}

// Legs of 6 hinges, arms of 4. 21 bodies, 20 R: 100 rows of full rank, mobility 26, 20 driven, mass ratio 321.39.
Model lima_like() {
  StandinPlan plan = small_robot(321.39, 1);
  plan.name = "lima_like";
  plan.description = "Humanoid with 20 driven hinges on a floor (stand-in for LIMA).";
  add_pair(plan, leg_plan("trpprf", plan));
  add_pair(plan, arm_plan("prtp", plan));
  return make_standin(plan);
}

// Arms of 5 hinges and a four-bar hand, neck of 5, torso welded. 22 bodies, 1 fixed + 23 R: 121 rows of rank 115,
// mobility 17, all 23 hinges driven (more drives than freedoms), mass ratio 90.67.
Model misha_like() {
  StandinPlan plan = animated_figure(90.67, 4);
  plan.name = "misha_like";
  plan.description = "Welded torso with two arms, four-bar hands and a neck, all hinges driven (stand-in for Misha).";
  plan.welded = true;
  plan.drives = LoopDrives::all;
  add_pair(plan, arm_plan("prtpr4", plan));
  plan.limbs.push_back(neck_plan("tprtp", plan));
  return make_standin(plan);
}

// Legs of 6 hinges and 3 four-bars. 31 bodies, 36 R: 180 rows of rank 162, mobility 24; driven are the serial hinges
// and the crank and rocker of each four-bar: 24, mass ratio 99.55.
Model walker_like() {
  StandinPlan plan = animated_figure(99.55, 2);
  plan.name = "walker_like";
  plan.description = "Two legs of six hinges and three four-bars each on a floor (stand-in for Walker).";
  plan.drives = LoopDrives::crank_and_rocker;
  add_pair(plan, leg_plan("tr4p4p4rf", plan));
  return make_standin(plan);
}

// Legs with two RSUR loops, arms and neck with a four-bar, a loose tail, torso welded. 38 bodies, 1 fixed, 36 R, 4 U,
// 4 S: 214 rows of rank 205, mobility 23; driven are 15 of 16 serial hinges and 7 cranks, mass ratio 1012.54.
Model gazelle_like() {
  StandinPlan plan = animated_figure(1012.54, 4);
  plan.name = "gazelle_like";
  plan.description = "Welded figure with planar and spatial loops in its limbs (stand-in for Gazelle).";
  plan.welded = true;
  add_pair(plan, leg_plan("trSpSp", plan));
  add_pair(plan, arm_plan("prt4", plan));
  plan.limbs.push_back(neck_plan("4p", plan));
  LimbPlan tail;
  tail.name = "tail";
  tail.modules = "o";
  tail.root = Vec3(-plan.torso_half_extents.x(), 0, 0);
  tail.along = Vec3(-0.8, 0, -0.6);
  tail.kind = 4;
  plan.limbs.push_back(tail);
  return make_standin(plan);
}

// Spatial loops in all limbs, torso welded. 54 bodies, 1 fixed + 36 R + 28 U + 2 S: 304 rows of full rank, mobility 20;
// driven are 7 serial hinges and 13 cranks, mass ratio 25544.44.
Model ironman_like() {
  StandinPlan plan = animated_figure(25544.44, 1);
  plan.name = "ironman_like";
  plan.description = "Welded figure of thirteen spatial loops, mass ratio 25544 (stand-in for IronMan).";
  plan.welded = true;
  add_pair(plan, leg_plan("pSUV", plan));
  add_pair(plan, arm_plan("rUVpV", plan));
  plan.limbs.push_back(neck_plan("Vp", plan));
  return make_standin(plan);
}

}  // namespace sarrus::scenes
