#include "core/plan/inputs/device_speeds.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tributary {
namespace {

CodecSpeed speed_at(const DeviceSpeeds& device, std::string_view spec) {
  const auto family = device.find(spec.substr(0, spec.find(':')));
  return family != device.end() ? family->second : CodecSpeed();
}

// Returns how many times longer the device takes. An invalid speed (not above 0, or NaN) counts as
// unknown, which gives 1.
double times_slower(double device_bytes_per_s, double here_bytes_per_s) {
  if (!(device_bytes_per_s > 0 && here_bytes_per_s > 0)) return 1;
  return std::clamp(here_bytes_per_s / device_bytes_per_s, 1 / kDeviceFactorMax, kDeviceFactorMax);
}

}  // namespace

std::vector<PlanCodec> on_slowest(std::vector<PlanCodec> codecs, const DeviceSpeeds& here,
                                  std::span<const DeviceSpeeds> devices) {
  if (devices.empty()) return codecs;
  for (PlanCodec& codec : codecs) {
    const CodecSpeed own = speed_at(here, codec.spec);
    double encode = 0;
    double decode = 0;
    for (const DeviceSpeeds& device : devices) {
      const CodecSpeed reported = speed_at(device, codec.spec);
      encode = std::max(encode, times_slower(reported.encode_bytes_per_s, own.encode_bytes_per_s));
      decode = std::max(decode, times_slower(reported.decode_bytes_per_s, own.decode_bytes_per_s));
    }
    for (PlanStage& stage : codec.stages) stage.encode_s_per_value *= encode;
    codec.decode_s_per_value *= decode;
  }
  return codecs;
}

double slowdown_of_slowest(const DeviceSpeeds& here, std::span<const DeviceSpeeds> devices) {
  double most = 0;
  for (const DeviceSpeeds& device : devices) {
    double logs = 0;
    double count = 0;
    for (const auto& [family, own] : here) {
      const CodecSpeed reported = speed_at(device, family);
      if (!(own.encode_bytes_per_s > 0 && reported.encode_bytes_per_s > 0)) continue;
      logs += std::log(times_slower(reported.encode_bytes_per_s, own.encode_bytes_per_s));
      ++count;
    }
    most = std::max(most, count > 0 ? std::exp(logs / count) : 1.0);
  }
  return most > 0 ? most : 1;
}

}  // namespace tributary
