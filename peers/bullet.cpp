// Bullet in double precision: maximal coordinates, btRigidBody with hinge, fixed and point-to-point constraints.
// Bodies never sleep here: a sleeping body would hide its drift.
//
//   default   sequential impulses, 10 iterations, Bullet's own parameters
//   stiff     sequential impulses, 2000 iterations, ERP 0.8 / 4^level, no softness, friction in both directions
// btMLCPSolver with Dantzig's method was tried for `stiff`: not finite on fourbar_swing after 0.1 s (redundant rows),
// it throws stack15 apart; sequential impulses are stable on all scenes.
#include <btBulletDynamicsCommon.h>
#include <fmt/format.h>

#include <cmath>
#include <deque>

#include "common.h"

namespace sarrus::peers {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr int kStiffIterations = 2000;

btVector3 bt(const Vec3& x) { return {x.x(), x.y(), x.z()}; }
btTransform bt(const Pose& X) { return btTransform(btQuaternion(X.q.x(), X.q.y(), X.q.z(), X.q.w()), bt(X.p)); }
Vec3 vec(const btVector3& x) { return {x.x(), x.y(), x.z()}; }

// Our own filter, by body.
class Filter : public btOverlapFilterCallback {
 public:
  explicit Filter(const Model& model) : n_(model.body_count() + 1), allowed_(at(n_ * n_)) {
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) allowed_[at(a * n_ + b)] = bodies_collide(model, a - 1, b - 1);
    }
  }
  bool needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const override {
    return allowed_[at(index(a) * n_ + index(b))];
  }

 private:
  static int index(const btBroadphaseProxy* p) {
    return static_cast<const btCollisionObject*>(p->m_clientObject)->getUserIndex() + 1;
  }
  int n_;
  std::vector<bool> allowed_;
};

class Bullet : public Engine {
 public:
  Bullet(const Model& model, const Arguments& a)
      : model_(model),
        a_(a),
        mu_(common_friction(model)),
        filter_(model),
        dispatcher_(&configuration_),
        world_(&dispatcher_, &broad_phase_, &solver_, &configuration_) {
    world_.setGravity(bt(model.gravity()));
    world_.getPairCache()->setOverlapFilterCallback(&filter_);
    if (a.stiff()) {
      btContactSolverInfo& info = world_.getSolverInfo();
      info.m_numIterations = kStiffIterations;
      info.m_erp = info.m_erp2 = erp();
      info.m_globalCfm = 0;
      info.m_leastSquaresResidualThreshold = 0;
      info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    }
    const std::vector<int> geoms = colliding_geoms(model);
    for (int b = 0; b < model.body_count(); ++b) add_body(b, geoms);
    for (const int g : geoms) {
      if (model.geoms()[at(g)].body == kWorld) add_static(model.geoms()[at(g)]);
    }
    for (const Joint& j : model.joints()) add_joint(j);
  }
  ~Bullet() override {
    for (const auto& c : constraints_) world_.removeConstraint(c.get());
    for (const auto& b : bodies_) world_.removeRigidBody(b.get());
  }
  Bullet(const Bullet&) = delete;
  Bullet& operator=(const Bullet&) = delete;

  void step() override { world_.stepSimulation(a_.dt, 0); }

  void read(std::vector<BodyMotion>& bodies) override {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const btRigidBody& body = *bodies_[b];
      const btQuaternion q = body.getWorldTransform().getRotation();
      bodies[b] = {{vec(body.getWorldTransform().getOrigin()), Quat(q.w(), q.x(), q.y(), q.z())},
                   vec(body.getLinearVelocity()),
                   vec(body.getAngularVelocity())};
    }
  }

  std::string version() const override {
    return fmt::format("{}.{:02}", BT_BULLET_VERSION / 100, BT_BULLET_VERSION % 100);
  }
  std::string setting_text() const override {
    if (!a_.stiff()) return "sequential impulses, 10 iterations, ERP 0.2, no sleeping";
    return fmt::format("sequential impulses, {} iterations, ERP {:.3g}, two friction directions, no sleeping",
                       kStiffIterations, erp());
  }

 private:
  double erp() const { return 0.8 / (1 << (2 * a_.level)); }

  btCollisionShape* shape(const Geom& g) {
    const Vec3& s = g.shape.size;
    if (g.shape.kind == ShapeKind::plane) {
      shapes_.push_back(std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0));
    } else if (g.shape.kind == ShapeKind::box) {
      shapes_.push_back(std::make_unique<btBoxShape>(bt(s)));
    } else {
      shapes_.push_back(std::make_unique<btSphereShape>(s.x()));
    }
    return shapes_.back().get();
  }

  btRigidBody& add(double mass, const Vec3& inertia, btCollisionShape* shape, const Pose& X, int body) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, bt(inertia));
    info.m_startWorldTransform = bt(X);
    info.m_friction = std::sqrt(mu_);  // Bullet multiplies the two
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setUserIndex(body);
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
    return *bodies_.back();
  }

  void add_body(int body, const std::vector<int>& geoms) {
    auto compound = std::make_unique<btCompoundShape>();
    for (const int g : geoms) {
      const Geom& geom = model_.geoms()[at(g)];
      if (geom.body == body) compound->addChildShape(bt(geom.X_BG), shape(geom));
    }
    btCollisionShape* shape = compound.get();
    // Bullet's pair of two boxes knows more than that of two compounds.
    if (compound->getNumChildShapes() == 1 && compound->getChildTransform(0) == btTransform::getIdentity()) {
      shape = compound->getChildShape(0);
    }
    shapes_.push_back(std::move(compound));
    const Body& b = model_.bodies()[at(body)];
    add(b.mass, b.inertia_B.diagonal(), shape, b.X_WB0, body);
  }

  void add_static(const Geom& g) { add(0, Vec3::Zero(), shape(g), g.X_BG, kWorld); }

  // The joint frame in a body, its x axis turned to Bullet's hinge axis z.
  btTransform frame(int body, const JointPlace& p) const {
    const Quat x_to_z = Quat(Eigen::AngleAxisd(0.5 * M_PI, Vec3::UnitY()));
    return bt(reference_pose(model_, body).inverse() * Pose{p.p_W, p.q_W * x_to_z});
  }

  void add_joint(const Joint& j) {
    const JointPlace p = place(model_, j);
    btRigidBody& a = j.base == kWorld ? btTypedConstraint::getFixedBody() : *bodies_[at(j.base)];
    btRigidBody& b = j.follower == kWorld ? btTypedConstraint::getFixedBody() : *bodies_[at(j.follower)];
    const btTransform A = frame(j.base, p);
    const btTransform B = frame(j.follower, p);
    if (j.type == JointType::revolute) {
      constraints_.push_back(std::make_unique<btHingeConstraint>(a, b, A, B));
    } else if (j.type == JointType::fixed) {
      constraints_.push_back(std::make_unique<btFixedConstraint>(a, b, A, B));
    } else {
      constraints_.push_back(std::make_unique<btPoint2PointConstraint>(a, b, A.getOrigin(), B.getOrigin()));
    }
    if (a_.stiff()) {
      // Of btFixedConstraint every axis has its own; of a hinge axis -1 are the rows of all.
      for (int axis = -1; axis < (j.type == JointType::fixed ? 6 : 0); ++axis) {
        if (axis < 0 && j.type == JointType::fixed) continue;
        constraints_.back()->setParam(BT_CONSTRAINT_STOP_ERP, erp(), axis);
      }
    }
    world_.addConstraint(constraints_.back().get(), true);
  }

  Model model_;
  Arguments a_;
  double mu_;
  Filter filter_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broad_phase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_;
  std::deque<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;  // ours first, then static ones
  std::vector<std::unique_ptr<btTypedConstraint>> constraints_;
};

}  // namespace
}  // namespace sarrus::peers

int main(int argc, char** argv) {
  using namespace sarrus::peers;
  return run(argc, argv, "bullet",
             [](const sarrus::Model& model, const Arguments& a) { return std::make_unique<Bullet>(model, a); });
}
