// Compares a device's bytes with those of the scalar specification. Built for the emulated device
// everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if the device is not
// available.
#include "core/codec/cuda/signs/signs.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/signs/sign_bits.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::kPatterns;
using codec_testing::Pattern;

class DeviceSigns : public DeviceTest {
 protected:
  template <typename T>
  static RawVector<T> read(const Workspace& space, const T* device, std::size_t count) {
    RawVector<T> host(count);
    EXPECT_TRUE(space.download(device, std::span(host)).ok());
    EXPECT_TRUE(space.wait().ok());
    return host;
  }

  // The body that the codec writes without a device, and its decoded values.
  struct Expected {
    Bytes body;
    FloatVector decoded;
  };
  static Expected specified(const Codec& codec, const FloatVector& update) {
    const StageCall call = {.round = {}, .execution = {.backend = Backend::scalar}};
    const auto n = static_cast<std::uint32_t>(update.size());
    Bytes payload;
    EXPECT_TRUE(codec.make_encoder(n)->encode(call, update, payload).ok());
    Expected expected = {.body = {}, .decoded = FloatVector(n)};
    const ByteSpan body = open_payload({}, payload)->body;
    expected.body.assign(body.begin(), body.end());
    EXPECT_TRUE(codec.decode(call, payload, expected.decoded).ok());
    return expected;
  }

  static std::uint32_t largest_of(const FloatVector& update) {
    std::uint32_t largest = 0;
    for (const float x : update) largest = std::max(largest, magnitude_bits(x));
    return largest;
  }

  void compare_scaled(const Codec& codec, WorthRule rule, std::uint32_t block,
                      const FloatVector& update) {
    const Expected expected = specified(codec, update);
    const auto n = static_cast<std::uint32_t>(update.size());
    const std::size_t blocks = (update.size() + block - 1) / block;
    const std::size_t bytes = signs::sign_bytes(n);
    for (const Queue* const queue : queues()) {
      Workspace space = this->space();
      const RawVector<std::uint32_t> none(1, 0);
      const auto x = space.upload(std::span(update));
      const auto worths = space.array<Worth>(blocks);
      const auto bits = space.array<std::uint8_t>((bytes + 15) / 16 * 16);
      const auto largest = space.upload(std::span(none));
      const auto back = space.array<float>(n);
      ASSERT_TRUE(space.wait().ok());
      wait(*queue, pack_scaled_signs(*queue, rule, block, *x, n, *worths, *bits, *largest));
      const auto found = read(space, *worths, blocks);
      Bytes body(blocks * sizeof(Worth));
      if (blocks > 0) std::memcpy(body.data(), found.data(), body.size());
      const Bytes made = read(space, *bits, bytes);
      body.insert(body.end(), made.begin(), made.end());
      ASSERT_EQ(body, expected.body);
      ASSERT_EQ(read(space, *largest, 1)[0], largest_of(update));
      wait(*queue, unpack_scaled_signs(*queue, block, *worths, *bits, n, *back));
      ASSERT_EQ(codec_testing::bits_of(read(space, *back, n)),
                codec_testing::bits_of(expected.decoded));
    }
  }

  void compare_signs(const FloatVector& update) {
    const Expected expected = specified(*codec_testing::codec_of("signsgd:scale=0.5"), update);
    const auto n = static_cast<std::uint32_t>(update.size());
    const std::size_t bytes = signs::sign_bytes(n);
    for (const Queue* const queue : queues()) {
      Workspace space = this->space();
      const RawVector<std::uint32_t> none(1, 0);
      const auto x = space.upload(std::span(update));
      const auto bits = space.array<std::uint8_t>((bytes + 15) / 16 * 16);
      const auto largest = space.upload(std::span(none));
      const auto back = space.array<float>(n);
      ASSERT_TRUE(space.wait().ok());
      wait(*queue, pack_signs(*queue, *x, n, *bits, *largest));
      ASSERT_EQ(read(space, *bits, bytes), expected.body);
      ASSERT_EQ(read(space, *largest, 1)[0], largest_of(update));
      wait(*queue, unpack_signs(*queue, *bits, 0.5f, n, *back));
      ASSERT_EQ(codec_testing::bits_of(read(space, *back, n)),
                codec_testing::bits_of(expected.decoded));
    }
  }

  template <typename Count>
  void compare_votes(Status (*loop)(const Queue&, const Count*, std::uint32_t, std::uint32_t, float,
                                    float*),
                     std::uint32_t voters) {
    const StreamKey key = stream_key({.purpose = DrawPurpose::synthetic_data});
    for (const std::uint32_t n : {0u, 1u, 31u, 33u, 5001u}) {
      RawVector<Count> counts(n);
      FloatVector expected(n);
      for (std::uint32_t i = 0; i < n; ++i) {
        counts[i] = static_cast<Count>(i % 3 == 0 ? voters / 2 : random_bits(key, i) % voters);
        const std::int64_t lead = std::int64_t{voters} - 2 * std::int64_t{counts[i]};
        expected[i] = lead > 0 ? 1.5f : lead < 0 ? -1.5f : 0.0f;
      }
      for (const Queue* const queue : queues()) {
        Workspace space = this->space();
        const auto in = space.upload(std::span(counts));
        const auto x = space.array<float>(n);
        ASSERT_TRUE(space.wait().ok());
        wait(*queue, loop(*queue, *in, n, voters, 1.5f, *x));
        ASSERT_EQ(codec_testing::bits_of(read(space, *x, n)), codec_testing::bits_of(expected));
      }
    }
  }
};

// The last size has several turns of the narrow queue.
TEST_F(DeviceSigns, BitsAreTheSpecifications) {
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : {0u, 1u, 31u, 33u, 128u, 4099u, 20'003u}) {
      SCOPED_TRACE(testing::Message() << size << " values, pattern " << static_cast<int>(pattern));
      compare_signs(codec_testing::update(pattern, size, 0));
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceSigns, MeansAreTheSpecifications) {
  const auto mean = codec_testing::codec_of("ef_signsgd:block=64");
  const auto means = codec_testing::codec_of("onebit:block=512");
  for (const Pattern pattern : kPatterns) {
    for (const std::size_t size : {0u, 1u, 15u, 17u, 64u, 65u, 700u, 9001u}) {
      SCOPED_TRACE(testing::Message() << size << " values, pattern " << static_cast<int>(pattern));
      const FloatVector update = codec_testing::update(pattern, size, 0);
      compare_scaled(*mean, WorthRule::mean_magnitude, 64, update);
      compare_scaled(*means, WorthRule::means_by_sign, 512, update);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceSigns, LargeBlocksAreAddedInTheSpecifiedOrder) {
  for (const Pattern pattern : {Pattern::lognormal, Pattern::spike}) {
    const FloatVector update = codec_testing::update(pattern, 150'001, 0);
    compare_scaled(*codec_testing::codec_of("onebit:block=65536"), WorthRule::means_by_sign, 65536,
                   update);
    compare_scaled(*codec_testing::codec_of("ef_signsgd"), WorthRule::mean_magnitude, 4096, update);
  }
}

TEST_F(DeviceSigns, VotesAreCounted) {
  compare_votes<std::uint8_t>(count_votes8, 254);
  compare_votes<std::uint16_t>(count_votes16, 65'534);
  compare_votes<std::uint32_t>(count_votes32, 1'000'001);
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
