// Tests of the planning thread of a coordinator with a real journal. The test receives the
// decisions in place of the state machine.
#include "coordinator/planning/plan_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>

#include "core/base/log/memory_log_testing.h"
#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"
#include "core/store/database/journal.h"

namespace tributary {
namespace {

using plan_testing::beta_of_mbit;
using std::chrono::seconds;
using testing::HasSubstr;

// Receives the decisions in place of a state machine.
class Advised {
 public:
  void add(PlanAdvised advised) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(advised));
    changed_.notify_all();
  }
  // Returns null on a timeout.
  std::shared_ptr<const PlanAdvice> next(seconds patience = seconds(30)) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, patience, [this] { return !all_.empty(); })) return nullptr;
    const PlanAdvised first = std::move(all_.front());
    all_.pop_front();
    EXPECT_EQ(first.job, 7u);
    return first.advice;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PlanAdvised> all_;
};

PlanInputs inputs_of(const PlanAdvice& advice) {
  Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(advice.inputs.data()), advice.inputs.size()});
  EXPECT_TRUE(inputs.ok()) << inputs.status().text();
  return inputs.ok() ? *std::move(inputs) : PlanInputs();
}

class PlanServiceTest : public testing::Test {
 protected:
  PlanServiceTest() { make_planning(); }

  void make_planning() {
    service = std::make_unique<PlanService>(PlanServiceParts{
        .links = [this](const std::vector<std::string>& agents) { return links_of(agents); },
        .advise = [this](PlanAdvised advised) { advised_.add(std::move(advised)); },
        .codecs = [this](std::uint32_t, const auto&) -> Result<std::vector<PlanCodec>> {
          std::vector<PlanCodec> all = plan_testing::federation(100, 1).codecs;
          if (knows_gcomp) all.push_back(plan_testing::fixed_codec("gcomp", 3, 1e-9, 1));
          if (knows_rates) all.push_back(plan_testing::fixed_codec("thc:rate=2.5", 1, 1e-9, 1));
          std::erase_if(all, [this](const PlanCodec& codec) {
            return !codecs.empty() && std::ranges::find(codecs, codec.spec) == codecs.end();
          });
          return all;
        },
        .own_speeds =
            [](const auto&) {
              return DeviceSpeeds{{"thc", {1e9, 1e9}}, {"fp32", {1e9, 1e9}}};
            },
        .clock = clock,
        .log = log});
  }

  PlanLinks links_of(const std::vector<std::string>& agents) const {
    PlanLinks links;
    const double beta = beta_of_mbit(mbit);
    for (const std::string& id : agents) {
      links.agents[id] = {.alpha_s = 1e-3, .beta_s_per_byte = beta, .down_beta_s_per_byte = beta};
    }
    if (slow_up > 1) {
      for (auto& [id, link] : links.agents) link.down_beta_s_per_byte = beta / 1000;
      links.agents["b"].beta_s_per_byte = beta * slow_up;
    }
    links.peer_alpha_s = 1e-3;
    links.peer_beta_s_per_byte = beta;
    return links;
  }

  void report(const std::string& id) {
    service->reported({.job = 7,
                       .round = round.round,
                       .agent_id = id,
                       .compute_s = 0.05,
                       .ratios = {0.001F, 0.01F, 0.1F},
                       .gains = {0.1F, 0.3F, 0.7F},
                       .bytes = 1000,
                       .trials = trials});
  }

  void play() {
    ++round.round;
    for (const char* id : {"a", "b"}) report(id);
    service->played(round);
  }

  double mbit = 1000;
  double slow_up = 1;  // above 1: downlinks are fast, and b's uplink is this many times slower
  std::vector<std::string> codecs;   // empty: all
  std::vector<wire::TrialT> trials;  // reported by every agent
  bool knows_gcomp = false;
  bool knows_rates = false;
  RoundPlayed round = {.job = 7,
                       .round = 0,
                       .rounds_left = 100,
                       .values = 1u << 20,
                       .planning = {.goal = wire::PlanGoal::adaptive},
                       .choice = {.codec = "fp32", .bucket_values_max = 1u << 20},
                       .round_s = 0.5,
                       .participants = {{.agent_id = "a"}, {.agent_id = "b"}},
                       .peers_reachable = true};
  SystemClock clock;
  MemoryLog log;
  Advised advised_;
  std::unique_ptr<PlanService> service;
};

// A restarted planner publishes the same decision again from its stored inputs.
TEST_F(PlanServiceTest, ContinuesWithTheEarlierDecision) {
  play();
  const auto first = advised_.next();
  ASSERT_NE(first, nullptr);
  Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(first->inputs.data()), first->inputs.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  make_planning();
  service->resume(7, *std::move(inputs));
  const auto again = advised_.next();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->choice, first->choice);
  EXPECT_EQ(again->sentence, first->sentence);
  EXPECT_EQ(again->inputs, first->inputs);
  round.choice = first->choice;
  round.round_s = 0.05 + 50 * first->alternatives[0].wire_s;
  for (int i = 0; i < 8; ++i) play();
  const auto next = advised_.next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->trigger, wire::Trigger::link_changed) << "and not another first one";
}

// Every agent sends once and receives once, at the same time. A ring has one and a half times that.
// The first plan may stay with the star, whose time is known, and the next one tries the other way.
TEST_F(PlanServiceTest, SumsInTheNetworkAreAdvisedWhereAnAggregatorCanBeReached) {
  codecs = {std::string(kInNetworkCodec)};
  mbit = 20;
  round.choice.codec = kInNetworkCodec;
  round.participants.push_back({.agent_id = "c"});
  round.participants.push_back({.agent_id = "d"});
  round.aggregator_reachable = true;
  play();
  auto advice = advised_.next();
  ASSERT_NE(advice, nullptr);
  if (advice->choice.collective == wire::Collective::star) {
    play();
    advice = advised_.next();
    ASSERT_NE(advice, nullptr);
  }
  EXPECT_EQ(advice->choice.collective, wire::Collective::in_network) << advice->sentence;
  EXPECT_TRUE(inputs_of(*advice).aggregator_present);
  round.aggregator_reachable = false;
  for (int i = 0; i < 8; ++i) play();
  const auto after = advised_.next();
  ASSERT_NE(after, nullptr);
  EXPECT_NE(after->choice.collective, wire::Collective::in_network);
}

// A job that names it may use the codec of sums by the star, too.
TEST_F(PlanServiceTest, PlansAreLimitedToWhatTheJobAllows) {
  codecs = {"fp16", "threelc:s=1", std::string(kInNetworkCodec)};
  mbit = 0.5;
  round.planning.codecs = {std::string(kInNetworkCodec)};
  round.planning.collectives = {wire::Collective::star};
  play();
  const auto advice = advised_.next();
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->choice.codec, kInNetworkCodec);
  for (const wire::AlternativeT& one : advice->alternatives) {
    EXPECT_EQ(one.codec, kInNetworkCodec);
    EXPECT_EQ(one.collective, wire::Collective::star);
  }
  EXPECT_EQ(inputs_of(*advice).policy.codecs, round.planning.codecs);
  EXPECT_EQ(inputs_of(*advice).policy.collectives, round.planning.collectives);
}

TEST_F(PlanServiceTest, AdvisesOnceAndAgainWhenTheLineChanges) {
  play();
  const auto first = advised_.next();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->trigger, wire::Trigger::first_round);
  EXPECT_THAT(first->sentence, HasSubstr("first plan"));
  ASSERT_FALSE(first->alternatives.empty());
  EXPECT_TRUE(first->alternatives[0].chosen);
  EXPECT_EQ(first->alternatives[0].codec, first->choice.codec);
  round.choice = first->choice;
  round.round_s = 0.05 + 50 * first->alternatives[0].wire_s;
  for (int i = 0; i < 8; ++i) play();
  const auto second = advised_.next();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->trigger, wire::Trigger::link_changed);
  EXPECT_FALSE(second->choice == first->choice);
  // The decision carries its inputs.
  const Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(second->inputs.data()), second->inputs.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  EXPECT_EQ(inputs->agents.size(), 2u);
  EXPECT_TRUE(inputs->agents[0].gain.known());
}

// Before any round, codecs are measured once. Stopping does not wait for the rest of the
// measurement.
TEST(PlannerPreparation, MeasuresOnceAndLetsItselfBeStopped) {
  SystemClock clock;
  MemoryLog log;
  std::promise<void> begun;
  int asked = 0;
  bool stopped = false;
  const auto codecs = [&](std::uint32_t agents,
                          const auto& go_on) -> Result<std::vector<PlanCodec>> {
    EXPECT_EQ(agents, 3u);
    if (++asked == 1) begun.set_value();
    while (go_on()) {
    }
    stopped = true;
    return Status(StatusCode::cancelled, {.what = "measurement"});
  };
  {
    PlanService service({.links = [](const std::vector<std::string>&) { return PlanLinks(); },
                         .advise = [](const PlanAdvised&) {},
                         .codecs = codecs,
                         .own_speeds = [](const auto&) { return DeviceSpeeds(); },
                         .clock = clock,
                         .log = log});
    service.prepare(3);
    service.prepare(3);
    begun.get_future().wait();
  }
  EXPECT_TRUE(stopped);
  EXPECT_EQ(asked, 1);
}

// The policy contains the remaining bytes of the current day.
TEST_F(PlanServiceTest, AByteBudgetIsTheRestOfToday) {
  round.planning = {.goal = wire::PlanGoal::byte_budget, .bytes_per_day = 1e9};
  play();
  const auto advice = advised_.next();
  ASSERT_NE(advice, nullptr);
  const Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(advice->inputs.data()), advice->inputs.size()});
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ(inputs->policy.goal, wire::PlanGoal::byte_budget);
  EXPECT_EQ(inputs->policy.bytes_left_today, 1e9 - 1000);
  EXPECT_LE(inputs->policy.seconds_left_today, 86'400);
}

// A restarted coordinator does not begin a budget anew.
TEST_F(PlanServiceTest, BudgetsAreChargedWithEarlierUse) {
  const std::int64_t now_s = wall_time_ns(clock) / 1'000'000'000;
  const auto day = static_cast<std::uint64_t>(now_s / 86'400);
  service->spent(7, {.seconds = 900, .day = day, .bytes = {{"a", 5'000'000}, {"b", 1}}});
  round.planning = {.goal = wire::PlanGoal::time_budget, .time_budget_s = 1000};
  play();
  const auto timed = advised_.next();
  ASSERT_TRUE(timed);
  EXPECT_LE(inputs_of(*timed).policy.budget_s, 100);
  EXPECT_GT(inputs_of(*timed).policy.budget_s, 0);

  make_planning();
  service->spent(7, {.day = day, .bytes = {{"a", 5'000'000}, {"b", 1}}});
  round.planning = {.goal = wire::PlanGoal::byte_budget, .bytes_per_day = 6e6};
  play();
  const auto counted = advised_.next();
  ASSERT_TRUE(counted);
  // Both agents have just reported 1000 bytes more.
  EXPECT_EQ(inputs_of(*counted).policy.bytes_left_today, 6e6 - 5'001'000);
}

TEST_F(PlanServiceTest, AnAgentWithASlowLinkGetsALowerRatio) {
  codecs = {"topk"};
  round.peers_reachable = false;
  mbit = 20;
  slow_up = 8;
  round.round_s = 13.5;  // for 4 MB at 2.5 Mbit/s
  play();
  const auto advice = advised_.next();
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->choice.collective, wire::Collective::star);
  ASSERT_EQ(advice->ratios.size(), 2u);
  const double ratio = advice->alternatives[0].ratio;
  EXPECT_EQ(advice->ratios.at("a"), ratio);
  EXPECT_LT(advice->ratios.at("b"), ratio / 2);
  EXPECT_THAT(advice->sentence, HasSubstr("; for its slow link b has ratio "));
  // The same inputs give the same plan.
  const Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(advice->inputs.data()), advice->inputs.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  const Result<PlanDecision> again = decide(*inputs);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->ratios, (std::vector<double>{ratio, advice->ratios.at("b")}));
  EXPECT_EQ(again->reason, advice->sentence);
}

// Trials are requested after some rounds, and their results enter the next decision.
TEST_F(PlanServiceTest, AgentsTryCodecsAndTheirReportsCount) {
  round.planning.exploring_share = 0.02;
  mbit = 10;
  play();
  const auto first = advised_.next();
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->trials.empty()) << "there was no time yet to take a share of";
  auto asked = first;
  for (int i = 0; i < 20 && asked->trials.empty(); ++i) {
    round.choice = asked->choice;
    round.round_s = 0.05 + asked->alternatives[0].wire_s;
    for (int played = 0; played < 6; ++played) play();
    asked = advised_.next();
    ASSERT_NE(asked, nullptr) << first->sentence;
  }
  ASSERT_FALSE(asked->trials.empty());
  EXPECT_GT(asked->trial_s, 0);
  EXPECT_THAT(asked->sentence, HasSubstr("agents try " + asked->trials[0]));
  for (const std::string& spec : asked->trials) {
    wire::TrialT& trial = trials.emplace_back();
    trial.codec = spec;
    trial.gain = 0.25;
    trial.values = 1000;
  }
  round.choice = asked->choice;
  for (int i = 0; i < 8; ++i) play();
  auto next = advised_.next();
  while (next && next->trigger != wire::Trigger::gain_changed) next = advised_.next();
  ASSERT_NE(next, nullptr);
  const Result<PlanInputs> inputs =
      parse_plan_inputs({reinterpret_cast<const char*>(next->inputs.data()), next->inputs.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  EXPECT_EQ(next->trigger, wire::Trigger::gain_changed);
  EXPECT_EQ(inputs->agents[0].tried.at(asked->trials[0]), 0.25);
  EXPECT_EQ(inputs->agents[1].tried.size(), asked->trials.size());
}

// Only an agent has the optimizer's state on which GComp's payload depends. Other codecs keep the
// size that the coordinator has measured.
TEST_F(PlanServiceTest, ATrialOfGcompReportsPayloadBytes) {
  knows_gcomp = true;
  for (const char* spec : {"gcomp", "fp16"}) {
    wire::TrialT& trial = trials.emplace_back();
    trial.codec = spec;
    trial.gain = 1;
    trial.values = 1000;
    trial.bytes = 1500;
  }
  play();
  const auto advised = advised_.next();
  ASSERT_NE(advised, nullptr);
  const Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(advised->inputs.data()), advised->inputs.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  const auto bytes_of = [&](const char* spec) {
    const auto codec = std::ranges::find(inputs->codecs, spec, &PlanCodec::spec);
    const auto place = static_cast<std::size_t>(codec - inputs->codecs.begin());
    return codec->stages[0].up_bytes_per_value * typical_world(inputs->worlds).size[place];
  };
  EXPECT_NEAR(bytes_of("gcomp"), 1.5, 0.03);
  EXPECT_NEAR(bytes_of("fp16"), 2, 0.3);
}

// The round took 0.5 s. Agent a trained for 0.4 s, of which 0.3 s were over when the round began.
TEST_F(PlanServiceTest, TrainingBeforeTheRoundIsNoPartOfIt) {
  service->reported(
      {.job = 7, .agent_id = "a", .compute_s = 0.4, .waited_s = 0.3, .hidden_s = 0.3});
  service->reported({.job = 7, .agent_id = "b", .compute_s = 0.05});
  round.round = 1;
  service->played(round);
  const auto entries = log.entries();
  const auto timed = std::ranges::find(entries, "round timed", &MemoryLog::Entry::message);
  ASSERT_NE(timed, entries.end());
  const auto exchange =
      std::ranges::find(timed->fields, "exchange_s", &std::pair<std::string, std::string>::first);
  ASSERT_NE(exchange, timed->fields.end());
  EXPECT_NEAR(std::stod(exchange->second), 0.4, 1e-9);
}

// Gains at rates come with every report and enter the inputs as those of the specs.
TEST_F(PlanServiceTest, GainsAtRatesReachThePlan) {
  knows_rates = true;
  for (const char* const agent : {"a", "b"}) {
    service->reported({.job = 7,
                       .agent_id = agent,
                       .compute_s = 0.05,
                       .ratios = {},
                       .gains = {},
                       .rates = {1, 2.5F},
                       .rate_gains = {0.75F, 0.875F}});
  }
  service->reported(
      {.job = 7, .agent_id = "b", .ratios = {}, .gains = {}, .rates = {1}, .rate_gains = {1.5F}});
  service->played(round);
  const auto advice = advised_.next();
  ASSERT_NE(advice, nullptr);
  const Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(advice->inputs.data()), advice->inputs.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  using Gains = std::map<std::string, double>;
  EXPECT_EQ(inputs->agents[0].tried, (Gains{{"thc:rate=2.5", 0.875}}));
  EXPECT_EQ(inputs->agents[1].tried, inputs->agents[0].tried) << "an invalid report counts as none";
}

// The downlinks are a thousand times faster, so bits on them cost least, and the round that used
// the weight still counts as one of the decision.
TEST_F(PlanServiceTest, SetsTheWeightOfTheDownlinkFromTheLinks) {
  knows_rates = true;
  codecs = {"thc:rate=2.5"};
  slow_up = 2;
  mbit = 10;
  round.round_s = 6.8;  // for 4 MB at 5 Mbit/s
  round.peers_reachable = false;
  make_planning();
  play();
  const auto first = advised_.next();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->choice.codec, "thc:rate=2.5,down_weight=0.125");
  EXPECT_EQ(first->alternatives[0].codec, "thc:rate=2.5");
  EXPECT_THAT(first->sentence, HasSubstr("; down_weight=0.125, because the slowest downlink has "));
  round.choice = first->choice;
  round.round_s = 0.05 + first->alternatives[0].wire_s;
  for (int i = 0; i < 8; ++i) play();
  round.participants.push_back({.agent_id = "c"});
  play();
  const auto second = advised_.next();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->trigger, wire::Trigger::membership_changed);
  ASSERT_TRUE(inputs_of(*second).before.has_value());
  EXPECT_EQ(inputs_of(*second).before->rounds, 9u) << "rounds of the first decision";
}

// A report with an invalid curve must not reach the planner.
TEST_F(PlanServiceTest, ACurveThatCannotBeIsAsGoodAsNone) {
  service->reported(
      {.job = 7, .agent_id = "a", .compute_s = 0.05, .ratios = {0.5F, 0.1F}, .gains = {2, 3}});
  service->played(round);
  const auto advice = advised_.next();
  ASSERT_NE(advice, nullptr);
  const Result<PlanInputs> inputs = parse_plan_inputs(
      {reinterpret_cast<const char*>(advice->inputs.data()), advice->inputs.size()});
  ASSERT_TRUE(inputs.ok());
  EXPECT_FALSE(inputs->agents[0].gain.known());
}

}  // namespace
}  // namespace tributary
