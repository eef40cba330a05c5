#include "sarrus/robot_files/mjcf_geom.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sarrus/geometry/mass_properties.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"

namespace sarrus::robot::mjcf {
namespace {

constexpr const char* kTypes[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                  "cylinder", "box",    "mesh",   "sdf"};

ShapeKind kind_of(int type) {
  constexpr ShapeKind kinds[] = {ShapeKind::plane,   ShapeKind::height_field, ShapeKind::sphere,
                                 ShapeKind::capsule, ShapeKind::ellipsoid,    ShapeKind::cylinder,
                                 ShapeKind::box,     ShapeKind::mesh,         ShapeKind::mesh};
  return kinds[type];
}

// Area and inertia about the centre of a surface of density one (docs/robots.md, "Masses").
void shell_properties(const Shape& s, double& area, Mat3& inertia) {
  constexpr double pi = std::numbers::pi;
  const double r = s.size[0];
  const double h = s.size[1];
  Vec3 I = Vec3::Zero();
  switch (s.kind) {
    case ShapeKind::sphere:
      area = 4 * pi * r * r;
      I.setConstant(area * 2 / 3 * r * r);
      break;
    case ShapeKind::capsule: {
      const double side = 4 * pi * r * h;
      const double caps = 4 * pi * r * r;
      area = side + caps;
      const double across = side * (r * r / 2 + h * h / 3) + caps * (2 * r * r / 3 + h * h + h * r);
      I = Vec3(across, across, side * r * r + caps * 2 / 3 * r * r);
      break;
    }
    case ShapeKind::cylinder: {
      const double side = 4 * pi * r * h;
      const double caps = 2 * pi * r * r;
      area = side + caps;
      const double across = side * (r * r / 2 + h * h / 3) + caps * (r * r / 4 + h * h);
      I = Vec3(across, across, side * r * r + caps * r * r / 2);
      break;
    }
    case ShapeKind::ellipsoid: {
      // The area by Thomsen's formula; the inertia that of a thin layer of even thickness.
      const Vec3 x = s.size;
      const double p = 1.6075;
      const auto power = [p](double a, double b) { return std::pow(a * b, p); };
      area = 4 * pi * std::pow((power(x[0], x[1]) + power(x[0], x[2]) + power(x[1], x[2])) / 3, 1 / p);
      const double volume = x.prod();
      const double grown = x[1] * x[2] + x[0] * x[2] + x[0] * x[1];
      for (int k = 0; k < 3; ++k) {
        const double b = x[(k + 1) % 3];
        const double c = x[(k + 2) % 3];
        I[k] = area * (grown * (b * b + c * c) + volume * 2 * (b + c)) / (5 * grown);
      }
      break;
    }
    default: {
      const Vec3 x = s.size;
      const Vec3 face = 8 * Vec3(x[1] * x[2], x[0] * x[2], x[0] * x[1]);  // pairs of faces across each axis
      area = face.sum();
      Vec3 second = Vec3::Zero();
      for (int k = 0; k < 3; ++k) {
        for (int f = 0; f < 3; ++f) second[k] += face[f] * x[k] * x[k] / (f == k ? 1 : 3);
      }
      I = Vec3::Constant(second.sum()) - second;
    }
  }
  inertia = I.asDiagonal();
}

}  // namespace

Pose pose_between(const double* x, const xml::Node& at) {
  const Vec3 from(x[0], x[1], x[2]);
  const Vec3 to(x[3], x[4], x[5]);
  const Vec3 axis = from - to;
  if (!(axis.norm() > 1e-10)) xml::fail(at, "fromto has two equal points; give two different ones");
  const Vec3 z = axis.normalized();
  const Vec3 cross = Vec3::UnitZ().cross(z);
  const double s = cross.norm();
  const Vec3 turn = s < 1e-10 ? Vec3::UnitX() : Vec3(cross / s);
  return {0.5 * (from + to), so3_exp(turn * std::atan2(s, z.z()))};
}

GeomReader::GeomReader(Source& s, const Folders& folders, Findings& findings)
    : s_(s), folders_(folders), findings_(findings) {
  for (const xml::Node& pair : s.tree.contacts) {
    if (pair.name != "pair") continue;
    for (const char* end : {"geom1", "geom2"}) paired_.insert(s.context_of(pair).prefix + pair.get(end));
  }
}

SourceGeom GeomReader::read(const xml::Node& node, const Attributes& a, int body, const Pose& X_BF, int context) {
  const Context& ctx = s_.tree.contexts[at(context)];
  SourceGeom g;
  g.name = node.has("name") ? ctx.prefix + node.get("name") : "";
  if (node.get("name").empty()) g.name.clear();
  g.node = node;
  g.context = context;
  g.body = body;
  const auto bits = [&](const char* name) {
    double x = 1;
    a.numbers(name, &x, 1);
    if (x != std::floor(x) || x < -2147483648.0 || x > 4294967295.0)
      a.fail(fmt::format("{} is {}; give 32 bits", name, x));
    return static_cast<unsigned>(static_cast<std::int64_t>(x));
  };
  g.contype = bits("contype");
  g.conaffinity = bits("conaffinity");
  g.condim = a.integer("condim", 3);
  if (g.condim != 1 && g.condim != 3 && g.condim != 4 && g.condim != 6) a.fail("condim is not 1, 3, 4 or 6");
  g.group = a.integer("group", 0);
  g.priority = a.integer("priority", 0);
  a.numbers("friction", g.friction.data(), 3);
  g.solmix = a.number("solmix", 1);
  g.soft = read_soft(a, "solref", "solimp", {});
  g.margin = a.number("margin", 0);
  g.gap = a.number("gap", 0);
  a.numbers("rgba", g.rgba.data(), 4, 4);
  if (a.has("material") && !a.has("rgba")) {
    for (const xml::Node& asset : ctx.assets) {
      if (asset.name != "material" || asset.get("name") != a.text("material")) continue;
      const Attributes material(asset, layers_of(ctx, asset.get("class"), {"material"}, asset));
      g.rgba = {1, 1, 1, 1};
      material.numbers("rgba", g.rgba.data(), 4, 4);
    }
  }
  g.colliding =
      !s_.contact_disabled && (g.contype != 0 || g.conaffinity != 0 || (!g.name.empty() && paired_.count(g.name) > 0));
  if (node.child("plugin") != nullptr) a.fail("has a plugin, which Sarrus does not run; remove it");
  for (const char* dropped : {"adhesion", "surfacevel"}) {
    const std::vector<double> x = a.list(dropped);
    if (std::any_of(x.begin(), x.end(), [](double v) { return v != 0; })) {
      findings_.dropped(dropped, node, fmt::format("its {} is not simulated", dropped));
    }
  }
  g.mass = a.number("mass", -1);
  if (g.mass < 0 && a.has("mass")) a.fail("mass is negative; give 0 or more");
  read_shape(g, a, ctx.compiler, X_BF);
  // What weighs it later: mass, or density in com_G until then.
  g.com_G = Vec3(a.number("density", 1000), a.flag("shellinertia", false) ? 1 : 0, 0);
  if (g.com_G[0] < 0) a.fail("density is negative; give 0 or more");
  return g;
}

void GeomReader::read_shape(SourceGeom& g, const Attributes& a, const Compiler& compiler, const Pose& X_BF) {
  const std::vector<std::string> names(std::begin(kTypes), std::end(kTypes));
  const int type = a.choice("type", names, 2);
  if (type == 8) a.fail("is a signed distance field of a plugin; use a mesh");
  const ShapeKind kind = kind_of(type);
  Pose X = pose_of(a, compiler);
  double ends[6] = {};
  const bool between = a.numbers("fromto", ends, 6, 6) > 0;
  double half_length = 0;
  if (between) {
    if (kind != ShapeKind::capsule && kind != ShapeKind::cylinder && kind != ShapeKind::box &&
        kind != ShapeKind::ellipsoid) {
      a.fail("has fromto, which is for capsules, cylinders, boxes and ellipsoids");
    }
    if (X.p != Vec3::Zero()) a.fail("has fromto and pos; keep one");
    X = pose_between(ends, a.node());
    half_length = 0.5 * (Vec3(ends[0], ends[1], ends[2]) - Vec3(ends[3], ends[4], ends[5])).norm();
  }
  g.X_BG = X_BF * X;
  g.is_mesh = kind == ShapeKind::mesh;
  g.shape.kind = kind;
  if (a.has("mesh")) g.mesh = a.text("mesh");
  if (g.is_mesh || (a.has("mesh") && kind != ShapeKind::plane && kind != ShapeKind::height_field)) {
    read_mesh(g, a, compiler);
  } else if (kind == ShapeKind::height_field) {
    g.shape = height_field(s_.tree.contexts, g.context, a.text("hfield"), folders_, g.node, g.mass_box);
  } else if (kind == ShapeKind::plane) {
    g.shape = Shape::plane();
  } else {
    read_size(g, a, kind, between, half_length);
  }
}

void GeomReader::read_size(SourceGeom& g, const Attributes& a, ShapeKind kind, bool between, double half_length) {
  double size[3] = {0, 0, 0};
  a.numbers("size", size, 3);
  const bool round = kind == ShapeKind::capsule || kind == ShapeKind::cylinder;
  if (between) size[round ? 1 : 2] = half_length;
  if (between && !round && size[1] == 0) size[1] = size[0];
  const int used = kind == ShapeKind::sphere ? 1 : kind == ShapeKind::capsule || kind == ShapeKind::cylinder ? 2 : 3;
  for (int k = 0; k < used; ++k) {
    if (!(size[k] > 0))
      a.fail(fmt::format("size {} is {}; a {} needs {} positive sizes", k + 1, size[k], name_of(kind), used));
  }
  switch (kind) {
    case ShapeKind::sphere:
      g.shape = Shape::sphere(size[0]);
      break;
    case ShapeKind::capsule:
      g.shape = Shape::capsule(size[0], size[1]);
      break;
    case ShapeKind::cylinder:
      g.shape = Shape::cylinder(size[0], size[1]);
      break;
    case ShapeKind::ellipsoid:
      g.shape = Shape::ellipsoid(Vec3(size[0], size[1], size[2]));
      break;
    default:
      g.shape = Shape::box(Vec3(size[0], size[1], size[2]));
  }
}

void GeomReader::read_mesh(SourceGeom& g, const Attributes& a, const Compiler& compiler) {
  if (g.mesh.empty()) a.fail("is a mesh without one; give mesh=\"...\"");
  MeshAsset& mesh = s_.meshes->require(g.context, g.mesh, g.node);
  std::string tried;
  const bool drawn = findings_.options().visuals && g.rgba[3] > 0;
  g.has_shape = g.colliding || !g.is_mesh || drawn;
  if (!g.has_shape) return;
  if (!s_.meshes->available(mesh, tried)) {
    if (!g.colliding && g.is_mesh) {
      g.has_shape = false;
      findings_.note("missing-visual", g.node, "the file of its mesh is not there, and it is only seen");
      return;
    }
    a.fail(fmt::format("the file of mesh {} is not there (tried: {}); copy it there", in_quotes(g.mesh),
                       printable(tried, 1000)));
  }
  if (!g.is_mesh) {
    Pose X_MS;
    const MeshProperties& p = s_.meshes->properties(mesh, mesh.way, g.node);
    g.shape = fitted_shape(g.shape.kind, mesh, p, compiler.fitaabb, a.number("fitscale", 1), X_MS);
    g.X_BG = g.X_BG * X_MS;
    g.mesh.clear();
    return;
  }
  if (!g.colliding) {
    g.shape = Shape::triangles(s_.meshes->triangles(mesh, g.node), true);
    return;
  }
  g.shape = findings_.options().mesh == ImportMesh::exact ? Shape::triangles(s_.meshes->triangles(mesh, g.node), true)
                                                          : Shape::convex(s_.meshes->hull(mesh, g.node));
}

void GeomReader::weigh(SourceGeom& g) {
  const double density = g.com_G[0];
  const bool shell = g.com_G[1] != 0;
  const bool by_mass = g.mass >= 0;
  g.com_G.setZero();
  const double wanted = g.mass;
  g.mass = 0;
  if (g.shape.kind == ShapeKind::plane || (by_mass ? wanted == 0 : density == 0)) return;
  double volume = 0;
  Mat3 inertia = Mat3::Zero();
  if (g.is_mesh) {
    MeshAsset& mesh = s_.meshes->require(g.context, g.mesh, g.node);
    std::string tried;
    if (!s_.meshes->available(mesh, tried)) {
      xml::fail(g.node, fmt::format("the file of mesh {}, of which it has its mass, is not there (tried: {}); copy it "
                                    "there, or give mass=\"0\"",
                                    in_quotes(g.mesh), printable(tried, 1000)));
    }
    const MeshProperties& p = s_.meshes->properties(mesh, shell ? MeshMass::shell : mesh.way, g.node);
    volume = p.volume;
    inertia = p.inertia;
    g.com_G = p.centre;
  } else if (g.shape.kind == ShapeKind::height_field) {
    const Shape box = Shape::box(g.mass_box);
    volume = shape_volume(box);
    inertia = solid_inertia(box, volume);
  } else if (shell) {
    shell_properties(g.shape, volume, inertia);
  } else {
    volume = shape_volume(g.shape);
    inertia = solid_inertia(g.shape, volume);
  }
  g.mass = by_mass ? wanted : density * volume;
  g.inertia_G = inertia * (g.mass / volume);
}

}  // namespace sarrus::robot::mjcf
