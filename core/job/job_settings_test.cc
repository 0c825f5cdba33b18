// Tests of converting a job's settings to a submission. All examples of the documentation must be
// valid jobs.
#include "core/job/job_settings.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/service/settings/settings.h"

namespace tributary {
namespace {

// The smallest valid job.
JobSettings good_job() {
  JobSettings job;
  job.name = "job";
  job.rounds = 3;
  job.parameters = 100;
  return job;
}

// 3 times 4 values and 5 are 17.
TEST(JobSettings, ASubmissionHasTheLayersAndAModelOfZeros) {
  JobSettings job = good_job();
  job.parameters = 0;
  job.layers = {"matrix:3x4", "vector:5"};
  job.mode = "gradient";
  const Result<SubmitJob> submit = submission(job);
  ASSERT_TRUE(submit.ok()) << submit.status().text();
  EXPECT_EQ(*submit->model, FloatVector(17, 0.0f));
  EXPECT_EQ(submit->definition.layer_map->layers.size(), 2u);
  EXPECT_EQ(submit->definition.rounds, 3u);
  EXPECT_EQ(submit->definition.mode, wire::ExchangeMode::gradient);
}

// Batch-norm statistics are buffers and travel without compression, because an error in them would
// add up.
TEST(JobSettings, AModelBringsItsLayersAndIsDrawnFromTheSeed) {
  JobSettings job = good_job();
  job.parameters = 0;
  job.model = "resnet8";
  job.examples = {.task = "classification", .input = "3x32x32", .classes = 10};
  job.mode = "gradient";
  job.optimizer = "momentum:momentum=0.5";
  job.schedule = "cosine";
  job.batch_size = 16;
  const Result<SubmitJob> submit = submission(job);
  ASSERT_TRUE(submit.ok()) << submit.status().text();
  const wire::JobT& definition = submit->definition;
  EXPECT_EQ(definition.model->name, "resnet8");
  EXPECT_EQ(definition.optimizer->momentum, 0.5);
  EXPECT_EQ(definition.batch_size, 16u);
  const auto& layers = definition.layer_map->layers;
  EXPECT_EQ(layers.front()->kind, wire::LayerKind::parameter);
  EXPECT_FALSE(layers.front()->exact);
  EXPECT_EQ(layers.back()->name, "stage3.0.bn2.running_var");
  EXPECT_EQ(layers.back()->kind, wire::LayerKind::buffer);
  EXPECT_TRUE(layers.back()->exact);
  EXPECT_EQ(submit->model->back(), 1.0f) << "a variance";
  EXPECT_EQ(*submission(job)->model, *submit->model);
  job.seed = 2;
  EXPECT_NE(*submission(job)->model, *submit->model);
}

// Agents of an earlier release refuse keys that they do not know.
TEST(JobSettings, TheLayoutOfTheDataTravelsWhereItIsStated) {
  JobSettings job = good_job();
  job.parameters = 0;
  job.model = "mlp:hidden=8";
  job.examples = {.task = "classification", .input = "4", .classes = 3};
  const auto keys = [&job] {
    const Result<SubmitJob> submit = submission(job);
    std::string joined = submit.ok() ? "" : submit.status().text();
    if (!submit.ok()) return joined;
    for (const auto& setting : submit->definition.data) joined += setting->key + " ";
    return joined;
  };
  EXPECT_EQ(keys(), "task input classes outputs epochs ");
  job.layout = {.label = "kind", .separator = ";", .mean = "1", .deviation = "2"};
  EXPECT_EQ(keys(), "task input classes outputs epochs label separator mean deviation ");
}

TEST(JobSettings, ExploringTakesItsShareWhereTheCoordinatorChooses) {
  JobSettings job = good_job();
  job.planning = "adaptive";
  EXPECT_EQ(submission(job)->policy.planning.exploring_share, 0);
  job.exploring = "trials";
  EXPECT_EQ(submission(job)->policy.planning.exploring_share, 0.02);
  job.exploring_share = 0.1;
  EXPECT_EQ(submission(job)->policy.planning.exploring_share, 0.1);
  job.exploring = "chance";
  EXPECT_EQ(submission(job).status().code(), StatusCode::invalid_argument);
  job.exploring = "trials";
  job.planning = "fixed";
  EXPECT_EQ(submission(job).status().code(), StatusCode::invalid_argument);
}

// A job file states it by the name that the schema has.
TEST(JobSettings, ACollectiveIsNamed) {
  JobSettings job = good_job();
  EXPECT_EQ(submission(job)->policy.collective, wire::Collective::star);
  Settings settings;
  bind_job(job, settings, "job.");
  ASSERT_TRUE(settings.read_text("[job]\ncollective = \"sharded_star\"", "test").ok());
  EXPECT_EQ(submission(job)->policy.collective, wire::Collective::sharded_star);
  job.collective = "rin";
  const Status wrong = submission(job).status();
  EXPECT_EQ(wrong.code(), StatusCode::invalid_argument);
  EXPECT_NE(wrong.text().find("did you mean 'ring'?"), std::string::npos) << wrong.text();
}

// Limits name choices, and leave at least one.
TEST(JobSettings, ThePlannersChoiceCanBeLimited) {
  JobSettings job = good_job();
  job.planning = "adaptive";
  job.policy.codec.clear();
  Settings settings;
  bind_job(job, settings, "job.");
  ASSERT_TRUE(settings
                  .read_text("[job]\nplan_codecs = [\"fp16\", \"thc:bits=4\"]\n"
                             "plan_collectives = [\"in_network\"]",
                             "test")
                  .ok());
  const Result<SubmitJob> submit = submission(job);
  ASSERT_TRUE(submit.ok()) << submit.status().text();
  const Planning& planning = submit->policy.planning;
  EXPECT_EQ(planning.codecs, (std::vector<std::string>{"fp16", "thc:bits=4"}));
  EXPECT_EQ(planning.collectives, std::vector{wire::Collective::in_network});
  EXPECT_EQ(submit->policy.codec, "fp16") << "the usual first codec is not allowed";
  const auto refused = [&job](const std::vector<std::string>& codecs,
                              const std::vector<std::string>& collectives) {
    job.plan_codecs = codecs;
    job.plan_collectives = collectives;
    const Status status = submission(job).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return status.ok() ? std::string() : status.text();
  };
  EXPECT_NE(refused({"fp61"}, {}).find("did you mean 'fp16'"), std::string::npos);
  EXPECT_NE(refused({}, {"rin"}).find("job: plan_collectives"), std::string::npos);
  EXPECT_NE(refused({"fp16"}, {"in_network"}).find("add \"thc:bits=4\""), std::string::npos);
  job.planning = "fixed";
  EXPECT_NE(refused({"fp16"}, {}).find("planning = \"adaptive\""), std::string::npos);
  EXPECT_NE(refused({}, {"star"}).find("planning = \"adaptive\""), std::string::npos);
}

// A planned job that names no codec begins with small payloads.
TEST(JobSettings, APlannedJobBeginsWithSmallPayloads) {
  JobSettings job = good_job();
  job.policy.codec.clear();
  EXPECT_EQ(submission(job)->policy.codec, "fp32");
  job.planning = "adaptive";
  EXPECT_EQ(submission(job)->policy.codec, "threelc");
  job.policy.codec = "fp32";
  EXPECT_EQ(submission(job)->policy.codec, "fp32");
}

// One change to a valid job in each line. check_job() and submission() must agree.
TEST(JobSettings, InvalidValuesAreRefused) {
  const auto refused = [](auto change) {
    JobSettings job = good_job();
    change(job);
    EXPECT_EQ(check_job(job).text(), submission(job).status().text());
    return submission(job).status().code() != StatusCode::ok;
  };
  EXPECT_FALSE(refused([](JobSettings&) {}));
  EXPECT_TRUE(refused([](JobSettings& job) { job.name.clear(); }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.rounds = 0; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.parameters = 0; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.layers = {"both:3"}; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.policy.codec = "fp31"; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.policy.codecs = {"fp32", "fp31"}; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.mode = "detla"; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.weighting = "some"; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.model = "lenet"; })) << "and parameters";
  EXPECT_TRUE(refused([](JobSettings& job) { job.optimizer = "sdg"; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.strategy = "fed"; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.schedule = "cosin"; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.layout.separator = "semicolon"; }));
  EXPECT_TRUE(refused([](JobSettings& job) { job.layout.deviation = "0"; }));
  const auto model = [](const char* input) {
    return [input](JobSettings& job) {
      job.parameters = 0;
      job.model = "lenet";
      job.examples = {.task = "classification", .input = input, .classes = 10};
    };
  };
  EXPECT_FALSE(refused(model("1x28x28")));
  for (const char* input : {"", "28", "1x28", "1x28x28x", "1x0x28", "axb", "3x9999999x9999999"}) {
    EXPECT_TRUE(refused(model(input))) << input;
  }
}

// check_job() also runs on machines without the model file.
TEST(JobSettings, FusionIsAWordThatFitsTheLayers) {
  JobSettings job = good_job();
  for (const std::string fusion : {"", "optimal", "layerwise", "whole", "even:3"}) {
    job.policy.fusion = fusion;
    const Result<SubmitJob> submit = submission(job);
    ASSERT_TRUE(submit.ok()) << submit.status().text();
    EXPECT_EQ(submit->policy.fusion, fusion);
  }
  job.policy.fusion = "even:none";
  EXPECT_NE(check_job(job).text().find("even:N"), std::string::npos);
  // A round has at most 16,384 buckets, a profile at most 4,096 layers.
  job.parameters = 0;
  for (int i = 0; i < 16'385; ++i) job.layers.push_back("layer" + std::to_string(i) + ":1");
  for (const std::string fusion : {"layerwise", "optimal", "even:16385"}) {
    job.policy.fusion = fusion;
    EXPECT_EQ(check_job(job).code(), StatusCode::invalid_argument) << fusion;
  }
  job.policy.fusion = "even:16384";
  EXPECT_TRUE(check_job(job).ok()) << check_job(job).text();
}

TEST(JobSettings, AScriptIsCheckedWithoutReadingIt) {
  JobSettings job = good_job();
  job.parameters = 0;
  job.model_file = "on/another/machine.pt";
  job.examples = {.task = "classification", .input = "1x28x28", .classes = 10};
  EXPECT_EQ(check_job(job).text(), "ok");
  EXPECT_EQ(submission(job).status().code(), StatusCode::not_found);
  job.examples.input = "axb";
  EXPECT_EQ(check_job(job).code(), StatusCode::invalid_argument);
}

// A name may contain colons; the sizes come after the last one.
TEST(ParseLayer, TakesANameAndSizes) {
  EXPECT_EQ(parse_layer("a:b:3x4")->name, "a:b");
  EXPECT_EQ(parse_layer("a:3x4")->shape, (std::vector<std::uint64_t>{3, 4}));
  for (const char* text :
       {"", "a", ":3", "a:", "a:3x", "a:x3", "a:3y4", "a:-1", "a:99999999999999999999"}) {
    EXPECT_FALSE(parse_layer(text).ok()) << text;
  }
}

// Every job in the documentation is valid.
TEST(JobSettings, EveryExampleOfTheDocumentsIsAJob) {
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TRIBUTARY_JOB_EXAMPLES)) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++examples;
    JobSettings job;
    Settings settings;
    bind_job(job, settings, "");
    const Status read = settings.read_file(entry.path().string());
    ASSERT_TRUE(read.ok()) << read.text();
    const Result<SubmitJob> submit = submission(job);
    EXPECT_TRUE(submit.ok()) << submit.status().text();
  }
  EXPECT_GE(examples, 5u);
}

}  // namespace
}  // namespace tributary
