// ODE: maximal coordinates, hinge, fixed and ball joints; contacts of its own collision detection, mu exact (Approx1).
//
//   default   QuickStep (20 iterations of SOR), ERP 0.2, CFM 1e-10: what dWorldCreate sets
//   stiff     dWorldStep (Dantzig's direct method), ERP and CFM by level: with little CFM its LCP breaks down on
//   redundant
//             rows and great mass ratios
#include <fmt/format.h>
#include <ode/ode.h>
#include <ode/version.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "common.h"

namespace sarrus::peers {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Stiffness {
  double erp;
  double cfm;
};
constexpr Stiffness kStiff[] = {{0.8, 1e-10}, {0.2, 1e-9}, {0.8, 1e-7}, {0.2, 1e-6}};

constexpr int kMaxContacts = 16;  // of one pair

void to_ode(const Quat& q, dQuaternion out) {
  out[0] = q.w();
  out[1] = q.x();
  out[2] = q.y();
  out[3] = q.z();
}

class Ode : public Engine {
 public:
  Ode(const Model& model, const Arguments& a) : model_(model), a_(a), mu_(common_friction(model)) {
    dInitODE2(0);
    world_ = dWorldCreate();
    space_ = dHashSpaceCreate(nullptr);
    contacts_ = dJointGroupCreate(0);
    const Vec3& g = model.gravity();
    dWorldSetGravity(world_, g.x(), g.y(), g.z());
    if (a.stiff()) {
      dWorldSetERP(world_, stiffness().erp);
      dWorldSetCFM(world_, stiffness().cfm);
    }
    for (const Body& b : model.bodies()) add_body(b);
    for (const int g2 : colliding_geoms(model)) add_geom(model.geoms()[at(g2)]);
    for (const Joint& j : model.joints()) add_joint(j);
    collide_.resize(at((model.body_count() + 1) * (model.body_count() + 1)));
    for (int i = kWorld; i < model.body_count(); ++i) {
      for (int k = kWorld; k < model.body_count(); ++k) collide_[pair(i, k)] = bodies_collide(model, i, k);
    }
  }
  ~Ode() override {
    dJointGroupDestroy(contacts_);
    dSpaceDestroy(space_);
    dWorldDestroy(world_);
    dCloseODE();
  }
  Ode(const Ode&) = delete;
  Ode& operator=(const Ode&) = delete;

  void step() override {
    dSpaceCollide(space_, this, [](void* self, dGeomID a, dGeomID b) { static_cast<Ode*>(self)->touch(a, b); });
    if (a_.stiff()) {
      dWorldStep(world_, a_.dt);
    } else {
      dWorldQuickStep(world_, a_.dt);
    }
    dJointGroupEmpty(contacts_);
  }

  void read(std::vector<BodyMotion>& bodies) override {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const dReal* p = dBodyGetPosition(bodies_[b]);
      const dReal* q = dBodyGetQuaternion(bodies_[b]);
      const dReal* v = dBodyGetLinearVel(bodies_[b]);
      const dReal* w = dBodyGetAngularVel(bodies_[b]);
      bodies[b] = {
          {Vec3(p[0], p[1], p[2]), Quat(q[0], q[1], q[2], q[3])}, Vec3(v[0], v[1], v[2]), Vec3(w[0], w[1], w[2])};
    }
  }

  std::string version() const override { return dODE_VERSION; }
  std::string setting_text() const override {
    if (!a_.stiff()) return "QuickStep, 20 iterations, ERP 0.2, CFM 1e-10";
    return fmt::format("dWorldStep (Dantzig), ERP {:g}, CFM {:.0e}", stiffness().erp, stiffness().cfm);
  }

 private:
  const Stiffness& stiffness() const { return kStiff[std::min(at(a_.level), std::size(kStiff) - 1)]; }
  std::size_t pair(int a, int b) const { return at((a + 1) * (model_.body_count() + 1) + b + 1); }

  void add_body(const Body& b) {
    const dBodyID id = dBodyCreate(world_);
    dMass mass;
    const Mat3& I = b.inertia_B;
    dMassSetParameters(&mass, b.mass, 0, 0, 0, I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2));
    dBodySetMass(id, &mass);
    dBodySetPosition(id, b.X_WB0.p.x(), b.X_WB0.p.y(), b.X_WB0.p.z());
    dQuaternion q;
    to_ode(b.X_WB0.q, q);
    dBodySetQuaternion(id, q);
    bodies_.push_back(id);
  }

  void add_geom(const Geom& g) {
    const Vec3& s = g.shape.size;
    dGeomID id = nullptr;
    if (g.shape.kind == ShapeKind::plane) {
      const Vec3 n = g.X_BG.q * Vec3::UnitZ();
      id = dCreatePlane(space_, n.x(), n.y(), n.z(), n.dot(g.X_BG.p));
    } else {
      id = g.shape.kind == ShapeKind::box ? dCreateBox(space_, 2 * s.x(), 2 * s.y(), 2 * s.z())
                                          : dCreateSphere(space_, s.x());
      dQuaternion q;
      to_ode(g.X_BG.q, q);
      if (g.body == kWorld) {
        dGeomSetPosition(id, g.X_BG.p.x(), g.X_BG.p.y(), g.X_BG.p.z());
        dGeomSetQuaternion(id, q);
      } else {
        dGeomSetBody(id, bodies_[at(g.body)]);
        dGeomSetOffsetPosition(id, g.X_BG.p.x(), g.X_BG.p.y(), g.X_BG.p.z());
        dGeomSetOffsetQuaternion(id, q);
      }
    }
    dGeomSetData(id, reinterpret_cast<void*>(static_cast<std::intptr_t>(g.body)));
  }

  void add_joint(const Joint& j) {
    const JointPlace p = place(model_, j);
    const dBodyID base = j.base == kWorld ? nullptr : bodies_[at(j.base)];
    const dBodyID follower = j.follower == kWorld ? nullptr : bodies_[at(j.follower)];
    if (j.type == JointType::revolute) {
      const dJointID id = dJointCreateHinge(world_, nullptr);
      dJointAttach(id, base, follower);
      dJointSetHingeAnchor(id, p.p_W.x(), p.p_W.y(), p.p_W.z());
      dJointSetHingeAxis(id, p.x_W.x(), p.x_W.y(), p.x_W.z());
    } else if (j.type == JointType::fixed) {
      const dJointID id = dJointCreateFixed(world_, nullptr);
      dJointAttach(id, base, follower);
      dJointSetFixed(id);
    } else {
      const dJointID id = dJointCreateBall(world_, nullptr);
      dJointAttach(id, base, follower);
      dJointSetBallAnchor(id, p.p_W.x(), p.p_W.y(), p.p_W.z());
    }
  }

  void touch(dGeomID a, dGeomID b) {
    const auto body_a = static_cast<int>(reinterpret_cast<std::intptr_t>(dGeomGetData(a)));
    const auto body_b = static_cast<int>(reinterpret_cast<std::intptr_t>(dGeomGetData(b)));
    if (!collide_[pair(body_a, body_b)]) return;
    dContact points[kMaxContacts];
    const int n = dCollide(a, b, kMaxContacts, &points[0].geom, sizeof(dContact));
    for (int i = 0; i < n; ++i) {
      points[i].surface = {};
      points[i].surface.mode = dContactApprox1;
      points[i].surface.mu = mu_;
      dJointAttach(dJointCreateContact(world_, contacts_, &points[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
  }

  Model model_;
  Arguments a_;
  double mu_;
  dWorldID world_ = nullptr;
  dSpaceID space_ = nullptr;
  dJointGroupID contacts_ = nullptr;
  std::vector<dBodyID> bodies_;
  std::vector<bool> collide_;
};

}  // namespace
}  // namespace sarrus::peers

int main(int argc, char** argv) {
  using namespace sarrus::peers;
  return run(argc, argv, "ode",
             [](const sarrus::Model& model, const Arguments& a) { return std::make_unique<Ode>(model, a); });
}
