// MuJoCo: bodies as a tree, loops cut and closed by `equality connect`, as its users do; MJCF from memory.
//
// A hinge that closes a loop becomes two connects, 0.1 m apart on its axis. Fixed joints become rigid parts of the
// tree.
//   default   MuJoCo's own options but the step
//   stiff     solref = 2 dt 2^level (MuJoCo's limit), solimp 0.9999, elliptic cones with impratio 100, Newton to 1e-14,
//             noslip, RK4 where nothing collides
#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <cmath>
#include <cstring>
#include <map>

#include "common.h"

namespace sarrus::peers {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string text(const Vec3& x) { return fmt::format("{} {} {}", x.x(), x.y(), x.z()); }
std::string text(const Quat& q) { return fmt::format("{} {} {} {}", q.w(), q.x(), q.y(), q.z()); }

class Writer {
 public:
  Writer(const Model& model, const Arguments& a) : model_(model), a_(a), geoms_(colliding_geoms(model)) {
    for (const TreeLink& link : spanning_tree(model)) children_[link.parent].push_back(link);
  }

  std::string mjcf() {
    xml_ = "<mujoco model=\"scene\">\n<compiler angle=\"radian\" inertiafromgeom=\"false\"/>\n";
    xml_ += fmt::format("<option timestep=\"{}\" gravity=\"{}\"{}/>\n", a_.dt, text(model_.gravity()), options());
    xml_ += "<size njmax=\"5000\" nconmax=\"2000\"/>\n<default>\n";
    xml_ += fmt::format("<geom friction=\"{} 0.005 0.0001\"{}/>\n", common_friction(model_), softness());
    xml_ += fmt::format("<equality{}/>\n</default>\n<worldbody>\n", softness());
    bodies(kWorld);
    xml_ += "</worldbody>\n<contact>\n";
    excludes();
    xml_ += "</contact>\n<equality>\n";
    loops();
    xml_ += "</equality>\n</mujoco>\n";
    return xml_;
  }

  double time_constant() const { return 2 * a_.dt * std::pow(2.0, a_.level); }
  bool runge_kutta() const { return a_.stiff() && geoms_.empty(); }

 private:
  std::string options() const {
    if (!a_.stiff()) return "";
    return fmt::format(
        " iterations=\"200\" tolerance=\"1e-14\" cone=\"elliptic\" impratio=\"100\" noslip_iterations=\"20\"{}",
        runge_kutta() ? " integrator=\"RK4\"" : "");
  }
  std::string softness() const {
    if (!a_.stiff()) return "";
    return fmt::format(" solref=\"{} 1\" solimp=\"0.9999 0.9999 0.001 0.5 2\"", time_constant());
  }

  std::string name_of(int body) const { return fmt::format("b{}", body); }

  void geoms(int body) {
    for (const int g : geoms_) {
      const Geom& geom = model_.geoms()[at(g)];
      if (geom.body != body) continue;
      const Vec3& s = geom.shape.size;
      const bool plane = geom.shape.kind == ShapeKind::plane;
      const std::string shape = plane                               ? "type=\"plane\" size=\"0 0 1\""
                                : geom.shape.kind == ShapeKind::box ? fmt::format("type=\"box\" size=\"{}\"", text(s))
                                                                    : fmt::format("type=\"sphere\" size=\"{}\"", s.x());
      xml_ += fmt::format("<geom {} pos=\"{}\" quat=\"{}\"/>\n", shape, text(geom.X_BG.p), text(geom.X_BG.q));
    }
  }

  void bodies(int parent) {
    geoms(parent);
    for (const TreeLink& link : children_[parent]) {
      const Body& b = model_.bodies()[at(link.body)];
      const Pose X_PB = reference_pose(model_, parent).inverse() * b.X_WB0;
      const Vec3 I = b.inertia_B.diagonal();
      xml_ +=
          fmt::format("<body name=\"{}\" pos=\"{}\" quat=\"{}\">\n", name_of(link.body), text(X_PB.p), text(X_PB.q));
      xml_ += fmt::format("<inertial pos=\"0 0 0\" mass=\"{}\" diaginertia=\"{}\"/>\n", b.mass, text(I));
      joint(link);
      bodies(link.body);
      xml_ += "</body>\n";
    }
  }

  void joint(const TreeLink& link) {
    if (link.joint < 0) {
      xml_ += "<freejoint/>\n";
      return;
    }
    const Joint& j = model_.joints()[at(link.joint)];
    if (j.type == JointType::fixed) return;
    const JointPlace p = place(model_, j);
    const Pose X_WB = reference_pose(model_, link.body);
    xml_ +=
        fmt::format("<joint type=\"{}\" pos=\"{}\" axis=\"{}\"/>\n", j.type == JointType::revolute ? "hinge" : "ball",
                    text(X_WB.inverse() * p.p_W), text(Vec3(X_WB.q.conjugate() * p.x_W)));
  }

  void excludes() {
    for (int a = 0; a < model_.body_count(); ++a) {
      for (int b = a + 1; b < model_.body_count(); ++b) {
        if (bodies_collide(model_, a, b)) continue;
        xml_ += fmt::format("<exclude body1=\"{}\" body2=\"{}\"/>\n", name_of(a), name_of(b));
      }
    }
  }

  void loops() {
    for (const Joint& j : loop_joints(model_)) {
      const JointPlace p = place(model_, j);
      // The first body may not be the world; anchors are given in its frame.
      const int first = j.follower == kWorld ? j.base : j.follower;
      const int second = first == j.follower ? j.base : j.follower;
      const Pose X_BW = reference_pose(model_, first).inverse();
      const std::string pair = fmt::format("body1=\"{}\"{}", name_of(first),
                                           second == kWorld ? "" : fmt::format(" body2=\"{}\"", name_of(second)));
      if (j.type == JointType::fixed) {
        xml_ += fmt::format("<weld {}/>\n", pair);
      } else if (j.type == JointType::spherical) {
        xml_ += fmt::format("<connect {} anchor=\"{}\"/>\n", pair, text(X_BW * p.p_W));
      } else {
        for (const double s : {-0.05, 0.05}) {
          xml_ += fmt::format("<connect {} anchor=\"{}\"/>\n", pair, text(X_BW * Vec3(p.p_W + s * p.x_W)));
        }
      }
    }
  }

  Model model_;
  Arguments a_;
  std::vector<int> geoms_;
  std::map<int, std::vector<TreeLink>> children_;
  std::string xml_;
};

class MuJoCo : public Engine {
 public:
  MuJoCo(const Model& model, const Arguments& a) : stiff_(a.stiff()) {
    Writer writer(model, a);
    const std::string xml = writer.mjcf();
    time_constant_ = writer.time_constant();
    runge_kutta_ = writer.runge_kutta();
    const auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    const int size = static_cast<int>(xml.size());
    mj_makeEmptyFileVFS(files.get(), "scene.xml", size);
    std::memcpy(files->filedata[0], xml.data(), xml.size());
    char error[1000] = "";
    m_ = mj_loadXML("scene.xml", files.get(), error, sizeof error);
    mj_deleteVFS(files.get());
    if (m_ == nullptr) throw std::runtime_error(std::string("MuJoCo refuses the scene: ") + error);
    d_ = mj_makeData(m_);
    for (int b = 0; b < model.body_count(); ++b) {
      ids_.push_back(mj_name2id(m_, mjOBJ_BODY, fmt::format("b{}", b).c_str()));
    }
  }
  ~MuJoCo() override {
    mj_deleteData(d_);
    mj_deleteModel(m_);
  }
  MuJoCo(const MuJoCo&) = delete;
  MuJoCo& operator=(const MuJoCo&) = delete;

  void step() override { mj_step(m_, d_); }

  void read(std::vector<BodyMotion>& bodies) override {
    // After a step the poses are still those of its start.
    mj_kinematics(m_, d_);
    mj_comPos(m_, d_);
    mj_fwdVelocity(m_, d_);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const mjtNum* p = d_->xpos + 3 * ids_[b];
      const mjtNum* q = d_->xquat + 4 * ids_[b];
      mjtNum v[6];  // angular, linear
      mj_objectVelocity(m_, d_, mjOBJ_BODY, ids_[b], v, 0);
      bodies[b] = {
          {Vec3(p[0], p[1], p[2]), Quat(q[0], q[1], q[2], q[3])}, Vec3(v[3], v[4], v[5]), Vec3(v[0], v[1], v[2])};
    }
  }

  std::string version() const override { return mj_versionString(); }
  std::string setting_text() const override {
    if (!stiff_) return "Newton, pyramidal cones, solref 0.02 1, solimp 0.9 0.95 0.001";
    return fmt::format(
        "Newton 200 iterations to 1e-14, elliptic cones, impratio 100, noslip 20, solref {:.3g} 1, "
        "solimp 0.9999{}",
        time_constant_, runge_kutta_ ? ", RK4" : "");
  }

 private:
  bool stiff_;
  bool runge_kutta_ = false;
  double time_constant_ = 0;
  mjModel* m_ = nullptr;
  mjData* d_ = nullptr;
  std::vector<int> ids_;  // by body
};

}  // namespace
}  // namespace sarrus::peers

int main(int argc, char** argv) {
  using namespace sarrus::peers;
  return run(argc, argv, "mujoco",
             [](const sarrus::Model& model, const Arguments& a) { return std::make_unique<MuJoCo>(model, a); });
}
