// Tests of the audit of an agent's updates beside its state machine.
#include "edge_agent/auditor.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/sim/federation/federation_testing.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

struct AuditCase {
  const char* codec;
  bool gradient = false;
  wire::Collective collective = wire::Collective::star;
};

// Agents with an auditor each, which sees the events and actions of its agent.
class Audit : public testing::Test {
 protected:
  Options options_for(const std::string& codec) {
    Options options;
    options.policy.codec = codec;
    options.policy.bucket_values_max = 128;
    options.rounds = 12;
    options.before_event = [this](std::uint32_t agent, const Event& event) {
      auditors_[agent].before(seen_ ? seen_(agent, event) : event);
    };
    options.after_event = [this](std::uint32_t agent, const Actions& actions,
                                 const Agent& machine) {
      if (!done_) return auditors_[agent].after(actions, machine);
      Actions changed = actions;
      for (Action& action : changed) done_(agent, action);
      auditors_[agent].after(changed, machine);
    };
    return options;
  }
  void expect_all_well() {
    for (const Auditor& auditor : auditors_) {
      EXPECT_TRUE(auditor.status().ok()) << auditor.status().text();
      ASSERT_TRUE(auditor.error_max());
      EXPECT_LE(*auditor.error_max(), 1);
    }
  }

  std::vector<Auditor> auditors_{3};
  // Changes the events and actions that the auditors see. Empty: no change.
  std::function<Event(std::uint32_t, const Event&)> seen_;
  std::function<void(std::uint32_t, Action&)> done_;
};

class AuditOf : public Audit, public testing::WithParamInterface<AuditCase> {};

// Conservation holds with lost, repeated and delayed messages.
TEST_P(AuditOf, NothingIsLostOnABadLine) {
  Options options = options_for(GetParam().codec);
  options.loss = 0.1;
  options.repeat = 0.1;
  options.delay_max_ns = 20 * kNsPerMs;
  if (GetParam().gradient) {
    options.change_job = [](wire::JobT& job) {
      job.mode = wire::ExchangeMode::gradient;
      job.schedule = "step:every=3,factor=0.5";
    };
  }
  options.peers = true;
  options.policy.collective = GetParam().collective;
  options.policy.agents_min = 3;
  options.policy.deadline_ms = 2'000;
  Federation federation(options);
  federation.peers.breaks = 0.005;
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_EQ(federation.peers.messages > 0, GetParam().collective != wire::Collective::star);
  expect_all_well();
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, AuditOf,
    testing::Values(AuditCase{"fp32"}, AuditCase{"terngrad"}, AuditCase{"stoch3", true},
                    AuditCase{"thc"}, AuditCase{"threelc:s=1.75"}, AuditCase{"topk:cr=0.1"},
                    AuditCase{"star_topk"}, AuditCase{"threelc", true},
                    AuditCase{"topk:cr=0.1", true},
                    AuditCase{"fp32", false, wire::Collective::ring},
                    AuditCase{"gcomp", false, wire::Collective::ring},
                    AuditCase{"threelc:bypass=0", true, wire::Collective::tree},
                    AuditCase{"thc", false, wire::Collective::sharded_star},
                    AuditCase{"topk:cr=0.1", true, wire::Collective::all_gather}));

// Weighted updates enter the account with their weight.
TEST_F(Audit, WeightsAreAPartOfTheAccount) {
  Options options = options_for("topk:cr=0.2");
  options.policy.agents_min = 3;
  options.change_job = [](wire::JobT& job) { job.weighting = wire::Weighting::examples; };
  options.examples_of = [](std::uint32_t agent) { return std::uint64_t{10} * (agent + 1); };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  expect_all_well();
}

// Parts of an update that arrive early are counted once.
TEST_F(Audit, AnUpdateInPartsIsFollowed) {
  Options options = options_for("topk:cr=0.2");
  options.in_parts = true;
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  expect_all_well();
}

// An event that was changed on its way to the auditor must be detected.
TEST_F(Audit, AnUpdateThatTheAgentDidNotGetIsFound) {
  Options options = options_for("topk:cr=0.1");
  seen_ = [](std::uint32_t agent, const Event& event) -> Event {
    const auto* ready = std::get_if<UpdateReady>(&event);
    if (!ready || agent != 1) return event;
    UpdateReady other = *ready;
    auto update = std::make_shared<FloatVector>(*ready->update);
    (*update)[7] += 1.0f / 64;
    other.update = std::move(update);
    return other;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_TRUE(auditors_[0].status().ok());
  EXPECT_FALSE(auditors_[1].status().ok());
  EXPECT_GT(auditors_[1].error_max().value_or(0), 1);
}

// A record that differs from the agent's residual must be detected.
TEST_F(Audit, AWrongRecordOfAnExchangeIsFound) {
  Options options = options_for("threelc:bypass=0");
  options.peers = true;
  options.policy.collective = wire::Collective::ring;
  options.policy.agents_min = 3;
  done_ = [](std::uint32_t agent, Action& action) {
    auto* stored = std::get_if<StoreAgent>(&action);
    auto* record = stored ? std::get_if<ContributionRecord>(&stored->record) : nullptr;
    if (record == nullptr || agent != 1 || record->id.round != 5) return;
    record->parts[0].if_committed = nullptr;
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_TRUE(auditors_[0].status().ok()) << auditors_[0].status().text();
  EXPECT_FALSE(auditors_[1].status().ok());
  EXPECT_GT(auditors_[1].error_max().value_or(0), 1);
}

// A committed bucket of an exchange among peers needs a record.
TEST_F(Audit, ABucketOfPeersWithoutARecordIsFound) {
  Options options = options_for("threelc:bypass=0");
  options.peers = true;
  options.policy.collective = wire::Collective::ring;
  options.policy.agents_min = 3;
  done_ = [](std::uint32_t agent, Action& action) {
    auto* stored = std::get_if<StoreAgent>(&action);
    auto* record = stored ? std::get_if<ContributionRecord>(&stored->record) : nullptr;
    if (record != nullptr && agent == 2 && record->id.round == 3) record->parts.clear();
  };
  Federation federation(options);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_TRUE(auditors_[0].status().ok()) << auditors_[0].status().text();
  EXPECT_FALSE(auditors_[2].status().ok());
}

// A codec that does not conserve its input is not audited, and that is not an error.
TEST_F(Audit, ACodecThatKeepsNoAccountIsNotAudited) {
  Federation federation(options_for("qsgd"));
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  for (const Auditor& auditor : auditors_) {
    EXPECT_TRUE(auditor.status().ok()) << auditor.status().text();
    EXPECT_FALSE(auditor.error_max());
  }
}

// An agent whose account does not start with the job is not audited.
TEST_F(Audit, AnAgentThatBeginsInTheMiddleIsNot) {
  Options options = options_for("topk:cr=0.1");
  Federation federation(options);
  ASSERT_TRUE(federation.run_rounds(4)) << federation.describe();
  federation.crash_agent(2);
  auditors_[2] = Auditor();
  federation.start_agent(2);
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  EXPECT_TRUE(auditors_[2].status().ok()) << auditors_[2].status().text();
  EXPECT_FALSE(auditors_[2].error_max());
  EXPECT_TRUE(auditors_[0].status().ok()) << auditors_[0].status().text();
}

}  // namespace
}  // namespace tributary
