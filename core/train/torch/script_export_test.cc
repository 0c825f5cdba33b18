// An exported file computes the same as the model, also in a program that uses only libtorch.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/data/drawn/make.h"
#include "core/data/formats/open.h"
#include "core/optimizer/optimizer.h"
#include "core/train/torch/job_network.h"
#include "core/train/torch/script_source.h"
#include "core/train/torch/torch_model.h"
#include "core/train/torch/torch_tools.h"

namespace tributary {
namespace {

const ExampleShape kPictures = {.dims = {3, 16, 16}, .classes = 4};
const ExampleShape kText = {.task = DataTask::next_token, .dims = {8}, .classes = 11};
const ExampleShape kTable = {.task = DataTask::regression, .dims = {7}, .outputs = 3};

// Random examples of any task, with a seed of their own for each batch.
Batch batch_of(const ExampleShape& shape, std::size_t count, std::uint64_t seed = 0) {
  const StreamKey key = stream_key({.job_seed = 5 + seed, .purpose = DrawPurpose::synthetic_data});
  std::uint32_t at = 0;
  Batch batch;
  batch.count = count;
  for (std::size_t v = 0; v < count * shape.values(); ++v) {
    const std::uint32_t bits = random_bits(key, at++);
    if (shape.task == DataTask::next_token) {
      batch.tokens.push_back(static_cast<std::int64_t>(bits % shape.classes));
      batch.labels.push_back(static_cast<std::int64_t>(bits / 64 % shape.classes));
    } else {
      batch.features.push_back(uniform_01(bits) - 0.5f);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = random_bits(key, at++);
    if (shape.task == DataTask::classification) batch.labels.push_back(bits % shape.classes);
    for (std::uint32_t o = 0; o < shape.outputs; ++o) batch.targets.push_back(uniform_01(bits));
  }
  return batch;
}

// A model with values at random in every layer.
struct Held {
  Held(std::string_view spec, const ExampleShape& shape) {
    const Result<NetworkPlan> plan = plan_network(spec, shape);
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    values = initial_model(*plan, 3);
    // No value may keep its default: biases, statistics and scales of norms would hide errors.
    const StreamKey key = stream_key({.job_seed = 9, .purpose = DrawPurpose::synthetic_data});
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0 && values[i] != 1) continue;
      values[i] += 0.2f * uniform_01(random_bits(key, static_cast<std::uint32_t>(i)));
    }
    model = std::move(*TorchModel::make(*plan));
    const std::uint64_t parameters = model->parameter_values();
    model->bind({.parameters = std::span(values).first(parameters),
                 .buffers = std::span(values).subspan(parameters),
                 .gradients = {}});
  }
  FloatVector values;
  std::unique_ptr<TorchModel> model;
};

// Together these models contain every kind of operation.
const std::map<std::string, ExampleShape>& models() {
  static const std::map<std::string, ExampleShape> kModels = {
      {"mlp:hidden=8,depth=2", kTable},
      {"lenet", kPictures},
      {"resnet8", kPictures},
      {"resnet20", kPictures},
      {"chargpt:width=16,depth=2,heads=2", kText}};
  return kModels;
}

// The file loads in libtorch and has the same layers, values and results, example by example.
TEST(ExportScript, IsTheSameModelAndComputesTheSame) {
  for (const auto& [spec, shape] : models()) {
    Held held(spec, shape);
    const Result<Bytes> file = held.model->export_script();
    ASSERT_TRUE(file.ok()) << spec << ": " << file.status().text();
    const auto loaded = TorchModel::load_script(*file, spec, shape);
    ASSERT_TRUE(loaded.ok()) << spec << ": " << loaded.status().text();
    EXPECT_EQ((*loaded)->layers().hash(), held.model->layers().hash()) << spec;
    EXPECT_EQ((*loaded)->values(), held.values) << spec;

    // Compares example by example, because a mean could hide a difference.
    const Loss loss = shape.task == DataTask::regression ? Loss::mse : Loss::cross_entropy;
    for (std::uint64_t example = 0; example < 24; ++example) {
      const Batch batch = batch_of(shape, 1, example);
      const Result<Evaluation> here = held.model->evaluate(batch, loss);
      const Result<Evaluation> there = (*loaded)->evaluate(batch, loss);
      ASSERT_TRUE(here.ok()) << spec << ": " << here.status().text();
      ASSERT_TRUE(there.ok()) << spec << ": " << there.status().text();
      EXPECT_NEAR(there->loss, here->loss, 1e-6 * std::abs(here->loss)) << spec;
      EXPECT_EQ(there->accuracy, here->accuracy) << spec;
      EXPECT_NE(here->loss, 0) << spec;
    }
  }
}

// A script that was loaded, trained and exported again.
TEST(ExportScript, TheWrittenScriptHasTheNewValues) {
  Held held("lenet", kPictures);
  const Bytes first = *held.model->export_script();
  auto script = std::move(*TorchModel::load_script(first, "first", kPictures));
  for (float& value : held.values) value *= 0.5f;
  script->bind({.parameters = held.values, .buffers = {}, .gradients = {}});
  const Result<Bytes> second = script->export_script();
  ASSERT_TRUE(second.ok()) << second.status().text();
  const auto read = TorchModel::load_script(*second, "second", kPictures);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ((*read)->values(), held.values);
  EXPECT_EQ((*read)->layers().hash(), held.model->layers().hash());
}

// Gradients flow through the script, and batch norm keeps its statistics.
TEST(ExportScript, CanBeTrainedFurther) {
  Held held("resnet8", kPictures);
  auto script = std::move(*TorchModel::load_script(*held.model->export_script(), "r", kPictures));
  FloatVector gradient(script->parameter_values());
  const std::uint64_t parameters = script->parameter_values();
  script->bind({.parameters = std::span(held.values).first(parameters),
                .buffers = std::span(held.values).subspan(parameters),
                .gradients = gradient});
  const FloatVector before = held.values;
  const Result<double> loss = script->add_gradient(batch_of(kPictures, 8), Loss::cross_entropy, 1);
  ASSERT_TRUE(loss.ok()) << loss.status().text();
  EXPECT_NE(std::accumulate(gradient.begin(), gradient.end(), 0.0f), 0);
  EXPECT_NE(held.values, before) << "statistics move in training";
}

// --- a program that knows only libtorch ---

struct EvaluatorOutput {
  std::uint64_t examples = 0;
  std::uint64_t right = 0;
};

// Runs a program that links libtorch and nothing of this project.
EvaluatorOutput run_evaluator(const std::string& model, const std::string& data) {
  const std::string command = std::string(TRIBUTARY_TORCH_EVALUATE) + " " + model + " " + data;
  FILE* out = ::popen(command.c_str(), "r");
  EXPECT_NE(out, nullptr);
  EvaluatorOutput output;
  EXPECT_EQ(std::fscanf(out, "examples %lu right %lu", &output.examples, &output.right), 2);
  while (std::fgetc(out) != EOF) {
  }
  EXPECT_EQ(::pclose(out), 0);
  return output;
}

TrainingJob lenet_on(const ExampleShape& shape) {
  TrainingJob job;
  job.model = "lenet";
  job.input = shape;
  job.layer_map_hash = layer_map_of(*plan_network("lenet", shape))->hash();
  return job;
}

// The number of correct answers must agree exactly, which a difference in preprocessing would
// prevent.
TEST(ExportScript, AProgramOfItsOwnFindsTheSameAccuracyOnDigits) {
  const std::string folder = testing::TempDir() + "tributary_export_test";
  const auto made = make_data({.folder = folder, .count = 8000, .test_count = 800, .seed = 3});
  ASSERT_TRUE(made.ok()) << made.status().text();
  auto train = open_data({.path = folder, .part = DataPart::train});
  ASSERT_TRUE(train.ok()) << train.status().text();
  auto test = open_data({.path = folder, .part = DataPart::test});
  ASSERT_TRUE(test.ok()) << test.status().text();
  const ExampleShape shape = train->data->shape();
  auto plan = plan_network("lenet", shape);
  ASSERT_TRUE(plan.ok()) << plan.status().text();

  // A few steps make the model neither random nor perfect.
  FloatVector values = initial_model(*plan, 1);
  FloatVector gradient(values.size());
  Optimizer optimizer(*parse_optimizer("adam"), values.size());
  auto model = std::move(*TorchModel::make(*plan));
  model->bind({.parameters = values, .buffers = {}, .gradients = gradient});
  Batch batch;
  std::vector<std::uint32_t> examples(32);
  for (std::uint32_t step = 0; step < 250; ++step) {
    std::iota(examples.begin(), examples.end(), step * 32);
    ASSERT_TRUE(train->data->gather(examples, batch).ok());
    std::ranges::fill(gradient, 0.0f);
    ASSERT_TRUE(model->add_gradient(batch, Loss::cross_entropy, 1).ok());
    optimizer.begin();
    optimizer.apply(0, gradient, 1, 0.002, values);
  }

  const auto tools = make_torch_tools({.threads = 1});
  const std::uint32_t count = test->data->count();
  const Status prepared = tools->prepare(lenet_on(shape), std::move(test->data));
  ASSERT_TRUE(prepared.ok()) << prepared.text();
  const auto evaluation = tools->evaluate(values);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().text();
  EXPECT_EQ(evaluation->examples, count);
  EXPECT_GT(evaluation->accuracy, 0.2);
  const auto file = tools->export_script(values);
  ASSERT_TRUE(file.ok()) << file.status().text();
  const std::string path = folder + "/model.pt";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file->data()),
             static_cast<std::streamsize>(file->size()));
  const EvaluatorOutput output = run_evaluator(path, folder);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(output.examples, count);
  EXPECT_EQ(output.right, static_cast<std::uint64_t>(std::llround(evaluation->accuracy * count)));
}

// Evaluation needs data, an export does not; both need a model of the right size.
TEST(TorchTools, ErrorsNameTheMismatch) {
  const auto tools = make_torch_tools({.threads = 1});
  EXPECT_FALSE(tools->evaluate(FloatVector(3)).ok());
  EXPECT_FALSE(tools->export_script(FloatVector(3)).ok());
  TrainingJob job = lenet_on(kPictures);
  ASSERT_TRUE(tools->prepare(job, nullptr).ok());
  EXPECT_EQ(tools->evaluate(initial_model(*plan_network("lenet", kPictures), 1)).status().code(),
            StatusCode::invalid_argument)
      << "without data";
  EXPECT_EQ(tools->export_script(FloatVector(3)).status().code(), StatusCode::mismatch);
  job.layer_map_hash ^= 1;
  EXPECT_EQ(tools->prepare(job, nullptr).code(), StatusCode::mismatch);
  job.script = true;
  EXPECT_EQ(tools->prepare(job, nullptr).code(), StatusCode::not_found);
}

// Names such as "0" are valid for a layer but not in TorchScript's syntax.
TEST(ScriptSource, ReachesLayersByTheirNames) {
  const std::string source = script_source(*plan_network("resnet8", kPictures));
  EXPECT_NE(source.find("getattr(getattr(self, \"stage1\"), \"0\")"), std::string::npos) << source;
  EXPECT_NE(source.find("getattr(getattr(self, \"bn1\"), \"running_var\"), self.training"),
            std::string::npos)
      << source;
}

}  // namespace
}  // namespace tributary
