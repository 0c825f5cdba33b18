#include <cuda_runtime.h>

#include <string>

#include "core/codec/cuda/device.h"

namespace tributary::cuda {
namespace {

Status status_of(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  const bool memory = error == cudaErrorMemoryAllocation;
  return Status(memory ? StatusCode::resource_exhausted : StatusCode::io_error,
                {.what = what,
                 .expected = "success",
                 .got = cudaGetErrorString(error),
                 .remedy = memory ? "use smaller buckets, or encode on the CPU"
                                  : "encode on the CPU; the bytes are the same"});
}

}  // namespace

Status device_available() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return {};
  return Status(StatusCode::unavailable,
                {.what = "GPU",
                 .expected = "a CUDA device and its driver",
                 .got = error == cudaSuccess ? "none" : cudaGetErrorString(error),
                 .remedy = "encode on the CPU; the bytes are the same"});
}

Result<void*> allocate_bytes(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes == 0) return memory;
  TRIBUTARY_TRY(status_of(cudaMalloc(&memory, bytes), "device memory"));
  return memory;
}

// An earlier call has already reported any error that occurs here.
void free_bytes(void* memory) { static_cast<void>(cudaFree(memory)); }

Status copy_to_device(const void* host, std::size_t bytes, void* device, Stream stream) {
  return status_of(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream),
                   "copy to the device");
}

Status copy_to_host(const void* device, std::size_t bytes, void* host, Stream stream) {
  return status_of(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream),
                   "copy from the device");
}

Status copy_on_device(const void* from, std::size_t bytes, void* to, Stream stream) {
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream),
                   "copy on the device");
}

Status wait(Stream stream) {
  return status_of(cudaStreamSynchronize(stream), "work on the device");
}

}  // namespace tributary::cuda
