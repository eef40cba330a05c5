// Counts the user-space instructions of this thread by the processor's own counter: a measure of work that does not
// depend on the load of the machine. Linux only, and only where the kernel permits it (containers often do not).
#pragma once

namespace sarrus {

class InstructionCounter {
 public:
  InstructionCounter();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  bool available() const { return descriptor_ >= 0; }
  void start();
  // Instructions since start(); 0 if not available.
  double stop();

 private:
  int descriptor_ = -1;
};

}  // namespace sarrus
