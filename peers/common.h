// What the peer programs share: their command line, the loop over steps, and the scene as their engines need it.
//
// A peer program lets another engine compute one of our built-in scenes and writes the motion (bench/trajectory.h):
//   sarrus-peer-NAME --scene S --setting default|stiff --level N --dt s --duration s --sample s --output FILE
// `level` softens the stiff setting step by step: 0 is the stiffest, whoever runs the program goes up until it is
// stable. Each engine is a program of its own: their libraries define the same symbols, and may crash.
// Exit code 0: the file was written, also when its status says why there is no motion.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus::peers {

struct Arguments {
  std::string scene;
  std::string setting = "default";
  int level = 0;
  double dt = 0;        // s
  double duration = 0;  // s
  double sample = 0;    // s
  std::string output;

  bool stiff() const { return setting == "stiff"; }
};

// The engine cannot represent this scene: recorded as "not supported: <reason>".
class NotSupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct BodyMotion {
  Pose X_WB;
  Vec3 v_W = Vec3::Zero();  // of the centre of mass
  Vec3 w_W = Vec3::Zero();
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void step() = 0;
  // By body of the model, at the time reached.
  virtual void read(std::vector<BodyMotion>& bodies) = 0;
  virtual std::string version() const = 0;
  // What the setting means, for the table of results.
  virtual std::string setting_text() const = 0;
};

using MakeEngine = std::function<std::unique_ptr<Engine>(const Model&, const Arguments&)>;

// main() of a peer program.
int run(int argc, char** argv, const std::string& engine, const MakeEngine& make);

// --- the scene -----------------------------------------------------------------------------------------

// A body in a spanning forest of the joints, parents before children. joint = -1: floats freely.
struct TreeLink {
  int body = 0;
  int parent = kWorld;
  int joint = -1;
};
std::vector<TreeLink> spanning_tree(const Model& model);
// Joints that are not in it.
std::vector<Joint> loop_joints(const Model& model);

// A joint frame at the reference pose, world axes: the anchor, and the x axis.
struct JointPlace {
  Vec3 p_W;
  Vec3 x_W;
  Quat q_W;
};
JointPlace place(const Model& model, const Joint& joint);
Pose reference_pose(const Model& model, int body);

// Which geoms touch anything at all, and which bodies touch each other (kWorld allowed), by our own filter.
std::vector<int> colliding_geoms(const Model& model);
bool bodies_collide(const Model& model, int a, int b);
// The one friction coefficient of all contacts; throws NotSupported if there are several.
double common_friction(const Model& model);
// Throws NotSupported for anything that the programs do not translate: drives, limits, springs, couplings, compliance,
// restitution, initial velocities, other joints than revolute, fixed, spherical, other shapes than plane, box, sphere.
void require_simple(const Model& model);

}  // namespace sarrus::peers
