// The inertia that joints feel at qpos0, in time and memory proportional to the number of axes and the depth of trees
// (Featherstone, Rigid Body Dynamics Algorithms, 2008, §6.2 and §7.3). All motions and inertias are those of the
// world's origin in world axes, so that none has to be moved on its way through the tree.
#include <cmath>

#include "sarrus/math/tools.h"
#include "sarrus/robot_files/mjcf_model.h"

namespace sarrus::robot::mjcf {
namespace {

// Of a body, [v; w].
Mat6 inertia_at(const Vec3& origin_W, const SourceBody& body) {
  const Vec3 com = body.X_WB0 * body.com_B - origin_W;
  const Mat3 C = skew(com);
  Mat6 I = Mat6::Zero();
  I.topLeftCorner<3, 3>() = body.mass * Mat3::Identity();
  I.topRightCorner<3, 3>() = -body.mass * C;
  I.bottomLeftCorner<3, 3>() = body.mass * C;
  I.bottomRightCorner<3, 3>() = body.X_WB0.R() * body.inertia_B * body.X_WB0.R().transpose() - body.mass * C * C;
  return I;
}

}  // namespace

JointInertia::JointInertia(const Source& s) {
  axes_.resize(at(s.nv));
  std::vector<int> last(s.bodies.size(), -1);  // by body: the last axis that moves it
  std::vector<Vec3> origin(s.bodies.size(), Vec3::Zero());
  for (std::size_t b = 1; b < s.bodies.size(); ++b) {
    const SourceBody& body = s.bodies[b];
    const Pose& X = body.X_WB0;
    int parent = last[at(body.parent)];
    origin[b] = parent < 0 ? X.p : origin[at(body.parent)];
    for (const int ji : body.joints) {
      const SourceJoint& j = s.joints[at(ji)];
      int column = j.qvel;
      const auto add = [&](const Vec3& v, const Vec3& w) {
        Axis& axis = axes_[at(column)];
        axis.motion = spatial(v, w);
        axis.armature = j.armature;
        axis.parent = parent;
        parent = column++;
      };
      const auto turn = [&](const Vec3& axis_W, const Vec3& anchor_W) {
        add((anchor_W - origin[b]).cross(axis_W), axis_W);
      };
      if (j.kind == JointKind::free) {
        for (int k = 0; k < 3; ++k) add(Vec3::Unit(k), Vec3::Zero());
        for (int k = 0; k < 3; ++k) turn(X.q * Vec3::Unit(k), X.p);
      } else if (j.kind == JointKind::ball) {
        for (int k = 0; k < 3; ++k) turn(X.q * Vec3::Unit(k), X * j.pos_B);
      } else if (j.kind == JointKind::hinge) {
        turn(X.q * j.axis_B, X * j.pos_B);
      } else {
        add(X.q * j.axis_B, Vec3::Zero());
      }
    }
    last[b] = parent;
    if (parent >= 0) axes_[at(parent)].inertia += inertia_at(origin[b], body);
  }
  // Composite and articulated inertias, leaves first.
  std::vector<Mat6> composite(axes_.size());
  for (std::size_t i = 0; i < axes_.size(); ++i) composite[i] = axes_[i].inertia;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    Axis& axis = axes_[i];
    axis.diagonal = axis.motion.dot(composite[i] * axis.motion) + axis.armature;
    axis.force = axis.inertia * axis.motion;
    axis.articulated = axis.motion.dot(axis.force) + axis.armature;
    if (axis.parent < 0) continue;
    composite[at(axis.parent)] += composite[i];
    if (axis.articulated > 0) {
      axes_[at(axis.parent)].inertia += axis.inertia - axis.force * axis.force.transpose() / axis.articulated;
    }
  }
}

double JointInertia::inverse(int velocity) const {
  // A unit force on the axis: what it passes on towards the root, and the accelerations on the way back.
  std::vector<std::pair<int, double>> path;
  Vec6 passed = Vec6::Zero();
  for (int i = velocity; i >= 0; i = axes_[at(i)].parent) {
    const Axis& axis = axes_[at(i)];
    const double force = i == velocity ? 1.0 : -axis.motion.dot(passed);
    path.emplace_back(i, force);
    passed += axis.force * (force / axis.articulated);
  }
  Vec6 acceleration = Vec6::Zero();
  double rate = 0;
  for (std::size_t k = path.size(); k-- > 0;) {
    const Axis& axis = axes_[at(path[k].first)];
    rate = (path[k].second - axis.force.dot(acceleration)) / axis.articulated;
    acceleration += axis.motion * rate;
  }
  return rate;
}

}  // namespace sarrus::robot::mjcf
