#include "sarrus/bench/instructions.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace sarrus {

InstructionCounter::InstructionCounter() {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  descriptor_ = static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

InstructionCounter::~InstructionCounter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InstructionCounter::start() {
  if (descriptor_ < 0) return;
  ::ioctl(descriptor_, PERF_EVENT_IOC_RESET, 0);
  ::ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0);
}

double InstructionCounter::stop() {
  if (descriptor_ < 0) return 0;
  ::ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0);
  std::uint64_t count = 0;
  if (::read(descriptor_, &count, sizeof count) != sizeof count) return 0;
  return static_cast<double>(count);
}

}  // namespace sarrus
