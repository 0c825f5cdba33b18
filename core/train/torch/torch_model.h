// A model that libtorch computes, over flat vectors that the caller owns. No header of libtorch is
// needed to use it.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/base/function_ref.h"
#include "core/base/status.h"
#include "core/data/data_set.h"
#include "core/train/model/network_plan.h"
#include "core/train/trainer.h"
#include "core/update/layer_map.h"

namespace tributary {

enum class Loss : std::uint8_t { cross_entropy, mse, bce };
Result<Loss> parse_loss(std::string_view name);

class TorchModel {
 public:
  static Result<std::unique_ptr<TorchModel>> make(NetworkPlan plan);
  // `name` is for errors. Refuses a file that is damaged, that needs an operator which is not
  // there, or whose values are not float32.
  static Result<std::unique_ptr<TorchModel>> load_script(ByteSpan file, const std::string& name,
                                                         const ExampleShape& input);
  ~TorchModel();
  TorchModel(const TorchModel&) = delete;
  TorchModel& operator=(const TorchModel&) = delete;

  // Parameters first, then buffers (batch-norm statistics).
  const LayerMap& layers() const;
  std::uint64_t parameter_values() const;
  std::uint64_t buffer_values() const { return layers().values() - parameter_values(); }
  // What a TorchScript file holds; of a built-in model, initial_model() says it.
  FloatVector values() const;

  // Where the model is from now on; the memory must stay. Steps read the parameters, change the
  // buffers and add to the gradients, which may be missing where no step is made. Copies nothing.
  struct Memory {
    std::span<const float> parameters;
    std::span<float> buffers;
    std::span<float> gradients;
  };
  void bind(const Memory& memory);

  // Called during the backward pass, last layer first, for each range of the gradients that is
  // done. Together they are all of it, and nothing comes twice.
  using GradientReady = FunctionRef<void(std::uint64_t first, std::uint64_t count)>;

  // Adds `scale` times the gradient of the batch's mean loss; returns that loss. An error if it is
  // not finite, or if model and batch do not fit.
  Result<double> add_gradient(const Batch& batch, Loss loss, double scale,
                              const GradientReady* ready = nullptr);

  Result<Evaluation> evaluate(const Batch& batch, Loss loss);

  // What it is bound to, as a TorchScript file in evaluation mode: with the same layers in the same
  // order, so that load_script() makes the same model of it.
  Result<Bytes> export_script();

 private:
  class Impl;
  explicit TorchModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// For the whole process: threads of one operation, and the seed of what is random in a script.
void set_engine_threads(std::uint32_t threads);
void seed_engine(std::uint64_t seed);

}  // namespace tributary
