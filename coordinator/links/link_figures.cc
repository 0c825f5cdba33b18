#include "coordinator/links/link_figures.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tributary {
namespace {

constexpr double kFigureUnknown = std::numeric_limits<double>::quiet_NaN();
// Nominal sizes. A heartbeat is small, so its size does not matter. A reading from payloads is a
// time per byte, so a train of any length represents it.
constexpr double kHeartbeatBytes = 1;
constexpr double kTrainBytes = 1e6;

}  // namespace

LinkFigures::LinkFigures(const Clock& clock, Metrics& metrics, TelemetryBuffer& telemetry)
    : clock_(clock), metrics_(metrics), telemetry_(telemetry), interval_began_(clock.now()) {}

void LinkFigures::round_published(const Reading& round, const LinkCounters& now) {
  const LinkCounters before = std::exchange(at_last_round_, now);
  const auto keep = [&](ReadingKind kind, std::uint64_t bytes) {
    telemetry_.metric({.kind = kind,
                       .value = static_cast<double>(bytes),
                       .job = round.job,
                       .round = round.round});
  };
  keep(ReadingKind::wire_bytes_up, now.wire_bytes_in - before.wire_bytes_in);
  keep(ReadingKind::wire_bytes_down, now.wire_bytes_out - before.wire_bytes_out);
}

void LinkFigures::count_refusals(const LinkCounters& now) {
  // The link counts from its beginning, and a metric is increased by differences.
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    const std::uint64_t fresh = now.refused[i] - std::exchange(refused_[i], now.refused[i]);
    if (fresh == 0) continue;
    metrics_.count("tributary_link_refused_total",
                   {{"reason", std::string(name(static_cast<RefusalReason>(i)))}},
                   static_cast<double>(fresh));
  }
}

double LinkFigures::now_s() const { return std::chrono::duration<double>(clock_.now()).count(); }

// At the bound all agents are forgotten. The only effect is that a rate may be stored twice within
// kBetaEvery.
LinkFigures::Agent& LinkFigures::agent(const std::string& agent_id) {
  if (agents_.size() >= kAgentsMax && !agents_.contains(agent_id)) agents_.clear();
  return agents_[agent_id];
}

void LinkFigures::round_trip(const std::string& agent_id, double seconds) {
  metrics_.count("tributary_round_trips_total");
  metrics_.count("tributary_round_trip_seconds_total", {}, seconds);
  links_.add(agent_id, {.kind = TransferKind::round_trip,
                        .bytes = kHeartbeatBytes,
                        .seconds = seconds,
                        .at_s = now_s()});
  Agent& to = agent(agent_id);
  to.latency_measured = to.by_heartbeat = true;
}

void LinkFigures::uplink(const std::string& agent_id, double seconds_per_byte) {
  take_large(LinkDirection::up, agent_id, seconds_per_byte);
}

void LinkFigures::uplink_of_few(const std::string& agent_id, double seconds_per_byte) {
  take_few(LinkDirection::up, agent_id, seconds_per_byte);
}

void LinkFigures::uplink_at_most(const std::string& agent_id, double seconds_per_byte) {
  const LinkQuantity known = links_.measured(agent_id, now_s()).beta_s_per_byte;
  if (known.known() && seconds_per_byte < known.value) {
    take(LinkDirection::up, agent_id, seconds_per_byte);
  }
}

void LinkFigures::downlink(const std::string& agent_id, double seconds_per_byte) {
  take_large(LinkDirection::down, agent_id, seconds_per_byte);
}

void LinkFigures::downlink_of_few(const std::string& agent_id, double seconds_per_byte) {
  take_few(LinkDirection::down, agent_id, seconds_per_byte);
}

void LinkFigures::downlink_at_most(const std::string& agent_id, double seconds_per_byte) {
  LinkQuantity known = downlinks_.measured(agent_id, now_s()).beta_s_per_byte;
  if (!known.known()) known = links_.measured(agent_id, now_s()).beta_s_per_byte;
  if (known.known() && seconds_per_byte < known.value) {
    take(LinkDirection::down, agent_id, seconds_per_byte);
  }
}

void LinkFigures::take_large(LinkDirection direction, const std::string& agent_id,
                             double seconds_per_byte) {
  Agent& of = agent(agent_id);
  Payloads& payloads = of.payloads[index(direction)];
  payloads.last_s_per_byte = {payloads.last_s_per_byte[1], seconds_per_byte};
  payloads.large_at = clock_.now();
  payloads.of_few = false;
  take(direction, agent_id, seconds_per_byte);
}

void LinkFigures::take_few(LinkDirection direction, const std::string& agent_id,
                           double seconds_per_byte) {
  Agent& of = agent(agent_id);
  Payloads& payloads = of.payloads[index(direction)];
  const auto large_at = payloads.large_at;
  if (large_at && clock_.now() - *large_at < kLargeValidTime) return;
  payloads.of_few = true;
  take(direction, agent_id, seconds_per_byte);
}

void LinkFigures::take(LinkDirection direction, const std::string& agent_id,
                       double seconds_per_byte) {
  const bool down = direction == LinkDirection::down;
  LinkTable& links = down ? downlinks_ : links_;
  links.add(agent_id, {.kind = TransferKind::train,
                       .bytes = kTrainBytes,
                       .seconds = seconds_per_byte * kTrainBytes,
                       .at_s = now_s()});
  Agent& of = agent(agent_id);
  auto& stored_at = of.payloads[index(direction)].stored_at;
  if (stored_at && clock_.now() - *stored_at < kBetaEvery) return;
  const LinkQuantity beta = links.measured(agent_id, now_s()).beta_s_per_byte;
  if (!beta.known()) return;
  // At most one sample per kBetaEvery, because rounds may be short.
  stored_at = clock_.now();
  telemetry_.link({.from = down ? "" : agent_id,
                   .to = down ? agent_id : "",
                   .method = wire::LinkMethod::passive,
                   .alpha_s = kFigureUnknown,
                   .beta_s_per_byte = beta.value,
                   .confidence = beta.confidence});
}

bool LinkFigures::rate_of_few(LinkDirection direction, const std::string& agent_id) const {
  const auto found = agents_.find(agent_id);
  return found != agents_.end() && found->second.payloads[index(direction)].of_few;
}

std::optional<double> LinkFigures::slower_now(const std::string& agent_id) const {
  const auto found = agents_.find(agent_id);
  if (found == agents_.end() || !found->second.payloads[index(LinkDirection::up)].large_at)
    return std::nullopt;
  if (clock_.now() - *found->second.payloads[index(LinkDirection::up)].large_at >= kLargeValidTime)
    return std::nullopt;
  const LinkQuantity known = links_.measured(agent_id, now_s()).beta_s_per_byte;
  // The smaller of the two readings, so that a single slow payload is not enough.
  const double now =
      std::ranges::min(found->second.payloads[index(LinkDirection::up)].last_s_per_byte);
  if (!known.known() || now < kMuchSlower * known.value) return std::nullopt;
  return now;
}

void LinkFigures::probed(const std::string& agent_id, const LinkProbes::Reading& reading) {
  const bool down = reading.direction == ProbeDirection::down;
  LinkTable& links = down ? downlinks_ : links_;
  links.add(agent_id, reading.transfer);
  // A latency is stored with the next periodic sample, a rate at once: trains are rare.
  if (reading.direction == ProbeDirection::round_trip) {
    agent(agent_id).latency_measured = true;
    return;
  }
  agent(agent_id).payloads[index(down ? LinkDirection::down : LinkDirection::up)].of_few = false;
  const LinkQuantity beta = links.measured(agent_id, now_s()).beta_s_per_byte;
  if (!beta.known()) return;
  telemetry_.link({.from = down ? "" : agent_id,
                   .to = down ? agent_id : "",
                   .method = wire::LinkMethod::active,
                   .alpha_s = kFigureUnknown,
                   .beta_s_per_byte = beta.value,
                   .confidence = beta.confidence});
}

void LinkFigures::echo_ignored(EchoFault fault) {
  metrics_.count("tributary_link_echoes_ignored_total", {{"reason", std::string(name(fault))}});
}

void LinkFigures::probes_sent(std::span<const ProbeLink> probes, std::uint64_t given_up) {
  for (const ProbeLink& probe : probes) {
    const double padding = probe.padding_bytes + probe.echo_padding_bytes;
    ProbeDirection direction =
        probe.padding_bytes > 0 ? ProbeDirection::down : ProbeDirection::round_trip;
    if (probe.echo_padding_bytes > 0) direction = ProbeDirection::up;
    metrics_.count("tributary_link_probes_total", {{"way", std::string(name(direction))}});
    // Each part is a probe and its echo.
    metrics_.count("tributary_link_probe_bytes_total", {},
                   probe.parts * (padding + 2 * LinkProber::kMessageBytes));
  }
  const std::uint64_t more = given_up - std::exchange(given_up_, given_up);
  if (more > 0) {
    metrics_.count("tributary_link_probes_lost_total", {}, static_cast<double>(more));
  }
}

void LinkFigures::reported(const LinksReported& links) {
  for (const PairFigure& pair : pairs_.take(now_s(), links)) {
    const MeasuredLink& link = pair.measured;
    const LinkQuantity& known = link.alpha_s.known() ? link.alpha_s : link.beta_s_per_byte;
    telemetry_.link({.from = pair.from,
                     .to = pair.to,
                     .method = wire::LinkMethod::passive,
                     .alpha_s = link.alpha_s.value,
                     .beta_s_per_byte = link.beta_s_per_byte.value,
                     .confidence = known.confidence});
  }
  const std::uint64_t ignored = pairs_.ignored() - std::exchange(pairs_ignored_, pairs_.ignored());
  if (ignored > 0) {
    metrics_.count("tributary_pair_links_ignored_total", {}, static_cast<double>(ignored));
  }
}

// The latency of a downlink is half of the same round trip as the uplink's.
MeasuredLinks LinkFigures::measured_links(const std::string& agent_id) const {
  MeasuredLinks measured{.up = links_.measured(agent_id, now_s()),
                         .down = downlinks_.measured(agent_id, now_s())};
  measured.down.alpha_s = measured.up.alpha_s;
  return measured;
}

// Agents without a measurement in the interval get no sample, so that an old value does not look
// like a new one.
void LinkFigures::keep_alphas() {
  interval_began_ = clock_.now();
  for (auto& [agent_id, agent] : agents_) {
    if (!std::exchange(agent.latency_measured, false)) continue;
    const bool by_heartbeat = std::exchange(agent.by_heartbeat, false);
    const LinkQuantity alpha = links_.measured(agent_id, now_s()).alpha_s;
    if (!alpha.known()) continue;
    telemetry_.link({.from = {},
                     .to = agent_id,
                     .method = by_heartbeat ? wire::LinkMethod::passive : wire::LinkMethod::active,
                     .alpha_s = alpha.value,
                     .beta_s_per_byte = kFigureUnknown,
                     .confidence = alpha.confidence});
  }
}

void LinkFigures::set_gauges() {
  const std::optional<LinkEstimate> slowest = links_.slowest(now_s(), kTrusted);
  metrics_.set("tributary_slowest_link_alpha_seconds", slowest ? slowest->alpha_s : kFigureUnknown);
  metrics_.set("tributary_slowest_link_beta_seconds_per_byte",
               slowest ? slowest->beta_s_per_byte : kFigureUnknown);
  const std::vector<PairFigure> pairs = pairs_.slowest(now_s(), 1);
  const LinkQuantity beta = pairs.empty() ? LinkQuantity{} : pairs[0].measured.beta_s_per_byte;
  metrics_.set("tributary_slowest_pair_beta_seconds_per_byte", beta.value);
  count_known();
}

// Sets the number of known links and the age of the oldest one. One time series per quantity, so
// their number does not grow with agents.
void LinkFigures::count_known() {
  struct Known {
    double links = 0;
    double age_max_s = 0;
    void take(const LinkQuantity& quantity) {
      if (!quantity.known() || quantity.confidence < kTrusted) return;
      ++links;
      age_max_s = std::max(age_max_s, quantity.age_s);
    }
  };
  std::map<std::string, Known> known{
      {"alpha", {}}, {"beta_up", {}}, {"beta_down", {}}, {"pair_alpha", {}}, {"pair_beta", {}}};
  for (const auto& [agent_id, agent] : agents_) {
    const MeasuredLinks of = measured_links(agent_id);
    known["alpha"].take(of.up.alpha_s);
    known["beta_up"].take(of.up.beta_s_per_byte);
    known["beta_down"].take(of.down.beta_s_per_byte);
  }
  for (const PairFigure& pair : pairs_.slowest(now_s(), pairs_.size())) {
    known["pair_alpha"].take(pair.measured.alpha_s);
    known["pair_beta"].take(pair.measured.beta_s_per_byte);
  }
  for (const auto& [figure, of] : known) {
    metrics_.set("tributary_links_known", of.links, {{"figure", figure}});
    metrics_.set("tributary_links_known_age_max_seconds", of.age_max_s, {{"figure", figure}});
  }
}

void LinkFigures::run_periodic_tasks() {
  if (clock_.now() - interval_began_ < kAlphaEvery) return;
  close();
}

void LinkFigures::close() {
  keep_alphas();
  set_gauges();
}

}  // namespace tributary
