// What every robot's file is read into before it becomes a model: links and the joints between them, as the file has
// them. reduce.h turns it into a ModelData, for all formats alike (docs/robots.md).
//
// Frames: L is the frame of a link as the file has it, W the world. Joints have one frame in their base and one in
// their follower, as those of the model (model/model.h), but in the frames of links, whose origins are not centres of
// mass.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sarrus/files/xml.h"
#include "sarrus/model/model.h"
#include "sarrus/scene_files/scene_file.h"

namespace sarrus::robot {

struct LinkShape {
  std::string name;  // empty: unnamed
  xml::Place place;
  Pose X_LS;
  Shape shape;
  bool has_shape = true;  // false: `shape` was not loaded, which is fine for what does not collide
  bool collides = true;   // else for pictures only
  bool visible = false;
  std::array<double, 4> rgba = {0.5, 0.5, 0.5, 1};
  int material = 0;  // into Graph::materials
  std::uint32_t group = 1;
  std::uint32_t collides_with = ~0u;
  double margin = kUseDefault;
};

// Mass 0: none of its own, which is fine for a link that is fixed to one with a mass.
struct Link {
  std::string name;
  xml::Place place;
  Pose X_WL;                // at the start
  Vec3 v_W = Vec3::Zero();  // of its origin, m/s
  Vec3 w_W = Vec3::Zero();
  double mass = 0;
  Vec3 com_L = Vec3::Zero();
  Mat3 inertia_L = Mat3::Zero();  // about the centre of mass, link axes
  double gravity_scale = 1;
  bool fixed_base = false;  // fixed to the world, and a body nevertheless: a filter of contacts names it
  std::vector<LinkShape> shapes;
};

// A joint coordinate with what acts on it, in the values of the file.
struct Coordinate {
  Dof dof;
  std::string name;        // of the joint in the file that it comes from, for the report; empty: the joint's own
  double sign = 1;         // of the coordinate in that of the file
  std::string drive_name;  // the actuator's
  double initial = 0;      // at the start, all turns counted
  double rate = 0;  // and its rate there; used for chains of axes only, whose inner bodies the file does not have
};

// One axis of a chain of joints between two links without links between them. Axes are those of the joint frame where
// all coordinates have their reference values; each moves those after it:
//   X_BF = X_BJ exp(S_1 (q_1 - r_1)) ... exp(S_n (q_n - r_n)) X_FJ^-1
// A ball has three coordinates, and its rotation at the start instead of their values.
enum class AxisKind : std::uint8_t { hinge, slide, ball };
struct SerialAxis {
  AxisKind kind = AxisKind::hinge;
  Vec3 axis_J = Vec3::UnitX();
  Vec3 anchor_J = Vec3::Zero();
  double reference = 0;
  Quat initial_turn = Quat::Identity();  // of a ball
  Vec3 initial_rate = Vec3::Zero();      // of a ball, axes of what it turns, rad/s

  int coordinates() const { return kind == AxisKind::ball ? 3 : 1; }
};

struct Joint {
  std::string name;
  xml::Place place;
  JointType type = JointType::fixed;  // fixed ones that close no loop merge their links
  int base = kWorld;                  // into Graph::links
  int follower = kWorld;
  Pose X_BJ;                            // joint frame in the base link
  Pose X_FJ;                            // and in the follower link
  std::vector<Coordinate> coordinates;  // as many as the type has dofs, or as the serial axes have
  std::vector<SerialAxis> serial;       // if there are any, `type` is not looked at
  bool closure = false;                 // closes a loop: may be open at the start
  double length = 0;                    // distance joints
  bool rope = false;
  double swing_limit = kUnlimited;
  Compliance compliance = {};
};

struct CoordinateRef {
  int joint = -1;  // into Graph::joints
  int k = 0;       // its coordinate
};

// q_a = c_0 + c_1 q_b + c_2 q_b^2 + ...
struct Coupling {
  std::string name;
  xml::Place place;
  CoordinateRef a, b;
  std::vector<double> c = {0, 1};
  Compliance compliance = {};
};

// L = offset + sum of c q over coordinates, with what acts on it as on a coordinate. `locked`: L = value.
struct Combination {
  std::string name;
  xml::Place place;
  struct Term {
    CoordinateRef q;
    double c = 1;
  };
  std::vector<Term> terms;
  double offset = 0;
  Coordinate acts;
};

// Two shapes that collide whatever the filters say, with parameters of their own.
struct ContactPair {
  std::string name;
  xml::Place place;
  struct ShapeRef {
    int link = kWorld;  // into Graph::links, or Graph::world_shapes
    int shape = 0;
  };
  ShapeRef a, b;
  double mu = 1;
  double margin = kUseDefault;
  Compliance compliance = {};
};

struct LinkPair {
  int a = kWorld;
  int b = kWorld;
  xml::Place place;
};

struct Frame {
  std::string name;
  int link = kWorld;
  Pose X_LF;
};

struct Graph {
  std::string name;
  std::string description;
  Vec3 gravity = Vec3(0, 0, -9.81);
  RunDefaults defaults;
  std::vector<Link> links;
  std::vector<LinkShape> world_shapes;
  std::vector<Joint> joints;  // a link without one to another link or the world floats
  std::vector<Coupling> couplings;
  std::vector<Combination> combinations;
  std::vector<Material> materials = {{"default", 0.7, 0, {}}};
  std::vector<MaterialPair> material_pairs;
  std::vector<ContactPair> contact_pairs;
  std::vector<LinkPair> excludes;
  std::vector<Frame> frames;
  bool self_collision = true;
  MeshSources meshes;          // of the shapes: the files that have their points
  bool drives_enabled = true;  // false: drives are kept without a mode

  Coordinate& at(const CoordinateRef& ref) {
    return joints[static_cast<std::size_t>(ref.joint)].coordinates[static_cast<std::size_t>(ref.k)];
  }
  Pose link_pose(int link) const { return link == kWorld ? Pose{} : links[static_cast<std::size_t>(link)].X_WL; }
};

// A joint of one axis between two links at the poses they have now, where its coordinate has the value `reference`:
// limits, targets and couplings then keep the values of the file.
Joint axis_joint(const Graph& graph, std::string name, bool angular, int base, int follower, const Vec3& anchor_W,
                 const Vec3& axis_W, double reference = 0);
// A joint of any type whose frames coincide with X_WJ at the poses that the links have now.
Joint frame_joint(const Graph& graph, std::string name, JointType type, int base, int follower, const Pose& X_WJ);

// Which coordinate of a joint an axis has become (the first of those of a ball), and its sign there.
struct AxisPlace {
  int k = 0;
  double sign = 1;
};

// One or more joints of one axis each, in a row between two links (the first one next to the base), as one joint: a
// type of the model where there is one for them, else a chain of axes. The axes are given in the frame of the follower
// link, at the poses that the links have now, where every coordinate has its reference value.
Joint composed_joint(const Graph& graph, std::string name, int base, int follower, const std::vector<SerialAxis>& axes,
                     std::vector<AxisPlace>& places);

// What acts on -q, for what acts on q.
Dof mirrored(Dof dof);

}  // namespace sarrus::robot
