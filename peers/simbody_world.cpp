#include "simbody_world.h"

#include <Simbody.h>

#include <stdexcept>

namespace sarrus::peers {
namespace {

SimTK::Vec3 st(const Vec3& x) { return {x.x(), x.y(), x.z()}; }
SimTK::Transform st(const Pose& X) {
  return {SimTK::Rotation(SimTK::Quaternion(X.q.w(), X.q.x(), X.q.y(), X.q.z())), st(X.p)};
}
Vec3 vec(const SimTK::Vec3& x) { return {x[0], x[1], x[2]}; }

constexpr double kThickness = 0.01;  // m
constexpr double kDissipation = 1;   // s/m
constexpr int kResolution = 6;       // triangles along an edge of a box

}  // namespace

struct SimbodyWorld::Impl {
  explicit Impl(const SimbodyScene& s)
      : matter(system),
        forces(system),
        gravity(forces, matter, st(s.gravity)),
        tracker(system),
        contact(system, tracker),
        integrator(system),
        stepper(system, integrator),
        material(s.stiffness, kDissipation, s.mu, s.mu, 0.0) {
    contact.setTransitionVelocity(s.transition_velocity);
    // The half-space of Simbody is x > 0 of its frame: x points down.
    const SimTK::Transform down(SimTK::Rotation(0.5 * SimTK::Pi, SimTK::YAxis));
    for (const Pose& floor : s.floors) {
      matter.Ground().updBody().addContactSurface(st(floor) * down,
                                                  SimTK::ContactSurface(SimTK::ContactGeometry::HalfSpace(), material));
    }
    const SimTK::ContactCliqueId clique = SimTK::ContactSurface::createNewContactClique();
    for (const SimbodyLink& link : s.links) add(link, clique);
    for (const SimbodyBall& ball : s.loops) {
      SimTK::Constraint::Ball(body(ball.a), st(ball.p_A), body(ball.b), st(ball.p_B));
    }
    const SimTK::State state = system.realizeTopology();
    integrator.setAccuracy(s.accuracy);
    integrator.setConstraintTolerance(0.1 * s.accuracy);
    integrator.setAllowInterpolation(false);
    stepper.initialize(state);
  }

  SimTK::MobilizedBody& body(int link) {
    return link < 0 ? static_cast<SimTK::MobilizedBody&>(matter.updGround()) : bodies[static_cast<std::size_t>(link)];
  }

  // Surfaces of one clique do not touch each other: bodies meet the floor only.
  void add(const SimbodyLink& link, SimTK::ContactCliqueId clique) {
    SimTK::Body::Rigid rigid(SimTK::MassProperties(link.mass, SimTK::Vec3(0), SimTK::Inertia(st(link.inertia))));
    for (const SimbodyBox& box : link.boxes) {
      const SimTK::PolygonalMesh mesh = SimTK::PolygonalMesh::createBrickMesh(st(box.half), kResolution);
      SimTK::ContactSurface surface(SimTK::ContactGeometry::TriangleMesh(mesh), material, kThickness);
      surface.joinClique(clique);
      rigid.addContactSurface(st(box.X_BG), surface);
    }
    SimTK::MobilizedBody& parent = body(link.parent);
    const SimTK::Transform F = st(link.X_PF);
    const SimTK::Transform M = st(link.X_BM);
    switch (link.mobilizer) {
      case Mobilizer::free:
        bodies.push_back(SimTK::MobilizedBody::Free(parent, F, rigid, M));
        break;
      case Mobilizer::pin:
        bodies.push_back(SimTK::MobilizedBody::Pin(parent, F, rigid, M));
        break;
      case Mobilizer::weld:
        bodies.push_back(SimTK::MobilizedBody::Weld(parent, F, rigid, M));
        break;
      case Mobilizer::ball:
        bodies.push_back(SimTK::MobilizedBody::Ball(parent, F, rigid, M));
        break;
    }
  }

  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter;
  SimTK::GeneralForceSubsystem forces;
  SimTK::Force::UniformGravity gravity;
  SimTK::ContactTrackerSubsystem tracker;
  SimTK::CompliantContactSubsystem contact;
  SimTK::RungeKuttaMersonIntegrator integrator;
  SimTK::TimeStepper stepper;
  SimTK::ContactMaterial material;
  std::vector<SimTK::MobilizedBody> bodies;
};

SimbodyWorld::SimbodyWorld(const SimbodyScene& scene) : impl_(std::make_unique<Impl>(scene)) {}
SimbodyWorld::~SimbodyWorld() = default;

void SimbodyWorld::advance_to(double time) {
  if (impl_->stepper.stepTo(time) == SimTK::Integrator::EndOfSimulation)
    throw std::runtime_error("the integrator ended");
}

void SimbodyWorld::read(int link, Pose& X_WB, Vec3& v_W, Vec3& w_W) const {
  const SimTK::State& s = impl_->integrator.getState();
  impl_->system.realize(s, SimTK::Stage::Velocity);
  const SimTK::MobilizedBody& b = impl_->body(link);
  const SimTK::Transform& X = b.getBodyTransform(s);
  const SimTK::SpatialVec& V = b.getBodyVelocity(s);
  const SimTK::Quaternion q = X.R().convertRotationToQuaternion();
  X_WB = {vec(X.p()), Quat(q[0], q[1], q[2], q[3])};
  v_W = vec(V[1]);
  w_W = vec(V[0]);
}

std::string SimbodyWorld::version() {
  int major = 0;
  int minor = 0;
  int build = 0;
  SimTK_version_simbody(&major, &minor, &build);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

}  // namespace sarrus::peers
