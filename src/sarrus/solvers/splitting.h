// Projective splitting: block Gauss-Seidel over the constraints (docs/theory/solvers.md §2; Tsounis et al. Alg. 5).
//
//   for each block k:   sigma_k = v_f,k + J_k w + R_k lambda_k,     w = M^-1 J' lambda
//                       lambda_k <- (1 - omega) lambda_k + omega LOCAL(lambda_k, sigma_k),   w += M^-1 J_k' (change)
//
//   joint          LOCAL = lambda_k - (D_kk + R_k)^-1 sigma_k
//   soft, limit    row by row: LOCAL = clamp(lambda - sigma / D_ii)
//   contact        one of the steps of local_contact.h: all that the solvers of the family differ in
//
// sigma and w as sweep_rows.h keeps them. omega may shrink from sweep to sweep. The judge decides about convergence; a
// running natural map, measured block by block before each is updated, only says when judging is worth while. Whenever
// the judge is asked, w is renewed from lambda, which keeps rounding from piling up.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "sarrus/math/cones.h"
#include "sarrus/math/growing_vector.h"
#include "sarrus/solvers/iterate_keeper.h"
#include "sarrus/solvers/local_contact.h"
#include "sarrus/solvers/parameters.h"
#include "sarrus/solvers/sweep_rows.h"

namespace sarrus {

// Order of the blocks of a sweep: joints, soft rows, limits, contacts as they come; the same with every second sweep
// backwards; or contacts from the ground up. Heights are unknown here: contacts with one node touch the fixed world,
// and the others follow by their distance from those in the graph of contacts.
enum class SweepOrder : int { forward = 0, symmetric = 1, bottom_up = 2 };

struct SplittingParameters {
  int max_iterations = 1000;
  double omega0 = 1.0;       // first relaxation factor
  double omega_min = 0.1;    // smallest one
  double gamma_omega = 1.0;  // decay per sweep
  int order = 0;             // SweepOrder
};

template <class P>
ParameterList<P> splitting_parameter_list() {
  return {
      {"max_iterations", "limit of sweeps", 1, 1e9, &P::max_iterations},
      {"omega0", "first relaxation factor", 0.01, 1.99, &P::omega0},
      {"omega_min", "smallest relaxation factor", 0.001, 1.99, &P::omega_min},
      {"gamma_omega", "decay of the relaxation per sweep", 0.01, 1, &P::gamma_omega},
      {"order", "sweeps: 0 forward, 1 symmetric, 2 contacts from the ground up", 0, 2, &P::order},
  };
}

struct SweepFactors {
  double omega = 1;
  double row_step = 1;  // scales the steps of joints and scalar rows
  Law law = Law::ncp;   // of the running natural map
};

// What a sweep did.
struct SweepChange {
  double impulse = 0;  // largest |change of lambda|, N s
  double natural = 0;  // running natural map of (D_ii lambda, sigma), m/s
  double size = 0;     // largest |lambda|
  double energy = 0;   // change of f = lambda'(D + R) lambda / 2 + lambda'v_f, J
};

// The rows with what the laws need of each block; memory only grows. SweepBlock::local: of a joint the offset of its
// inverse, of soft rows and limits that of 1/D_ii, of a contact its index.
class SweepState : public SweepRows {
 public:
  // Sizes of lambda and w.
  void resize(const ConstraintProblem& problem);
  // `exact_joints`: (D_kk + R_k)^-1, else 1 / lambda_max(D_kk + R_k).
  void prepare(const ConstraintProblem& problem, SweepOrder order, bool exact_joints);

  template <class ContactStep>
  SweepChange sweep(const SweepFactors& factors, bool backward, const ContactStep& step);

  GrowingVector lambda;

 private:
  void prepare_block(SweepBlock& block, double mu, bool exact_joints);
  void sort_contacts(const ConstraintProblem& problem);

  // The mean (D + R)_ii of a contact or (D + R)_ii of a row: impulses times it are velocities.
  double weight(int row) const { return 1 / (problem_->scale[row] * problem_->scale[row]); }
  double velocity(const SweepBlock& b, int r) const { return SweepRows::velocity(b, r, lambda[b.row + r]); }
  void update_joint(const SweepBlock& b, const SweepFactors& f, SweepChange& out);
  void update_rows(const SweepBlock& b, const SweepFactors& f, SweepChange& out);
  template <class ContactStep>
  void update_contact(const SweepBlock& b, const SweepFactors& f, const ContactStep& step, SweepChange& out);
  void note(const SweepBlock& b, int r, double change, SweepChange& out);

  std::vector<SweepBlock> sorted_;
  std::vector<LocalContact> contacts_;
  std::vector<double> inverse_;
  std::vector<int> node_level_;
  std::vector<int> block_level_;
};

// The loop around the sweeps. A solver of the family says what a sweep is and, if it must, when to give up.
class SplittingSolver : public Solver {
 public:
  SplittingSolver(Law law, const SplittingParameters& parameters) : law_(law), common_(parameters), keeper_(law) {}

  SolveReport solve(const ConstraintProblem& problem, const Goal& goal, std::span<double> lambda) final;
  void reset() override {}

 protected:
  virtual void begin(const ConstraintProblem&) {}
  virtual SweepChange sweep(double omega, bool backward) = 0;
  // True ends the solve.
  virtual bool finished(const SweepChange&) { return false; }
  // Asked when lambda has stopped changing without being a solution. True: the sweeps are different from now on, go on.
  virtual bool recover() { return false; }
  virtual double next_omega(double omega) const {
    return std::max(std::min(common_.omega_min, common_.omega0), common_.gamma_omega * omega);
  }
  virtual bool exact_joints() const { return true; }

  Law law_;
  SplittingParameters common_;
  SweepState state_;

 private:
  bool consider(const ConstraintProblem& p, const Goal& goal, std::span<double> best, SolveReport& report,
                double& error);
  SolveStatus run(const ConstraintProblem& p, const Goal& goal, std::span<double> lambda, SolveReport& report);

  IterateKeeper keeper_;
};

// lambda <- P_K(lambda), block by block.
void project_on_cones(const ConstraintProblem& problem, std::span<double> lambda);

// --- hot loops -----------------------------------------------------------------------------------------

inline void SweepState::note(const SweepBlock& b, int r, double change, SweepChange& out) {
  out.impulse = std::max(out.impulse, std::abs(change));
  out.size = std::max(out.size, std::abs(lambda[b.row + r]));
}

template <class ContactStep>
void SweepState::update_contact(const SweepBlock& b, const SweepFactors& f, const ContactStep& step, SweepChange& out) {
  const LocalContact& c = contacts_[static_cast<std::size_t>(b.local)];
  const Vec3 old = lambda.segment<3>(b.row);
  const Vec3 v(velocity(b, 0), velocity(b, 1), velocity(b, 2));
  const double d = weight(b.row);
  out.natural = std::max(out.natural, natural_map(d * old, v, c.mu, f.law));
  Vec3 l = step(c, old, v);
  if (f.omega != 1) {
    l = (1 - f.omega) * old + f.omega * l;
    if (f.omega > 1) l = project_cone(l, c.mu);
  }
  const Vec3 change = l - old;
  lambda.segment<3>(b.row) = l;
  out.energy += change.dot(v + 0.5 * (c.G * change));
  for (int r = 0; r < 3; ++r) {
    note(b, r, change[r], out);
    if (change[r] != 0) add_impulse(b, r, change[r]);
  }
}

template <class ContactStep>
SweepChange SweepState::sweep(const SweepFactors& f, bool backward, const ContactStep& step) {
  SweepChange out;
  const std::size_t n = blocks.size();
  for (std::size_t i = 0; i < n; ++i) {
    const SweepBlock& b = blocks[backward ? n - 1 - i : i];
    switch (b.kind) {
      case BlockKind::joint:
        update_joint(b, f, out);
        break;
      case BlockKind::soft:
      case BlockKind::limit:
        update_rows(b, f, out);
        break;
      case BlockKind::contact:
        update_contact(b, f, step, out);
        break;
    }
  }
  return out;
}

}  // namespace sarrus
