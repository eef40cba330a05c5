#include "sarrus/collision/hull_level.h"

#include <algorithm>

namespace sarrus {
namespace {

// A set of at most VertexList::capacity() ids with four times as many slots, so that looking up takes few steps.
class VertexSet {
 public:
  VertexSet() { std::fill_n(slot_, kSlots, -1); }
  // False if it was there already.
  bool insert(int v) {
    unsigned at = (static_cast<unsigned>(v) * 2654435761u) >> 24;  // spreads neighbouring ids
    while (slot_[at] >= 0) {
      if (slot_[at] == v) return false;
      at = (at + 1) % kSlots;
    }
    slot_[at] = v;
    return true;
  }

 private:
  static constexpr unsigned kSlots = 256;
  static_assert(kSlots >= 4 * static_cast<unsigned>(VertexList::capacity()));
  int slot_[kSlots];
};

}  // namespace

bool vertices_above(const ConvexHull& hull, const Vec3& l, int top, double level, VertexList& found) {
  found.clear();
  found.push(top);
  bool alone = true;
  for (const int v : hull.neighbours(top)) alone = alone && l.dot(hull.vertex(v)) < level;
  if (alone) return true;
  VertexSet seen;
  seen.insert(top);
  for (int k = 0; k < found.size(); ++k) {
    for (const int v : hull.neighbours(found[k])) {
      if (l.dot(hull.vertex(v)) < level || !seen.insert(v)) continue;
      if (found.size() == VertexList::capacity()) return false;
      found.push(v);
    }
  }
  std::sort(found.begin(), found.end());
  return true;
}

}  // namespace sarrus
