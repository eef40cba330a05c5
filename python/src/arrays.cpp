#include <fmt/format.h>

#include <cmath>

#include "bindings.h"
#include "sarrus/math/text.h"

namespace sarrus::python {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    out += (i > 0 ? ", " : "") + (shape[i] < 0 ? std::string("any") : std::to_string(shape[i]));
  }
  return out + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

std::size_t dimensions_of(nb::handle values, const std::string& what) {
  try {
    return nb::cast<std::size_t>(nb::module_::import_("numpy").attr("ndim")(values));
  } catch (const nb::python_error&) {
    throw InputError(what, "is no array of numbers: its rows differ in length");
  }
}

Doubles array_of(nb::handle values, const std::string& what, std::initializer_list<std::int64_t> shape, bool nan) {
  static const nb::handle asarray = nb::object(nb::module_::import_("numpy").attr("ascontiguousarray")).release();
  static const nb::handle float64 = nb::object(nb::module_::import_("numpy").attr("float64")).release();
  nb::object array;
  try {
    array = asarray(values, float64);
  } catch (const nb::python_error&) {
    throw InputError(what, fmt::format("is no array of numbers; give one of shape {}", shape_text(shape)));
  }
  auto out = nb::cast<Doubles>(array);
  bool fits = out.ndim() == shape.size();
  std::vector<std::int64_t> given;
  for (std::size_t i = 0; i < out.ndim(); ++i) given.push_back(static_cast<std::int64_t>(out.shape(i)));
  // A number is an array of shape (1,) for NumPy.
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    const std::int64_t wanted = shape.begin()[i];
    fits = wanted < 0 || wanted == given[i];
  }
  if (!fits) throw InputError(what, fmt::format("has shape {}; give {}", shape_text(given), shape_text(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = out.data()[i];
    if (std::isfinite(x) || (nan && std::isnan(x))) continue;
    std::string at;
    std::size_t rest = i;
    for (std::size_t d = given.size(); d-- > 0;) {
      const auto n = static_cast<std::size_t>(given[d]);
      at = std::to_string(rest % n) + (at.empty() ? "" : ", ") + at;
      rest /= n;
    }
    throw InputError(what, fmt::format("element [{}] is {}; give finite numbers", at, x));
  }
  return out;
}

double number(nb::handle value, const std::string& what, bool nan) {
  double x = 0;
  if (!nb::try_cast<double>(value, x)) throw InputError(what, "is no number; give one");
  if (!std::isfinite(x) && !(nan && std::isnan(x)))
    throw InputError(what, fmt::format("is {}; give a finite number", x));
  return x;
}

nb::object array_from(std::vector<double> values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double>(kept->data(), shape.size(), shape.begin(), owner));
}

nb::object vector_of(const Vec3& v) { return array_from({v.x(), v.y(), v.z()}); }
nb::object quaternion_of(const Quat& q) { return array_from({q.x(), q.y(), q.z(), q.w()}); }

nb::object matrix_of(const Eigen::Ref<const MatX>& m) {
  std::vector<double> out(static_cast<std::size_t>(m.size()));
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(out.data(), m.rows(), m.cols()) =
      m;
  return array_from(std::move(out), {static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())});
}

nb::object& python(const char* module, const char* name) {
  // Never destroyed: the interpreter may be gone before them.
  static auto& known = *new std::map<std::pair<std::string, std::string>, nb::object>;
  nb::object& found = known[{module, name}];
  if (!found.is_valid()) found = nb::module_::import_(module).attr(name);
  return found;
}

nb::object named_array(nb::object names, nb::object values, const char* kind) {
  return python("sarrus._named", "NamedArray")(names, values, kind);
}

nb::object named_elements(nb::object names, nb::object elements, const char* kind) {
  return python("sarrus._named", "Named")(names, elements, kind);
}

int scalar_named(const Model& model, const std::string& name) {
  std::vector<std::string> known;
  for (int i = 0; i < model.scalar_count(); ++i) {
    known.push_back(model.dof_name(i));
    const std::string& drive = model.scalars()[static_cast<std::size_t>(i)].drive.name;
    if (!drive.empty()) known.push_back(drive);
    if (!drive.empty() && drive == name) return i;
    if (known.back() == name || model.dof_name(i) == name) return i;
  }
  try {
    return model.dof(name);
  } catch (const InputError&) {
    // Of single coordinates the joint's name is enough.
    for (const Joint& j : model.joints()) {
      if (joint_dofs(j) == 1) known.push_back(j.name);
    }
    const std::string near = nearest_name(name, known);
    throw InputError(fmt::format("coordinate {}", in_quotes(name)),
                     near.empty()
                         ? "no coordinate, combination or drive has this name; Model.dof lists them"
                         : fmt::format("no coordinate, combination or drive has this name; did you mean '{}'?", near));
  }
}

nb::object scalar_names(const Model& model) {
  nb::list names;
  for (int i = 0; i < model.scalar_count(); ++i) names.append(model.dof_name(i));
  return nb::tuple(names);
}

}  // namespace sarrus::python
