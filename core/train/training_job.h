// The part of a job's definition that trainers need, converted from the wire message.
//
// A plain value that owns everything, so the wire message may go away. The content of a model file
// is copied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/data/data_set.h"
#include "core/optimizer/settings.h"
#include "core/train/examples/data_layout.h"
#include "core/update/layer_map.h"

namespace tributary {

namespace wire {
struct Job;
}

// A job as a trainer sees it. Values that the definition omits have the defaults below.
struct TrainingJob {
  std::uint64_t job = 0;
  std::uint32_t revision = 0;
  std::uint64_t seed = 0;
  bool gradient = false;  // true: updates are gradients; false: they are deltas

  bool script = false;  // true: TorchScript; false: built in
  std::string model;    // model spec (network_plan.h), or name of the TorchScript file
  std::uint64_t model_file_hash = 0;
  Bytes model_file = {};  // content of the TorchScript, if the job carries it
  ExampleShape input = {};
  DataLayout layout = {};
  std::uint64_t layer_map_hash = 0;

  std::string loss = "cross_entropy";
  OptimizerSettings optimizer = {};  // for the local steps of a delta
  // Weight of FedProx's pull toward the job's model; 0: none.
  double proximal = 0;
  // Largest L2 norm of a step's gradient; 0: no clipping.
  double clip_norm = 0;
  // Largest absolute value in a step's gradient; 0: no clipping.
  double clip_value = 0;
  std::uint32_t batch_size = 32;
  // For deltas: passes over the data per round; 0: the plan's number of steps.
  std::uint32_t epochs = 0;
};

// Fails with invalid_argument (a value that cannot be parsed) or unsupported (a setting that this
// version does not know). A synthetic job has no input shape.
Result<TrainingJob> training_job(const wire::Job& job);

}  // namespace tributary
