// The option `clip`, which bounds M for an update with large values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "core/codec/threelc/ternary_testing.h"

namespace tributary::threelc {
namespace {

// Three values of four are 0, one of four is 1, and one value is 40 times as large.
FloatVector update_with_an_outlier() {
  FloatVector x(1000, 0.0f);
  for (std::size_t i = 0; i < x.size(); i += 4) x[i] = i % 8 == 0 ? 1.0f : -1.0f;
  x[500] = 40;
  return x;
}

TEST(Threelc, AnOutlierDoesNotKeepTheOthersWaiting) {
  const FloatVector x = update_with_an_outlier();  // root mean square 1.36
  const auto sent = [&](const char* spec) {
    const auto codec = codec_of(spec);
    return std::ranges::count_if(decode(*codec, encode(*codec, x), x.size()),
                                 [](float value) { return value != 0; });
  };
  EXPECT_EQ(sent("threelc:clip=0"), 1);
  EXPECT_EQ(sent("threelc:s=1.75,clip=0"), 1);
  EXPECT_EQ(sent("threelc:clip=1"), 250);
}

TEST(Threelc, ByDefaultMIsAtMostSTimesTwoAndAHalfRootMeanSquares) {
  const FloatVector x = update_with_an_outlier();
  for (const auto& [spec, s] : {std::pair{"threelc", 1.0}, std::pair{"threelc:s=1.75", 1.75}}) {
    const auto codec = codec_of(spec);
    EXPECT_EQ(codec->spec(), spec) << "without the clip that is the default";
    float unit;
    std::memcpy(&unit, body_of(encode(*codec, x)).data(), sizeof(unit));
    EXPECT_FLOAT_EQ(unit, static_cast<float>(s * 2.5 * std::sqrt((249.0 + 1600.0) / 1000.0)));
  }
  // The limit is above the largest of values of one magnitude.
  const FloatVector even(1000, 0.5f);
  EXPECT_EQ(decode(*codec_of("threelc"), encode(*codec_of("threelc"), even), 1000), even);
}

// With error feedback in both directions, s = 1.75 and log-normal values. By the paper's M most of
// them wait for longer than the test.
TEST(Threelc, AnUpdateWithLargeValuesArrivesSoonerThanByThePapersM) {
  constexpr std::uint32_t kAgents = 2;
  constexpr std::uint32_t kRounds = 20;
  constexpr std::uint32_t kValues = 20'000;
  const SystemClock clock;
  const auto all = codec_testing::updates(Pattern::lognormal, kValues, kAgents);
  const auto error_of = [&](const char* spec) {
    const auto codec = codec_of(spec);
    LocalExchange exchange(*codec, kValues, kAgents, true, clock);
    FloatVector sum(kValues);
    std::vector<double> account(kValues, 0.0);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      EXPECT_TRUE(exchange.play({.round = round}, {}, codec_testing::spans(all), sum).ok());
      for (std::size_t i = 0; i < kValues; ++i) account[i] += static_cast<double>(sum[i]);
    }
    double error = 0;
    double size = 0;
    for (std::size_t i = 0; i < kValues; ++i) {
      const double truth =
          kRounds * (static_cast<double>(all[0][i]) + static_cast<double>(all[1][i]));
      error += (account[i] - truth) * (account[i] - truth);
      size += truth * truth;
    }
    return error / size;
  };
  const double by_default = error_of("threelc:s=1.75");
  const double of_the_paper = error_of("threelc:s=1.75,clip=0");
  EXPECT_LT(by_default, of_the_paper / 2) << of_the_paper;
}

// Payloads in journals and of other versions state their M, so that a decoder does not need `clip`.
TEST(Threelc, APayloadDecodesWithoutTheClipOfItsEncoder) {
  const FloatVector x = layered_update();
  const RoundContext round = {.layers = kLayers};
  for (const auto& [encoder, decoder] : {std::pair{"threelc:clip=0", "threelc"},
                                         std::pair{"threelc:s=1.75", "threelc:s=1.75,clip=0"}}) {
    const auto from = codec_of(encoder);
    const auto to = codec_of(decoder);
    const Bytes payload = encode(*from, x, round);
    const Bytes other = payload_with(*to, kLayeredValues, body_of(payload));
    EXPECT_EQ(decode(*to, other, x.size(), round), decode(*from, payload, x.size(), round));
  }
}

}  // namespace
}  // namespace tributary::threelc
