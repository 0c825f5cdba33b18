// A trainer behind the C interface, of this version and of others.
#include "core/train/external/external_trainer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/codec/cuda/codec_device.h"
#include "core/train/external/tributary_trainer.h"
#include "core/train/training_job.h"

namespace tributary {
namespace {

std::string library(const std::string& name) {
  return std::string(TRIBUTARY_VERSIONED_TRAINERS) + "/libtributary_trainer_" + name + ".so";
}

std::unique_ptr<Trainer> trainer_of(const std::string& name, const TrainerOptions& options = {}) {
  auto trainer = load_external_trainer(library(name), options);
  EXPECT_TRUE(trainer.ok()) << trainer.status().text();
  return trainer.ok() ? std::move(*trainer) : nullptr;
}

std::string refusal(const std::string& path) {
  return load_external_trainer(path, {}).status().text();
}

TEST(ExternalTrainer, TrainsWithEveryVersionThatIsKnown) {
  const auto device = emulated::make_codec_device();
  for (const char* const version : {"1", "2"}) {
    const auto trainer = trainer_of(version, {.agent_id = "a", .device = device.get()});
    ASSERT_NE(trainer, nullptr);
    ASSERT_TRUE(trainer->prepare({}).ok());
    const FloatVector model = {1, 2, 3};
    const Result<TrainedUpdate> trained =
        trainer->train({.round = 4, .model = model, .local_steps = 3});
    ASSERT_TRUE(trained.ok()) << trained.status().text();
    EXPECT_EQ(*trained->update, FloatVector({5, 6, 7}));
    EXPECT_EQ(trained->on_device, nullptr);
    EXPECT_EQ(trained->loss, 0.5);
    EXPECT_EQ(trained->examples, 7u);
    EXPECT_EQ(trained->local_steps, 3u);
  }
}

TEST(ExternalTrainer, IsRefusedWithTheReason) {
  EXPECT_NE(refusal(library("3")).find("expected interface 1 to 2, got 3"), std::string::npos);
  EXPECT_NE(refusal(library("incomplete")).find("the functions of a trainer's C interface"),
            std::string::npos);
  EXPECT_NE(refusal(library("none")).find("a library that can be loaded"), std::string::npos);
  const Status no_path = make_trainer("external", {}).status();
  EXPECT_NE(no_path.text().find("trainer.library"), std::string::npos) << no_path.text();
}

TEST(ExternalTrainer, ReportsWhyItFails) {
  const auto refusing = trainer_of("2", {.agent_id = "b", .model_file = "refuse"});
  EXPECT_NE(refusing->prepare({}).text().find("refused for b"), std::string::npos);
  EXPECT_FALSE(refusing->train({.round = 1, .model = {}}).ok()) << "not prepared";

  const auto trainer = trainer_of("2");
  TrainingJob job;
  job.batch_size = 0;
  const Status failed = trainer->prepare(job);
  EXPECT_EQ(failed.code(), StatusCode::invalid_argument);
  EXPECT_NE(failed.text().find("a failure without a text"), std::string::npos) << failed.text();
  ASSERT_TRUE(trainer->prepare({}).ok());
  EXPECT_EQ(trainer->train({.round = 99, .model = {}}).status().code(), StatusCode::cancelled);
  const Status endless = trainer->train({.round = 98, .model = {}}).status();
  EXPECT_NE(endless.text().find(std::string(TRIBUTARY_ERROR_BYTES - 1, 'x')), std::string::npos);
  trainer->cancel();
  EXPECT_EQ(trainer->train({.round = 1, .model = {}}).status().code(), StatusCode::cancelled);
}

}  // namespace
}  // namespace tributary
