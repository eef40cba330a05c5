// Shapes, what they are made of, and which of them meet.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "sarrus/math/text.h"
#include "sarrus/math/tools.h"
#include "sarrus/robot_files/mjcf_model.h"

namespace sarrus::robot::mjcf {
namespace {

constexpr std::size_t kMaxMaterials = 200;  // every two of them have parameters of their own

// What decides the parameters of a contact.
struct Surface {
  double mu;
  bool frictionless;
  int priority;
  double solmix;
  SoftParameters soft;

  auto key() const { return std::tie(mu, frictionless, priority, solmix, soft); }
  bool operator<(const Surface& o) const { return key() < o.key(); }
};

Surface surface_of(const SourceGeom& g, bool soft) {
  Surface s{g.friction[0], g.condim == 1, g.priority, 1, {}};
  if (soft) {
    s.solmix = g.solmix;
    s.soft = g.soft;
  }
  return s;
}

// Of two surfaces: the one with the higher priority counts alone, else the larger friction of both.
void combine(const Surface& a, const Surface& b, double& mu, SoftParameters& soft) {
  const Surface* alone = a.priority > b.priority ? &a : b.priority > a.priority ? &b : nullptr;
  if (alone != nullptr) {
    mu = alone->frictionless ? 0 : alone->mu;
    soft = alone->soft;
    return;
  }
  mu = a.frictionless && b.frictionless ? 0 : std::max(a.mu, b.mu);
  const double sum = a.solmix + b.solmix;
  const double w = sum > 0 ? a.solmix / sum : 0.5;
  const bool standard = a.soft.solref[0] > 0 && b.soft.solref[0] > 0;
  for (std::size_t i = 0; i < 2; ++i) {
    soft.solref[i] =
        standard ? w * a.soft.solref[i] + (1 - w) * b.soft.solref[i] : std::min(a.soft.solref[i], b.soft.solref[i]);
  }
  for (std::size_t i = 0; i < 5; ++i) soft.solimp[i] = w * a.soft.solimp[i] + (1 - w) * b.soft.solimp[i];
}

class ContactReader {
 public:
  ContactReader(Source& s, Graph& g, Findings& findings)
      : s_(s), g_(g), findings_(findings), soft_(findings.options().compliance == ImportCompliance::source) {}

  void run() {
    for (SourceGeom& geom : s_.geoms) add_shape(geom);
    add_materials();
    for (const xml::Node& node : s_.tree.contacts) node.name == "pair" ? add_pair(node) : add_exclude(node);
    if (s_.contact_disabled) {
      findings_.add(ImportSeverity::warning, "contact-disabled", "", "option",
                    "the flag contact=\"disable\" takes all shapes out of collision", "");
    }
    if (s_.parent_filter_disabled) {
      findings_.add(ImportSeverity::warning, "parent-filter", "", "option",
                    "the flag filterparent=\"disable\" lets neighbours collide; here they never do", "");
    }
  }

 private:
  void add_shape(SourceGeom& geom) {
    std::vector<LinkShape>& shapes = geom.body == 0 ? g_.world_shapes : g_.links[at(link_of(geom.body))].shapes;
    geom.link_shape = static_cast<int>(shapes.size());
    LinkShape shape;
    shape.name = geom.name;
    shape.place = geom.node.place;
    shape.X_LS = geom.X_BG;
    shape.shape = geom.shape;
    shape.has_shape = geom.has_shape;
    shape.collides = geom.colliding;
    shape.visible = geom.rgba[3] > 0;
    shape.rgba = geom.rgba;
    shape.group = geom.contype;
    shape.collides_with = geom.conaffinity;
    if (geom.colliding) {
      if (geom.condim > 3)
        findings_.warn("condim", geom.node, "has friction against turning or rolling, which is lost");
      if (geom.margin != 0)
        findings_.warn("contact-margin", geom.node,
                       "has a margin, in which MuJoCo pushes already; here only surfaces that touch do");
      if (geom.margin != 0 || geom.gap != 0) shape.margin = std::max(0.0, geom.margin + geom.gap);
      const Surface surface = surface_of(geom, soft_);
      const auto [found, added] = materials_.try_emplace(surface, static_cast<int>(materials_.size()));
      if (added && materials_.size() > kMaxMaterials) {
        xml::fail(geom.node, fmt::format("more than {} different frictions; use fewer", kMaxMaterials));
      }
      shape.material = found->second;
      if (added) first_.push_back(&geom.node);
    }
    shapes.push_back(std::move(shape));
  }

  void add_materials() {
    if (materials_.empty()) return;
    g_.materials.assign(materials_.size(), {});
    std::vector<const Surface*> all(materials_.size());
    for (const auto& [surface, index] : materials_) all[at(index)] = &surface;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Material& m = g_.materials[i];
      m.name = i == 0 ? "default" : fmt::format("material{}", i);
      m.mu = all[i]->frictionless ? 0 : all[i]->mu;
      if (soft_) m.compliance = compliance_of(all[i]->soft, 0, *first_[i]);
      for (std::size_t k = 0; k < i; ++k) {
        MaterialPair pair;
        pair.a = static_cast<int>(k);
        pair.b = static_cast<int>(i);
        SoftParameters soft;
        combine(*all[k], *all[i], pair.mu, soft);
        if (soft_) pair.compliance = compliance_of(soft, 0, *first_[i]);
        g_.material_pairs.push_back(pair);
      }
    }
  }

  void add_exclude(const xml::Node& node) {
    const Attributes a(node);
    if (!node.has("body1") || !node.has("body2")) a.fail("needs body1 and body2");
    const int body1 = s_.body_named(node, "body1", node.get("body1"));
    const int body2 = s_.body_named(node, "body2", node.get("body2"));
    g_.excludes.push_back({link_of(body1), link_of(body2), node.place});
  }

  void add_pair(const xml::Node& node) {
    const Attributes a = s_.attributes(node, "pair");
    if (!node.has("geom1") || !node.has("geom2")) a.fail("needs geom1 and geom2");
    const auto ref = [&](const char* attribute) {
      const SourceGeom& geom = s_.geoms[at(s_.geom_named(node, attribute, node.get(attribute)))];
      return ContactPair::ShapeRef{link_of(geom.body), geom.link_shape};
    };
    ContactPair pair;
    pair.name = node.get("name").empty() ? "" : s_.context_of(node).prefix + node.get("name");
    pair.place = node.place;
    pair.a = ref("geom1");
    pair.b = ref("geom2");
    double friction[5] = {1, 1, 0.005, 0.0001, 0.0001};
    a.numbers("friction", friction, 5);
    const int condim = a.integer("condim", 3);
    if (condim > 3) findings_.warn("condim", node, "has friction against turning or rolling, which is lost");
    if (friction[0] != friction[1] && condim > 1) {
      findings_.warn("anisotropic-friction", node, "has different frictions in two directions; the smaller one counts");
    }
    pair.mu = condim == 1 ? 0 : std::min(friction[0], friction[1]);
    const double margin = a.number("margin", 0);
    const double gap = a.number("gap", 0);
    if (margin != 0)
      findings_.warn("contact-margin", node,
                     "has a margin, in which MuJoCo pushes already; here only surfaces that touch do");
    if (margin != 0 || gap != 0) pair.margin = std::max(0.0, margin + gap);
    if (soft_) pair.compliance = compliance_of(read_soft(a, "solref", "solimp", {}), 0, node);
    if (s_.contact_disabled) return;
    g_.contact_pairs.push_back(std::move(pair));
  }

  Source& s_;
  Graph& g_;
  Findings& findings_;
  bool soft_;
  std::map<Surface, int> materials_;
  std::vector<const xml::Node*> first_;  // by material, the geom that has it
};

}  // namespace

void add_contacts(Source& s, Graph& g, Findings& findings) { ContactReader(s, g, findings).run(); }

}  // namespace sarrus::robot::mjcf
