// A fiber: a function with a stack of its own that runs until it yields. Emulated GPU threads are
// fibers, because a switch costs tens of nanoseconds.
//
// A fiber belongs to the thread that made it. It is resumed from that thread's own stack, never
// from another fiber. The sanitizers are informed about each switch. The thread sanitizer treats
// fibers as threads without an order among them. It has 256 slots for threads: with more fibers it
// takes some for ordered and misses races.
#pragma once

#include <cstddef>
#include <memory>

#include "core/base/status.h"

namespace tributary::emulated {

class Fiber {
 public:
  using Run = void (*)(void* argument);

  // `run` must not return. Returns resource_exhausted if there is no memory for the stack.
  static Result<std::unique_ptr<Fiber>> make(Run run, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the fiber until it calls yield().
  void resume();
  // Returns to the caller of resume(). Called by the fiber itself.
  void yield();
  // Gives up what the fiber was doing. Its next resume() begins `run` anew. Objects on its stack
  // are not destroyed.
  void restart();

 private:
  // The sanitizers' handles of this fiber and of its caller's stack.
  struct SanitizerState {
    void* fiber = nullptr;
    void* caller_fiber = nullptr;
    void* frames = nullptr;
    const void* caller_stack = nullptr;
    std::size_t caller_stack_bytes = 0;
  };

  Fiber(Run run, void* argument, std::byte* memory);
  [[noreturn]] static void enter();
  void prepare();

  Run run_;
  void* argument_;
  std::byte* memory_;       // a part without access, then the stack
  void* own_ = nullptr;     // stack pointer while another stack runs
  void* caller_ = nullptr;  // stack pointer of the caller of resume()
  SanitizerState sanitizer_;
};

}  // namespace tributary::emulated
