// The functions of a device that host code uses, without CUDA's headers.
//
// The same sources make two devices. nvcc and the CUDA runtime make a GPU (namespace cuda, with
// TRIBUTARY_CUDA defined). A host compiler makes the emulated device (namespace emulated), which
// runs the same kernels on the CPU (emulated/grid.h). One program can have both.
//
// All functions are thread-safe. They work on the current device of the calling thread. Work in one
// queue runs in order. An operation may still be in progress when its function returns; its errors
// are returned by wait(). On the emulated device a seed draws when an operation takes place
// (emulated/stream.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/status.h"

#ifdef TRIBUTARY_CUDA
#define TRIBUTARY_DEVICE cuda
#else
#define TRIBUTARY_DEVICE emulated
#endif

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace tributary::TRIBUTARY_DEVICE {

#ifdef TRIBUTARY_CUDA
inline constexpr std::string_view kDeviceName = "cuda";
#else
inline constexpr std::string_view kDeviceName = "emulated";
#endif

using Stream = CUstream_st*;

// How a kernel is started.
struct LaunchShape {
  const char* kernel;  // its name in errors
  unsigned grid = 1;   // blocks
  unsigned threads = 32;
  Stream stream = nullptr;
};

// Returns an error with the reason if the device is not usable: no driver, no GPU, or one older
// than compute capability 8.0, whose kernels are not built.
Status device_available();

// The blocks of a grid that visits values in turns. They fill the largest GPUs, and each of them
// makes at most one atomic operation.
inline constexpr unsigned kGridBlocks = 1024;

// A stream of its own, and the size of the grids in it. Owns the stream; it can be moved but not
// copied. All work must be waited for before the queue is destroyed.
class Queue {
 public:
  // A smaller grid gives the same result; its blocks take more turns.
  static Result<Queue> make(unsigned grid_blocks = kGridBlocks);

  Queue(Queue&& other) noexcept
      : stream_(std::exchange(other.stream_, nullptr)), grid_blocks_(other.grid_blocks_) {}
  Queue& operator=(Queue&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(grid_blocks_, other.grid_blocks_);
    return *this;
  }
  ~Queue();

  Stream stream() const { return stream_; }
  unsigned grid_blocks() const { return grid_blocks_; }
  // Blocks until all work in the queue is done, and returns its error.
  Status wait() const;

 private:
  Queue(Stream stream, unsigned grid_blocks) : stream_(stream), grid_blocks_(grid_blocks) {}

  Stream stream_;
  unsigned grid_blocks_;
};

// The caller owns the memory and passes it to free_bytes(). Returns resource_exhausted if the
// device has too little memory. Memory is aligned to 256 bytes.
Result<void*> allocate_bytes(std::size_t bytes);
void free_bytes(void* memory);
// Number of allocations of this process on the device, those that failed included.
std::uint64_t allocations();
// Start a copy. The memory must stay valid until Queue::wait() has returned.
Status copy_to_device(const Queue& queue, const void* host, std::size_t bytes, void* device);
Status copy_to_host(const Queue& queue, const void* device, std::size_t bytes, void* host);
Status copy_on_device(const Queue& queue, const void* from, std::size_t bytes, void* to);

// An array in the memory of the device. The object owns the memory and frees it; it can be moved
// but not copied.
template <typename T>
class DeviceArray {
 public:
  static Result<DeviceArray> make(std::size_t count) {
    TRIBUTARY_ASSIGN(void* const memory, allocate_bytes(count * sizeof(T)));
    return DeviceArray(static_cast<T*>(memory), count);
  }
  static Result<DeviceArray> copy_of(const Queue& queue, std::span<const T> host) {
    TRIBUTARY_ASSIGN(DeviceArray array, make(host.size()));
    TRIBUTARY_TRY(copy_to_device(queue, host.data(), host.size_bytes(), array.data_));
    TRIBUTARY_TRY(queue.wait());
    return array;
  }
  // Copies the first host.size() values, after all earlier work in the queue.
  Status read(const Queue& queue, std::span<T> host) const {
    TRIBUTARY_TRY(copy_to_host(queue, data_, host.size_bytes(), host.data()));
    return queue.wait();
  }

  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceArray() { free_bytes(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  DeviceArray(T* data, std::size_t count) : data_(data), count_(count) {}

  T* data_;
  std::size_t count_;
};

}  // namespace tributary::TRIBUTARY_DEVICE
