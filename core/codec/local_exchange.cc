#include "core/codec/local_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "core/codec/error_feedback.h"

namespace tributary {

void ExchangeTraffic::add(const StageTraffic& stage) {
  bytes_up += stage.bytes_up;
  bytes_down += stage.bytes_down;
  encode += stage.encode;
  aggregate += stage.aggregate;
  stages.push_back(stage);
}

LocalExchange::LocalExchange(const Codec& codec, std::uint32_t values, std::uint32_t agents,
                             bool error_feedback, const Clock& clock)
    : codec_(codec), clock_(clock), agents_(agents) {
  const bool keep = error_feedback && codec.keeps_error();
  for (Agent& agent : agents_) {
    agent.encoder = codec.make_encoder(values);
    if (!keep) continue;
    agent.residual.assign(values, 0.0f);
    agent.sent.resize(values);
  }
  for (std::size_t stage = 0; stage < codec.stages().size(); ++stage) {
    aggregators_.push_back(codec.make_aggregator(stage, values));
  }
  // An aggregator that only adds loses nothing.
  if (keep && codec.aggregation() != Aggregation::sum) aggregator_residual_.assign(values, 0.0f);
  combined_.resize(codec.stages().size());
  combined_spans_.resize(codec.stages().size());
}

std::span<const float> LocalExchange::encoder_input(std::uint32_t agent,
                                                    std::span<const float> update) const {
  return agents_[agent].residual.empty() ? update : std::span<const float>(agents_[agent].sent);
}

Result<ExchangeTraffic> LocalExchange::play(RoundContext round, const Execution& execution,
                                            std::span<const std::span<const float>> updates,
                                            std::span<float> sum) {
  assert(updates.size() == agents_.size());
  // The number of agents is part of the plan: decoders and aggregators use it for widths and
  // bounds.
  round.agents = static_cast<std::uint32_t>(agents_.size());
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (agents_[i].residual.empty()) continue;
    std::ranges::copy(updates[i], agents_[i].sent.begin());
    add_values(execution, agents_[i].residual, agents_[i].sent);
  }

  ExchangeTraffic traffic;
  const std::size_t stages = combined_.size();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    TRIBUTARY_ASSIGN(const StageTraffic stage_traffic,
                     play_stage({.round = round,
                                 .execution = execution,
                                 .combined = std::span(combined_spans_).first(stage)},
                                updates));
    traffic.add(stage_traffic);
  }

  const StageCall last = {.round = round,
                          .execution = execution,
                          .combined = std::span(combined_spans_).first(stages - 1)};
  // The residuals are settled before the final decoding, because settling uses `sum` as scratch
  // space.
  TRIBUTARY_TRY(settle(last, sum));
  const auto start = clock_.now();
  TRIBUTARY_TRY(codec_.decode(last, combined_.back(), sum));
  traffic.decode = clock_.now() - start;
  return traffic;
}

Result<StageTraffic> LocalExchange::play_stage(const StageCall& call,
                                               std::span<const std::span<const float>> updates) {
  StageTraffic traffic;
  const bool last = call.stage() + 1 == combined_.size();
  Aggregator& aggregator = *aggregators_[call.stage()];
  TRIBUTARY_TRY(
      aggregator.begin(call, last ? std::span<float>(aggregator_residual_) : std::span<float>()));
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    // An encoder uses its agent's index for random draws; the aggregator does not need one.
    StageCall own = call;
    own.round.agent = i;
    const auto start = clock_.now();
    Agent& agent = agents_[i];
    if (Status s = agent.encoder->encode(own, encoder_input(i, updates[i]), agent.payload);
        !s.ok()) {
      return std::move(s).at(fmt::format("agent {}", i));
    }
    const auto encoded = clock_.now();
    if (!agent.payload.empty()) TRIBUTARY_TRY(aggregator.add(call, agent.payload));
    traffic.encode += encoded - start;
    traffic.aggregate += clock_.now() - encoded;
    traffic.bytes_up += agent.payload.size();
    if (!agent.payload.empty()) ++traffic.senders;
  }
  const auto start = clock_.now();
  Bytes& combined = combined_[call.stage()];
  TRIBUTARY_TRY(aggregator.finish(call, combined));
  traffic.aggregate += clock_.now() - start;
  // Counted once: every agent receives the same payload.
  traffic.bytes_down += combined.size();
  combined_spans_[call.stage()] = combined;
  return traffic;
}

// Requires that each agent's payload of the last stage still exists. `scratch` is overwritten.
Status LocalExchange::settle(const StageCall& last, std::span<float> scratch) {
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    Agent& agent = agents_[i];
    agent.encoder->settle(combined_spans_, true);
    if (agent.residual.empty()) continue;
    StageCall own = last;
    own.round.agent = i;
    TRIBUTARY_TRY(codec_.decode(own, agent.payload, scratch));
    keep_residual(last.execution, agent.sent, scratch, agent.residual);
  }
  for (const auto& aggregator : aggregators_) aggregator->settle(true);
  return {};
}

}  // namespace tributary
