// What solvers do with the judge: refuse hopeless input, judge a candidate, keep the best one
// (docs/theory/solvers.md §1).
#pragma once

#include <algorithm>
#include <span>

#include "sarrus/solvers/solver.h"

namespace sarrus {

class IterateKeeper {
 public:
  explicit IterateKeeper(Law law) : law_(law) {}

  // True if nothing is left to do: no rows, or numbers that are not finite. The report is then complete.
  bool settle(const ConstraintProblem& p, std::span<const double> lambda, SolveReport& report) {
    report.residuals.finite = false;  // nothing judged yet
    const bool finite = p.v_free.allFinite() && p.u_free.allFinite();
    if (p.rows() > 0 && finite) return false;
    report.residuals = judge(p, lambda, workspace_);
    report.residuals.finite = report.residuals.finite && finite;
    report.status = report.residuals.finite ? SolveStatus::converged : SolveStatus::non_finite;
    return true;
  }

  // Judges the candidate and keeps it if it is the best so far. True if the tolerance is met.
  bool consider(const ConstraintProblem& p, const Goal& goal, std::span<const double> candidate, std::span<double> best,
                SolveReport& report) {
    last_ = judge(p, candidate, workspace_);
    if (!last_.finite) return false;
    if (!report.residuals.finite || last_.error(law_, goal.criterion) < report.residuals.error(law_, goal.criterion)) {
      report.residuals = last_;
      std::copy(candidate.begin(), candidate.end(), best.begin());
    }
    if (!meets(last_, law_, goal)) return false;
    report.status = SolveStatus::converged;
    return true;
  }

  Law law() const { return law_; }
  // Of the last candidate.
  const Residuals& last() const { return last_; }
  const JudgeWorkspace& workspace() const { return workspace_; }

 private:
  Law law_;
  Residuals last_;
  JudgeWorkspace workspace_;
};

inline std::span<const double> view(const GrowingVector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

}  // namespace sarrus
