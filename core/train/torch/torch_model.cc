#include "core/train/torch/torch_model.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/nearest.h"
#include "core/train/torch/network.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 3> kLossNames = {"cross_entropy", "mse", "bce"};

// Creates a tensor over memory of the caller. The engine has no const tensors; nothing here writes
// to parameters or batches.
template <typename T>
at::Tensor view_of(const T* data, std::vector<std::int64_t> sizes, at::ScalarType type,
                   at::Device device = at::kCPU) {
  return at::from_blob(const_cast<T*>(data), sizes, at::TensorOptions().dtype(type).device(device));
}

at::Tensor flat_view_of(std::span<const float> values) {
  return view_of(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat);
}

// The engine's name of a device. The emulated one is the processor, with separate memory.
at::Device engine_device(TrainerDevice device) {
  return device == TrainerDevice::cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

std::vector<std::int64_t> sizes_of(const LayerShape& shape) {
  return {shape.shape.begin(), shape.shape.end()};
}

// Number of values of a layer; 1 for a scalar.
std::uint64_t count_of(const LayerShape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t dimension : shape.shape) count *= dimension;
  return count;
}

// The batch's features or tokens as a tensor of the device; on the host, without a copy.
at::Tensor input_of(const Batch& batch, const ExampleShape& shape, at::Device device) {
  std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(batch.count)};
  sizes.insert(sizes.end(), shape.dims.begin(), shape.dims.end());
  if (shape.task == DataTask::next_token) {
    return view_of(batch.tokens.data(), sizes, at::kLong).to(device);
  }
  return view_of(batch.features.data(), sizes, at::kFloat).to(device);
}

Status misfit(std::string expected, const at::Tensor& output) {
  return Status(StatusCode::mismatch, {.what = "output of the model",
                                       .expected = std::move(expected),
                                       .got = fmt::format("{}", fmt::join(output.sizes(), "x")),
                                       .remedy = "choose a model for this data, or another loss"});
}

// Output and target in the shapes that a loss requires: one row per label and one column per class,
// or a single column if there are two classes.
struct Compared {
  at::Tensor output;
  at::Tensor target;
  at::Tensor labels;  // undefined in a regression
};

Result<Compared> compare(const at::Tensor& output, const Batch& batch, const ExampleShape& shape,
                         Loss loss) {
  if (shape.task == DataTask::regression) {
    const auto outputs = static_cast<std::int64_t>(shape.outputs);
    const auto rows = static_cast<std::int64_t>(batch.count);
    if (loss == Loss::cross_entropy) {
      return Status(StatusCode::mismatch, {.what = "loss cross_entropy and the data",
                                           .expected = "labels",
                                           .got = "targets of a regression",
                                           .remedy = "use mse or bce"});
    }
    if (output.numel() != rows * outputs)
      return misfit(fmt::format("{}x{}", rows, outputs), output);
    return Compared{
        .output = output.reshape({rows, outputs}),
        .target = view_of(batch.targets.data(), {rows, outputs}, at::kFloat).to(output.device()),
        .labels = {}};
  }
  const auto rows = static_cast<std::int64_t>(batch.labels.size());
  const auto classes = static_cast<std::int64_t>(shape.classes);
  const at::Tensor labels = view_of(batch.labels.data(), {rows}, at::kLong).to(output.device());
  // A model for two classes may have a single output column, the log-odds of class 1.
  const bool one_column = loss != Loss::cross_entropy && classes == 2 && output.numel() == rows;
  if (one_column) {
    return Compared{
        .output = output.reshape({rows}), .target = labels.to(at::kFloat), .labels = labels};
  }
  if (output.numel() != rows * classes || output.dim() == 0 || output.size(-1) != classes) {
    return misfit(fmt::format("{}x{}", rows, classes), output);
  }
  return Compared{
      .output = output.reshape({rows, classes}),
      .target = loss == Loss::cross_entropy ? labels : at::one_hot(labels, classes).to(at::kFloat),
      .labels = labels};
}

at::Tensor loss_of(const Compared& compared, Loss loss) {
  switch (loss) {
    case Loss::cross_entropy:
      return at::cross_entropy_loss(compared.output, compared.target);
    case Loss::mse:
      return at::mse_loss(compared.output, compared.target);
    case Loss::bce:
      return at::binary_cross_entropy_with_logits(compared.output, compared.target);
  }
  return {};
}

// A single column predicts class 1 if its value is positive.
std::uint64_t count_right(const Compared& compared) {
  if (!compared.labels.defined()) return 0;
  const at::Tensor guess = compared.output.dim() == 1 ? compared.output.gt(0).to(at::kLong)
                                                      : at::argmax(compared.output, 1);
  return static_cast<std::uint64_t>(guess.eq(compared.labels).sum().item().toLong());
}

Status not_finite_loss(double loss) {
  return Status(StatusCode::not_finite,
                {.what = "loss of a batch",
                 .expected = "a finite number",
                 .got = fmt::format("{}", loss),
                 .remedy = "lower the learning rate, clip the gradient, or look at the data"});
}

Status failed(const std::exception& error) {
  return engine_error(StatusCode::mismatch, "model on a batch", error,
                      "check that the model takes what the data has");
}

}  // namespace

Result<Loss> parse_loss(std::string_view name) {
  const auto found = std::ranges::find(kLossNames, name);
  if (found != kLossNames.end()) return static_cast<Loss>(found - kLossNames.begin());
  return Status(StatusCode::invalid_argument, {.what = "loss",
                                               .expected = "one that there is",
                                               .got = fmt::format("'{}'", name),
                                               .remedy = did_you_mean(name, kLossNames)});
}

Status engine_error(StatusCode code, std::string what, const std::exception& error,
                    std::string remedy) {
  constexpr std::size_t kTextMax = 400;
  const auto* known = dynamic_cast<const c10::Error*>(&error);
  std::string text = known ? known->what_without_backtrace() : error.what();
  std::ranges::replace(text, '\n', ' ');
  if (text.size() > kTextMax) text.resize(kTextMax);
  return Status(code, {.what = std::move(what),
                       .expected = "the engine to take it",
                       .got = std::move(text),
                       .remedy = std::move(remedy)});
}

// Hides libtorch from the header.
class TorchModel::Impl {
 public:
  Impl(std::unique_ptr<Network> network, ExampleShape input, LayerMap map, TrainerDevice device)
      : network_(std::move(network)),
        input_(std::move(input)),
        map_(std::move(map)),
        device_(engine_device(device)) {
    for (const NetworkLayer& layer : network_->parameters) {
      parameter_values_ += count_of(layer.shape);
    }
    if (device == TrainerDevice::host) return;
    // A repeated round is to give the same update.
    if (device == TrainerDevice::cuda) at::globalContext().setDeterministicCuDNN(true);
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device_);
    const auto values = static_cast<std::int64_t>(map_.values());
    own_values_ = at::empty({values}, options);
    own_gradients_ = at::empty({values}, options);
  }

  const LayerMap& map() const { return map_; }
  std::uint64_t parameter_values() const { return parameter_values_; }

  // Parameters first, then buffers: the order of the layer map and of a transferred model.
  FloatVector values() const {
    FloatVector values;
    const auto append = [&](const std::vector<NetworkLayer>& layers) {
      for (const NetworkLayer& layer : layers) {
        const at::Tensor dense = layer.tensor.detach().to(at::kCPU).contiguous();
        const auto* from = dense.data_ptr<float>();
        values.insert(values.end(), from, from + dense.numel());
      }
    };
    append(network_->parameters);
    append(network_->buffers);
    return values;
  }

  // On the host, the tensors become views of the caller's memory, so that a step copies neither
  // parameters nor gradients.
  void bind(const Memory& memory) {
    const at::NoGradGuard no_grad;
    bound_ = memory;
    const float* parameters = memory.parameters.data();
    const float* buffers = memory.buffers.data();
    const float* gradients = memory.gradients.data();
    if (has_own_memory()) {
      own_buffers().copy_(flat_view_of(memory.buffers));
      refresh();
      parameters = own_values_.data_ptr<float>();
      buffers = parameters + parameter_values_;
      gradients = own_gradients_.data_ptr<float>();
    }
    std::uint64_t at = 0;
    for (NetworkLayer& layer : network_->parameters) {
      const std::uint64_t count = count_of(layer.shape);
      const std::vector<std::int64_t> sizes = sizes_of(layer.shape);
      layer.tensor.set_data(view_of(parameters + at, sizes, at::kFloat, device_));
      layer.tensor.mutable_grad() = memory.gradients.empty()
                                        ? at::Tensor()
                                        : view_of(gradients + at, sizes, at::kFloat, device_);
      at += count;
    }
    at = 0;
    for (NetworkLayer& layer : network_->buffers) {
      const std::uint64_t count = count_of(layer.shape);
      layer.tensor.set_data(view_of(buffers + at, sizes_of(layer.shape), at::kFloat, device_));
      at += count;
    }
    if (hooks_.empty()) hook();
  }

  void read_buffers() {
    if (has_own_memory()) flat_view_of(bound_.buffers).copy_(own_buffers());
  }

  void read_gradients() {
    if (has_own_memory())
      flat_view_of(bound_.gradients).copy_(own_gradients_.narrow(0, 0, parameters()));
  }

  void refresh() {
    if (!has_own_memory()) return;
    own_values_.narrow(0, 0, parameters()).copy_(flat_view_of(bound_.parameters));
    own_gradients_.zero_();
  }

  // Reading one value waits for the engine's work.
  std::span<const float> on_device(std::span<const float> rest) {
    if (!has_own_memory() || map_.values() == 0) return {};
    own_gradients_.narrow(0, parameters(), own_gradients_.size(0) - parameters())
        .copy_(flat_view_of(rest));
    static_cast<void>(own_gradients_[0].item());
    return {own_gradients_.data_ptr<float>(), map_.values()};
  }

  Result<double> add_gradient(const Batch& batch, Loss loss, double scale,
                              const GradientReady* ready) {
    try {
      const at::Tensor output = network_->forward(input_of(batch, input_, device_), true);
      TRIBUTARY_ASSIGN(const Compared compared, compare(output, batch, input_, loss));
      const at::Tensor value = loss_of(compared, loss);
      const auto number = value.item().toDouble();
      if (!std::isfinite(number)) return not_finite_loss(number);
      ready_ = ready;
      done_.assign(network_->parameters.size(), false);
      // The scale is the gradient of the scalar loss, so it multiplies all gradients.
      value.backward(at::scalar_tensor(scale, value.options()));
      // Parameters without influence on the loss have no gradient that the engine could report.
      // They follow from the last layer to the first, as the others do.
      for (std::size_t i = done_.size(); i-- > 0;) report_ready(i);
      ready_ = nullptr;
      return number;
    } catch (const std::exception& error) {
      ready_ = nullptr;
      return failed(error);
    }
  }

  Result<Evaluation> evaluate(const Batch& batch, Loss loss) {
    try {
      const at::NoGradGuard no_grad;
      const at::Tensor output = network_->forward(input_of(batch, input_, device_), false);
      TRIBUTARY_ASSIGN(const Compared compared, compare(output, batch, input_, loss));
      const auto guesses = static_cast<std::uint64_t>(compared.target.size(0));
      return Evaluation{.examples = guesses,
                        .loss = loss_of(compared, loss).item().toDouble(),
                        .accuracy = static_cast<double>(count_right(compared)) /
                                    static_cast<double>(std::max<std::uint64_t>(guesses, 1))};
    } catch (const std::exception& error) {
      return failed(error);
    }
  }

  Result<Bytes> export_script() {
    try {
      const at::NoGradGuard no_grad;
      std::ostringstream out;
      network_->save_script(out);
      const std::string text = std::move(out).str();
      const ByteSpan bytes = bytes_of(text);
      return Bytes(bytes.begin(), bytes.end());
    } catch (const std::exception& error) {
      return engine_error(StatusCode::unsupported, "model as TorchScript", error,
                          "export it as safetensors");
    }
  }

 private:
  bool has_own_memory() const { return own_values_.defined(); }
  std::int64_t parameters() const { return static_cast<std::int64_t>(parameter_values_); }
  at::Tensor own_buffers() const {
    return own_values_.narrow(0, parameters(), own_values_.size(0) - parameters());
  }

  // Registers a callback per parameter. The engine calls it on this thread when the parameter's
  // gradient is complete. The hooks are registered at the first bind(); later ones change only the
  // memory behind the tensors.
  void hook() {
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < network_->parameters.size(); ++i) {
      const NetworkLayer& layer = network_->parameters[i];
      ranges_.emplace_back(first, count_of(layer.shape));
      first += count_of(layer.shape);
      if (!layer.tensor.requires_grad()) {
        hooks_.emplace_back();
        continue;
      }
      using Variables = std::vector<torch::autograd::Variable>;
      hooks_.push_back(torch::autograd::impl::grad_accumulator(layer.tensor));
      hooks_.back()->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
          [this, i](const Variables& outputs, const Variables&) {
            report_ready(i);
            return outputs;
          }));
    }
  }

  // Reports a parameter's gradient at most once per pass.
  void report_ready(std::size_t parameter) {
    if (!ready_ || done_[parameter]) return;
    done_[parameter] = true;
    (*ready_)(ranges_[parameter].first, ranges_[parameter].second);
  }

  std::unique_ptr<Network> network_;
  ExampleShape input_;
  LayerMap map_;
  const at::Device device_;
  std::uint64_t parameter_values_ = 0;
  Memory bound_ = {};
  // The values and the gradients in the memory of a device; undefined on the host. Entries of
  // gradients for buffers are those of on_device().
  at::Tensor own_values_;
  at::Tensor own_gradients_;
  std::vector<std::shared_ptr<torch::autograd::Node>> hooks_;  // the engine holds them weakly
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
  const GradientReady* ready_ = nullptr;
  std::vector<bool> done_;
};

namespace {

Result<LayerMap> map_of(const Network& network) {
  std::vector<LayerShape> shapes;
  for (const NetworkLayer& layer : network.parameters) shapes.push_back(layer.shape);
  for (const NetworkLayer& layer : network.buffers) shapes.push_back(layer.shape);
  return LayerMap::make(std::move(shapes));
}

}  // namespace

TorchModel::TorchModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchModel::~TorchModel() = default;

Result<std::unique_ptr<TorchModel>> TorchModel::make(NetworkPlan plan, TrainerDevice device) {
  const ExampleShape input = plan.input;
  std::unique_ptr<Network> network = make_built_in_network(std::move(plan));
  TRIBUTARY_ASSIGN(LayerMap map, map_of(*network));
  return std::unique_ptr<TorchModel>(
      new TorchModel(std::make_unique<Impl>(std::move(network), input, std::move(map), device)));
}

Result<std::unique_ptr<TorchModel>> TorchModel::load_script(ByteSpan file, const std::string& name,
                                                            const ExampleShape& input,
                                                            TrainerDevice device) {
  TRIBUTARY_ASSIGN(std::unique_ptr<Network> network,
                   load_script_network(file, name, engine_device(device)));
  Result<LayerMap> map = map_of(*network);
  if (!map.ok()) return std::move(map).status().at(fmt::format("TorchScript '{}'", name));
  return std::unique_ptr<TorchModel>(
      new TorchModel(std::make_unique<Impl>(std::move(network), input, std::move(*map), device)));
}

const LayerMap& TorchModel::layers() const { return impl_->map(); }
std::uint64_t TorchModel::parameter_values() const { return impl_->parameter_values(); }
FloatVector TorchModel::values() const { return impl_->values(); }
void TorchModel::bind(const Memory& memory) { impl_->bind(memory); }
void TorchModel::read_buffers() { impl_->read_buffers(); }
void TorchModel::read_gradients() { impl_->read_gradients(); }
void TorchModel::refresh() { impl_->refresh(); }
std::span<const float> TorchModel::on_device(std::span<const float> rest) {
  return impl_->on_device(rest);
}

Result<double> TorchModel::add_gradient(const Batch& batch, Loss loss, double scale,
                                        const GradientReady* ready) {
  return impl_->add_gradient(batch, loss, scale, ready);
}

Result<Evaluation> TorchModel::evaluate(const Batch& batch, Loss loss) {
  return impl_->evaluate(batch, loss);
}

Result<Bytes> TorchModel::export_script() { return impl_->export_script(); }

Status check_engine_has(TrainerDevice device) {
  if (device != TrainerDevice::cuda || at::hasCUDA()) return {};
  return Status(StatusCode::unsupported,
                {.what = "setting trainer.device",
                 .expected = "host, because this libtorch has no CUDA or finds no GPU",
                 .got = "cuda",
                 .remedy = "build the trainer with a libtorch for CUDA (Debian's has none), or "
                           "set trainer.device = \"host\""});
}

void set_engine_threads(std::uint32_t threads) {
  if (threads > 0) at::set_num_threads(static_cast<int>(threads));
}

void seed_engine(std::uint64_t seed) { at::manual_seed(seed); }

}  // namespace tributary
