// Changes of JSON documents: numbers, keys, words, whole parts. Keys and words come from a second document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "random.h"

namespace sarrus::fuzz {

using FuzzJson = nlohmann::ordered_json;

inline void collect(FuzzJson& j, std::vector<FuzzJson*>& out, int depth = 0) {
  out.push_back(&j);
  if (depth > 40 || !j.is_structured()) return;
  for (FuzzJson& child : j) collect(child, out, depth + 1);
}

// A value of the wanted kind, none if fifty attempts meet no such one.
template <class Wanted>
FuzzJson* find_value(const std::vector<FuzzJson*>& all, Random& random, Wanted wanted) {
  for (int i = 0; i < 50; ++i) {
    FuzzJson* value = all[random.below(all.size())];
    if (wanted(*value)) return value;
  }
  return nullptr;
}

inline void mutate_json(FuzzJson& root, Random& random, FuzzJson& other) {
  std::vector<FuzzJson*> all, others;
  collect(root, all);
  collect(other, others);
  FuzzJson& here = *all[random.below(all.size())];
  const FuzzJson part = *others[random.below(others.size())];
  const auto is_text = [](const FuzzJson& j) { return j.is_string(); };
  const auto is_number = [](const FuzzJson& j) { return j.is_number(); };
  switch (random.below(8)) {
    case 0:
    case 1:
      if (FuzzJson* number = find_value(all, random, is_number)) {
        const double x = number->get<double>();
        *number = random.one_in(2) ? odd_number(random) : x * (static_cast<double>(random.below(9)) - 4);
      }
      return;
    case 2:
      if (&here != &root) here = part;
      return;
    case 3:
      if (here.is_structured() && !here.empty()) {
        auto it = here.begin();
        std::advance(it, static_cast<long>(random.below(here.size())));
        here.erase(it);
      }
      return;
    case 4:
      if (here.is_array()) here.push_back(part);
      return;
    case 5:  // a name or a word for another: other types, joints of other bodies
      if (FuzzJson* word = find_value(all, random, is_text)) {
        if (const FuzzJson* donor = find_value(random.one_in(2) ? all : others, random, is_text)) {
          const FuzzJson copy = *donor;
          *word = copy;
        }
      }
      return;
    case 6:  // one more of what is there, under another name
      if (here.is_array() && !here.empty()) {
        FuzzJson copy = here[random.below(here.size())];
        if (copy.is_object() && copy.contains("name")) copy["name"] = "n" + std::to_string(random.below(1000));
        here.push_back(std::move(copy));
      }
      return;
    default:
      if (here.is_object() && part.is_object() && !part.empty()) {
        auto it = part.begin();
        std::advance(it, static_cast<long>(random.below(part.size())));
        here[it.key()] = it.value();
      }
  }
}

}  // namespace sarrus::fuzz
