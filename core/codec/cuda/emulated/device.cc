#include "core/codec/cuda/device.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "core/codec/cuda/emulated/operations.h"
#include "core/codec/cuda/emulated/stream.h"

namespace tributary::emulated {
namespace {

constexpr std::size_t kAlignment = 256;

// Before each allocation stands its size, in a block of its own alignment.
std::atomic<std::size_t> bytes_in_use = 0;
std::atomic<std::size_t> bytes_max = std::numeric_limits<std::size_t>::max();
std::atomic<bool> device_lost = false;

struct OperationCount {
  std::atomic<std::uint64_t> begun = 0;
  std::atomic<std::uint64_t> fails = 0;  // the one that fails, counted from 1
};
OperationCount& operation_count(Operation operation) {
  static std::array<OperationCount, 3> counts;
  return counts[static_cast<std::size_t>(operation)];
}

Status lost_device() {
  return Status(StatusCode::io_error, {.what = "the emulated device",
                                       .expected = "success",
                                       .got = "a lost device",
                                       .remedy = "encode on the host; the bytes are the same"});
}

Status too_little_memory(std::size_t bytes) {
  return Status(StatusCode::resource_exhausted,
                {.what = "memory of the emulated device",
                 .expected = fmt::format("{} bytes", bytes),
                 .got = "too little",
                 .remedy = "use smaller buckets, or encode on the host"});
}

}  // namespace

Status device_available() { return {}; }

Result<Queue> Queue::make(unsigned grid_blocks) { return Queue(new CUstream_st, grid_blocks); }
Queue::~Queue() { delete stream_; }
Status Queue::wait() const {
  Status begun = begin_operation(Operation::wait);
  if (begun.ok()) return stream_->finish();
  stream_->clear();
  return begun;
}

Status begin_operation(Operation operation) {
  if (device_lost && operation != Operation::launch) return lost_device();
  OperationCount& count = operation_count(operation);
  return ++count.begun == count.fails ? lost_device() : Status();
}
std::uint64_t operations(Operation operation) { return operation_count(operation).begun; }
void fail_operation(Operation operation, std::uint64_t n) {
  OperationCount& count = operation_count(operation);
  count.fails = n == 0 ? 0 : count.begun + n;
}

void set_memory_limit(std::size_t bytes) { bytes_max = bytes; }
void set_device_lost(bool lost) { device_lost = lost; }

// The allocation has the exact size, so that the address sanitizer finds an overrun. Its content is
// that of uninitialised memory.
Result<void*> allocate_bytes(std::size_t bytes) {
  if (device_lost) return lost_device();
  if (bytes == 0) return nullptr;
  if (!begin_operation(Operation::allocation).ok()) return too_little_memory(bytes);
  const std::size_t used = bytes_in_use.fetch_add(bytes) + bytes;
  void* memory = nullptr;
  if (used > bytes_max || bytes > std::numeric_limits<std::size_t>::max() - kAlignment ||
      posix_memalign(&memory, kAlignment, bytes + kAlignment) != 0) {
    bytes_in_use -= bytes;
    return too_little_memory(bytes);
  }
  std::memcpy(memory, &bytes, sizeof(bytes));
  auto* const content = static_cast<unsigned char*>(memory) + kAlignment;
  std::memset(content, 0xcd, bytes);
  return content;
}

std::uint64_t allocations() { return operations(Operation::allocation); }

void free_bytes(void* memory) {
  if (memory == nullptr) return;
  auto* const block = static_cast<unsigned char*>(memory) - kAlignment;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof(bytes));
  bytes_in_use -= bytes;
  std::free(block);
}

Status copy_to_device(const Queue& queue, const void* host, std::size_t bytes, void* device) {
  if (bytes == 0) return {};
  queue.stream()->add([host, bytes, device] {
    std::memcpy(device, host, bytes);
    return Status();
  });
  return {};
}
Status copy_to_host(const Queue& queue, const void* device, std::size_t bytes, void* host) {
  return copy_to_device(queue, device, bytes, host);
}
Status copy_on_device(const Queue& queue, const void* from, std::size_t bytes, void* to) {
  return copy_to_device(queue, from, bytes, to);
}

}  // namespace tributary::emulated
