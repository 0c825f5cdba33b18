// Tests of the rules about combinations of a job's settings. Each rule has a job that it concerns,
// and other jobs are left alone.
#include "core/job/job_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A change of a job that no rule concerns.
using Change = std::function<void(JobSettings&)>;

JobSettings job_with(const Change& change) {
  JobSettings job;
  job.name = "job";
  job.rounds = 1000;
  job.parameters = 100;
  job.mode = "gradient";
  change(job);
  return job;
}

TEST(JobRules, LeaveOtherJobsAlone) {
  for (const char* codec :
       {"fp32", "gcomp", "thc:bits=4", "threelc", "threelc:s=1.75", "topk:cr=0.01"}) {
    for (const char* optimizer : {"sgd", "momentum", "adamw", "rmsprop"}) {
      const JobSettings job = job_with([&](JobSettings& settings) {
        settings.policy.codec = codec;
        settings.optimizer = optimizer;
      });
      EXPECT_TRUE(check_rules(job).ok()) << codec << ", " << optimizer;
      EXPECT_THAT(job_warnings(job), IsEmpty()) << codec << ", " << optimizer;
    }
  }
}

// check_job() refuses such a job for another reason.
TEST(JobRules, IgnoreUnreadableSpecs) {
  for (const char* codec : {"none such", "dgc:momentum=2", "dgc:"}) {
    const JobSettings job = job_with([&](JobSettings& settings) { settings.policy.codec = codec; });
    EXPECT_TRUE(check_rules(job).ok()) << codec;
    EXPECT_THAT(job_warnings(job), IsEmpty()) << codec;
  }
}

constexpr const char* kDgc = "dgc:cr=0.25,momentum=0.5";

TEST(JobRules, RefuseMomentumTwice) {
  for (const char* optimizer : {"momentum", "nesterov", "adam", "adamw", "rmsprop:momentum=0.5"}) {
    const JobSettings job = job_with([&](JobSettings& settings) {
      settings.policy.codec = kDgc;
      settings.optimizer = optimizer;
      settings.clip_norm = 1;
    });
    const Status refused = check_rules(job);
    EXPECT_EQ(refused.code(), StatusCode::mismatch) << optimizer;
    EXPECT_THAT(refused.text(), HasSubstr(kDgc));
    EXPECT_THAT(refused.text(), HasSubstr(optimizer));
    EXPECT_THAT(refused.text(), HasSubstr("optimizer = \"sgd\""));
    EXPECT_EQ(check_job(job).code(), StatusCode::mismatch) << "a submission checks the rules";
    EXPECT_THAT(job_warnings(job), IsEmpty()) << "a refused job needs no warning";
  }
  for (const char* optimizer : {"sgd", "adagrad", "rmsprop"}) {
    EXPECT_TRUE(check_job(job_with([&](JobSettings& settings) {
                  settings.policy.codec = kDgc;
                  settings.optimizer = optimizer;
                })).ok())
        << optimizer;
  }
  EXPECT_TRUE(check_job(job_with([](JobSettings& settings) {
                settings.policy.codec = "dgc:momentum=0";
                settings.optimizer = "momentum";
              })).ok());
}

// Agents begin their momentum anew in each round; the server's lasts, as the codec's does.
// The profile belongs to one codec.
TEST(JobRules, RefuseOptimalFusionOfAPlannedJob) {
  const auto fused = [](const char* fusion, const char* planning) {
    return check_rules(job_with([&](JobSettings& job) {
      job.policy.fusion = fusion;
      job.planning = planning;
    }));
  };
  EXPECT_EQ(fused("optimal", "adaptive").code(), StatusCode::mismatch);
  EXPECT_THAT(fused("optimal", "adaptive").text(), HasSubstr("planning"));
  EXPECT_TRUE(fused("optimal", "fixed").ok());
  EXPECT_TRUE(fused("layerwise", "adaptive").ok());
}

TEST(JobRules, RefuseMomentumTwiceInDeltasByTheServersOptimizer) {
  const auto deltas = [](const char* strategy) {
    return job_with([&](JobSettings& settings) {
      settings.mode = "delta";
      settings.optimizer = "momentum";
      settings.strategy = strategy;
      settings.policy.codecs = {"fp32", kDgc};
    });
  };
  EXPECT_TRUE(check_rules(deltas("fedavg")).ok());
  EXPECT_THAT(check_rules(deltas("fedavgm")).text(), HasSubstr("strategy = \"fedavgm\""));
  EXPECT_FALSE(check_rules(deltas("fedadam")).ok());
}

struct Warned {
  const char* name;
  Change change;
  const char* warning;
};

class JobWarnings : public testing::TestWithParam<Warned> {};

TEST_P(JobWarnings, NameTheReasonAndARemedy) {
  const JobSettings job = job_with(GetParam().change);
  EXPECT_TRUE(check_job(job).ok()) << check_job(job).text();
  EXPECT_THAT(job_warnings(job), ElementsAre(HasSubstr(GetParam().warning)));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, JobWarnings,
    testing::Values(
        Warned{"DgcWithoutClipping",
               [](JobSettings& job) { job.policy.codec = "dgc:cr=0.01,warmup=20"; },
               "set clip_norm"},
        Warned{"DgcWithoutWarmUp",
               [](JobSettings& job) {
                 job.policy.codec = "dgc:cr=0.01";
                 job.clip_norm = 1;
               },
               "add warmup=N"},
        Warned{"FewRoundsOfSparse3lc",
               [](JobSettings& job) {
                 job.policy.codec = "threelc:s=1.75,clip=0";
                 job.rounds = 60;
               },
               "and the job has 60 rounds"},
        Warned{"TheSameCodecTwice",
               [](JobSettings& job) {
                 job.policy.codecs = {"threelc:s=1.75,clip=0", "fp32", "threelc:s=1.75,clip=0"};
                 job.rounds = 60;
               },
               "threelc:s=1.75,clip=0 sends"},
        Warned{"GcompWithoutAMetric",
               [](JobSettings& job) {
                 job.policy.codec = "gcomp:truncation=metric";
                 job.optimizer = "rmsprop:momentum=0.9";
               },
               "no metric for optimizer = \"rmsprop:momentum=0.9\""},
        Warned{"ExchangesByTheStar", [](JobSettings& job) { job.policy.exchanges_per_round = 4; },
               "the star has one exchange"}),
    [](const testing::TestParamInfo<Warned>& tested) { return tested.param.name; });

}  // namespace
}  // namespace tributary
