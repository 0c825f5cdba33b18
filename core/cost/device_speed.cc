#include "core/cost/device_speed.h"

#include <memory>
#include <span>

#include "core/codec/measure.h"
#include "core/codec/registry.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

// Twice the nearest caches of a core, so that the memory behind them is measured too.
constexpr std::uint32_t kValues = 1u << 16;
constexpr std::uint32_t kRounds = 3;

}  // namespace

// One agent's gradient in a single bucket is sufficient for speeds.
std::vector<DeviceSpeed> measure_device(const Clock& clock, const std::function<bool()>& go_on) {
  FloatVector update(kValues);
  fill_agent_gradient({.seed = 1}, 0, update);
  const std::span<const float> one[] = {update};
  std::vector<DeviceSpeed> speeds;
  for (const CodecFamily& family : codec_families()) {
    if (!go_on()) break;
    const Result<std::unique_ptr<Codec>> codec = make_codec(family.name);
    if (!codec.ok()) continue;
    const Result<MeasureReport> report =
        measure(**codec, one,
                {.rounds = kRounds, .error_feedback = false, .bucket_values = kValues}, clock);
    if (!report.ok()) continue;
    speeds.push_back({.family = std::string(family.name),
                      .encode_bytes_per_s = report->encode_bytes_per_s,
                      .aggregate_bytes_per_s = report->aggregate_bytes_per_s,
                      .decode_bytes_per_s = report->decode_bytes_per_s});
  }
  return speeds;
}

}  // namespace tributary
