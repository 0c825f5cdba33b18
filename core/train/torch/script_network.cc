// Loads a model from a TorchScript file.
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <utility>

#include "core/train/torch/network.h"

namespace tributary {
namespace {

class ScriptNetwork final : public Network {
 public:
  explicit ScriptNetwork(torch::jit::Module module) : module_(std::move(module)) {}

  // Lists the module's float32 tensors in the order of the file, which is the order of the flat
  // vector.
  Status collect(const std::string& name) {
    for (const auto& each : module_.named_parameters()) {
      if (each.value.scalar_type() != at::kFloat) return not_float(name, each.name, each.value);
      parameters.push_back({.shape = shape_of(each.name, each.value), .tensor = each.value});
    }
    for (const auto& each : module_.named_buffers()) {
      // A counter of batches stays local to each agent.
      if (!each.value.is_floating_point()) continue;
      if (each.value.scalar_type() != at::kFloat) return not_float(name, each.name, each.value);
      buffers.push_back({.shape = shape_of(each.name, each.value), .tensor = each.value});
    }
    return {};
  }

  at::Tensor forward(const at::Tensor& input, bool training) override {
    // Switching the mode visits all submodules, so it happens only on a change.
    if (module_.is_training() != training) module_.train(training);
    return module_.forward({input}).toTensor();
  }

  void save_script(std::ostream& out) override {
    module_.eval();
    module_.save(out);
  }

 private:
  static LayerShape shape_of(const std::string& name, const at::Tensor& tensor) {
    LayerShape shape{.name = name, .shape = {}};
    for (const std::int64_t size : tensor.sizes()) {
      shape.shape.push_back(static_cast<std::uint64_t>(size));
    }
    return shape;
  }

  static Status not_float(const std::string& file, const std::string& layer,
                          const at::Tensor& tensor) {
    return Status(StatusCode::unsupported,
                  {.what = fmt::format("TorchScript '{}': {}", file, layer),
                   .expected = "float32",
                   .got = c10::toString(tensor.scalar_type()),
                   .remedy = "save the model as module.float()"});
  }

  torch::jit::Module module_;
};

}  // namespace

Result<std::unique_ptr<Network>> load_script_network(ByteSpan file, const std::string& name,
                                                     at::Device device) {
  try {
    std::istringstream in(std::string(reinterpret_cast<const char*>(file.data()), file.size()));
    auto network = std::make_unique<ScriptNetwork>(torch::jit::load(in, device));
    TRIBUTARY_TRY(network->collect(name));
    return std::unique_ptr<Network>(std::move(network));
  } catch (const std::exception& error) {
    return engine_error(StatusCode::unsupported, fmt::format("TorchScript '{}'", name), error,
                        "save it with torch.jit.save, and only operators of libtorch itself");
  }
}

}  // namespace tributary
