// Which field of a message is which field of a value. Each pair stands here once and serves both
// ways, so that no field is written that is not read, nor read as another. Inner part of
// watch_message.cc.
//
// A way has number(value, wire), choice(value, wire, last), text(value, wire, bytes_max) and
// blob(value, wire, bytes_max).
#pragma once

#include <cstddef>

#include "core/run/round_detail.h"
#include "core/run/run_changes.h"
#include "core/watch/watch_generated.h"
#include "schemas/limits.h"

namespace tributary {

// As a run's file is read: names of an agent and of a metric; other names; and texts.
inline constexpr std::size_t kWatchNameBytesMax = 64;
inline constexpr std::size_t kWatchWordsBytesMax = 256;
inline constexpr std::size_t kWatchDeviceBytesMax = 128;  // there is one of every agent at once
inline constexpr std::size_t kWatchTextBytesMax = wire::kTextBytesMax;
inline constexpr std::size_t kWatchInputsBytesMax = wire::kLongFrameBytesMax;

template <typename Way>
void pair_fields(Way& way, auto& value, watch::JobInfoT& wire) {
  way.number(value.job, wire.job);
  way.text(value.name, wire.name, kWatchTextBytesMax);
  way.choice(value.state, wire.state, wire::JobState::MAX);
  way.text(value.reason, wire.reason, kWatchTextBytesMax);
  way.text(value.model, wire.model, kWatchTextBytesMax);
  way.number(value.rounds_wanted, wire.rounds_wanted);
  way.number(value.parameters, wire.parameters);
  way.number(value.submitted_wall_ns, wire.submitted_wall_ns);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::NewRoundT& wire) {
  way.number(value.job, wire.job);
  way.number(value.round, wire.round);
  way.number(value.attempt, wire.attempt);
  way.number(value.began_s, wire.began_s);
  way.number(value.ended_s, wire.ended_s);
  way.number(value.members, wire.members);
  way.number(value.contributors, wire.contributors);
  way.number(value.bytes_up, wire.bytes_up);
  way.number(value.bytes_down, wire.bytes_down);
  way.number(value.dense_bytes_up, wire.dense_bytes_up);
  way.number(value.dense_bytes_down, wire.dense_bytes_down);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::NewPlanT& wire) {
  way.number(value.job, wire.job);
  way.number(value.round, wire.round);
  way.text(value.codecs, wire.codecs, kWatchWordsBytesMax);
  way.text(value.collectives, wire.collectives, kWatchWordsBytesMax);
  way.text(value.trigger, wire.trigger, kWatchNameBytesMax);
  way.number(value.ratio, wire.ratio);
  way.number(value.predicted_s, wire.predicted_s);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::AgentRatioT& wire) {
  way.number(value.job, wire.job);
  way.text(value.agent_id, wire.agent_id, kWatchNameBytesMax);
  way.number(value.ratio, wire.ratio);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::NewMetricT& wire) {
  way.number(value.job, wire.job);
  way.number(value.round, wire.round);
  way.text(value.name, wire.name, kWatchNameBytesMax);
  way.text(value.agent_id, wire.agent_id, kWatchNameBytesMax);
  way.number(value.time_s, wire.time_s);
  way.number(value.value, wire.value);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::AgentInfoT& wire) {
  way.number(value.number, wire.number);
  way.text(value.agent_id, wire.agent_id, kWatchNameBytesMax);
  way.text(value.build, wire.build, kWatchDeviceBytesMax);
  way.text(value.device, wire.device, kWatchDeviceBytesMax);
  way.number(value.connected, wire.connected);
  way.number(value.job, wire.job);
  way.number(value.model_version, wire.model_version);
  way.number(value.seen_wall_ns, wire.seen_wall_ns);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::NewReportT& wire) {
  way.number(value.agent, wire.agent);
  way.number(value.job, wire.job);
  way.number(value.round, wire.round);
  way.number(value.loss, wire.loss);
  way.number(value.compute_s, wire.compute_s);
  way.number(value.encode_s, wire.encode_s);
  way.number(value.wait_s, wire.wait_s);
  way.number(value.update_norm, wire.update_norm);
  way.number(value.residual_norm, wire.residual_norm);
  way.number(value.examples, wire.examples);
  way.number(value.bytes_up, wire.bytes_up);
  way.number(value.bytes_down, wire.bytes_down);
  way.number(value.decode_s, wire.decode_s);
  way.number(value.gain, wire.gain);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::NewLinkSampleT& wire) {
  way.text(value.from, wire.from, kWatchNameBytesMax);
  way.text(value.to, wire.to, kWatchNameBytesMax);
  way.number(value.time_s, wire.time_s);
  way.number(value.alpha_s, wire.alpha_s);
  way.number(value.beta_s_per_byte, wire.beta_s_per_byte);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::EventRowT& wire) {
  way.number(value.number, wire.number);
  way.number(value.at_wall_ns, wire.at_wall_ns);
  way.number(value.time_s, wire.time_s);
  way.choice(value.level, wire.level, LogLevel::error);
  way.text(value.name, wire.name, kWatchNameBytesMax);
  way.text(value.reason, wire.reason, kWatchWordsBytesMax);
  way.text(value.source, wire.source, kWatchWordsBytesMax);
  way.text(value.text, wire.text, kWatchTextBytesMax);
  way.number(value.job, wire.job);
  way.number(value.round, wire.round);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::PlanAlternativeT& wire) {
  way.text(value.codec, wire.codec, kWatchTextBytesMax);
  way.text(value.collective, wire.collective, kWatchNameBytesMax);
  way.number(value.ratio, wire.ratio);
  way.number(value.encode_s, wire.encode_s);
  way.number(value.wire_s, wire.wire_s);
  way.number(value.decode_s, wire.decode_s);
  way.number(value.round_s, wire.round_s);
  way.number(value.gain, wire.gain);
  way.number(value.pareto, wire.pareto);
  way.number(value.chosen, wire.chosen);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::PlanExchangeT& wire) {
  way.text(value.codec, wire.codec, kWatchTextBytesMax);
  way.text(value.collective, wire.collective, kWatchNameBytesMax);
  way.text(value.fallback, wire.fallback, kWatchNameBytesMax);
  way.number(value.ratio, wire.ratio);
  way.number(value.buckets, wire.buckets);
  way.number(value.values, wire.values);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::PlanObservationT& wire) {
  way.text(value.name, wire.name, kWatchTextBytesMax);
  way.text(value.unit, wire.unit, kWatchNameBytesMax);
  way.number(value.value, wire.value);
  way.text(value.agent_id, wire.agent_id, kWatchNameBytesMax);
  way.number(value.age_s, wire.age_s);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::AgentInRoundT& wire) {
  way.text(value.agent_id, wire.agent_id, kWatchNameBytesMax);
  way.choice(value.part, wire.part, AgentPart::not_asked);
  way.number(value.buckets, wire.buckets);
  way.number(value.weight, wire.weight);
  way.number(value.ratio, wire.ratio);
  way.number(value.reported, wire.reported);
  way.number(value.attempt, wire.attempt);
  way.number(value.compute_s, wire.compute_s);
  way.number(value.encode_s, wire.encode_s);
  way.number(value.wait_s, wire.wait_s);
  way.number(value.loss, wire.loss);
  way.number(value.update_norm, wire.update_norm);
  way.number(value.residual_norm, wire.residual_norm);
  way.number(value.examples, wire.examples);
  way.number(value.bytes_up, wire.bytes_up);
  way.number(value.bytes_down, wire.bytes_down);
  way.number(value.decode_s, wire.decode_s);
  way.number(value.gain, wire.gain);
}

template <typename Way>
void pair_fields(Way& way, auto& value, watch::RoundDetailT& wire) {
  way.number(value.job, wire.job);
  way.number(value.round, wire.round);
  way.number(value.epoch, wire.epoch);
  way.number(value.attempt, wire.attempt);
  way.number(value.members, wire.members);
  way.number(value.seconds, wire.seconds);
  way.number(value.bytes_up, wire.bytes_up);
  way.number(value.bytes_down, wire.bytes_down);
  way.number(value.previous_hash, wire.previous_hash);
  way.number(value.model_hash, wire.model_hash);
  way.number(value.buckets, wire.buckets);
  way.number(value.buckets_counted, wire.buckets_counted);
  way.number(value.planned, wire.planned);
  way.text(value.purpose, wire.purpose, kWatchNameBytesMax);
  way.text(value.trigger, wire.trigger, kWatchNameBytesMax);
  way.text(value.sentence, wire.sentence, kWatchTextBytesMax);
  way.number(value.quorum, wire.quorum);
  way.number(value.deadline_ms, wire.deadline_ms);
  way.number(value.local_steps, wire.local_steps);
  way.number(value.learning_rate, wire.learning_rate);
  way.number(value.exchanges_per_round, wire.exchanges_per_round);
  way.list(value.exchanges, wire.exchanges);
  way.list(value.alternatives, wire.alternatives);
  way.list(value.observations, wire.observations);
  way.blob(value.inputs, wire.inputs, kWatchInputsBytesMax);
  way.list(value.agents, wire.agents);
}

// But for `first`, `more` and the trouble.
template <typename Way>
void pair_fields(Way& way, auto& value, watch::PortionT& wire) {
  way.number(value.begins_anew, wire.begins_anew);
  way.maybe(value.base_wall_ns, wire.has_base,
            [&](auto& base) { way.number(base, wire.base_wall_ns); });
  way.maybe(value.jobs, wire.has_jobs, [&](auto& jobs) { way.list(jobs, wire.jobs); });
  way.list(value.rounds, wire.rounds);
  way.list(value.plans, wire.plans);
  way.list(value.ratios, wire.ratios);
  way.list(value.metrics, wire.metrics);
  way.maybe(value.agents, wire.has_agents, [&](auto& agents) { way.list(agents, wire.agents); });
  way.list(value.reports, wire.reports);
  way.list(value.links, wire.links);
  way.list(value.events, wire.events);
  way.number(value.overview_read, wire.overview_read);
}

}  // namespace tributary
