#include "sarrus/robot_files/mjcf_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numbers>
#include <optional>
#include <set>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/mjcf_schema.h"

namespace sarrus::robot::mjcf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxIncludes = 1000;
constexpr int kMaxAttachDepth = 20;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// ---- includes
// ----------------------------------------------------------------------------------------------------------

class Includes {
 public:
  explicit Includes(const Folders& folders, const fs::path& main_folder, std::size_t elements)
      : folders_(folders), main_folder_(main_folder), elements_(elements) {}

  void splice(xml::Node& node, const fs::path& here, int depth) {
    if (depth > xml::kMaxDepth) xml::fail(node, "is nested too deeply; simplify the file");
    std::vector<xml::Node> children;
    children.reserve(node.children.size());
    for (xml::Node& child : node.children) {
      if (lower(child.name) == "include") {
        if (!child.children.empty()) xml::fail(child, "has elements in it; an include has none");
        add_file(child, children, depth);
        continue;
      }
      if (lower(child.name) == "compiler") child.name = "compiler";
      splice(child, here, depth + 1);
      children.push_back(std::move(child));
    }
    node.children = std::move(children);
  }

 private:
  void add_file(const xml::Node& include, std::vector<xml::Node>& children, int depth) {
    const std::string name = include.get("file");
    if (name.empty()) xml::fail(include, "names no file; give file=\"...\"");
    const fs::path here = include.place.file == nullptr ? fs::path() : fs::path(*include.place.file).parent_path();
    fs::path file;
    try {
      file = folders_.require(name, {main_folder_, here});
    } catch (const InputError& error) {
      xml::fail(include, error.what());
    }
    std::error_code ignored;
    if (!files_.insert(fs::weakly_canonical(file, ignored)).second) {
      xml::fail(include, fmt::format("includes {} again; include a file only once", in_quotes(name)));
    }
    if (files_.size() > kMaxIncludes) xml::fail(include, fmt::format("more than {} files; join them", kMaxIncludes));
    xml::Node root = xml::read(file);
    elements_ += root.size();
    if (elements_ > xml::kMaxElements) {
      xml::fail(include, fmt::format("more than {} elements with what is included; simplify it", xml::kMaxElements));
    }
    splice(root, file.parent_path(), depth + 1);
    for (xml::Node& child : root.children) children.push_back(std::move(child));
  }

  const Folders& folders_;
  fs::path main_folder_;
  std::set<fs::path> files_;
  std::size_t elements_;
};

// ---- compiler and classes
// ----------------------------------------------------------------------------------------------

void read_compiler(const xml::Node& node, Compiler& c, Findings& findings) {
  const Attributes a(node);
  if (a.has("angle")) c.angle = a.choice("angle", {"degree", "radian"}, 0) == 0 ? std::numbers::pi / 180 : 1.0;
  if (const std::string* sequence = a.find("eulerseq")) {
    if (sequence->size() != 3 || sequence->find_first_not_of("xyzXYZ") != std::string::npos) {
      a.fail(fmt::format("eulerseq is {}; give three letters of xyzXYZ", in_quotes(*sequence)));
    }
    c.eulerseq = *sequence;
  }
  if (a.text("coordinate") == "global") a.fail("coordinate=\"global\" is gone since MuJoCo 2.3.4; convert the file");
  c.autolimits = a.flag("autolimits", c.autolimits);
  if (a.has("assetdir")) c.meshdir = a.text("assetdir");
  if (a.has("meshdir")) c.meshdir = a.text("meshdir");
  c.strippath = a.flag("strippath", c.strippath);
  constexpr FromGeom modes[] = {FromGeom::no, FromGeom::yes, FromGeom::automatic};
  c.inertiafromgeom =
      modes[a.choice("inertiafromgeom", {"false", "true", "auto"}, static_cast<int>(c.inertiafromgeom))];
  double range[2] = {static_cast<double>(c.group_first), static_cast<double>(c.group_last)};
  a.numbers("inertiagrouprange", range, 2, 2);
  c.group_first = static_cast<int>(std::clamp(range[0], -1e6, 1e6));
  c.group_last = static_cast<int>(std::clamp(range[1], -1e6, 1e6));
  c.boundmass = a.number("boundmass", c.boundmass);
  c.boundinertia = a.number("boundinertia", c.boundinertia);
  c.balanceinertia = a.flag("balanceinertia", c.balanceinertia);
  c.settotalmass = a.number("settotalmass", c.settotalmass);
  if (c.boundmass < 0 || c.boundinertia < 0) a.fail("boundmass and boundinertia are 0 or more");
  c.alignfree = a.flag("alignfree", c.alignfree);
  c.fitaabb = a.flag("fitaabb", c.fitaabb);
  c.exactmeshinertia = a.flag("exactmeshinertia", c.exactmeshinertia);
  for (const char* ignored : {"fusestatic", "discardvisual", "usethread", "saveinertial", "texturedir", "conflict"}) {
    if (a.has(ignored)) {
      findings.note("compiler", node, "settings of MuJoCo's compiler without an effect here are ignored");
    }
  }
}

void read_classes(const xml::Node& node, const std::string& parent, Context& context, int depth) {
  std::string name = node.get("class");
  if (depth == 0) {
    if (!name.empty() && name != "main") xml::fail(node, "the outermost class is main; put this one into it");
    name = "main";
    context.root_class = name;
  } else if (name.empty()) {
    xml::fail(node, "is a class without a name; give class=\"...\"");
  }
  const auto [found, added] = context.classes.try_emplace(name);
  if (!added && depth > 0) xml::fail(node, fmt::format("another class is called {}; rename it", in_quotes(name)));
  found->second.parent = parent;
  for (const xml::Node& child : node.children) {
    if (child.name != "default") found->second.elements.push_back(child);
  }
  for (const xml::Node& child : node.children) {
    if (child.name == "default") read_classes(child, name, context, depth + 1);
  }
}

// ---- names that elements have and refer to
// ------------------------------------------------------------------------------

struct Reference {
  const char* attribute;
  char kind;  // body, joint, geom, site, tendon
};
constexpr Reference kReferences[] = {{"body", 'b'},    {"body1", 'b'},  {"body2", 'b'},         {"joint", 'j'},
                                     {"joint1", 'j'},  {"joint2", 'j'}, {"jointinparent", 'j'}, {"geom", 'g'},
                                     {"geom1", 'g'},   {"geom2", 'g'},  {"sidesite", 's'},      {"site", 's'},
                                     {"site1", 's'},   {"site2", 's'},  {"cranksite", 's'},     {"slidersite", 's'},
                                     {"refsite", 's'}, {"tendon", 't'}, {"tendon1", 't'},       {"tendon2", 't'}};

using NameSet = std::set<std::pair<char, std::string>>;

char kind_of(const std::string& element) {
  if (element == "body") return 'b';
  if (element == "joint" || element == "freejoint") return 'j';
  if (element == "geom") return 'g';
  if (element == "site") return 's';
  return element == "frame" ? 'f' : 'o';
}

void collect_names(const xml::Node& node, NameSet& names) {
  for (const xml::Node& child : node.children) {
    if (const std::string* name = child.find("name")) names.emplace(kind_of(child.name), *name);
    collect_names(child, names);
  }
}

template <class F>
void each_reference(const xml::Node& node, F f) {
  for (const Reference& r : kReferences) {
    if (const std::string* value = node.find(r.attribute)) f(r, *value);
  }
  for (const xml::Node& child : node.children) each_reference(child, f);
}

bool refers_to(const xml::Node& node, const NameSet& names) {
  bool found = false;
  each_reference(node, [&](const Reference& r, const std::string& value) {
    found |= names.count({r.kind, value}) > 0;
  });
  return found;
}
bool refers_only_to(const xml::Node& node, const NameSet& names) {
  bool only = true;
  each_reference(node, [&](const Reference& r, const std::string& value) { only &= names.count({r.kind, value}) > 0; });
  return only;
}

void append_to_names(xml::Node& node, const std::string& suffix) {
  for (xml::Node& child : node.children) {
    if (std::string* name = child.find("name")) *name += suffix;
    append_to_names(child, suffix);
  }
}

void append_to_references(xml::Node& node, const NameSet& names, const std::string& suffix) {
  for (const Reference& r : kReferences) {
    std::string* value = node.find(r.attribute);
    if (value != nullptr && names.count({r.kind, *value}) > 0) *value += suffix;
  }
  for (xml::Node& child : node.children) append_to_references(child, names, suffix);
}

// ---- the tree of one model
// -----------------------------------------------------------------------------------------------

std::string numbers_text(std::initializer_list<double> x) {
  std::string out;
  for (const double v : x) out += fmt::format("{}{}", out.empty() ? "" : " ", v);
  return out;
}

class TreeBuilder {
 public:
  TreeBuilder(const Folders& folders, Findings& findings) : folders_(folders), findings_(findings) {}

  Tree build(xml::Node root, const fs::path& folder, int depth) {
    Includes(folders_, folder, root.size()).splice(root, folder, 0);
    check_schema(root);
    Tree tree;
    tree.name = root.get("model");
    tree.world.name = "worldbody";
    tree.world.place = root.place;
    Context context;
    context.folder = folder;
    context.root_class = "main";
    context.classes.try_emplace("main");
    for (const xml::Node& section : root.children) {
      if (section.name == "compiler") read_compiler(section, context.compiler, findings_);
      if (section.name == "default") read_classes(section, "", context, 0);
    }
    for (xml::Node& section : root.children) take_section(section, tree, context);
    copies_ = tree.world.size();
    replicate(tree.world, tree, context);
    tree.contexts.push_back(std::move(context));
    attach(tree.world, tree, depth);
    return tree;
  }

 private:
  static void append(std::vector<xml::Node>& to, std::vector<xml::Node>& from) {
    for (xml::Node& node : from) to.push_back(std::move(node));
  }

  void take_section(xml::Node& section, Tree& tree, Context& context) {
    const std::string& name = section.name;
    if (name == "worldbody") {
      if (const std::string* inherited = section.find("childclass")) tree.world.set("childclass", *inherited);
      append(tree.world.children, section.children);
    } else if (name == "asset") {
      append(context.assets, section.children);
    } else if (name == "contact") {
      append(tree.contacts, section.children);
    } else if (name == "equality") {
      append(tree.equalities, section.children);
    } else if (name == "tendon") {
      append(tree.tendons, section.children);
    } else if (name == "actuator") {
      append(tree.actuators, section.children);
    } else if (name == "keyframe") {
      append(tree.keys, section.children);
    } else if (name == "option") {
      for (const xml::Node& child : section.children) tree.flags.push_back(child);
      tree.options.push_back(std::move(section));
    } else if (name == "deformable" && !section.children.empty()) {
      for (const xml::Node& child : section.children) {
        if (child.name != "skin") xml::fail(child, "is deformable, which Sarrus does not simulate; remove it");
      }
    } else if (name == "sensor") {
      ImportCount& count = findings_.count("sensor");
      count.read += static_cast<int>(section.children.size());
      count.ignored += static_cast<int>(section.children.size());
    }
  }

  void bound(std::size_t more, const xml::Node& at) {
    copies_ += more;
    if (copies_ > xml::kMaxElements) {
      xml::fail(at, fmt::format("makes more than {} elements; replicate less", xml::kMaxElements));
    }
  }

  void replicate(xml::Node& node, Tree& tree, const Context& context) {
    std::vector<xml::Node> children;
    children.reserve(node.children.size());
    for (xml::Node& child : node.children) {
      replicate(child, tree, context);
      if (child.name == "replicate") {
        copy(child, children, tree, context.compiler);
      } else {
        children.push_back(std::move(child));
      }
    }
    node.children = std::move(children);
  }

  void copy(const xml::Node& original, std::vector<xml::Node>& out, Tree& tree, const Compiler& compiler) {
    const Attributes a(original);
    const int count = a.integer("count", 0);
    if (count < 1) a.fail("count is not 1 or more");
    if (original.children.empty()) return;
    bound(static_cast<std::size_t>(count) * original.size(), original);
    const Vec3 offset = a.vec3("offset", Vec3::Zero());
    const Quat turn = euler_rotation(a.vec3("euler", Vec3::Zero()) * compiler.angle, compiler.eulerseq);
    NameSet names;
    collect_names(original, names);
    const std::size_t digits = std::to_string(count).size();
    std::vector<std::string> suffixes;
    Pose X;
    for (int k = 0; k < count; ++k) {
      std::string number = std::to_string(k);
      number.insert(0, digits - std::min(digits, number.size()), '0');
      suffixes.push_back(a.text("sep") + number);
      xml::Node frame = original;
      frame.name = "frame";
      frame.attributes.clear();
      if (const std::string* inherited = original.find("childclass")) frame.set("childclass", *inherited);
      frame.set("pos", numbers_text({X.p.x(), X.p.y(), X.p.z()}));
      frame.set("quat", numbers_text({X.q.w(), X.q.x(), X.q.y(), X.q.z()}));
      append_to_names(frame, suffixes.back());
      out.push_back(std::move(frame));
      X.p += X.q * offset;
      X.q = (X.q * turn).normalized();
    }
    for (std::vector<xml::Node>* section : {&tree.tendons, &tree.equalities, &tree.contacts, &tree.actuators}) {
      copy_references(*section, names, suffixes, section == &tree.tendons);
    }
  }

  void copy_references(std::vector<xml::Node>& section, NameSet& names, const std::vector<std::string>& suffixes,
                       bool tendons) {
    std::vector<xml::Node> out;
    const NameSet inside = names;
    for (xml::Node& node : section) {
      if (!refers_to(node, inside)) {
        out.push_back(std::move(node));
        continue;
      }
      bound(suffixes.size() * node.size(), node);
      if (tendons && node.has("name")) names.emplace('t', node.get("name"));
      for (const std::string& suffix : suffixes) {
        xml::Node copy = node;
        if (std::string* name = copy.find("name")) *name += suffix;
        append_to_references(copy, inside, suffix);
        out.push_back(std::move(copy));
      }
    }
    section = std::move(out);
  }

  // ---- models in the model -----------------------------------------------------------------------------------------

  void attach(xml::Node& node, Tree& tree, int depth) {
    std::vector<xml::Node> children;
    children.reserve(node.children.size());
    for (xml::Node& child : node.children) {
      attach(child, tree, depth);
      if (child.name == "attach") {
        attach_model(child, children, tree, depth);
      } else {
        children.push_back(std::move(child));
      }
    }
    node.children = std::move(children);
  }

  void attach_model(const xml::Node& at, std::vector<xml::Node>& out, Tree& tree, int depth) {
    if (at.has("frame") && at.has("body")) xml::fail(at, "attaches a body and a frame; attach one of them");
    const std::string wanted = at.get("model");
    const fs::path folder = tree.contexts[0].folder;
    if (depth >= kMaxAttachDepth) xml::fail(at, "models are attached to each other without end; break the cycle");
    for (const xml::Node& asset : tree.contexts[0].assets) {
      if (asset.name != "model") continue;
      fs::path file;
      try {
        file = folders_.require(asset.get("file"), {folder});
      } catch (const InputError& error) {
        xml::fail(asset, error.what());
      }
      if (asset.has("name") && asset.get("name") != wanted) continue;
      if (++models_ > kMaxIncludes) xml::fail(at, "attaches too many models; attach less");
      xml::Node root = xml::read(file);
      if (!asset.has("name") && root.get("model") != wanted) continue;
      if (root.name != "mujoco") xml::fail(asset, "is no MJCF file; attach one");
      const std::size_t before = copies_;
      Tree child = build(std::move(root), file.parent_path(), depth + 1);
      copies_ += before;
      bound(size_of(child), at);
      return add_model(at, std::move(child), out, tree);
    }
    xml::fail(at, fmt::format("attaches the model {}, which no <model> in <asset> names", in_quotes(wanted)));
  }

  // Elements, those of assets and classes too: each model that is attached has its own.
  static std::size_t size_of(const Tree& tree) {
    std::size_t size = tree.world.size();
    const auto add = [&](const std::vector<xml::Node>& section) {
      for (const xml::Node& node : section) size += node.size();
    };
    for (const auto* section : {&tree.tendons, &tree.equalities, &tree.contacts, &tree.actuators, &tree.keys}) {
      add(*section);
    }
    for (const Context& context : tree.contexts) {
      add(context.assets);
      for (const auto& [name, c] : context.classes) add(c.elements);
    }
    return size;
  }

  void add_model(const xml::Node& at, Tree child, std::vector<xml::Node>& out, Tree& tree) {
    const std::string prefix = at.get("prefix");
    const int first = static_cast<int>(tree.contexts.size());
    for (Context& context : child.contexts) {
      context.prefix = prefix + context.prefix;
      tree.contexts.push_back(std::move(context));
    }
    const auto mark = [first](xml::Node& node) {
      const std::string* inner = node.find(kContext);
      node.set(kContext, std::to_string(first + (inner == nullptr ? 0 : std::stoi(*inner))));
    };
    // Elements of models inside of the child carry marks already, at any depth.
    const std::function<void(xml::Node&)> shift = [&](xml::Node& node) {
      for (xml::Node& c : node.children) {
        if (c.has(kContext)) mark(c);
        shift(c);
      }
    };
    shift(child.world);
    NameSet names;
    const std::size_t begin = out.size();
    const char* const kind = at.has("body") ? "body" : "frame";
    if (const std::string* part = at.find(kind)) {
      xml::Node* found = find_part(child.world, kind, *part);
      if (found == nullptr) xml::fail(at, fmt::format("the model has no {} {}; correct it", kind, in_quotes(*part)));
      names.emplace(kind_of(kind), *part);
      collect_names(*found, names);
      if (!found->has(kContext)) mark(*found);
      out.push_back(std::move(*found));
    } else {
      collect_names(child.world, names);
      names.emplace('b', "world");
      for (xml::Node& c : child.world.children) {
        if (!c.has(kContext)) mark(c);
        out.push_back(std::move(c));
      }
    }
    bound(out.size() - begin, at);
    const auto take = [&](std::vector<xml::Node>& from, std::vector<xml::Node>& to, bool tendons) {
      for (xml::Node& node : from) {
        if (!node.has(kContext) && !refers_only_to(node, names)) continue;
        if (tendons && node.has("name")) names.emplace('t', node.get("name"));
        mark(node);
        to.push_back(std::move(node));
      }
    };
    take(child.tendons, tree.tendons, true);
    take(child.equalities, tree.equalities, false);
    take(child.contacts, tree.contacts, false);
    take(child.actuators, tree.actuators, false);
    if (!child.keys.empty()) {
      findings_.note("keyframe-of-attached", at, "keyframes of attached models are left out");
    }
  }

  static xml::Node* find_part(xml::Node& node, const char* kind, const std::string& name) {
    for (xml::Node& child : node.children) {
      if (child.name == kind && child.get("name") == name) return &child;
      if (xml::Node* found = find_part(child, kind, name)) return found;
    }
    return nullptr;
  }

  const Folders& folders_;
  Findings& findings_;
  std::size_t copies_ = 0;
  std::size_t models_ = 0;
};

}  // namespace

Tree build_tree(xml::Node root, const Folders& folders, Findings& findings) {
  return TreeBuilder(folders, findings).build(std::move(root), folders.folder(), 0);
}

std::vector<const xml::Node*> layers_of(const Context& context, const std::string& class_name,
                                        const std::vector<std::string>& elements, const xml::Node& at) {
  std::vector<const Context::Class*> chain;
  std::string name = class_name.empty() ? context.root_class : class_name;
  while (!name.empty()) {
    const auto found = context.classes.find(name);
    if (found == context.classes.end()) {
      std::vector<std::string> known;
      for (const auto& [k, v] : context.classes) known.push_back(k);
      xml::fail(at, fmt::format("there is no class {}; {}", in_quotes(name), suggestion(name, known, "class")));
    }
    chain.push_back(&found->second);
    name = found->second.parent;
  }
  std::vector<const xml::Node*> layers;
  for (auto c = chain.rbegin(); c != chain.rend(); ++c) {
    for (const xml::Node& node : (*c)->elements) {
      if (std::find(elements.begin(), elements.end(), node.name) != elements.end()) layers.push_back(&node);
    }
  }
  return layers;
}

}  // namespace sarrus::robot::mjcf
