#include "core/service/metrics/metric_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "core/service/metrics/reading_metrics.h"

namespace tributary {
namespace {

constexpr MetricFacts counter(std::string_view name, std::string_view help,
                              std::string_view old_name = {}) {
  return {.name = name, .type = MetricType::counter, .help = help, .old_name = old_name};
}

constexpr MetricFacts gauge(std::string_view name, std::string_view help,
                            std::string_view old_name = {}) {
  return {.name = name, .type = MetricType::gauge, .help = help, .old_name = old_name};
}

constexpr std::string_view help_of(ReadingKind kind) { return facts_of(kind).help; }

// A reading's metric has the reading's name, either now or before it was renamed.
constexpr auto kMetrics = [] {
  using enum ReadingKind;
  return std::to_array<MetricFacts>({
      gauge("tributary_agents", help_of(agents)),
      gauge("tributary_buffered_bytes", help_of(buffered_bytes)),
      gauge("tributary_connected", "Whether the agent has a session: 1 or 0."),
      gauge("tributary_conservation_error", help_of(conservation_error)),
      gauge("tributary_durability_lag_seconds",
            "Bound on the age of the oldest committed round that is not durable."),
      gauge("tributary_evaluation_accuracy", help_of(evaluation_accuracy)),
      gauge("tributary_evaluation_examples", help_of(evaluation_examples)),
      gauge("tributary_evaluation_loss", help_of(evaluation_loss)),
      counter("tributary_in_network_buckets_total", "Buckets of sums in the network by outcome."),
      counter("tributary_in_network_ignored_total",
              "Packets of the aggregator that were not used by reason."),
      counter("tributary_in_network_in_packets_total", "Packets received from the aggregator."),
      counter("tributary_in_network_out_packets_total",
              "Packets sent to the aggregator with repeats."),
      counter("tributary_in_network_repeats_total", "Packets sent to the aggregator again."),
      counter("tributary_link_echoes_ignored_total",
              "Echoes of probes without information by reason."),
      counter("tributary_link_in_bytes_total", help_of(link_in_bytes), "tributary_link_in_bytes"),
      counter("tributary_link_in_messages_total", help_of(link_in_messages),
              "tributary_link_in_messages"),
      counter("tributary_link_out_bytes_total", help_of(link_out_bytes),
              "tributary_link_out_bytes"),
      counter("tributary_link_out_messages_total", help_of(link_out_messages),
              "tributary_link_out_messages"),
      counter("tributary_link_probe_bytes_total",
              "Bytes of link probes with envelopes and echoes."),
      counter("tributary_link_probes_lost_total", "Link probes without an answer in 30 seconds."),
      counter("tributary_link_probes_total", "Link probes by kind."),
      counter("tributary_link_refused_total",
              "Messages and connections that the link refused by reason."),
      gauge("tributary_links_known", "Links whose figure is known."),
      gauge("tributary_links_known_age_max_seconds", "Age of the oldest known figure of a link.",
            "tributary_links_known_age_max_s"),
      counter(kMessageBytesMetric, "Bytes of messages by direction and use."),
      gauge("tributary_model_version", help_of(model_version)),
      counter("tributary_notes_total", "Events by name and reason."),
      gauge("tributary_outgoing_bytes", help_of(outgoing_bytes)),
      counter("tributary_pair_links_ignored_total",
              "Reported figures that no link between agents can have."),
      gauge("tributary_peer_link_figures_told",
            "Figures of links to peers in the last message to the coordinator."),
      counter("tributary_peers_in_bytes_total", "Bytes received from peers since the start.",
              "tributary_peers_in_bytes"),
      counter("tributary_peers_out_bytes_total", "Bytes sent to peers since the start.",
              "tributary_peers_out_bytes"),
      counter(kRepeatedBytesMetric, "Payload bytes sent for nothing by direction and cause."),
      gauge("tributary_round_seconds", help_of(round_s), "tributary_round_s"),
      counter("tributary_round_seconds_total", "Duration of all committed rounds.",
              "tributary_round_s_total"),
      counter("tributary_round_trip_seconds_total", "Round trips of heartbeats to all agents.",
              "tributary_round_trip_s_total"),
      counter("tributary_round_trips_total", "Heartbeats of all agents that were answered."),
      counter("tributary_rounds_committed_total", "Committed rounds."),
      counter("tributary_sends_dropped_total", help_of(sends_dropped), "tributary_sends_dropped"),
      gauge("tributary_slowest_link_alpha_seconds", "Longest latency of a known link.",
            "tributary_slowest_link_alpha_s"),
      gauge("tributary_slowest_link_beta_seconds_per_byte",
            "Time per byte of the slowest known uplink.", "tributary_slowest_link_beta_s_per_byte"),
      gauge("tributary_slowest_pair_beta_seconds_per_byte",
            "Time per byte of the slowest known link between agents.",
            "tributary_slowest_pair_beta_s_per_byte"),
      counter("tributary_switch_contributions_total", "Contributions that were added."),
      counter("tributary_switch_dropped_total", "Packets that were dropped by reason."),
      counter("tributary_switch_in_packets_total", "Packets received."),
      gauge("tributary_switch_jobs", "Jobs with an installed epoch."),
      counter("tributary_switch_out_packets_total", "Packets sent."),
      counter("tributary_switch_refusals_total", "Refusals that were sent."),
      counter("tributary_switch_repeats_total", "Contributions that had been added before."),
      counter("tributary_switch_resent_total", "Results sent again to one agent."),
      counter("tributary_switch_results_total", "Phases of slots that were completed."),
      gauge("tributary_switch_slots", "Slots that all jobs share."),
      gauge("tributary_switch_slots_free", "Slots that no job has."),
      counter("tributary_switch_unsent_packets_total", "Packets that the kernel did not take."),
      counter("tributary_telemetry_rows_dropped_total", help_of(telemetry_rows_dropped),
              "tributary_telemetry_rows_dropped"),
      counter("tributary_watch_out_bytes_total", "Bytes of answers to observers since the start.",
              "tributary_watch_out_bytes"),
      counter("tributary_watch_questions_refused_total", "Requests of observers that were refused.",
              "tributary_watch_questions_refused"),
      counter("tributary_watch_questions_total", "Requests of observers.",
              "tributary_watch_questions"),
      counter("tributary_watch_turned_away_total",
              "Connections and messages of observers that the link refused.",
              "tributary_watch_turned_away"),
      gauge("tributary_watchers", "Connected observers."),
      gauge("tributary_wire_bytes_down", help_of(wire_bytes_down)),
      gauge("tributary_wire_bytes_up", help_of(wire_bytes_up)),
  });
}();

constexpr std::string_view kPrefix = "tributary_";

// Part of what `promtool check metrics` demands; tests/prometheus_test.py runs it.
constexpr bool follows_prometheus(const MetricFacts& metric) {
  const bool is_total = metric.name.ends_with("_total");
  return metric.name.starts_with(kPrefix) && is_total == (metric.type == MetricType::counter) &&
         !metric.name.ends_with("_s") && metric.name.find("_s_") == metric.name.npos &&
         metric.help.ends_with(".");
}
static_assert(std::ranges::all_of(kMetrics, follows_prometheus));
static_assert(std::ranges::adjacent_find(kMetrics, std::greater_equal<>(), &MetricFacts::name) ==
                  kMetrics.end(),
              "names are not in order, or one is used twice");

// The checks below run at compile time: the table is sorted for metric_named(), follows the rules
// of Prometheus, and has a metric for every reading.
constexpr bool is_metric_of(const MetricFacts& metric, ReadingKind kind) {
  const auto named = [&](std::string_view name) {
    return name.starts_with(kPrefix) && name.substr(kPrefix.size()) == reading_name(kind);
  };
  return named(metric.name) || named(metric.old_name);
}

constexpr bool has_metric(const ReadingFacts& reading) {
  using enum ReadingGroup;
  if (reading.group == messages || reading.group == repeated || reading.group == link) return true;
  return std::ranges::any_of(
      kMetrics, [&](const MetricFacts& metric) { return is_metric_of(metric, reading.kind); });
}
static_assert(std::ranges::all_of(kReadings, has_metric), "a reading has no metric");

}  // namespace

const MetricFacts* metric_named(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kMetrics, name, {}, &MetricFacts::name);
  return found != kMetrics.end() && found->name == name ? found : nullptr;
}

const MetricFacts& metric_of(ReadingKind kind) {
  return *std::ranges::find_if(
      kMetrics, [&](const MetricFacts& metric) { return is_metric_of(metric, kind); });
}

}  // namespace tributary
