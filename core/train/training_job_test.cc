// Tests of reading a job's definition as a trainer does. Unknown settings are refused, because they
// could change the result.
#include "core/train/training_job.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "core/round/common/plan/job_model.h"

namespace tributary {
namespace {

void set(wire::JobT& job, const char* key, const char* value) {
  job.data.push_back(std::make_unique<wire::SettingT>());
  job.data.back()->key = key;
  job.data.back()->value = value;
}

Result<TrainingJob> training_of(const std::function<void(wire::JobT&)>& change) {
  wire::JobT job;
  job.job = 5;
  job.revision = 2;
  job.name = "job";
  job.state = wire::JobState::running;
  job.mode = wire::ExchangeMode::delta;
  job.rounds = 10;
  job.weighting = wire::Weighting::equal;
  job.model = std::make_unique<wire::ModelT>();
  job.model->kind = wire::ModelKind::built_in;
  job.model->name = "lenet";
  job.optimizer = std::make_unique<wire::OptimizerT>();
  job.optimizer->kind = wire::OptimizerKind::momentum;
  job.optimizer->momentum = 0.5;
  job.layer_map = wire_layers(*LayerMap::make({{.name = "v", .shape = {3}}}));
  change(job);
  TRIBUTARY_ASSIGN(const SharedBytes definition, keep_message(std::move(job)));
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*definition));
  return training_job(*frame->message_as_Job());
}

TEST(TrainingJob, HoldsTheInputsOfATrainer) {
  const Result<TrainingJob> job = training_of([](wire::JobT& wire) {
    wire.loss = "mse";
    wire.batch_size = 8;
    wire.strategy = "fedprox:mu=0.25";
    wire.clip_norm = 3;
    set(wire, "input", "1x28x28");
    set(wire, "classes", "10");
    set(wire, "epochs", "2");
  });
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_FALSE(job->gradient);
  EXPECT_EQ(job->loss, "mse");
  EXPECT_EQ(job->batch_size, 8u);
  EXPECT_EQ(job->proximal, 0.25);
  EXPECT_EQ(job->clip_norm, 3);
  EXPECT_EQ(job->optimizer.momentum, 0.5);
  EXPECT_EQ(job->input.values(), 784u);
  EXPECT_EQ(job->input.classes, 10u);
  EXPECT_EQ(job->epochs, 2u);
}

TEST(TrainingJob, SaysHowFilesAreRead) {
  const Result<TrainingJob> job = training_of([](wire::JobT& wire) {
    set(wire, "label", "kind");
    set(wire, "separator", "tab");
    set(wire, "mean", "5.8,3");
    set(wire, "deviation", "2, 0.5");
  });
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_EQ(job->layout.label, "kind");
  EXPECT_EQ(job->layout.separator, '\t');
  EXPECT_EQ(job->layout.scales, (std::vector<FeatureScale>{{5.8, 2}, {3, 0.5}}));
}

TEST(TrainingJob, ASyntheticJobHasNoExamples) {
  const Result<TrainingJob> job = training_of([](wire::JobT&) {});
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_TRUE(job->input.dims.empty());
  EXPECT_EQ(job->layout.separator, ',');
  EXPECT_TRUE(job->layout.scales.empty());
}

TEST(TrainingJob, RefusesASettingThatItDoesNotKnow) {
  const auto refusal = [](const char* key, const char* value) {
    return training_of([&](wire::JobT& job) { set(job, key, value); }).status();
  };
  EXPECT_EQ(refusal("shuffle", "no").code(), StatusCode::unsupported);
  EXPECT_NE(refusal("clases", "10").text().find("did you mean 'classes'"), std::string::npos);
  EXPECT_EQ(refusal("classes", "ten").code(), StatusCode::invalid_argument);
  EXPECT_EQ(refusal("input", "1xx").code(), StatusCode::invalid_argument);
  EXPECT_EQ(refusal("separator", ", ").code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
