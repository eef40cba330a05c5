// Shapes deep within each other, counted while contacts are looked for. Bodies that lie beside each other meet about a
// dozen others; where each lies deep within thirty, somebody put them in one place, and contacts, memory and time grow
// with the square of their number. That is refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/model/model.h"

namespace sarrus {

class Crowd {
 public:
  explicit Crowd(std::size_t colliders) : is_in_(colliders, 0) {}

  void begin() {
    std::fill(is_in_.begin(), is_in_.end(), char{0});
    pairs_ = shapes_ = 0;
  }
  // The first contact of two colliders. Throws InputError that names them if there are too many.
  void add(const Model& model, const Contact& c, int collider_a, int collider_b) {
    constexpr double kDeep = 0.05;  // of the smaller one's diagonal
    if (!(-c.gap > kDeep * c.size)) return;
    ++pairs_;
    for (const int i : {collider_a, collider_b}) {
      char& in = is_in_[static_cast<std::size_t>(i)];
      shapes_ += in == 0 ? 1 : 0;
      in = 1;
    }
    if (pairs_ > kLeastPairs && pairs_ > kPairsOfShape * shapes_) refuse(model, c);
  }

  // Throws InputError.
  [[noreturn]] static void refuse_near(const Model& model, std::size_t pairs);

  static constexpr std::size_t kPairsOfShape = 30;
  static constexpr std::size_t kLeastPairs = 1000;

 private:
  [[noreturn]] void refuse(const Model& model, const Contact& c) const;

  std::vector<char> is_in_;  // by collider
  std::size_t pairs_ = 0;
  std::size_t shapes_ = 0;
};

// "file: shapes of 'a' and 'b'", for messages.
std::string pair_text(const Model& model, int geom_a, int geom_b);

}  // namespace sarrus
