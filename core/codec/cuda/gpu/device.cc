#include "core/codec/cuda/device.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/cuda/gpu/errors.h"
#include "core/codec/cuda/gpu/kernels.h"

namespace tributary::cuda {
namespace {

// The calls of this thread whose errors may still appear, for each stream. An error of a kernel
// appears at a later call; its text names the calls it can come from.
struct Pending {
  Stream stream;
  std::string calls;
};
constexpr std::size_t kPendingBytesMax = 500;
thread_local std::vector<Pending> pending;

std::atomic<std::uint64_t> allocations_begun = 0;

std::string& pending_in(Stream stream) {
  const auto found = std::ranges::find(pending, stream, &Pending::stream);
  if (found != pending.end()) return found->calls;
  pending.push_back({stream, ""});
  return pending.back().calls;
}

void note(Stream stream, const char* call) {
  std::string& calls = pending_in(stream);
  if (calls.size() > kPendingBytesMax) return;
  if (!calls.empty()) calls += ", ";
  calls += call;
}

Status noted(Stream stream, DriverResult error, const char* call) {
  note(stream, call);
  return status_of(error, "one of " + pending_in(stream));
}

}  // namespace

Status status_of(DriverResult error, std::string what) {
  if (error == kSuccess) return {};
  const bool memory = error == kOutOfMemory;
  const Gpu* const gpu = gpu_in_use();
  return Status(
      memory ? StatusCode::resource_exhausted : StatusCode::io_error,
      {.what = std::move(what),
       .expected = "success",
       .got = gpu != nullptr ? error_text(gpu->driver, error) : "error " + std::to_string(error),
       .remedy = memory ? "use smaller buckets, or encode on the host"
                        : "encode on the host; the bytes are the same"});
}

Status device_available() {
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  return load_kernels(*gpu);
}

Result<Queue> Queue::make(unsigned grid_blocks) {
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  Stream stream = nullptr;
  TRIBUTARY_TRY(status_of(gpu->driver.make_stream(&stream, kStreamNonBlocking), "a stream"));
  return Queue(stream, grid_blocks);
}

// An earlier call has already reported any error that occurs here.
Queue::~Queue() {
  if (stream_ == nullptr) return;
  std::erase_if(pending, [this](const Pending& each) { return each.stream == stream_; });
  if (Result<const Gpu*> gpu = use_gpu(); gpu.ok()) {
    static_cast<void>((*gpu)->driver.destroy_stream(stream_));
  }
}

Status Queue::wait() const {
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  const DriverResult error = gpu->driver.wait_for_stream(stream_);
  const std::string calls = std::exchange(pending_in(stream_), "");
  return status_of(error, "one of " + calls);
}

Status start(const void* kernel, const LaunchShape& shape, void** arguments) {
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  TRIBUTARY_ASSIGN(CUfunc_st* const function, kernel_function(*gpu, kernel));
  return noted(shape.stream,
               gpu->driver.launch(function, shape.grid, 1, 1, shape.threads, 1, 1, 0, shape.stream,
                                  arguments, nullptr),
               shape.kernel);
}

std::uint64_t allocations() { return allocations_begun; }

Result<void*> allocate_bytes(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  ++allocations_begun;
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  DeviceAddress memory = 0;
  TRIBUTARY_TRY(status_of(gpu->driver.allocate(&memory, bytes), "device memory"));
  return std::bit_cast<void*>(static_cast<std::size_t>(memory));
}

// An earlier call has already reported any error that occurs here.
void free_bytes(void* memory) {
  if (memory == nullptr) return;
  if (Result<const Gpu*> gpu = use_gpu(); gpu.ok()) {
    static_cast<void>((*gpu)->driver.free(address_of(memory)));
  }
}

// The driver refuses a copy of no bytes to or from no address.
Status copy_to_device(const Queue& queue, const void* host, std::size_t bytes, void* device) {
  if (bytes == 0) return {};
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  return noted(queue.stream(),
               gpu->driver.copy_to_device(address_of(device), host, bytes, queue.stream()),
               "copy to the device");
}

Status copy_to_host(const Queue& queue, const void* device, std::size_t bytes, void* host) {
  if (bytes == 0) return {};
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  return noted(queue.stream(),
               gpu->driver.copy_to_host(host, address_of(device), bytes, queue.stream()),
               "copy from the device");
}

Status copy_on_device(const Queue& queue, const void* from, std::size_t bytes, void* to) {
  if (bytes == 0) return {};
  TRIBUTARY_ASSIGN(const Gpu* const gpu, use_gpu());
  return noted(queue.stream(),
               gpu->driver.copy_on_device(address_of(to), address_of(from), bytes, queue.stream()),
               "copy on the device");
}

}  // namespace tributary::cuda
