// Tests of probing the links of many agents within a budget, and of the echoes that are not used.
// The test plays the agents, whose clocks have another epoch.
#include "coordinator/links/link_probes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace tributary {
namespace {

constexpr std::uint64_t kAgentClock = 7'000'000'000'000;  // the agent's clock has another epoch

// The coordinator's side, with agents whose links the test determines.
struct LinkProbesTest : testing::Test {
  Coordinator::AgentView view(const std::string& id, std::uint64_t payload_bytes = 0) {
    return {.agent_id = id, .incarnation = 1, .payload_bytes = payload_bytes};
  }
  std::vector<ProbeLink> look(double after_s) {
    now_s += after_s;
    return probes.due(now_s, agents, [&](const std::string&) { return known; });
  }
  // Advances the time by seconds until a probe is due.
  std::optional<ProbeLink> next(double within_s = 100) {
    for (double waited = 0; waited < within_s; ++waited) {
      std::vector<ProbeLink> all = look(1);
      if (!all.empty()) return all.front();
    }
    return std::nullopt;
  }
  std::optional<ProbeLink> next_of(bool train) {
    for (int i = 0; i < 4; ++i) {
      std::optional<ProbeLink> probe = next();
      if (!probe || (probe->parts > 1) == train) return probe;
      answer_all(*probe);
    }
    return std::nullopt;
  }
  ProbeEchoed echo(const ProbeLink& probe, std::uint32_t index, double after_s,
                   double answered_after_s = 0) const {
    const auto ns = [](double s) { return static_cast<std::uint64_t>(std::llround(s * 1e9)); };
    const std::uint64_t at = kAgentClock + ns(now_s + answered_after_s);
    return {.agent_id = probe.agent_id,
            .probe = probe.probe,
            .index = index,
            .count = probe.parts,
            .bytes = probe.echo_padding_bytes + 150,
            .received_at_ns = probe.echo_padding_bytes > 0 ? at : kAgentClock + ns(now_s + after_s),
            .answered_at_ns = probe.echo_padding_bytes > 0 ? at : kAgentClock + ns(now_s + after_s),
            .at_ns = static_cast<TimeNs>(ns(now_s + after_s)),
            .waited_for = true};
  }
  // Answers all parts as over a link that takes `beta` seconds per byte of padding.
  LinkProbes::Outcome answer_all(const ProbeLink& probe, double beta = 1e-6) {
    LinkProbes::Outcome outcome;
    const double padding = std::max(probe.padding_bytes, probe.echo_padding_bytes) + 150;
    for (std::uint32_t i = 0; i < probe.parts; ++i) {
      outcome = probes.take(now_s, echo(probe, i, 0.01 + (i + 1) * padding * beta));
    }
    return outcome;
  }
  static EchoFault fault(const LinkProbes::Outcome& outcome) {
    EXPECT_TRUE(std::holds_alternative<EchoFault>(outcome));
    return std::get<EchoFault>(outcome);
  }

  double now_s = 1000;
  MeasuredLinks known;
  std::vector<Coordinator::AgentView> agents = {view("a")};
  LinkProbes probes{41, {}};
};

TEST_F(LinkProbesTest, AQuietAgentIsAskedAndItsEchoIsARoundTrip) {
  EXPECT_TRUE(look(0).empty()) << "not quiet yet";
  const auto probe = next_of(false);
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->agent_id, "a");
  EXPECT_EQ(probe->padding_bytes + probe->echo_padding_bytes, 0u);
  ProbeEchoed back = echo(*probe, 0, 0.05);
  back.answered_at_ns += 10'000'000;  // held for a fifth of the round trip
  const auto outcome = probes.take(now_s, back);
  const auto* reading = std::get_if<LinkProbes::Reading>(&outcome);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->direction, ProbeDirection::round_trip);
  EXPECT_EQ(reading->transfer.kind, TransferKind::round_trip);
  EXPECT_NEAR(reading->transfer.seconds, 0.04, 1e-6);
  EXPECT_EQ(probes.pending(), 0u);
}

TEST_F(LinkProbesTest, TrainsMeasureTheRateOfBothWaysInTurn) {
  const auto up = next_of(true);
  ASSERT_TRUE(up);
  EXPECT_EQ(up->padding_bytes, 0u);
  EXPECT_GT(up->echo_padding_bytes, 0u);
  EXPECT_EQ(up->parts, LinkProber::kTrainParts);
  auto outcome = answer_all(*up, 2e-6);
  ASSERT_TRUE(std::holds_alternative<LinkProbes::Reading>(outcome));
  auto reading = std::get<LinkProbes::Reading>(outcome);
  EXPECT_EQ(reading.direction, ProbeDirection::up);
  EXPECT_NEAR(reading.transfer.seconds / reading.transfer.bytes, 2e-6, 1e-9);

  known.up.beta_s_per_byte = {.value = 2e-6, .confidence = 0.3, .age_s = 10};
  auto down = next_of(true);
  ASSERT_TRUE(down);
  EXPECT_EQ(down->echo_padding_bytes, 0u);
  EXPECT_GT(down->padding_bytes, 0u);
  outcome = answer_all(*down, 3e-6);
  ASSERT_TRUE(std::holds_alternative<LinkProbes::Reading>(outcome));
  reading = std::get<LinkProbes::Reading>(outcome);
  EXPECT_EQ(reading.direction, ProbeDirection::down);
  EXPECT_NEAR(reading.transfer.seconds / reading.transfer.bytes, 3e-6, 0.3e-6);

  known.up.beta_s_per_byte = {.value = 2e-6, .confidence = 0.9, .age_s = 10};
  for (int i = 0; i < 2; ++i) {
    down = next_of(true);
    ASSERT_TRUE(down);
    EXPECT_GT(down->padding_bytes, 0u) << "the other way is known";
    answer_all(*down);
  }
}

// Rounds keep the link busy, so no probe is needed.
TEST_F(LinkProbesTest, BusyAgentsAreNotProbed) {
  for (int i = 0; i < 100; ++i) {
    agents[0].payload_bytes += 1000;
    EXPECT_TRUE(look(1).empty());
  }
  EXPECT_TRUE(next());
}

// A new session restarts the counter of payload bytes, which must not count as traffic.
TEST_F(LinkProbesTest, KeepsToItsBudgetAndANewSessionIsNoTraffic) {
  agents[0].payload_bytes = 50'000'000;
  for (int i = 0; i < 5000; ++i) {
    if (i == 1000) agents[0] = {.agent_id = "a", .incarnation = 2};
    for (const ProbeLink& probe : look(1)) answer_all(probe, 1e-8);
    EXPECT_LE(probes.probe_bytes("a"), probes.budget_bytes("a", now_s));
  }
  EXPECT_GT(probes.probe_bytes("a"), 250'000);
  EXPECT_LT(probes.budget_bytes("a", now_s), 0.005 * 50'000'000 + 2 * 256 * 1024 + 1);
}

// An echo with another agent or number belongs to no probe.
TEST_F(LinkProbesTest, AnUnrequestedEchoIsIgnored) {
  EXPECT_EQ(fault(probes.take(now_s, {.agent_id = "a", .probe = 1, .count = 1})),
            EchoFault::unasked);
  const auto probe = next_of(false);
  ASSERT_TRUE(probe);
  ProbeEchoed other = echo(*probe, 0, 0.05);
  other.agent_id = "b";
  EXPECT_EQ(fault(probes.take(now_s, other)), EchoFault::unasked);
  other = echo(*probe, 0, 0.05);
  ++other.probe;
  EXPECT_EQ(fault(probes.take(now_s, other)), EchoFault::unasked);
  EXPECT_EQ(probes.pending(), 1u) << "the one that was asked is still welcome";
  EXPECT_TRUE(std::holds_alternative<LinkProbes::Reading>(answer_all(*probe)));
  EXPECT_EQ(fault(answer_all(*probe)), EchoFault::unasked) << "twice";
}

// An echo after the timeout is ignored.
TEST_F(LinkProbesTest, LateEchoesAreNotUsed) {
  const auto probe = next_of(false);
  ASSERT_TRUE(probe);
  look(31);
  EXPECT_EQ(probes.given_up(), 1u);
  EXPECT_EQ(fault(answer_all(*probe)), EchoFault::late);
}

TEST_F(LinkProbesTest, EachPartIsEchoedOnceAndAsLongAsWasAskedFor) {
  const auto probe = next_of(true);
  ASSERT_TRUE(probe);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(probes.take(now_s, echo(*probe, 0, 0.1))));
  EXPECT_EQ(fault(probes.take(now_s, echo(*probe, 0, 0.2))), EchoFault::repeated);
  ProbeEchoed wrong = echo(*probe, 1, 0.2);
  wrong.bytes = probe->echo_padding_bytes - 1;
  EXPECT_EQ(fault(probes.take(now_s, wrong)), EchoFault::other_train);
  wrong = echo(*probe, 1, 0.2);
  ++wrong.count;
  EXPECT_EQ(fault(probes.take(now_s, wrong)), EchoFault::other_train);
  wrong = echo(*probe, probe->parts, 0.2);
  EXPECT_EQ(fault(probes.take(now_s, wrong)), EchoFault::other_train);
  wrong = echo(*probe, 1, 0.2);
  wrong.answered_at_ns = 0;
  EXPECT_EQ(fault(probes.take(now_s, wrong)), EchoFault::no_time);
}

TEST_F(LinkProbesTest, TimesThatCannotBeSayNothing) {
  auto probe = next_of(false);
  ASSERT_TRUE(probe);
  ProbeEchoed back = echo(*probe, 0, 0.05);
  back.answered_at_ns = back.received_at_ns - 1;
  EXPECT_EQ(fault(probes.take(now_s, back)), EchoFault::no_time);
  probe = next_of(false);
  ASSERT_TRUE(probe);
  back = echo(*probe, 0, 0.05);
  back.answered_at_ns += 60'000'000;  // held for longer than the round trip
  EXPECT_EQ(fault(probes.take(now_s, back)), EchoFault::no_time);
}

// The agent's own pauses would look like a slow link, so such a train is discarded.
TEST_F(LinkProbesTest, AnAgentThatTakesItsTimeToSendATrainDoesNotLookLikeASlowLine) {
  const auto probe = next_of(true);
  ASSERT_TRUE(probe);
  LinkProbes::Outcome outcome;
  for (std::uint32_t i = 0; i < probe->parts; ++i) {
    outcome = probes.take(now_s, echo(*probe, i, 0.02 * (i + 1), 0.02 * i));
  }
  EXPECT_EQ(fault(outcome), EchoFault::paused);
}

// A train that arrives faster than it can be timed is repeated with a larger size.
TEST_F(LinkProbesTest, ATrainThatLayInAQueueIsFollowedByALongerOne) {
  const auto probe = next_of(true);
  ASSERT_TRUE(probe);
  LinkProbes::Outcome outcome;
  for (std::uint32_t i = 0; i < probe->parts; ++i) {
    ProbeEchoed back = echo(*probe, i, 0.01);
    back.waited_for = i == 0;
    outcome = probes.take(now_s, back);
  }
  EXPECT_EQ(fault(outcome), EchoFault::bunched);
  for (int i = 0; i < 4; ++i) {
    const auto longer = next_of(true);
    ASSERT_TRUE(longer);
    if (longer->echo_padding_bytes > 0) {
      EXPECT_GT(longer->echo_padding_bytes, 3 * probe->echo_padding_bytes);
      return;
    }
    answer_all(*longer);
    known.down.beta_s_per_byte = {.value = 1e-6, .confidence = 0.3, .age_s = 0};
  }
  FAIL() << "no train up came";
}

// The bounds on concurrent probes hold, and every agent is probed eventually.
TEST_F(LinkProbesTest, ProbesAreFewAtOnceAndAllAgentsTakeTurns) {
  agents.clear();
  for (int i = 10; i < 50; ++i) agents.push_back(view("agent " + std::to_string(i)));
  known.up.alpha_s = {.value = 0.01, .confidence = 0.9, .age_s = 0};
  std::set<std::string> asked;
  look(0);
  for (int i = 0; i < 60; ++i) {
    const std::vector<ProbeLink> all = look(1);
    EXPECT_LE(probes.pending(), 2u);
    for (const ProbeLink& probe : all) {
      asked.insert(probe.agent_id);
      answer_all(probe);
    }
  }
  EXPECT_EQ(asked.size(), agents.size());
}

// An agent without answers is probed ever less often and does not block the others.
TEST_F(LinkProbesTest, ASilentAgentIsProbedLessOftenAndDelaysNoOther) {
  agents = {view("mute"), view("other")};
  int mute = 0;
  int other = 0;
  for (int i = 0; i < 3000; ++i) {
    for (const ProbeLink& probe : look(1)) {
      if (probe.agent_id == "mute") {
        ++mute;
        continue;
      }
      ++other;
      answer_all(probe);
    }
  }
  EXPECT_GT(mute, 1);
  EXPECT_LT(mute, 12);
  EXPECT_GT(other, 3 * mute / 2);
  EXPECT_LE(probes.pending(), 1u);
}

TEST_F(LinkProbesTest, HoldsSoManyAgents) {
  LinkProbes few(0, {.agents_max = 2});
  agents = {view("a"), view("b"), view("c")};
  const auto nothing = [](const std::string&) { return MeasuredLinks{}; };
  few.due(0, agents, nothing);
  EXPECT_GT(few.budget_bytes("b", 0), 0);
  EXPECT_EQ(few.budget_bytes("c", 0), 0) << "two are here";
  agents.erase(agents.begin());
  few.due(1, agents, nothing);
  few.due(2, agents, nothing);
  EXPECT_GT(few.budget_bytes("c", 2), 0) << "in the place of the one that went";
}

}  // namespace
}  // namespace tributary
