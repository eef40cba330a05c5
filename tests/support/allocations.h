// Counts heap allocations and their bytes, whoever makes them: operator new, Eigen and the C library all end in malloc.
#pragma once

#include <functional>

namespace sarrus::test {

// Allocations during f(), of all threads.
long allocations_of(const std::function<void()>& f);

// Bytes that f() has allocated and not freed when it ends.
long bytes_held_by(const std::function<void()>& f);

// Runs f(), in which the n-th allocation fails. Not where sanitizers own malloc.
void with_failing_allocation(long n, const std::function<void()>& f);
bool can_fail_allocations();

template <class T>
void keep(const T& x) {  // the compiler may remove allocations that nobody looks at
  asm volatile("" : : "g"(&x) : "memory");
}

}  // namespace sarrus::test
