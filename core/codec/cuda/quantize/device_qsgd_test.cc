// Compares a device's packed levels with those of the scalar specification. Built for the emulated
// device everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if the device is not
// available.
#include "core/codec/cuda/quantize/qsgd.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/kernels.h"
#include "core/codec/quantize/packed_levels.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;

class DevicePacked : public DeviceTest {
 protected:
  // Compares the payload's body and the decoded values, on a grid of the usual size, and on one
  // whose blocks take several turns.
  void compare(PackedFormat format, const FloatVector& update) {
    const auto codec = codec_testing::codec_of("qsgd:bits=" + std::to_string(format.bits) +
                                               ",block=" + std::to_string(format.block) +
                                               ",norm=" + (format.euclidean ? "l2" : "max"));
    const StageCall call = {.round = {.job_seed = 4, .round = 2, .bucket = 1, .agent = 3},
                            .execution = {.backend = Backend::scalar}};
    format.key = stream_key(
        {.job_seed = 4, .round = 2, .bucket = 1, .purpose = DrawPurpose::rounding, .agent = 3});
    const auto n = static_cast<std::uint32_t>(update.size());
    Bytes payload;
    ASSERT_TRUE(codec->make_encoder(n)->encode(call, update, payload).ok());
    const ByteSpan body = open_payload({}, payload)->body;
    FloatVector decoded(n);
    ASSERT_TRUE(codec->decode(call, payload, decoded).ok());
    compare_on(queue(), format, update, body, decoded);
    compare_on(narrow_queue(), format, update, body, decoded);
  }

 private:
  void compare_on(const Queue& queue, const PackedFormat& format, const FloatVector& update,
                  ByteSpan body, const FloatVector& decoded) {
    const auto n = static_cast<std::uint32_t>(update.size());
    const std::size_t blocks = (update.size() + format.block - 1) / format.block;
    const std::size_t bytes = quantize::packed_bytes(update.size(), format.bits);
    Workspace space = this->space();
    const RawVector<std::uint32_t> none(1, 0);
    const auto x = space.upload(std::span(update));
    const auto norms = space.array<float>(blocks);
    const auto packed = space.array<std::uint8_t>(
        quantize::packed_bytes((update.size() + 31) / 32 * 32, format.bits));
    const auto largest = space.upload(std::span(none));
    const auto back = space.array<float>(n);
    ASSERT_TRUE(space.wait().ok());

    wait(queue, find_norms(queue, *x, n, format, *norms, *largest));
    wait(queue, to_packed_levels(queue, *x, n, format, *norms, *packed));
    wait(queue, from_packed_levels(queue, *packed, n, format, *norms, *back));
    Bytes made(blocks * sizeof(float) + bytes);
    FloatVector values(n);
    RawVector<std::uint32_t> seen(1);
    ASSERT_TRUE(copy_to_host(queue, *norms, blocks * sizeof(float), made.data()).ok());
    ASSERT_TRUE(copy_to_host(queue, *packed, bytes, made.data() + blocks * sizeof(float)).ok());
    ASSERT_TRUE(copy_to_host(queue, *back, n * sizeof(float), values.data()).ok());
    ASSERT_TRUE(copy_to_host(queue, *largest, sizeof(std::uint32_t), seen.data()).ok());
    ASSERT_TRUE(queue.wait().ok());
    ASSERT_EQ(made, Bytes(body.begin(), body.end()));
    ASSERT_EQ(codec_testing::bits_of(values), codec_testing::bits_of(decoded));
    ASSERT_EQ(seen[0], quantize::scalar_kernels().largest_magnitude(update.data(), n));
  }
};

TEST_F(DevicePacked, BytesAreTheSpecifications) {
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : {0u, 1u, 7u, 31u, 33u, 64u, 65u, 1000u, 9001u}) {
      SCOPED_TRACE(testing::Message() << size << " values, pattern " << static_cast<int>(pattern));
      const FloatVector update = codec_testing::update(pattern, size, 0);
      compare({.block = 64, .bits = 3, .euclidean = true}, update);
      compare({.block = 512, .bits = 4, .euclidean = false}, update);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DevicePacked, EveryNumberOfBitsIsPacked) {
  const FloatVector update = codec_testing::update(Pattern::normal, 5003, 0);
  for (int bits = quantize::kPackedBitsMin; bits <= quantize::kPackedBitsMax; ++bits) {
    compare({.block = 256, .bits = bits, .euclidean = bits % 2 == 0}, update);
  }
}

TEST_F(DevicePacked, LargeBlocksAreAddedInTheSpecifiedOrder) {
  const FloatVector update = codec_testing::update(Pattern::lognormal, 70'001, 0);
  compare({.block = 65536, .bits = 8, .euclidean = true}, update);
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
