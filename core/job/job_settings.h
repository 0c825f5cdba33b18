// The settings of a job as an operator writes them, and their conversion to a submission.
//
// One order of use: bind_job(), read the file, check_job(), submission(). The settings are plain
// values and may be copied. Only submission() reads files, and only it needs memory for a model.
// Thread-safe on different objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/round/common/machine/events.h"
#include "core/round/common/machine/policy.h"
#include "core/service/settings/settings.h"
#include "core/train/examples/data_layout.h"
#include "core/train/shape_text.h"
#include "core/update/layer_map.h"

namespace tributary {

// Defaults are those that docs/run.md states. Values are checked by check_job(), not while they are
// set.
struct JobSettings {
  std::string name;
  std::uint64_t rounds = 0;
  std::uint64_t parameters = 0;     // size of a single layer; an alternative to `layers`
  std::vector<std::string> layers;  // "weights:64x32", in order
  std::string mode = "delta";
  std::uint64_t seed = 1;
  std::string weighting = "equal";
  std::string collective = "star";
  std::string planning = "fixed";
  std::string exploring = "off";
  double exploring_share = 0.02;  // share of the rounds' time
  // The codecs and collectives that a planner may choose, by name; empty: all.
  std::vector<std::string> plan_codecs;
  std::vector<std::string> plan_collectives;
  // Only for jobs that train a model and do not just exchange: specs as in docs/run.md.
  std::string model;
  std::string model_file;  // path of a TorchScript file, an alternative to `model`
  ShapeText examples;
  DataLayoutText layout;
  std::string loss = "cross_entropy";
  std::string optimizer = "sgd";
  std::string strategy = "fedavg";
  std::string schedule = "constant";
  std::uint32_t batch_size = 32;
  // Passes over the data per round; 0: `policy.local_steps` steps.
  std::uint32_t epochs = 0;
  double clip_norm = 0;
  double clip_value = 0;
  double norm_max = 0;  // of an update, before the residual is added; 0: no bound
  // Rounds between two evaluations; 0: none.
  std::uint32_t evaluate_every = 0;
  // An empty codec is the one of start_codec().
  RoundPolicy policy = {.codec = {}};
};

// The codec of the first rounds: the one that the job names, or the default of its planning. If
// `plan_codecs` does not contain the default, it is the first one of them.
std::string start_codec(const JobSettings& job);

// Binds each setting of the job to a key that begins with `prefix`. `job` must outlive `settings`.
void bind_job(JobSettings& job, Settings& settings, const std::string& prefix);

// Parses "NAME:SIZExSIZE..."; fails with invalid_argument.
Result<LayerShape> parse_layer(std::string_view text);

// Checks the job as far as possible without reading a model file or drawing a model. Fails with
// invalid_argument or mismatch.
Status check_job(const JobSettings& job);

// Converts the settings to a submission with the initial model: drawn from the job's seed, read
// from the TorchScript, or zeros for a job without a model. Fails as check_job() does, with the
// error of reading the file, or with unavailable if a TorchScript needs an engine that is not
// installed. Holds the whole model in memory.
Result<SubmitJob> submission(const JobSettings& job);

}  // namespace tributary
