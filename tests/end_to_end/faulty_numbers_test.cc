// Agents whose numbers cannot be added: by their trainer, and by a client that skips the agent's
// checks. The job goes on without them, names them, and its model stays finite.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/files/file.h"
#include "core/round/common/plan/mechanisms.h"
#include "core/store/coordinator/run_file.h"
#include "core/train/model/safetensors.h"
#include "core/update/finite.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/hostile_agent.h"

namespace tributary::end_to_end {
namespace {

constexpr float kFaultyNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFaultyInf = std::numeric_limits<float>::infinity();
constexpr std::uint64_t kFaultyRounds = 6;
constexpr std::uint64_t kFirstFault = 2;  // the round of the fault, or its first
constexpr std::uint32_t kFaultyAgents = 4;
constexpr std::uint32_t kCulprit = 1;

FederationOptions options_for(const std::string& codec) {
  return {.agents = kFaultyAgents,
          .rounds = kFaultyRounds,
          .parameters = 3'000,
          .codec = codec,
          // All agents are asked for, so that an agent that is left out must not stop the job.
          .coordinator_settings = {"job.retry_after_ms=50"},
          .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0"}};
}

// The result of a finished job, read from its journal and its exported model.
class Outcome {
 public:
  explicit Outcome(Federation& federation)
      : run_(RunFile::open(federation.coordinator_journal()).value()), job_(run_->jobs()->front()) {
    Process exported({TRIBUTARY_CLI, "job", "export", "test", "--run",
                      federation.coordinator_journal(), "--out", federation.path("model")},
                     federation.path("export.log"));
    EXPECT_EQ(exported.wait(), 0) << federation.path("export.log");
    const Result<Bytes> file =
        read_file(federation.path("model") + "/model.safetensors", std::uint64_t{1} << 30);
    EXPECT_TRUE(file.ok()) << file.status().text();
    const Result<Safetensors> model = read_safetensors(*file);
    EXPECT_TRUE(model.ok()) << model.status().text();
    finite_ = model.ok() && !first_not_finite(model->values);
    exported_round_ = model.ok() ? std::stoull(model->metadata.at("round")) : 0;
  }

  const JobRecord& job() const { return job_; }
  bool model_is_finite() const { return finite_; }
  std::uint64_t exported_round() const { return exported_round_; }
  wire::RoundMechanismsT facts_of(std::uint64_t round) const {
    const Result<SharedBytes> packed = run_->round_mechanisms(job_.job, round);
    if (!packed.ok() || !*packed) return {};
    return unpack_round_mechanisms(**packed).value();
  }
  // The sources of all events with this name.
  std::multiset<std::string> sources_of(const std::string& event) const {
    std::multiset<std::string> sources;
    std::int64_t after = 0;
    while (true) {
      const auto page = run_->events(after, 1'000);
      EXPECT_TRUE(page.ok()) << page.status().text();
      if (!page.ok() || page->empty()) return sources;
      for (const StoredEvent& one : *page) {
        after = one.number;
        if (one.name == event) sources.insert(one.source);
      }
    }
  }

 private:
  std::unique_ptr<RunFile> run_;
  JobRecord job_;
  bool finite_ = false;
  std::uint64_t exported_round_ = 0;
};

void expect_finished(Federation& federation, bool named) {
  const Outcome outcome(federation);
  EXPECT_EQ(outcome.job().state, wire::JobState::finished) << outcome.job().state_reason;
  EXPECT_TRUE(outcome.model_is_finite());
  EXPECT_EQ(outcome.exported_round(), kFaultyRounds);
  const auto excluded = outcome.sources_of("agent_excluded");
  const std::string culprit = Federation::agent_id(kCulprit);
  EXPECT_EQ(excluded.count(culprit) > 0, named);
  EXPECT_EQ(excluded.count(culprit), excluded.size()) << "another agent was named";
  EXPECT_EQ(federation.coordinator().lines_with({"agent_excluded", culprit}).empty(), !named);
}

// --- by a trainer ---

struct TrainerFault {
  const char* name;
  const char* value;
  bool always;
  const char* codec;
  const char* collective;
  bool named;
};

std::string text_of(const TrainerFault& fault) {
  return fmt::format("{}_{}_{}_{}", fault.name, fault.always ? "always" : "once",
                     std::string(fault.codec).substr(0, std::string(fault.codec).find(':')),
                     fault.collective);
}

void set_fault(Federation& federation, std::uint32_t agent, const std::string& value, bool always,
               std::uint64_t rounds = kFaultyRounds) {
  federation.set_for_agent(agent, "trainer.name=torch");
  federation.set_for_agent(agent, "trainer.library=" TRIBUTARY_FAULTY_TRAINER);
  federation.set_for_agent(agent, "data.path=.");
  federation.set_for_agent(agent, fmt::format("trainer.model_file={}:{}:{}", value, kFirstFault,
                                              always ? rounds : kFirstFault));
}

class TrainerFaults : public testing::TestWithParam<TrainerFault> {};

void play(const TrainerFault& fault) {
  FederationOptions options = options_for(fault.codec);
  options.coordinator_settings.push_back(fmt::format("job.collective={}", fault.collective));
  Federation federation(options);
  set_fault(federation, kCulprit, fault.value, fault.always);
  federation.start_all();
  federation.expect_all_end();
  expect_finished(federation, fault.named);
  for (std::uint32_t agent = 0; agent < kFaultyAgents; ++agent) {
    EXPECT_TRUE(federation.agent(agent).lines_with({"conservation violated"}).empty()) << agent;
  }
}

TEST_P(TrainerFaults, TheJobContinues) { play(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Some, TrainerFaults,
                         testing::Values(TrainerFault{"nan", "nan", true, "fp32", "star", true},
                                         TrainerFault{"max", "3.4e38", true, "thc", "star", true},
                                         TrainerFault{"inf", "inf", false, "fp32", "ring", true}),
                         [](const auto& fault) { return text_of(fault.param); });

std::vector<TrainerFault> all_trainer_faults() {
  std::vector<TrainerFault> all;
  for (const char* codec :
       {"fp32", "bf16", "int8", "int8_shared", "qsgd", "thc", "threelc", "topk:cr=0.1",
        "randk:cr=0.1", "onebit", "powersgd", "zstd", "gcomp", "dgc:cr=0.1"}) {
    for (const bool always : {false, true}) {
      all.push_back({"nan", "nan", always, codec, "star", true});
      all.push_back({"minus_inf", "-inf", always, codec, "star", true});
      all.push_back({"max", "3.4e38", always, codec, "star", true});
      all.push_back({"denormal", "1e-42", always, codec, "star", false});
    }
  }
  for (const char* codec : {"fp32", "int8", "thc"}) {
    all.push_back({"nan", "nan", true, codec, "ring", true});
    all.push_back({"max", "3.4e38", true, codec, "ring", true});
    all.push_back({"denormal", "1e-42", true, codec, "ring", false});
  }
  all.push_back({"large", "1e30", true, "fp32", "star", false});
  all.push_back({"large", "1e30", true, "fp32", "ring", false});
  return all;
}

INSTANTIATE_TEST_SUITE_P(ManyFaults, TrainerFaults, testing::ValuesIn(all_trainer_faults()),
                         [](const auto& fault) { return text_of(fault.param); });

TEST(FaultyNumbers, AJobWithoutConvergingAgentsEndsWithTheReason) {
  FederationOptions options = options_for("fp32");
  Federation federation(options);
  for (std::uint32_t agent = 0; agent < kFaultyAgents; ++agent) {
    set_fault(federation, agent, "nan", true);
  }
  federation.start_all();
  federation.expect_all_end();
  const Outcome outcome(federation);
  EXPECT_EQ(outcome.job().state, wire::JobState::stopped);
  EXPECT_EQ(outcome.job().state_reason, "model_not_finite");
  EXPECT_EQ(outcome.exported_round(), kFirstFault - 1) << "the last good version";
  EXPECT_TRUE(outcome.model_is_finite());
  EXPECT_LE(federation.coordinator().lines_with({"round_aborted"}).size(), 3u);
}

// The agent is always at fault, so it is tried in rounds 2, 3, 5, 9 and 17. A coordinator that
// forgot the exclusions would try it as soon as it starts again.
TEST(FaultyNumbers, AnExclusionSurvivesAKilledCoordinator) {
  FederationOptions options = options_for("fp32");
  options.rounds = 22;
  options.agent_settings.push_back("trainer.train_ms=20");
  Federation federation(options);
  set_fault(federation, kCulprit, "nan", true, options.rounds);
  federation.start_all();
  for (const std::uint64_t round : {10u, 18u}) {
    ASSERT_TRUE(federation.committed(round));
    federation.coordinator().kill();
    federation.start_coordinator();
  }
  federation.expect_all_end();
  const Outcome outcome(federation);
  EXPECT_EQ(outcome.exported_round(), options.rounds);
  std::vector<std::uint64_t> rounds_left;
  for (std::uint64_t round = kFirstFault; round <= options.rounds; ++round) {
    for (const auto& excluded : outcome.facts_of(round).excluded) {
      EXPECT_EQ(excluded->of, Federation::agent_id(kCulprit));
      rounds_left.push_back(excluded->count);
    }
  }
  EXPECT_EQ(rounds_left, (std::vector<std::uint64_t>{1, 2, 1, 4, 3,  2,  1,  8,  7,  6, 5,
                                                     4, 3, 2, 1, 16, 15, 14, 13, 12, 11}));
}

// Every update is finite and so is the sum, but not its squares: only the step shows it.
TEST(FaultyNumbers, AnAgentThatOnlyTheStepShowsIsFoundByHalving) {
  FederationOptions options = options_for("fp32");
  options.coordinator_settings.insert(options.coordinator_settings.end(),
                                      {"job.mode=gradient", "job.optimizer=adam"});
  Federation federation(options);
  set_fault(federation, kCulprit, "1e30", true);
  federation.start_all();
  federation.expect_all_end();
  expect_finished(federation, true);
  EXPECT_FALSE(federation.agent(kCulprit).lines_with({"residual_dropped"}).empty());
}

// --- by a client that skips the checks ---

struct ClientFault {
  const char* name;
  float value;
  bool always;
  const char* codec;
  bool named;
  const char* layers = "";  // the layers of the job; empty: a vector
};

std::string text_of(const ClientFault& fault) {
  const TrainerFault star = {fault.name, "", fault.always, fault.codec, "star", fault.named};
  return text_of(star) + (*fault.layers == 0 ? "" : "_layers");
}

// powersgd factors the matrix; a vector travels raw.
constexpr const char* kFactoredLayers = R"("weights:60x50", "bias:60")";

class ClientFaults : public testing::TestWithParam<ClientFault> {};

TEST_P(ClientFaults, TheJobContinues) {
  const ClientFault& fault = GetParam();
  FederationOptions options = options_for(fault.codec);
  if (*fault.layers != 0) options.job = fmt::format("layers = [{}]", fault.layers);
  Federation federation(options);
  federation.start_coordinator();
  HostileAgent hostile(federation, kCulprit,
                       {.codec = fault.codec,
                        .value = fault.value,
                        .first_round = kFirstFault,
                        .last_round = fault.always ? kFaultyRounds : kFirstFault});
  for (std::uint32_t agent = 0; agent < kFaultyAgents; ++agent) {
    if (agent != kCulprit) federation.start_agent(agent);
  }
  EXPECT_EQ(federation.coordinator().wait(), 0) << federation.path("coordinator.log");
  EXPECT_GT(hostile.replaced(), 0u);
  EXPECT_EQ(hostile.excluded() > 0, fault.named);
  expect_finished(federation, fault.named);
}

INSTANTIATE_TEST_SUITE_P(Some, ClientFaults,
                         testing::Values(ClientFault{"nan", kFaultyNan, true, "fp32", true},
                                         ClientFault{"max", 3.4e38f, false, "threelc", true},
                                         ClientFault{"inf", kFaultyInf, true, "thc", true},
                                         ClientFault{"max", 3.4e38f, true, "powersgd", true},
                                         ClientFault{"max", 3.4e38f, false, "powersgd", true,
                                                     kFactoredLayers}),
                         [](const auto& fault) { return text_of(fault.param); });

void add_client_faults(const char* codec, const char* layers, std::vector<ClientFault>& all) {
  for (const bool always : {false, true}) {
    all.push_back({"nan", kFaultyNan, always, codec, true, layers});
    all.push_back({"inf", kFaultyInf, always, codec, true, layers});
    all.push_back({"minus_inf", -kFaultyInf, always, codec, true, layers});
    all.push_back({"max", 3.4e38f, always, codec, true, layers});
    all.push_back({"denormal", 1e-42f, always, codec, false, layers});
  }
}

std::vector<ClientFault> all_client_faults() {
  std::vector<ClientFault> all;
  for (const char* codec :
       {"fp32", "bf16", "int8", "int8_shared", "qsgd", "thc", "threelc", "topk:cr=0.1",
        "randk:cr=0.1", "onebit", "powersgd", "zstd", "gcomp", "dgc:cr=0.1"}) {
    add_client_faults(codec, "", all);
  }
  add_client_faults("powersgd", kFactoredLayers, all);
  return all;
}

INSTANTIATE_TEST_SUITE_P(ManyFaults, ClientFaults, testing::ValuesIn(all_client_faults()),
                         [](const auto& fault) { return text_of(fault.param); });

}  // namespace
}  // namespace tributary::end_to_end
