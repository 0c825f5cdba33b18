// Kernels over more than 2^31 values, by two blocks. All values but a few are zero, so that one
// wrong index shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/cuda/device_testing.h"
#include "core/codec/cuda/quantize/quantize.h"
#include "core/codec/cuda/vector/vector.h"
#ifndef TRIBUTARY_CUDA
#include <sys/mman.h>

#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/quantize/device_loops.h"
#endif

namespace tributary::TRIBUTARY_DEVICE {
namespace {

constexpr std::uint64_t kLargeValues = (std::uint64_t{1} << 31) + 33;
constexpr std::uint64_t kLargeBlock = 4096;

// Zeros in the memory of the device. On the emulated device they are pages that are never written.
class Zeros {
 public:
  static Result<Zeros> make(const Queue& queue) {
#ifdef TRIBUTARY_CUDA
    constexpr std::uint64_t kFirst = 1u << 20;
    TRIBUTARY_ASSIGN(void* const memory, allocate_bytes(kBytes));
    Zeros zeros(memory);
    const std::vector<char> first(kFirst);
    TRIBUTARY_TRY(copy_to_device(queue, first.data(), kFirst, memory));
    for (std::uint64_t done = kFirst; done < kBytes; done *= 2) {
      TRIBUTARY_TRY(copy_on_device(queue, memory, std::min(done, kBytes - done),
                                   static_cast<char*>(memory) + done));
    }
    TRIBUTARY_TRY(queue.wait());
    return zeros;
#else
    static_cast<void>(queue);
    void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) return Zeros(memory);
    return Status(StatusCode::resource_exhausted, {.what = "addresses"});
#endif
  }
  Zeros(Zeros&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Zeros& operator=(Zeros&&) = delete;
  ~Zeros() {
    if (memory_ == nullptr) return;
#ifdef TRIBUTARY_CUDA
    free_bytes(memory_);
#else
    munmap(memory_, kBytes);
#endif
  }
  float* data() const { return static_cast<float*>(memory_); }

 private:
  static constexpr std::uint64_t kBytes = kLargeValues * sizeof(float);
  explicit Zeros(void* memory) : memory_(memory) {}

  void* memory_;
};

class LargeVectors : public DeviceTest {
 protected:
  // The values that are not zero, by index.
  const std::vector<std::pair<std::uint64_t, float>> kPlanted = {{5, 1.0f},
                                                                 {(1u << 30) + 7, 2.0f},
                                                                 {(1u << 31) - 1, 3.0f},
                                                                 {1u << 31, 4.0f},
                                                                 {kLargeValues - 1, 5.0f}};

  Result<Zeros> planted() const {
    TRIBUTARY_ASSIGN(Zeros zeros, Zeros::make(narrow_queue()));
    for (const auto& [index, value] : kPlanted) {
      TRIBUTARY_TRY(copy_to_device(narrow_queue(), &value, sizeof(value), zeros.data() + index));
      TRIBUTARY_TRY(narrow_queue().wait());
    }
    return zeros;
  }
  // One number for each block of kLargeBlock values; those of planted blocks are `expected`.
  void expect_blocks(const DeviceArray<float>& found,
                     const std::vector<std::pair<std::uint64_t, float>>& expected) const {
    FloatVector all(found.size(), 0.0f);
    for (const auto& [index, value] : expected) all[index / kLargeBlock] = value;
    EXPECT_EQ(on_host(narrow_queue(), found), all);
  }
};

TEST_F(LargeVectors, AreReadToTheirLastValue) {
  auto made = planted();
  if (!made.ok()) GTEST_SKIP() << made.status().text();
  const float* const x = made->data();
  constexpr std::uint64_t kLargeBlocks = (kLargeValues + kLargeBlock - 1) / kLargeBlock;

  auto sums = zeros<double>(2);
  wait(narrow_queue(), sum_squares(narrow_queue(), x, kLargeValues, sums.data()));
  const auto squares = on_host(narrow_queue(), sums);
  EXPECT_EQ(squares[0] + squares[1], 55);

  auto scales = zeros<float>(kLargeBlocks);
  wait(narrow_queue(), find_scales(narrow_queue(), x, static_cast<std::uint32_t>(kLargeValues),
                                   {.block = kLargeBlock}, scales.data()));
  expect_blocks(scales,
                {{5, 1.0f}, {(1u << 30) + 7, 2.0f}, {(1u << 31) - 1, 3.0f}, {1u << 31, 5.0f}});
}

#ifndef TRIBUTARY_CUDA
// A device without memory for that many values refuses them before it reads or writes any.
// Reads no value, so unlike LargeVectors it takes no time.
class TooManyValues : public LargeVectors {};

TEST_F(TooManyValues, AreRefused) {
  auto all = Zeros::make(queue());
  if (!all.ok()) GTEST_SKIP() << all.status().text();
  set_memory_limit(1u << 20);
  const auto device = make_codec_device();
  const std::span<const float> values(all->data(), kLargeValues);
  const auto expect_refused = [](const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.text();
    EXPECT_NE(status.text().find("memory"), std::string::npos) << status.text();
  };
  expect_refused(device->vectors()->make(kLargeValues).status());
  expect_refused(device->vectors()->copy_of(values).status());
  expect_refused(
      device->quantize()->encode_words(quantize::SixteenBitFormat::half, values, nullptr).status());
  expect_refused(device->quantize()->find_scales({.block = kLargeBlock}, values, nullptr));
  set_memory_limit(std::numeric_limits<std::size_t>::max());
}
#endif

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
