// Which geom pairs may collide, and with what contact law (docs/theory/collision.md §2, docs/theory/model.md §6).
//
// The first rule that applies decides:
//   0 the geoms are in Model::contact_pairs()                              yes
//   1 both geoms belong to the world                                       no
//   2 the body pair is in Model::excludes()                                no
//   3 the body pair is in Model::includes()                                yes
//   4 same body, or bodies merged by fixed joints (also with the world)    no
//   5 bodies connected by a joint other than free and distance             no
//     (merged bodies count as one; a connection to the world does not count)
//   6 self_collision = false and joints connect the bodies, whatever is between (not through the world)   no
//   7 masks: (group_A & collides_with_B) | (group_B & collides_with_A) != 0
//
// Contact law: mu = sqrt(mu_a mu_b), restitution = max, compliance = combine_compliances() (model/compliance.h), unless
// Model::material_pairs() names the two materials, or Model::contact_pairs() the two geoms, which wins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/model/model.h"

namespace sarrus {

class PairFilter {
 public:
  explicit PairFilter(const Model& model);
  bool allowed(int geom_a, int geom_b) const;

 private:
  // Sorted adjacency of pairs (first < second) with a verdict; the earliest rule for a pair wins.
  class PairTable {
   public:
    struct Entry {
      int first;
      int second;
      bool allowed;
    };
    PairTable() = default;
    PairTable(std::vector<Entry> rules, int node_count);
    // +1 allowed, -1 not, 0 no rule.
    int verdict(int a, int b) const;
    bool empty() const { return entries_.empty(); }

   private:
    std::vector<int> row_begin_;  // by first
    std::vector<Entry> entries_;
  };
  struct GeomBits {
    int node;       // body + 1; 0 is the world
    int group;      // smallest node that fixed joints merge with it
    int mechanism;  // smallest node that joints connect with it, -1 if self collision is on or it is on the world
    std::uint32_t bits;
    std::uint32_t collides_with;
  };

  std::vector<GeomBits> geoms_;
  PairTable bodies_;  // rules 2, 3 and direct joints, by node
  PairTable groups_;  // joints between merged bodies, by group
  PairTable pairs_;   // rule 0, by geom
};

struct ContactLaw {
  double mu;
  double restitution;
  int compliance;  // into ContactLaws::compliances(); -1: rigid
};

class ContactLaws {
 public:
  explicit ContactLaws(const Model& model);
  const ContactLaw& between(int geom_a, int geom_b) const {
    const PairLaw* pair = pairs_.empty() ? nullptr : find(geom_a, geom_b);
    return pair != nullptr ? pair->law : table_[row(geom_a) * count_ + row(geom_b)];
  }
  // Of the pair alone, m; kUseDefault if it has none.
  double margin(int geom_a, int geom_b) const {
    const PairLaw* pair = pairs_.empty() ? nullptr : find(geom_a, geom_b);
    return pair != nullptr ? pair->margin : kUseDefault;
  }
  // Friction and restitution as the model has them now, if its numbers have changed.
  void read_again(const Model& model);
  // The different compliances of this model's contacts.
  std::span<const Compliance> compliances() const { return compliances_; }

 private:
  struct PairLaw {
    int first, second;
    ContactLaw law;
    double margin;
  };
  int index_of(const Compliance& compliance);
  const PairLaw* find(int geom_a, int geom_b) const;
  std::size_t row(int geom) const { return static_cast<std::size_t>(material_[static_cast<std::size_t>(geom)]); }
  std::size_t count_;
  std::vector<int> material_;  // by geom
  std::vector<ContactLaw> table_;
  std::vector<PairLaw> pairs_;  // sorted
  std::vector<Compliance> compliances_;
};

}  // namespace sarrus
