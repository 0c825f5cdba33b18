// The operations of a stream of the emulated device: copies and kernels that have started and are
// not complete.
//
// An operation is complete when Queue::wait() of its stream returns, and it may be complete
// earlier: a seed draws, at each operation that is added, whether the stream runs what waits in it.
// So a result that is read without a wait is missing in some runs, and host memory that changes
// under a copy spoils it in others. Operations of one stream run in their order; those of two
// streams have none. They run on the thread that adds or waits. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <mutex>

#include "core/base/status.h"
#include "core/codec/cuda/device.h"

struct CUstream_st {
 public:
  using Operation = std::function<tributary::Status()>;

  void add(Operation operation);
  // Runs what waits, and returns the first error since the last call. Operations after an error
  // are dropped: the device is in no defined state.
  tributary::Status finish();
  // Drops what waits.
  void clear();

 private:
  void run();

  std::mutex mutex_;
  std::deque<Operation> waiting_;
  tributary::Status error_;
};
