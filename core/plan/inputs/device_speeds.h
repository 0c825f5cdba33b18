// How quick devices are at codecs, beside the machine that has measured what a plan is made from.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"

namespace tributary {

// Both as core/cost/device_speed.h measures them; 0: not known.
struct CodecSpeed {
  double encode_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
};

// Of one device, by a family of codecs, which stands for all its specs.
using DeviceSpeeds = std::map<std::string, CodecSpeed, std::less<>>;

// Codecs as the slowest of these devices encodes and decodes them; `here` is the machine that
// measured `codecs`. A device of which nothing is known counts as one like it, and nobody is
// believed to be more than kDeviceFactorMax times slower or quicker. Adding up is left as it is: by
// the star the coordinator does it.
inline constexpr double kDeviceFactorMax = 100;
std::vector<PlanCodec> on_slowest(std::vector<PlanCodec> codecs, const DeviceSpeeds& here,
                                  std::span<const DeviceSpeeds> devices);

}  // namespace tributary
