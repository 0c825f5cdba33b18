// Compares a device's bytes with those of the scalar specification. Built for the emulated device
// everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if the device is not
// available.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/cuda/thc/thc.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/families.h"
#include "core/codec/thc/packing.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::bits_of;
using codec_testing::kPatterns;
using codec_testing::Pattern;
using codec_testing::updates;

thc::Options options_of(const std::string& spec) {
  const Result<SpecText> text = split_spec(spec);
  EXPECT_TRUE(text.ok()) << text.status().text();
  const Result<Params> params = Params::make(*text, thc::families()[0].params);
  EXPECT_TRUE(params.ok()) << params.status().text();
  return thc::Options::from(*params);
}

template <typename T>
RawVector<T> array_of(ByteSpan bytes) {
  RawVector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// One round of the codec on the host.
struct HostRound {
  HostRound(const std::string& spec, const std::vector<FloatVector>& updates, std::uint32_t planned)
      : codec(codec_testing::codec_of(spec)),
        round(*codec, updates, planned),
        values(updates[0].size()) {}

  ByteSpan body(std::size_t stage, ByteSpan payload) const {
    const auto open = open_payload_of(*codec, stage, values, {}, payload);
    EXPECT_TRUE(open.ok()) << open.status().text();
    return open->body;
  }
  // The sum, or nothing if it exceeds the range of float32.
  std::optional<FloatVector> decoded(ByteSpan payload) {
    FloatVector sum(values);
    if (!codec->decode(round.call(1), payload, sum).ok()) return std::nullopt;
    return sum;
  }

  const std::unique_ptr<Codec> codec;
  codec_testing::Round round;
  const std::size_t values;
};

class DeviceThc : public DeviceTest, public testing::WithParamInterface<std::string> {
 protected:
  static constexpr std::uint32_t kAgent = 1;

  // The arguments of the kernels for the bucket of a round.
  struct Bucket {
    thc::Options options;
    ThcBlocks blocks;
    FloatVector norms;
    thc::FieldPlan plan;
  };
  Bucket bucket_of(HostRound& host, std::uint32_t planned) const {
    const thc::Options options = options_of(GetParam());
    const RoundContext round = host.round.call(0).round;
    const StreamKey signs = stream_key({.job_seed = round.job_seed,
                                        .round = round.round,
                                        .bucket = round.bucket,
                                        .purpose = DrawPurpose::hadamard_sign});
    FloatVector norms = array_of<float>(host.body(0, host.round.combined(0)));
    auto plan = thc::FieldPlan::make(options, planned, host.values, norms);
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    return {options,
            ThcBlocks::of({.block = options.block,
                           .rotated = options.rotated,
                           .minmax = options.minmax,
                           .signs = signs},
                          host.values),
            std::move(norms), std::move(*plan)};
  }

  // The fields' arguments, with the arrays that they point to.
  struct Uploaded {
    DeviceArray<ThcRun> runs;
    DeviceArray<std::uint8_t> run_of_block;
    DeviceArray<std::uint32_t> begin_of_block;
    bool rated;

    ThcFields fields() const {
      return {runs.data(), rated ? run_of_block.data() : nullptr, begin_of_block.data()};
    }
  };
  template <typename BitsOf>
  Uploaded upload(const Bucket& bucket, const BitsOf& bits) const {
    const thc::FieldPlan& plan = bucket.plan;
    const std::vector<std::size_t> starts = plan.starts(bits);
    std::vector<ThcRun> runs;
    for (std::size_t i = 0; i < plan.runs().size(); ++i) {
      const thc::Levels& levels = *plan.runs()[i].levels;
      runs.push_back(ThcRun::of(bucket.blocks, levels, bits(levels), starts[i]));
    }
    return {on_device<ThcRun>(runs), on_device(plan.run_of_block()),
            on_device(plan.begin_of_block()), !plan.run_of_block().empty()};
  }

  void compare(const Queue& queue, const std::vector<FloatVector>& all,
               std::uint32_t planned) const {
    HostRound host(GetParam(), all, planned);
    const Bucket bucket = bucket_of(host, planned);
    compare_ranges(queue, bucket, host, all[kAgent]);
    compare_levels(queue, bucket, host, all[kAgent], planned);
    compare_decoded(queue, bucket, host, host.round.payload(1, kAgent));
    compare_decoded(queue, bucket, host, host.round.combined(1));
  }

  void compare_ranges(const Queue& queue, const Bucket& bucket, const HostRound& host,
                      const FloatVector& update) const {
    const auto expected = array_of<float>(host.body(0, host.round.payload(0, kAgent)));
    const auto x = on_device<float>(update);
    auto scratch = zeros<float>(bucket.blocks.coordinates());
    auto numbers = zeros<float>(expected.size());
    auto not_finite = zeros<std::uint32_t>(1);
    const Status found =
        bucket.options.minmax
            ? find_extents(queue, x.data(), bucket.blocks, scratch.data(), numbers.data(),
                           not_finite.data())
            : find_norms(queue, x.data(), bucket.blocks, numbers.data(), not_finite.data());
    ASSERT_TRUE(found.ok()) << found.text();
    ASSERT_EQ(bits_of(on_host(queue, numbers)), bits_of(expected));
    ASSERT_EQ(on_host(queue, not_finite)[0], 0u);
  }

  void compare_levels(const Queue& queue, const Bucket& bucket, HostRound& host,
                      const FloatVector& update, std::uint32_t planned) const {
    const RoundContext round = host.round.call(1, kAgent).round;
    const bool correlated = bucket.options.correlated;
    const StreamKey key = stream_key({.job_seed = round.job_seed,
                                      .round = round.round,
                                      .bucket = round.bucket,
                                      .purpose = DrawPurpose::rounding,
                                      .agent = correlated ? kSharedDraw : kAgent});
    const thc::Rounding rounding =
        correlated ? thc::correlated_rounding(key, kAgent, planned) : thc::Rounding{.key = key};
    const auto expected = array_of<std::uint8_t>(
        host.body(1, host.round.payload(1, kAgent)).subspan(thc::kStampBytes));
    const Uploaded places = upload(bucket, [](const thc::Levels& levels) { return levels.bits; });
    const auto x = on_device<float>(update);
    const auto numbers = on_device<float>(bucket.norms);
    auto scratch = zeros<float>(bucket.blocks.coordinates());
    auto out = zeros<std::uint8_t>(expected.size());
    const Status encoded = encode_levels(queue, x.data(), bucket.blocks, numbers.data(),
                                         places.fields(), rounding, scratch.data(), out.data());
    ASSERT_TRUE(encoded.ok()) << encoded.text();
    ASSERT_EQ(on_host(queue, out), expected);
  }

  void compare_decoded(const Queue& queue, const Bucket& bucket, HostRound& host,
                       const Bytes& payload) const {
    const auto open = open_payload_of(*host.codec, 1, host.values, {}, payload);
    ASSERT_TRUE(open.ok()) << open.status().text();
    const auto fields = thc::open_fields(*open, bucket.plan);
    ASSERT_TRUE(fields.ok()) << fields.status().text();
    FloatVector values(host.values);
    const ThcFlags flags = decode(queue, bucket, *fields, values);
    const std::optional<FloatVector> expected = host.decoded(payload);
    ASSERT_EQ(flags.too_large, 0u);
    ASSERT_EQ(flags.not_finite == 0, expected.has_value());
    if (expected) {
      ASSERT_EQ(bits_of(values), bits_of(*expected));
    }
  }

  ThcFlags decode(const Queue& queue, const Bucket& bucket, const thc::Fields& fields,
                  FloatVector& values) const {
    const Uploaded places =
        upload(bucket, [&](const thc::Levels& levels) { return fields.bits_of(levels); });
    const auto in = on_device<std::uint8_t>(ByteSpan(fields.data, fields.starts.back()));
    const auto numbers = on_device<float>(bucket.norms);
    auto scratch = zeros<float>(bucket.blocks.coordinates());
    auto x = zeros<float>(values.size());
    auto flags = zeros<ThcFlags>(1);
    const Status status =
        decode_fields(queue, in.data(), bucket.blocks, numbers.data(), places.fields(),
                      {.sums = fields.sums, .contributors = fields.contributors}, scratch.data(),
                      x.data(), flags.data());
    EXPECT_TRUE(status.ok()) << status.text();
    values = on_host(queue, x);
    return on_host(queue, flags)[0];
  }
};

// Sizes around those of units, blocks and tiles; the tails have blocks of many sizes.
TEST_P(DeviceThc, GivesTheBytesOfTheSpecification) {
  for (const std::size_t values : {0u, 1u, 31u, 33u, 64u, 65u, 4032u, 4097u, 9001u}) {
    SCOPED_TRACE(values);
    compare(queue(), updates(Pattern::normal, values, 3), 3);
    if (HasFatalFailure()) return;
  }
}

TEST_P(DeviceThc, GivesTheBytesForEveryPattern) {
  for (const Pattern pattern : kPatterns) {
    SCOPED_TRACE(static_cast<int>(pattern));
    compare(queue(), updates(pattern, 5003, 2), 2);
    if (HasFatalFailure()) return;
  }
}

// Three groups of tiles, the last one a tail; the planned sums need more bits than two agents use.
TEST_P(DeviceThc, GivesTheSameBytesInSeveralTurns) {
  compare(narrow_queue(), updates(Pattern::lognormal, 2 * 65536 + 49999, 2), 20);
}

INSTANTIATE_TEST_SUITE_P(
    Options, DeviceThc,
    testing::Values("thc:granularity=63,p=0.001", "thc:bits=1,granularity=1,p=0.01,block=64",
                    "thc:bits=2,granularity=7,p=0.01,block=128,rounding=independent",
                    "thc:bits=3,granularity=20,p=0.01,block=512",
                    "thc:bits=8,granularity=1023,p=0.01,block=1024",
                    "thc:bits=5,granularity=40,p=0.01,block=8192",
                    "thc:granularity=63,p=0.001,block=65536,down=16",
                    "thc:bits=6,granularity=90,p=0.01,block=256,rotation=off",
                    "thc:granularity=30,p=0.01,block=65536,rotation=off,range=minmax",
                    "thc:bits=7,levels=uniform,block=2048,range=minmax",
                    "thc:granularity=63,p=0.01,block=16384,range=minmax", "thc:rate=2.5",
                    "thc:rate=0.5,block=8192"),
    codec_testing::test_name);

class DeviceThcChecks : public DeviceThc {};

TEST_P(DeviceThcChecks, SeeNotFiniteValues) {
  FloatVector update = codec_testing::update(Pattern::normal, 9000, 0);
  update[8999] = std::bit_cast<float>(kInfinityBits);
  const thc::Options options = options_of(GetParam());
  const ThcBlocks blocks =
      ThcBlocks::of({.block = options.block, .minmax = options.minmax}, update.size());
  const auto x = on_device<float>(update);
  auto scratch = zeros<float>(blocks.coordinates());
  auto numbers = zeros<float>(2 * std::size_t{blocks.blocks()});
  auto flag = zeros<std::uint32_t>(1);
  ASSERT_TRUE((options.minmax ? find_extents(queue(), x.data(), blocks, scratch.data(),
                                             numbers.data(), flag.data())
                              : find_norms(queue(), x.data(), blocks, numbers.data(), flag.data()))
                  .ok());
  EXPECT_NE(on_host(queue(), flag)[0], 0u);
}

// The sums have 8 bits, of which 3 contributors can only produce 189.
TEST_P(DeviceThcChecks, SeeSumsThatAreTooLarge) {
  const auto all = updates(Pattern::normal, 9000, 3);
  HostRound host(GetParam(), all, 3);
  const Bucket bucket = bucket_of(host, 3);
  const auto open = open_payload_of(*host.codec, 1, host.values, {}, host.round.combined(1));
  ASSERT_TRUE(open.ok()) << open.status().text();
  thc::Fields fields = std::move(*thc::open_fields(*open, bucket.plan));
  RawVector<std::uint8_t> changed(fields.data, fields.data + fields.starts.back());
  fields.data = changed.data();
  FloatVector values(host.values);
  EXPECT_EQ(decode(queue(), bucket, fields, values).too_large, 0u);
  changed[5000] = 190;
  EXPECT_NE(decode(queue(), bucket, fields, values).too_large, 0u);
}

INSTANTIATE_TEST_SUITE_P(Options, DeviceThcChecks,
                         testing::Values("thc:granularity=63,p=0.001",
                                         "thc:granularity=63,p=0.001,block=8192,range=minmax"),
                         codec_testing::test_name);

// A bucket with every kind of tail: the kernels' division is that of the specification.
TEST(DeviceThcBlocks, AreThoseOfTheLayout) {
  for (const std::uint32_t block : {64u, 256u, 4096u, 65536u}) {
    for (const std::size_t values : {1u, 64u, 4095u, 4096u, 65535u, 70000u, 200001u}) {
      const ThcBlocks blocks = ThcBlocks::of({.block = block}, values);
      const thc::BlockLayout layout(values, block);
      EXPECT_EQ(blocks.blocks(), layout.blocks()) << block << " " << values;
      EXPECT_EQ(blocks.coordinates(), layout.coordinates()) << block << " " << values;
    }
  }
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
