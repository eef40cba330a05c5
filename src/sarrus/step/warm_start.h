// Impulses of the last step, found again by constraint identity (docs/theory/rows.md §7).
//
// Joints, soft rows and limits match by id. Contacts match by (geom pair, feature key), else by the nearest
// unmatched point of the same pair within 2 cm in body coordinates; impulses are kept as world vectors, so that
// a turned contact frame does not matter, and projected on the new cone. All scale with dt_new/dt_old.
// Dropping the cache changes the number of iterations and, where impulses are not unique, which of them are found.
#pragma once

#include <span>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus {

class WarmStart {
 public:
  void clear();
  void store(const ConstraintProblem& problem, std::span<const Contact> contacts, std::span<const Pose> X_WB,
             std::span<const double> lambda);
  // Fills lambda (size problem.rows()); rows that are new start at zero. Returns how many contacts were found again.
  int load(const ConstraintProblem& problem, std::span<const Contact> contacts, std::span<const Pose> X_WB,
           std::span<double> lambda);

 private:
  struct StoredBlock {
    std::uint64_t id;
    BlockKind kind;
    int first;  // into values_
    int rows;
  };
  struct StoredContact {
    int geom_a, geom_b;
    FeatureKey key;
    Vec3 p_local;  // in the frame of body B, or of A if B is the world
    Vec3 impulse_W;
    bool used;
  };

  std::span<StoredContact> stored_pair(const Contact& contact);
  StoredContact* find_by_key(const Contact& contact);
  StoredContact* find_nearest(const Contact& contact, const Vec3& p_local);
  int load_contacts(const ConstraintProblem& problem, std::span<const Contact> contacts, std::span<const Pose> X_WB,
                    double ratio, std::span<double> lambda);

  std::vector<StoredBlock> blocks_;
  std::vector<double> values_;
  std::vector<StoredContact> contacts_;  // in (geom_a, geom_b, key) order
  double dt_ = 0;
};

}  // namespace sarrus
