// Sums in the network between processes that are connected by sockets.
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/net/access/allow_list.h"
#include "schemas/frame.h"
#include "tests/end_to_end/federation/aggregator.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/journals.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint64_t kRoundsSummed = 6;

// A round waits for the aggregator's answer four times as long as for an acknowledgement. On a busy
// machine it would go by the star otherwise.
FederationOptions in_network_options(const std::string& collective) {
  return {.rounds = kRoundsSummed,
          .codec = "thc:bits=4",
          .coordinator_settings = {"job.collective=" + collective, "retry.ack_timeout_ms=5000",
                                   "heartbeat.timeout_ms=30000", "job.deadline_ms=120000"},
          .agent_settings = {"in_network.listen=127.0.0.1:0"}};
}

// Number of rounds that were committed with this collective.
std::size_t rounds_of(Federation& federation, const std::string& collective) {
  return federation.coordinator()
      .lines_with({"round committed", "collective=" + collective + " "})
      .size();
}

std::vector<RoundRecord> rounds_in_journal(const Federation& federation);

// The hash of the last committed model.
std::uint64_t committed_hash(const Federation& federation) {
  const Result<CoordinatorState> state = read_coordinator_journal(federation.coordinator_journal());
  EXPECT_TRUE(state.ok()) << state.status().text();
  if (!state.ok() || state->jobs.empty()) return 0;
  const RestoredJob& job = state->jobs.front();
  return job.redo.empty() ? job.checkpoint.model_hash : job.redo.back().round.model_hash;
}

// Number of rounds in the journal whose plan has this collective.
std::size_t journal_rounds_of(const Federation& federation, wire::Collective collective) {
  std::size_t found = 0;
  for (const RoundRecord& round : rounds_in_journal(federation)) {
    const Result<const wire::Frame*> frame = open_frame(*round.plan);
    EXPECT_TRUE(frame.ok()) << frame.status().text();
    if (!frame.ok()) continue;
    found += (*frame)->message_as_Plan()->exchanges()->Get(0)->collective() == collective;
  }
  return found;
}

// The records of all committed rounds.
std::vector<RoundRecord> rounds_in_journal(const Federation& federation) {
  const Result<CoordinatorState> state = read_coordinator_journal(federation.coordinator_journal());
  EXPECT_TRUE(state.ok()) << state.status().text();
  if (!state.ok() || state->jobs.empty()) return {};
  std::vector<RoundRecord> rounds = state->jobs.front().history;
  for (const CommitRecord& commit : state->jobs.front().redo) rounds.push_back(commit.round);
  return rounds;
}

void expect_replicas_at_commit(const Federation& federation) {
  for (std::uint32_t agent = 0; agent < 3; ++agent) {
    const Result<AgentState> own = read_agent_journal(federation.agent_journal(agent));
    ASSERT_TRUE(own.ok() && own->replica);
    EXPECT_EQ(own->replica->model_hash, committed_hash(federation));
  }
}

// The model of the same job by the star. Sums are exact, so the collective changes nothing.
std::uint64_t hash_by_star() {
  static const std::uint64_t hash = [] {
    Federation federation(in_network_options("star"));
    federation.start_all();
    federation.expect_all_end();
    EXPECT_EQ(rounds_of(federation, "star"), kRoundsSummed);
    return committed_hash(federation);
  }();
  return hash;
}

// Starts the coordinator, the aggregator and then the agents, so that the first round finds it.
void start_with(Federation& federation, Aggregator& aggregator,
                const std::optional<UdpAddress>& advertise = {}) {
  federation.start_coordinator();
  aggregator.start(advertise);
  for (std::uint32_t agent = 0; agent < 3; ++agent) federation.start_agent(agent);
}

TEST(InNetwork, RoundsAreSummedByTheAggregator) {
  Federation federation(in_network_options("in_network"));
  Aggregator aggregator(federation);
  start_with(federation, aggregator);
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_EQ(rounds_of(federation, "in_network"), kRoundsSummed);
  EXPECT_EQ(journal_rounds_of(federation, wire::Collective::in_network), kRoundsSummed);
  EXPECT_EQ(committed_hash(federation), hash_by_star());
  Process show({TRIBUTARY_CLI, "switch", "show", "--state", aggregator.state(), "--json"},
               federation.path("show.log"));
  EXPECT_EQ(show.wait(), 0);
  const nlohmann::json shown = nlohmann::json::parse(show.lines().at(0))["data"];
  EXPECT_EQ(shown["address"], aggregator.address().text());
  EXPECT_GT(shown["results"], 0);
  // They are exported every second.
  EXPECT_TRUE(eventually(
      [&] { return aggregator.metric("tributary_switch_results_total") == shown["results"]; }));
  EXPECT_EQ(aggregator.metric("tributary_switch_dropped_total{reason=\"foreign\"}"), 0);
  aggregator.process().signal(SIGTERM);
  EXPECT_EQ(aggregator.process().wait(), 0);
  const nlohmann::json counters =
      nlohmann::json::parse(aggregator.process().lines_with({"\"contributions\":"}).at(0));
  EXPECT_GT(counters["results"], 0);
  EXPECT_EQ(counters["contributions"], 3 * counters["results"].get<std::uint64_t>());
}

// As by a switch with 64 lanes. The plan names the number, and the sums are the same.
TEST(InNetwork, AnAggregatorMayTakeFewValuesInAPacket) {
  constexpr std::uint32_t kValues = 64;
  const FederationOptions options = in_network_options("in_network");
  Federation federation(options);
  Aggregator aggregator(federation);
  federation.start_coordinator();
  aggregator.start({}, {"switch.values=" + std::to_string(kValues)});
  for (std::uint32_t agent = 0; agent < 3; ++agent) federation.start_agent(agent);
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_EQ(rounds_of(federation, "in_network"), kRoundsSummed);
  EXPECT_EQ(committed_hash(federation), hash_by_star());
  for (const RoundRecord& round : rounds_in_journal(federation)) {
    const Result<const wire::Frame*> frame = open_frame(*round.plan);
    ASSERT_TRUE(frame.ok()) << frame.status().text();
    const wire::SumsInNetwork* const sums =
        (*frame)->message_as_Plan()->exchanges()->Get(0)->sums();
    ASSERT_NE(sums, nullptr);
    EXPECT_EQ(sums->packet_values(), kValues);
  }
  aggregator.process().signal(SIGTERM);
  EXPECT_EQ(aggregator.process().wait(), 0);
  const nlohmann::json counters =
      nlohmann::json::parse(aggregator.process().lines_with({"\"contributions\":"}).at(0));
  EXPECT_GE(counters["results"].get<std::uint64_t>() * kValues, kRoundsSummed * options.parameters);
  EXPECT_EQ(counters["drops"]["wrong_count"], 0);
}

// A kill ends at most one attempt, which the star replaces. After a restart the network is used
// again.
TEST(InNetwork, AKilledAggregatorCostsAnAttemptAndIsUsedAgain) {
  FederationOptions options = in_network_options("in_network");
  options.rounds = 10'000;
  options.agent_settings.emplace_back("trainer.train_ms=5");
  Federation federation(options);
  Aggregator aggregator(federation);
  start_with(federation, aggregator);
  const auto wait_for = [&](const std::string& collective, std::size_t rounds) {
    ASSERT_TRUE(federation.coordinator().logs({"round committed", "collective=" + collective + " "},
                                              rounds));
  };
  wait_for("in_network", 2);
  aggregator.kill();
  wait_for("star", 1);
  const std::size_t before = rounds_of(federation, "in_network");
  aggregator.start();
  wait_for("in_network", before + 2);
  federation.ask({"job", "stop", "test"});
  federation.expect_all_end();
  expect_replicas_at_commit(federation);
}

// A stopped process keeps its connection, its port and the packets that reach it, but answers
// nothing. When it goes on, it finds packets of an epoch that is over for the agents.
TEST(InNetwork, TheStarStandsInForAFrozenAggregatorWhoseOldPacketsChangeNothing) {
  FederationOptions options = in_network_options("in_network");
  options.rounds = 10'000;
  options.coordinator_settings.emplace_back("heartbeat.timeout_ms=3000");
  options.agent_settings.emplace_back("trainer.train_ms=5");
  Federation federation(options);
  Aggregator aggregator(federation);
  start_with(federation, aggregator);
  Process& coordinator = federation.coordinator();
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=in_network "}, 2));
  aggregator.process().signal(SIGSTOP);
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=star "}, 2));
  EXPECT_GE(coordinator.lines_with({"aggregator_gone", "gateway"}).size(), 1u);
  const std::size_t before = rounds_of(federation, "in_network");
  aggregator.process().signal(SIGCONT);
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=in_network "}, before + 2));
  EXPECT_EQ(coordinator.lines_with({"sums_refused"}).size(), 0u);
  federation.ask({"job", "stop", "test"});
  federation.expect_all_end();
  expect_replicas_at_commit(federation);
  aggregator.process().signal(SIGTERM);
  EXPECT_EQ(aggregator.process().wait(), 0);
  const nlohmann::json counters =
      nlohmann::json::parse(aggregator.process().lines_with({"\"contributions\":"}).at(0));
  EXPECT_GT(counters["repeats"], 0) << "the agents repeated what had no answer";
}

// No result comes, so the agents would end the attempt by half of its deadline, five minutes.
TEST(InNetwork, TheEndOfTheAggregatorEndsTheLastStageAtOnce) {
  FederationOptions options = in_network_options("in_network");
  options.rounds = 10'000;
  options.coordinator_settings.emplace_back("job.deadline_ms=600000");
  options.agent_settings.emplace_back("trainer.train_ms=5");
  Federation federation(options);
  Aggregator aggregator(federation);
  std::vector<std::unique_ptr<TamperingPath>> paths;
  const auto new_path = [&] {
    paths.push_back(std::make_unique<TamperingPath>(aggregator.address()));
    paths.back()->drop(true);
    return paths.back()->address();
  };
  start_with(federation, aggregator, new_path());
  Process& coordinator = federation.coordinator();
  std::size_t ended = 0;
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (ended > 0) aggregator.start(new_path());
    ASSERT_TRUE(eventually([&] { return paths.back()->dropped() > 0; }));
    aggregator.process().signal(signal);
    aggregator.process().wait();
    // The next attempt at the same round.
    ASSERT_TRUE(coordinator.logs({"round committed", " attempt=1 collective=star "}, ++ended));
  }
  EXPECT_EQ(coordinator.lines_with({"exchange_overdue"}).size(), 0u);
  EXPECT_GE(coordinator.lines_with({"aggregator_gone", "gateway"}).size(), 1u);
  EXPECT_EQ(rounds_of(federation, "in_network"), 0u);
  federation.ask({"job", "stop", "test"});
  federation.expect_all_end();
}

// A killed coordinator removes no job. Its next session begins without the jobs of the one before.
TEST(InNetwork, ANewSessionRemovesTheJobsOfTheOneBefore) {
  FederationOptions options = in_network_options("in_network");
  options.rounds = 10'000;
  options.agent_settings.emplace_back("trainer.train_ms=5");
  Federation federation(options);
  Aggregator aggregator(federation);
  start_with(federation, aggregator);
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "collective=in_network "}, 2));
  EXPECT_EQ(aggregator.process().lines_with({"job removed"}).size(), 0u);
  federation.coordinator().kill();
  federation.start_coordinator();
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "collective=in_network "}, 2));
  EXPECT_EQ(aggregator.process().lines_with({"job removed"}).size(), 1u);
  federation.ask({"job", "stop", "test"});
  federation.expect_all_end();
}

// The first attempt finds the slow agent. From then on the others are summed without it, and every
// fourth round is the star's. core/sim/in_network_test.cc shows that it keeps its updates.
TEST(InNetwork, TheOthersAreSummedWithoutASlowAgent) {
  FederationOptions options = in_network_options("in_network");
  options.agents = 4;
  options.rounds = 10;
  options.coordinator_settings.insert(options.coordinator_settings.end(),
                                      {"job.grace_ms=500", "job.agents_min=3"});
  Federation federation(options);
  federation.set_for_agent(3, "trainer.train_ms=5000");
  Aggregator aggregator(federation);
  federation.start_coordinator();
  aggregator.start();
  for (const std::uint32_t agent : {3u, 0u, 1u, 2u}) federation.start_agent(agent);
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_GE(federation.coordinator().lines_with({"agents_late", "agent-3"}).size(), 1u);
  EXPECT_EQ(federation.coordinator().lines_with({"exchange_overdue"}).size(), 0u);
  std::size_t without = 0;
  for (const RoundRecord& round : rounds_in_journal(federation)) {
    const Result<const wire::Frame*> frame = open_frame(*round.plan);
    ASSERT_TRUE(frame.ok()) << frame.status().text();
    const wire::Plan& plan = *(*frame)->message_as_Plan();
    if (plan.exchanges()->Get(0)->collective() != wire::Collective::in_network) continue;
    const ContributorSetRecord& set = round.contributor_sets.at(0);
    EXPECT_EQ(round.contributor_sets.size(), 1u);
    EXPECT_EQ(set.divisor, set.contributors);
    without += set.contributors == 3 ? 1u : 0u;
  }
  EXPECT_GE(without, 3u);
}

// The coordinator hears nothing more from it, and gives it up after the heartbeat's timeout.
TEST(InNetwork, ARevokedAggregatorIsNotUsed) {
  FederationOptions options = in_network_options("in_network");
  options.rounds = 10'000;
  options.coordinator_settings.emplace_back("heartbeat.timeout_ms=1000");
  options.agent_settings.emplace_back("trainer.train_ms=20");
  Federation federation(options);
  Aggregator aggregator(federation);
  start_with(federation, aggregator);
  Process& coordinator = federation.coordinator();
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=in_network "}, 2));
  const Status revoked = revoke_in_file(federation.path("agents.allow"), aggregator.id()).status();
  ASSERT_TRUE(revoked.ok()) << revoked.text();
  coordinator.signal(SIGHUP);
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=star "}, 3));
  const std::size_t before = rounds_of(federation, "in_network");
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=star "}, 6));
  EXPECT_EQ(rounds_of(federation, "in_network"), before);
  federation.ask({"job", "stop", "test"});
  federation.expect_all_end();
}

TEST(InNetwork, WithoutAnAggregatorTheStarIsUsed) {
  Federation federation(in_network_options("in_network"));
  federation.start_all();
  federation.expect_all_end();
  EXPECT_EQ(rounds_of(federation, "star"), kRoundsSummed);
  EXPECT_EQ(committed_hash(federation), hash_by_star());
}

// An agent of a release without sums in the network, or without its setting, says in its Hello that
// it cannot take part. The job goes by the star, and each plan names the agent, until it is
// updated.
TEST(InNetwork, AnAgentThatCannotTakePartIsNamedUntilItIsUpdated) {
  FederationOptions options = in_network_options("in_network");
  options.rounds = 10'000;
  options.agent_settings = {"trainer.train_ms=20"};
  Federation federation(options);
  const std::string listen = "in_network.listen=127.0.0.1:0";
  for (const std::uint32_t agent : {0u, 1u}) federation.set_for_agent(agent, listen);
  Aggregator aggregator(federation);
  start_with(federation, aggregator);
  Process& coordinator = federation.coordinator();
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=star "}, 3));
  EXPECT_EQ(rounds_of(federation, "in_network"), 0u);
  federation.kill_agent(2);
  federation.set_for_agent(2, listen);
  federation.start_agent(2);
  ASSERT_TRUE(coordinator.logs({"round committed", "collective=in_network "}, 3));
  federation.ask({"job", "stop", "test"});
  federation.expect_all_end();
  const std::vector<RoundRecord> rounds = rounds_in_journal(federation);
  ASSERT_FALSE(rounds.empty());
  const Result<const wire::Frame*> frame = open_frame(*rounds.front().plan);
  ASSERT_TRUE(frame.ok()) << frame.status().text();
  const wire::Reason* const reason = (*frame)->message_as_Plan()->reason();
  ASSERT_TRUE(reason && reason->sentence());
  EXPECT_NE(reason->sentence()->str().find("agent-2 (build "), std::string::npos)
      << reason->sentence()->str();
}

// A host on the path changes sums: no wrong sum reaches a model.
TEST(InNetwork, TamperedSumsAreFound) {
  Federation federation(in_network_options("in_network"));
  Aggregator aggregator(federation);
  TamperingPath path(aggregator.address());
  path.tamper(true);
  start_with(federation, aggregator, path.address());
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_GT(path.tampered(), 0u);
  EXPECT_GT(federation.coordinator().lines_with({"sums_refused", "reason=mismatch"}).size(), 0u);
  EXPECT_EQ(journal_rounds_of(federation, wire::Collective::star), kRoundsSummed);
  EXPECT_EQ(rounds_of(federation, "in_network"), 0u);
  EXPECT_EQ(rounds_of(federation, "star"), kRoundsSummed);
  EXPECT_EQ(committed_hash(federation), hash_by_star());
}

}  // namespace
}  // namespace tributary::end_to_end
