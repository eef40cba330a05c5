// DART: a tree of joints; loops closed by ball joint constraints (6.12 has no other kind but welds). A hinge needs two
// of them, but one where all hinges are parallel: the others hold the rest, and DART's LCP breaks down on redundant
// rows.
//
//   default   DART's own: FCL on meshes of the shapes, Dantzig with PGS behind it, ERP 0.01 with at most 1 mm/s
//   stiff     ODE's collision detection on the shapes themselves, ERP 0.8 / 4^level without a limit; Dantzig, or with
//             loops PGS (2000 iterations to 1e-12): Dantzig stops at the redundant rows of loops (dartsim/dart#2903)
// FCL knows no planes among meshes: there the floor is a box of 40 x 40 x 1 m.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <dart/collision/ode/ode.hpp>
#include <dart/dart.hpp>
#include <map>

#include "common.h"

namespace sarrus::peers {
namespace {

namespace dd = dart::dynamics;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Eigen::Isometry3d iso(const Pose& X) {
  Eigen::Isometry3d T = Eigen::Isometry3d::Identity();
  T.linear() = X.R();
  T.translation() = X.p;
  return T;
}

class Dart : public Engine {
 public:
  Dart(const Model& model, const Arguments& a)
      : model_(model),
        a_(a),
        mu_(common_friction(model)),
        geoms_(colliding_geoms(model)),
        world_(dart::simulation::World::create()) {
    world_->setGravity(model.gravity());
    world_->setTimeStep(a.dt);
    filter_ = std::make_shared<dart::collision::BodyNodeCollisionFilter>();
    if (pgs()) {
      const auto lcp = std::make_shared<dart::constraint::PgsBoxedLcpSolver>();
      lcp->setOption({2000, 1e-12, 1e-12, 1e-9, false});
      world_->setConstraintSolver(std::make_unique<dart::constraint::BoxedLcpConstraintSolver>(lcp));
    }
    auto* solver = world_->getConstraintSolver();
    if (a.stiff()) {
      solver->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
      dart::constraint::ContactConstraint::setErrorReductionParameter(erp());
      dart::constraint::ContactConstraint::setMaxErrorReductionVelocity(1e3);
      dart::constraint::DynamicJointConstraint::setErrorReductionParameter(erp());
      dart::constraint::DynamicJointConstraint::setMaxErrorReductionVelocity(1e3);
    }
    solver->getCollisionOption().collisionFilter = filter_;
    solver->getCollisionOption().maxNumContacts = 10000;
    nodes_.assign(at(model.body_count()), nullptr);
    for (const TreeLink& link : spanning_tree(model)) add_body(link);
    for (const auto& [root, skeleton] : skeletons_) world_->addSkeleton(skeleton);
    add_ground();
    exclude_pairs();
    for (const Joint& j : loop_joints(model)) close_loop(j);
  }

  void step() override { world_->step(); }

  void read(std::vector<BodyMotion>& bodies) override {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const Eigen::Isometry3d& T = nodes_[b]->getWorldTransform();
      bodies[b] = {
          {T.translation(), Quat(T.linear())}, nodes_[b]->getCOMLinearVelocity(), nodes_[b]->getAngularVelocity()};
    }
  }

  std::string version() const override { return DART_VERSION; }
  std::string setting_text() const override {
    if (!a_.stiff()) return "Dantzig, FCL meshes, ERP 0.01 with at most 1 mm/s";
    return fmt::format("{}, ODE collision, ERP {:.3g}", pgs() ? "PGS 2000 iterations" : "Dantzig", erp());
  }

 private:
  bool pgs() const { return a_.stiff() && !model_.loop_joints().empty(); }
  double erp() const { return 0.8 / std::pow(4.0, a_.level); }

  // All trees on the world are one skeleton, and each floating one.
  dd::SkeletonPtr skeleton_of(const TreeLink& link) {
    if (link.parent != kWorld) return std::const_pointer_cast<dd::Skeleton>(nodes_[at(link.parent)]->getSkeleton());
    dd::SkeletonPtr& s = skeletons_[link.joint < 0 ? link.body : kWorld];
    if (s != nullptr) return s;
    s = dd::Skeleton::create(fmt::format("s{}", link.body));
    s->enableSelfCollisionCheck();
    s->disableAdjacentBodyCheck();
    return s;
  }

  template <class JointOf>
  dd::BodyNode* add_node(const TreeLink& link, const typename JointOf::Properties& properties) {
    const Body& b = model_.bodies()[at(link.body)];
    dd::BodyNode::Properties body;
    body.mName = fmt::format("b{}", link.body);
    body.mInertia = dd::Inertia(b.mass, Vec3::Zero(), b.inertia_B);
    dd::BodyNode* parent = link.parent == kWorld ? nullptr : nodes_[at(link.parent)];
    return skeleton_of(link)->createJointAndBodyNodePair<JointOf>(parent, properties, body).second;
  }

  void add_body(const TreeLink& link) {
    dd::BodyNode*& node = nodes_[at(link.body)];
    if (link.joint < 0) {
      dd::FreeJoint::Properties p;
      p.mT_ParentBodyToJoint = iso(reference_pose(model_, link.body));
      node = add_node<dd::FreeJoint>(link, p);
    } else {
      const Joint& j = model_.joints()[at(link.joint)];
      const JointPlace where = place(model_, j);
      const Pose X_WJ{where.p_W, where.q_W};
      const Eigen::Isometry3d parent = iso(reference_pose(model_, link.parent).inverse() * X_WJ);
      const Eigen::Isometry3d child = iso(reference_pose(model_, link.body).inverse() * X_WJ);
      const auto set = [&](auto& p) {
        p.mT_ParentBodyToJoint = parent;
        p.mT_ChildBodyToJoint = child;
      };
      if (j.type == JointType::revolute) {
        dd::RevoluteJoint::Properties p;
        set(p);
        p.mAxis = Vec3::UnitX();
        node = add_node<dd::RevoluteJoint>(link, p);
      } else if (j.type == JointType::fixed) {
        dd::WeldJoint::Properties p;
        set(p);
        node = add_node<dd::WeldJoint>(link, p);
      } else {
        dd::BallJoint::Properties p;
        set(p);
        node = add_node<dd::BallJoint>(link, p);
      }
    }
    for (const int g : geoms_) {
      if (model_.geoms()[at(g)].body == link.body) add_shape(*node, model_.geoms()[at(g)]);
    }
  }

  void add_shape(dd::BodyNode& node, const Geom& g) {
    dd::ShapePtr shape;
    Eigen::Isometry3d T = iso(g.X_BG);
    const Vec3& s = g.shape.size;
    if (g.shape.kind == ShapeKind::box) {
      shape = std::make_shared<dd::BoxShape>(2 * s);
    } else if (g.shape.kind == ShapeKind::sphere) {
      shape = std::make_shared<dd::SphereShape>(s.x());
    } else if (a_.stiff()) {
      shape = std::make_shared<dd::PlaneShape>(Vec3::UnitZ(), 0.0);
    } else {
      shape = std::make_shared<dd::BoxShape>(Vec3(40, 40, 1));
      T = T * Eigen::Translation3d(0, 0, -0.5);
    }
    auto* n = node.createShapeNodeWith<dd::CollisionAspect, dd::DynamicsAspect>(shape);
    n->setRelativeTransform(T);
    n->getDynamicsAspect()->setFrictionCoeff(mu_);
    n->getDynamicsAspect()->setRestitutionCoeff(0);
  }

  void add_ground() {
    for (const int g : geoms_) {
      const Geom& geom = model_.geoms()[at(g)];
      if (geom.body != kWorld) continue;
      const dd::SkeletonPtr s = dd::Skeleton::create(fmt::format("ground{}", g));
      dd::BodyNode* node = s->createJointAndBodyNodePair<dd::WeldJoint>().second;
      add_shape(*node, geom);
      s->setMobile(false);
      world_->addSkeleton(s);
    }
  }

  void exclude_pairs() {
    for (int a = 0; a < model_.body_count(); ++a) {
      for (int b = a + 1; b < model_.body_count(); ++b) {
        if (!bodies_collide(model_, a, b)) filter_->addBodyNodePairToBlackList(nodes_[at(a)], nodes_[at(b)]);
      }
    }
  }

  bool parallel_hinges() const {
    const std::vector<Joint>& joints = model_.joints();
    return std::ranges::all_of(joints, [&](const Joint& j) {
      return j.type == JointType::revolute &&
             place(model_, j).x_W.cross(place(model_, joints.front()).x_W).norm() < 1e-9;
    });
  }

  void close_loop(const Joint& j) {
    const JointPlace p = place(model_, j);
    dd::BodyNode* base = j.base == kWorld ? nullptr : nodes_[at(j.base)];
    dd::BodyNode* follower = j.follower == kWorld ? nullptr : nodes_[at(j.follower)];
    if (base == nullptr) std::swap(base, follower);
    const auto add = [&](auto constraint) { world_->getConstraintSolver()->addConstraint(std::move(constraint)); };
    if (j.type == JointType::fixed) {
      add(follower == nullptr ? std::make_shared<dart::constraint::WeldJointConstraint>(base)
                              : std::make_shared<dart::constraint::WeldJointConstraint>(base, follower));
      return;
    }
    const bool one = j.type == JointType::spherical || parallel_hinges();
    for (const double s : one ? std::vector<double>{0} : std::vector<double>{-0.05, 0.05}) {
      const Vec3 point = p.p_W + s * p.x_W;
      add(follower == nullptr ? std::make_shared<dart::constraint::BallJointConstraint>(base, point)
                              : std::make_shared<dart::constraint::BallJointConstraint>(base, follower, point));
    }
  }

  Model model_;
  Arguments a_;
  double mu_;
  std::vector<int> geoms_;
  dart::simulation::WorldPtr world_;
  std::shared_ptr<dart::collision::BodyNodeCollisionFilter> filter_;
  std::map<int, dd::SkeletonPtr> skeletons_;  // by first body, kWorld: fixed to the world
  std::vector<dd::BodyNode*> nodes_;          // by body
};

}  // namespace
}  // namespace sarrus::peers

int main(int argc, char** argv) {
  using namespace sarrus::peers;
  return run(argc, argv, "dart",
             [](const sarrus::Model& model, const Arguments& a) { return std::make_unique<Dart>(model, a); });
}
