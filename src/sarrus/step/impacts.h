// Impacts with restitution (docs/theory/rows.md §5).
//
// Newton's law u+ = -e u- of the contacts that close with a speed, in passes:
//   pass     contacts that approach and would close within the step bounce with their speed before the pass; those with
//            restitution that neither approach nor touch are left out
//   next     an impact may send a body against its neighbour: what approaches now bounces in the next pass, and so on
//   last     everything in its own law, for what is left
// `simultaneous`: all that approach bounce in one pass, and what touches holds. `sequential`: one contact a pass, the
// next to close, fastest first; others with restitution are left out. So a cradle passes its impact on. Impulses of the
// passes add up: soft rows see their sum.
//
// Newton's law with friction, or of several contacts with different e, can create energy; and a body that leaves a
// floor with the speed that it came with gains height within the step, since positions move by u+. With p the impulses
// of a pass, u and u+ the velocities before and after, and f the momentum that gravity and forces have added in this
// step,
//   p (u + u+)/2 - f (u+ - u)/2
// is what the energy rises by. Where that is positive, all e of the island are multiplied by the largest factor in [0,
// 1] for which it is not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/problem/constraint_problem.h"
#include "sarrus/rows/rows.h"

namespace sarrus {

class Impacts {
 public:
  // Takes the problem of the step; `bounced` says which contacts bounce in the first pass and gets those of later ones.
  void begin(const ConstraintProblem& problem, std::span<const Contact> contacts, const RowOptions& options,
             const VecX& u_minus, std::span<std::uint8_t> bounced);

  // The problem of the pass, to be solved.
  const ConstraintProblem& problem() const { return problem_; }
  // Judges the work of an answer (its impulses and velocities). True: it is to be kept. False: restitution was reduced,
  // and the problem is to be solved again.
  bool keep(std::span<const double> lambda, const VecX& u_plus);
  // Books the kept answer and prepares the next pass; false if there is none.
  bool next(std::span<const double> lambda, const VecX& u_plus);

  std::span<const double> total() const { return total_; }  // impulses of all passes
  double scale() const { return least_; }                   // smallest factor that restitution was multiplied with

 private:
  // Of an island with bouncing contacts: bracket of the factor of its restitutions.
  struct Bracket {
    bool bounces = false;
    double factor = 1;
    double low = 0, high = 1;            // no work is done at `low`, some at `high`
    double work_low = 0, work_high = 0;  // J
    bool low_known = false, done = false;
    int tries = 0;
  };

  enum class Role : std::uint8_t { law, bounces, left_out };
  void set_roles(bool first);
  void set_biases();
  bool violated(const VecX& u) const;
  double normal_velocity(const ConstraintBlock& block, const VecX& u) const;

  ConstraintProblem problem_;
  std::span<const Contact> contacts_;
  RowOptions options_;
  std::span<std::uint8_t> bounced_;
  std::vector<Role> role_;             // by contact
  std::vector<double> bias_;           // of the step, by row
  std::vector<double> lower_, upper_;  // of the step, by row
  std::vector<double> approach_;       // by contact, its velocity before the pass
  double fastest_ = 0;                 // of all passes so far, m/s
  std::vector<double> total_;
  std::vector<Bracket> brackets_;  // by island
  VecX u_start_, u_sum_, u_change_;
  VecX force_;  // f
  GrowingVector v_mean_;
  double least_ = 1;
  int passes_ = 0;
  bool last_ = false;
};

}  // namespace sarrus
