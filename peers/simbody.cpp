// Simbody: a tree of mobilizers; loops closed by ball constraints, of which a hinge needs two. Error-controlled
// Runge-Kutta-Merson; one "step" is the integration over dt, in as many internal steps as the accuracy asks for.
// Contact is compliant (elastic foundation on the faces of the boxes), with the floor only: scenes whose bodies touch
// each other are not supported, and the bodies of one mechanism are taken not to.
//
//   default   accuracy 1e-3, faces of 1e7 Pa on 1 cm
//   stiff     accuracy 1e-8, faces of 1e9 / 10^level Pa on 1 cm
#include <fmt/format.h>

#include <cmath>

#include "common.h"
#include "simbody_world.h"

namespace sarrus::peers {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Simbody : public Engine {
 public:
  Simbody(const Model& model, const Arguments& a) : model_(model), a_(a) {
    require_floor_only();
    scene_.gravity = model.gravity();
    scene_.mu = common_friction(model);
    scene_.stiffness = a.stiff() ? 1e9 / std::pow(10.0, a.level) : 1e7;
    scene_.transition_velocity = a.stiff() ? 1e-4 : 1e-2;
    scene_.accuracy = a.stiff() ? 1e-8 : 1e-3;
    for (const int g : colliding_geoms(model)) {
      if (model.geoms()[at(g)].body == kWorld) scene_.floors.push_back(model.geoms()[at(g)].X_BG);
    }
    link_.assign(at(model.body_count()), -1);
    for (const TreeLink& link : spanning_tree(model)) add_link(link);
    for (const Joint& j : loop_joints(model)) close_loop(j);
    world_ = std::make_unique<SimbodyWorld>(scene_);
  }

  void step() override { world_->advance_to(++steps_ * a_.dt); }

  void read(std::vector<BodyMotion>& bodies) override {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      world_->read(link_[b], bodies[b].X_WB, bodies[b].v_W, bodies[b].w_W);
    }
  }

  std::string version() const override { return SimbodyWorld::version(); }
  std::string setting_text() const override {
    return fmt::format("Runge-Kutta-Merson, accuracy {:.0e}, constraints {:.0e}{}", scene_.accuracy,
                       0.1 * scene_.accuracy,
                       scene_.floors.empty() ? "" : fmt::format(", contact {:.0e} Pa on 1 cm", scene_.stiffness));
  }

 private:
  void require_floor_only() const {
    int floating = 0;
    for (const TreeLink& link : spanning_tree(model_)) floating += link.joint < 0;
    if (floating > 1) throw NotSupported("bodies that touch each other (its boxes meet half-spaces only)");
    for (const int g : colliding_geoms(model_)) {
      const Geom& geom = model_.geoms()[at(g)];
      const ShapeKind wanted = geom.body == kWorld ? ShapeKind::plane : ShapeKind::box;
      if (geom.shape.kind != wanted) throw NotSupported("contact of other shapes than boxes with the floor");
    }
  }

  int link_of(int body) const { return body == kWorld ? -1 : link_[at(body)]; }

  // The joint frame in a body, its axis x turned to z.
  Pose frame(int body, const JointPlace& p) const {
    const Quat x_to_z(Eigen::AngleAxisd(0.5 * M_PI, Vec3::UnitY()));
    return reference_pose(model_, body).inverse() * Pose{p.p_W, p.q_W * x_to_z};
  }

  void add_link(const TreeLink& tree) {
    const Body& b = model_.bodies()[at(tree.body)];
    SimbodyLink link;
    link.parent = link_of(tree.parent);
    link.mass = b.mass;
    link.inertia = b.inertia_B.diagonal();
    for (const int g : colliding_geoms(model_)) {
      const Geom& geom = model_.geoms()[at(g)];
      if (geom.body == tree.body) link.boxes.push_back({geom.X_BG, geom.shape.size});
    }
    if (tree.joint < 0) {
      link.X_PF = b.X_WB0;
    } else {
      const Joint& j = model_.joints()[at(tree.joint)];
      const JointPlace p = place(model_, j);
      link.mobilizer = j.type == JointType::revolute ? Mobilizer::pin
                       : j.type == JointType::fixed  ? Mobilizer::weld
                                                     : Mobilizer::ball;
      link.X_PF = frame(tree.parent, p);
      link.X_BM = frame(tree.body, p);
    }
    link_[at(tree.body)] = static_cast<int>(scene_.links.size());
    scene_.links.push_back(link);
  }

  void close_loop(const Joint& j) {
    if (j.type == JointType::fixed) throw NotSupported("loops closed by fixed joints");
    const JointPlace p = place(model_, j);
    const auto ball = [&](double s) {
      const Vec3 point = p.p_W + s * p.x_W;
      scene_.loops.push_back({link_of(j.base), link_of(j.follower), reference_pose(model_, j.base).inverse() * point,
                              reference_pose(model_, j.follower).inverse() * point});
    };
    if (j.type == JointType::spherical) {
      ball(0);
    } else {
      ball(-0.05);
      ball(0.05);
    }
  }

  Model model_;
  Arguments a_;
  SimbodyScene scene_;
  std::vector<int> link_;  // by body
  std::unique_ptr<SimbodyWorld> world_;
  int steps_ = 0;
};

}  // namespace
}  // namespace sarrus::peers

int main(int argc, char** argv) {
  using namespace sarrus::peers;
  return run(argc, argv, "simbody",
             [](const sarrus::Model& model, const Arguments& a) { return std::make_unique<Simbody>(model, a); });
}
