// The functions of the CUDA runtime that host code uses, without CUDA's headers.
//
// All functions are thread-safe. They work on the current device of the calling thread. A Stream
// that is null is the default stream. An operation on a stream may still be in progress when its
// function returns; its errors are returned by wait().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/status.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace tributary::cuda {

using Stream = CUstream_st*;

// Returns an error with the reason if no GPU is usable: no driver or no device.
Status device_available();

// An array on the GPU. The object owns the memory and frees it; it can be moved but not copied.
template <typename T>
class DeviceArray;

// The caller owns the memory and passes it to free_bytes(). Returns an error if the GPU has too
// little memory.
Result<void*> allocate_bytes(std::size_t bytes);
void free_bytes(void* memory);
// Start a copy. The memory must stay valid until wait() has returned.
Status copy_to_device(const void* host, std::size_t bytes, void* device, Stream stream);
Status copy_to_host(const void* device, std::size_t bytes, void* host, Stream stream);
Status copy_on_device(const void* from, std::size_t bytes, void* to, Stream stream);
// Blocks until all work on the stream is done, and returns its error.
Status wait(Stream stream);

template <typename T>
class DeviceArray {
 public:
  static Result<DeviceArray> make(std::size_t count) {
    TRIBUTARY_ASSIGN(void* const memory, allocate_bytes(count * sizeof(T)));
    return DeviceArray(static_cast<T*>(memory), count);
  }
  static Result<DeviceArray> copy_of(std::span<const T> host) {
    TRIBUTARY_ASSIGN(DeviceArray array, make(host.size()));
    TRIBUTARY_TRY(copy_to_device(host.data(), host.size_bytes(), array.data_, nullptr));
    TRIBUTARY_TRY(wait(nullptr));
    return array;
  }
  Status read(std::span<T> host) const {
    TRIBUTARY_TRY(copy_to_host(data_, host.size_bytes(), host.data(), nullptr));
    return wait(nullptr);
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

}  // namespace tributary::cuda
