// A model as libtorch tensors that are views of memory owned by the caller. Only the sources of
// this folder include this header, because it includes libtorch's headers, which are slow to
// compile.
#pragma once

#include <ATen/core/Tensor.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/train/model/network_plan.h"

namespace tributary {

// A tensor of the model and its entry in the layer map.
struct NetworkLayer {
  LayerShape shape;
  at::Tensor tensor;
};

class Network {
 public:
  virtual ~Network() = default;

  // Computes the output for a batch. May throw any exception of the engine.
  virtual at::Tensor forward(const at::Tensor& input, bool training) = 0;

  // Writes the model as TorchScript in evaluation mode. May throw any exception of the engine.
  virtual void save_script(std::ostream& out) = 0;

  std::vector<NetworkLayer> parameters;
  std::vector<NetworkLayer> buffers;
};

// A network of the plan's operations; its tensors are empty until TorchModel::bind().
std::unique_ptr<Network> make_built_in_network(NetworkPlan plan);
// Fails with unsupported if the engine cannot load the file or a tensor is not float32.
Result<std::unique_ptr<Network>> load_script_network(ByteSpan file, const std::string& name,
                                                     at::Device device);

// Writes a TorchScript file with the layers of `network` and the operations of `plan`. May throw
// any exception of the engine.
void save_as_script(const NetworkPlan& plan, const Network& network, std::ostream& out);

// Converts an exception of the engine into a status: its message without the stack trace, at most
// 400 characters.
Status engine_error(StatusCode code, std::string what, const std::exception& error,
                    std::string remedy);

}  // namespace tributary
