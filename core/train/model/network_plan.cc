#include "core/train/model/network_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/nearest.h"
#include "core/base/random.h"
#include "core/codec/spec.h"

namespace tributary {
namespace {

// An integer parameter of a model spec.
constexpr ParamSpec whole(std::string_view name, std::string_view default_value, double min,
                          double max, std::string_view help) {
  return {.name = name,
          .kind = ParamKind::integer,
          .default_value = default_value,
          .min = min,
          .max = max,
          .help = help};
}

constexpr std::array kMlpParams = {
    whole("hidden", "128", 1, 65'536, "columns of a hidden layer"),
    whole("depth", "1", 0, 64, "hidden layers; 0 is logistic regression")};
constexpr std::array kChargptParams = {
    whole("width", "128", 8, 4'096, "of the residual stream"), whole("depth", "4", 1, 64, "blocks"),
    whole("heads", "4", 1, 64, "of attention, which share the width")};

// Names and parameter tables are in the same order.
constexpr std::array<std::string_view, 5> kNames = {"mlp", "lenet", "resnet8", "resnet20",
                                                    "chargpt"};
constexpr std::array<std::span<const ParamSpec>, 5> kLayerTables = {
    kMlpParams, std::span<const ParamSpec>(), std::span<const ParamSpec>(),
    std::span<const ParamSpec>(), kChargptParams};

Status does_not_fit(std::string_view model, std::string expected, const ExampleShape& input) {
  std::string got = input.task == DataTask::next_token
                        ? fmt::format("tokens of {}", fmt::join(input.dims, "x"))
                        : fmt::format("features of {}", fmt::join(input.dims, "x"));
  return Status(StatusCode::mismatch, {.what = fmt::format("model {} and the data", model),
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = "choose another model or other data"});
}

// Collects operations and layers. Each function adds an operation with its layers in the order in
// which the executor indexes them.
class Builder {
 public:
  explicit Builder(const ExampleShape& input) { plan_.input = input; }

  void add(OperationKind kind) { plan_.operations.push_back({.kind = kind}); }

  // With a bound of 0, weights and bias are uniform in 1 / sqrt(in), the default of PyTorch. With
  // another bound, the bias is 0.
  void linear(const std::string& name, std::uint32_t in, std::uint32_t out, float bound = 0) {
    begin({.kind = OperationKind::linear, .in = in, .out = out});
    const float usual = bound > 0 ? bound : 1 / std::sqrt(static_cast<float>(in));
    parameter(name + ".weight", {out, in}, Fill::uniform, usual);
    parameter(name + ".bias", {out}, bound > 0 ? Fill::zeros : Fill::uniform, usual);
  }

  // Adds a convolution. A convolution before a batch norm (`normed`) needs no bias and is
  // initialized as He et al. propose.
  void convolution(const std::string& name, Operation operation, bool normed) {
    operation.kind = OperationKind::convolution;
    operation.bias = !normed;
    begin(operation);
    const auto fan_in = static_cast<float>(operation.in * operation.kernel * operation.kernel);
    const float bound = normed ? std::sqrt(6 / fan_in) : 1 / std::sqrt(fan_in);
    parameter(name + ".weight", {operation.out, operation.in, operation.kernel, operation.kernel},
              Fill::uniform, bound);
    if (!normed) parameter(name + ".bias", {operation.out}, Fill::uniform, bound);
  }

  void batch_norm(const std::string& name, std::uint32_t channels) {
    begin({.kind = OperationKind::batch_norm, .in = channels, .out = channels});
    parameter(name + ".weight", {channels}, Fill::ones);
    parameter(name + ".bias", {channels}, Fill::zeros);
    buffers_.push_back(layer(name + ".running_mean", {channels}, Fill::zeros));
    buffers_.push_back(layer(name + ".running_var", {channels}, Fill::ones));
  }

  void residual_end(std::uint32_t in, std::uint32_t out, std::uint32_t stride) {
    plan_.operations.push_back(
        {.kind = OperationKind::residual_end, .in = in, .out = out, .stride = stride});
  }

  void embedding(std::uint32_t vocabulary, std::uint32_t width, std::uint32_t context) {
    begin({.kind = OperationKind::embedding, .in = vocabulary, .out = width, .context = context});
    parameter("tokens.weight", {vocabulary, width}, Fill::uniform, kSmall);
    parameter("places.weight", {context, width}, Fill::uniform, kSmall);
  }

  void layer_norm(const std::string& name, std::uint32_t width) {
    begin({.kind = OperationKind::layer_norm, .in = width, .out = width});
    parameter(name + ".weight", {width}, Fill::ones);
    parameter(name + ".bias", {width}, Fill::zeros);
  }

  void attention(const std::string& name, std::uint32_t width, std::uint32_t heads) {
    begin({.kind = OperationKind::attention, .in = width, .out = width, .heads = heads});
    // The name is not "in", because that is a keyword of TorchScript and an exported file could not
    // be loaded.
    parameter(name + ".qkv.weight", {3ull * width, width}, Fill::uniform, kSmall);
    parameter(name + ".qkv.bias", {3ull * width}, Fill::zeros);
    parameter(name + ".out.weight", {width, width}, Fill::uniform, kSmall);
    parameter(name + ".out.bias", {width}, Fill::zeros);
  }

  // Half the width of a uniform distribution with standard deviation 0.02, the value of GPT-2.
  static constexpr float kSmall = 0.0346f;

  // Moves the buffers behind all parameters: the optimizer updates a prefix of the flat vector.
  NetworkPlan finish(std::string spec) {
    plan_.spec = std::move(spec);
    plan_.parameters = static_cast<std::uint32_t>(plan_.layers.size());
    for (PlannedLayer& buffer : buffers_) {
      buffer.buffer = true;
      plan_.layers.push_back(std::move(buffer));
    }
    return std::move(plan_);
  }

 private:
  void begin(Operation operation) {
    operation.first_parameter = static_cast<std::uint32_t>(plan_.layers.size());
    operation.first_buffer = static_cast<std::uint32_t>(buffers_.size());
    plan_.operations.push_back(operation);
  }
  // Buffers are collected separately, because they follow all parameters in the flat vector.
  static PlannedLayer layer(std::string name, std::vector<std::uint64_t> shape, Fill fill,
                            float bound = 0) {
    return {.shape = {.name = std::move(name), .shape = std::move(shape)},
            .fill = fill,
            .bound = bound};
  }
  void parameter(std::string name, std::vector<std::uint64_t> shape, Fill fill, float bound = 0) {
    plan_.layers.push_back(layer(std::move(name), std::move(shape), fill, bound));
  }

  NetworkPlan plan_;
  std::vector<PlannedLayer> buffers_;
};

// Values that the last layer computes per example or token.
std::uint32_t outputs_of(const ExampleShape& input) {
  return input.task == DataTask::regression ? input.outputs : input.classes;
}

Result<NetworkPlan> plan_mlp(const Params& params, const ExampleShape& input) {
  constexpr std::size_t kColumnsMax = 1u << 24;
  if (input.task == DataTask::next_token || input.values() > kColumnsMax) {
    return does_not_fit("mlp", fmt::format("up to {} features", kColumnsMax), input);
  }
  Builder builder(input);
  builder.add(OperationKind::flatten);
  auto columns = static_cast<std::uint32_t>(input.values());
  const auto hidden = static_cast<std::uint32_t>(params.integer("hidden"));
  for (std::int64_t i = 0; i < params.integer("depth"); ++i) {
    builder.linear(fmt::format("hidden{}", i + 1), columns, hidden);
    builder.add(OperationKind::relu);
    columns = hidden;
  }
  builder.linear("head", columns, outputs_of(input));
  return builder.finish(params.canonical("mlp"));
}

Result<NetworkPlan> plan_lenet(const Params& params, const ExampleShape& input) {
  const auto small = [](std::uint32_t side) { return side < 12; };
  if (input.task == DataTask::next_token || input.dims.size() != 3 || small(input.dims[1]) ||
      small(input.dims[2])) {
    return does_not_fit("lenet", "images as channels x 12 or more x 12 or more", input);
  }
  Builder builder(input);
  builder.convolution(
      "conv1", {.kind = {}, .in = input.dims[0], .out = 6, .kernel = 5, .padding = 2}, false);
  builder.add(OperationKind::relu);
  builder.add(OperationKind::max_pool);
  builder.convolution("conv2", {.kind = {}, .in = 6, .out = 16, .kernel = 5}, false);
  builder.add(OperationKind::relu);
  builder.add(OperationKind::max_pool);
  builder.add(OperationKind::flatten);
  // Two stages: the first keeps the size, the second loses 4 pixels; both are followed by a 2 x 2
  // pool.
  const auto side = [](std::uint32_t pixels) { return (pixels / 2 - 4) / 2; };
  builder.linear("fc1", 16 * side(input.dims[1]) * side(input.dims[2]), 120);
  builder.add(OperationKind::relu);
  builder.linear("fc2", 120, 84);
  builder.add(OperationKind::relu);
  builder.linear("head", 84, outputs_of(input));
  return builder.finish(params.canonical("lenet"));
}

// Two convolutions with a shortcut around them. The first one applies the stride.
void add_resnet_block(Builder& builder, const std::string& name, std::uint32_t in,
                      std::uint32_t out, std::uint32_t stride) {
  builder.add(OperationKind::residual_begin);
  builder.convolution(
      name + ".conv1",
      {.kind = {}, .in = in, .out = out, .kernel = 3, .stride = stride, .padding = 1}, true);
  builder.batch_norm(name + ".bn1", out);
  builder.add(OperationKind::relu);
  builder.convolution(name + ".conv2",
                      {.kind = {}, .in = out, .out = out, .kernel = 3, .padding = 1}, true);
  builder.batch_norm(name + ".bn2", out);
  builder.residual_end(in, out, stride);
  builder.add(OperationKind::relu);
}

// The networks of He et al., "Deep residual learning", for CIFAR: three stages, 6 n + 2 layers.
Result<NetworkPlan> plan_resnet(std::string_view name, std::uint32_t blocks, const Params& params,
                                const ExampleShape& input) {
  if (input.task == DataTask::next_token || input.dims.size() != 3 || input.dims[1] < 8 ||
      input.dims[2] < 8) {
    return does_not_fit(name, "images as channels x 8 or more x 8 or more", input);
  }
  Builder builder(input);
  std::uint32_t channels = 16;
  builder.convolution(
      "conv1", {.kind = {}, .in = input.dims[0], .out = channels, .kernel = 3, .padding = 1}, true);
  builder.batch_norm("bn1", channels);
  builder.add(OperationKind::relu);
  for (std::uint32_t stage = 0; stage < 3; ++stage) {
    const std::uint32_t out = 16u << stage;
    for (std::uint32_t block = 0; block < blocks; ++block) {
      add_resnet_block(builder, fmt::format("stage{}.{}", stage + 1, block), channels, out,
                       stage > 0 && block == 0 ? 2 : 1);
      channels = out;
    }
  }
  builder.add(OperationKind::global_mean);
  builder.linear("head", channels, outputs_of(input));
  return builder.finish(params.canonical(name));
}

// A decoder-only transformer with pre-norm blocks: attention, then a feed-forward part of four
// times the width.
Result<NetworkPlan> plan_chargpt(const Params& params, const ExampleShape& input) {
  if (input.task != DataTask::next_token || input.dims.size() != 1 || input.dims[0] == 0) {
    return does_not_fit("chargpt", "text: runs of tokens", input);
  }
  const auto width = static_cast<std::uint32_t>(params.integer("width"));
  const auto heads = static_cast<std::uint32_t>(params.integer("heads"));
  if (width % heads != 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "model chargpt",
                   .expected = fmt::format("a width that {} heads share", heads),
                   .got = fmt::format("{}", width),
                   .remedy = "change one of the two"});
  }
  Builder builder(input);
  builder.embedding(input.classes, width, input.dims[0]);
  for (std::int64_t i = 0; i < params.integer("depth"); ++i) {
    const std::string block = fmt::format("block{}", i + 1);
    builder.add(OperationKind::residual_begin);
    builder.layer_norm(block + ".norm1", width);
    builder.attention(block + ".attention", width, heads);
    builder.residual_end(width, width, 1);
    builder.add(OperationKind::residual_begin);
    builder.layer_norm(block + ".norm2", width);
    builder.linear(block + ".up", width, 4 * width, Builder::kSmall);
    builder.add(OperationKind::gelu);
    builder.linear(block + ".down", 4 * width, width, Builder::kSmall);
    builder.residual_end(width, width, 1);
  }
  builder.layer_norm("norm", width);
  builder.linear("head", width, input.classes, Builder::kSmall);
  return builder.finish(params.canonical("chargpt"));
}

Status no_such_model(std::string_view name) {
  return Status(StatusCode::invalid_argument, {.what = "model",
                                               .expected = "one that is built in",
                                               .got = fmt::format("'{}'", name),
                                               .remedy = did_you_mean(name, kNames)});
}

}  // namespace

Result<NetworkPlan> plan_network(std::string_view spec, const ExampleShape& input) {
  TRIBUTARY_ASSIGN(const SpecText text, split_spec(spec));
  const auto found = std::ranges::find(kNames, text.name);
  if (found == kNames.end()) return no_such_model(text.name);
  Result<Params> params =
      Params::make(text, kLayerTables[static_cast<std::size_t>(found - kNames.begin())]);
  if (!params.ok()) return std::move(params).status().at("model");
  if (outputs_of(input) == 0) return does_not_fit(text.name, "classes or outputs", input);
  if (text.name == "mlp") return plan_mlp(*params, input);
  if (text.name == "lenet") return plan_lenet(*params, input);
  if (text.name == "resnet8") return plan_resnet(text.name, 1, *params, input);
  if (text.name == "resnet20") return plan_resnet(text.name, 3, *params, input);
  return plan_chargpt(*params, input);
}

Result<LayerMap> layer_map_of(const NetworkPlan& plan) {
  std::vector<LayerShape> shapes;
  shapes.reserve(plan.layers.size());
  for (const PlannedLayer& layer : plan.layers) shapes.push_back(layer.shape);
  return LayerMap::make(std::move(shapes));
}

FloatVector initial_model(const NetworkPlan& plan, std::uint64_t seed) {
  FloatVector model;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const PlannedLayer& layer = plan.layers[i];
    std::size_t count = 1;
    for (const std::uint64_t dimension : layer.shape.shape) count *= dimension;
    const std::size_t first = model.size();
    model.resize(first + count);
    const std::span<float> values = std::span(model).subspan(first);
    if (layer.fill != Fill::uniform) {
      std::ranges::fill(values, layer.fill == Fill::ones ? 1.0f : 0.0f);
      continue;
    }
    // The draws belong to round 0; rounds begin at 1, so no synthetic update has the same address.
    const StreamKey key = stream_key({.job_seed = seed,
                                      .bucket = static_cast<std::uint32_t>(i),
                                      .purpose = DrawPurpose::synthetic_data});
    for (std::size_t at = 0; at < count; ++at) {
      const float uniform = uniform_01(random_bits(key, static_cast<std::uint32_t>(at)));
      values[at] = layer.bound * (2 * uniform - 1);
    }
  }
  return model;
}

}  // namespace tributary
