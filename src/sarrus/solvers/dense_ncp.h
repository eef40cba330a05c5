// A small contact problem with a dense matrix (docs/theory/newton.md §8):
//
//   sigma = S lambda + v,   lambda in K   perp   sigma + Gamma(sigma) in K*,   S symmetric, m x m
//
// Rows are scaled by q = S_ii^-1/2, those of a contact by the mean of their three diagonals; no less than a share of
// the diagonal of the row without joints, since a limit that joints hold anyway has S_ii of nearly nil.
//
// Semismooth Newton as in ssn.h, with the matrix of the rows that are neither open nor at a bound:
//   stick, inside   ((1 + N) S + delta) dlambda = -v^ - ((1 + N) S dlambda)_fixed     fixed: dlambda = -F
//   slip            rows in the basis e1, tau, e2, B = (1 + N) S + delta:
//                   r e1' B = -e1' F,   (1 - kappa) tau' + r kappa tau' B = -tau' F,   e2' = -e2' F
// by LU with row pivoting. Where a quick pass from the start does not converge, sweeps of exact local solutions find
// the active set, and Newton steps finish from there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/math/growing_vector.h"
#include "sarrus/solvers/local_contact.h"

namespace sarrus {

class DenseNcp {
 public:
  // A contact of three rows [t, o, n], or one row with bounds.
  struct Unit {
    bool contact = false;
    int row = 0;
    double mu = 0;
    double lower = 0, upper = 0;
    // The judge's scale p of the unit's rows and what their error is divided by: error = |natural map of (lambda / p,
    // p sigma)| / measure.
    double scale = 1, measure = 1;
  };

  // Begins a problem: S is zero, to be filled, and there are no units. At most `budget` Newton steps are taken for it.
  void clear(int rows, int budget);
  int rows() const { return rows_; }
  int stride() const { return stride_; }  // of the rows of S, a multiple of 4
  double* S() { return S_.data(); }
  std::vector<Unit>& units() { return units_; }
  // (D + R)_ii without joints, by row.
  GrowingVector& unconstrained() { return floor_; }
  // S and the units are filled.
  void equilibrate();

  // v -= S lambda
  void subtract_product(const GrowingVector& lambda, GrowingVector& v) const;
  // From lambda on; true if the error is at most `tolerance`. lambda is in K then, else as it was.
  bool solve(const GrowingVector& v, double tolerance, GrowingVector& lambda);

  int iterations() const { return iterations_; }  // Newton steps since clear()

 private:
  friend struct DenseNcpProbe;  // tests compare single steps with dense algebra

  enum class Zone : std::uint8_t { open, stick, slip };  // scalar rows: at the lower bound, between, at the upper
  struct Iterate {
    GrowingVector lambda, sigma, F;
    std::vector<Zone> zones;
    double norm = 0;  // |F|
  };
  struct Pass {
    double r, delta;
    int steps, patience;
    bool adaptive;
    double shrink;
  };
  static const Pass kQuick, kAdaptive, kLong;

  void multiply(const GrowingVector& x, GrowingVector& y) const;
  double row_times(int row, const GrowingVector& x) const;
  void classify(double r, Iterate& x) const;
  double error(const GrowingVector& lambda, const GrowingVector& sigma) const;
  bool offer(const Iterate& x, double error);
  bool direction(const Pass& pass, const Iterate& x);
  int collect(const Iterate& x);
  void set_scalar(const Pass& pass, const Iterate& x, const Unit& unit, int first, int n);
  void set_contact(const Pass& pass, const Iterate& x, const Unit& unit, Zone zone, int first, int n);
  void search(const Pass& pass, double reference);
  bool run(Pass pass);
  bool run_from(const GrowingVector& lambda, const Pass& pass);
  void sweep(int count);
  bool sweep_and_run();

  int rows_ = 0, stride_ = 0;
  std::vector<Unit> units_;
  GrowingVector S_, matrix_, floor_, q_;
  std::vector<int> active_;  // rows of the Newton matrix
  Iterate x_, trial_, best_trial_;
  std::vector<Zone> zones_;
  GrowingVector v_, start_, best_, answer_, projected_, product_, step_, S_step_, right_, swept_;
  std::vector<LocalContact> locals_;
  double tolerance_ = 0, best_error_ = 0, answer_error_ = 0;
  int iterations_ = 0, budget_ = 0;
};

}  // namespace sarrus
