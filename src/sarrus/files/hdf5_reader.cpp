#include "sarrus/files/hdf5_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"

namespace sarrus::hdf5 {
namespace {

// Deflate shrinks at most about 1032 times: a data set that claims more than this was never written.
constexpr std::uint64_t kMaxExpansion = 1100;
constexpr std::uintmax_t kMaxFile = std::uintmax_t{2} << 30;
constexpr std::uint64_t kMaxData = std::uint64_t{2} << 30;  // of all data sets that are read
constexpr std::size_t kMaxText = 64;
constexpr int kMaxDepth = 16;
constexpr int kMaxCopied = 4096;

const char* class_name(Tree::Kind kind) {
  switch (kind) {
    case Tree::Kind::real:
      return "floating-point numbers";
    case Tree::Kind::integer:
      return "integers";
    case Tree::Kind::text:
      return "text";
    case Tree::Kind::strings:
      return "text of variable length";
    case Tree::Kind::other:
      break;
  }
  return "another type";
}

// One stored number as the bits of 8 bytes; integers are extended by their sign.
std::uint64_t stored_bits(const char* at, const Tree::Type& type) {
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < type.size; ++i) {
    const std::uint32_t k = type.big_endian ? i : type.size - 1 - i;
    bits = bits << 8 | static_cast<unsigned char>(at[k]);
  }
  const std::uint32_t unused = 64 - 8 * type.size;
  if (type.is_signed && unused > 0)
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
  return bits;
}

double stored_real(const char* at, const Tree::Type& type) {
  const std::uint64_t bits = stored_bits(at, type);
  return type.size == 8 ? std::bit_cast<double>(bits) : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

// Outside of int if the number does not fit.
std::int64_t stored_integer(const char* at, const Tree::Type& type) {
  const std::uint64_t bits = stored_bits(at, type);
  const bool huge = !type.is_signed && bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return huge ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(bits);
}

Tree open(const std::string& path, const std::string& bytes, const std::string& remedy) {
  if (bytes.empty()) throw InputError(path, fmt::format("the file is empty; {}", remedy));
  if (std::string_view(bytes).substr(0, 8) != "\x89HDF\r\n\x1a\n") {
    throw InputError(path,
                     "is not an HDF5 file; give a problem written by sarrus run --dump-problems or an FCLIB file");
  }
  try {
    return Tree(bytes);
  } catch (const BadTree& e) {
    throw InputError(path, fmt::format("the HDF5 file is truncated or damaged (it {}); {}", e.what(), remedy));
  }
}

}  // namespace

Reader::Reader(const std::filesystem::path& path, std::string remedy)
    : path_(path.string()),
      remedy_(std::move(remedy)),
      bytes_(read_file(path, "a file", kMaxFile)),
      tree_(open(path_, bytes_, remedy_)),
      root_(find("/")) {}

void Reader::fail(const std::string& element, const std::string& problem) const {
  throw InputError(path_, fmt::format("{}: {}; {}", element, problem, remedy_));
}

Tree::Object Reader::find(const std::string& name) const {
  Tree::Object object;
  bool found = false;
  try {
    found = tree_.find(name, object);
  } catch (const BadTree& e) {
    fail(name, e.what());
  }
  if (!found) fail(name, "the data set is missing");
  return object;
}

bool Reader::has(const std::string& name) const {
  Tree::Object object;
  try {
    return tree_.find(name, object);
  } catch (const BadTree& e) {
    fail(name, e.what());
  }
}

std::string Reader::data(const std::string& name, const Tree::Dataset& dataset) const {
  if (__builtin_add_overflow(delivered_, dataset.size(), &delivered_) || delivered_ > kMaxData) {
    fail(name, fmt::format("claims {} numbers, with those before more than the {} GB that are read of one file",
                           dataset.count, kMaxData >> 30));
  }
  try {
    return tree_.data(dataset, kMaxExpansion * bytes_.size());
  } catch (const BadTree& e) {
    fail(name, e.what());
  }
}

std::string Reader::elements(const std::string& name, Tree::Kind kind, std::int64_t size, Tree::Type& type) const {
  const Tree::Object object = find(name);
  if (!object.is_dataset) fail(name, "is not a readable data set");
  type = object.dataset.type;
  if (type.kind != kind) fail(name, fmt::format("holds {}, {} are wanted", class_name(type.kind), class_name(kind)));
  const std::uint64_t count = object.dataset.count;
  if (count > kMaxExpansion * bytes_.size()) {
    fail(name, fmt::format("claims {} numbers, more than the file can hold", count));
  }
  if (size != kAnySize && count != static_cast<std::uint64_t>(size)) {
    fail(name, fmt::format("has {} numbers, {} are wanted", count, size));
  }
  return data(name, object.dataset);
}

std::vector<double> Reader::doubles(const std::string& name, std::int64_t size, Finite finite) const {
  Tree::Type type;
  const std::string stored = elements(name, Tree::Kind::real, size, type);
  std::vector<double> values(stored.size() / type.size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = stored_real(stored.data() + i * type.size, type);
    const bool good = finite == Finite::required ? std::isfinite(values[i]) : !std::isnan(values[i]);
    if (!good) fail(name, fmt::format("number {} is {}", i, values[i]));
  }
  return values;
}

std::vector<int> Reader::ints(const std::string& name, std::int64_t size) const {
  Tree::Type type;
  const std::string stored = elements(name, Tree::Kind::integer, size, type);
  std::vector<int> values(stored.size() / type.size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t wide = stored_integer(stored.data() + i * type.size, type);
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
      fail(name, fmt::format("number {} is {}, too large", i, wide));
    }
    values[i] = static_cast<int>(wide);
  }
  return values;
}

std::vector<std::uint64_t> Reader::ids(const std::string& name, std::int64_t size) const {
  Tree::Type type;
  const std::string stored = elements(name, Tree::Kind::integer, size, type);
  std::vector<std::uint64_t> values(stored.size() / type.size);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = stored_bits(stored.data() + i * type.size, type);
  return values;
}

std::vector<std::uint64_t> Reader::shape(const std::string& name) const {
  const Tree::Object object = find(name);
  if (!object.is_dataset) fail(name, "is not a readable data set");
  return object.dataset.shape;
}

std::vector<std::string> Reader::texts(const std::string& name, std::string_view elements,
                                       const Tree::Type& type) const {
  if (type.kind == Tree::Kind::strings) {
    try {
      return tree_.texts(elements, kMaxExpansion * bytes_.size());
    } catch (const BadTree& e) {
      fail(name, e.what());
    }
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < elements.size(); i += type.size) {
    const std::string_view text = elements.substr(i, type.size);
    out.emplace_back(text.substr(0, text.find('\0')));
  }
  return out;
}

std::vector<std::string> Reader::strings(const std::string& name, std::int64_t size) const {
  const Tree::Object object = find(name);
  const bool variable = object.is_dataset && object.dataset.type.kind == Tree::Kind::strings;
  Tree::Type type;
  const std::string stored = elements(name, variable ? Tree::Kind::strings : Tree::Kind::text, size, type);
  return texts(name, stored, type);
}

bool Reader::has_attribute(const char* name) const {
  return std::any_of(root_.attributes.begin(), root_.attributes.end(),
                     [name](const Tree::Attribute& a) { return a.name == name; });
}

const Tree::Attribute& Reader::attribute(const char* name, Tree::Kind kind) const {
  const std::string element = fmt::format("attribute '{}'", name);
  const auto found = std::find_if(root_.attributes.begin(), root_.attributes.end(),
                                  [name](const Tree::Attribute& a) { return a.name == name; });
  if (found == root_.attributes.end()) fail(element, "is missing");
  if (kind == Tree::Kind::text && (found->type.kind == Tree::Kind::other || found->type.kind == Tree::Kind::strings))
    fail(element, "is not text of fixed length");
  if (found->type.kind != kind || found->count != 1) {
    fail(element, fmt::format("is not a single value of {}", class_name(kind)));
  }
  return *found;
}

std::string Reader::text_attribute(const char* name) const {
  const std::string_view text = attribute(name, Tree::Kind::text).data.substr(0, kMaxText);
  return std::string(text.substr(0, text.find('\0')));
}

std::string Reader::string_attribute(const char* name) const {
  const auto found = std::find_if(root_.attributes.begin(), root_.attributes.end(),
                                  [name](const Tree::Attribute& a) { return a.name == name; });
  const bool variable = found != root_.attributes.end() && found->type.kind == Tree::Kind::strings;
  const Tree::Attribute& a = attribute(name, variable ? Tree::Kind::strings : Tree::Kind::text);
  return texts(fmt::format("attribute '{}'", name), a.data, a.type).at(0);
}

std::vector<double> Reader::doubles_attribute(const char* name, std::size_t size) const {
  const auto found = std::find_if(root_.attributes.begin(), root_.attributes.end(),
                                  [name](const Tree::Attribute& a) { return a.name == name; });
  const bool good = found != root_.attributes.end() && found->type.kind == Tree::Kind::real && found->count == size;
  if (!good) fail(fmt::format("attribute '{}'", name), fmt::format("is missing or not {} numbers", size));
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i) {
    values.push_back(stored_real(found->data.data() + i * found->type.size, found->type));
    if (!std::isfinite(values.back())) fail(fmt::format("attribute '{}'", name), "is not finite");
  }
  return values;
}

int Reader::int_attribute(const char* name) const {
  const Tree::Attribute& a = attribute(name, Tree::Kind::integer);
  const std::int64_t wide = stored_integer(a.data.data(), a.type);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    fail(fmt::format("attribute '{}'", name), fmt::format("is {}, too large", wide));
  }
  return static_cast<int>(wide);
}

double Reader::double_attribute(const char* name) const {
  const Tree::Attribute& a = attribute(name, Tree::Kind::real);
  return stored_real(a.data.data(), a.type);
}

void Reader::copy_to(const File& target, std::string_view without) const { copy_group(target, "", root_, without, 0); }

void Reader::copy_group(const File& target, const std::string& path, const Tree::Object& group,
                        std::string_view without, int depth) const {
  if (depth > kMaxDepth) fail(path, fmt::format("is nested deeper than {} groups", kMaxDepth));
  for (const Tree::Link& link : group.links) {
    const std::string name = path + "/" + link.name;
    if (!link.hard || name == without) continue;
    if (++copied_ > kMaxCopied) fail(name, fmt::format("is beyond the {} objects that are copied", kMaxCopied));
    const Tree::Object object = find(name);
    if (!object.is_dataset) {
      target.group(name);
      copy_group(target, name, object, {}, depth + 1);
      continue;
    }
    const Tree::Dataset& d = object.dataset;
    if (d.type.kind != Tree::Kind::other && d.type.kind != Tree::Kind::strings)
      target.raw(name, d.type, d.shape, data(name, d));
  }
}

}  // namespace sarrus::hdf5
