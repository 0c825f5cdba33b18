// The bytes of every codec, as hashes. A change of them changes the meaning of stored payloads, and
// agents on different machines would no longer agree. The inputs do not depend on a mathematics
// library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "core/base/bytes/checksum.h"
#include "core/codec/codec_testing.h"
#include "core/codec/cuda/codec_device.h"

namespace tributary {
namespace {

using codec_testing::Round;
using codec_testing::Trace;

// Stands for a hash if a compression library determines the bytes. Another version of the library
// produces other bytes.
constexpr std::uint64_t kFromALibrary = 0;

struct Golden {
  std::string_view spec;
  std::uint64_t payloads;  // all agents and the aggregator, every stage of one round
  std::uint64_t results;   // decoded sums and residuals of three rounds with error feedback
};

constexpr Golden kGolden[] = {
    {"fp32", 0xd2d521b894b04e18, 0x19ab0a8a2b1da60a},
    {"fp16", 0xa575ef597c0cf4e6, 0xf4dab757cd8c7803},
    {"bf16", 0xe996dab027b81e49, 0x6072a05bf478aeff},
    {"int8", 0x28f4d7d098c23a9d, 0x06d9668da159c807},
    {"int8_shared", 0x5babd20194849969, 0x867b33a74c9c7a44},
    {"qsgd", 0xabab214f8e3782fd, 0x7b000b37f19c0117},
    {"signsgd", 0x2dea57429eae0890, 0xac8d84499853cb26},
    {"ef_signsgd", 0xb8e9216ad407696e, 0xb9450271f81092cf},
    {"onebit", 0xd5c194e1a92fb28d, 0x538316ba32d4e4d5},
    {"threelc", 0xeb69db8ae910a3ce, 0xa5c051d1f5aa11c2},
    {"stoch3", 0x60259e94de9aeb96, 0x8a400184a2a91a5f},
    {"terngrad", 0x612b31248a11a932, 0x22c814da961b69aa},
    {"thc", 0xfae56499a688f5d5, 0x8851c638de66478c},
    {"topk", 0x1fcd7cf846fda606, 0x3be9b499e799c4b3},
    {"mstopk", 0x94a9126f4957d258, 0x3be9b499e799c4b3},
    {"dgc", 0x563062c7f7ccdfb4, 0x0ce464f23764ede2},
    {"threshold", 0xfa77f60d29b90417, 0x9676d621d36108e3},
    {"randk", 0x4f4804d927c21890, 0x5124e5624f0e94ff},
    {"star_topk", 0x1ad32675d687f58d, 0xc46d42f8e21a8235},
    {"var_topk", 0x30205e6b7a825e07, 0xf9beb9608423812a},
    {"powersgd", 0x15aeaf16ad7a595a, 0x113686d1a8df2c67},
    {"gcomp", 0xc348d261e5439eee, 0x77f13b0b9d1a8c43},
    {"zstd", kFromALibrary, 0x19ab0a8a2b1da60a},
    {"zlib", kFromALibrary, 0x19ab0a8a2b1da60a},
};

constexpr std::uint32_t kAgents = 3;
constexpr std::size_t kValues = 10'000;

// Integers times powers of two, some zeros, and occasionally a large value.
FloatVector update(std::uint32_t agent) {
  FloatVector out(kValues);
  for (std::size_t i = 0; i < kValues; ++i) {
    const std::uint32_t bits = random_bits({11, agent}, static_cast<std::uint32_t>(i));
    const auto whole = static_cast<float>(static_cast<int>(bits % 2001) - 1000);
    const auto steps = static_cast<float>(1u << (bits >> 27));
    out[i] = (bits >> 20) % 16 == 0 ? 0.0f : whole * 0x1p-20f * std::min(steps, 0x1p12f);
  }
  return out;
}

std::vector<FloatVector> updates() {
  std::vector<FloatVector> all;
  for (std::uint32_t agent = 0; agent < kAgents; ++agent) all.push_back(update(agent));
  return all;
}

// Covers the format of every stage.
std::uint64_t hash_of_payloads(const Codec& codec) {
  const Round round(codec, updates(), kAgents);
  Checksum checksum;
  for (std::size_t stage = 0; stage <= round.last(); ++stage) {
    for (std::size_t agent = 0; agent < kAgents; ++agent) {
      checksum.update(round.payload(stage, agent));
    }
    checksum.update(round.combined(stage));
  }
  return checksum.finish64();
}

// Covers the arithmetic of decoding and of residuals over several rounds.
std::uint64_t hash_of_results(const Codec& codec, const Execution& execution) {
  const Trace trace = codec_testing::play(codec, updates(), 3, execution);
  EXPECT_EQ(trace.error, "");
  Checksum checksum;
  for (const auto* vectors : {&trace.sums, &trace.residuals}) {
    for (const auto& bits : *vectors) {
      checksum.update(bytes_of(std::span<const std::uint32_t>(bits)));
    }
  }
  return checksum.finish64();
}

class GoldenRounds : public testing::TestWithParam<std::string> {};

TEST_P(GoldenRounds, StayAsTheyAre) {
  const auto codec = codec_testing::codec_of(GetParam());
  ASSERT_NE(codec, nullptr);
  const auto* golden = std::ranges::find(kGolden, GetParam(), &Golden::spec);
  // A new codec fails with the line that must be added, so that it cannot be forgotten.
  const bool known = golden != std::end(kGolden);
  const bool pinned = !known || golden->payloads != kFromALibrary;
  const Golden got = {GetParam(), pinned ? hash_of_payloads(*codec) : kFromALibrary,
                      hash_of_results(*codec, {})};
  const std::string line =
      fmt::format("{{\"{}\", {:#018x}, {:#018x}}},", got.spec, got.payloads, got.results);
  ASSERT_TRUE(known) << "a new codec needs its line in kGolden: " << line;
  EXPECT_TRUE(got.payloads == golden->payloads && got.results == golden->results)
      << "this codec gives other bytes than it did; as they are now:\n  " << line;
}

// Codecs with kernels give the same values on the emulated device.
TEST_P(GoldenRounds, AreTheSameOnADevice) {
  const auto codec = codec_testing::codec_of(GetParam());
  ASSERT_NE(codec, nullptr);
  const auto device = emulated::make_codec_device();
  device->report_errors_to([](const Status& error) { ADD_FAILURE() << error.text(); });
  const auto* golden = std::ranges::find(kGolden, GetParam(), &Golden::spec);
  ASSERT_NE(golden, std::end(kGolden));
  EXPECT_EQ(hash_of_results(*codec, {.device = device.get()}), golden->results);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRounds, testing::ValuesIn(codec_testing::default_specs()),
                         codec_testing::test_name);

// A codec that was removed must also leave the table.
TEST(GoldenTable, NamesNoCodecThatIsGone) {
  const std::vector<std::string> specs = codec_testing::default_specs();
  for (const Golden& golden : kGolden) {
    EXPECT_TRUE(std::ranges::find(specs, golden.spec) != specs.end()) << golden.spec;
  }
}

}  // namespace
}  // namespace tributary
