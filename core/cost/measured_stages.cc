#include "core/cost/measured_stages.h"

#include <algorithm>

#include "core/codec/measure.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

// Bound on the values of all agents together, with a minimum of two buckets.
constexpr std::uint64_t kValuesMax = 8u << 20;
// All rounds together, but at least kRoundsMin rounds.
constexpr std::uint64_t kEncodedMax = 24u << 20;
constexpr std::uint64_t kRoundsMin = 3;

// The cost model's view of a codec's stage.
StageFlow flow_of(const Codec& codec, std::size_t stage) {
  if (codec.stages()[stage].combine == Combine::broadcast) return StageFlow::from_root;
  const bool last = stage + 1 == codec.stages().size();
  return last && codec.aggregation() == Aggregation::gather ? StageFlow::gathered
                                                            : StageFlow::reduced;
}

}  // namespace

Result<MeasuredStages> measure_stages(const Codec& codec, std::uint32_t agents,
                                      std::uint32_t bucket_values, const Clock& clock,
                                      const std::function<bool()>& go_on, std::uint64_t buckets) {
  // Reduces agents first, then buckets, to stay within kValuesMax.
  const std::uint64_t buckets_of_all_max = std::max<std::uint64_t>(kValuesMax / bucket_values, 2);
  agents = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({agents, kMeasuredAgentsMax, buckets_of_all_max}));
  buckets = std::clamp<std::uint64_t>(buckets_of_all_max / agents, 1, buckets);
  const std::uint64_t in_a_round = agents * buckets * bucket_values;
  const auto rounds = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kEncodedMax / in_a_round, kRoundsMin, kMeasuredRounds));
  std::vector<FloatVector> updates(agents, FloatVector(buckets * bucket_values));
  for (std::uint32_t agent = 0; agent < agents; ++agent) {
    fill_agent_gradient({.seed = 1}, agent, updates[agent]);
  }
  const std::vector<std::span<const float>> spans(updates.begin(), updates.end());
  TRIBUTARY_ASSIGN(
      const MeasureReport report,
      measure(codec, spans,
              {.rounds = rounds,
               .bucket_values = bucket_values,
               .progress = [&](std::uint64_t, std::uint64_t) { return !go_on || go_on(); }},
              clock));
  MeasuredStages measured;
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    const StageMeasure& stage = report.stages[i];
    measured.stages.push_back({.flow = flow_of(codec, i),
                               .up_bytes = kPeerFrameBytes + stage.bytes_up,
                               .down_bytes = kPeerFrameBytes + stage.bytes_down,
                               .encode_s = stage.encode_s,
                               .aggregate_s = stage.aggregate_s});
  }
  measured.decode_s = bucket_values * sizeof(float) / report.decode_bytes_per_s;
  measured.nmse = codec.contracts() ? report.nmse : report.nmse_last;
  return measured;
}

}  // namespace tributary
