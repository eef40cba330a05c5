#include "sarrus/robot_files/mjcf_mesh.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"

namespace sarrus::robot::mjcf {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxMeshes = 100'000;

using Triangles = std::vector<std::array<int, 3>>;

// Surface integrals over pyramids (or areas) as MuJoCo adds them up.
class Weigher {
 public:
  Weigher(const std::vector<Vec3>& vertices, const Triangles& triangles, MeshMass way)
      : x_(vertices), t_(triangles), way_(way) {}

  MeshProperties run() {
    const Vec3 apex = face_centroid();
    double volume = 0;
    Vec3 moment = Vec3::Zero();
    each_face(apex, [&](const Vec3& a, const Vec3& b, const Vec3& c, double w) {
      volume += w;
      moment += w * (0.75 * ((a + b + c) / 3) + 0.25 * apex);
    });
    MeshProperties out;
    if (!(std::abs(volume) > 1e-300)) return out;
    out.centre = moment / volume;
    double second_volume = 0;
    Mat3 second = Mat3::Zero();  // integral of x x^T about the centre
    each_face(out.centre, [&](const Vec3& a, const Vec3& b, const Vec3& c, double w) {
      second_volume += w;
      const Vec3 A = a - out.centre;
      const Vec3 B = b - out.centre;
      const Vec3 C = c - out.centre;
      const Vec3 S = A + B + C;
      // Of a tetrahedron with the apex at 0: 1/20 of its volume; of a triangle: 1/12 of its area.
      const double share = way_ == MeshMass::shell ? 12 : 20;
      second += w / share * (A * A.transpose() + B * B.transpose() + C * C.transpose() + S * S.transpose());
    });
    out.volume = second_volume;
    out.inertia = second.trace() * Mat3::Identity() - second;
    return out;
  }

 private:
  Vec3 face_centroid() const {
    Vec3 sum = Vec3::Zero();
    double area = 0;
    for (const auto& t : t_) {
      const Vec3 &a = x_[at(t[0])], &b = x_[at(t[1])], &c = x_[at(t[2])];
      const double s = 0.5 * (b - a).cross(c - a).norm();
      sum += s * (a + b + c) / 3;
      area += s;
    }
    return area > 0 ? Vec3(sum / area) : Vec3::Zero();
  }

  template <class F>
  void each_face(const Vec3& apex, F f) const {
    for (const auto& t : t_) {
      const Vec3 &a = x_[at(t[0])], &b = x_[at(t[1])], &c = x_[at(t[2])];
      const Vec3 normal = 0.5 * (b - a).cross(c - a);
      double w = normal.norm();
      if (way_ != MeshMass::shell) {
        w = normal.dot((a + b + c) / 3 - apex) / 3;
        if (way_ == MeshMass::legacy) w = std::abs(w);
      }
      f(a, b, c, w);
    }
  }

  const std::vector<Vec3>& x_;
  const Triangles& t_;
  MeshMass way_;
};

// Each edge must be used once in each direction.
bool consistent(const Triangles& triangles) {
  std::map<std::pair<int, int>, int> uses;
  for (const auto& t : triangles) {
    for (int k = 0; k < 3; ++k) {
      if (++uses[{t[at(k)], t[at((k + 1) % 3)]}] > 1) return false;
    }
  }
  return true;
}

// A surface of points alone is their hull.
void add_hull_faces(MeshFile& surface, const xml::Node& node) {
  const auto hull = ConvexHull::build(surface.vertices, node.place.text() + ": " + xml::describe(node));
  surface.vertices.assign(hull->vertices().begin(), hull->vertices().end());
  surface.triangles = hull->triangles();
}

}  // namespace

Meshes::Meshes(const std::vector<Context>& contexts, const Folders& folders) : contexts_(contexts), folders_(folders) {
  for (std::size_t c = 0; c < contexts.size(); ++c) {
    for (const xml::Node& asset : contexts[c].assets) {
      if (asset.name != "mesh") continue;
      std::string name = asset.get("name");
      if (name.empty()) name = fs::path(asset.get("file")).stem().string();
      if (name.empty()) xml::fail(asset, "has neither a name nor a file; give one");
      MeshAsset mesh;
      mesh.node = asset;
      mesh.context = static_cast<int>(c);
      if (!meshes_.try_emplace({static_cast<int>(c), name}, std::move(mesh)).second) {
        xml::fail(asset, fmt::format("another mesh is called {}; rename it", in_quotes(name)));
      }
      if (meshes_.size() > kMaxMeshes) xml::fail(asset, fmt::format("more than {} meshes; join them", kMaxMeshes));
    }
  }
}

MeshAsset& Meshes::require(int context, const std::string& name, const xml::Node& at) {
  const auto found = meshes_.find({context, name});
  if (found != meshes_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, mesh] : meshes_) {
    if (key.first == context) known.push_back(key.second);
  }
  xml::fail(at, fmt::format("there is no mesh {}; {}", in_quotes(name), suggestion(name, known, "mesh")));
}

void Meshes::read_inline(MeshAsset& mesh, const Attributes& a) {
  const std::vector<double> x = a.list("vertex");
  const std::vector<double> faces = a.list("face");
  if (x.size() % 3 != 0 || x.size() < 12) a.fail("vertex needs three numbers each for four vertices or more");
  for (std::size_t i = 0; i + 2 < x.size(); i += 3) mesh.surface.vertices.emplace_back(x[i], x[i + 1], x[i + 2]);
  if (faces.size() % 3 != 0) a.fail("face needs three vertices each");
  for (std::size_t i = 0; i + 2 < faces.size(); i += 3) {
    std::array<int, 3> t{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double v = faces[i + k];
      if (!(v >= 0) || !(v < static_cast<double>(mesh.surface.vertices.size())) || v != std::floor(v)) {
        a.fail(fmt::format("face names the vertex {}; there are {}", v, mesh.surface.vertices.size()));
      }
      t[k] = static_cast<int>(v);
    }
    mesh.surface.triangles.push_back(t);
  }
  if (faces.empty()) add_hull_faces(mesh.surface, mesh.node);
}

void Meshes::load(MeshAsset& mesh) {
  if (mesh.loaded) return;
  mesh.loaded = true;
  const Context& context = contexts_[at(mesh.context)];
  const Attributes a(mesh.node, layers_of(context, mesh.node.get("class"), {"mesh"}, mesh.node));
  mesh.way = static_cast<MeshMass>(
      a.choice("inertia", {"convex", "exact", "legacy", "shell"},
               static_cast<int>(context.compiler.exactmeshinertia ? MeshMass::exact : MeshMass::legacy)));
  if (mesh.node.has("builtin") && a.text("builtin") != "none") a.fail("is built in MuJoCo; export it to a file");
  if (mesh.node.child("plugin") != nullptr) a.fail("comes from a plugin, which is not read; export it to a file");
  const Vec3 refpos = a.vec3("refpos", Vec3::Zero());
  double q[4] = {1, 0, 0, 0};
  a.numbers("refquat", q, 4, 4);
  Quat refquat(q[0], q[1], q[2], q[3]);
  if (!(refquat.norm() > 1e-10)) a.fail("refquat is zero; give an orientation");
  refquat.normalize();
  const Vec3 scale = a.vec3("scale", Vec3::Ones());
  if ((scale.array() == 0).any()) a.fail("scale has a zero; give factors other than 0");
  fs::path path;
  const bool in_place = refpos.isZero(0) && refquat.vec().isZero(0);
  if (const std::string* file = mesh.node.find("file")) {
    std::string name = *file;
    if (context.compiler.strippath) name = fs::path(name).filename().string();
    const fs::path folder = context.folder / context.compiler.meshdir;
    try {
      if (!folders_.find(name, {folder}, path, mesh.tried)) {
        mesh.missing = true;
        return;
      }
      mesh.surface = load_mesh_file(path, {in_place ? scale : Vec3(Vec3::Ones()), false});
    } catch (const InputError& error) {
      xml::fail(mesh.node, error.what());
    }
  } else {
    read_inline(mesh, a);
  }
  budget_.add(mesh.surface, mesh.node);
  if (!path.empty() && in_place) {
    mesh.file = path;
    mesh.scale = scale;
    return;
  }
  // Adding 0 leaves no negative zeros, as in files.
  for (Vec3& v : mesh.surface.vertices) v = scale.cwiseProduct(refquat.conjugate() * (v - refpos)) + Vec3::Zero();
  if (scale.prod() < 0) {
    for (auto& t : mesh.surface.triangles) std::swap(t[1], t[2]);
  }
}

bool Meshes::available(MeshAsset& mesh, std::string& tried) {
  load(mesh);
  tried = mesh.tried;
  return !mesh.missing;
}

std::shared_ptr<const ConvexHull> Meshes::hull(MeshAsset& mesh, const xml::Node& at) {
  load(mesh);
  if (mesh.hull == nullptr)
    mesh.hull = ConvexHull::build(mesh.surface.vertices, at.place.text() + ": " + xml::describe(at));
  if (!mesh.file.empty()) sources_[mesh.hull.get()] = {mesh.file, mesh.scale};
  return mesh.hull;
}

std::shared_ptr<const TriangleMesh> Meshes::triangles(MeshAsset& mesh, const xml::Node& at) {
  load(mesh);
  if (mesh.triangles == nullptr) {
    mesh.triangles =
        TriangleMesh::build(mesh.surface.vertices, mesh.surface.triangles, at.place.text() + ": " + xml::describe(at));
  }
  if (!mesh.file.empty()) sources_[mesh.triangles.get()] = {mesh.file, mesh.scale};
  return mesh.triangles;
}

const MeshProperties& Meshes::properties(MeshAsset& mesh, MeshMass way, const xml::Node& where) {
  load(mesh);
  std::unique_ptr<MeshProperties>& slot = mesh.properties[static_cast<std::size_t>(way)];
  if (slot != nullptr) return *slot;
  if (way == MeshMass::convex) {
    const auto h = hull(mesh, where);
    const std::vector<Vec3> vertices(h->vertices().begin(), h->vertices().end());
    slot = std::make_unique<MeshProperties>(Weigher(vertices, h->triangles(), MeshMass::exact).run());
  } else {
    slot = std::make_unique<MeshProperties>(Weigher(mesh.surface.vertices, mesh.surface.triangles, way).run());
  }
  if (way == MeshMass::exact && (!consistent(mesh.surface.triangles) || !(slot->volume > 0))) {
    xml::fail(mesh.node, "has faces turned inside out; correct them, or weigh it with inertia=\"legacy\"");
  }
  if (!(slot->volume > 0)) xml::fail(mesh.node, "has no volume, so that it has no mass; give its body an <inertial>");
  return *slot;
}

Shape fitted_shape(ShapeKind kind, const MeshAsset& mesh, const MeshProperties& p, bool to_box, double scale,
                   Pose& X_MS) {
  // Principal axes, largest moment first.
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(p.inertia);
  Mat3 R;
  R << eigen.eigenvectors().col(2), eigen.eigenvectors().col(1), eigen.eigenvectors().col(0);
  if (R.determinant() < 0) R.col(2) = -R.col(2);
  const Vec3 I = eigen.eigenvalues().reverse();
  X_MS = {p.centre, Quat(R).normalized()};
  Vec3 b;
  if (to_box) {
    Vec3 lo = Vec3::Constant(kInf);
    Vec3 hi = Vec3::Constant(-kInf);
    for (const Vec3& v : mesh.surface.vertices) {
      const Vec3 x = R.transpose() * (v - p.centre);
      lo = lo.cwiseMin(x);
      hi = hi.cwiseMax(x);
    }
    b = 0.5 * (hi - lo);
    X_MS.p += R * (0.5 * (hi + lo));
  } else {
    for (int k = 0; k < 3; ++k) {
      b[k] = 0.5 * std::sqrt(std::max(0.0, 6 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]) / p.volume));
    }
  }
  switch (kind) {
    case ShapeKind::sphere:
      return Shape::sphere(scale * (to_box ? b.maxCoeff() : b.mean()));
    case ShapeKind::capsule: {
      const double r = to_box ? std::max(b[0], b[1]) : 0.5 * (b[0] + b[1]);
      return Shape::capsule(scale * r, scale * std::max(0.0, to_box ? b[2] - r : b[2] - r / 2));
    }
    case ShapeKind::cylinder:
      return Shape::cylinder(scale * (to_box ? std::max(b[0], b[1]) : 0.5 * (b[0] + b[1])), scale * b[2]);
    case ShapeKind::ellipsoid:
      return Shape::ellipsoid(scale * b);
    default:
      return Shape::box(scale * b);
  }
}

}  // namespace sarrus::robot::mjcf
