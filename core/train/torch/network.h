// What computes: a model whose tensors are views of memory that somebody else owns. For the sources
// of this folder only; whoever includes it pays for the engine's headers.
#pragma once

#include <ATen/core/Tensor.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/train/model/network_plan.h"

namespace tributary {

// A tensor that is part of the model, and what the layer map says of it.
struct NetworkLayer {
  LayerShape shape;
  at::Tensor tensor;
};

class Network {
 public:
  virtual ~Network() = default;

  // May throw what the engine throws.
  virtual at::Tensor forward(const at::Tensor& input, bool training) = 0;

  // As TorchScript, in evaluation mode. May throw what the engine throws.
  virtual void save_script(std::ostream& out) = 0;

  std::vector<NetworkLayer> parameters;
  std::vector<NetworkLayer> buffers;
};

std::unique_ptr<Network> make_built_in_network(NetworkPlan plan);
Result<std::unique_ptr<Network>> load_script_network(ByteSpan file, const std::string& name);

// The layers are the network's, the operations the plan's.
void save_as_script(const NetworkPlan& plan, const Network& network, std::ostream& out);

// What an exception of the engine says, without its stack trace.
Status engine_error(StatusCode code, std::string what, const std::exception& error,
                    std::string remedy);

}  // namespace tributary
