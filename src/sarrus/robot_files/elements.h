// What readers of URDF and SDF ask of elements: numbers, vectors, poses; every message names file, line and element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sarrus/files/xml.h"
#include "sarrus/math/types.h"

namespace sarrus::robot {

// The numbers of an attribute, exactly so many. None if the attribute is not there.
std::optional<std::vector<double>> numbers_of(const xml::Node& node, const char* attribute, std::size_t count);
double number_or(const xml::Node& node, const char* attribute, double fallback);
// Throws InputError if it is not there.
double require_number(const xml::Node& node, const char* attribute);
Vec3 vector_or(const xml::Node& node, const char* attribute, const Vec3& fallback);
// A unit vector; zero is an error.
Vec3 direction_or(const xml::Node& node, const char* attribute, const Vec3& fallback);
// An attribute that has to be there, and not empty.
std::string require_text(const xml::Node& node, const char* attribute);

// R = R_z(yaw) R_y(pitch) R_x(roll): about fixed axes.
Quat from_rpy(const Vec3& rpy);
// Attributes xyz and rpy of an element, identity where it is missing.
Pose origin_of(const xml::Node* node);

}  // namespace sarrus::robot
