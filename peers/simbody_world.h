// A scene as Simbody needs it, and its simulation. Apart from simbody.cpp because Simbody's headers are ambiguous in
// C++20: this header and its source are C++17 and see nothing of our model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sarrus/math/types.h"

namespace sarrus::peers {

enum class Mobilizer { free, pin, weld, ball };

struct SimbodyBox {
  Pose X_BG;
  Vec3 half;
};

// A body with its mobilizer; parents come first. The axis of a pin is z of both frames.
struct SimbodyLink {
  int parent = -1;  // index of a link, -1: ground
  Mobilizer mobilizer = Mobilizer::free;
  Pose X_PF;  // frame on the parent
  Pose X_BM;  // frame on the body
  double mass = 0;
  Vec3 inertia = Vec3::Zero();  // principal, in body axes
  std::vector<SimbodyBox> boxes;
};

// Two points that stay together; -1: ground.
struct SimbodyBall {
  int a = -1;
  int b = -1;
  Vec3 p_A = Vec3::Zero();
  Vec3 p_B = Vec3::Zero();
};

struct SimbodyScene {
  Vec3 gravity = Vec3::Zero();
  std::vector<SimbodyLink> links;
  std::vector<SimbodyBall> loops;
  std::vector<Pose> floors;  // half-spaces z < 0
  double mu = 0;
  double stiffness = 0;            // Pa, of faces 1 cm thick
  double transition_velocity = 0;  // m/s, below which friction is that of rest
  double accuracy = 0;
};

class SimbodyWorld {
 public:
  explicit SimbodyWorld(const SimbodyScene& scene);
  ~SimbodyWorld();
  SimbodyWorld(const SimbodyWorld&) = delete;
  SimbodyWorld& operator=(const SimbodyWorld&) = delete;

  void advance_to(double time);
  void read(int link, Pose& X_WB, Vec3& v_W, Vec3& w_W) const;
  static std::string version();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sarrus::peers
