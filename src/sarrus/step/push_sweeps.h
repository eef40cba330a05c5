// Positions of bodies without joints that have sunk in, by sweeps over the contacts that move
// (docs/theory/integrators.md §12).
//
// The displacement of PushOut by Gauss-Seidel: with w = n.(1/m_A + 1/m_B) n + the same of the rotations, inertias a
// hundred times as large,
//   lambda_i := max(0, lambda_i - (J_i d - aim_i)/w_i),   d := M_s^-1 J' lambda
// from what masses shared among their deep contacts would do, so that a body on several points is lifted as it lies.
// Where few are too deep among bodies that rest on each other loosely, which is as a rule, it ends after a few sweeps
// over the few contacts that feel them; otherwise it says so, and PushOut solves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/rows/rows.h"

namespace sarrus {

class PushSweeps {
 public:
  // To be called before run(), when there are more contacts than ever.
  void take_memory(const Model& model, std::size_t contacts);
  // The masses of the model have changed (model/numbers.h).
  void read_again(const Model& model);
  // Fills `displacement` (by node; maximal coordinates) such that contact i opens by aim[i] or more, m; compliant ones
  // have no say. False, with nothing of use in it, if a body with joints would have to move, or if there is no answer
  // soon.
  bool run(const RowContext& at, std::span<const Contact> contacts, std::span<const double> aim, VecX& displacement);
  // By body, by the last run().
  std::span<const std::uint8_t> moved() const { return moved_; }

 private:
  struct Row {
    bool ready = false;
    double lambda = 0;
    double opens = 0;  // in the start
    double w_a = 0, w_b = 0;
    double inverse = 0;           // 1/w
    Vec3 turn_a, turn_b;          // (p - r) x n
    Vec3 response_a, response_b;  // of the angle to lambda
  };
  struct Move {
    Vec3 way = Vec3::Zero();   // m
    Vec3 turn = Vec3::Zero();  // rad
  };
  bool prepare(const RowContext& at, const Contact& contact, Row& row) const;
  bool start(const RowContext& at, std::span<const Contact> contacts, std::span<const double> aim);
  double opens(const Contact& contact, const Row& row) const;
  void push(const Contact& contact, Row& row, double lambda);

  std::vector<bool> jointed_;  // by body
  std::vector<double> inverse_mass_;
  std::vector<Mat3> inverse_inertia_B_;  // of M_s
  std::vector<Row> rows_;                // by contact
  std::vector<Move> moves_;              // by body
  std::vector<std::uint8_t> moved_;
  std::vector<int> deep_;  // contacts, by body
};

}  // namespace sarrus
