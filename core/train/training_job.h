// What of a job's definition is a trainer's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/data/data_set.h"
#include "core/optimizer/settings.h"
#include "core/update/layer_map.h"

namespace tributary {

namespace wire {
struct Job;
}

struct TrainingJob {
  std::uint64_t job = 0;
  std::uint32_t revision = 0;
  std::uint64_t seed = 0;
  bool gradient = false;  // or else a delta

  bool script = false;  // TorchScript, or else built in
  std::string model;    // a spec (network_plan.h), or the file's name
  std::uint64_t model_file_hash = 0;
  Bytes model_file = {};  // its content, where it came with the job
  ExampleShape input = {};
  std::uint64_t layer_map_hash = 0;

  std::string loss = "cross_entropy";
  OptimizerSettings optimizer = {};  // of a delta's local steps
  double proximal = 0;
  double clip_norm = 0;
  double clip_value = 0;
  std::uint32_t batch_size = 32;
  std::uint32_t epochs = 0;  // of a delta; 0: as many steps as the plan says
};

Result<TrainingJob> training_job(const wire::Job& job);

}  // namespace tributary
