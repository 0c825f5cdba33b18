#include "core/codec/cuda/emulated/stream.h"

#include <utility>

#include "core/codec/cuda/emulated/grid.h"

void CUstream_st::add(Operation operation) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(operation));
  if (tributary::emulated::draw_below(2) == 1) run();
}

tributary::Status CUstream_st::finish() {
  const std::lock_guard lock(mutex_);
  run();
  return std::exchange(error_, {});
}

void CUstream_st::clear() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  error_ = {};
}

void CUstream_st::run() {
  while (!waiting_.empty() && error_.ok()) {
    const Operation operation = std::move(waiting_.front());
    waiting_.pop_front();
    error_ = operation();
  }
  waiting_.clear();
}
