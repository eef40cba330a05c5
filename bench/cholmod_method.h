// CHOLMOD (libsuitesparse-dev) for block_factor_bench. Its supernodal part is GPL: for comparison only, no part of the
// library links it.
#pragma once

#include <cholmod.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "factor_method.h"

namespace sarrus::bench {

class Cholmod : public Method {
 public:
  Cholmod(const SparseMatrix& H, bool supernodal) : lower_(H.triangularView<Eigen::Lower>()) {
    lower_.makeCompressed();
    cholmod_start(&common_);
    common_.supernodal = supernodal ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    common_.final_ll = 1;
    common_.print = 0;
    common_.nmethods = 1;
    common_.method[0].ordering = CHOLMOD_AMD;
    A_.nrow = A_.ncol = static_cast<std::size_t>(lower_.rows());
    A_.nzmax = static_cast<std::size_t>(lower_.nonZeros());
    A_.p = lower_.outerIndexPtr();
    A_.i = lower_.innerIndexPtr();
    A_.x = lower_.valuePtr();
    A_.stype = -1;
    A_.itype = CHOLMOD_INT;
    A_.xtype = CHOLMOD_REAL;
    A_.dtype = CHOLMOD_DOUBLE;
    A_.sorted = 1;
    A_.packed = 1;
    factor_ = cholmod_analyze(&A_, &common_);
    rhs_ = cholmod_zeros(A_.nrow, 1, CHOLMOD_REAL, &common_);
    if (factor_ == nullptr || rhs_ == nullptr) throw std::runtime_error("CHOLMOD cannot analyse H");
  }
  ~Cholmod() override {
    cholmod_free_dense(&x_, &common_);
    cholmod_free_dense(&y_, &common_);
    cholmod_free_dense(&e_, &common_);
    cholmod_free_dense(&rhs_, &common_);
    cholmod_free_factor(&factor_, &common_);
    cholmod_finish(&common_);
  }
  Cholmod(const Cholmod&) = delete;
  Cholmod& operator=(const Cholmod&) = delete;

  bool factor() override {
    cholmod_factorize(&A_, factor_, &common_);
    return common_.status == CHOLMOD_OK;
  }
  // The workspace is kept: cholmod_solve would allocate each time.
  void solve(VecX& b) override {
    std::copy(b.data(), b.data() + b.size(), static_cast<double*>(rhs_->x));
    cholmod_solve2(CHOLMOD_A, factor_, rhs_, nullptr, &x_, nullptr, &y_, &e_, &common_);
    const auto* x = static_cast<const double*>(x_->x);
    std::copy(x, x + b.size(), b.data());
  }

 private:
  SparseMatrix lower_;
  cholmod_common common_{};
  cholmod_sparse A_{};
  cholmod_factor* factor_ = nullptr;
  cholmod_dense* rhs_ = nullptr;
  cholmod_dense* x_ = nullptr;
  cholmod_dense* y_ = nullptr;
  cholmod_dense* e_ = nullptr;
};

inline std::unique_ptr<Method> make_cholmod(const SparseMatrix& H, bool supernodal) {
  return std::make_unique<Cholmod>(H, supernodal);
}

}  // namespace sarrus::bench
