// Exports a built-in network as a TorchScript module.
#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/api/module.h>

#include <ostream>
#include <string>
#include <string_view>

#include "core/train/torch/network.h"
#include "core/train/torch/script_source.h"

namespace tributary {
namespace {

// Returns the module that owns the layer and creates missing modules on the path. `name` keeps only
// the part after the last dot.
torch::jit::Module owner_of(const torch::jit::Module& root, std::string_view& name) {
  torch::jit::Module at = root;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    const std::string part(name.substr(0, dot));
    name.remove_prefix(dot + 1);
    if (!at.hasattr(part)) {
      at.register_module(part, torch::jit::Module("__torch__.part_" + part,
                                                  at._ivalue()->compilation_unit(), true));
    }
    at = at.attr(part).toModule();
  }
  return at;
}

// Registers a copy of the layer's values: the exported module must not refer to the caller's
// memory.
void add_layer(const torch::jit::Module& root, const NetworkLayer& layer, bool buffer) {
  std::string_view name = layer.shape.name;
  torch::jit::Module owner = owner_of(root, name);
  at::Tensor values = layer.tensor.detach().clone();
  if (!buffer) values.set_requires_grad(true);
  owner.register_parameter(std::string(name), values, buffer);
}

}  // namespace

void save_as_script(const NetworkPlan& plan, const Network& network, std::ostream& out) {
  torch::jit::Module root("__torch__.TributaryModel");
  root.register_attribute("training", c10::BoolType::get(), false);
  for (const NetworkLayer& layer : network.parameters) add_layer(root, layer, false);
  for (const NetworkLayer& layer : network.buffers) add_layer(root, layer, true);
  root.define(script_source(plan));
  root.save(out);
}

}  // namespace tributary
