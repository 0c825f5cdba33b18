// What host code needs of the CUDA runtime, without its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/status.h"

struct CUstream_st;  // cudaStream_t points to one

namespace tributary::cuda {

using Stream = CUstream_st*;

// An error that says why no GPU can be used: no driver, no device.
Status device_available();

// Memory on the GPU, freed with its owner.
template <typename T>
class DeviceArray;

Result<void*> allocate_bytes(std::size_t bytes);
void free_bytes(void* memory);
Status copy_to_device(const void* host, std::size_t bytes, void* device, Stream stream);
Status copy_to_host(const void* device, std::size_t bytes, void* host, Stream stream);
Status copy_on_device(const void* from, std::size_t bytes, void* to, Stream stream);
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
