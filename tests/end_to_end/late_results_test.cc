// An agent that was away for some rounds gets their results: the newest from the coordinator's
// memory, the older ones from its journal. The journal says which were read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

// The results that the rounds of a job name as read from the journal.
struct ResultsRead {
  std::map<std::uint64_t, std::uint64_t> of_round;  // number of buckets
  std::map<std::string, std::uint64_t> for_agent;   // likewise
  std::uint64_t results = 0;
  std::uint64_t bytes = 0;
};

// The model has 40 MiB, and the results of a round of two agents about 2.4 MB. Memory holds those
// of six rounds (16 MiB), and the journal those of 17.
class MissedRounds : public testing::Test {
 protected:
  static constexpr std::uint32_t kAway = 2;
  static constexpr std::uint64_t kRounds = 19;
  static constexpr std::uint64_t kRoundsAway = 9;
  static constexpr std::uint64_t kBuckets = 4;
  static constexpr std::uint64_t kParameters = 10u << 20;
  static constexpr double kResultBytesMin = 2 * 0.024 * kParameters / kBuckets * sizeof(float);

  static FederationOptions options() {
    return {.rounds = kRounds,
            .parameters = kParameters,
            .codec = "topk:cr=0.025",
            .coordinator_settings = {"job.agents_min=2", "job.catch_up_wait_ms=0",
                                     fmt::format("job.bucket_values={}", kParameters / kBuckets),
                                     "heartbeat.timeout_ms=1000"},
            .encrypted = false};
  }

  // The sums of the facts of all rounds.
  static ResultsRead results_read(const Federation& federation) {
    ResultsRead all;
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      const auto answer = nlohmann::json::parse(
          federation.ask({"job", "show", "test", "--round", std::to_string(round)}));
      const nlohmann::json& facts = answer["data"]["mechanisms"]["coordinator"];
      if (!facts.contains("results_read_of_round")) continue;
      for (const auto& [of, buckets] : facts["results_read_of_round"].items()) {
        EXPECT_LT(std::stoull(of), round);
        all.of_round[std::stoull(of)] += buckets.get<std::uint64_t>();
        all.results += buckets.get<std::uint64_t>();
      }
      for (const auto& [agent, buckets] : facts["results_read_for"].items()) {
        all.for_agent[agent] += buckets.get<std::uint64_t>();
      }
      all.bytes += facts["results_read_bytes"].get<std::uint64_t>();
    }
    return all;
  }
};

TEST_F(MissedRounds, ComeFromTheJournalForAnAgentThatWasAway) {
  Federation federation(options());
  federation.start_all();
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "contributors=3"}, 2));
  // Its session ends after a second, and the others go on without it.
  federation.agent(kAway).signal(SIGSTOP);
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "contributors=2"}, kRoundsAway));
  federation.agent(kAway).signal(SIGCONT);
  federation.expect_all_end();
  federation.expect_identical();

  const ResultsRead read = results_read(federation);
  ASSERT_FALSE(read.of_round.empty());
  for (const auto& [round, buckets] : read.of_round) {
    EXPECT_EQ(buckets, kBuckets) << round;
    const std::string version = fmt::format("model_version={} ", round);
    EXPECT_FALSE(federation.agent(kAway).lines_with({"model stored", version}).empty())
        << "the agent got a model instead of the results of round " << round;
  }
  using Counts = std::map<std::string, std::uint64_t>;
  EXPECT_EQ(read.for_agent, (Counts{{Federation::agent_id(kAway), read.results}}));
  EXPECT_GT(static_cast<double>(read.bytes), static_cast<double>(read.results) * kResultBytesMin);
  const auto stayed = read_agent_journal(federation.agent_journal(0));
  const auto returned = read_agent_journal(federation.agent_journal(kAway));
  ASSERT_TRUE(stayed.ok() && returned.ok());
  EXPECT_EQ(*returned->replica->model, *stayed->replica->model);
}

}  // namespace
}  // namespace tributary::end_to_end
