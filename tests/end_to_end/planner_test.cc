// Rounds with a planner, in real processes. The coordinator measures its codecs and its agents'
// links and decides; repeating a decision from its stored inputs gives the same result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "core/plan/decide.h"
#include "core/plan/inputs_text.h"
#include "core/plan/search/predict.h"
#include "core/store/coordinator/run_file.h"
#include "schemas/frame.h"
#include "tests/end_to_end/federation/aggregator.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/relay.h"

namespace tributary::end_to_end {
namespace {

FederationOptions planned(const std::string& planning) {
  // The tests end the federation by signals, not by the number of rounds.
  return {.rounds = 1'000'000,
          .coordinator_settings = {"job.planning=" + planning, "job.parameters=200000",
                                   "job.agents_min=3"},
          .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0", "trainer.train_ms=20"},
          .exit_when_done = false};
}

void wait_for_rounds(Federation& federation, std::size_t count) {
  const auto rounds = [&] {
    return federation.coordinator().lines_with({"round committed"}).size();
  };
  const std::size_t so_far = rounds();
  ASSERT_TRUE(eventually([&] { return rounds() >= so_far + count; }));
}

// Waits until rounds have used a decision, however long measuring codecs takes on this machine.
void start_and_use_plan(Federation& federation) {
  federation.start_all();
  ASSERT_TRUE(eventually([&] {
    return !federation.coordinator().lines_with({"planner: ", "first plan"}).empty();
  }));
  ASSERT_TRUE(eventually([&] {
    return federation.coordinator().lines_with({"planner: ", "device measured"}).size() >= 3;
  }));
  // The first rounds may still use the job's initial plan.
  wait_for_rounds(federation, 10);
}

void end_all(Federation& federation) {
  for (std::uint32_t i = 0; i < 3; ++i) federation.agent(i).signal(SIGTERM);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(federation.agent(i).wait(), 0);
  federation.coordinator().signal(SIGTERM);
  EXPECT_EQ(federation.coordinator().wait(), 0);
}

void run_until_plan_used(Federation& federation) {
  ASSERT_NO_FATAL_FAILURE(start_and_use_plan(federation));
  end_all(federation);
}

struct PlanOfRound {
  std::uint64_t round = 0;
  wire::PlanT plan;
};

std::vector<PlanOfRound> plans_in(const std::string& journal) {
  Result<std::unique_ptr<RunFile>> run = RunFile::open(journal);
  EXPECT_TRUE(run.ok()) << run.status().text();
  if (!run.ok()) return {};
  const Result<std::vector<JobRecord>> jobs = (*run)->jobs();
  EXPECT_TRUE(jobs.ok() && !jobs->empty());
  const Result<std::vector<RoundRecord>> rounds = (*run)->rounds((*jobs)[0].job, 1, 100'000);
  EXPECT_TRUE(rounds.ok()) << rounds.status().text();
  std::vector<PlanOfRound> plans;
  for (const RoundRecord& record : *rounds) {
    const Result<const wire::Frame*> frame = open_frame(ByteSpan(*record.plan));
    PlanOfRound& one = plans.emplace_back();
    one.round = record.id.round;
    (*frame)->message_as_Plan()->UnPackTo(&one.plan);
  }
  return plans;
}

// Repeats the decision like `tributary plan replay`.
void expect_made_again(const wire::PlanT& plan) {
  const auto& bytes = plan.reason->inputs;
  const Result<PlanInputs> inputs =
      parse_plan_inputs({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  EXPECT_EQ(inputs->agents.size(), 3u);
  EXPECT_TRUE(inputs->agents[0].gain.known());
  EXPECT_TRUE(inputs->agents[0].tried.contains("thc:rate=2")) << "from the norms of its updates";
  const Result<PlanDecision> decision = decide(*inputs);
  ASSERT_TRUE(decision.ok()) << decision.status().text();
  EXPECT_EQ(decision->chosen.choice.codec, plan.reason->alternatives[0]->codec);
  EXPECT_EQ(decision->reason.substr(0, wire::kTextBytesMax), plan.reason->sentence);
}

// Explains the decision in force in this round with the program.
nlohmann::json explained(const Federation& federation, std::uint64_t round) {
  const std::string out = federation.path("explained.json");
  Process program({TRIBUTARY_CLI, "plan", "explain", federation.coordinator_journal(), "--round",
                   std::to_string(round), "--json"},
                  out);
  EXPECT_EQ(program.wait(), 0);
  std::ifstream file(out);
  return nlohmann::json::parse(file, nullptr, false).value("data", nlohmann::json());
}

void expect_explained(const nlohmann::json& explained, const PlanOfRound& decided) {
  ASSERT_TRUE(explained.is_object());
  EXPECT_EQ(explained.at("decided_in"), decided.round);
  EXPECT_EQ(explained.at("links").size(), 8u) << "of three agents, their peers, the coordinator";
  for (const auto& link : explained.at("links")) {
    const auto& rate = link.at("bits_per_s");
    if (rate.at("median").is_null()) continue;  // unlimited
    EXPECT_LE(rate.at("low"), rate.at("median"));
    EXPECT_LE(rate.at("median"), rate.at("high"));
  }
  const auto& chosen = explained.at("candidates").at(0);
  EXPECT_EQ(chosen.at("codec"), decided.plan.reason->alternatives[0]->codec);
  EXPECT_EQ(chosen.at("chosen"), true);
  EXPECT_GE(explained.at("measured_s").size(), 1u);
}

TEST(Planner, PlansRoundsAndAReplayRepeatsItsDecisions) {
  Federation federation(planned("adaptive"));
  ASSERT_NO_FATAL_FAILURE(run_until_plan_used(federation));
  EXPECT_TRUE(federation.coordinator().lines_with({"diverged"}).empty());
  std::size_t decided = 0;
  std::set<std::string> codecs;
  for (const PlanOfRound& one : plans_in(federation.coordinator_journal())) {
    codecs.insert(one.plan.exchanges[0]->codec);
    // Plans that continue an earlier decision have no inputs.
    if (one.plan.reason->inputs.empty()) continue;
    ++decided;
    expect_made_again(one.plan);
    if (decided == 1) expect_explained(explained(federation, one.round), one);
  }
  EXPECT_GE(decided, 1u);
  EXPECT_GE(codecs.size(), 2u);  // float32 and the planner's choice
}

TEST(Planner, AKilledCoordinatorKeepsItsDecision) {
  Federation federation(planned("adaptive"));
  ASSERT_NO_FATAL_FAILURE(start_and_use_plan(federation));
  federation.coordinator().signal(SIGKILL);
  federation.coordinator().wait();
  const std::vector<PlanOfRound> before = plans_in(federation.coordinator_journal());
  ASSERT_FALSE(before.empty());
  federation.start_coordinator();
  ASSERT_NO_FATAL_FAILURE(wait_for_rounds(federation, 3));
  EXPECT_FALSE(
      federation.coordinator().lines_with({"planner: ", "resumed the last decision"}).empty());
  end_all(federation);
  const wire::ExchangeT& last = *before.back().plan.exchanges[0];
  for (const PlanOfRound& one : plans_in(federation.coordinator_journal())) {
    // The next round may have started before the kill, so the one after it is checked.
    if (one.round != before.back().round + 2) continue;
    EXPECT_EQ(one.plan.exchanges[0]->codec, last.codec);
    ASSERT_FALSE(one.plan.reason->sentence.empty());
  }
}

TEST(Planner, ATimeBudgetThatIsLargeLetsEverythingThrough) {
  FederationOptions options = planned("time_budget");
  options.coordinator_settings.emplace_back("job.time_budget_s=1000000000");
  Federation federation(options);
  ASSERT_NO_FATAL_FAILURE(run_until_plan_used(federation));
  std::size_t chosen = 0;
  for (const PlanOfRound& one : plans_in(federation.coordinator_journal())) {
    for (const auto& choice : one.plan.reason->alternatives) {
      if (!choice->chosen) continue;
      // With an unlimited budget the planner maximizes the gain.
      EXPECT_GT(choice->gain, 0.999) << choice->codec;
      ++chosen;
    }
  }
  EXPECT_GE(chosen, 5u);
}

// Uplinks are slow and downlinks are not. No link is ever quiet and probes are off, so only the
// payloads of rounds can measure the downlinks.
TEST(Planner, WeighsSumsByTheMeasuredRatesOfDownlinks) {
  FederationOptions options = planned("adaptive");
  options.coordinator_settings.insert(options.coordinator_settings.end(),
                                      {"probes.on=false", "job.gain_min=0.95"});
  options.agent_settings = {"trainer.train_ms=20", "link.shape_bytes_per_s=100000",
                            "link.shape_burst_bytes=0"};
  Federation federation(options);
  federation.start_all();
  // A busy machine makes downlinks look slower, but not a hundred times.
  ASSERT_TRUE(eventually([&] {
    return !federation.coordinator().lines_with({"planner: ", "down_weight=0."}).empty();
  }));
  ASSERT_NO_FATAL_FAILURE(wait_for_rounds(federation, 2));
  end_all(federation);
  const auto answer = nlohmann::json::parse(federation.ask({"link", "list"}));
  std::set<std::string> measured;
  for (const auto& link : answer.at("data").at("links")) {
    if (link.at("from") != "" || link.at("beta_s_per_byte").is_null()) continue;
    const auto& beta = link.at("beta_s_per_byte");
    EXPECT_EQ(beta.at("method"), "passive");
    EXPECT_LT(beta.at("value").get<double>(), 1e-5) << "faster than the uplink";
    measured.insert(link.at("to").get<std::string>());
  }
  EXPECT_EQ(measured, (std::set<std::string>{"agent-0", "agent-1", "agent-2"}));
  std::size_t weighed = 0;
  for (const PlanOfRound& one : plans_in(federation.coordinator_journal())) {
    const std::string& codec = one.plan.exchanges[0]->codec;
    if (codec.find(",down_weight=0.") == std::string::npos) continue;
    EXPECT_EQ(codec.substr(0, 9), "thc:rate=");
    EXPECT_EQ(one.plan.exchanges[0]->collective, wire::Collective::star);
    ++weighed;
  }
  EXPECT_GE(weighed, 1u);
}

// Uplinks to the coordinator are thin, and the aggregator is near the agents. By the star an agent
// uploads its whole payload, and in the network a fourth of the sum.
TEST(Planner, ChoosesSumsInTheNetworkBehindAThinLink) {
  const std::set<std::string> allowed = {"fp16", "thc:bits=4"};
  FederationOptions options = {
      .agents = 4,
      .rounds = 1'000'000,
      .job =
          "parameters = 200000\nplan_codecs = [\"fp16\", \"thc:bits=4\"]\n"
          "plan_collectives = [\"star\", \"in_network\"]",
      .codec = "thc:bits=4",
      .coordinator_settings = {"job.planning=adaptive", "job.agents_min=4",
                               "retry.ack_timeout_ms=5000", "heartbeat.timeout_ms=30000"},
      .agent_settings = {"in_network.listen=127.0.0.1:0", "link.shape_bytes_per_s=250000",
                         "link.shape_burst_bytes=2048"},
      .exit_when_done = false};
  Federation federation(options);
  Aggregator aggregator(federation);
  federation.start_coordinator();
  aggregator.start();
  for (std::uint32_t agent = 0; agent < 4; ++agent) federation.start_agent(agent);
  ASSERT_TRUE(federation.coordinator().logs({"round committed", "collective=in_network "}, 2));
  federation.ask({"job", "stop", "test"});
  bool chosen = false;
  for (const PlanOfRound& one : plans_in(federation.coordinator_journal())) {
    const wire::ExchangeT& used = *one.plan.exchanges[0];
    const std::string family = used.codec.substr(0, used.codec.find(':'));
    EXPECT_TRUE(family == "fp16" || family == "thc") << used.codec;
    if (used.collective != wire::Collective::in_network) {
      EXPECT_EQ(used.collective, wire::Collective::star);
      continue;
    }
    if (std::exchange(chosen, true)) continue;
    const wire::ReasonT& reason = *one.plan.reason;
    EXPECT_EQ(reason.alternatives.at(0)->collective, wire::Collective::in_network);
    EXPECT_THAT(reason.sentence, testing::HasSubstr("thc:bits=4 by in_network"));
    const nlohmann::json why = explained(federation, one.round);
    EXPECT_EQ(why.at("allowed_codecs"), (std::vector<std::string>{"fp16", "thc:bits=4"}));
    EXPECT_EQ(why.at("allowed_collectives"), (std::vector<std::string>{"star", "in_network"}));
    for (const auto& candidate : why.at("candidates")) {
      EXPECT_TRUE(allowed.contains(candidate.at("codec"))) << candidate;
    }
  }
  EXPECT_TRUE(chosen);
}

// Otherwise the first plan would wait for it, and the first rounds would be measured beside it.
TEST(Planner, CodecsAreMeasuredBeforeAnyAgentComes) {
  FederationOptions options = planned("adaptive");
  options.coordinator_settings.push_back("log.level=debug");
  Federation federation(options);
  federation.start_coordinator();
  EXPECT_TRUE(federation.coordinator().logs({"planner: codecs measured"}, 1));
}

// The planner tells exchange and upload apart by the waits that agents report, and learns that they
// train meanwhile.
TEST(Planner, RoundsAmongPeersComeWithTheWaitsOfAllAgents) {
  FederationOptions options = planned("adaptive");
  options.job = "parameters = 20000\nplan_collectives = [\"ring\"]";
  options.coordinator_settings = {"job.planning=adaptive", "job.agents_min=3",
                                  "job.collective=ring"};
  Federation federation(options);
  federation.start_all();
  ASSERT_TRUE(federation.coordinator().logs({"round timed", " waits=3 ahead=3"}, 3));
  ASSERT_TRUE(federation.coordinator().logs({"planner: ", "Use "}));
  // Rounds that had begun before still use the job's initial plan.
  ASSERT_NO_FATAL_FAILURE(wait_for_rounds(federation, 10));
  end_all(federation);
  std::size_t decided = 0;
  for (const PlanOfRound& one : plans_in(federation.coordinator_journal())) {
    const auto& bytes = one.plan.reason->inputs;
    if (bytes.empty()) continue;
    const Result<PlanInputs> inputs =
        parse_plan_inputs({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    ASSERT_TRUE(inputs.ok()) << inputs.status().text();
    EXPECT_TRUE(inputs->trains_ahead);
    ++decided;
  }
  EXPECT_GE(decided, 1u);
}

// --- an uplink that falls ---

constexpr double kUplinkBytesPerS = 1.25e6;
constexpr double kFallenBytesPerS = kUplinkBytesPerS / 25;
constexpr double kGainWeight = 10;

// The logarithm of what the planner maximises.
double progress(double gain, double round_s) {
  return kGainWeight * std::log(gain) - std::log(round_s);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? INFINITY : values[values.size() / 2];
}

// fp16 keeps all of an update and sends 40 kB of it, threelc keeps 95 % and sends 3 kB. At
// 10 Mbit/s the gain counts for more, and at a 25th of that the time, by a wide margin either way,
// also on a busy machine. The test knows when the uplinks fall, because it changes them.
TEST(Planner, TheChoiceIsTheBestOfTheMomentTenRoundsAfterUplinksFellToA25th) {
  FederationOptions options = planned("adaptive");
  options.job = "parameters = 20000\nplan_codecs = [\"fp16\", \"threelc\"]";
  options.codec = "threelc";
  options.coordinator_settings = {"job.planning=adaptive", "job.agents_min=3",
                                  "job.gain_weight=" + std::to_string(kGainWeight)};
  options.agent_settings = {"trainer.train_ms=300"};
  Federation federation(options);
  federation.start_coordinator();
  Relay relay(federation.endpoint());
  relay.limit_uplinks(kUplinkBytesPerS);
  for (std::uint32_t agent = 0; agent < 3; ++agent) {
    federation.set_for_agent(agent, "link.coordinator=" + relay.endpoint());
    federation.start_agent(agent);
  }
  // A belief that is less sure, as on a busy machine, says "Try" instead of "Use".
  ASSERT_TRUE(eventually([&] {
    return !federation.coordinator().lines_with({"planner: ", "Use fp16 by star"}).empty() ||
           !federation.coordinator().lines_with({"planner: ", "Try fp16 by star"}).empty();
  }));
  ASSERT_NO_FATAL_FAILURE(wait_for_rounds(federation, 10));
  // They fall while the next round trains, so that its update already goes over the slow uplinks.
  const std::size_t fell = federation.coordinator().lines_with({"round committed"}).size();
  relay.limit_uplinks(kFallenBytesPerS);
  ASSERT_NO_FATAL_FAILURE(wait_for_rounds(federation, 13));
  federation.ask({"job", "stop", "test"});
  const std::vector<PlanOfRound> plans = plans_in(federation.coordinator_journal());
  ASSERT_GE(plans.size(), fell + 13);
  EXPECT_EQ(plans[fell].plan.exchanges[0]->codec, "fp16");
  const auto uses_threelc = [](const PlanOfRound& one) {
    return one.plan.exchanges[0]->codec.starts_with("threelc");
  };
  const auto after = plans.begin() + static_cast<std::ptrdiff_t>(fell);
  const auto switched = std::find_if(after, plans.end(), uses_threelc);
  ASSERT_LE(switched - after, 10);
  // Later rounds may try fp16 again.
  EXPECT_GE(std::count_if(after, after + 13, uses_threelc), 5);
  const nlohmann::json now = explained(federation, switched->round);
  const nlohmann::json& candidates = now.at("candidates");
  ASSERT_GE(candidates.size(), 2u);
  EXPECT_EQ(candidates.at(0).at("codec").get<std::string>().substr(0, 7), "threelc");
  double best = -INFINITY;
  for (const auto& candidate : candidates) {
    const auto& round_s = candidate.at("round_s").at("median");
    best = std::max(best, progress(candidate.at("gain"), round_s));
  }
  // Better by less than the hysteresis, and what a switch costs beside it, is no reason to change.
  constexpr double kSwitchShare = 0.02;
  const double gain = candidates.at(0).at("gain");
  EXPECT_GT(progress(gain, candidates.at(0).at("round_s").at("median")),
            best - std::log1p(PlanPolicy().hysteresis) - kSwitchShare);
  // The 40 kB of the other codec alone take this long.
  const double fp16_s = 40e3 / kFallenBytesPerS;
  EXPECT_GT(progress(gain, median(now.at("measured_s"))), progress(1, fp16_s));
  // A round time does not tell the uplink from the downlink or from overhead. The believed rate is
  // nearer to the fallen one.
  const auto& bytes = plans.at(now.at("decided_in").get<std::size_t>() - 1).plan.reason->inputs;
  const Result<PlanInputs> inputs =
      parse_plan_inputs({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  ASSERT_TRUE(inputs.ok()) << inputs.status().text();
  const double believed = 1 / PlanPredictor(*inputs).slowest_link().beta_s_per_byte;
  EXPECT_LT(believed, std::sqrt(kUplinkBytesPerS * kFallenBytesPerS));
}

}  // namespace
}  // namespace tributary::end_to_end
