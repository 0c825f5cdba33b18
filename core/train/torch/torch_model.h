// A model that libtorch computes over flat vectors owned by the caller. Users of this header need
// no header of libtorch.
//
// An object is used by one thread at a time. Exceptions of the engine are caught and returned as
// mismatch or unsupported.
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
// Fails with invalid_argument for an unknown name.
Result<Loss> parse_loss(std::string_view name);

class TorchModel {
 public:
  // The engine must have the device (check_engine_has()).
  static Result<std::unique_ptr<TorchModel>> make(NetworkPlan plan,
                                                  TrainerDevice device = TrainerDevice::host);
  // Loads a TorchScript file; `name` is used in errors. Fails with unsupported if the file is
  // damaged, needs an operator that libtorch lacks, or has values that are not float32.
  static Result<std::unique_ptr<TorchModel>> load_script(
      ByteSpan file, const std::string& name, const ExampleShape& input,
      TrainerDevice device = TrainerDevice::host);
  ~TorchModel();
  TorchModel(const TorchModel&) = delete;
  TorchModel& operator=(const TorchModel&) = delete;

  // All layers: parameters first, then buffers (batch-norm statistics).
  const LayerMap& layers() const;
  std::uint64_t parameter_values() const;
  std::uint64_t buffer_values() const { return layers().values() - parameter_values(); }
  // Current values of all layers. After load_script() they are the file's values. A built-in model
  // has no values before bind(); initial_model() computes them.
  FloatVector values() const;

  // The memory of the model from now on. It must stay valid and in place until the next bind().
  // Steps read the parameters, change the buffers and add to the gradients. Gradients may be empty
  // if no step is made. On the host, bind() copies nothing. A device has memory of its own: bind()
  // copies parameters and buffers there and clears the gradients there; the functions below copy
  // what steps have changed.
  struct Memory {
    std::span<const float> parameters;
    std::span<float> buffers;
    std::span<float> gradients;
  };
  void bind(const Memory& memory);

  // Called during the backward pass for each range of the gradients that is final, roughly from the
  // last layer to the first. Together the calls cover all gradients, each value once.
  using GradientReady = FunctionRef<void(std::uint64_t first, std::uint64_t count)>;

  // Adds `scale` times the gradient of the batch's mean loss to the gradients, and returns the
  // loss. Fails with not_finite if the loss is not finite (the gradients are unchanged then), and
  // with mismatch if model and batch do not fit.
  Result<double> add_gradient(const Batch& batch, Loss loss, double scale,
                              const GradientReady* ready = nullptr);

  // --- only for a device; on the host they do nothing ---

  // Copies the buffers, or the gradients, from the device to the bound memory.
  void read_buffers();
  void read_gradients();
  // Copies the bound parameters to the device, and clears the gradients there.
  void refresh();
  // The gradients in the memory of the device, followed by `rest`, one value for each of the
  // buffers; valid until the next step. All work on them is finished. Empty on the host.
  std::span<const float> on_device(std::span<const float> rest);

  // Loss and accuracy on one batch; changes neither parameters nor buffers.
  Result<Evaluation> evaluate(const Batch& batch, Loss loss);

  // Returns the bound values as a TorchScript file in evaluation mode. Layers keep their names and
  // order, so load_script() gives the same model.
  Result<Bytes> export_script();

 private:
  class Impl;
  explicit TorchModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Fails with unsupported if the engine cannot compute on the device.
Status check_engine_has(TrainerDevice device);

// These settings hold for the whole process: threads of one operation (0: unchanged), and the seed
// of random operations in a script.
void set_engine_threads(std::uint32_t threads);
void seed_engine(std::uint64_t seed);

}  // namespace tributary
