// Attributes and what many elements have: numbers, flags, orientations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sarrus/math/so3.h"
#include "sarrus/math/text.h"
#include "sarrus/robot_files/mjcf_tree.h"

namespace sarrus::robot::mjcf {
namespace {

std::vector<double> numbers_in(const xml::Node& at, const std::string& name, const std::string& text) {
  std::vector<double> numbers;
  if (!xml::parse_numbers(text, numbers)) {
    xml::fail(at, fmt::format("{} is {}: not finite numbers; correct it", name, in_quotes(text)));
  }
  return numbers;
}

}  // namespace

const std::string* Attributes::find(const std::string& name) const {
  const xml::Node* n = nearest([&](const xml::Node& node) { return node.has(name); });
  return n == nullptr ? nullptr : n->find(name);
}

std::string Attributes::text(const std::string& name, const std::string& fallback) const {
  const std::string* value = find(name);
  return value == nullptr ? fallback : *value;
}

int Attributes::numbers(const std::string& name, double* out, int most, int least) const {
  int given = 0;
  const auto read = [&](const xml::Node& node) {
    const std::string* value = node.find(name);
    if (value == nullptr) return;
    const std::vector<double> x = numbers_in(own_, name, *value);
    const int n = static_cast<int>(x.size());
    if (n > most || n < least) {
      fail(fmt::format("{} has {} numbers; give {}", name, n,
                       least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most)));
    }
    std::copy(x.begin(), x.end(), out);
    given = std::max(given, n);
  };
  for (const xml::Node* layer : layers_) read(*layer);
  read(own_);
  return given;
}

double Attributes::number(const std::string& name, double fallback) const {
  numbers(name, &fallback, 1);
  return fallback;
}

int Attributes::integer(const std::string& name, int fallback) const {
  double x = fallback;
  numbers(name, &x, 1);
  if (x != std::floor(x) || std::abs(x) > 2147483647.0) {
    fail(fmt::format("{} is {}; give a whole number of 32 bits", name, x));
  }
  return static_cast<int>(x);
}

Vec3 Attributes::vec3(const std::string& name, const Vec3& fallback) const {
  Vec3 x = fallback;
  numbers(name, x.data(), 3, 3);
  return x;
}

bool Attributes::flag(const std::string& name, bool fallback) const {
  return choice(name, {"false", "true"}, fallback ? 1 : 0) == 1;
}

int Attributes::choice(const std::string& name, const std::vector<std::string>& names, int fallback) const {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  const auto found = std::find(names.begin(), names.end(), *value);
  if (found == names.end()) fail(fmt::format("{} is {}; {}", name, in_quotes(*value), suggestion(*value, names, name)));
  return static_cast<int>(found - names.begin());
}

std::vector<double> Attributes::list(const std::string& name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::vector<double>() : numbers_in(own_, name, *value);
}

Quat euler_rotation(const Vec3& angles, const std::string& sequence) {
  Quat q = Quat::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = sequence[static_cast<std::size_t>(i)];
    const bool moving = letter >= 'a';
    const int axis = letter - (moving ? 'x' : 'X');
    Vec3 turn = Vec3::Zero();
    turn[axis] = angles[i];
    const Quat step = so3_exp(turn);
    q = moving ? q * step : step * q;
  }
  return q.normalized();
}

Quat orientation_of(const Attributes& a, const Compiler& compiler) {
  constexpr const char* kOthers[] = {"axisangle", "xyaxes", "zaxis", "euler"};
  const auto count = [&](const xml::Node& node) {
    return std::count_if(std::begin(kOthers), std::end(kOthers), [&](const char* name) { return node.has(name); });
  };
  if (count(a.node()) + (a.node().has("quat") ? 1 : 0) > 1) a.fail("has several orientations; give one of them");
  const xml::Node* other = a.nearest([&](const xml::Node& node) { return count(node) > 0; });
  if (other == nullptr) {
    double q[4] = {1, 0, 0, 0};
    a.numbers("quat", q, 4, 4);
    const Quat quat(q[0], q[1], q[2], q[3]);
    if (!(quat.norm() > 1e-10)) a.fail("quat is zero; give an orientation");
    return quat.squaredNorm() == 1 ? quat : quat.normalized();
  }
  const Attributes alone(*other);
  double x[6] = {};
  if (alone.numbers("axisangle", x, 4, 4) > 0) {
    const Vec3 axis(x[0], x[1], x[2]);
    if (!(axis.norm() > 1e-10)) a.fail("axisangle has a zero axis; give a direction");
    return so3_exp(axis.normalized() * (x[3] * compiler.angle));
  }
  if (alone.numbers("euler", x, 3, 3) > 0) {
    return euler_rotation(Vec3(x[0], x[1], x[2]) * compiler.angle, compiler.eulerseq);
  }
  if (alone.numbers("xyaxes", x, 6, 6) > 0) {
    Vec3 ex(x[0], x[1], x[2]);
    if (!(ex.norm() > 1e-10)) a.fail("xyaxes has a zero x axis; give two directions");
    ex.normalize();
    Vec3 ey(x[3], x[4], x[5]);
    ey -= ey.dot(ex) * ex;
    if (!(ey.norm() > 1e-10)) a.fail("xyaxes has a y axis along x; give two directions");
    ey.normalize();
    Mat3 R;
    R << ex, ey, ex.cross(ey);
    return Quat(R).normalized();
  }
  alone.numbers("zaxis", x, 3, 3);
  const Vec3 z(x[0], x[1], x[2]);
  if (!(z.norm() > 1e-10)) a.fail("zaxis is zero; give a direction");
  const Vec3 unit = z.normalized();
  const Vec3 axis = Vec3::UnitZ().cross(unit);
  const double s = axis.norm();
  const Vec3 direction = s < 1e-10 ? Vec3::UnitX() : Vec3(axis / s);
  return so3_exp(direction * std::atan2(s, unit.z()));
}

Pose pose_of(const Attributes& a, const Compiler& compiler) {
  return {a.vec3("pos", Vec3::Zero()), orientation_of(a, compiler)};
}

}  // namespace sarrus::robot::mjcf
