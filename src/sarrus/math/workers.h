// A team of threads that share the iterations of loops: the calling one, and count - 1 others that wait in between.
//
// Iterations go to whoever is free. They write to places of their own and do not ask who runs them, so that what a loop
// leaves has the same bits for any number of threads. A loop allocates nothing; one of a single piece, or of a team of
// one, is a plain loop of the caller. Loops are not nested and not called from several threads at once.
//
// An iteration that throws ends its loop: what was begun is finished, what comes after it is left out, and the caller
// gets the exception, of several that of the first iteration.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sarrus {

class Workers {
 public:
  // Throws InputError if the system has no room for so many threads.
  explicit Workers(int count = 1);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }

  // Who shares the loops of the step under way, in the thread that takes it: a team of one anywhere else, and within
  // iterations.
  static Workers& here();
  class Scope {
   public:
    explicit Scope(Workers* team);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workers* before_;
  };

  // f(i, worker) for i from 0 to n - 1, worker from 0 (the caller) to count() - 1: for memory of its own.
  template <class F>
  void each(int n, const F& f) {
    const int piece = threads_.empty() ? n : std::max(1, piece_of(n));
    run(n, piece, [&f](int begin, int end, int worker) {
      for (int i = begin; i < end; ++i) f(i, worker);
    });
  }

  // f(begin, end) for ranges of at least `least` that make up [0, n): fewer are not worth a thread.
  template <class F>
  void ranges(int n, int least, const F& f) {
    const int piece = threads_.empty() || n <= least ? n : std::max(least, piece_of(n));
    run(n, piece, [&f](int begin, int end, int /*worker*/) { f(begin, end); });
  }

 private:
  static constexpr int kPieces = 8;  // for each thread, where there are enough: threads do not start at the same time
  static constexpr int kMostPieces = (1 << 20) - 1;

  int piece_of(int n) const { return std::max(n / (kPieces * count()), (n + kMostPieces - 1) / kMostPieces); }

  using Call = void (*)(const void* f, int begin, int end, int worker);
  template <class F>
  void run(int n, int piece, const F& f) {
    if (n <= 0) return;
    if (threads_.empty() || n <= piece) {
      f(0, n, 0);
      return;
    }
    share(
        n, piece,
        [](const void* g, int begin, int end, int worker) { (*static_cast<const F*>(g))(begin, end, worker); }, &f);
  }
  void share(int n, int piece, Call call, const void* f);
  void take_pieces(int worker);
  void keep_exception(int piece);
  void wait_for_work(int worker);
  void end();

  // The loop under way. Pieces are claimed by counting up `state_`: number of the loop (24 bits), how many pieces it
  // has (20), how many are taken (20). Who has claimed one knows that `call_` and the others are of the same loop,
  // since the next one is not begun before all pieces are done.
  std::atomic<std::uint64_t> state_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> f_{nullptr};
  std::atomic<int> n_{0}, piece_{0};
  std::atomic<int> done_{0};
  std::atomic<int> thrown_{kMostPieces};  // the first piece that threw
  std::mutex exception_mutex_;
  std::exception_ptr exception_;  // its own
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace sarrus
