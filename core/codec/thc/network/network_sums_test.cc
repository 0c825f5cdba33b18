// Sums that an aggregator in the network makes give the payload of the coordinator's aggregator.
#include "core/codec/thc/network/network_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/codec/codec_testing.h"
#include "core/codec/payload.h"

namespace tributary::thc {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using ::testing::HasSubstr;

// A round of both stages by the coordinator's aggregators.
struct StarRound {
  std::vector<Bytes> levels;  // by agent
  Bytes combined;
};

StarRound play_star(const Codec& codec, std::uint32_t values, std::uint32_t agents) {
  StarRound round;
  std::vector<std::unique_ptr<Encoder>> encoders;
  std::vector<FloatVector> updates;
  for (std::uint32_t agent = 0; agent < agents; ++agent) {
    encoders.push_back(codec.make_encoder(values));
    updates.push_back(codec_testing::update(Pattern::lognormal, values, agent));
  }
  Bytes norms;
  std::vector<ByteSpan> combined;
  for (std::size_t stage = 0; stage < 2; ++stage) {
    StageCall call{.round = {.job_seed = 5, .round = 3, .bucket = 2, .agents = agents},
                   .combined = combined};
    const auto aggregator = codec.make_aggregator(stage, values);
    EXPECT_TRUE(aggregator->begin(call, {}).ok());
    round.levels.clear();
    for (std::uint32_t agent = 0; agent < agents; ++agent) {
      call.round.agent = agent;
      EXPECT_TRUE(encoders[agent]->encode(call, updates[agent], round.levels.emplace_back()).ok());
      EXPECT_TRUE(aggregator->add(call, round.levels.back()).ok());
    }
    Bytes& finished = stage == 0 ? norms : round.combined;
    EXPECT_TRUE(aggregator->finish(call, finished).ok());
    combined.emplace_back(finished);
  }
  return round;
}

Bytes summed(const std::vector<Bytes>& payloads, const NetworkTable& table) {
  std::vector<std::uint16_t> sums(2 * network_levels(payloads[0]).size());
  for (const Bytes& payload : payloads) {
    const ByteSpan levels = network_levels(payload);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] =
          static_cast<std::uint16_t>(sums[i] + table.places[levels[i / 2] >> (i % 2 * 4) & 15]);
    }
  }
  Bytes bytes(sums.size() * (table.wide ? 2u : 1u));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    std::memcpy(bytes.data() + i * (table.wide ? 2u : 1u), &sums[i], table.wide ? 2u : 1u);
  }
  return bytes;
}

struct NetworkCase {
  std::string spec;
  std::uint32_t agents;
  std::uint32_t values;
  bool wide;
};
void PrintTo(const NetworkCase& c, std::ostream* out) { *out << c.spec << " " << c.agents; }

class NetworkSums : public ::testing::TestWithParam<NetworkCase> {};

TEST_P(NetworkSums, HaveTheBytesOfTheStarsResult) {
  const auto& [spec, agents, values, wide] = GetParam();
  const Result<std::string> fitted = network_codec(spec, agents);
  ASSERT_TRUE(fitted.ok()) << fitted.status().text();
  const Result<NetworkTable> table = network_table(*fitted, agents);
  ASSERT_TRUE(table.ok()) << table.status().text();
  EXPECT_EQ(table->wide, wide);
  const auto codec = codec_of(*fitted);
  EXPECT_EQ(codec->spec(), *fitted);
  const StarRound star = play_star(*codec, values, agents);
  EXPECT_EQ(network_levels(star.levels[0]).size() % 32, 0u);
  const Bytes sums = summed(star.levels, *table);
  for (const std::size_t agent : {std::size_t{0}, star.levels.size() - 1}) {
    const Result<Bytes> made = network_result({}, star.levels[agent], sums, agents, *table);
    ASSERT_TRUE(made.ok()) << made.status().text();
    EXPECT_EQ(*made, star.combined);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , NetworkSums,
    ::testing::Values(NetworkCase{"thc", 1, 5000, false}, NetworkCase{"thc", 4, 9000, false},
                      NetworkCase{"thc", 17, 100, false}, NetworkCase{"thc", 18, 5000, true},
                      NetworkCase{"thc", 64, 700, true},
                      NetworkCase{"thc:granularity=30", 8, 4096, false},
                      NetworkCase{"thc:granularity=30", 9, 4096, true},
                      NetworkCase{"thc:levels=uniform,range=minmax", 4, 700, false}));

TEST(NetworkSumsRefuse, ASumThatNoContributorsCanProduce) {
  const std::string spec = *network_codec("thc", 4);
  const NetworkTable table = *network_table(spec, 4);
  const StarRound star = play_star(*codec_of(spec), 200, 4);
  Bytes sums = summed(star.levels, table);
  sums[7] = static_cast<std::uint8_t>(4 * table.granularity);
  EXPECT_TRUE(network_result({}, star.levels[0], sums, 4, table).ok());
  ++sums[7];
  EXPECT_EQ(network_result({}, star.levels[0], sums, 4, table).status().code(),
            StatusCode::corrupt_data);
  sums.pop_back();
  EXPECT_EQ(network_result({}, star.levels[0], sums, 4, table).status().code(),
            StatusCode::corrupt_data);
}

TEST(NetworkSumsRefuse, OtherCodecs) {
  for (const auto& [spec, remedy] :
       {std::pair{"fp32", "codec = \"thc\""}, std::pair{"thc:bits=3", "bits = 4"},
        std::pair{"thc:rate=2", "leave out rate"}, std::pair{"thc:down=8", "leave out down"}}) {
    const Status status = check_network_codec(spec);
    EXPECT_EQ(status.code(), StatusCode::unsupported) << spec;
    EXPECT_THAT(status.fault().remedy, HasSubstr(remedy));
  }
  EXPECT_EQ(network_table("thc", 4).status().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace tributary::thc
