// What constraints did in the last step, found again by identity (docs/theory/rows.md §7): their impulses, and which
// limits and contacts carry load, to which velocities are then made tangent.
//
// Joints, soft rows and limits match by id. Contacts match by (geom pair, feature key), else by the nearest
// unmatched point of the same pair within a tenth of the smaller shape, in body coordinates; impulses are kept as world
// vectors, so that a turned contact frame does not matter, and projected on the new cone. All scale with dt_new/dt_old.
// Dropping the impulses changes the number of iterations and, where impulses are not unique, which of them are found.
#pragma once

#include <span>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/rows/rows.h"
#include "sarrus/step/step_part.h"

namespace sarrus {

class WarmStart {
 public:
  void clear();
  // `sigma` are the velocities J u+ + v* of the rows. Carried load: the impulse exceeds what the velocity is worth,
  // lambda D > sigma; stuck: it did so inside its cone. `bounced` is by contact, `bounced_limits`
  // are ids: those are over.
  void store(const ConstraintProblem& problem, std::span<const Contact> contacts, std::span<const Pose> X_WB,
             std::span<const double> lambda, const GrowingVector& sigma, std::span<const std::uint8_t> bounced,
             std::span<const std::uint64_t> bounced_limits);
  // The same where the step was taken by some bodies alone: what concerns the others stays as `last` has it.
  void store(const ConstraintProblem& problem, std::span<const Contact> contacts, std::span<const Pose> X_WB,
             std::span<const double> lambda, const GrowingVector& sigma, std::span<const std::uint8_t> bounced,
             std::span<const std::uint64_t> bounced_limits, const StepPart& part, const WarmStart& last);
  // Contacts without impulses.
  void mark(std::span<const Contact> contacts, std::span<const Sustained> sustained, std::span<const Pose> X_WB);
  // Finds the contacts; what it returns is by contact and valid until the next call.
  std::span<const Sustained> match(std::span<const Contact> contacts, std::span<const Pose> X_WB);
  // By contact of the last match(): the largest normal force of its pair, N.
  std::span<const double> pair_load() const { return pair_load_; }
  // Whether any limit or contact carried load.
  bool any_sustained() const { return any_sustained_; }
  // Ids of the limits that carried load, ascending.
  std::span<const std::uint64_t> limits() const { return limits_; }
  // Fills lambda (size problem.rows()) by the contacts of the last match(); rows that are new start at zero. Returns
  // how many contacts were found again.
  int load(const ConstraintProblem& problem, std::span<const Contact> contacts, std::span<double> lambda) const;
  // Whether by what it did in the last step a soft block of the problem stays inside of its bounds.
  bool stays_inside(const ConstraintBlock& block, const ConstraintProblem& problem) const;
  // All that the next step reads; throws ArchiveError if it is none that store() could have made (snapshot.cpp).
  template <class A>
  void archive(A& a);

 private:
  struct StoredBlock {
    std::uint64_t id;
    BlockKind kind;
    int first;  // into values_
    int rows;
  };
  // What a step tells of itself.
  struct Answer {
    const ConstraintProblem& problem;
    std::span<const Contact> contacts;
    std::span<const Pose> X_WB;
    std::span<const double> lambda;
    const GrowingVector& sigma;
    std::span<const std::uint8_t> bounced;
    std::span<const std::uint64_t> bounced_limits;
  };
  struct StoredContact {
    int geom_a, geom_b;
    FeatureKey key;
    Vec3 p_local;  // in the frame of body B, or of A if B is the world
    Vec3 impulse_W;
    double load;  // normal force, N
    Sustained sustained;
    bool used;
  };

  void store_joints(const Answer& answer, std::size_t count);
  void store_block(const Answer& answer, const ConstraintBlock& block);
  void store_contact(const Answer& answer, const ConstraintBlock& block);
  void keep_block(const WarmStart& last, const StoredBlock& block);
  // `contacts` are from the `first` of the match() on.
  void match_pair(std::span<StoredContact> stored, std::span<const Contact> contacts, std::span<const Pose> X_WB,
                  std::size_t first);
  static StoredContact* find_nearest(std::span<StoredContact> stored, const Contact& contact, const Vec3& p_local);
  int load_contacts(const ConstraintProblem& problem, std::span<const Contact> contacts, double ratio,
                    std::span<double> lambda) const;

  static bool comes_before(const StoredBlock& stored, const ConstraintBlock& block);
  std::vector<StoredBlock>::const_iterator find(const ConstraintBlock& block, std::size_t place) const;

  std::vector<StoredBlock> blocks_;
  std::vector<double> values_;
  std::vector<StoredContact> contacts_;  // in (geom_a, geom_b) order
  std::vector<std::uint64_t> limits_;
  double dt_ = 0;
  bool any_sustained_ = false;
  // By contact of the last match():
  std::vector<const StoredContact*> found_;
  std::vector<Sustained> sustained_;
  std::vector<double> pair_load_;
};

}  // namespace sarrus
