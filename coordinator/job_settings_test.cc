#include "coordinator/job_settings.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

JobSettings good_job() {
  JobSettings job;
  job.name = "job";
  job.rounds = 3;
  job.parameters = 100;
  return job;
}

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

TEST(JobSettings, WhatMakesNoSenseIsRefused) {
  const auto refused = [](auto change) {
    JobSettings job = good_job();
    change(job);
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
}

TEST(ParseLayer, TakesANameAndSizes) {
  EXPECT_EQ(parse_layer("a:b:3x4")->name, "a:b");
  EXPECT_EQ(parse_layer("a:3x4")->shape, (std::vector<std::uint64_t>{3, 4}));
  for (const char* text :
       {"", "a", ":3", "a:", "a:3x", "a:x3", "a:3y4", "a:-1", "a:99999999999999999999"}) {
    EXPECT_FALSE(parse_layer(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tributary
