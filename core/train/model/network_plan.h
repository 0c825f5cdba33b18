// A built-in model as a list of operations, from which everything else follows: its layers, where
// each lies in the flat vector, what it begins with, and how the engine computes it. The engine is
// not needed for the plan, so that a coordinator knows and begins every model without one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/data/data_set.h"
#include "core/update/layer_map.h"

namespace tributary {

// Of every batch norm.
constexpr double kNormMomentum = 0.1;
constexpr double kNormEpsilon = 1e-5;

enum class OperationKind : std::uint8_t {
  flatten,
  linear,       // weight, bias
  convolution,  // weight, and a bias unless a batch norm follows
  batch_norm,   // weight, bias; running mean and variance as buffers
  relu,
  gelu,
  max_pool,        // 2 x 2
  global_mean,     // of each channel
  residual_begin,  // remembers its input,
  residual_end,    // which is added here: with stride and zero channels where the shape changed
  embedding,       // of tokens and of their places
  layer_norm,      // weight, bias
  attention,       // causal; of all heads at once: weights and biases of in and out
};

struct Operation {
  OperationKind kind;
  std::uint32_t in = 0;  // channels, columns, tokens of a vocabulary
  std::uint32_t out = 0;
  std::uint32_t kernel = 0;
  std::uint32_t stride = 1;
  std::uint32_t padding = 0;
  std::uint32_t heads = 0;
  std::uint32_t context = 0;
  bool bias = true;
  std::uint32_t first_parameter = 0;  // place among the plan's parameters; the others follow
  std::uint32_t first_buffer = 0;
};

enum class Fill : std::uint8_t { zeros, ones, uniform };

struct PlannedLayer {
  LayerShape shape;
  bool buffer = false;
  Fill fill = Fill::zeros;
  float bound = 0;  // of uniform: in [-bound, bound)
};

struct NetworkPlan {
  std::string spec;  // canonical
  ExampleShape input;
  std::vector<Operation> operations;
  std::vector<PlannedLayer> layers;  // parameters in the order of the operations, then buffers
  std::uint32_t parameters = 0;      // how many of the layers
};

// The model that a spec names ("mlp:hidden=64,depth=2", "lenet", "resnet8"), for examples of this
// shape; an error if the two do not fit.
Result<NetworkPlan> plan_network(std::string_view spec, const ExampleShape& input);

Result<LayerMap> layer_map_of(const NetworkPlan& plan);
// A function of plan and seed, to the bit.
FloatVector initial_model(const NetworkPlan& plan, std::uint64_t seed);

}  // namespace tributary
