// Executes the operations of a NetworkPlan with libtorch.
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/train/torch/network.h"

namespace tributary {
namespace {

class BuiltInNetwork final : public Network {
 public:
  explicit BuiltInNetwork(NetworkPlan plan) : plan_(std::move(plan)) {
    for (const PlannedLayer& layer : plan_.layers) {
      (layer.buffer ? buffers : parameters).push_back({.shape = layer.shape, .tensor = {}});
    }
    // Placeholders: bind() gives every tensor its memory, and gradients are tracked from the start.
    for (NetworkLayer& layer : parameters) layer.tensor = at::empty({0}).set_requires_grad(true);
    for (NetworkLayer& layer : buffers) layer.tensor = at::empty({0});
  }

  // Nested residual blocks work like parentheses: the input of each is kept on a stack.
  at::Tensor forward(const at::Tensor& input, bool training) override {
    at::Tensor x = input;
    std::vector<at::Tensor> remembered;
    for (const Operation& operation : plan_.operations) {
      if (operation.kind == OperationKind::residual_begin) {
        remembered.push_back(x);
      } else if (operation.kind == OperationKind::residual_end) {
        x = x.add(shortcut(operation, remembered.back()));
        remembered.pop_back();
      } else {
        x = apply(operation, x, training);
      }
    }
    return x;
  }

  void save_script(std::ostream& out) override { save_as_script(plan_, *this, out); }

 private:
  // Parameter number `which` of an operation.
  const at::Tensor& weight(const Operation& operation, std::uint32_t which = 0) const {
    return parameters[operation.first_parameter + which].tensor;
  }

  at::Tensor apply(const Operation& operation, const at::Tensor& x, bool training) const {
    switch (operation.kind) {
      case OperationKind::flatten:
        return x.flatten(1);
      case OperationKind::linear:
        return at::linear(x, weight(operation), weight(operation, 1));
      case OperationKind::convolution:
        return at::conv2d(x, weight(operation),
                          operation.bias ? weight(operation, 1) : at::Tensor(), operation.stride,
                          operation.padding);
      case OperationKind::batch_norm:
        return batch_norm(operation, x, training);
      case OperationKind::relu:
        return at::relu(x);
      case OperationKind::gelu:
        return at::gelu(x);
      case OperationKind::max_pool:
        return at::max_pool2d(x, 2);
      case OperationKind::global_mean:
        return x.mean({2, 3});
      case OperationKind::embedding:
        return embed(operation, x);
      case OperationKind::layer_norm:
        return at::layer_norm(x, {operation.in}, weight(operation), weight(operation, 1));
      case OperationKind::attention:
        return attend(operation, x);
      case OperationKind::residual_begin:
      case OperationKind::residual_end:
        break;
    }
    return x;
  }

  at::Tensor batch_norm(const Operation& operation, const at::Tensor& x, bool training) const {
    return at::batch_norm(
        x, weight(operation), weight(operation, 1), buffers[operation.first_buffer].tensor,
        buffers[operation.first_buffer + 1].tensor, training, kNormMomentum, kNormEpsilon, false);
  }

  // Option A of He et al.: takes every second pixel and pads the new channels with zeros, so a
  // shortcut has no parameters.
  static at::Tensor shortcut(const Operation& operation, const at::Tensor& x) {
    if (operation.stride == 1 && operation.in == operation.out) return x;
    const auto stride = static_cast<std::int64_t>(operation.stride);
    const at::Tensor fewer = x.slice(2, 0, x.size(2), stride).slice(3, 0, x.size(3), stride);
    const auto added = static_cast<std::int64_t>(operation.out - operation.in);
    return at::constant_pad_nd(fewer, {0, 0, 0, 0, 0, added}, 0);
  }

  // The sum of the embeddings of tokens and of their positions.
  at::Tensor embed(const Operation& operation, const at::Tensor& tokens) const {
    const at::Tensor places = at::arange(tokens.size(1), tokens.options());
    return at::embedding(weight(operation), tokens)
        .add(at::embedding(weight(operation, 1), places));
  }

  // Causal attention of all heads at once: scores, a mask of later positions, softmax, weighted
  // values.
  at::Tensor attend(const Operation& operation, const at::Tensor& x) const {
    const std::int64_t batch = x.size(0);
    const std::int64_t length = x.size(1);
    const auto heads = static_cast<std::int64_t>(operation.heads);
    const std::int64_t columns = x.size(2) / heads;
    // The dimensions are batch x length x 3 x heads x columns. Query, key and value and then the
    // heads are moved to the front, so that each head is one matrix product.
    const at::Tensor all = at::linear(x, weight(operation), weight(operation, 1))
                               .view({batch, length, 3, heads, columns})
                               .permute({2, 0, 3, 1, 4});
    const at::Tensor scores = at::matmul(all.select(0, 0), all.select(0, 1).transpose(-2, -1))
                                  .div(std::sqrt(static_cast<double>(columns)));
    const at::Tensor later = at::ones({length, length}, x.options()).triu(1).to(at::kBool);
    const at::Tensor shares =
        at::softmax(scores.masked_fill(later, -std::numeric_limits<double>::infinity()), -1);
    const at::Tensor mixed =
        at::matmul(shares, all.select(0, 2)).transpose(1, 2).reshape({batch, length, x.size(2)});
    return at::linear(mixed, weight(operation, 2), weight(operation, 3));
  }

  const NetworkPlan plan_;
};

}  // namespace

std::unique_ptr<Network> make_built_in_network(NetworkPlan plan) {
  return std::make_unique<BuiltInNetwork>(std::move(plan));
}

}  // namespace tributary
