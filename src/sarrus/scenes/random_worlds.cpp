#include "sarrus/scenes/random_worlds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sarrus/geometry/convex_hull.h"
#include "sarrus/math/random.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/scenes/random_extras.h"

namespace sarrus {
namespace {

constexpr std::array<std::string_view, kWorldFeatures> kWorldFeatureNames = {
    "tree",          "loop",           "free bodies",  "floor",    "restitution",    "friction",
    "spring",        "damper",         "dry friction", "armature", "limit",          "mass ratio",
    "unscaled step", "spatial hinges", "drive",        "coupling", "rope",           "soft contact",
    "soft joint",    "terrain",        "odd shapes",   "overlap",  "redundant loop", "forbidden speed",
    "fast",          "no ccd",         "semi-implicit"};

// Within a ball of radius 0.43 size.
Shape random_shape(Random& r, double size) {
  const auto half = [&] { return size * r.uniform(0.08, 0.24); };
  switch (r.below(6)) {
    case 0:
      return Shape::sphere(half() * 1.5);
    case 1: {
      const double radius = size * r.uniform(0.05, 0.15);
      return Shape::capsule(radius, size * r.uniform(0.05, 0.25));
    }
    case 2: {
      Vec3 x;
      for (int k = 0; k < 3; ++k) x[k] = half();
      return Shape::box(x);
    }
    case 3: {
      const double radius = half();
      return Shape::cylinder(radius, half());
    }
    case 4: {
      Vec3 x;
      for (int k = 0; k < 3; ++k) x[k] = half();
      return Shape::ellipsoid(x);
    }
    default: {
      std::vector<Vec3> x;
      for (int i = 0; i < 10; ++i) x.push_back(0.3 * size * r.direction());
      return Shape::convex(ConvexHull::build(x, "random hull"));
    }
  }
}

class RandomWorldBuilder {
 public:
  RandomWorldBuilder(std::uint64_t seed, RandomWorldKind kind)
      : r_(seed), extras_(seed), any_(kind == RandomWorldKind::any), b_(fmt::format("random world {}", seed)) {}

  RandomWorld build() {
    length_ = r_.log_uniform(1e-4, 1e3);
    const double time = std::sqrt(length_ / kGravity);
    const bool unscaled = r_.chance(0.2);
    world_.length = length_;
    // 0.5 to 4 ms for a thing of 0.1 m.
    world_.dt = unscaled ? 1e-3 : r_.log_uniform(0.005, 0.04) * time;
    mark(WorldFeature::unscaled_step, unscaled);
    wide_masses_ = r_.chance(0.5);
    mark(WorldFeature::mass_ratio, wide_masses_);
    speed_ = r_.chance(0.3) ? 0 : r_.uniform(0, 2) * length_ / time;
    spin_ = speed_ / length_;
    if (any_) begin_extras();
    const double mu = r_.chance(0.2) ? 0 : r_.uniform(0, 1.2);
    const double restitution = r_.chance(0.6) ? 0 : (r_.chance(0.4) ? 1 : r_.uniform());
    material_ = b_.add_material("material", mu, restitution);

    const int kind = r_.below(6);
    const bool hanging = kind == 0 || kind == 1 || kind == 5;
    if (kind == 0 || kind == 3 || kind == 5) add_tree(2 + r_.below(5), hanging);
    if (kind == 1 || kind == 4) add_loop(4 + r_.below(4), hanging);
    if (kind == 2 || kind == 5) add_free_bodies(1 + r_.below(5));
    const bool floor = kind >= 2 || r_.chance(0.3);
    if (floor) {
      double lowest = place_.front().z();
      for (const Vec3& p : place_) lowest = std::min(lowest, p.z());
      const int geom = b_.add_floor(lowest - (0.44 + r_.uniform(0, 0.5)) * length_, material_);
      if (any_) extras_.shape_ground(b_, geom, world_);
    }
    mark(WorldFeature::floor, floor);
    mark(WorldFeature::restitution, restitution > 0 && (floor || place_.size() > 1));
    mark(WorldFeature::friction, mu > 0 && (floor || place_.size() > 1));
    if (any_) extras_.add(b_, world_);
    RunDefaults defaults = b_.data().defaults;
    defaults.dt = world_.dt;
    defaults.duration = kSteps * world_.dt;
    b_.set_defaults(defaults);
    world_.model = b_.build();
    for (const Body& body : world_.model.bodies()) world_.weight_scale += body.mass * kGravity * length_;
    return std::move(world_);
  }

 private:
  static constexpr double kGravity = 9.81;
  static constexpr int kSteps = 250;

  void begin_extras() {
    speed_ *= extras_.speed_factor(world_);
    spin_ = speed_ / length_;
  }
  Shape next_shape() {
    const Shape usual = random_shape(r_, length_);
    return any_ ? extras_.shape(usual, length_, world_) : usual;
  }

  void mark(WorldFeature f, bool on = true) {
    bool& has = world_.has[static_cast<std::size_t>(f)];
    has = has || on;
  }

  int add_body(const Shape& shape, const Vec3& p, const Quat& q) {
    const double usual = 300 * std::pow(length_, 3);  // kg
    const double mass = usual * (wide_masses_ ? r_.log_uniform(1e-3, 1e3) : r_.uniform(0.5, 2));
    place_.push_back(p);
    return b_.add_solid(fmt::format("body{}", place_.size()), mass, shape, {p, q}, material_);
  }

  // A place a length from one and not nearer to any other.
  Vec3 place_beside(const Vec3& p) {
    for (;;) {
      const Vec3 x = p + length_ * r_.direction();
      const auto far = [&](const Vec3& y) { return (x - y).norm() > 0.9 * length_; };
      if (std::all_of(place_.begin(), place_.end(), far)) return x;
    }
  }

  void add_free_bodies(int count) {
    mark(WorldFeature::free_bodies);
    for (int i = 0; i < count; ++i) {
      const Vec3 p = place_.empty() ? Vec3(Vec3::Zero()) : place_beside(place_.back());
      const Shape shape = next_shape();
      const int body = add_body(shape, p, so3_exp(r_.in_box(3)));
      const Vec3 v = r_.in_box(speed_);
      b_.set_velocity(body, v, r_.in_box(3 * spin_));
    }
  }

  // Of a hinge or a slide (unit = torque of a radian or force of a length).
  void add_elements(int joint, double mass, bool angular) {
    Dof& dof = b_.dof(joint);
    const double way = angular ? 1 : length_;
    const double force = mass * kGravity * length_ / way;
    const double time = std::sqrt(length_ / kGravity);
    if (r_.chance(0.25)) {
      dof.stiffness = force / way * r_.log_uniform(0.1, 1e4);
      // At most a few m g L in it.
      dof.rest = r_.uniform(-1, 1) * way * std::min(0.5, std::sqrt(force / way / dof.stiffness));
      mark(WorldFeature::spring);
    }
    if (r_.chance(0.25)) {
      dof.damping = force / way * time * r_.log_uniform(1e-3, 1e3);
      mark(WorldFeature::damper);
    }
    if (r_.chance(0.15)) {
      dof.dry_friction = force * r_.log_uniform(1e-3, 1);
      mark(WorldFeature::dry_friction);
    }
    if (r_.chance(0.15)) {
      dof.armature = mass * length_ * length_ / (way * way) * r_.log_uniform(1e-2, 10);
      mark(WorldFeature::armature);
    }
    if (r_.chance(0.25)) {
      dof.limit.lower = -way * r_.uniform(0.05, 0.6);
      dof.limit.upper = way * r_.uniform(0.05, 0.6);
      dof.limit.restitution = r_.chance(0.5) ? 0 : r_.uniform();
      mark(WorldFeature::limit);
    }
  }

  void add_tree(int count, bool hanging) {
    mark(WorldFeature::tree);
    constexpr std::array<JointType, 10> kTypes = {
        JointType::revolute,  JointType::revolute,    JointType::revolute, JointType::prismatic, JointType::spherical,
        JointType::universal, JointType::cylindrical, JointType::planar,   JointType::cartesian, JointType::distance};
    const int first = static_cast<int>(place_.size());
    for (int i = 0; i < count; ++i) {
      const int parent = i == 0 ? kWorld : first + r_.below(i);
      const Vec3 p = place_.empty() ? Vec3(Vec3::Zero()) : place_beside(parent == kWorld ? place_.back() : at(parent));
      const Shape shape = next_shape();
      const int body = add_body(shape, p, so3_exp(r_.in_box(3)));
      Vec3 v0 = Vec3::Zero(), w0 = Vec3::Zero(), from = p + 0.5 * length_ * r_.direction();
      if (parent != kWorld) {
        v0 = b_.body(parent).v0_W;
        w0 = b_.body(parent).w0_W;
        from = at(parent);
      } else if (!hanging) {
        v0 = r_.in_box(speed_);
        w0 = r_.in_box(spin_);
        b_.set_velocity(body, v0, w0);
        continue;
      }
      const Vec3 anchor = parent == kWorld ? from : Vec3(0.5 * (from + p));
      JointType type = kTypes[static_cast<std::size_t>(r_.below(static_cast<int>(kTypes.size())))];
      if (any_) type = extras_.joint_type(type);
      const Vec3 axis = r_.direction();
      const double rate = r_.uniform(-spin_, spin_);
      const Vec3 turning = r_.in_box(spin_);
      // Moves with its parent, and besides that as the joint lets it.
      Vec3 w = w0, v = v0 + w0.cross(p - from);
      const std::string name = fmt::format("joint{}", body);
      if (type == JointType::distance) {
        b_.add_distance(name, parent, body, from, p);
      } else {
        const int joint = b_.add_joint_at(name, type, parent, body, anchor, frame_with_x(axis));
        if (type == JointType::revolute || type == JointType::prismatic) {
          add_elements(joint, b_.body(body).mass, type == JointType::revolute);
        }
      }
      if (type == JointType::revolute) w += rate * axis;
      if (type == JointType::spherical) w += turning;
      if (type == JointType::prismatic) v += rate * length_ * axis;
      if (type == JointType::revolute || type == JointType::spherical) {
        v = v0 + w0.cross(anchor - from) + w.cross(p - anchor);
      } else if (type != JointType::prismatic) {
        mark(WorldFeature::spatial_hinges);
      }
      if (type == JointType::spherical) mark(WorldFeature::spatial_hinges);
      b_.set_velocity(body, v, w);
    }
  }

  // A ring of bars; hanging: one of them is welded to the world.
  void add_loop(int count, bool hanging) {
    mark(WorldFeature::loop);
    const Mat3 R = so3_exp(r_.in_box(3)).toRotationMatrix();
    const int kind = r_.below(3);  // parallel hinges, ball joints, both
    const double radius = 0.5 * length_ / std::sin(std::numbers::pi / count);
    const double squeeze = r_.uniform(0.9, 1);
    std::vector<Vec3> corner;
    for (int i = 0; i < count; ++i) {
      const double a = 2 * std::numbers::pi * (i + 0.1) / count;
      corner.push_back(R * Vec3(radius * std::cos(a), squeeze * radius * std::sin(a), 0));
    }
    const Vec3 v0 = hanging ? Vec3(Vec3::Zero()) : r_.in_box(speed_);
    const Vec3 w0 = hanging ? Vec3(Vec3::Zero()) : r_.in_box(spin_);
    const auto after = [&](int i) { return static_cast<std::size_t>((i + 1) % count); };
    for (int i = 0; i < count; ++i) {
      const Vec3 from = corner[static_cast<std::size_t>(i)];
      const Vec3 to = corner[after(i)];
      const Vec3 p = 0.5 * (from + to);
      const double thick = length_ * r_.uniform(0.03, 0.08), half = 0.35 * length_;
      const Shape shape = r_.chance(0.5) ? Shape::capsule(thick, half) : Shape::box(Vec3(thick, 1.3 * thick, half));
      const int body = add_body(shape, p, frame_with_z(to - from));
      b_.set_velocity(body, v0 + w0.cross(p), w0);
    }
    if (hanging) b_.add_joint_at("weld", JointType::fixed, kWorld, 0, place_.front());
    for (int i = 0; i < count; ++i) {
      const bool hinge = kind == 0 || (kind == 2 && i % 2 == 0);
      const int joint = b_.add_joint_at(fmt::format("corner{}", i), hinge ? JointType::revolute : JointType::spherical,
                                        i, static_cast<int>(after(i)), corner[after(i)], frame_with_x(R.col(2)));
      if (hinge) add_elements(joint, b_.body(i).mass, true);
    }
    if (kind > 0) mark(WorldFeature::spatial_hinges);
  }

  const Vec3& at(int body) const { return place_[static_cast<std::size_t>(body)]; }

  Random r_;
  RandomExtras extras_;
  bool any_;
  ModelBuilder b_;
  RandomWorld world_;
  std::vector<Vec3> place_;
  double length_ = 1;
  double speed_ = 0;
  double spin_ = 0;
  bool wide_masses_ = false;
  int material_ = 0;
};

}  // namespace

std::string_view name_of(WorldFeature feature) { return kWorldFeatureNames[static_cast<std::size_t>(feature)]; }

std::string RandomWorld::features() const {
  std::string text;
  for (std::size_t i = 0; i < kWorldFeatures; ++i) {
    if (has[i]) text += fmt::format("{}{}", text.empty() ? "" : ", ", kWorldFeatureNames[i]);
  }
  return text;
}

RandomWorld random_world(std::uint64_t seed, RandomWorldKind kind) { return RandomWorldBuilder(seed, kind).build(); }

}  // namespace sarrus
