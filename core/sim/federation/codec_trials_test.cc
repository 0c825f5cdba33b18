// Tests of codec trials, which agents run while they wait: their results, their time, and that they
// do not change the exchange.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/round/common/plan/codec_trials.h"
#include "core/sim/federation/federation_testing.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

std::shared_ptr<PlanAdvice> trial_advice(std::string codec, wire::Collective collective,
                                         std::vector<std::string> trials, double trial_s = 1) {
  auto made = std::make_shared<PlanAdvice>();
  made->choice = {.codec = std::move(codec), .collective = collective, .bucket_values_max = 128};
  made->trigger = wire::Trigger::exploration;
  made->sentence = "because nobody knows";
  made->trials = std::move(trials);
  made->trial_s = trial_s;
  return made;
}

Options exploring(std::uint64_t rounds = 6) {
  Options options;
  options.rounds = rounds;
  options.peers = true;
  options.policy.planning = {.goal = wire::PlanGoal::adaptive, .exploring_share = 0.02};
  options.policy.agents_min = 3;
  return options;
}

std::map<std::string, wire::TrialT> trials_of(const Federation& federation,
                                              const std::string& agent, std::uint64_t round) {
  std::map<std::string, wire::TrialT> trials;
  for (const AgentReported& report : federation.log.reported) {
    if (report.agent_id != agent) continue;
    for (const wire::TrialT& trial : report.trials) {
      if (trial.round != round) continue;
      EXPECT_EQ(trials.count(trial.codec), 0u) << "told twice";
      trials[trial.codec] = trial;
    }
  }
  return trials;
}

// The share of the energy that is kept if the buckets of a plan are encoded and decoded by a codec
// with one stage. With several rounds of the same update, the loss of each round is added to the
// next.
double gain_by_exchange(const wire::PlanT& wire, const JobModel& job, const std::string& spec,
                        std::uint32_t rank, const FloatVector& update) {
  CodecCache cache;
  const auto plan = *RoundPlan::make(wire, job, cache);
  const std::shared_ptr<const Codec> codec = *cache.get(spec);
  double energy = 0;
  double error = 0;
  for (const PlannedBucket& bucket : plan->buckets()) {
    const auto input = std::span(update).subspan(bucket.first_value, bucket.values);
    const StageCall call = {.round = plan->context(bucket, rank)};
    const auto encoder = codec->make_encoder(bucket.values);
    FloatVector left(bucket.values, 0.0f);
    FloatVector decoded(bucket.values);
    for (std::uint32_t turn = 0; turn < CodecTrials::kTurns; ++turn) {
      for (std::size_t i = 0; i < input.size(); ++i) left[i] += input[i];
      Bytes payload;
      EXPECT_TRUE(encoder->encode(call, left, payload).ok());
      EXPECT_TRUE(codec->decode(call, payload, decoded).ok());
      for (std::size_t i = 0; i < input.size(); ++i) left[i] -= decoded[i];
    }
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double due = CodecTrials::kTurns * static_cast<double>(input[i]);
      energy += due * due;
      error += static_cast<double>(left[i]) * static_cast<double>(left[i]);
    }
  }
  return 1 - error / energy;
}

wire::PlanT plan_of_round(const Federation& federation, std::uint64_t round) {
  wire::PlanT plan;
  const CommitRecord& commit = federation.journal().commits()[round - 1];
  (*open_frame(*commit.round.plan))->message_as_Plan()->UnPackTo(&plan);
  return plan;
}

TEST(CodecTrials, ReportTheGainOfTheAgentsOwnUpdate) {
  Options options = exploring();
  options.look_ns = kNsPerMs / 10;
  options.advise = [](const RoundPlayed& round) {
    return round.round == 1 ? trial_advice("fp32", wire::Collective::star,
                                           {"threelc:bypass=0", "int8", "thc:bits=4"})
                            : nullptr;
  };
  Federation federation(options);
  std::map<std::uint32_t, std::vector<FloatVector>> given;
  federation.twist = [&](std::uint32_t agent, FloatVector& update) {
    given[agent].push_back(update);
  };
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  constexpr std::uint64_t kAsked = 3;  // round 2 had begun before the advice was ready
  const wire::PlanT plan = plan_of_round(federation, kAsked);
  EXPECT_EQ(plan.trials, (std::vector<std::string>{"threelc:bypass=0", "int8", "thc:bits=4"}));
  EXPECT_EQ(plan.trial_s, 1);
  EXPECT_EQ(plan.reason->trigger, wire::Trigger::exploration);
  EXPECT_TRUE(plan_of_round(federation, kAsked + 1).trials.empty());
  const auto job = *JobModel::make(federation.journal().state().jobs[0].job.definition);
  for (std::uint32_t agent = 0; agent < options.agents; ++agent) {
    const auto trials = trials_of(federation, "agent-" + std::to_string(agent), kAsked);
    ASSERT_EQ(trials.size(), 3u) << agent;
    // fp32 loses nothing, so the codecs are tried on the update alone.
    for (const char* spec : {"threelc:bypass=0", "int8"}) {
      const double gain = gain_by_exchange(plan, *job, spec, agent, given[agent].at(kAsked - 1));
      EXPECT_LT(gain, 1);
      EXPECT_NEAR(trials.at(spec).gain, gain, 1e-6) << spec;
    }
    EXPECT_GT(trials.at("thc:bits=4").gain, 0.9);
    for (const auto& [spec, trial] : trials) {
      EXPECT_EQ(trial.values, CodecTrials::kTurns * federation.values());
      EXPECT_GT(trial.bytes, 0u);
      EXPECT_LT(trial.bytes, 4 * trial.values + 8 * 400) << "of envelopes, one for each bucket";
      EXPECT_GT(trial.encode_s, 0);
      EXPECT_GT(trial.decode_s, 0);
    }
  }
}

// The state that a round leaves behind.
struct LeftBehind {
  FloatVector model;
  std::vector<FloatVector> residuals;
  std::vector<std::uint64_t> results;
  std::size_t trials = 0;
};

LeftBehind play(const std::string& codec, wire::Collective collective, bool with_trials) {
  Options options = exploring(8);
  options.advise = [&](const RoundPlayed&) {
    std::vector<std::string> trials = {"thc:bits=4", codec, "threelc", "gcomp", "powersgd"};
    return trial_advice(codec, collective, with_trials ? trials : std::vector<std::string>());
  };
  Federation federation(options);
  EXPECT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  LeftBehind left = {.model = *federation.coordinator().model(), .residuals = {}, .results = {}};
  for (std::uint32_t i = 0; i < options.agents; ++i) {
    const SharedFloats residual = federation.agent(i).residual();
    left.residuals.push_back(residual ? *residual : FloatVector());
  }
  for (const CommitRecord& commit : federation.journal().commits()) {
    for (const OutcomeRecord& outcome : commit.round.outcomes) {
      left.results.push_back(outcome.result_hash);
    }
  }
  for (const AgentReported& report : federation.log.reported) left.trials += report.trials.size();
  return left;
}

// Codecs with random draws, with memory, and with a residual.
TEST(CodecTrials, EverythingIsTheSameWithThemAndWithout) {
  const std::pair<std::string, wire::Collective> rounds[] = {
      {"thc:bits=2", wire::Collective::star},      {"topk:cr=0.05", wire::Collective::star},
      {"gcomp", wire::Collective::star},           {"qsgd", wire::Collective::star},
      {"thc:bits=4", wire::Collective::ring},      {"powersgd", wire::Collective::star},
      {"star_topk:cr=0.1", wire::Collective::tree}};
  for (const auto& [codec, collective] : rounds) {
    const LeftBehind with = play(codec, collective, true);
    const LeftBehind without = play(codec, collective, false);
    EXPECT_GT(with.trials, 0u) << codec;
    EXPECT_EQ(without.trials, 0u) << codec;
    EXPECT_EQ(with.model, without.model) << codec;
    EXPECT_EQ(with.residuals, without.residuals) << codec;
    EXPECT_EQ(with.results, without.results) << codec;
  }
}

TEST(CodecTrials, EndWhenTheirTimeIsOverAndTheFirstHaveHadTheirs) {
  Options options = exploring();
  options.delay_min_ns = options.delay_max_ns = 20 * kNsPerMs;
  options.advise = [](const RoundPlayed& round) {
    // With the test's stopwatch, a reading of the time takes 1 ms, and a step 5 ms or more.
    return round.round == 1
               ? trial_advice("fp32", wire::Collective::star, {"fp16", "threelc", "gcomp"}, 0.012)
               : nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  const auto trials = trials_of(federation, "agent-1", 3);
  ASSERT_EQ(trials.size(), 1u);
  const wire::TrialT& first = trials.at("fp16");
  EXPECT_GT(first.values, 0u);
  EXPECT_LT(first.values, CodecTrials::kTurns * federation.values()) << "a part of the samples";
  EXPECT_GT(first.gain, 0.999);
}

TEST(CodecTrials, AreNotBegunWithoutTimeForThem) {
  Options options = exploring();
  options.advise = [](const RoundPlayed&) {
    return trial_advice("fp32", wire::Collective::star, {"fp16"}, 0);
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  for (const AgentReported& report : federation.log.reported) EXPECT_TRUE(report.trials.empty());
}

TEST(CodecTrials, UnknownCodecsAndOtherRootsAreSkipped) {
  Options options = exploring();
  options.advise = [](const RoundPlayed& round) {
    std::vector<std::string> trials = {"of_tomorrow:levels=3", "star_topk:cr=0.1", "fp16"};
    trials.insert(trials.end(), 10, "int8");
    return round.round == 1 ? trial_advice("fp32", wire::Collective::star, trials) : nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(plan_of_round(federation, 3).trials.size(), wire::kTrialsMax);
  std::size_t roots = 0;
  for (std::uint32_t agent = 0; agent < options.agents; ++agent) {
    std::vector<std::string> specs;
    for (const AgentReported& report : federation.log.reported) {
      if (report.agent_id != "agent-" + std::to_string(agent)) continue;
      for (const wire::TrialT& trial : report.trials) specs.push_back(trial.codec);
    }
    EXPECT_EQ(std::ranges::count(specs, "of_tomorrow:levels=3"), 0);
    EXPECT_EQ(std::ranges::count(specs, "fp16"), 1);
    roots += static_cast<std::size_t>(std::ranges::count(specs, "star_topk:cr=0.1"));
  }
  EXPECT_LE(roots, 1u);
}

TEST(CodecTrials, ALargeModelIsSampled) {
  Options options = exploring(10);
  options.vector_values = 300'000;
  options.advise = [](const RoundPlayed& round) {
    auto advice = trial_advice("topk:cr=0.05", wire::Collective::star, {"fp16", "threelc"});
    advice->choice.bucket_values_max = (1u << 15) + 999 * round.round;
    return round.round % 3 == 1 ? advice : nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  std::size_t seen = 0;
  for (const AgentReported& report : federation.log.reported) {
    for (const wire::TrialT& trial : report.trials) {
      ++seen;
      EXPECT_EQ(trial.values, CodecTrials::kTurns * CodecTrials::kValuesTried) << trial.round;
    }
  }
  EXPECT_GE(seen, 6u);
}

}  // namespace
}  // namespace tributary
