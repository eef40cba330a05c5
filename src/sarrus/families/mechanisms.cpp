// Stand-ins for legged machines (docs/theory/benchmarks.md §6, §1.1): a torso, limbs of revolute links that
// stand on the floor, and four-bar modules.
//
// Only what lies between torso and foot is felt by the contacts, and every foot is held in all six directions (its
// contacts span an ellipse). Hence, with generic axes,
//   rank D = rank of the joints + degrees of freedom of the torso + those of the limbs up to the feet
// which fixes how many modules are in line with a limb and how many are side branches:
//
//               joint rows (rank)  torso  limbs: serial + four-bars in line  side branches          rank D
//   walker31    180 (162)          6      12 + 2                             4 four-bars            182
//   gazelle38   226 (205)          0      12 + 1                             4 links, 6 four-bars   218
//   ironman54   312 (297)          0      14 + 1                             12 four-bars (R R R S) 312
// Redundant rows: 3 per planar four-bar, 1 if it is closed by a spherical joint.
#include <cmath>
#include <numbers>
#include <vector>

#include "sarrus/families/makers.h"
#include "sarrus/families/plan.h"
#include "sarrus/math/so3.h"

namespace sarrus::families {
namespace {

struct Recipe {
  double mass_ratio;
  bool welded;
  std::vector<int> limb_links;  // serial links by limb
  int inline_fourbars;          // at the hips of the last limbs
  int side_links;
  int side_fourbars;
  JointType side_closure;
  int contacts_per_limb;
};

constexpr double kHeaviest = 20;  // kg, the torso
constexpr double kMu = 0.7;
const Vec3 kTorsoHalf(0.22, 0.16, 0.06);
constexpr double kTorsoHeight = 0.5;
constexpr double kAnkle = 0.03;

// Four-bar with sides (1, .9, 1.1, 1) l in the plane across the axis, its coupler on the side e2 of the ground.
Quadrilateral module_points(Random& random, const Vec3& A, const Vec3& axis, const Vec3& e2, double l) {
  return quadrilateral(A, e2.cross(axis), e2, l, 0.9 * l, 1.1 * l, l, random.uniform(1.1, 2.0));
}

// The foot's contacts on an ellipse, every fifth of them (on average) open.
void add_foot_contacts(Plan& plan, Random& random, int foot, const Vec3& centre, int count) {
  const double turn = random.uniform(0, 2 * std::numbers::pi);
  for (int i = 0; i < count; ++i) {
    const double a = turn + 2 * std::numbers::pi * i / count;
    const Vec3 point(centre.x() + 0.06 * std::cos(a), centre.y() + 0.045 * std::sin(a), 0);
    plan.add_contact(kWorld, foot, point, kMu, random.chance(0.2) ? kSmallGap : 0.0);
  }
}

struct Limb {
  std::vector<int> links;
};

// Points of a limb from hip to foot, arched like a spider's leg, and the axes at them.
struct LimbShape {
  std::vector<Vec3> points;
  std::vector<Vec3> axes;
};
LimbShape limb_shape(Random& random, const Vec3& hip, double angle, int count) {
  const Vec3 outward(std::cos(angle), std::sin(angle), 0);
  const Vec3 across(-outward.y(), outward.x(), 0);
  const double reach = random.uniform(0.25, 0.35);
  const Vec3 foot(hip.x() + reach * outward.x(), hip.y() + reach * outward.y(), kAnkle);
  LimbShape shape;
  for (int i = 0; i < count; ++i) {
    const double s = static_cast<double>(i) / count;
    Vec3 point = hip + s * (foot - hip);
    if (i > 0) point += 0.5 * s * (1 - s) * Vec3::UnitZ() + random.in_box(0.04);
    const bool yaw = count > 2 && i == 1;
    shape.points.push_back(point);
    shape.axes.push_back(((yaw ? Vec3(Vec3::UnitZ()) : across) + random.in_box(0.3)).normalized());
  }
  shape.points.push_back(foot);
  return shape;
}

// A foot must be able to leave the floor (v_N > mu |v_T| at all of its contacts): a limb with three arbitrary axes
// often jams, and then nothing says that the problem has a solution.
Limb add_limb(Plan& plan, Random& random, int torso, double angle, int count, bool fourbar, int contacts) {
  Vec3 hip(kTorsoHalf.x() * std::cos(angle), kTorsoHalf.y() * std::sin(angle), kTorsoHeight - kTorsoHalf.z());
  int parent = torso;
  if (fourbar) {
    const Vec3 axis(-std::sin(angle), std::cos(angle), 0);
    const Quadrilateral q = module_points(random, hip, axis, -Vec3::UnitZ(), 0.1);
    parent = add_fourbar(plan, torso, q, axis, JointType::revolute).coupler;
    hip = q.C;
  }
  const LimbShape shape = limb_shape(random, hip, angle, count);
  Limb limb;
  for (std::size_t i = 0; i + 1 < shape.points.size(); ++i) {
    const int link = plan.add_bar(1.0, shape.points[i], shape.points[i + 1], 0.03);
    plan.add_hinge(parent, link, shape.points[i], shape.axes[i]);
    limb.links.push_back(link);
    parent = link;
  }
  add_foot_contacts(plan, random, parent, shape.points.back(), contacts);
  return limb;
}

// Serial links without contact, two to a branch, on top of the torso.
void add_side_links(Plan& plan, Random& random, int torso, int count) {
  int parent = torso;
  Vec3 from = Vec3::Zero();
  for (int i = 0; i < count; ++i) {
    if (i % 2 == 0) {
      parent = torso;
      from = random.in_box(0.1);
      from.z() = kTorsoHeight + kTorsoHalf.z();
    }
    const double length = random.log_uniform(0.08, 0.2);
    const Vec3 to = from + length * (Vec3::UnitZ() + random.in_box(0.5)).normalized();
    const int link = plan.add_bar(1.0, from, to);
    plan.add_hinge(parent, link, from, random.direction());
    parent = link;
    from = to;
  }
}

// Exact ratio: the torso is the heaviest body, one foot the lightest; the others lie between, log-uniform.
void set_masses(Plan& plan, Random& random, int torso, int lightest, double ratio) {
  for (int i = 0; i < plan.body_count(); ++i) plan.set_mass(i, kHeaviest * std::pow(ratio, -random.uniform(0.1, 0.9)));
  plan.set_mass(torso, kHeaviest);
  plan.set_mass(lightest, kHeaviest / ratio);
}

ConstraintProblem make(const Recipe& recipe, std::uint64_t seed) {
  Random random(seed);
  Plan plan(0.1);
  const int torso = plan.add_box(1.0, kTorsoHalf, {Vec3(0, 0, kTorsoHeight)});
  if (recipe.welded) plan.add_joint(JointType::fixed, kWorld, torso, Vec3(0, 0, kTorsoHeight));
  const auto limbs = static_cast<int>(recipe.limb_links.size());
  std::vector<int> carriers = {torso};
  std::vector<int> feet;
  for (int i = 0; i < limbs; ++i) {
    const double angle = 2 * std::numbers::pi * (i + 0.5) / limbs;
    const bool fourbar = i >= limbs - recipe.inline_fourbars;
    const Limb limb = add_limb(plan, random, torso, angle, recipe.limb_links[static_cast<std::size_t>(i)], fourbar,
                               recipe.contacts_per_limb);
    carriers.insert(carriers.end(), limb.links.begin(), limb.links.end());
    feet.push_back(limb.links.back());
  }
  add_side_links(plan, random, torso, recipe.side_links);
  for (int i = 0; i < recipe.side_fourbars; ++i) {
    const int carrier = carriers[static_cast<std::size_t>(random.below(static_cast<int>(carriers.size())))];
    const Vec3 axis = random.direction();
    const Vec3 side = axis.cross(random.direction()).normalized();
    const Vec3 anchor = plan.centre(carrier) + random.in_box(0.02);
    const Quadrilateral q = module_points(random, anchor, axis, side, random.log_uniform(0.05, 0.15));
    add_fourbar(plan, carrier, q, axis, recipe.side_closure);
  }
  const int lightest = feet[static_cast<std::size_t>(random.below(limbs))];
  set_masses(plan, random, torso, lightest, recipe.mass_ratio);
  return plan.assemble(random);
}

}  // namespace

ConstraintProblem walker31(std::uint64_t seed) {
  return make({.mass_ratio = 1e2,
               .welded = false,
               .limb_links = {3, 3, 3, 3},
               .inline_fourbars = 2,
               .side_links = 0,
               .side_fourbars = 4,
               .side_closure = JointType::revolute,
               .contacts_per_limb = 10},
              seed);
}

ConstraintProblem gazelle38(std::uint64_t seed) {
  return make({.mass_ratio = 1e3,
               .welded = true,
               .limb_links = {3, 3, 3, 3},
               .inline_fourbars = 1,
               .side_links = 4,
               .side_fourbars = 6,
               .side_closure = JointType::revolute,
               .contacts_per_limb = 6},
              seed);
}

ConstraintProblem ironman54(std::uint64_t seed) {
  return make({.mass_ratio = 25544,
               .welded = true,
               .limb_links = {3, 3, 3, 3, 2},
               .inline_fourbars = 1,
               .side_links = 0,
               .side_fourbars = 12,
               .side_closure = JointType::spherical,
               .contacts_per_limb = 4},
              seed);
}

}  // namespace sarrus::families
