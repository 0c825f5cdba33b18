#include "core/codec/cuda/emulated/fiber.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

// The build defines TRIBUTARY_THREAD_SANITIZER, because this file is compiled without its checks.
#if defined(__SANITIZE_ADDRESS__)
#define TRIBUTARY_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRIBUTARY_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef TRIBUTARY_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#ifdef TRIBUTARY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the registers that a call preserves and the stack pointer (*save), and continues with those
// of `load`.
extern "C" void tributary_switch_stack(void** save, void* load);

// clang-format off
#if defined(__x86_64__)
asm(R"(
.text
.globl tributary_switch_stack
.hidden tributary_switch_stack
.type tributary_switch_stack, @function
tributary_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tributary_switch_stack, . - tributary_switch_stack
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl tributary_switch_stack
.hidden tributary_switch_stack
.type tributary_switch_stack, %function
tributary_switch_stack:
  stp x19, x20, [sp, #-160]!
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x19, x20, [sp], #160
  ret
.size tributary_switch_stack, . - tributary_switch_stack
)");
#else
#error "emulated GPU threads need a switch of stacks for this processor"
#endif
// clang-format on

namespace tributary::emulated {
namespace {

constexpr std::size_t kGuardBytes = 64 * 1024;  // a multiple of every page size in use
constexpr std::size_t kStackBytes = 128 * 1024;

// The fiber that begins to run. A new stack has no arguments.
thread_local Fiber* starting = nullptr;

}  // namespace

Result<std::unique_ptr<Fiber>> Fiber::make(Run run, void* argument) {
  void* const memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuardBytes, PROT_NONE) != 0) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "stack of an emulated GPU thread",
                   .expected = "memory for it",
                   .got = std::generic_category().message(errno),
                   .remedy = "encode on the host; the bytes are the same"});
  }
  return std::unique_ptr<Fiber>(new Fiber(run, argument, static_cast<std::byte*>(memory)));
}

Fiber::Fiber(Run run, void* argument, std::byte* memory)
    : run_(run), argument_(argument), memory_(memory) {
  prepare();
}

Fiber::~Fiber() {
#ifdef TRIBUTARY_THREAD_SANITIZER
  __tsan_destroy_fiber(sanitizer_.fiber);
#endif
#ifdef TRIBUTARY_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory_ + kGuardBytes, kStackBytes);
#endif
  munmap(memory_, kGuardBytes + kStackBytes);
}

// Writes what tributary_switch_stack() expects at the top of the stack.
void Fiber::prepare() {
  auto** top = reinterpret_cast<void**>(memory_ + kGuardBytes + kStackBytes);
  auto* const entry = reinterpret_cast<void*>(&Fiber::enter);
#if defined(__x86_64__)
  *--top = nullptr;  // aligns the stack as a call does
  *--top = entry;    // where `ret` goes
  for (int i = 0; i < 6; ++i) *--top = nullptr;
#else
  for (int i = 0; i < 20; ++i) *--top = nullptr;
  top[11] = entry;  // x30, where `ret` goes
#endif
  own_ = top;
  sanitizer_ = {};
#ifdef TRIBUTARY_THREAD_SANITIZER
  sanitizer_.fiber = __tsan_create_fiber(0);
#endif
}

void Fiber::restart() {
#ifdef TRIBUTARY_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory_ + kGuardBytes, kStackBytes);
#endif
#ifdef TRIBUTARY_THREAD_SANITIZER
  __tsan_destroy_fiber(sanitizer_.fiber);  // with its stack of calls
#endif
  prepare();
}

void Fiber::enter() {
  Fiber& self = *starting;
#ifdef TRIBUTARY_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(nullptr, &self.sanitizer_.caller_stack,
                                  &self.sanitizer_.caller_stack_bytes);
#endif
  self.run_(self.argument_);
  __builtin_unreachable();  // it does not return
}

void Fiber::resume() {
  starting = this;
#ifdef TRIBUTARY_ADDRESS_SANITIZER
  void* frames = nullptr;
  __sanitizer_start_switch_fiber(&frames, memory_ + kGuardBytes, kStackBytes);
#endif
#ifdef TRIBUTARY_THREAD_SANITIZER
  sanitizer_.caller_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitizer_.fiber, __tsan_switch_to_fiber_no_sync);
#endif
  tributary_switch_stack(&caller_, own_);
#ifdef TRIBUTARY_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(frames, nullptr, nullptr);
#endif
}

void Fiber::yield() {
#ifdef TRIBUTARY_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&sanitizer_.frames, sanitizer_.caller_stack,
                                 sanitizer_.caller_stack_bytes);
#endif
#ifdef TRIBUTARY_THREAD_SANITIZER
  __tsan_switch_to_fiber(sanitizer_.caller_fiber, __tsan_switch_to_fiber_no_sync);
#endif
  tributary_switch_stack(&own_, caller_);
#ifdef TRIBUTARY_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(sanitizer_.frames, &sanitizer_.caller_stack,
                                  &sanitizer_.caller_stack_bytes);
#endif
}

}  // namespace tributary::emulated
