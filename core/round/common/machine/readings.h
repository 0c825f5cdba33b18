// The readings that the state machines and the daemons publish: one table with the name, the unit
// and the meaning of each. Other code refers to a reading by its ReadingKind.
//
// Names are public: journals, metrics, the dashboard and `tributary` use them. A name is never
// changed and never reused for another reading. A new kind is a new row of kReadings at the same
// position as in ReadingKind. All functions are pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tributary {

enum class ReadingKind : std::uint8_t {
  round_s,
  wire_bytes_up,
  wire_bytes_down,

  round_trip_s,
  uplink_s_per_byte,
  uplink_s_per_byte_of_few,
  uplink_s_per_byte_at_most,
  downlink_s_per_byte,
  downlink_s_per_byte_of_few,
  downlink_s_per_byte_at_most,

  evaluation_loss,
  evaluation_accuracy,
  evaluation_examples,
  conservation_error,

  agents,
  model_version,
  buffered_bytes,
  outgoing_bytes,
  link_in_bytes,
  link_out_bytes,
  link_in_messages,
  link_out_messages,
  sends_dropped,
  telemetry_rows_dropped,

  up_updates_bytes,
  down_updates_bytes,
  up_aggregates_bytes,
  down_aggregates_bytes,
  up_plans_bytes,
  down_plans_bytes,
  up_commits_bytes,
  down_commits_bytes,
  up_models_bytes,
  down_models_bytes,
  up_reports_bytes,
  down_reports_bytes,
  up_probes_bytes,
  down_probes_bytes,
  up_control_bytes,
  down_control_bytes,

  repeated_up_lost_bytes,
  repeated_down_lost_bytes,
  repeated_down_session_bytes,
  repeated_up_known_bytes,
  repeated_up_late_bytes,
  repeated_up_no_room_bytes,
};
inline constexpr std::size_t kReadingKinds = 46;

// The subject of a reading, which also determines where it is measured.
enum class ReadingGroup : std::uint8_t {
  round,     // one round, at the coordinator
  link,      // the link to one agent, at the coordinator
  agent,     // measured by an agent, which sends it with its report
  state,     // the coordinator's process
  messages,  // bytes of messages in a round by use and direction (message_bytes.h)
  repeated,  // payload bytes sent without use, by cause and direction (repeated_bytes.h)
};

enum class ReadingUnit : std::uint8_t { one, seconds, seconds_per_byte, bytes };

// The description of one kind of reading.
struct ReadingFacts {
  ReadingKind kind = ReadingKind::round_s;
  ReadingGroup group = ReadingGroup::round;
  std::string_view name = {};  // as in the journal; in metrics with the prefix "tributary_"
  ReadingUnit unit = ReadingUnit::one;
  std::string_view help = {};  // one sentence, for Prometheus and for people
};

// The table, in the order of ReadingKind: facts_of() uses the kind as its index.
inline constexpr std::array<ReadingFacts, kReadingKinds> kReadings = [] {
  using enum ReadingKind;
  return std::array<ReadingFacts, kReadingKinds>{{
      {round_s, ReadingGroup::round, "round_s", ReadingUnit::seconds,
       "Duration of the last round."},
      {wire_bytes_up, ReadingGroup::round, "wire_bytes_up", ReadingUnit::bytes,
       "Bytes that all connections received since the round before."},
      {wire_bytes_down, ReadingGroup::round, "wire_bytes_down", ReadingUnit::bytes,
       "Bytes that all connections sent since the round before."},

      {round_trip_s, ReadingGroup::link, "round_trip_s", ReadingUnit::seconds,
       "Round trip of a heartbeat to an agent."},
      {uplink_s_per_byte, ReadingGroup::link, "uplink_s_per_byte", ReadingUnit::seconds_per_byte,
       "Time per byte of an agent's payloads of a round."},
      {uplink_s_per_byte_of_few, ReadingGroup::link, "uplink_s_per_byte_of_few",
       ReadingUnit::seconds_per_byte,
       "Time per byte of payloads that may fit into the burst of a link."},
      {uplink_s_per_byte_at_most, ReadingGroup::link, "uplink_s_per_byte_at_most",
       ReadingUnit::seconds_per_byte,
       "Upper bound of the time per byte, where payloads waited for more than the link."},
      {downlink_s_per_byte, ReadingGroup::link, "downlink_s_per_byte",
       ReadingUnit::seconds_per_byte, "Time per byte of payloads that were sent to an agent."},
      {downlink_s_per_byte_of_few, ReadingGroup::link, "downlink_s_per_byte_of_few",
       ReadingUnit::seconds_per_byte,
       "Time per byte of sent payloads that may fit into the burst of a link."},
      {downlink_s_per_byte_at_most, ReadingGroup::link, "downlink_s_per_byte_at_most",
       ReadingUnit::seconds_per_byte,
       "Upper bound of the time per byte, where the round trip was most of the time."},

      {evaluation_loss, ReadingGroup::agent, "evaluation_loss", ReadingUnit::one,
       "Loss of the model on examples that it was not trained with."},
      {evaluation_accuracy, ReadingGroup::agent, "evaluation_accuracy", ReadingUnit::one,
       "Share of examples that the model classified correctly."},
      {evaluation_examples, ReadingGroup::agent, "evaluation_examples", ReadingUnit::one,
       "Examples that the model was evaluated with."},
      {conservation_error, ReadingGroup::agent, "conservation_error", ReadingUnit::one,
       "Error of an agent's account of its updates, as a share of its bound."},

      {agents, ReadingGroup::state, "agents", ReadingUnit::one, "Agents that have a session."},
      {model_version, ReadingGroup::state, "model_version", ReadingUnit::one,
       "Version of the newest model."},
      {buffered_bytes, ReadingGroup::state, "buffered_bytes", ReadingUnit::bytes,
       "Memory for models and incomplete payloads."},
      {outgoing_bytes, ReadingGroup::state, "outgoing_bytes", ReadingUnit::bytes,
       "Bytes of payloads and models in flight to all agents together."},
      {link_in_bytes, ReadingGroup::state, "link_in_bytes", ReadingUnit::bytes,
       "Bytes of messages received since the start."},
      {link_out_bytes, ReadingGroup::state, "link_out_bytes", ReadingUnit::bytes,
       "Bytes of messages sent since the start."},
      {link_in_messages, ReadingGroup::state, "link_in_messages", ReadingUnit::one,
       "Messages received since the start."},
      {link_out_messages, ReadingGroup::state, "link_out_messages", ReadingUnit::one,
       "Messages sent since the start."},
      {sends_dropped, ReadingGroup::state, "sends_dropped", ReadingUnit::one,
       "Messages that were not sent, because the connection was gone or its queue was full."},
      {telemetry_rows_dropped, ReadingGroup::state, "telemetry_rows_dropped", ReadingUnit::one,
       "Rows of events and metrics that the journal did not get in time."},

      {up_updates_bytes, ReadingGroup::messages, "up_updates_bytes", ReadingUnit::bytes,
       "Bytes of updates that came in."},
      {down_updates_bytes, ReadingGroup::messages, "down_updates_bytes", ReadingUnit::bytes,
       "Bytes of updates that went out."},
      {up_aggregates_bytes, ReadingGroup::messages, "up_aggregates_bytes", ReadingUnit::bytes,
       "Bytes of aggregates that came in."},
      {down_aggregates_bytes, ReadingGroup::messages, "down_aggregates_bytes", ReadingUnit::bytes,
       "Bytes of aggregates that went out."},
      {up_plans_bytes, ReadingGroup::messages, "up_plans_bytes", ReadingUnit::bytes,
       "Bytes of plans and memberships that came in."},
      {down_plans_bytes, ReadingGroup::messages, "down_plans_bytes", ReadingUnit::bytes,
       "Bytes of plans and memberships that went out."},
      {up_commits_bytes, ReadingGroup::messages, "up_commits_bytes", ReadingUnit::bytes,
       "Bytes of answers to commits that came in."},
      {down_commits_bytes, ReadingGroup::messages, "down_commits_bytes", ReadingUnit::bytes,
       "Bytes of commits that went out."},
      {up_models_bytes, ReadingGroup::messages, "up_models_bytes", ReadingUnit::bytes,
       "Bytes of requests for whole models that came in."},
      {down_models_bytes, ReadingGroup::messages, "down_models_bytes", ReadingUnit::bytes,
       "Bytes of whole models that went out."},
      {up_reports_bytes, ReadingGroup::messages, "up_reports_bytes", ReadingUnit::bytes,
       "Bytes of reports that came in."},
      {down_reports_bytes, ReadingGroup::messages, "down_reports_bytes", ReadingUnit::bytes,
       "Bytes of reports that went out."},
      {up_probes_bytes, ReadingGroup::messages, "up_probes_bytes", ReadingUnit::bytes,
       "Bytes of link probes that came in."},
      {down_probes_bytes, ReadingGroup::messages, "down_probes_bytes", ReadingUnit::bytes,
       "Bytes of link probes that went out."},
      {up_control_bytes, ReadingGroup::messages, "up_control_bytes", ReadingUnit::bytes,
       "Bytes of all other messages that came in."},
      {down_control_bytes, ReadingGroup::messages, "down_control_bytes", ReadingUnit::bytes,
       "Bytes of all other messages that went out."},

      {repeated_up_lost_bytes, ReadingGroup::repeated, "repeated_up_lost_bytes", ReadingUnit::bytes,
       "Payload bytes sent again to the coordinator, because the first were lost."},
      {repeated_down_lost_bytes, ReadingGroup::repeated, "repeated_down_lost_bytes",
       ReadingUnit::bytes, "Payload bytes sent again to agents, because the first were lost."},
      {repeated_down_session_bytes, ReadingGroup::repeated, "repeated_down_session_bytes",
       ReadingUnit::bytes,
       "Payload bytes that were under way to an agent when its session was lost."},
      {repeated_up_known_bytes, ReadingGroup::repeated, "repeated_up_known_bytes",
       ReadingUnit::bytes, "Payload bytes that had arrived in an earlier session or attempt."},
      {repeated_up_late_bytes, ReadingGroup::repeated, "repeated_up_late_bytes", ReadingUnit::bytes,
       "Payload bytes for a round or stage that was over."},
      {repeated_up_no_room_bytes, ReadingGroup::repeated, "repeated_up_no_room_bytes",
       ReadingUnit::bytes,
       "Payload bytes refused, because the memory for incomplete payloads was taken."},
  }};
}();

constexpr const ReadingFacts& facts_of(ReadingKind kind) {
  return kReadings[static_cast<std::size_t>(kind)];
}

constexpr std::string_view reading_name(ReadingKind kind) { return facts_of(kind).name; }

// The kind with this name; empty if no reading has it.
constexpr std::optional<ReadingKind> reading_named(std::string_view name) {
  const auto* const found = std::ranges::find(kReadings, name, &ReadingFacts::name);
  return found == kReadings.end() ? std::nullopt : std::optional(found->kind);
}

constexpr std::size_t readings_in(ReadingGroup group) {
  return static_cast<std::size_t>(std::ranges::count(kReadings, group, &ReadingFacts::group));
}

}  // namespace tributary
