// The queue and the memory of one call of a codec on a device. Later calls use them again.
//
// Not thread-safe: one call at a time. gpu/scratch.cc keeps its memory between calls, so that a job
// allocates nothing after its first round. emulated/scratch.cc allocates each array anew, with its
// exact size, so that a sanitizer finds overruns and a test can let any allocation fail.
#pragma once

#include <cstddef>
#include <memory>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

// Whether memory is kept for later calls.
bool keeps_memory();

class Scratch {
 public:
  static Result<std::unique_ptr<Scratch>> make();
  virtual ~Scratch() = default;

  const Queue& queue() const { return queue_; }

  // Memory of the device, not initialised, valid until reset(). Aligned to 256 bytes.
  virtual Result<void*> take(std::size_t bytes) = 0;
  // Starts a copy to the device. `host` may change when the function has returned.
  virtual Status upload(const void* host, std::size_t bytes, void* device) = 0;
  // Starts a copy to the host. `host` is written by the time wait() returns without an error.
  virtual Status download(const void* device, std::size_t bytes, void* host) = 0;
  // Blocks until all work in the queue is done, and returns its error.
  virtual Status wait() = 0;
  // Ends the call. Waits for unfinished work; downloads that wait() has not completed are dropped.
  virtual void reset() = 0;

 protected:
  explicit Scratch(Queue queue) : queue_(std::move(queue)) {}

  Queue queue_;
};

}  // namespace tributary::TRIBUTARY_DEVICE
