#include "sarrus/robot_files/folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"

namespace sarrus::robot {
namespace {

namespace fs = std::filesystem;

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(path.empty() ? fs::path(".") : path, error);
  return error ? fs::absolute(path, error) : result;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_under(const fs::path& file, const fs::path& folder) {
  const auto [in_folder, in_file] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return in_folder == folder.end() || (std::next(in_folder) == folder.end() && in_folder->empty());
}

void add_environment(const char* variable, std::vector<fs::path>& folders) {
  const char* value = std::getenv(variable);
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// The scheme of an address like "package://", in lower case; empty for a path.
std::string scheme_of(const std::string& address) {
  const std::size_t end = address.find("://");
  if (end == std::string::npos || end == 0) {
    return address.starts_with("fuel:") || address.starts_with("http:") || address.starts_with("https:")
               ? address.substr(0, address.find(':'))
               : "";
  }
  std::string scheme = address.substr(0, end);
  for (char& c : scheme) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return scheme;
}

}  // namespace

Folders::Folders(const fs::path& main_file, const ImportOptions& options)
    : folder_(real_path(main_file).parent_path()), packages_(options.packages), allow_outside_(options.allow_outside) {
  add_environment("SARRUS_PACKAGE_PATH", packages_);
  add_environment("ROS_PACKAGE_PATH", packages_);
  roots_ = {folder_, folder_.parent_path()};
  if (folder_.parent_path() == folder_.root_path()) roots_.pop_back();  // the whole disk is no folder of a model
  for (const fs::path& package : packages_) roots_.push_back(real_path(package));
}

void Folders::require_inside(const fs::path& file, const std::string& address) const {
  if (allow_outside_) return;
  const fs::path real = real_path(file);
  if (std::any_of(roots_.begin(), roots_.end(), [&](const fs::path& root) { return is_under(real, root); })) return;
  throw InputError(fmt::format("file {}", in_quotes(address)),
                   fmt::format("is outside of the folders of the model ({} and the one above it); copy it there, name "
                               "its package with --package FOLDER, or allow it with --allow-outside",
                               folder_.string()));
}

std::vector<fs::path> Folders::package_candidates(const std::string& package) const {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::path& folder : packages_) {
    found.push_back(folder / package);
    if (real_path(folder).filename() == package) found.push_back(folder);
  }
  constexpr int kMostUp = 20;
  fs::path up = folder_;
  for (int i = 0; i < kMostUp; ++i, up = up.parent_path()) {
    if (up.filename() == package) found.push_back(up);
    if (fs::is_directory(up / package, error)) found.push_back(up / package);
    if (up == up.root_path()) break;
  }
  return found;
}

bool Folders::find(const std::string& address, const std::vector<fs::path>& bases, fs::path& file,
                   std::string& tried) const {
  const std::string element = fmt::format("file {}", in_quotes(address));
  if (address.empty()) throw InputError(element, "has no name; give a path");
  if (address.find('\0') != std::string::npos) throw InputError(element, "has a zero byte; give a path");
  const std::string scheme = scheme_of(address);
  std::vector<fs::path> candidates;
  bool in_package = false;
  if (scheme.empty()) {
    const fs::path path = address;
    if (path.is_absolute()) {
      candidates.push_back(path);
    } else {
      for (const fs::path& base : bases) candidates.push_back(base / path);
    }
  } else if (scheme == "file") {
    candidates.emplace_back(address.substr(7));
    if (candidates.back().is_relative()) candidates.back() = folder_ / candidates.back();
  } else if (scheme == "package" || scheme == "model") {
    const std::string rest = address.substr(scheme.size() + 3);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string package = rest.substr(0, slash);
    if (package.empty() || package == "." || package == "..") {
      throw InputError(element, "names no package; write package://NAME/path");
    }
    for (const fs::path& folder : package_candidates(package)) {
      candidates.push_back(slash < rest.size() ? folder / rest.substr(slash + 1) : folder);
    }
    in_package = true;
  } else {
    throw InputError(element,
                     "is an address of the network, from which nothing is read; download it and name the file");
  }
  for (const fs::path& candidate : candidates) {
    tried += (tried.empty() ? "" : ", ") + candidate.lexically_normal().string();
    if (!is_file(candidate)) continue;
    file = candidate.lexically_normal();
    // A package that was found above the model may have anything but what leaves it.
    if (in_package) {
      const std::string rest = address.substr(scheme.size() + 3);
      fs::path root = candidate;
      const fs::path inside = rest.find('/') < rest.size() ? rest.substr(rest.find('/') + 1) : std::string();
      for ([[maybe_unused]] const fs::path& part : inside) root = root.parent_path();
      if (is_under(real_path(candidate), real_path(root))) return true;
    }
    require_inside(candidate, address);
    return true;
  }
  if (in_package && tried.empty()) {
    tried = "no folder of this package above the file; give --package FOLDER, or SARRUS_PACKAGE_PATH";
  }
  return false;
}

fs::path Folders::require(const std::string& address, const std::vector<fs::path>& bases) const {
  fs::path file;
  std::string tried;
  if (find(address, bases, file, tried)) return file;
  throw InputError(fmt::format("file {}", in_quotes(address)),
                   fmt::format("is not there (tried: {}); correct the path", printable(tried, 1000)));
}

}  // namespace sarrus::robot
