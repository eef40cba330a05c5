// What is sustained, and which islands take an impact step (docs/theory/integrators.md §11).
//
// A contact or limit is sustained if it is closed and still before the step: its gap within the slop and its velocity
// nil but for rounding, as a step that finishes leaves those that carry load. Contacts whose tangential velocity is
// nil, too, stick. The scheme's law on the mean velocity is for these.
//
// A scheme whose rows are at the midpoint and whose laws are on the mean velocity is right while contacts last, and
// wrong where one closes: it would bounce, and enter the surface by half a step of its speed. An island in which a
// contact or limit closes with a speed takes the scheme's `impact` numbers instead: rows at s, laws on u+, positions by
// u+.
//
// Springs, dampers and servos are of second order at the mean, and ring or gain energy there where dt does not resolve
// them: dt^2 k D or dt d D above 1/2, D the inverse mass of their coordinate. Islands with such ones take the scheme's
// `stiff` numbers, in which they are implicit. (Compliant joints, contacts and limits are implicit in any case.)
//
// Islands are joined by joints and by every contact whose bodies may meet within the step, so that whatever an impact
// reaches in this step is in the same mode.
#pragma once

#include <span>
#include <vector>

#include "sarrus/dynamics/joint_kinematics.h"
#include "sarrus/dynamics/state.h"
#include "sarrus/rows/rows.h"

namespace sarrus {

class StepModes {
 public:
  StepModes(const Model& model, const Scheme& scheme);

  // `contacts` and `kinematics` are of the poses before the step.
  void decide(const State& state, const JointKinematics& kinematics, std::span<const Contact> contacts,
              const RowOptions& options, double dt);

  std::span<const Sustained> sustained() const { return sustained_; }          // by contact
  std::span<const std::uint64_t> sustained_limits() const { return limits_; }  // block ids, ascending

  std::span<const Scheme* const> scheme() const { return scheme_of_body_; }  // by body
  // The lowest body that joints and couplings connect this one with.
  int assembly(int body) const { return assembly_[static_cast<std::size_t>(body)]; }
  // Largest k D of its springs and servos, 1/s^2.
  double stiffness(int assembly) const { return stiffness_[static_cast<std::size_t>(assembly)]; }
  // What it takes of masses and springs: numbers of the model (model/numbers.h).
  template <class A>
  void archive_numbers(A& a) {
    a(stiffness_, damping_);
  }
  bool any_impact() const { return any_impact_; }
  bool any_curvature() const { return any_curvature_; }
  bool is_impact(int body) const { return has(body, scheme_.impact); }
  // Its rows are where it is before the step.
  bool starts(int body) const { return is_impact(body) || has(body, scheme_.stiff); }
  bool all_start() const { return all_start_; }

 private:
  bool has(int body, const Scheme* scheme) const {
    return scheme != nullptr && body != kWorld && scheme_of_body_[static_cast<std::size_t>(body)] == scheme;
  }
  void measure_stiffness();
  int root(int body);
  void join(int a, int b);
  void strike(int a, int b);
  void try_contacts(const State& state, std::span<const Contact> contacts, const RowOptions& options, double dt);
  void try_limits(const State& state, const JointKinematics& kinematics, const RowOptions& options, double dt);

  Model model_;
  const Scheme& scheme_;
  bool any_impact_ = false;
  bool any_curvature_ = false;
  bool all_start_ = false;
  std::vector<int> limited_;          // scalars with rigid limits
  std::vector<int> reaching_;         // joints with a swing limit, and ropes
  std::vector<int> assembly_;         // by body: lowest body that joints connect it with
  std::vector<double> stiffness_;     // by assembly: largest k D, 1/s^2
  std::vector<double> damping_;       // by assembly: largest d D, 1/s
  std::vector<int> parent_;           // by body: union-find of the islands
  std::vector<std::uint8_t> stiff_;   // by body: something stiff is on it, or (roots) in its island
  std::vector<std::uint8_t> struck_;  // by body: something closes on it, likewise
  std::vector<Sustained> sustained_;
  std::vector<std::uint64_t> limits_;
  std::vector<std::uint8_t> near_;  // by contact: its bodies may meet within the step
  std::vector<const Scheme*> scheme_of_body_;
  std::vector<double> speed_, spin_;  // by body, |v| and |w|
};

}  // namespace sarrus
