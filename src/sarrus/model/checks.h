// Checks shared by the parts of finish_model. All throw InputError(element, ...) with a remedy.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "sarrus/math/error.h"
#include "sarrus/math/types.h"
#include "sarrus/model/model.h"

namespace sarrus {

// kind 'name', or kind #index for one without a name.
std::string label(std::string_view kind, const std::string& name, std::size_t index);

void require_finite(const std::string& element, std::string_view what, double x);
void require_finite(const std::string& element, std::string_view what, const Vec3& x);
void require_non_negative(const std::string& element, std::string_view what, double x);
void require_positive(const std::string& element, std::string_view what, double x);
// Quaternions are stored normalised; one that already is keeps its bits, so that saving and loading is exact.
void normalise(const std::string& element, std::string_view what, Quat& q);
void normalise(const std::string& element, std::string_view what, Pose& X);
void require_body(const std::string& element, std::string_view what, int body, std::size_t count);

template <class Elements>
void require_unique_names(std::string_view kind, const Elements& elements) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string& name = elements[i].name;
    if (name.empty()) throw InputError(label(kind, name, i), "has no name; give every one a unique name");
    if (!seen.insert(name).second) {
      throw InputError(label(kind, name, i), fmt::format("another {} has the same name; rename one of them", kind));
    }
  }
}

// What a compliance is for; some models and parameters make no sense everywhere.
enum class ComplianceUse : std::uint8_t { contact, joint, limit };
void check_compliance(const std::string& element, const Compliance& compliance, ComplianceUse use);

// Everything about the geoms: fills in names, normalises poses, zeroes sizes without a meaning.
void check_shapes(ModelData& d);

}  // namespace sarrus
