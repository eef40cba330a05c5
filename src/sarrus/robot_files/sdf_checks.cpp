#include "sarrus/robot_files/sdf_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus::robot {

void SdfChecks::check_version() {
  const std::string version = root_.get("version");
  std::vector<double> parts;
  std::string text = version;
  std::replace(text.begin(), text.end(), '.', ' ');
  if (!xml::parse_numbers(text, parts) || parts.size() != 2)
    xml::fail(root_, "has no version; write <sdf version=\"1.9\"> or the one that it is");
  constexpr int kKnown = 9;  // of libsdformat 12
  if (parts[0] == 1 && parts[1] > kKnown)
    findings_.warn("sdf-version", root_,
                   fmt::format("is version {}; what came after 1.{} is read as far as mimic and "
                               "screw threads go",
                               version, kKnown));
}

// libsdformat takes 10 ms and 0.9 MB for a link, more for a model, less for others, each time they are included.
void SdfChecks::weigh(const xml::Node& node) {
  constexpr double kMost = 2500;  // links: 25 s and 2.3 GB
  const bool half = node.name == "joint" || node.name == "sensor";
  const bool fifth = node.name == "collision" || node.name == "visual";
  weight_ += node.name == "model" ? 2 : node.name == "link" ? 1 : half ? 0.5 : fifth ? 0.2 : 0.02;
  if (weight_ > kMost)
    xml::fail(node,
              "is one element too many for the library that reads SDF, which takes a megabyte for each link; split "
              "the file, or write MJCF or URDF");
}

// The library would look for files wherever it is told to.
void SdfChecks::refuse_addresses(const xml::Node& node, int depth) {
  weigh(node);
  if (node.name == "include") {
    const xml::Node* uri = node.child("uri");
    const std::string text =
        uri != nullptr && !xml::words_of(uri->text).empty() ? std::string(xml::words_of(uri->text)[0]) : std::string();
    if (text.find("://") != std::string::npos && !text.starts_with("model://") && !text.starts_with("file://") &&
        !text.starts_with("package://")) {
      xml::fail(node, fmt::format("uri {} is an address of the network, from which nothing is read; download it",
                                  in_quotes(text)));
    }
    if (!text.empty()) check_include(node, text, depth);
  }
  for (const xml::Node& child : node.children) refuse_addresses(child, depth);
}

// The library looks into the current folder and takes whole paths before it asks found(): neither may leave the
// folders of the model, nor may a file include itself without end.
void SdfChecks::check_include(const xml::Node& node, const std::string& address, int depth) {
  namespace fs = std::filesystem;
  constexpr int kMostIncludes = 1000, kDeepest = 20;
  if (depth > kDeepest || ++includes_ > kMostIncludes)
    xml::fail(node, "is one of too many includes; break the cycle, or join files");
  const std::size_t scheme = address.find("://");
  const fs::path plain = scheme == std::string::npos ? address : address.substr(scheme + 3);
  std::error_code error;
  fs::path file;
  for (const fs::path& path : {fs::current_path(error) / plain, plain}) {
    if (!file.empty() || !fs::exists(path, error)) continue;
    folders_.require_inside(path, address);
    file = path;
  }
  if (file.empty()) file = found(address);
  for (const fs::path& part : parts_of(file, address)) {
    if (fs::is_regular_file(part, error)) refuse_addresses(xml::read(part), depth + 1);
  }
}

// The files that the library may read for what an include names: of a folder, those in its model.config, all versions
// of the format.
std::vector<std::filesystem::path> SdfChecks::parts_of(const std::filesystem::path& included,
                                                       const std::string& address) const {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(included, error)) return {included};
  std::vector<fs::path> parts = {included / "model.sdf"};
  for (const char* name : {"model.config", "manifest.xml"}) {
    if (!fs::is_regular_file(included / name, error)) continue;
    folders_.require_inside(included / name, address);
    xml::read(included / name).each("sdf", [&](const xml::Node& node) {
      const std::vector<std::string_view> words = xml::words_of(node.text);
      if (words.empty()) return;
      const fs::path part = included / fs::path(words[0]);
      if (fs::exists(part, error)) folders_.require_inside(part, std::string(words[0]));
      parts.push_back(part);
    });
  }
  return parts;
}

void SdfChecks::note_elements(const xml::Node& node) {
  constexpr std::array<const char*, 10> kSilent = {"light", "physics", "scene", "sensor", "actor",
                                                   "gui",   "state",   "wind",  "road",   "population"};
  if (std::find(kSilent.begin(), kSilent.end(), node.name) != kSilent.end()) {
    findings_.note(node.name, node, "does not change the motion of bodies here; it is left out");
    return;
  }
  if (node.name == "plugin") {
    const bool detaches = node.get("filename").find("detachable") != std::string::npos;
    findings_.note("plugin", node,
                   detaches ? "would fix bodies to each other while it runs; it is left out" : "is left out");
    return;
  }
  if (node.name.starts_with("drake:") && node.name != "drake:rotor_inertia" && node.name != "drake:gear_ratio") {
    const bool constraint = node.name.find("constraint") != std::string::npos;
    if (constraint) {
      findings_.dropped("drake-constraint", node, "is a constraint of Drake that is not read from SDF",
                        "write a <joint>, which may close a loop");
      return;
    }
  }
  for (const xml::Node& child : node.children) note_elements(child);
}

std::string SdfChecks::found(const std::string& address) const {
  std::filesystem::path file;
  std::string tried;
  try {
    if (folders_.find(address, {folders_.folder()}, file, tried)) return file.string();
  } catch (const InputError&) {
  }
  // A folder of a model: its description.
  for (const char* name : {"/model.sdf", "/model.config"}) {
    try {
      if (folders_.find(address + name, {folders_.folder()}, file, tried)) return file.parent_path().string();
    } catch (const InputError&) {
    }
  }
  return "";
}
}  // namespace sarrus::robot
