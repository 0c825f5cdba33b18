// Codec speeds of devices, and their effect on codec costs that another machine measured.
//
// The function is pure. Agents report speeds, so they are claims; kDeviceFactorMax bounds their
// effect on a plan.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"

namespace tributary {

// Speeds as core/cost/device_speed.h measures them, in uncompressed bytes per second. 0: unknown.
struct CodecSpeed {
  double encode_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
};

// The speeds of one device, by codec family (the spec up to ':'). An entry stands for all specs of
// its family.
using DeviceSpeeds = std::map<std::string, CodecSpeed, std::less<>>;

// Bound on the relative speed of two devices, in both directions. A larger ratio is a wrong
// measurement.
inline constexpr double kDeviceFactorMax = 100;

// Returns `codecs` with the encoding and decoding times of the slowest of `devices`. `here` holds
// the speeds of the machine that measured `codecs`. A device of unknown speed counts as equal to
// that machine. Aggregation times stay, because the coordinator aggregates in a star.
std::vector<PlanCodec> on_slowest(std::vector<PlanCodec> codecs, const DeviceSpeeds& here,
                                  std::span<const DeviceSpeeds> devices);

// Returns how many times longer the slowest of `devices` computes than `here`, as the geometric
// mean over all codecs that both have measured; 1 if there is none.
double slowdown_of_slowest(const DeviceSpeeds& here, std::span<const DeviceSpeeds> devices);

}  // namespace tributary
