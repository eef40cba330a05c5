#include "sarrus/scenes/standin_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sarrus/math/random.h"
#include "sarrus/math/so3.h"

namespace sarrus::scenes {
namespace {

constexpr double kSmallestSide = 0.01;  // m
constexpr double kClearance = 0.005;    // m, start of free figures above the floor

struct FigureLink {
  std::string name;
  Pose X_TB;  // in the torso frame
  Vec3 half_extents;
  double shell = 0;  // half width of its shell, 0: none
  double mass = 0;
  int limb = -1;
  int module = -1;
};

struct FigureJoint {
  std::string name;
  JointType type = JointType::revolute;
  int base = 0;
  int follower = 0;
  Vec3 anchor;  // torso frame
  Quat axes;
  double drive = 0;  // sign of its target, 0: passive
};

// Links and joints in the torso frame; link 0 is the torso. Left and right limbs draw the same numbers.
class Figure {
 public:
  explicit Figure(const StandinPlan& plan) : plan_(plan) {
    links_.push_back({"torso", {}, plan.torso_half_extents});
    for (std::size_t i = 0; i < plan.limbs.size(); ++i) add_limb(static_cast<int>(i));
    draw_masses();
  }

  const std::vector<FigureLink>& links() const { return links_; }
  const std::vector<FigureJoint>& joints() const { return joints_; }

 private:
  // Position and direction in limb axes: forwards, across, along.
  struct Cursor {
    const LimbPlan* limb;
    Mat3 axes;  // limb axes in the torso frame; a mirror image for limbs on the right
    int index;  // of the limb
    int module = 0;
    int parent = 0;
    Vec3 tip = Vec3::Zero();
    double lean = 1;  // of the next pitch link
    double side = 1;  // of the next loop: the last link is in front or behind
    Vec3 point(const Vec3& x) const { return limb->root + axes * x; }
  };

  void add_limb(int index);
  void add_serial(Cursor& c, char letter, double length);
  void add_loop(Cursor& c, char letter, double length, Random& random);
  int add_link(const Cursor& c, std::string_view part, const Vec3& from, const Vec3& to);
  void add_joint(const Cursor& c, std::string_view part, JointType type, int base, int follower, const Vec3& anchor,
                 const Quat& axes, double drive = 0);
  void draw_masses();

  const StandinPlan& plan_;
  std::vector<FigureLink> links_;
  std::vector<FigureJoint> joints_;
};

std::string part_name(const LimbPlan& limb, int module, std::string_view part) {
  return fmt::format("{}{}{}{}", limb.name, module + 1, part.empty() ? "" : "_", part);
}

void Figure::add_limb(int index) {
  const LimbPlan& limb = plan_.limbs[static_cast<std::size_t>(index)];
  const Vec3 along = limb.along.normalized();
  const Vec3 across = along.cross(Vec3::UnitX()).normalized();
  Cursor c{&limb, {}, index};
  c.axes.col(0) = across.cross(along);
  c.axes.col(1) = limb.root.y() < 0 ? Vec3(-across) : across;
  c.axes.col(2) = along;
  Random random(plan_.seed * 64 + static_cast<std::uint64_t>(limb.kind));
  for (const char letter : limb.modules) {
    const double length = plan_.scale * random.log_uniform(0.05, 0.3);
    if (std::string_view("trpof").find(letter) != std::string_view::npos) {
      add_serial(c, letter, length);
    } else {
      add_loop(c, letter, length, random);
    }
    c.parent = static_cast<int>(links_.size()) - 1;
    ++c.module;
  }
}

int Figure::add_link(const Cursor& c, std::string_view part, const Vec3& from, const Vec3& to) {
  const double length = (to - from).norm();
  const double side = 0.5 * std::max(kSmallestSide, 0.2 * length);
  FigureLink link;
  link.name = part_name(*c.limb, c.module, part);
  link.X_TB = bar_pose(c.point(from), c.point(to), c.axes.col(1));
  link.half_extents = Vec3(0.5 * std::max(kSmallestSide, length), side, side);
  link.limb = c.index;
  link.module = c.module;
  links_.push_back(link);
  return static_cast<int>(links_.size()) - 1;
}

void Figure::add_joint(const Cursor& c, std::string_view part, JointType type, int base, int follower,
                       const Vec3& anchor, const Quat& axes, double drive) {
  joints_.push_back({part_name(*c.limb, c.module, part), type, base, follower, c.point(anchor), axes, drive});
}

void Figure::add_serial(Cursor& c, char letter, double length) {
  double lean = 0;
  if (letter == 'p' || letter == 'o') {
    lean = c.lean * c.limb->bend;
    c.lean = -c.lean;
  }
  const Vec3 end = c.tip + length * Vec3(std::sin(lean), 0, std::cos(lean));
  const int link = add_link(c, "", c.tip, end);
  FigureLink& l = links_[static_cast<std::size_t>(link)];
  if (letter == 'f') {
    l.half_extents = 0.5 * Vec3(length, 0.6 * length, 0).cwiseMax(kSmallestSide);
    l.X_TB = Pose{c.point(c.tip) + Vec3(0.2 * length, 0, -l.half_extents.z())};
  }
  if (plan_.shells) l.shell = 2.5 * l.half_extents.y();
  const Eigen::Index axis = letter == 't' ? 2 : letter == 'r' ? 0 : 1;
  add_joint(c, "", JointType::revolute, c.parent, link, c.tip, frame_with_x(c.axes.col(axis)), letter == 'o' ? 0 : 1);
  c.tip = end;
}

// Unit vectors, any two at least 20 degrees from parallel.
std::array<Vec3, 10> random_axes(Random& random) {
  std::array<Vec3, 10> axes;
  for (std::size_t i = 0; i < axes.size();) {
    axes[i] = random.direction();
    const bool apart = std::all_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Vec3& a) { return std::abs(a.dot(axes[i])) < std::cos(radians(20)); });
    if (apart) ++i;
  }
  return axes;
}

// Joint types of the loop modules, from the crank's hinge at A around to D.
std::vector<JointType> loop_joints(char letter) {
  constexpr JointType R = JointType::revolute, S = JointType::spherical, U = JointType::universal;
  switch (letter) {
    case 'S':
      return {R, S, U, R};
    case 'U':
      return {R, U, U, U};
    case 'V':
      return {R, U, U, R, R};
    default:
      return {R, R, R, R};
  }
}

// A quadrilateral with sides A-D, A-B, B-C, D-C of 1, 0.9, 1.1, 1 lengths, A-D across the tip of the parent. RUURR has
// a fifth corner, drawn in from the middle of B-C. Anchors of spatial loops are moved by 0.2 lengths.
void Figure::add_loop(Cursor& c, char letter, double length, Random& random) {
  const std::vector<JointType> types = loop_joints(letter);
  const Vec2 A(-0.5, 0), D(0.5, 0);
  const Vec2 B = A + 0.9 * Vec2(std::cos(radians(100)), std::sin(radians(100)));
  const Vec2 C = circle_intersection(B, 1.1, D, 1.0);
  std::vector<Vec2> corners = {A, B, C, D};
  if (types.size() == 5) corners.insert(corners.begin() + 2, 0.5 * (B + C) - Vec2(0, 0.25));
  std::vector<Vec3> anchors;
  anchors.reserve(corners.size());
  for (const Vec2& x : corners) anchors.push_back(c.tip + length * Vec3(c.side * x[0], 0, x[1]));

  std::vector<Quat> frames(types.size(), frame_with_x(c.axes.col(1)));
  if (letter != '4') {
    for (Vec3& x : anchors) x += 0.2 * length * random.direction();
    const std::array<Vec3, 10> axes = random_axes(random);
    for (std::size_t i = 0; i < types.size(); ++i) {
      frames[i] = frame_with_xy(c.axes * axes[2 * i], c.axes * axes[2 * i + 1]);
    }
  }
  // A parallelogram turns its crank and rocker alike and keeps its coupler level.
  std::array<double, 5> drive = {1, 0, 0, 0, 0};
  if (plan_.drives == LoopDrives::crank_and_rocker) drive = {1, 0, 0, 1, 0};
  if (plan_.drives == LoopDrives::all) drive = {1, -1, 1, 1, 0};

  const std::array<std::string_view, 5> link_names = {"crank", "rod", types.size() == 5 ? "link" : "last", "last"};
  const std::size_t last = types.size() - 1;
  int previous = c.parent;
  for (std::size_t i = 0; i < last; ++i) {
    const int link = add_link(c, link_names[i], anchors[i], anchors[i + 1]);
    add_joint(c, std::string(1, "ABCDE"[i]), types[i], previous, link, anchors[i], frames[i], drive[i]);
    previous = link;
  }
  add_joint(c, std::string(1, "ABCDE"[last]), types[last], c.parent, previous, anchors[last], frames[last],
            drive[last]);
  c.tip = anchors[last - 1];
  c.side = -c.side;
}

// m = m_max ratio^-h, h uniform in (0.1, 0.9); the torso has h = 0 and the last link h = 1.
void Figure::draw_masses() {
  Random random(plan_.seed * 64 + 63);
  for (FigureLink& link : links_) link.mass = plan_.mass * std::pow(plan_.mass_ratio, -random.uniform(0.1, 0.9));
  links_.front().mass = plan_.mass;
  links_.back().mass = plan_.mass / plan_.mass_ratio;
}

// Lowest point of the boxes, torso frame.
double lowest_point(const Figure& figure) {
  double z = 0;
  for (const FigureLink& l : figure.links()) {
    Vec3 half = l.half_extents;
    if (l.shell > 0) half.tail<2>() = half.tail<2>().cwiseMax(l.shell);
    z = std::min(z, l.X_TB.p.z() - l.X_TB.R().row(2).cwiseAbs().dot(half));
  }
  return z;
}

void add_links(ModelBuilder& b, const Figure& figure, double height) {
  for (const FigureLink& l : figure.links()) {
    const int body = b.add_box_body(l.name, l.mass, l.half_extents, Pose{l.X_TB.p + Vec3(0, 0, height), l.X_TB.q});
    if (l.shell > 0) {
      b.add_geom(body, Shape::box(Vec3(0.7 * l.half_extents.x(), l.shell, l.shell)), {}, 0, l.name + "_shell");
    }
  }
}

// Boxes of one module meet at its joints, and so do those of neighbouring modules: they do not collide.
void exclude_neighbours(ModelBuilder& b, const Figure& figure) {
  const auto& links = figure.links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    for (std::size_t k = i + 1; k < links.size(); ++k) {
      const bool torso = i == 0 && links[k].module == 0;
      const bool near = links[i].limb == links[k].limb && links[k].module - links[i].module <= 1;
      if (torso || near) b.exclude(static_cast<int>(i), static_cast<int>(k));
    }
  }
}

// Mass beyond the joints of each link's module, kg.
std::vector<double> carried_masses(const Figure& figure) {
  const auto& links = figure.links();
  std::vector<double> carried(links.size(), 0);
  for (std::size_t i = 1; i < links.size(); ++i) {
    for (const FigureLink& l : links) {
      if (l.limb == links[i].limb && l.module >= links[i].module) carried[i] += l.mass;
    }
  }
  return carried;
}

// q_d = 0.2 sin(2 pi 0.5 t + phase), shifted to start at zero, with one phase per module; k_p = 50 m_eff N m/rad,
// k_d = 0.1 k_p. m_eff [kg] is the mass that the joint moves: what is beyond it, or for a limb that stands its share of
// what is above.
void add_drives(ModelBuilder& b, const StandinPlan& plan, const Figure& figure, int first_joint) {
  const auto& links = figure.links();
  const std::vector<double> carried = carried_masses(figure);
  double total = 0;
  for (const FigureLink& l : links) total += l.mass;
  const auto legs = static_cast<double>(std::ranges::count_if(plan.limbs, [](const LimbPlan& l) { return l.stands; }));
  for (std::size_t i = 0; i < figure.joints().size(); ++i) {
    const FigureJoint& j = figure.joints()[i];
    if (j.drive == 0) continue;
    const auto follower = static_cast<std::size_t>(j.follower);
    const FigureLink& link = links[follower];
    const bool stands = plan.limbs[static_cast<std::size_t>(link.limb)].stands;
    const double m_eff = stands ? (total - carried[follower]) / legs : carried[follower];
    Random random(plan.seed * 4096 + static_cast<std::uint64_t>(64 * link.limb + link.module));
    Drive& drive = b.dof(first_joint + static_cast<int>(i)).drive;
    drive.mode = DriveMode::position;
    drive.kp = 50 * m_eff;
    drive.kd = 0.1 * drive.kp;
    drive.target.amplitude = 0.2 * j.drive;
    drive.target.frequency = 0.5;
    drive.target.phase = random.uniform(0, 2 * kPi);
    drive.target.offset = -drive.target.amplitude * std::sin(drive.target.phase);
  }
}

}  // namespace

Model make_standin(const StandinPlan& plan) {
  const Figure figure(plan);
  ModelBuilder b(plan.name, plan.description);
  const double height = (plan.welded ? 0.1 : kClearance) - lowest_point(figure);
  add_links(b, figure, height);
  int first_joint = 0;
  if (plan.welded) {
    first_joint = 1 + b.add_joint_at("weld", JointType::fixed, kWorld, 0, Vec3(0, 0, height));
  } else {
    b.add_floor();
  }
  for (const FigureJoint& j : figure.joints()) {
    b.add_joint_at(j.name, j.type, j.base, j.follower, j.anchor + Vec3(0, 0, height), j.axes);
  }
  exclude_neighbours(b, figure);
  add_drives(b, plan, figure, first_joint);
  return b.build();
}

}  // namespace sarrus::scenes
