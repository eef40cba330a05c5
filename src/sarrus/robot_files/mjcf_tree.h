// An MJCF file as one tree: includes spliced, sections merged, copies of <replicate> made, models of <attach> put in,
// classes of defaults at hand (docs/robots.md, "MJCF").
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sarrus/files/xml.h"
#include "sarrus/math/types.h"
#include "sarrus/robot_files/findings.h"
#include "sarrus/robot_files/folders.h"

namespace sarrus::robot::mjcf {

enum class FromGeom { no, yes, automatic };

struct Compiler {
  double angle = 0.017453292519943295;  // rad per unit of the file
  std::string eulerseq = "xyz";
  bool autolimits = true;
  std::string meshdir;
  bool strippath = false;
  FromGeom inertiafromgeom = FromGeom::automatic;
  int group_first = 0;
  int group_last = 5;
  double boundmass = 0;
  double boundinertia = 0;
  bool balanceinertia = false;
  double settotalmass = -1;
  bool alignfree = false;
  bool fitaabb = false;
  bool exactmeshinertia = false;
};

// One model: the file itself, or one that is attached to it. Names in it have its prefix in the whole.
struct Context {
  std::string prefix;
  Compiler compiler;
  std::filesystem::path folder;  // of its main file
  std::vector<xml::Node> assets;
  struct Class {
    std::string parent;  // empty for the root
    std::vector<xml::Node> elements;
  };
  std::map<std::string, Class> classes;
  std::string root_class;
};

// Attribute of an element that comes from an attached model: the number of its context. No XML name has this character.
inline constexpr const char* kContext = "#context";

struct Tree {
  std::string name;
  xml::Node world;
  std::vector<xml::Node> contacts, equalities, tendons, actuators, keys;
  std::vector<Context> contexts;  // of the file itself first
  std::vector<xml::Node> options;
  std::vector<xml::Node> flags;
};

Tree build_tree(xml::Node root, const Folders& folders, Findings& findings);

// The elements of classes that an element inherits from, the root's first: those with one of these names.
std::vector<const xml::Node*> layers_of(const Context& context, const std::string& class_name,
                                        const std::vector<std::string>& elements, const xml::Node& at);

// The attributes of an element and of the classes that it inherits from. A list of numbers overwrites only as many of
// the inherited ones as it has.
class Attributes {
 public:
  Attributes(const xml::Node& own, std::vector<const xml::Node*> layers) : own_(own), layers_(std::move(layers)) {}
  explicit Attributes(const xml::Node& own) : own_(own) {}

  const xml::Node& node() const { return own_; }
  // Of the element, else of the nearest class; null if there is none.
  const std::string* find(const std::string& name) const;
  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::string text(const std::string& name, const std::string& fallback = {}) const;
  // Overwrites the first of `out`; returns how many were given at most. E for more than there is room for, or for less
  // than `least`.
  int numbers(const std::string& name, double* out, int most, int least = 1) const;
  double number(const std::string& name, double fallback) const;
  int integer(const std::string& name, int fallback) const;
  Vec3 vec3(const std::string& name, const Vec3& fallback) const;
  bool flag(const std::string& name, bool fallback) const;  // "true" or "false"
  // Index among the names.
  int choice(const std::string& name, const std::vector<std::string>& names, int fallback) const;
  // Any number of numbers, of the element itself or the nearest class.
  std::vector<double> list(const std::string& name) const;
  [[noreturn]] void fail(const std::string& message) const { xml::fail(own_, message); }

  // The layers, nearest first, and the element before them.
  template <class F>
  const xml::Node* nearest(F has_it) const {
    if (has_it(own_)) return &own_;
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      if (has_it(**layer)) return *layer;
    }
    return nullptr;
  }

 private:
  const xml::Node& own_;
  std::vector<const xml::Node*> layers_;
};

// quat, axisangle, xyaxes, zaxis or euler; any of the last four, inherited or not, goes before quat.
Quat orientation_of(const Attributes& a, const Compiler& compiler);
Quat euler_rotation(const Vec3& angles, const std::string& sequence);
// Of a frame: pos and orientation.
Pose pose_of(const Attributes& a, const Compiler& compiler);

}  // namespace sarrus::robot::mjcf
