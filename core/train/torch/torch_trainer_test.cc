// Tests of the libtorch trainer on small pictures of stripes: steps, epochs, clipping, errors and
// cancellation.
#include "core/train/torch/torch_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>

#include "core/base/random.h"
#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/optimizer/optimizer.h"
#include "core/train/model/network_plan.h"
#include "core/train/torch/torch_model.h"

namespace tributary {
namespace {

const ExampleShape kTrainedShape = {.dims = {1, 16, 16}, .classes = 3};

// Noisy stripes; the label is their direction.
std::shared_ptr<const DataSet> stripes(std::uint32_t count, std::uint64_t seed) {
  const StreamKey key = stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
  FeatureTable table = {.shape = kTrainedShape, .features = {}, .labels = {}, .targets = {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t label = random_bits(key, i) % 3;
    table.labels.push_back(static_cast<std::uint16_t>(label));
    for (std::uint32_t v = 0; v < 256; ++v) {
      const std::uint32_t along = label == 0 ? v / 16 : label == 1 ? v % 16 : v / 16 + v % 16;
      const float noise = uniform_01(random_bits(key, count + i * 256 + v)) - 0.5f;
      table.features.push_back((along % 4 < 2 ? 0.5f : -0.5f) + noise);
    }
  }
  auto data = make_table(std::move(table));
  EXPECT_TRUE(data.ok()) << data.status().text();
  return std::shared_ptr<const DataSet>(std::move(*data));
}

// A job with 16 examples per step; `gradient` chooses between a gradient and a delta as the update.
TrainingJob job_for(const std::string& model, bool gradient) {
  TrainingJob job;
  job.job = 1;
  job.revision = 1;
  job.seed = 5;
  job.gradient = gradient;
  job.model = model;
  job.input = kTrainedShape;
  job.batch_size = 16;
  const Result<NetworkPlan> plan = plan_network(model, kTrainedShape);
  EXPECT_TRUE(plan.ok()) << plan.status().text();
  job.layer_map_hash = layer_map_of(*plan)->hash();
  return job;
}

FloatVector first_model(const TrainingJob& job) {
  return initial_model(*plan_network(job.model, job.input), job.seed);
}

// A trainer with 200 training examples and 90 held out.
std::unique_ptr<Trainer> trainer_with(const TrainerOptions& options) {
  return make_torch_trainer(options, [](const TrainingJob&) {
    return Result<TrainingData>(TrainingData{.train = stripes(200, 1), .hold_out = stripes(90, 2)});
  });
}

std::unique_ptr<Trainer> trainer_for(std::string id = "agent") {
  TrainerOptions options;
  options.agent_id = std::move(id);
  return trainer_with(options);
}

std::unique_ptr<Trainer> trainer_on(TrainerDevice device, CodecDevice* encodes = nullptr) {
  TrainerOptions options;
  options.agent_id = "agent";
  options.trains_on = device;
  options.device = encodes;
  return trainer_with(options);
}

TrainedUpdate trained(Trainer& trainer, const TrainOrder& order) {
  Result<TrainedUpdate> update = trainer.train(order);
  EXPECT_TRUE(update.ok()) << update.status().text();
  return update.ok() ? std::move(*update) : TrainedUpdate{};
}

FloatVector whole_update(Trainer& trainer, const TrainOrder& order) {
  const TrainedUpdate update = trained(trainer, order);
  return update.update ? *update.update : FloatVector();
}

// In gradient mode the model does not move between the local steps, so two steps are two rounds of
// one step.
TEST(TorchTrainer, GradientsOfSeveralStepsAreTheirMean) {
  const TrainingJob job = job_for("lenet", true);
  const auto trainer = trainer_for();
  ASSERT_TRUE(trainer->prepare(job).ok());
  const FloatVector model = first_model(job);
  const TrainedUpdate both =
      trained(*trainer, {.round = 1, .model = model, .local_steps = 2, .learning_rate = 0.1});
  EXPECT_EQ(model, first_model(job)) << "training changes its own copy";
  EXPECT_EQ(both.examples, 32u);
  EXPECT_EQ(both.local_steps, 2u);
  const TrainedUpdate first =
      trained(*trainer, {.round = 1, .model = model, .local_steps = 1, .learning_rate = 0.1});
  const TrainedUpdate second =
      trained(*trainer, {.round = 2, .model = model, .local_steps = 1, .learning_rate = 0.1});
  EXPECT_NEAR(both.loss, (first.loss + second.loss) / 2, 1e-6);
  for (std::size_t i = 0; i < model.size(); ++i) {
    ASSERT_NEAR((*both.update)[i], ((*first.update)[i] + (*second.update)[i]) / 2, 1e-6) << i;
  }
}

// An agent that repeats a round after a crash must send the same update. Agents shuffle by their
// id.
TEST(TorchTrainer, TheSameOrderGivesTheSameBitsAndAgentsDiffer) {
  const TrainingJob job = job_for("resnet8", false);
  const FloatVector model = first_model(job);
  const auto update_of = [&](const char* id) {
    const auto trainer = trainer_for(id);
    EXPECT_TRUE(trainer->prepare(job).ok());
    return whole_update(*trainer,
                        {.round = 3, .model = model, .local_steps = 3, .learning_rate = 0.1});
  };
  EXPECT_EQ(update_of("a"), update_of("a"));
  EXPECT_NE(update_of("a"), update_of("b"));
}

// In gradient mode, a buffer's entry times the learning rate is the change of the buffer.
TEST(TorchTrainer, BuffersMoveAlikeInBothModes) {
  const FloatVector model = first_model(job_for("resnet8", true));
  const auto update_of = [&](bool gradient) {
    const auto trainer = trainer_for();
    EXPECT_TRUE(trainer->prepare(job_for("resnet8", gradient)).ok());
    return whole_update(*trainer,
                        {.round = 1, .model = model, .local_steps = 1, .learning_rate = 0.5});
  };
  const FloatVector gradient = update_of(true);
  const FloatVector delta = update_of(false);
  const std::size_t parameters = gradient.size() - 2 * 16 * (3 + 2 * 2 + 4 * 2);
  bool moved = false;
  for (std::size_t i = parameters; i < gradient.size(); ++i) {
    ASSERT_NEAR(-0.5f * gradient[i], delta[i], 1e-6) << i;
    moved = moved || delta[i] != 0;
  }
  EXPECT_TRUE(moved);
  // One plain step of SGD is the gradient times the learning rate.
  for (std::size_t i = 0; i < parameters; ++i) {
    ASSERT_NEAR(-0.5f * gradient[i], delta[i], 1e-6f) << i;
  }
}

// The last layers are final while the first ones are still computed. Buffers come after all layers
// in the vector and are final first.
TEST(TorchTrainer, PartsOfAGradientAreFinalFromTheEndOn) {
  for (const char* name : {"lenet", "resnet8"}) {
    const TrainingJob job = job_for(name, true);
    const auto trainer = trainer_for();
    ASSERT_TRUE(trainer->prepare(job).ok());
    const FloatVector model = first_model(job);
    std::vector<FloatVector> tails;
    const auto keep = [&](std::uint64_t first, const std::shared_ptr<FloatVector>& update) {
      tails.emplace_back(update->begin() + static_cast<std::ptrdiff_t>(first), update->end());
    };
    TrainOrder order{.round = 1, .model = model, .local_steps = 1, .learning_rate = 0.1};
    order.part_ready = keep;
    const FloatVector whole = whole_update(*trainer, order);
    ASSERT_GT(tails.size(), 3u) << name;
    EXPECT_EQ(tails.back().size(), whole.size()) << name;
    for (std::size_t i = 0; i < tails.size(); ++i) {
      if (i > 0) {
        EXPECT_GT(tails[i].size(), tails[i - 1].size());
      }
      EXPECT_TRUE(std::equal(tails[i].rbegin(), tails[i].rend(), whole.rbegin())) << name << i;
    }

    tails.clear();
    order.local_steps = 2;  // a mean of two steps is final only after the last step
    trained(*trainer, order);
    EXPECT_TRUE(tails.empty());
  }
}

// Two epochs of 200 examples are 25 steps of 16. Three classes, so chance is a third.
TEST(TorchTrainer, LocalEpochsTrainTheModel) {
  TrainingJob job = job_for("lenet", false);
  job.optimizer = *parse_optimizer("momentum");
  job.epochs = 2;
  const auto trainer = trainer_for();
  ASSERT_TRUE(trainer->prepare(job).ok());
  FloatVector model = first_model(job);
  double loss = 0;
  for (std::uint64_t round = 1; round <= 4; ++round) {
    const TrainedUpdate update =
        trained(*trainer, {.round = round, .model = model, .learning_rate = 0.02});
    EXPECT_EQ(update.local_steps, 25u) << "400 examples by 16";
    EXPECT_EQ(update.examples, 200u);
    EXPECT_FALSE(update.evaluation.has_value());
    for (std::size_t i = 0; i < model.size(); ++i) model[i] += (*update.update)[i];
    loss = update.loss;
  }
  EXPECT_LT(loss, 0.5);
  const TrainedUpdate last =
      trained(*trainer, {.round = 5, .model = model, .learning_rate = 0.02, .evaluate = true});
  ASSERT_TRUE(last.evaluation.has_value());
  EXPECT_EQ(last.evaluation->examples, 90u);
  EXPECT_GT(last.evaluation->accuracy, 0.8) << "of a third by chance";
}

// FedProx penalises the distance from the round's model: after 20 steps with mu = 2 it is clearly
// smaller.
TEST(TorchTrainer, TheProximalTermHoldsBack) {
  const auto distance = [](double mu) {
    TrainingJob job = job_for("lenet", false);
    job.proximal = mu;
    const auto trainer = trainer_for();
    EXPECT_TRUE(trainer->prepare(job).ok());
    const FloatVector model = first_model(job);
    double square = 0;
    for (const float x : whole_update(
             *trainer, {.round = 1, .model = model, .local_steps = 20, .learning_rate = 0.1})) {
      square += static_cast<double>(x) * x;
    }
    return std::sqrt(square);
  };
  EXPECT_LT(distance(2), 0.7 * distance(0));
}

// The norm is 1e-3 after clipping; the gradient of an untrained model is far longer.
TEST(TorchTrainer, ClipsTheGradientThatItGives) {
  TrainingJob job = job_for("lenet", true);
  job.clip_norm = 1e-3;
  const auto trainer = trainer_for();
  ASSERT_TRUE(trainer->prepare(job).ok());
  const FloatVector model = first_model(job);
  double square = 0;
  for (const float x : whole_update(*trainer, {.round = 1, .model = model, .learning_rate = 1})) {
    square += static_cast<double>(x) * x;
  }
  EXPECT_NEAR(std::sqrt(square), 1e-3, 1e-6);
}

// Memory of its own changes no bit: the emulated device computes with the same processor.
TEST(TorchTrainer, GivesTheSameUpdateFromTheMemoryOfADevice) {
  for (const char* const model : {"lenet", "resnet8"}) {
    for (const bool gradient : {true, false}) {
      SCOPED_TRACE(testing::Message() << model << (gradient ? ", gradient" : ", delta"));
      TrainingJob job = job_for(model, gradient);
      job.optimizer = *parse_optimizer("adam");
      job.proximal = gradient ? 0 : 0.5;
      const FloatVector values = first_model(job);
      const TrainOrder order = {
          .round = 2, .model = values, .local_steps = 2, .learning_rate = 0.1, .evaluate = true};
      const auto host = trainer_for();
      const auto device = trainer_on(TrainerDevice::emulated);
      ASSERT_TRUE(host->prepare(job).ok());
      ASSERT_TRUE(device->prepare(job).ok());
      const TrainedUpdate expected = trained(*host, order);
      const TrainedUpdate update = trained(*device, order);
      EXPECT_EQ(*update.update, *expected.update);
      EXPECT_EQ(update.loss, expected.loss);
      EXPECT_EQ(update.evaluation->accuracy, expected.evaluation->accuracy);
      EXPECT_EQ(update.on_device, nullptr) << "the host encodes";
    }
  }
}

// The values of an update on a device; empty if it is not there.
FloatVector values_on_device(const TrainedUpdate& update) {
  if (update.on_device == nullptr || update.update != nullptr) return {};
  FloatVector values(update.on_device->size());
  EXPECT_TRUE(update.on_device->read(0, values).ok());
  return values;
}

TEST(TorchTrainer, LeavesAGradientOnTheDeviceThatEncodes) {
  TrainingJob job = job_for("resnet8", true);
  const FloatVector model = first_model(job);
  const TrainOrder order = {.round = 1, .model = model, .local_steps = 2, .learning_rate = 0.1};
  const auto host = trainer_for();
  ASSERT_TRUE(host->prepare(job).ok());
  const FloatVector expected = whole_update(*host, order);

  const std::unique_ptr<CodecDevice> encodes = emulated::make_codec_device();
  const auto device = trainer_on(TrainerDevice::emulated, encodes.get());
  ASSERT_TRUE(device->prepare(job).ok());
  const TrainedUpdate first = trained(*device, order);
  EXPECT_EQ(values_on_device(first), expected);
  const TrainedUpdate next =
      trained(*device, {.round = 2, .model = model, .local_steps = 2, .learning_rate = 0.1});
  EXPECT_NE(values_on_device(next), expected);
  EXPECT_EQ(values_on_device(first), expected) << "a later training does not change it";

  // The device's memory is full: the update comes in host memory.
  int errors = 0;
  encodes->report_errors_to([&](const Status&) { ++errors; });
  emulated::fail_operation(emulated::Operation::allocation, 1);
  const TrainedUpdate full = trained(*device, order);
  emulated::fail_operation(emulated::Operation::allocation, 0);
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(full.on_device, nullptr);
  EXPECT_EQ(*full.update, expected);

  // The host clips.
  job.clip_norm = 1e-3;
  ASSERT_TRUE(device->prepare(job).ok());
  ASSERT_TRUE(host->prepare(job).ok());
  EXPECT_EQ(whole_update(*device, order), whole_update(*host, order));
}

// Debian's libtorch has no CUDA.
TEST(TorchTrainer, RefusesADeviceThatTheEngineLacks) {
  const Status missing = check_engine_has(TrainerDevice::cuda);
  if (missing.ok()) GTEST_SKIP() << "this libtorch has CUDA and a GPU";
  EXPECT_EQ(missing.code(), StatusCode::unsupported);
  EXPECT_NE(missing.text().find("trainer.device"), std::string::npos) << missing.text();
  const auto trainer = trainer_on(TrainerDevice::cuda);
  EXPECT_EQ(trainer->prepare(job_for("lenet", true)).text(), missing.text());
}

// Each error has both sides or the setting, because model and data come from different people.
TEST(TorchTrainer, ErrorsNameTheMismatch) {
  const auto refusal = [](auto change) {
    TrainingJob job = job_for("lenet", true);
    change(job);
    return trainer_for()->prepare(job);
  };
  EXPECT_TRUE(refusal([](TrainingJob&) {}).ok());
  const Status data = refusal([](TrainingJob& job) { job.input.dims = {1, 28, 28}; });
  EXPECT_EQ(data.code(), StatusCode::mismatch);
  EXPECT_NE(data.text().find("1x16x16"), std::string::npos) << data.text();
  EXPECT_EQ(refusal([](TrainingJob& job) { job.layer_map_hash ^= 1; }).code(),
            StatusCode::mismatch);
  EXPECT_EQ(refusal([](TrainingJob& job) { job.model = "lenett"; }).code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(refusal([](TrainingJob& job) { job.loss = "hinge"; }).code(),
            StatusCode::invalid_argument);
  const Status script = refusal([](TrainingJob& job) { job.script = true; });
  EXPECT_EQ(script.code(), StatusCode::not_found);
  EXPECT_NE(script.text().find("trainer.model_file"), std::string::npos) << script.text();
}

// A learning rate of 1e30 overflows in the first steps.
TEST(TorchTrainer, ALossThatIsNotFiniteNamesTheRound) {
  TrainingJob job = job_for("lenet", false);
  const auto trainer = trainer_for();
  ASSERT_TRUE(trainer->prepare(job).ok());
  const FloatVector model = first_model(job);
  const Status status =
      trainer->train({.round = 7, .model = model, .local_steps = 50, .learning_rate = 1e30})
          .status();
  EXPECT_EQ(status.code(), StatusCode::not_finite);
  EXPECT_NE(status.text().find("round 7"), std::string::npos) << status.text();
  EXPECT_TRUE(trainer->train({.round = 8, .model = model, .learning_rate = 0.1}).ok())
      << "the next round is a new one";
}

// 2^30 steps would take days.
TEST(TorchTrainer, CanBeCancelledWhileItTrains) {
  const auto trainer = trainer_for();
  const TrainingJob job = job_for("lenet", false);
  ASSERT_TRUE(trainer->prepare(job).ok());
  const FloatVector model = first_model(job);
  Status status;
  std::thread thread([&] {
    status =
        trainer->train({.round = 1, .model = model, .local_steps = 1u << 30, .learning_rate = 0})
            .status();
  });
  trainer->cancel();
  thread.join();
  EXPECT_EQ(status.code(), StatusCode::cancelled);
}

// The trainer knows neither model nor data yet.
TEST(TorchTrainer, TrainsNothingBeforeItIsPrepared) {
  const FloatVector model(10);
  EXPECT_EQ(trainer_for()->train({.round = 1, .model = model}).status().code(),
            StatusCode::mismatch);
}

}  // namespace
}  // namespace tributary
