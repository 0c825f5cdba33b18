// Rounds that agents exchange among themselves.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/round/federation_testing.h"

namespace tributary {
namespace {

using round_testing::Federation;
using round_testing::Options;

struct PeerCase {
  std::string codec;
  wire::Collective collective = wire::Collective::ring;
  double tolerance = 0;
};

Options options_for(const PeerCase& what, std::uint32_t agents = 3) {
  Options options;
  options.agents = agents;
  options.peers = true;
  options.policy.codec = what.codec;
  options.policy.collective = what.collective;
  options.policy.bucket_values_max = 64;
  options.policy.agents_min = 2;
  options.policy.deadline_ms = 2'000;
  options.policy.preliminary_deadline_ms = 1'000;
  return options;
}

// By the plans of the rounds that were committed.
std::multiset<wire::Collective> collectives_of(Federation& federation) {
  std::multiset<wire::Collective> used;
  for (const CommitRecord& commit : federation.journal().commits()) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    used.insert((*frame)->message_as_Plan()->exchanges()->Get(0)->collective());
  }
  return used;
}

class PeersWithCodec : public testing::TestWithParam<PeerCase> {};

TEST_P(PeersWithCodec, WithoutFaultsEveryRoundGoesByThem) {
  Federation federation(options_for(GetParam(), 5));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
  EXPECT_EQ(federation.noted("frame_refused"), 0);
  EXPECT_EQ(federation.noted("round_aborted"), 0);
  EXPECT_EQ(collectives_of(federation).count(GetParam().collective), 5u);
  EXPECT_GT(federation.peers.messages, 0u);
}

TEST_P(PeersWithCodec, ConnectionsThatBreakCostTheRoundNothing) {
  Options options = options_for(GetParam(), 4);
  options.rounds = 12;
  options.loss = 0.05;
  options.repeat = 0.05;
  options.delay_max_ns = 20 * kNsPerMs;
  Federation federation(options);
  federation.peers.breaks = 0.01;
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(GetParam().tolerance);
}

std::vector<PeerCase> peer_cases() {
  std::vector<PeerCase> cases;
  for (const wire::Collective collective :
       {wire::Collective::sharded_star, wire::Collective::ring, wire::Collective::tree,
        wire::Collective::halving_doubling, wire::Collective::all_gather}) {
    cases.push_back({.codec = "fp32", .collective = collective});
    cases.push_back({.codec = "thc", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "threelc", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "gcomp", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "topk:cr=0.1", .collective = collective, .tolerance = 1e-4});
    cases.push_back({.codec = "star_topk:cr=0.1", .collective = collective, .tolerance = 1e-4});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, PeersWithCodec, testing::ValuesIn(peer_cases()),
                         [](const auto& one) {
                           std::string name = one.param.codec.substr(0, one.param.codec.find(':'));
                           return name + "_" + wire::EnumNameCollective(one.param.collective);
                         });

}  // namespace
}  // namespace tributary
