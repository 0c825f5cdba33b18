// A job as an operator writes it down.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/round/events.h"
#include "core/round/policy.h"
#include "core/service/settings.h"
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
  RoundPolicy policy;

  // With keys that begin with `prefix`.
  void bind(Settings& settings, const std::string& prefix);
};

Result<LayerShape> parse_layer(std::string_view text);

// The job, and a model of zeros to begin with.
Result<SubmitJob> submission(const JobSettings& job);

}  // namespace tributary
