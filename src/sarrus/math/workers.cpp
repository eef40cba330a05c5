#include "sarrus/math/workers.h"

#include <system_error>
#include <utility>

#include "sarrus/math/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sarrus {
namespace {

constexpr int kSpins = 4000;  // some 0.1 ms: within a step the next loop comes sooner

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

constexpr std::uint64_t kMask = (1u << 20) - 1;
std::uint64_t taken(std::uint64_t state) { return state & kMask; }
std::uint64_t pieces(std::uint64_t state) { return state >> 20 & kMask; }
std::uint64_t loop(std::uint64_t state) { return state >> 40; }

thread_local Workers* team_here = nullptr;

}  // namespace

Workers& Workers::here() {
  if (team_here != nullptr) return *team_here;
  static Workers one;
  return one;
}

Workers::Scope::Scope(Workers* team) : before_(team_here) { team_here = team; }
Workers::Scope::~Scope() { team_here = before_; }

Workers::Workers(int count) {
  threads_.reserve(static_cast<std::size_t>(std::max(0, count - 1)));
  try {
    for (int i = 1; i < count; ++i) {
      threads_.emplace_back([this, i] { wait_for_work(i); });
    }
  } catch (const std::system_error&) {
    const std::size_t started = threads_.size();
    end();
    throw InputError("option 'threads'", "is " + std::to_string(count) + "; the system has room for " +
                                             std::to_string(started + 1) + " at the moment");
  } catch (...) {
    end();
    throw;
  }
}

Workers::~Workers() { end(); }

void Workers::end() {
  stop_ = true;
  state_ = (loop(state_) + 1) << 40;
  state_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Workers::share(int n, int piece, Call call, const void* f) {
  const int count = (n + piece - 1) / piece;
  call_.store(call, std::memory_order_relaxed);
  f_.store(f, std::memory_order_relaxed);
  n_.store(n, std::memory_order_relaxed);
  piece_.store(piece, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  thrown_.store(kMostPieces, std::memory_order_relaxed);
  state_.store((loop(state_.load(std::memory_order_relaxed)) + 1) << 40 | static_cast<std::uint64_t>(count) << 20);
  state_.notify_all();
  {
    const Scope alone(nullptr);
    take_pieces(0);
  }
  for (int spin = 0; done_.load(std::memory_order_acquire) < count; ++spin) {
    if (spin < kSpins) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

void Workers::keep_exception(int piece) {
  const std::lock_guard lock(exception_mutex_);
  if (piece >= thrown_.load(std::memory_order_relaxed)) return;
  thrown_.store(piece, std::memory_order_relaxed);
  exception_ = std::current_exception();
}

void Workers::take_pieces(int worker) {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  while (taken(state) < pieces(state)) {
    const Call call = call_.load(std::memory_order_relaxed);
    const void* f = f_.load(std::memory_order_relaxed);
    const int n = n_.load(std::memory_order_relaxed);
    const int piece = piece_.load(std::memory_order_relaxed);
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    const int claimed = static_cast<int>(taken(state));
    const int begin = claimed * piece;
    if (claimed < thrown_.load(std::memory_order_relaxed)) {
      try {
        call(f, begin, std::min(n, begin + piece), worker);
      } catch (...) {
        keep_exception(claimed);
      }
    }
    done_.fetch_add(1, std::memory_order_release);
    state = state_.load(std::memory_order_acquire);
  }
}

void Workers::wait_for_work(int worker) {
  while (!stop_.load(std::memory_order_acquire)) {
    take_pieces(worker);
    const std::uint64_t seen = state_.load(std::memory_order_acquire);
    if (taken(seen) < pieces(seen)) continue;
    int spin = 0;
    while (spin < kSpins && state_.load(std::memory_order_relaxed) == seen) {
      pause();
      ++spin;
    }
    if (spin == kSpins && !stop_.load(std::memory_order_acquire)) state_.wait(seen);
  }
}

}  // namespace sarrus
