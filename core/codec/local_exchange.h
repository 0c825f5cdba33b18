// A federation in one process: the round of one bucket through the real encoders, aggregators and
// decoders, without a network in between. Tests, `codec measure` and benchmarks play it; it is also
// the specification of what any collective must come to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

struct StageTraffic {
  std::uint64_t bytes_up = 0;  // from all agents together
  std::uint64_t bytes_down = 0;
  std::uint32_t senders = 0;             // agents that had a payload to send
  std::chrono::nanoseconds encode{};     // all agents together
  std::chrono::nanoseconds aggregate{};  // of all payloads
};

struct ExchangeTraffic {
  std::uint64_t bytes_up = 0;            // from all agents together
  std::uint64_t bytes_down = 0;          // to one agent
  std::chrono::nanoseconds encode{};     // all agents together
  std::chrono::nanoseconds aggregate{};  // all agents together
  std::chrono::nanoseconds decode{};     // one agent
  std::vector<StageTraffic> stages;

  void add(const StageTraffic& stage);
};

class LocalExchange {
 public:
  // Agents whose updates have `values` values. With error feedback every agent, and an aggregator
  // that encodes again, keeps a residual from round to round.
  LocalExchange(const Codec& codec, std::uint32_t values, std::uint32_t agents, bool error_feedback,
                const Clock& clock);

  // Plays one round: updates[i] is agent i's. `sum` becomes what every agent decodes.
  // `round.agent` is set here.
  Result<ExchangeTraffic> play(RoundContext round, const Execution& execution,
                               std::span<const std::span<const float>> updates,
                               std::span<float> sum);

  std::span<const float> residual(std::uint32_t agent) const { return agents_[agent].residual; }
  std::span<const float> aggregator_residual() const { return aggregator_residual_; }
  // The combined payloads of the last round, one per stage.
  std::span<const Bytes> combined() const { return combined_; }

 private:
  struct Agent {
    std::unique_ptr<Encoder> encoder;
    FloatVector residual;  // empty without error feedback
    FloatVector sent;
    Bytes payload;
  };

  Result<StageTraffic> play_stage(const StageCall& call,
                                  std::span<const std::span<const float>> updates);
  Status settle(const StageCall& last, std::span<float> scratch);
  std::span<const float> encoder_input(std::uint32_t agent, std::span<const float> update) const;

  const Codec& codec_;
  const Clock& clock_;
  std::vector<Agent> agents_;
  std::vector<std::unique_ptr<Aggregator>> aggregators_;  // one per stage
  FloatVector aggregator_residual_;
  std::vector<Bytes> combined_;
  std::vector<ByteSpan> combined_spans_;
};

}  // namespace tributary
