// The rules of session.fbs and telemetry.fbs.
#include "schemas/checks.h"
#include "schemas/limits.h"

namespace tributary::wire {
namespace {

Status check_endpoints(const flatbuffers::Vector<flatbuffers::Offset<Endpoint>>* endpoints) {
  return each("endpoints", endpoints, kListItemsMax,
              [](const Endpoint& endpoint) { return given("address", endpoint.address()); });
}

Status check_holding(const Holding& holding) {
  TRIBUTARY_TRY(given("job", holding.job()));
  return each("undecided", holding.undecided(), kRoundsPerCommitMax,
              [](const RoundId& id) { return round_id(&id); });
}

Status check_standing(const Standing& standing) {
  TRIBUTARY_TRY(given("job", standing.job()));
  TRIBUTARY_TRY(below("agent_index", standing.agent_index(), kMembersMax));
  return given("catch_up", standing.catch_up());
}

Status check_limits(const Limits& limits) {
  TRIBUTARY_TRY(in_range("frame_bytes_max", limits.frame_bytes_max(), 1, kFrameBytesMax));
  TRIBUTARY_TRY(in_range("payload_bytes_max", limits.payload_bytes_max(), 1, kPayloadBytesMax));
  return given("payloads_in_flight_max", limits.payloads_in_flight_max());
}

Status check_series(const Series& series) {
  TRIBUTARY_TRY(given("name", series.name()));
  TRIBUTARY_TRY(given("unit", series.unit()));
  TRIBUTARY_TRY(given("kind", series.kind()));
  TRIBUTARY_TRY(at_most("at_ns", series.at_ns(), kListItemsMax));
  // The two lists are the columns of one table.
  TRIBUTARY_TRY(equal("values", size_of(series.values()), size_of(series.at_ns())));
  for (std::uint32_t i = 1; i < size_of(series.at_ns()); ++i) {
    if (series.at_ns()->Get(i) < series.at_ns()->Get(i - 1)) {
      return broken("at_ns", "ascending times", "an earlier time after a later one");
    }
  }
  return at_most("labels", series.labels(), kListItemsMax);
}

Status check_event(const Event& event) {
  TRIBUTARY_TRY(given("severity", event.severity()));
  TRIBUTARY_TRY(given("name", event.name()));
  TRIBUTARY_TRY(each("measures", event.measures(), kListItemsMax));
  return at_most("labels", event.labels(), kListItemsMax);
}

Status check_link(const LinkSample& link) {
  TRIBUTARY_TRY(given("method", link.method()));
  TRIBUTARY_TRY(not_negative("alpha_s", link.alpha_s()));
  TRIBUTARY_TRY(not_negative("beta_s_per_byte", link.beta_s_per_byte()));
  return fraction("confidence", link.confidence());
}

}  // namespace

Status check(const CodecOffer& offer) {
  TRIBUTARY_TRY(given("spec", offer.spec()));
  TRIBUTARY_TRY(not_negative("encode_bytes_per_s", offer.encode_bytes_per_s()));
  TRIBUTARY_TRY(not_negative("aggregate_bytes_per_s", offer.aggregate_bytes_per_s()));
  return not_negative("decode_bytes_per_s", offer.decode_bytes_per_s());
}

Status check(const Measure& measure) {
  TRIBUTARY_TRY(given("name", measure.name()));
  return given("unit", measure.unit());
}

Status check(const Hello& hello) {
  TRIBUTARY_TRY(version_range(hello.version_min(), hello.version_max()));
  TRIBUTARY_TRY(given("role", hello.role()));
  TRIBUTARY_TRY(agent_id("agent_id", hello.agent_id()));
  TRIBUTARY_TRY(given("incarnation", hello.incarnation()));
  if (const Capabilities* capabilities = hello.capabilities()) {
    TRIBUTARY_TRY(each("capabilities.codecs", capabilities->codecs(), kListItemsMax));
    TRIBUTARY_TRY(at_most("capabilities.trainers", capabilities->trainers(), kListItemsMax));
    TRIBUTARY_TRY(at_most("capabilities.features", capabilities->features(), kListItemsMax));
  }
  TRIBUTARY_TRY(each("holdings", hello.holdings(), kJobsMax, check_holding));
  TRIBUTARY_TRY(at_most("slot_count", hello.slot_count(), kSumSlotsMax));
  TRIBUTARY_TRY(check_packet_values(hello.packet_values()));
  return check_endpoints(hello.endpoints());
}

Status check(const Welcome& welcome) {
  TRIBUTARY_TRY(given("version", welcome.version()));
  TRIBUTARY_TRY(given("heartbeat_interval_ms", welcome.heartbeat_interval_ms()));
  // A timeout within the interval would lose every agent.
  if (welcome.heartbeat_timeout_ms() <= welcome.heartbeat_interval_ms()) {
    return broken("heartbeat_timeout_ms", "more than the interval", "not more");
  }
  TRIBUTARY_TRY(given("ack_timeout_ms", welcome.ack_timeout_ms()));
  TRIBUTARY_TRY(given("limits", welcome.limits()));
  TRIBUTARY_TRY(check_limits(*welcome.limits()));
  return each("standings", welcome.standings(), kJobsMax, check_standing);
}

Status check(const Refusal& refusal) {
  TRIBUTARY_TRY(given("code", refusal.code()));
  TRIBUTARY_TRY(given("what", refusal.what()));
  return version_range(refusal.version_min(), refusal.version_max());
}

// An Ack has no required field; its envelope names the message.
Status check(const Ack&) { return {}; }

Status check(const Heartbeat& heartbeat) {
  TRIBUTARY_TRY(given("count", heartbeat.count()));
  TRIBUTARY_TRY(given("activity", heartbeat.activity()));
  return fraction("progress", heartbeat.progress());
}

Status check(const LinkProbe& probe) {
  TRIBUTARY_TRY(given("kind", probe.kind()));
  TRIBUTARY_TRY(given("probe", probe.probe()));
  TRIBUTARY_TRY(in_range("count", probe.count(), 1, kListItemsMax));
  TRIBUTARY_TRY(below("index", probe.index(), probe.count()));
  TRIBUTARY_TRY(at_most("payload_bytes", probe.payload_bytes(), kPayloadBytesMax));
  TRIBUTARY_TRY(at_most("echo_payload_bytes", probe.echo_payload_bytes(), kPayloadBytesMax));
  // Only an order names a peer; a probe and its echo use the session that they are in.
  if (probe.kind() == ProbeKind::order) return given("endpoint", probe.endpoint());
  return {};
}

Status check(const PeerHello& hello) {
  TRIBUTARY_TRY(version_range(hello.version_min(), hello.version_max()));
  TRIBUTARY_TRY(agent_id("agent_id", hello.agent_id()));
  TRIBUTARY_TRY(given("incarnation", hello.incarnation()));
  TRIBUTARY_TRY(given("job", hello.job()));
  TRIBUTARY_TRY(given("epoch", hello.epoch()));
  return below("agent_index", hello.agent_index(), kMembersMax);
}

Status check(const Leave& leave) { return given("reason", leave.reason()); }

Status check(const Telemetry& telemetry) {
  TRIBUTARY_TRY(each("series", telemetry.series(), kListItemsMax, check_series));
  TRIBUTARY_TRY(each("events", telemetry.events(), kListItemsMax, check_event));
  TRIBUTARY_TRY(each("links", telemetry.links(), kListItemsMax, check_link));
  return each("codecs", telemetry.codecs(), kListItemsMax);
}

}  // namespace tributary::wire
