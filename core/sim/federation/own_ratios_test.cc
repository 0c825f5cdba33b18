// Tests of agents with a smaller share than the others. They send less, the others do not wait for
// them, and their residuals are not lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

constexpr double kShare = 0.25;  // the codec's share
const std::string kCodec = "topk:cr=0.25";

std::shared_ptr<PlanAdvice> advice(std::map<std::string, double> ratios) {
  auto made = std::make_shared<PlanAdvice>();
  made->choice = {.codec = kCodec, .collective = wire::Collective::star, .bucket_values_max = 128};
  made->ratios = std::move(ratios);
  made->trigger = wire::Trigger::link_changed;
  made->sentence = "because lines differ";
  return made;
}

// The payloads on the agents' uplinks, by round and attempt.
struct Lines {
  struct Sent {
    double ratio = 0;                   // as assigned to the agent
    std::map<std::uint32_t, Bytes> of;  // payload of each bucket
  };
  std::map<RoundKey, std::map<std::uint32_t, Sent>> rounds;  // by agent

  void observe(std::uint32_t agent, const Event& event) {
    const auto* received = std::get_if<FrameReceived>(&event);
    if (!received) return;
    const Result<const wire::Frame*> frame = open_frame(received->frame);
    const wire::Plan* plan = frame.ok() ? (*frame)->message_as_Plan() : nullptr;
    if (!plan || plan->weight() == 0) return;
    const wire::Exchange& exchange = *plan->exchanges()->Get(0);
    EXPECT_EQ(exchange.ratios(), nullptr) << "what others keep is not sent";
    rounds[key_of(*plan->id())][agent].ratio = exchange.ratio();
  }
  void record(std::uint32_t agent, const Actions& actions) {
    for (const Action& action : actions) {
      const auto* send = std::get_if<Send>(&action);
      if (!send) continue;
      const Result<const wire::Frame*> frame = open_frame(send->frame);
      const wire::Update* update = frame.ok() ? (*frame)->message_as_Update() : nullptr;
      if (!update) continue;
      EXPECT_EQ(update->part()->payload_bytes(), update->part()->stage_bytes());
      Bytes& payload = rounds[key_of(*update->part()->id())][agent].of[update->part()->bucket()];
      const Bytes now(send->payload.bytes.begin(), send->payload.bytes.end());
      if (payload.empty()) payload = now;
      EXPECT_EQ(payload, now) << "what is sent again is another";
    }
  }
};

class OwnRatios : public testing::Test {
 protected:
  Options options(std::uint64_t rounds = 8) {
    Options options;
    options.agents = 4;
    options.rounds = rounds;
    options.policy.codec = kCodec;
    options.policy.planning.goal = wire::PlanGoal::adaptive;
    options.policy.bucket_values_max = 128;
    options.policy.agents_min = 2;
    options.policy.deadline_ms = 2'000;
    options.before_event = [this](std::uint32_t i, const Event& event) { lines.observe(i, event); };
    options.after_event = [this](std::uint32_t i, const Actions& actions, const Agent&) {
      lines.record(i, actions);
    };
    return options;
  }

  std::shared_ptr<const RoundPlan> plan_of(Federation& federation, const CommitRecord& commit) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    wire::PlanT wire;
    (*frame)->message_as_Plan()->UnPackTo(&wire);
    const auto job = JobModel::make(federation.journal().state().jobs[0].job.definition);
    auto plan = RoundPlan::make(wire, **job, cache_);
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    return *plan;
  }

  FloatVector decoded(const PlannedBucket& bucket, ByteSpan payload) {
    FloatVector values(bucket.values);
    const Status status = bucket.codec->decode({.round = {.agents = 4}}, payload, values);
    EXPECT_TRUE(status.ok()) << status.text();
    return values;
  }

  // Every agent sent its assigned share of every bucket, and the result is the sum of the payloads.
  void expect_kept(Federation& federation, const CommitRecord& commit,
                   const std::map<std::uint32_t, double>& shares) {
    const auto plan = plan_of(federation, commit);
    const auto& agents = lines.rounds[commit.round.id];
    for (const OutcomeRecord& outcome : commit.round.outcomes) {
      const PlannedBucket& bucket = plan->buckets()[outcome.bucket];
      FloatVector sum(bucket.values, 0.0f);
      for (const auto& [agent, sent] : agents) {
        const auto found = sent.of.find(outcome.bucket);
        if (found == sent.of.end()) continue;
        const FloatVector values = decoded(bucket, found->second);
        const auto own = shares.find(agent);
        const double share = own == shares.end() ? kShare : own->second;
        const double kept = std::max(1.0, std::floor(share * bucket.values));
        EXPECT_EQ(std::ranges::count_if(values, [](float x) { return x != 0; }), kept)
            << "agent " << agent << ", bucket " << bucket.index;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
      }
      const RedoPayload& redo =
          *std::ranges::find(commit.redo, outcome.bucket, &RedoPayload::bucket);
      EXPECT_EQ(decoded(bucket, *redo.payload), sum) << "bucket " << bucket.index;
    }
  }

  Lines lines;
  CodecCache cache_;
};

TEST_F(OwnRatios, ASlowAgentSendsLessAndTheOthersAsMuchAsBefore) {
  Options options = this->options();
  options.advise = [](const RoundPlayed& round) {
    return round.round == 1 ? advice({{"agent-1", 0.04}, {"agent-3", 0.01}}) : nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(1e-6);
  const auto& commits = federation.journal().commits();
  expect_kept(federation, commits[0], {});
  std::size_t checked = 0;
  for (std::size_t i = 2; i < commits.size(); ++i) {
    SCOPED_TRACE(i + 1);
    expect_kept(federation, commits[i], {{1, 0.04}, {3, 0.01}});
    for (const auto& [agent, sent] : lines.rounds[commits[i].round.id]) {
      EXPECT_EQ(sent.ratio, agent == 1 ? 0.04 : agent == 3 ? 0.01 : kShare);
      ++checked;
    }
    // All agents contribute, and each has weight 1.
    for (const ContributorSetRecord& set : commits[i].round.contributor_sets) {
      EXPECT_EQ(set.contributors, 4u);
      EXPECT_EQ(set.divisor, 4);
    }
    const auto plan = plan_of(federation, commits[i]);
    EXPECT_EQ(plan->wire().exchanges[0]->ratios, (std::vector<double>{kShare, 0.04, kShare, 0.01}));
    EXPECT_EQ(plan->wire().exchanges[0]->codec, cache_.get(kCodec).value()->spec());
  }
  EXPECT_EQ(checked, 6u * 4);
}

TEST_F(OwnRatios, WeightsDoNotChange) {
  Options options = this->options();
  options.change_job = [](wire::JobT& job) { job.weighting = wire::Weighting::examples; };
  options.examples_of = [](std::uint32_t agent) { return 10 * (agent + 1); };
  options.advise = [](const RoundPlayed&) { return advice({{"agent-3", 0.02}}); };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  const CommitRecord& last = federation.journal().commits().back();
  expect_kept(federation, last, {{3, 0.02}});
  for (const ContributorSetRecord& set : last.round.contributor_sets) {
    EXPECT_EQ(set.contributors, 4u);
    EXPECT_DOUBLE_EQ(set.divisor, (10 + 20 + 30 + 40) / 40.0);
  }
}

TEST_F(OwnRatios, AnAgentThatStartsAgainKeepsItsShareAndLosesNothing) {
  Options options = this->options(24);
  options.advise = [](const RoundPlayed& round) {
    return round.round == 1 ? advice({{"agent-2", 0.02}}) : nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(4));
  // Once during training and once while the payloads are in flight.
  for (const TimeNs after : {kNsPerMs, 8 * kNsPerMs, 9 * kNsPerMs}) {
    const std::uint64_t version = federation.coordinator().model_version();
    const TimeNs then = federation.now() + after;
    ASSERT_TRUE(federation.run([&] { return federation.now() >= then; }));
    federation.crash_agent(2);
    federation.start_agent(2);
    ASSERT_TRUE(federation.run_rounds(version + 4)) << federation.describe();
  }
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(1e-6);
  const auto& commits = federation.journal().commits();
  std::size_t contributed = 0;
  for (std::size_t i = 2; i < commits.size(); ++i) {
    SCOPED_TRACE(i + 1);
    const auto sent = lines.rounds[commits[i].round.id].find(2);
    if (sent == lines.rounds[commits[i].round.id].end() || sent->second.of.empty()) continue;
    EXPECT_EQ(sent->second.ratio, 0.02);
    if (commits[i].round.contributor_sets[0].contributors == 4) {
      expect_kept(federation, commits[i], {{2, 0.02}});
      ++contributed;
    }
  }
  EXPECT_GE(contributed, 8u);
}

TEST_F(OwnRatios, ARepeatedPlanHasTheSameRatios) {
  Options options = this->options(12);
  options.loss = 0.1;
  options.repeat = 0.1;
  options.delay_max_ns = 10 * kNsPerMs;
  options.advise = [](const RoundPlayed& round) {
    return round.round == 1 ? advice({{"agent-0", 0.1}}) : nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(4));
  for (std::uint64_t round = 5; round < 10; ++round) {
    federation.reconnect_agent(0);
    ASSERT_TRUE(federation.run_rounds(round)) << federation.describe();
  }
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  federation.expect_conserved(1e-6);
  for (const auto& [key, agents] : lines.rounds) {
    if (key.round < 4) continue;
    for (const auto& [agent, sent] : agents) EXPECT_EQ(sent.ratio, agent == 0 ? 0.1 : kShare);
  }
}

TEST_F(OwnRatios, AdviceThatAsksForMoreThanTheCodecKeepsIsRefused) {
  const auto with = [](std::string codec, wire::Collective collective, double share) {
    auto made = advice({{"agent-1", share}});
    made->choice.codec = std::move(codec);
    made->choice.collective = collective;
    return made;
  };
  const std::vector<std::shared_ptr<PlanAdvice>> wrong = {
      with("topk:cr=0.01", wire::Collective::star, 0.02),
      with("topk:cr=0.01", wire::Collective::star, 0),
      with("topk:cr=0.01", wire::Collective::star, -1),
      with("topk:cr=0.01", wire::Collective::star, std::nan("")),
      with("star_topk:cr=0.01", wire::Collective::star, 0.001),
      with("fp16", wire::Collective::star, 0.5),
      with("topk:cr=0.01", wire::Collective::all_gather, 0.001),
  };
  Options options = this->options(wrong.size() + 2);
  options.peers = true;
  options.advise = [&](const RoundPlayed& round) {
    return wrong[(round.round - 1) % wrong.size()];
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_GE(federation.noted("advice_refused"), static_cast<int>(wrong.size()));
  for (const CommitRecord& commit : federation.journal().commits()) {
    const auto plan = plan_of(federation, commit);
    EXPECT_EQ(plan->wire().exchanges[0]->codec, cache_.get(kCodec).value()->spec());
    EXPECT_TRUE(plan->wire().exchanges[0]->ratios.empty());
  }
}

TEST_F(OwnRatios, AgentsUnknownToTheDecisionKeepAll) {
  Options options = this->options();
  options.advise = [](const RoundPlayed&) {
    return advice({{"agent-0", 0.1}, {"somebody-else", 0.05}});
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  expect_kept(federation, federation.journal().commits().back(), {{0, 0.1}});
}

}  // namespace
}  // namespace tributary
