// Values that stay on a device: codecs encode them there, and the host takes over where the device
// fails, with the same bytes and the same residual.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/cuda/vector/loops.h"
#include "core/codec/cuda/vector/vector.h"
#include "core/codec/error_feedback.h"
#include "core/update/norm.h"
#ifndef TRIBUTARY_CUDA
#include "core/codec/cuda/emulated/emulated_testing.h"
#endif

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::bits_of;
using codec_testing::Pattern;

class DeviceVectorKernels : public DeviceTest {};

TEST_F(DeviceVectorKernels, AddAndSubtractAsTheHostDoes) {
  for (const Queue* queue : queues()) {
    for (const std::size_t n : {1u, 31u, 33u, 1000u, 2051u}) {
      const FloatVector x = codec_testing::update(Pattern::normal, n, 0);
      const FloatVector y = codec_testing::update(Pattern::lognormal, n, 1);
      const auto on = on_device<float>(x);
      auto sum = on_device<float>(y);
      wait(*queue, add_weighted(*queue, on.data(), 0.75f, n, true, sum.data()));
      FloatVector expected = y;
      for (std::size_t i = 0; i < n; ++i) expected[i] += 0.75f * x[i];
      EXPECT_EQ(bits_of(on_host(*queue, sum)), bits_of(expected)) << n;

      wait(*queue, add_weighted(*queue, on.data(), -0.5f, n, false, sum.data()));
      for (std::size_t i = 0; i < n; ++i) expected[i] = -0.5f * x[i];
      EXPECT_EQ(bits_of(on_host(*queue, sum)), bits_of(expected)) << n;

      FloatVector decoded = y;
      decoded[n / 2] = x[n / 2];
      auto left = on_device<float>(decoded);
      wait(*queue, subtract_decoded(*queue, on.data(), n, left.data()));
      keep_residual(x, decoded, expected);
      EXPECT_EQ(bits_of(on_host(*queue, left)), bits_of(expected)) << n;
    }
  }
}

// Four values are loaded at once where both arrays are equally far from a multiple of 16 bytes. All
// values before and after those stay as they are.
TEST_F(DeviceVectorKernels, TakeArraysThatBeginAnywhere) {
  constexpr std::size_t kAll = 3000;
  const FloatVector x = codec_testing::update(Pattern::normal, kAll, 0);
  const FloatVector y = codec_testing::update(Pattern::lognormal, kAll, 1);
  const auto on = on_device<float>(x);
  for (const std::size_t n : {1u, 2u, 3u, 5u, 2047u}) {
    for (const std::size_t a : {0u, 1u, 2u, 3u}) {
      for (const std::size_t b : {0u, 1u, 3u}) {
        const Queue& queue = *queues()[(a + b) % queues().size()];
        FloatVector expected = y;
        auto sum = on_device<float>(y);
        wait(queue, add_weighted(queue, on.data() + a, 0.75f, n, true, sum.data() + b));
        for (std::size_t i = 0; i < n; ++i) expected[b + i] += 0.75f * x[a + i];
        EXPECT_EQ(bits_of(on_host(queue, sum)), bits_of(expected)) << n << ", " << a << ", " << b;

        wait(queue, subtract_decoded(queue, on.data() + a, n, sum.data() + b));
        const FloatVector decoded = expected;
        keep_residual(std::span(x).subspan(a, n), std::span(decoded).subspan(b, n),
                      std::span(expected).subspan(b, n));
        EXPECT_EQ(bits_of(on_host(queue, sum)), bits_of(expected)) << n << ", " << a << ", " << b;
      }
    }
  }
}

class VectorsOnDevice : public DeviceTest {
 protected:
  VectorsOnDevice() {
    device_->report_errors_to([this](const Status& error) { errors_.push_back(error); });
  }
#ifndef TRIBUTARY_CUDA
  ~VectorsOnDevice() override {
    set_memory_limit(std::numeric_limits<std::size_t>::max());
    set_device_lost(false);
    fail_operation(Operation::launch, 0);
  }
#endif

  std::shared_ptr<DeviceVector> vector_of(const FloatVector& values) {
    const auto array = on_device<float>(values);
    auto made = device_->vectors()->copy_of({array.data(), values.size()});
    EXPECT_TRUE(made.ok()) << made.status().text();
    return *made;
  }
  static FloatVector read(const DeviceVector& vector) {
    FloatVector values(vector.size());
    const Status status = vector.read(0, values);
    EXPECT_TRUE(status.ok()) << status.text();
    return values;
  }

  std::vector<Status> errors_;
  const std::unique_ptr<CodecDevice> device_ = make_codec_device();
};

TEST_F(VectorsOnDevice, AreCopiedAddedAndMeasured) {
  for (const std::size_t n : {1u, 31u, 33u, 5000u}) {
    const FloatVector x = codec_testing::update(Pattern::normal, n, 0);
    const FloatVector residual = codec_testing::update(Pattern::normal, n, 1);
    const auto vector = vector_of(x);
    const auto sum = vector->plus(residual, 3.0f);
    ASSERT_TRUE(sum.ok()) << sum.status().text();
    FloatVector expected = residual;
    for (std::size_t i = 0; i < n; ++i) expected[i] += 3.0f * x[i];
    EXPECT_EQ(bits_of(read(**sum)), bits_of(expected));
    EXPECT_EQ(bits_of(read(*vector)), bits_of(x)) << "it stays as it is";
    EXPECT_NEAR(*vector->norm(), norm_of(x), 1e-9 * norm_of(x));
  }
  FloatVector bad = codec_testing::update(Pattern::normal, 100, 0);
  bad[50] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(*vector_of(bad)->norm()));
}

TEST_F(VectorsOnDevice, FillTheirStandInOnce) {
  const FloatVector x = codec_testing::update(Pattern::normal, 3000, 0);
  const auto vector = vector_of(x);
  ASSERT_TRUE(vector->bring_to_host().ok());
  const std::span<float> stand_in = vector->stand_in();
  EXPECT_EQ(bits_of(stand_in), bits_of(x));
  stand_in[7] = 5;
  ASSERT_TRUE(vector->bring_to_host().ok());
  EXPECT_EQ(stand_in[7], 5);
}

// Kernels load 16 bytes at a time, and a bucket may begin at any value.
TEST_F(VectorsOnDevice, GiveKernelsAlignedAddresses) {
  const FloatVector x = codec_testing::update(Pattern::normal, 100, 0);
  Workspaces spaces;
  const auto vectors = make_device_vectors(spaces);
  const auto array = on_device<float>(x);
  auto vector = vectors->copy_of({array.data(), x.size()});
  ASSERT_TRUE(vector.ok());
  for (const std::size_t first : {0u, 1u, 3u, 4u}) {
    auto space = spaces.take();
    ASSERT_TRUE(space.ok());
    const std::span<const float> part = (*vector)->stand_in().subspan(first, 90);
    auto there = space->upload(part);
    ASSERT_TRUE(there.ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*there) % 16, 0u);
    FloatVector got(part.size());
    ASSERT_TRUE(space->download(*there, std::span(got)).ok());
    ASSERT_TRUE(space->wait().ok());
    EXPECT_EQ(bits_of(got), bits_of(std::span(x).subspan(first, 90)));
  }
}

class CodecsFromDevice : public VectorsOnDevice, public testing::WithParamInterface<std::string> {
 protected:
  struct Encoded {
    std::vector<Bytes> payloads;  // of all stages
    FloatVector left;
    bool on_host = false;  // the host has encoded
  };

  // Two buckets of `x`; the second begins at an odd value.
  static constexpr std::size_t kFirst = 1003;

  // Encodes all stages of the bucket and keeps its residual. One agent's payload is the combined
  // one if the codec has another stage.
  Encoded encode(DeviceVector* vector, std::span<const float> x, std::size_t first) {
    Encoded made;
    const std::size_t count = x.size() - first;
    const auto encoder = codec_->make_encoder(static_cast<std::uint32_t>(count));
    std::vector<ByteSpan> combined;
    const std::function<void()> before_host = [&] {
      made.on_host = true;
      EXPECT_TRUE(vector->bring_to_host().ok());
    };
    const auto values = vector != nullptr
                            ? std::span<const float>(vector->stand_in()).subspan(first)
                            : x.subspan(first);
    StageCall call{.round = {.bucket = 1},
                   .execution = {.backend = Backend::scalar,
                                 .device = vector != nullptr ? device_.get() : nullptr},
                   .before_host = vector != nullptr ? &before_host : nullptr};
    made.payloads.reserve(codec_->stages().size());
    for (std::size_t stage = 0; stage < codec_->stages().size(); ++stage) {
      call.combined = combined;
      Bytes payload;
      const Status status = encoder->encode(call, values, payload);
      EXPECT_TRUE(status.ok()) << status.text();
      made.payloads.push_back(std::move(payload));
      if (stage + 1 < codec_->stages().size()) combined.emplace_back(made.payloads.back());
    }
    made.left.resize(count);
    if (vector == nullptr || made.on_host) {
      call.before_host = nullptr;
      FloatVector decoded(count);
      EXPECT_TRUE(codec_->decode(call, made.payloads.back(), decoded).ok());
      keep_residual(x.subspan(first), decoded, made.left);
      return made;
    }
    auto decoded = device_->vectors()->make(count + 5);
    EXPECT_TRUE(decoded.ok());
    const std::function<void()> no_host = [] { ADD_FAILURE() << "the host decodes"; };
    call.before_host = &no_host;
    const Status status =
        codec_->decode(call, made.payloads.back(), (*decoded)->stand_in().first(count));
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_TRUE(vector->keep_residual(first, **decoded, made.left).ok());
    return made;
  }

  static void expect_equal(const Encoded& got, const Encoded& expected) {
    EXPECT_EQ(got.payloads, expected.payloads);
    EXPECT_EQ(bits_of(got.left), bits_of(expected.left));
  }

  const std::unique_ptr<Codec> codec_ = codec_testing::codec_of(GetParam());
};

// The stand-in can be neither read nor written here, so any use of it by the host ends the test.
TEST_P(CodecsFromDevice, GiveTheSameBytesWithoutTheHostsValues) {
  ASSERT_TRUE(encodes_from_device(*codec_));
  for (const Pattern pattern : {Pattern::normal, Pattern::lognormal}) {
    const FloatVector x = codec_testing::update(pattern, 5000, 0);
    for (const std::size_t first : {std::size_t{0}, kFirst}) {
      const auto vector = vector_of(x);
      const Encoded got = encode(vector.get(), x, first);
      EXPECT_FALSE(got.on_host);
      expect_equal(got, encode(nullptr, x, first));
      EXPECT_EQ(bits_of(read(*vector)), bits_of(x)) << "the input stays as it is";
    }
  }
  EXPECT_TRUE(errors_.empty()) << errors_[0].text();
}

TEST_P(CodecsFromDevice, NameABadValue) {
  if (codec_->carries_not_finite()) return;
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    FloatVector x = codec_testing::update(Pattern::normal, 500, 0);
    x[333] = bad;
    const auto vector = vector_of(x);
    const std::function<void()> before_host = [&] { EXPECT_TRUE(vector->bring_to_host().ok()); };
    Bytes payload;
    const Status status = codec_->make_encoder(500)->encode(
        {.round = {}, .execution = {.device = device_.get()}, .before_host = &before_host},
        vector->stand_in(), payload);
    EXPECT_EQ(status.code(), StatusCode::not_finite);
    EXPECT_NE(status.text().find("333"), std::string::npos) << status.text();
  }
}

#ifndef TRIBUTARY_CUDA
// Kernels write to the values for which the addresses stand, if these are aligned. Otherwise, and
// for host memory, they need an array, and a copy of it.
TEST_P(CodecsFromDevice, AreDecodedInPlace) {
  const FloatVector x = codec_testing::update(Pattern::normal, 1000, 0);
  const Encoded encoded = encode(nullptr, x, 0);
  StageCall call{.round = {.bucket = 1},
                 .execution = {.backend = Backend::scalar, .device = device_.get()}};
  const std::vector<ByteSpan> stages(encoded.payloads.begin(), encoded.payloads.end() - 1);
  call.combined = stages;
  const auto allocations_of = [&](std::span<float> to) {
    const std::uint64_t before = operations(Operation::allocation);
    EXPECT_TRUE(codec_->decode(call, encoded.payloads.back(), to).ok());
    return operations(Operation::allocation) - before;
  };
  FloatVector expected(x.size());
  const std::uint64_t on_host = allocations_of(expected);
  for (const std::size_t first : {0u, 1u, 4u}) {
    const auto vector = vector_of(FloatVector(x.size() + 8, 7.0f));
    const std::span<float> to = vector->stand_in().subspan(first, x.size());
    EXPECT_EQ(allocations_of(to), first % 4 == 0 ? on_host - 1 : on_host);
    FloatVector all(x.size() + 8, 7.0f);
    std::ranges::copy(expected, all.begin() + static_cast<std::ptrdiff_t>(first));
    EXPECT_EQ(bits_of(read(*vector)), bits_of(all)) << "from value " << first;
  }
}

TEST_P(CodecsFromDevice, UseTheHostIfACallFails) {
  const FloatVector x = codec_testing::update(Pattern::normal, 2000, 0);
  const auto vector = vector_of(x);
  fail_operation(Operation::launch, 1);
  const Encoded got = encode(vector.get(), x, kFirst);
  EXPECT_TRUE(got.on_host);
  EXPECT_EQ(errors_.size(), 1u);
  expect_equal(got, encode(nullptr, x, kFirst));
}

TEST_F(VectorsOnDevice, AreLostWithTheirDeviceAndSaySo) {
  const auto vector = vector_of(codec_testing::update(Pattern::normal, 2000, 0));
  set_device_lost(true);
  EXPECT_EQ(vector->bring_to_host().code(), StatusCode::io_error);
  EXPECT_EQ(vector->bring_to_host().code(), StatusCode::io_error) << "it remembers";
  vector->stand_in()[5] = 3;
  EXPECT_EQ(vector->stand_in()[5], 3) << "it is ordinary memory";
}
#endif

INSTANTIATE_TEST_SUITE_P(Families, CodecsFromDevice,
                         testing::Values("fp16", "bf16", "int8:block=64", "int8_shared", "qsgd",
                                         "thc:granularity=63,p=0.001", "threelc:s=1.75,block=256",
                                         "stoch3", "terngrad", "signsgd", "ef_signsgd",
                                         "onebit:block=256"),
                         codec_testing::test_name);

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
