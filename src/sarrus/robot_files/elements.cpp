#include "sarrus/robot_files/elements.h"

#include <fmt/format.h>

#include <cmath>

#include "sarrus/math/text.h"

namespace sarrus::robot {

std::optional<std::vector<double>> numbers_of(const xml::Node& node, const char* attribute, std::size_t count) {
  const std::string* text = node.find(attribute);
  if (text == nullptr) return std::nullopt;
  std::vector<double> numbers;
  if (!xml::parse_numbers(*text, numbers) || numbers.size() != count) {
    xml::fail(node, fmt::format("{} is {}, which is not {} finite number{}; write {}", attribute, in_quotes(*text),
                                count, count == 1 ? "" : "s",
                                count == 1 ? "one" : fmt::format("{} of them with spaces between", count)));
  }
  return numbers;
}

double number_or(const xml::Node& node, const char* attribute, double fallback) {
  const auto n = numbers_of(node, attribute, 1);
  return n ? (*n)[0] : fallback;
}

double require_number(const xml::Node& node, const char* attribute) {
  const auto n = numbers_of(node, attribute, 1);
  if (!n) xml::fail(node, fmt::format("has no attribute '{}'; give it", attribute));
  return (*n)[0];
}

Vec3 vector_or(const xml::Node& node, const char* attribute, const Vec3& fallback) {
  const auto n = numbers_of(node, attribute, 3);
  return n ? Vec3((*n)[0], (*n)[1], (*n)[2]) : fallback;
}

Vec3 direction_or(const xml::Node& node, const char* attribute, const Vec3& fallback) {
  const Vec3 v = vector_or(node, attribute, fallback);
  const double length = v.norm();
  if (!(length > 1e-12)) xml::fail(node, fmt::format("{} has no direction; give a vector that is not zero", attribute));
  return v / length;
}

std::string require_text(const xml::Node& node, const char* attribute) {
  const std::string* text = node.find(attribute);
  if (text == nullptr || text->empty()) xml::fail(node, fmt::format("has no attribute '{}'; give it", attribute));
  return *text;
}

Quat from_rpy(const Vec3& rpy) {
  return Quat(Eigen::AngleAxisd(rpy.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(rpy.y(), Vec3::UnitY()) *
              Eigen::AngleAxisd(rpy.x(), Vec3::UnitX()))
      .normalized();
}

Pose origin_of(const xml::Node* node) {
  if (node == nullptr) return {};
  return {vector_or(*node, "xyz", Vec3::Zero()), from_rpy(vector_or(*node, "rpy", Vec3::Zero()))};
}

}  // namespace sarrus::robot
