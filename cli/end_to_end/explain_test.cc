// `tributary plan explain` on stored runs: what was believed, what came of it, and every error.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/end_to_end/program_testing.h"
#include "core/plan/decide.h"
#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"
#include "core/run/run_testing.h"

namespace tributary {
namespace {

using Json = nlohmann::json;
using plan_testing::believe_uplinks;
using plan_testing::federation;
using program_testing::Outcome;
using program_testing::run;
using run_testing::PlanOptions;
using run_testing::RunWriter;
using testing::HasSubstr;

class PlanExplain : public program_testing::ProgramTest {
 protected:
  std::string run_db() const { return path("run.db"); }

  // A decision for `codec` by the star, made from a belief in uplinks of 1 to 8 times this rate.
  static PlanOptions decision(const std::string& codec, double slowest_mbit,
                              const std::string& before = {}, std::size_t agents = 3) {
    PlanInputs inputs = federation(100, 10, agents);
    inputs.peers_reachable = false;
    believe_uplinks(inputs, slowest_mbit, 8);
    if (!before.empty()) {
      inputs.before = PlanBefore{.choice = {.codec = before, .bucket_values = inputs.values},
                                 .rounds = 3,
                                 .agents = agents};
    }
    return {.codec = codec,
            .trigger = wire::Trigger::link_changed,
            .sentence = "because of the links",
            .decided = true,
            .inputs = text_of(inputs)};
  }
  Json data(std::vector<std::string> args) const {
    args.insert(args.begin(), {"plan", "explain", run_db()});
    args.emplace_back("--json");
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out)["data"] : Json();
  }
  void fails(const std::vector<std::string>& args, int code, const std::string& text) const {
    std::vector<std::string> all = {"plan", "explain", run_db()};
    all.insert(all.end(), args.begin(), args.end());
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, code) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
};

// Round 2 decides for fp32 on thin uplinks. Round 5 decides again, believes the uplinks to be thin
// still, and regrets it.
TEST_F(PlanExplain, ShowsTheBeliefTheRoundsAndTheRegret) {
  {
    RunWriter writer(run_db());
    writer.job();
    writer.round(1, {.codec = "fp32"});
    writer.round(2, decision("fp32", 1));
    writer.round(3, {.codec = "fp32"});
    writer.round(4, {.codec = "fp32"});
    writer.round(5, decision("threelc:s=1", 1, "fp32"));
  }
  const Json out = data({"--round", "3"});
  EXPECT_EQ(out["decided_in"], 2);
  EXPECT_EQ(out["reason"], "because of the links");
  EXPECT_EQ(out["worlds"], 8);
  ASSERT_EQ(out["links"].size(), 7u) << "three uplinks, three downlinks, the coordinator's";
  EXPECT_EQ(out["links"][0]["kind"], "uplink");
  EXPECT_NEAR(out["links"][0]["bits_per_s"]["low"].get<double>(), 1e6, 1e4);
  EXPECT_NEAR(out["links"][0]["bits_per_s"]["high"].get<double>(), 8e6, 1e5);
  const Json& chosen = out["candidates"][0];
  EXPECT_EQ(chosen["codec"], "fp32");
  EXPECT_TRUE(chosen["chosen"]);
  EXPECT_LT(chosen["round_s"]["low"].get<double>(), chosen["round_s"]["high"].get<double>());
  EXPECT_EQ(out["measured_s"], (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(out["next_decision"], 5);
  EXPECT_EQ(out["hindsight"]["used"]["codec"], "fp32");
  EXPECT_NE(out["hindsight"]["best"]["codec"], "fp32");
  EXPECT_GT(out["hindsight"]["regret_s"].get<double>(), 1);
  const Outcome text = run({"plan", "explain", run_db(), "--round", "3"});
  EXPECT_THAT(text.out, HasSubstr("round 3, as decided in round 2"));
  EXPECT_THAT(text.out, HasSubstr("* fp32 by star"));
  EXPECT_THAT(text.out, HasSubstr("by the belief of round 5"));
}

// Without --round the last one is explained. No later belief judges it.
TEST_F(PlanExplain, TheLastDecisionHasNoRegretYet) {
  {
    RunWriter writer(run_db());
    writer.job();
    writer.round(1, decision("threelc:s=1", 1));
  }
  const Json out = data({"--job", "digits"});
  EXPECT_EQ(out["round"], 1);
  EXPECT_TRUE(out["hindsight"].is_null());
  EXPECT_TRUE(out["next_decision"].is_null());
  EXPECT_THAT(out["no_hindsight"].get<std::string>(), HasSubstr("no later decision"));
}

// The text has three lines for each kind of link, and JSON has all.
TEST_F(PlanExplain, ManyAgentsAreGrouped) {
  {
    RunWriter writer(run_db());
    writer.job();
    writer.round(1, decision("threelc:s=1", 1, {}, 1024));
  }
  EXPECT_EQ(data({})["links"].size(), 2049u);
  const Outcome text = run({"plan", "explain", run_db()});
  EXPECT_THAT(text.out, HasSubstr("slowest uplink ("));
  EXPECT_THAT(text.out, HasSubstr("fastest downlink ("));
  EXPECT_LT(std::count(text.out.begin(), text.out.end(), '\n'), 60);
}

TEST_F(PlanExplain, ErrorsSayWhatIsMissing) {
  fails({}, 21, "run.db");
  RunWriter writer(run_db());
  fails({}, 21, "a run without a job");
  writer.job();
  fails({}, 21, "a job without a committed round");
  writer.round(1, {.codec = "fp32"});
  fails({"--round", "2"}, 21, "a committed round, 1 to 1");
  fails({"--round", "1"}, 21, "planning = \"fixed\"");
  fails({"--round", "0"}, 2, "--round");
  PlanInputs old = federation(100, 10);
  PlanOptions without = decision("fp32", 1);
  without.inputs = text_of(old);
  writer.round(2, without);
  fails({"--round", "2"}, 41, "an earlier release");
}

// The planner decides after its first measurements, so a job may have rounds before that.
TEST_F(PlanExplain, AJobBeforeItsFirstDecisionIsNoFixedOne) {
  RunWriter writer(run_db());
  NewJobRecord job;
  job.job.job = job.checkpoint.job = run_testing::kJob;
  job.job.definition = run_testing::definition("digits");
  job.job.policy.planning.goal = wire::PlanGoal::adaptive;
  writer.store(job);
  writer.round(1, {.codec = "fp32"});
  writer.round(2, {.codec = "fp32"});
  fails({"--round", "1"}, 21, "name a later round");
  fails({}, 21, "wait for more rounds");
  job.job.state = wire::JobState::finished;
  writer.store(job.job);
  fails({}, 21, "run more rounds");
}

}  // namespace
}  // namespace tributary
