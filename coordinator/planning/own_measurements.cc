#include "coordinator/planning/own_measurements.h"

#include <string_view>
#include <utility>

#include "core/cost/device_speed.h"
#include "core/plan/search/measured_codecs.h"

namespace tributary {

Result<std::vector<PlanCodec>> measure_planned_codecs(std::uint32_t agents, const Clock& clock,
                                                      const std::function<bool()>& go_on) {
  std::vector<PlanCodec> codecs;
  for (const std::string_view spec : plannable_codecs()) {
    TRIBUTARY_ASSIGN(PlanCodec codec,
                     measure_plan_codec(spec, {.agents = agents, .go_on = go_on}, clock));
    codecs.push_back(std::move(codec));
  }
  return codecs;
}

DeviceSpeeds measure_own_speeds(const Clock& clock, const std::function<bool()>& go_on) {
  DeviceSpeeds speeds;
  for (const DeviceSpeed& speed : measure_device(clock, go_on)) {
    speeds[speed.family] = {speed.encode_bytes_per_s, speed.decode_bytes_per_s};
  }
  return speeds;
}

}  // namespace tributary
