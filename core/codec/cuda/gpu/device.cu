#include <algorithm>
#include <string>
#include <vector>

#include "core/codec/cuda/gpu/errors.h"
#include "core/codec/cuda/launch.h"

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

std::string& pending_in(Stream stream) {
  const auto found = std::ranges::find(pending, stream, &Pending::stream);
  return found != pending.end() ? found->calls : pending.emplace_back(stream, "").calls;
}

void note(Stream stream, const char* call) {
  std::string& calls = pending_in(stream);
  if (calls.size() > kPendingBytesMax) return;
  if (!calls.empty()) calls += ", ";
  calls += call;
}

Status copied(const Queue& queue, cudaError_t error, const char* what) {
  note(queue.stream(), what);
  return status_of(error, "one of " + pending_in(queue.stream()));
}

// CUDA 12.6 is 12060.
std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

Status status_of(cudaError_t error, std::string what) {
  if (error == cudaSuccess) return {};
  const bool memory = error == cudaErrorMemoryAllocation;
  // The error has a reader now; without this a later call would return it once more.
  if (memory) static_cast<void>(cudaGetLastError());
  return Status(memory ? StatusCode::resource_exhausted : StatusCode::io_error,
                {.what = std::move(what),
                 .expected = "success",
                 .got = cudaGetErrorString(error),
                 .remedy = memory ? "use smaller buckets, or encode on the host"
                                  : "encode on the host; the bytes are the same"});
}

Status device_available() {
  int devices = 0;
  int device = 0;
  int major = 0;
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) error = cudaGetDevice(&device);
  if (error == cudaSuccess && devices > 0) {
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  }
  if (error == cudaSuccess && major >= 8) return {};
  std::string got = cudaGetErrorString(error);
  if (error == cudaSuccess) {
    got = devices == 0 ? "none" : "compute capability " + std::to_string(major);
  } else if (error == cudaErrorInsufficientDriver) {
    got = driver == 0 ? "no driver" : "a driver for CUDA " + version(driver);
  }
  return Status(StatusCode::unavailable,
                {.what = "GPU",
                 .expected = "a driver for CUDA " + version(CUDART_VERSION) +
                             ", and a GPU of compute capability 8.0 or newer",
                 .got = std::move(got),
                 .remedy = "encode on the host; the bytes are the same"});
}

Result<Queue> Queue::make(unsigned grid_blocks) {
  Stream stream = nullptr;
  TRIBUTARY_TRY(status_of(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"));
  return Queue(stream, grid_blocks);
}

// An earlier call has already reported any error that occurs here.
Queue::~Queue() {
  if (stream_ == nullptr) return;
  std::erase_if(pending, [this](const Pending& each) { return each.stream == stream_; });
  static_cast<void>(cudaStreamDestroy(stream_));
}

Status Queue::wait() const {
  const cudaError_t error = cudaStreamSynchronize(stream_);
  const std::string calls = std::exchange(pending_in(stream_), "");
  return status_of(error, "one of " + calls);
}

Status started(const char* kernel, Stream stream) {
  note(stream, kernel);
  return status_of(cudaGetLastError(), "one of " + pending_in(stream));
}

Result<void*> allocate_bytes(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes == 0) return memory;
  TRIBUTARY_TRY(status_of(cudaMalloc(&memory, bytes), "device memory"));
  return memory;
}

// An earlier call has already reported any error that occurs here.
void free_bytes(void* memory) { static_cast<void>(cudaFree(memory)); }

Status copy_to_device(const Queue& queue, const void* host, std::size_t bytes, void* device) {
  return copied(queue, cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, queue.stream()),
                "copy to the device");
}

Status copy_to_host(const Queue& queue, const void* device, std::size_t bytes, void* host) {
  return copied(queue, cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, queue.stream()),
                "copy from the device");
}

Status copy_on_device(const Queue& queue, const void* from, std::size_t bytes, void* to) {
  return copied(queue, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue.stream()),
                "copy on the device");
}

}  // namespace tributary::cuda
