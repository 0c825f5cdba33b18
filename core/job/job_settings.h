// A job as an operator writes it down.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/round/common/machine/events.h"
#include "core/round/common/machine/policy.h"
#include "core/service/settings/settings.h"
#include "core/train/shape_text.h"
#include "core/update/layer_map.h"

namespace tributary {

struct JobSettings {
  std::string name;
  std::uint64_t rounds = 0;
  std::uint64_t parameters = 0;     // one layer of so many values; or
  std::vector<std::string> layers;  // "weights:64x32", in order
  std::string mode = "delta";
  std::uint64_t seed = 1;
  std::string weighting = "equal";
  std::string collective = "star";
  std::string planning = "fixed";
  std::string exploring = "off";
  double exploring_share = 0.02;  // of the rounds' time
  // Where a model is trained and not only exchanged: specs as in docs/run.md.
  std::string model;
  std::string model_file;  // TorchScript, instead
  ShapeText examples;
  std::string loss = "cross_entropy";
  std::string optimizer = "sgd";
  std::string strategy = "fedavg";
  std::string schedule = "constant";
  std::uint32_t batch_size = 32;
  std::uint32_t epochs = 0;
  double clip_norm = 0;
  double clip_value = 0;
  std::uint32_t evaluate_every = 0;
  RoundPolicy policy;
};

// Binds each setting of the job to a key that begins with `prefix`. The job must outlive the
// settings.
void bind_job(JobSettings& job, Settings& settings, const std::string& prefix);

Result<LayerShape> parse_layer(std::string_view text);

// Whether it makes sense as far as that can be told without reading or drawing a model.
Status check_job(const JobSettings& job);

// The job, and the model to begin with: drawn from the job's seed, or zeros where none is named.
Result<SubmitJob> submission(const JobSettings& job);

}  // namespace tributary
