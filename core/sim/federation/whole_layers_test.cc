// Tests of rounds with codecs that need whole layers: the buckets of their plans, by every
// collective, and the redo of such rounds after a restart of the coordinator.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

// A matrix of ten buckets, a single value, a convolution, a vector of a prime number of values, and
// tiny layers.
std::vector<LayerShape> mixed_layers() {
  std::vector<LayerShape> layers = {
      {"weight", {40, 32}}, {"scale", {1}}, {"convolution", {16, 4, 3, 3}}, {"bias", {127}}};
  for (int i = 0; i < 30; ++i) layers.push_back({"tiny" + std::to_string(i), {3, 2}});
  return layers;
}

Options options_for(wire::Collective collective, const std::string& codec) {
  Options options;
  options.agents = 4;
  options.layers = mixed_layers();
  options.peers = collective != wire::Collective::star;
  options.policy.codec = codec;
  options.policy.collective = collective;
  options.policy.bucket_values_max = 128;
  options.policy.agents_min = 2;
  options.policy.deadline_ms = 2'000;
  options.policy.preliminary_deadline_ms = 1'000;
  return options;
}

// The sizes of the buckets of every committed plan.
std::set<std::vector<std::uint32_t>> cuts_of(const Federation& federation) {
  std::set<std::vector<std::uint32_t>> cuts;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    std::vector<std::uint32_t> sizes;
    for (const wire::Bucket* bucket : *(*frame)->message_as_Plan()->buckets()) {
      sizes.push_back(bucket->values());
    }
    cuts.insert(sizes);
  }
  return cuts;
}

// The payload bytes of all stages of the last commit.
std::size_t result_bytes(const Federation& federation) {
  std::size_t bytes = 0;
  for (const RedoPayload& one : federation.journal().commits().back().redo) {
    bytes += one.payload->size();
  }
  return bytes;
}

using Cuts = std::set<std::vector<std::uint32_t>>;
const Cuts kWhole = {{1280, 1, 576, 127, 126, 54}};
const Cuts kRows = {{448, 416, 416, 1, 288, 288, 127, 126, 54}};

class WholeLayers : public testing::TestWithParam<wire::Collective> {};

TEST_P(WholeLayers, AreWholeInBucketsAndTravelAsFactors) {
  Federation federation(options_for(GetParam(), "powersgd:rank=1"));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(1e-4);
  EXPECT_EQ(federation.noted("round_aborted"), 0);
  EXPECT_EQ(cuts_of(federation), kWhole);
  // Factors of the two matrices, the other values as they are, and the envelopes.
  const std::size_t factors = 40 + 32 + 1 + 16 + 36 + 1;
  const std::size_t rest = 1 + 127 + 30 * 6;
  EXPECT_LT(result_bytes(federation), 4 * (factors + rest) + 6 * 2 * 120);
}

TEST_P(WholeLayers, SurviveFaultsAndRestarts) {
  Options options = options_for(GetParam(), "powersgd:rank=2");
  options.rounds = 12;
  options.loss = 0.05;
  options.delay_max_ns = 20 * kNsPerMs;
  Federation federation(options);
  for (const TimeNs when : {40, 400, 1'500}) {
    federation.at(when * kNsPerMs, [&] { federation.crash_coordinator(); });
    federation.at((when + 30) * kNsPerMs, [&] { federation.start_coordinator(); });
  }
  federation.at(200 * kNsPerMs, [&] { federation.crash_agent(1); });
  federation.at(260 * kNsPerMs, [&] { federation.start_agent(1); });
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(1e-4);
  EXPECT_EQ(cuts_of(federation), kWhole);
}

// The coordinator restarts after the last round and computes the model from its journal.
TEST_P(WholeLayers, AreReadAgainFromTheJournalAsPartsOfRows) {
  Options options = options_for(GetParam(), "powersgd:rank=1");
  options.policy.layer_values_max = 500;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(cuts_of(federation), kRows);
  const std::uint64_t hash = federation.coordinator().model_hash();
  federation.crash_coordinator();
  federation.start_coordinator();
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(federation.coordinator().model_hash(), hash);
  federation.expect_identical();
  federation.expect_conserved(1e-4);
}

TEST_P(WholeLayers, HaveOneUnitEach) {
  for (const std::string codec : {"threelc:block=0", "topk:cr=0.1,scope=layer"}) {
    Federation federation(options_for(GetParam(), codec));
    ASSERT_TRUE(federation.run_to_the_end()) << codec << federation.describe();
    federation.expect_identical();
    federation.expect_conserved(1e-4);
    EXPECT_EQ(cuts_of(federation), kWhole) << codec;
  }
}

INSTANTIATE_TEST_SUITE_P(Collectives, WholeLayers,
                         testing::Values(wire::Collective::star, wire::Collective::sharded_star,
                                         wire::Collective::ring, wire::Collective::tree,
                                         wire::Collective::halving_doubling,
                                         wire::Collective::all_gather),
                         [](const auto& collective) {
                           return std::string(wire::EnumNameCollective(collective.param));
                         });

}  // namespace
}  // namespace tributary
