// The plan of a built-in model: a list of operations. From it follow the model's layers, the
// position of each layer in the flat vector, the initial values, and the computation. The plan
// needs no engine, so a coordinator can define and initialize every model without one.
//
// Functions are pure and may be called from any thread.
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

// Parameters of every batch norm.
constexpr double kNormMomentum = 0.1;
constexpr double kNormEpsilon = 1e-5;

// Operations that an executor must support.
enum class OperationKind : std::uint8_t {
  flatten,
  linear,       // weight, bias
  convolution,  // weight, and a bias unless a batch norm follows
  batch_norm,   // weight and bias; running mean and variance are buffers
  relu,
  gelu,
  max_pool,        // 2 x 2
  global_mean,     // mean over each channel
  residual_begin,  // keeps its input for the matching residual_end
  residual_end,    // adds the kept input; with stride and zero channels if the shape changed
  embedding,       // tokens plus positions
  layer_norm,      // weight, bias
  // Causal, all heads at once; weight and bias of the input and of the output projection.
  attention,
};

// One step of the computation. Fields that its kind does not need keep their defaults.
struct Operation {
  OperationKind kind;
  std::uint32_t in = 0;  // channels, columns, or size of the vocabulary
  std::uint32_t out = 0;
  std::uint32_t kernel = 0;
  std::uint32_t stride = 1;
  std::uint32_t padding = 0;
  std::uint32_t heads = 0;
  std::uint32_t context = 0;
  bool bias = true;
  // Index of its first parameter in NetworkPlan::layers; its others follow.
  std::uint32_t first_parameter = 0;
  // Index of its first buffer, counted from the first buffer of the plan.
  std::uint32_t first_buffer = 0;
};

// How initial_model() fills a layer.
enum class Fill : std::uint8_t { zeros, ones, uniform };

// A layer with its initial values.
struct PlannedLayer {
  LayerShape shape;
  bool buffer = false;
  Fill fill = Fill::zeros;
  float bound = 0;  // uniform: values in [-bound, bound)
};

struct NetworkPlan {
  std::string spec;  // canonical: two spellings of one model give the same text
  ExampleShape input;
  std::vector<Operation> operations;
  std::vector<PlannedLayer> layers;  // parameters in the order of the operations, then buffers
  std::uint32_t parameters = 0;      // number of layers that are parameters
};

// Builds the plan of a model spec ("mlp:hidden=64,depth=2", "lenet", "resnet8") for examples of
// this shape. Fails with invalid_argument (unknown model or setting) or mismatch (the model does
// not fit the examples).
Result<NetworkPlan> plan_network(std::string_view spec, const ExampleShape& input);

// The layers of the plan in the order of the flat vector. Fails if the model is too large for a
// LayerMap.
Result<LayerMap> layer_map_of(const NetworkPlan& plan);
// The initial values, a pure function of plan and seed: the same bits on every machine.
FloatVector initial_model(const NetworkPlan& plan, std::uint64_t seed);

}  // namespace tributary
