// The bytes of the format, of this build and of builds before `clip` existed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/codec/threelc/ternary_testing.h"

namespace tributary::threelc {
namespace {

FloatVector golden_update() {
  FloatVector x = codec_testing::update(Pattern::integers, kLayeredValues, 0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= i % 29 == 0 ? 3.0f : 0.5f;
  return x;
}

// The bytes of the format. A change of them changes the meaning of stored payloads.
TEST(Threelc, Golden) {
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"threelc:clip=0", 0x9501ade7d922321a},
      {"threelc:s=1.75,bypass=30,clip=0", 0xb1d767c42edc3ed5},
      {"threelc:zero_run=off,bypass=0,clip=0", 0xb8f3d71b17e5e628},
      {"threelc:s=1.75,bypass=30,block=100,clip=0", 0x15c61dbed623bf6e},
      {"threelc", 0xd16ce795c44937d6},
      {"threelc:s=1.75,bypass=30", 0x2cf03a2f78735ca5},
      {"stoch3", 0xe71fc6d8c66eb1b1},
      {"terngrad", 0x2893ae3c80325557},
      {"terngrad:clip=0", 0xced186eeae95caf9},
  };
  const FloatVector x = golden_update();
  for (const auto& [spec, expected] : cases) {
    const Bytes payload =
        encode(*codec_of(spec), x, {.job_seed = 1, .round = 2, .agent = 3, .layers = kLayers});
    EXPECT_EQ(hash64(payload), expected) << spec << fmt::format(" {:#018x}", hash64(payload));
  }
}

// Before `clip` existed, all specs without it meant what `clip=0` means now. The hashes are from
// that time.
TEST(Threelc, GoldenPayloadsOfThePapersForm) {
  const std::tuple<const char*, const char*, std::uint64_t> cases[] = {
      {"threelc", "threelc:clip=0", 0x918bb82f1f2a00c4},
      {"threelc:s=1.75,bypass=30", "threelc:s=1.75,bypass=30,clip=0", 0xb3153922901d1893},
      {"threelc:zero_run=off,bypass=0", "threelc:zero_run=off,bypass=0,clip=0", 0x1482dc49168bdf6a},
      {"threelc:s=1.75,bypass=30,block=100", "threelc:s=1.75,bypass=30,block=100,clip=0",
       0x3065a3edc1701ffc},
  };
  const FloatVector x = golden_update();
  const RoundContext round = {.job_seed = 1, .round = 2, .agent = 3, .layers = kLayers};
  for (const auto& [then, now, expected] : cases) {
    const auto codec = codec_of(now);
    const Bytes payload = encode(*codec, x, round);
    const Bytes stored = payload_with(*codec_of(then), kLayeredValues, body_of(payload));
    EXPECT_EQ(hash64(stored), expected) << then;
    EXPECT_EQ(decode(*codec_of(then), stored, x.size(), round),
              decode(*codec, payload, x.size(), round))
        << then;
  }
}

}  // namespace
}  // namespace tributary::threelc
