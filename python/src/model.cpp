// Model: what is loaded, and its named elements as frozen descriptions.
#include <fmt/format.h>

#include <filesystem>

#include "bindings.h"
#include "sarrus/analysis/analysis.h"
#include "sarrus/assembly/assembly.h"
#include "sarrus/dynamics/scheme.h"
#include "sarrus/math/text.h"
#include "sarrus/model/parameters.h"
#include "sarrus/model/topology.h"
#include "sarrus/robot_files/hold.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/scenes/scenes.h"

namespace sarrus::python {
namespace {

nb::str text(std::string_view s) { return nb::str(s.data(), s.size()); }

std::string body_name(const Model& model, int body) {
  return body == kWorld ? "world" : model.bodies()[static_cast<std::size_t>(body)].name;
}

// Elements are the model and an index: models are shared, so that this costs nothing and lives as long as it is needed.
template <class T>
struct Element {
  Model model;
  int index;
  const T& get() const;
};
template <>
const Body& Element<Body>::get() const {
  return model.bodies()[static_cast<std::size_t>(index)];
}
template <>
const Joint& Element<Joint>::get() const {
  return model.joints()[static_cast<std::size_t>(index)];
}
template <>
const Dof& Element<Dof>::get() const {
  return model.scalars()[static_cast<std::size_t>(index)];
}
template <>
const Geom& Element<Geom>::get() const {
  return model.geoms()[static_cast<std::size_t>(index)];
}
template <>
const Material& Element<Material>::get() const {
  return model.materials()[static_cast<std::size_t>(index)];
}

template <class T, class Names>
nb::object elements(const Model& model, int count, const char* kind, const Names& name) {
  nb::list names, list;
  for (int i = 0; i < count; ++i) {
    names.append(name(i));
    list.append(Element<T>{model, i});
  }
  return named_elements(names, list, kind);
}

struct PyLoop {
  std::string joint, text;
  std::vector<std::string> joints, bodies;
};

nb::object loops(const PyModel& m) {
  nb::list out;
  for (const int joint : m.model.loop_joints()) {
    const Loop loop = shortest_loop(m.model, joint);
    PyLoop l;
    l.joint = m.model.joints()[static_cast<std::size_t>(joint)].name;
    for (const int j : loop.joints) l.joints.push_back(m.model.joints()[static_cast<std::size_t>(j)].name);
    for (const int b : loop.bodies) l.bodies.push_back(body_name(m.model, b));
    l.text = loop_text(m.model, loop);
    out.append(std::move(l));
  }
  return nb::tuple(out);
}

struct PyCheck {
  ModelAnalysis a;
  std::string text;
};

// As `sarrus check`: joints that do not meet are assembled when a simulation starts, which is tried.
PyCheck check(const PyModel& m) {
  PyCheck c{analyse(m.model), {}};
  try {
    if (c.a.joint_gap > 0 || c.a.joint_angle > 0) Simulation(m.model, {});
  } catch (const InputError& error) {
    c.a.warnings.emplace_back(error.what());
  }
  c.text = m.import_text + to_text(m.model, c.a);
  return c;
}

PyModel load_file(const std::string& path, const std::string& key, const std::string& base,
                  const std::vector<std::string>& packages, const std::string& loops_from,
                  const std::vector<std::string>& accept, bool strict, bool allow_outside,
                  const std::string& compliance, const std::string& mesh, const std::string& assemble, bool visuals,
                  bool hold) {
  ImportOptions o;
  o.key = key;
  o.base = choice<ImportBase>("base", base, {{"fixed", ImportBase::fixed}, {"free", ImportBase::free}});
  o.packages.assign(packages.begin(), packages.end());
  o.loops_from = loops_from;
  o.accept = accept;
  o.strict = strict;
  o.allow_outside = allow_outside;
  o.compliance = choice<ImportCompliance>("compliance", compliance,
                                          {{"none", ImportCompliance::none}, {"source", ImportCompliance::source}});
  o.mesh = choice<ImportMesh>("mesh", mesh, {{"hull", ImportMesh::hull}, {"exact", ImportMesh::exact}});
  o.assemble = choice<ImportAssembly>(
      "assemble", assemble,
      {{"auto", ImportAssembly::automatic}, {"always", ImportAssembly::always}, {"never", ImportAssembly::never}});
  o.visuals = visuals;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored) && is_builtin_scene(path)) {
    throw InputError(path, fmt::format("no such file; the built-in scene is Model.builtin('{}')", path));
  }
  ImportResult r = import_model(path, o);
  if (hold) r.model = held(r.model).model;
  recommended_integrator(r.model);
  const bool robot = r.report.format != "JSON";
  return {std::move(r.model), robot ? r.report.to_text() : "", robot ? r.report.to_json() : ""};
}

nb::object shape_size(const Element<Geom>& g) { return vector_of(g.get().shape.size); }

void bind_elements(nb::module_& m) {
  nb::class_<Element<Body>>(m, "Body", "A body of a model. Its frame has its origin at the centre of mass.")
      .def_prop_ro(
          "name", [](const Element<Body>& b) { return b.get().name; }, "Its name.")
      .def_prop_ro(
          "index", [](const Element<Body>& b) { return b.index; }, "Its row in the arrays by body.")
      .def_prop_ro(
          "mass", [](const Element<Body>& b) { return b.get().mass; }, "Mass, kg.")
      .def_prop_ro(
          "inertia", [](const Element<Body>& b) { return matrix_of(b.get().inertia_B); },
          "(3, 3) inertia about the centre of mass, body axes, kg m^2.")
      .def_prop_ro(
          "position", [](const Element<Body>& b) { return vector_of(b.get().X_WB0.p); },
          "(3,) centre of mass at the reference pose, world, m.")
      .def_prop_ro(
          "quaternion_xyzw", [](const Element<Body>& b) { return quaternion_of(b.get().X_WB0.q); },
          "(4,) orientation at the reference pose, x y z w.")
      .def_prop_ro(
          "linear_damping", [](const Element<Body>& b) { return b.get().linear_damping; }, "N s/m.")
      .def_prop_ro(
          "angular_damping", [](const Element<Body>& b) { return b.get().angular_damping; }, "N m s/rad.")
      .def_prop_ro(
          "gravity_scale", [](const Element<Body>& b) { return b.get().gravity_scale; },
          "Share of the model's gravity that acts on it.")
      .def("__repr__", [](const Element<Body>& b) {
        return fmt::format("<Body {}: {:.6g} kg>", in_quotes(b.get().name), b.get().mass);
      });

  nb::class_<Element<Joint>>(m, "Joint", "A joint of a model, from a base to a follower.")
      .def_prop_ro(
          "name", [](const Element<Joint>& j) { return j.get().name; }, "Its name.")
      .def_prop_ro(
          "index", [](const Element<Joint>& j) { return j.index; }, "Its row in the arrays by joint.")
      .def_prop_ro(
          "type", [](const Element<Joint>& j) { return text(joint_type_info(j.get().type).name); },
          "'revolute', 'spherical', ... (docs/scene-format.md).")
      .def_prop_ro(
          "base", [](const Element<Joint>& j) { return body_name(j.model, j.get().base); },
          "Name of the base body, or 'world'.")
      .def_prop_ro(
          "follower", [](const Element<Joint>& j) { return body_name(j.model, j.get().follower); },
          "Name of the follower.")
      .def_prop_ro(
          "coordinates",
          [](const Element<Joint>& j) {
            nb::list names;
            for (int k = 0; k < joint_dofs(j.get()); ++k) names.append(j.model.dof_name(j.get().first_dof + k));
            return nb::tuple(names);
          },
          "Names of its coordinates, 'joint.coordinate'.")
      .def_prop_ro(
          "closes_loop",
          [](const Element<Joint>& j) {
            const std::vector<int>& l = j.model.loop_joints();
            return std::find(l.begin(), l.end(), j.index) != l.end();
          },
          "Whether it closes a loop of the spanning forest (Model.loops).")
      .def_prop_ro(
          "size", [](const Element<Joint>& j) { return j.model.joint_size(j.index); },
          "What lengths of the joint are small or large against, m.")
      .def("__repr__", [](const Element<Joint>& j) {
        return fmt::format("<Joint {}: {}, {} to {}>", in_quotes(j.get().name), joint_type_info(j.get().type).name,
                           body_name(j.model, j.get().base), body_name(j.model, j.get().follower));
      });

  nb::class_<Element<Dof>>(m, "Dof",
                           "A coordinate of a joint, or a combination of coordinates, with its laws. SI units.")
      .def_prop_ro(
          "name", [](const Element<Dof>& d) { return d.model.dof_name(d.index); }, "'joint.coordinate'.")
      .def_prop_ro(
          "index", [](const Element<Dof>& d) { return d.index; }, "Its row in the arrays by coordinate.")
      .def_prop_ro(
          "joint",
          [](const Element<Dof>& d) {
            return d.model.joints()[static_cast<std::size_t>(d.model.joint_of_dof(d.index))].name;
          },
          "Name of its joint.")
      .def_prop_ro(
          "limit", [](const Element<Dof>& d) { return nb::make_tuple(d.get().limit.lower, d.get().limit.upper); },
          "(lower, upper), m or rad; infinite where there is none.")
      .def_prop_ro(
          "drive",
          [](const Element<Dof>& d) -> nb::object {
            constexpr const char* names[] = {"none", "force", "position", "velocity"};
            return nb::str(names[static_cast<std::size_t>(d.get().drive.mode)]);
          },
          "Mode of its drive: 'none', 'force', 'position' or 'velocity'.")
      .def_prop_ro(
          "drive_name", [](const Element<Dof>& d) { return d.get().drive.name; }, "Of the actuator; may be empty.")
      .def_prop_ro(
          "kp", [](const Element<Dof>& d) { return d.get().drive.kp; }, "Of the drive, N/m or N m/rad.")
      .def_prop_ro(
          "kd", [](const Element<Dof>& d) { return d.get().drive.kd; }, "Of the drive, N s/m or N m s/rad.")
      .def_prop_ro(
          "effort_limit",
          [](const Element<Dof>& d) {
            return nb::make_tuple(d.get().drive.least_effort(), d.get().drive.largest_effort());
          },
          "(least, largest) effort of the drive, N or N m.")
      .def_prop_ro(
          "target_limit",
          [](const Element<Dof>& d) { return nb::make_tuple(d.get().drive.target_lower, d.get().drive.target_upper); },
          "(least, largest) target of the drive.")
      .def_prop_ro(
          "armature", [](const Element<Dof>& d) { return d.get().armature; }, "kg or kg m^2.")
      .def_prop_ro(
          "stiffness", [](const Element<Dof>& d) { return d.get().stiffness; }, "N/m or N m/rad.")
      .def_prop_ro(
          "rest", [](const Element<Dof>& d) { return d.get().rest; }, "Where its spring rests, m or rad.")
      .def_prop_ro(
          "damping", [](const Element<Dof>& d) { return d.get().damping; }, "N s/m or N m s/rad.")
      .def_prop_ro(
          "dry_friction", [](const Element<Dof>& d) { return d.get().dry_friction; }, "N or N m.")
      .def("__repr__",
           [](const Element<Dof>& d) { return fmt::format("<Dof {}>", in_quotes(d.model.dof_name(d.index))); });

  nb::class_<Element<Geom>>(m, "Geom", "A shape that collides.")
      .def_prop_ro(
          "name", [](const Element<Geom>& g) { return g.get().name; }, "Its name; may be empty.")
      .def_prop_ro(
          "index", [](const Element<Geom>& g) { return g.index; }, "Its number in contacts.")
      .def_prop_ro(
          "body", [](const Element<Geom>& g) { return body_name(g.model, g.get().body); }, "Of which body, or 'world'.")
      .def_prop_ro(
          "kind", [](const Element<Geom>& g) { return text(name_of(g.get().shape.kind)); }, "'box', 'sphere', ...")
      .def_prop_ro("size", &shape_size, "(3,) by kind, m: half extents; radius, half length; semi-axes.")
      .def_prop_ro(
          "position", [](const Element<Geom>& g) { return vector_of(g.get().X_BG.p); }, "(3,) in the body frame, m.")
      .def_prop_ro(
          "quaternion_xyzw", [](const Element<Geom>& g) { return quaternion_of(g.get().X_BG.q); },
          "(4,) in the body frame, x y z w.")
      .def_prop_ro(
          "material",
          [](const Element<Geom>& g) { return g.model.materials()[static_cast<std::size_t>(g.get().material)].name; },
          "Name of its material.")
      .def("__repr__", [](const Element<Geom>& g) {
        return fmt::format("<Geom {}: {} of {}>", in_quotes(g.get().name), name_of(g.get().shape.kind),
                           body_name(g.model, g.get().body));
      });

  nb::class_<Element<Material>>(m, "Material", "What surfaces are made of.")
      .def_prop_ro(
          "name", [](const Element<Material>& x) { return x.get().name; }, "Its name.")
      .def_prop_ro(
          "mu", [](const Element<Material>& x) { return x.get().mu; }, "Coefficient of friction.")
      .def_prop_ro(
          "restitution", [](const Element<Material>& x) { return x.get().restitution; }, "Coefficient of restitution.")
      .def("__repr__", [](const Element<Material>& x) {
        return fmt::format("<Material {}: mu {:g}>", in_quotes(x.get().name), x.get().mu);
      });

  nb::class_<PyLoop>(m, "Loop", "A closed chain of joints and bodies.")
      .def_ro("joint", &PyLoop::joint, "The joint that closes it.")
      .def_prop_ro(
          "joints", [](const PyLoop& l) { return nb::tuple(nb::cast(l.joints)); }, "All of its joints, by name.")
      .def_prop_ro(
          "bodies", [](const PyLoop& l) { return nb::tuple(nb::cast(l.bodies)); }, "Its bodies, by name.")
      .def("__repr__", [](const PyLoop& l) { return fmt::format("<Loop: {}>", l.text); });

  nb::class_<PyCheck>(m, "Check", "What `sarrus check` tells of a model at its reference pose; print it.")
      .def("__str__", [](const PyCheck& c) { return c.text; })
      .def_prop_ro(
          "bodies", [](const PyCheck& c) { return c.a.bodies; }, "Number of bodies.")
      .def_prop_ro(
          "joints", [](const PyCheck& c) { return c.a.joints; }, "Number of joints.")
      .def_prop_ro(
          "loops", [](const PyCheck& c) { return c.a.loops; }, "Joints beyond a spanning forest.")
      .def_prop_ro(
          "rows", [](const PyCheck& c) { return c.a.rows; }, "Rigid bilateral constraint rows.")
      .def_prop_ro(
          "rank", [](const PyCheck& c) { return c.a.rank; }, "Their rank; -1: not computed.")
      .def_prop_ro(
          "redundant_rows", [](const PyCheck& c) { return c.a.redundant_rows; }, "rows - rank; -1: not computed.")
      .def_prop_ro(
          "mobility", [](const PyCheck& c) { return c.a.mobility; }, "6 bodies - rank; -1: not computed.")
      .def_prop_ro(
          "mass_ratio", [](const PyCheck& c) { return c.a.mass_ratio; }, "Largest over smallest mass.")
      .def_prop_ro(
          "condition", [](const PyCheck& c) { return c.a.condition; }, "Of J M^-1 J' without its null space.")
      .def_prop_ro(
          "joint_gap", [](const PyCheck& c) { return c.a.joint_gap; }, "At the reference pose, m.")
      .def_prop_ro(
          "joint_angle", [](const PyCheck& c) { return c.a.joint_angle; }, "At the reference pose, rad.")
      .def_prop_ro(
          "contacts", [](const PyCheck& c) { return c.a.initial_contacts; }, "At the reference pose.")
      .def_prop_ro(
          "penetration", [](const PyCheck& c) { return c.a.initial_penetration; }, "The deepest of them, m.")
      .def_prop_ro(
          "warnings", [](const PyCheck& c) { return nb::tuple(nb::cast(c.a.warnings)); }, "What looks wrong.");
}

State pose(const PyModel& m, const std::map<std::string, double>& wanted, nb::object from) {
  std::vector<CoordinateValue> values;
  for (const auto& [name, value] : wanted) {
    const int dof = scalar_named(m.model, name);
    if (m.model.is_combination(dof)) {
      throw InputError(fmt::format("coordinate '{}'", name), "is a combination; give coordinates of joints");
    }
    values.push_back({dof, value});
  }
  const State given = from.is_none() ? State::initial(m.model) : state_of(from);
  Assembly a = forward_kinematics(m.model, assemble(m.model, given).state, values);
  if (!a.report.closed()) throw InputError("pose", assembly_text(m.model, a.report));
  return std::move(a.state);
}

}  // namespace

void bind_model(nb::module_& m) {
  bind_elements(m);
  const auto names_of_body = [](const PyModel& p) {
    return elements<Body>(p.model, p.model.body_count(), "body",
                          [&](int i) { return p.model.bodies()[static_cast<std::size_t>(i)].name; });
  };
  nb::class_<PyModel>(m, "Model", "The immutable description of a mechanism: bodies, joints, drives, shapes.")
      .def_static(
          "builtin",
          [](const std::string& name) {
            return PyModel{make_scene(name), {}, {}};
          },
          "name"_a, "A built-in scene by name; sarrus.scenes() lists them.")
      .def_static(
          "from_json",
          [](const std::string& text, const std::filesystem::path& folder) {
            PyModel p{parse_scene(text, "from_json", folder), {}, {}};
            recommended_integrator(p.model);
            return p;
          },
          "text"_a, "folder"_a = "",
          "The model of a scene in JSON (docs/scene-format.md); relative mesh files start in `folder`.")
      .def(
          "to_json", [](const PyModel& p) { return scene_to_json(p.model); }, "The scene as JSON, lossless.")
      .def(
          "save", [](const PyModel& p, const std::filesystem::path& path) { save_scene(p.model, path); }, "path"_a,
          "Writes the scene as JSON: the file is complete or as it was.")
      .def("check", &check, "What `sarrus check` tells: loops, rank, mobility, and what looks wrong. Print it.")
      .def(
          "held",
          [](const PyModel& p) {
            return PyModel{held(p.model).model, p.import_text, p.import_json};
          },
          "The model with drives that keep the pose in which it begins, as `--hold` of the command.")
      .def(
          "initial_state", [](const PyModel& p) { return state_object(State::initial(p.model)); },
          "The State in which it begins.")
      .def(
          "pose",
          [](const PyModel& p, const std::map<std::string, double>& c, nb::object from) {
            return state_object(pose(p, c, from));
          },
          "coordinates"_a, "start"_a = nb::none(),
          "The State in which coordinates (m, rad, by name) have these values, all others following so that loops "
          "stay\n"
          "closed; continued from `start`, or from the initial state. Raises InputError where it cannot be reached.")
      .def(
          "changed",
          [](const PyModel& p, const std::map<std::string, double>& values,
             const std::map<std::string, double>& factors) {
            std::vector<ParameterChange> changes;
            for (const auto& [name, x] : values) changes.push_back({name, x, false});
            for (const auto& [name, x] : factors) changes.push_back({name, x, true});
            return PyModel{changed(p.model, changes), p.import_text, p.import_json};
          },
          "values"_a = std::map<std::string, double>(), nb::kw_only(), "factors"_a = std::map<std::string, double>(),
          "The model with other numbers: {'body.crank.mass': 2.0, 'material.*.friction': 0.4}; factors multiply its "
          "own.")
      .def(
          "parameter", [](const PyModel& p, const std::string& name) { return parameter(p.model, name); }, "name"_a,
          "The value of a parameter, 'body.crank.mass'.")
      .def_prop_ro(
          "parameters", [](const PyModel& p) { return nb::tuple(nb::cast(parameter_names(p.model))); },
          "Names of all parameters that changed() takes.")
      .def_prop_ro(
          "name", [](const PyModel& p) { return p.model.name(); }, "Name of the scene.")
      .def_prop_ro(
          "description", [](const PyModel& p) { return p.model.description(); }, "Its description.")
      .def_prop_ro(
          "source", [](const PyModel& p) { return p.model.source(); }, "The file it was read from; may be empty.")
      .def_prop_ro(
          "import_report", [](const PyModel& p) { return p.import_text; },
          "What the reader of a robot's file kept, approximated and dropped; empty for scenes.")
      .def_prop_ro(
          "import_report_json", [](const PyModel& p) { return p.import_json; }, "The same as JSON.")
      .def_prop_ro(
          "dt", [](const PyModel& p) { return p.model.defaults().dt; }, "The step it recommends, s.")
      .def_prop_ro(
          "duration", [](const PyModel& p) { return p.model.defaults().duration; }, "Recommended, s.")
      .def_prop_ro(
          "integrator", [](const PyModel& p) { return p.model.defaults().integrator; }, "Recommended.")
      .def_prop_ro(
          "gravity", [](const PyModel& p) { return vector_of(p.model.gravity()); }, "(3,) m/s^2.")
      .def_prop_ro(
          "nbody", [](const PyModel& p) { return p.model.body_count(); }, "Number of bodies.")
      .def_prop_ro(
          "njoint", [](const PyModel& p) { return p.model.joint_count(); }, "Number of joints.")
      .def_prop_ro(
          "nq", [](const PyModel& p) { return p.model.dof_count(); }, "Number of joint coordinates.")
      .def_prop_ro(
          "nu",
          [](const PyModel& p) {
            int n = 0;
            for (const Dof& d : p.model.scalars()) n += d.drive.mode != DriveMode::none;
            return n;
          },
          "Number of drives.")
      .def_prop_ro(
          "mass",
          [](const PyModel& p) {
            double sum = 0;
            for (const Body& b : p.model.bodies()) sum += b.mass;
            return sum;
          },
          "Of all bodies, kg.")
      .def_prop_ro("body", names_of_body, "The bodies, by name or index.")
      .def_prop_ro(
          "joint",
          [](const PyModel& p) {
            return elements<Joint>(p.model, p.model.joint_count(), "joint",
                                   [&](int i) { return p.model.joints()[static_cast<std::size_t>(i)].name; });
          },
          "The joints, by name or index.")
      .def_prop_ro(
          "dof",
          [](const PyModel& p) {
            return elements<Dof>(p.model, p.model.scalar_count(), "coordinate",
                                 [&](int i) { return p.model.dof_name(i); });
          },
          "The joint coordinates and, after them, combinations of them, by name or index. 'joint' is enough for\n"
          "joints with one coordinate, else 'joint.coordinate'.")
      .def_prop_ro(
          "geom",
          [](const PyModel& p) {
            return elements<Geom>(p.model, static_cast<int>(p.model.geoms().size()), "geom",
                                  [&](int i) { return p.model.geoms()[static_cast<std::size_t>(i)].name; });
          },
          "The shapes that collide, by name or index.")
      .def_prop_ro(
          "material",
          [](const PyModel& p) {
            return elements<Material>(p.model, static_cast<int>(p.model.materials().size()), "material",
                                      [&](int i) { return p.model.materials()[static_cast<std::size_t>(i)].name; });
          },
          "The materials, by name or index.")
      .def_prop_ro(
          "drives",
          [](const PyModel& p) {
            nb::list names;
            for (int i = 0; i < p.model.scalar_count(); ++i) {
              const Drive& d = p.model.scalars()[static_cast<std::size_t>(i)].drive;
              if (d.mode != DriveMode::none) names.append(d.name.empty() ? p.model.dof_name(i) : d.name);
            }
            return nb::tuple(names);
          },
          "Names of the drives, in the order of Simulation.target: the actuator's, or its coordinate's.")
      .def_prop_ro("loops", &loops, "The closed loops, one by joint that closes one.")
      .def("__reduce__",
           [](const PyModel& p) {
             return nb::make_tuple(python("sarrus._pickling", "model"), nb::make_tuple(scene_to_json(p.model)));
           })
      .def("__repr__", [](const PyModel& p) {
        return fmt::format("<Model {}: {} bodies, {} joints, {} loops, {} drives>", in_quotes(p.model.name()),
                           p.model.body_count(), p.model.joint_count(), p.model.loop_joints().size(),
                           std::count_if(p.model.scalars().begin(), p.model.scalars().end(),
                                         [](const Dof& d) { return d.drive.mode != DriveMode::none; }));
      });

  m.def("_load", &load_file, "path"_a, "key"_a, "base"_a, "packages"_a, "loops_from"_a, "accept"_a, "strict"_a,
        "allow_outside"_a, "compliance"_a, "mesh"_a, "assemble"_a, "visuals"_a, "hold"_a);
}

}  // namespace sarrus::python
