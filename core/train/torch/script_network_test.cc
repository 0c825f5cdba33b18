// TorchScript files, created here as another program would create them.
#include <gtest/gtest.h>

#include <ATen/core/op_registration/op_registration.h>
#include <ATen/ops/full.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "core/train/torch/torch_model.h"

namespace tributary {
namespace {

const ExampleShape kShape = {.dims = {4}, .classes = 3};

torch::jit::Module module_with(const std::string& forward, at::ScalarType type = at::kFloat) {
  torch::jit::Module module("Net");
  module.register_parameter("weight", at::full({3, 4}, 0.5, type).set_requires_grad(true), false);
  module.register_buffer("offset", at::full({3}, 0.25, type));
  module.register_buffer("batches", at::full({1}, 7, at::kLong));
  module.define("def forward(self, x):\n    return " + forward + "\n");
  return module;
}

Bytes saved(const torch::jit::Module& module) {
  std::ostringstream out;
  module.save(out);
  const std::string text = out.str();
  const ByteSpan bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

Result<std::unique_ptr<TorchModel>> loaded(ByteSpan file) {
  return TorchModel::load_script(file, "net.pt", kShape);
}

Batch two_rows() {
  Batch batch;
  batch.count = 2;
  batch.features = {1, 0, 0, 0, 0, 1, 0, 0};
  batch.labels = {0, 2};
  return batch;
}

TEST(ScriptNetwork, ItsParametersAndBuffersBecomeLayers) {
  const auto model = loaded(saved(module_with("torch.linear(x, self.weight) + self.offset")));
  ASSERT_TRUE(model.ok()) << model.status().text();
  const LayerMap& map = (*model)->layers();
  ASSERT_EQ(map.layers().size(), 2u) << "a count of batches is everybody's own";
  EXPECT_EQ(map.layers()[0].name, "weight");
  EXPECT_EQ(map.layers()[1].name, "offset");
  EXPECT_EQ((*model)->parameter_values(), 12u);
  EXPECT_EQ((*model)->buffer_values(), 3u);
  FloatVector expected(15, 0.5f);
  std::fill(expected.begin() + 12, expected.end(), 0.25f);
  EXPECT_EQ((*model)->values(), expected);
}

TEST(ScriptNetwork, ItTrainsInTheCallersMemory) {
  const auto model = loaded(saved(module_with("torch.linear(x, self.weight) + self.offset")));
  ASSERT_TRUE(model.ok()) << model.status().text();
  FloatVector values = (*model)->values();
  FloatVector gradient(12, 0.0f);
  (*model)->bind({.parameters = std::span(values).first(12),
                  .buffers = std::span(values).subspan(12),
                  .gradients = gradient});
  const Result<double> loss = (*model)->add_gradient(two_rows(), Loss::cross_entropy, 1);
  ASSERT_TRUE(loss.ok()) << loss.status().text();
  EXPECT_NEAR(*loss, std::log(3.0), 1e-6);
  // Gradient of row r: (softmax - one hot) / 2 at the feature that is 1.
  EXPECT_NEAR(gradient[0], (1.0 / 3 - 1) / 2, 1e-6);
  EXPECT_NEAR(gradient[4], 1.0 / 6, 1e-6);
  EXPECT_NEAR(gradient[9], (1.0 / 3 - 1) / 2, 1e-6);
  EXPECT_EQ(gradient[2], 0);
  values[0] = 2;
  EXPECT_NE((*model)->evaluate(two_rows(), Loss::cross_entropy)->loss, *loss);
}

TEST(ScriptNetwork, SaysWhyAFileIsOfNoUse) {
  const Bytes good = saved(module_with("torch.linear(x, self.weight)"));
  ASSERT_TRUE(loaded(good).ok());
  const auto refusal = [](ByteSpan file) { return loaded(file).status(); };
  EXPECT_EQ(refusal(ByteSpan(good).first(good.size() / 2)).code(), StatusCode::unsupported);
  EXPECT_EQ(refusal({}).code(), StatusCode::unsupported);
  const Status type = refusal(saved(module_with("x", at::kDouble)));
  EXPECT_EQ(type.code(), StatusCode::unsupported);
  EXPECT_NE(type.text().find("weight"), std::string::npos) << type.text();
}

// Its layers are in the memory of the device, and a step changes nothing on the host.
TEST(ScriptNetwork, TrainsInTheMemoryOfADevice) {
  const Bytes file = saved(module_with("torch.linear(x, self.weight) + self.offset"));
  const auto host = loaded(file);
  const auto device = TorchModel::load_script(file, "net.pt", kShape, TrainerDevice::emulated);
  ASSERT_TRUE(host.ok() && device.ok());
  FloatVector values = (*host)->values();
  EXPECT_EQ((*device)->values(), values);
  const auto gradient_of = [&](TorchModel& model, FloatVector& gradient) {
    model.bind({.parameters = std::span(values).first(12),
                .buffers = std::span(values).subspan(12),
                .gradients = gradient});
    const auto loss = model.add_gradient(two_rows(), Loss::cross_entropy, 1);
    EXPECT_TRUE(loss.ok()) << loss.status().text();
  };
  FloatVector expected(12, 0.0f);
  FloatVector got(12, 0.0f);
  gradient_of(**host, expected);
  gradient_of(**device, got);
  EXPECT_EQ(got, FloatVector(12, 0.0f));
  (*device)->read_gradients();
  EXPECT_EQ(got, expected);
  FloatVector with_buffers = expected;
  with_buffers.insert(with_buffers.end(), {1, 2, 3});
  const std::span<const float> there = (*device)->on_device(std::span(with_buffers).subspan(12));
  EXPECT_EQ(FloatVector(there.begin(), there.end()), with_buffers);
}

// The file is saved while the operator is registered and read after it is gone.
TEST(ScriptNetwork, AnOperatorThatIsNotThereIsNamed) {
  Bytes file;
  {
    const auto registered = c10::RegisterOperators().op(
        "tributary_test::twice", [](const at::Tensor& x) -> at::Tensor { return x.add(x); });
    torch::jit::Module module = module_with("torch.linear(x, self.weight)");
    const auto graph = module.get_method("forward").graph();
    const torch::jit::WithInsertPoint behind(graph->return_node());
    torch::jit::Value* twice = graph->insert(c10::Symbol::fromQualString("tributary_test::twice"),
                                             {graph->outputs().at(0)});
    graph->return_node()->replaceInput(0, twice);
    file = saved(module);
    ASSERT_TRUE(loaded(file).ok());
  }
  const Status status = loaded(file).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_NE(status.text().find("net.pt"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("twice"), std::string::npos) << status.text();
}

TEST(ScriptNetwork, AnOutputOfAnotherShapeIsAnError) {
  const auto model = loaded(saved(module_with("torch.linear(x, self.weight)[:, :2]")));
  ASSERT_TRUE(model.ok()) << model.status().text();
  FloatVector values = (*model)->values();
  (*model)->bind({.parameters = std::span(values).first(12),
                  .buffers = std::span(values).subspan(12),
                  .gradients = {}});
  const Status status = (*model)->evaluate(two_rows(), Loss::cross_entropy).status();
  EXPECT_EQ(status.code(), StatusCode::mismatch);
  EXPECT_NE(status.text().find("expected 2x3"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("got 2x2"), std::string::npos) << status.text();
}

}  // namespace
}  // namespace tributary
