#include "core/codec/cuda/vector/loops.h"

#include <sys/mman.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/cuda/arena.h"
#include "core/codec/cuda/vector/vector.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

Status no_addresses(std::size_t bytes) {
  return Status(StatusCode::resource_exhausted, {.what = "addresses for values on the device",
                                                 .expected = std::to_string(bytes) + " bytes",
                                                 .got = "too few",
                                                 .remedy = "encode on the host"});
}

// Reserved addresses, which take no memory until they are opened.
class Addresses {
 public:
  static Result<Addresses> reserve(std::size_t bytes) {
    if (bytes == 0) return Addresses(nullptr, 0);
    void* const memory =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return no_addresses(bytes);
    return Addresses(memory, bytes);
  }
  Addresses(Addresses&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  Addresses& operator=(Addresses&&) = delete;
  ~Addresses() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }

  // Makes them memory with zeros.
  Status open() const {
    if (memory_ == nullptr || mprotect(memory_, bytes_, PROT_READ | PROT_WRITE) == 0) return {};
    return no_addresses(bytes_);
  }
  void* memory() const { return memory_; }

 private:
  Addresses(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}

  void* memory_;
  std::size_t bytes_;
};

class Vector final : public DeviceVector {
 public:
  static Result<std::shared_ptr<Vector>> make(Workspaces& workspaces, std::size_t count) {
    TRIBUTARY_ASSIGN(Addresses addresses, Addresses::reserve(count * sizeof(float)));
    TRIBUTARY_ASSIGN(void* const memory, workspaces.vectors().take(count * sizeof(float)));
    return std::make_shared<Vector>(workspaces, std::move(addresses), memory, count);
  }
  Vector(Workspaces& workspaces, Addresses addresses, void* memory, std::size_t count)
      : workspaces_(workspaces), addresses_(std::move(addresses)), memory_(memory), count_(count) {
    if (count > 0) {
      workspaces_.stand_ins().add(addresses_.memory(), count * sizeof(float), memory);
    }
  }
  ~Vector() override {
    workspaces_.stand_ins().remove(addresses_.memory());
    workspaces_.vectors().give_back(memory_, count_ * sizeof(float));
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  std::size_t size() const override { return count_; }
  std::span<float> stand_in() override {
    return {static_cast<float*>(addresses_.memory()), count_};
  }

  // The stand-in no longer stands for the device's values, also after an error.
  Status bring_to_host() override {
    if (!host_copied_) {
      workspaces_.stand_ins().remove(addresses_.memory());
      host_copied_ = addresses_.open();
      if (host_copied_->ok()) host_copied_ = read(0, stand_in());
    }
    return *host_copied_;
  }

  Result<std::shared_ptr<DeviceVector>> plus(std::span<const float> residual,
                                             float weight) const override {
    TRIBUTARY_ASSIGN(std::shared_ptr<Vector> sum, make(workspaces_, count_));
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    if (!residual.empty()) TRIBUTARY_TRY(space.upload_to(residual, sum->data()));
    TRIBUTARY_TRY(
        add_weighted(space.queue(), data(), weight, count_, !residual.empty(), sum->data()));
    TRIBUTARY_TRY(space.wait());
    return std::shared_ptr<DeviceVector>(std::move(sum));
  }

  Result<double> norm() const override {
    std::vector<double> sums(kGridBlocks, 0.0);
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(auto* const found, space.upload(std::span<const double>(sums)));
    TRIBUTARY_TRY(sum_squares(space.queue(), data(), count_, found));
    TRIBUTARY_TRY(space.download(found, std::span(sums)));
    TRIBUTARY_TRY(space.wait());
    double all = 0;
    for (const double sum : sums) all += sum;
    return std::sqrt(all);
  }

  Status read(std::size_t first, std::span<float> values) const override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_TRY(space.download(data() + first, values));
    return space.wait();
  }

  Status write(std::size_t first, std::span<const float> values) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_TRY(space.upload_to(values, data() + first));
    return space.wait();
  }

  Status keep_residual(std::size_t first, DeviceVector& decoded,
                       std::span<float> residual) const override {
    auto& left = static_cast<Vector&>(decoded);
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_TRY(subtract_decoded(space.queue(), data() + first, residual.size(), left.data()));
    TRIBUTARY_TRY(space.download(left.data(), residual));
    return space.wait();
  }

  float* data() const { return static_cast<float*>(memory_); }

 private:
  Workspaces& workspaces_;
  const Addresses addresses_;
  void* const memory_;
  const std::size_t count_;
  std::optional<Status> host_copied_;  // the result of bring_to_host()
};

class Vectors final : public DeviceVectors {
 public:
  explicit Vectors(Workspaces& workspaces) : workspaces_(workspaces) {}

  Result<std::shared_ptr<DeviceVector>> make(std::size_t count) override {
    TRIBUTARY_ASSIGN(std::shared_ptr<Vector> vector, Vector::make(workspaces_, count));
    return std::shared_ptr<DeviceVector>(std::move(vector));
  }

  Result<std::shared_ptr<DeviceVector>> copy_of(std::span<const float> on_device) override {
    TRIBUTARY_ASSIGN(std::shared_ptr<Vector> vector, Vector::make(workspaces_, on_device.size()));
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_TRY(
        copy_on_device(space.queue(), on_device.data(), on_device.size_bytes(), vector->data()));
    TRIBUTARY_TRY(space.wait());
    return std::shared_ptr<DeviceVector>(std::move(vector));
  }

  Status read(std::span<const float> on_device, std::span<float> values) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_TRY(space.download(on_device.data(), values));
    return space.wait();
  }

 private:
  Workspaces& workspaces_;
};

}  // namespace

std::unique_ptr<DeviceVectors> make_device_vectors(Workspaces& workspaces) {
  return std::make_unique<Vectors>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
