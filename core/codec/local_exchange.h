// Runs rounds of one bucket in one process: real encoders, aggregators and decoders without a
// network.
//
// Tests, `codec measure` and the benchmarks use it. Its result is the specification for every
// collective: a collective must produce the same combined payloads. The codec and the clock belong
// to the caller and must outlive the exchange. Not thread-safe. An error of a codec aborts the
// round; the exchange cannot continue after it.
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

// Traffic and time of one stage of one round.
struct StageTraffic {
  std::uint64_t bytes_up = 0;            // all agents together
  std::uint64_t bytes_down = 0;          // the combined payload, once
  std::uint32_t senders = 0;             // agents that sent a payload
  std::chrono::nanoseconds encode{};     // all agents together
  std::chrono::nanoseconds aggregate{};  // all payloads together
};

// Traffic and time of one round, summed over its stages.
struct ExchangeTraffic {
  std::uint64_t bytes_up = 0;            // all agents together
  std::uint64_t bytes_down = 0;          // combined payloads, to one agent
  std::chrono::nanoseconds encode{};     // all agents together
  std::chrono::nanoseconds aggregate{};  // all agents together
  std::chrono::nanoseconds decode{};     // one agent
  std::vector<StageTraffic> stages;

  void add(const StageTraffic& stage);
};

class LocalExchange {
 public:
  // Creates `agents` agents whose updates have `values` values. With error feedback, every agent
  // keeps a residual from round to round, and so does an aggregator that encodes again, if the
  // codec keeps its error (Codec::keeps_error).
  LocalExchange(const Codec& codec, std::uint32_t values, std::uint32_t agents, bool error_feedback,
                const Clock& clock);

  // Plays one round in which every contribution is committed. updates[i] belongs to agent i. Writes
  // the sum that every agent decodes to `sum`. Sets round.agent and round.agents itself.
  Result<ExchangeTraffic> play(RoundContext round, const Execution& execution,
                               std::span<const std::span<const float>> updates,
                               std::span<float> sum);

  // The residuals after the last round; empty if none is kept.
  std::span<const float> residual(std::uint32_t agent) const { return agents_[agent].residual; }
  std::span<const float> aggregator_residual() const { return aggregator_residual_; }
  // The combined payloads of the last round, one per stage. They are valid until the next round.
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
