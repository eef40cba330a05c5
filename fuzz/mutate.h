// Changes to good files: bytes, runs and numbers anywhere, half of them where headers are; parts of JSON, XML and HDF5
// by those that know them; pieces of two files put together. A seed gives the same changes again.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mutate_hdf5.h"
#include "mutate_json.h"
#include "mutate_xml.h"
#include "random.h"

namespace sarrus::fuzz {

inline void mutate_bytes(std::string& bytes, Random& random, const std::string& other) {
  if (bytes.empty()) bytes = "x";
  const std::size_t range = random.one_in(2) ? bytes.size() : std::min<std::size_t>(bytes.size(), 4096);
  const std::size_t at = random.below(range);
  const std::size_t length = std::min(bytes.size() - at, 1 + random.below(8));
  switch (random.below(8)) {
    case 0:
      bytes[at] = static_cast<char>(random.next());
      break;
    case 1:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 2:
      bytes.replace(at, length, length, '\0');
      break;
    case 3: {
      const std::uint64_t number = odd_whole_number(random);
      std::memcpy(bytes.data() + at, &number, length);
      break;
    }
    case 4:
      bytes.erase(at, length);
      break;
    case 5:
      bytes.insert(at, bytes.substr(random.below(bytes.size()), 1 + random.below(64)));
      break;
    case 6:
      bytes.resize(at);
      break;
    default: {
      const std::size_t from = random.below(other.size());
      bytes.replace(at, length, other.substr(from, 1 + random.below(64)));
    }
  }
}

// False if the bytes, or the donor's, are no such document.
inline bool mutate_as_json(std::string& bytes, Random& random, const std::string& other, std::size_t changes) {
  if (bytes.empty() || bytes[0] != '{') return false;
  FuzzJson document = FuzzJson::parse(bytes, nullptr, false);
  FuzzJson donor = FuzzJson::parse(other, nullptr, false);
  if (document.is_discarded() || donor.is_discarded()) return false;
  for (std::size_t i = 0; i < changes; ++i) mutate_json(document, random, donor);
  bytes = document.dump(-1, ' ', false, FuzzJson::error_handler_t::replace);
  return true;
}

// A byte may be before the document, which tells the format of a mesh.
inline bool mutate_as_xml(std::string& bytes, Random& random, const std::string& other, std::size_t changes) {
  const std::size_t begin = bytes.find('<');
  const std::size_t donor_begin = other.find('<');
  if (begin > 1 || donor_begin > 1) return false;
  tinyxml2::XMLDocument document, donor;
  if (document.Parse(bytes.data() + begin, bytes.size() - begin) != tinyxml2::XML_SUCCESS ||
      donor.Parse(other.data() + donor_begin, other.size() - donor_begin) != tinyxml2::XML_SUCCESS)
    return false;
  for (std::size_t i = 0; i < changes; ++i) mutate_xml(document, random, donor);
  tinyxml2::XMLPrinter printer(nullptr, true);
  document.Print(&printer);
  bytes.replace(begin, std::string::npos, printer.CStr());
  return true;
}

inline bool mutate_as_hdf5(std::string& bytes, Random& random, std::size_t changes) {
  if (!is_hdf5(bytes)) return false;
  Hdf5Changes hdf5(bytes);
  for (std::size_t i = 0; i < changes; ++i) hdf5.change(random);
  return true;
}

// One to four changes of one of the files.
inline std::string mutate(const std::vector<std::string>& files, Random& random) {
  std::string bytes = files[random.below(files.size())];
  const std::string& other = files[random.below(files.size())];
  const std::size_t changes = 1 + random.below(4);
  if (!random.one_in(8) &&
      (mutate_as_json(bytes, random, other, changes) || mutate_as_xml(bytes, random, other, changes)))
    return bytes;
  if (random.one_in(2) && mutate_as_hdf5(bytes, random, changes)) return bytes;
  for (std::size_t i = 0; i < changes; ++i) mutate_bytes(bytes, random, other);
  return bytes;
}

}  // namespace sarrus::fuzz
