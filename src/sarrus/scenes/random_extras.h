// What random worlds of any kind have besides what passive ones have (random_worlds.h). Drawn from numbers of its own:
// the passive world of a seed stays what it is.
#pragma once

#include <cstdint>

#include "sarrus/math/random.h"
#include "sarrus/model/builder.h"
#include "sarrus/scenes/random_worlds.h"

namespace sarrus {

class RandomExtras {
 public:
  explicit RandomExtras(std::uint64_t seed);

  double speed_factor(RandomWorld& world);
  // Within a ball of radius 0.43 length, as the usual one.
  Shape shape(const Shape& usual, double length, RandomWorld& world);
  JointType joint_type(JointType usual);
  // A plane that may become the top of a box, a mesh or a height field, nowhere above it.
  void shape_ground(ModelBuilder& b, int geom, RandomWorld& world);
  // All that is left, on what is there.
  void add(ModelBuilder& b, RandomWorld& world);

 private:
  // Of a coordinate: the torque, or force, of the weight on it, per radian or length, and its time.
  struct Scale {
    double way = 1, force = 0, time = 0, mass = 0;
  };
  Scale scale_of(const ModelBuilder& b, const RandomWorld& world, const Joint& joint, int k) const;
  Compliance compliance(double mass, double length, double dt, bool contact);
  void soften(ModelBuilder& b, RandomWorld& world);
  void furnish_joint(ModelBuilder& b, RandomWorld& world, int joint);
  void furnish_coordinate(ModelBuilder& b, RandomWorld& world, int joint, int k);
  void drive_coordinate(ModelBuilder& b, RandomWorld& world, int joint, int k);
  void couple(ModelBuilder& b, RandomWorld& world);
  void close_loops(ModelBuilder& b, RandomWorld& world);
  void overlap(ModelBuilder& b, RandomWorld& world);
  void speed_up(ModelBuilder& b, RandomWorld& world);
  void choose_laws(ModelBuilder& b, RandomWorld& world);

  Random r_;
  bool driven_ = false;
  bool soft_joints_ = false;
};

}  // namespace sarrus
