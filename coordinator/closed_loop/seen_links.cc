#include "coordinator/closed_loop/seen_links.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coordinator/planning/plan_links.h"
#include "core/round/common/machine/actions.h"

namespace tributary {
namespace {

// Smaller uploads are readings of few bytes, as in RoundReporter.
constexpr double kLargeUploadBytes = 64 * 1024;

std::chrono::nanoseconds ns_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

Result<std::unique_ptr<SeenLinks>> SeenLinks::make(const TrueFederation& federation) {
  TRIBUTARY_ASSIGN(std::unique_ptr<Metrics> metrics, open_metrics(""));
  return std::unique_ptr<SeenLinks>(new SeenLinks(federation, std::move(metrics)));
}

SeenLinks::SeenLinks(const TrueFederation& federation, std::unique_ptr<Metrics> metrics)
    : federation_(federation),
      metrics_(std::move(metrics)),
      telemetry_(clock_),
      figures_(clock_, *metrics_, telemetry_) {}

void SeenLinks::move_to(double at_s) {
  const std::chrono::nanoseconds by = ns_of(at_s) - clock_.now();
  if (by > std::chrono::nanoseconds(0)) clock_.advance(by);
}

// A heartbeat waits behind the bytes that its agent has queued.
void SeenLinks::heartbeats(const TrueRound& round) {
  for (; next_heartbeat_s_ < round.ends_s; next_heartbeat_s_ += kHeartbeat_s) {
    if (next_heartbeat_s_ < round.began_s) continue;
    const double sent_s = next_heartbeat_s_;
    move_to(sent_s);
    for (std::size_t i = 0; i < round.members.size(); ++i) {
      const TrueAgent& agent = federation_.agents[round.members[i]];
      const TrueExchanged::Upload& upload = round.exchanged.uploads[i];
      const double queued_s = round.began_s + agent.training_s;
      const bool waits = sent_s > queued_s && sent_s < upload.last_s;
      const double wait_s = waits ? upload.last_s - sent_s : 0;
      figures_.round_trip(agent.id,
                          agent.up.latency_s(sent_s) + agent.down.latency_s(sent_s) + wait_s);
    }
  }
}

// As RoundReporter::report_uplinks().
void SeenLinks::uploads(const TrueRound& round, bool star) {
  for (std::size_t i = 0; i < round.members.size(); ++i) {
    const TrueExchanged::Upload& upload = round.exchanged.uploads[i];
    const double took_s = upload.last_s - upload.first_s;
    if (upload.bytes_after_first <= 0 || took_s <= 0) continue;
    const std::string& id = federation_.agents[round.members[i]].id;
    const double s_per_byte = took_s / upload.bytes_after_first;
    const bool few = upload.bytes_after_first < kLargeUploadBytes;
    if (!star) {
      if (!few) figures_.uplink_at_most(id, s_per_byte);
    } else if (few) {
      figures_.uplink_of_few(id, s_per_byte);
    } else {
      figures_.uplink(id, s_per_byte);
    }
  }
}

void SeenLinks::pairs(const TrueRound& round) {
  for (const TrueExchanged::Pair& pair : round.exchanged.pairs) {
    const TrueAgent& from = federation_.agents[round.members[pair.from]];
    const std::uint32_t to = round.members[pair.to];
    Receiver& receiver = receivers_[to];
    receiver.links.add(from.id, {.kind = TransferKind::train,
                                 .bytes = pair.bytes,
                                 .seconds = pair.seconds,
                                 .at_s = pair.at_s});
  }
}

// Every connection among the members tells its smallest round trip, whatever it carried.
void SeenLinks::report(const TrueAgent& agent, Receiver& receiver, double at_s) {
  LinksReported reported = {.agent_id = agent.id, .links = {}};
  for (const auto& peer : receiver.round_trip_at_s) {
    const std::string& from = peer.first;
    const MeasuredLink link = receiver.links.measured(from, at_s);
    const auto add = [&](const LinkQuantity& quantity, double wire::LinkSampleT::*value) {
      if (!quantity.known()) return;
      wire::LinkSampleT& sample = reported.links.emplace_back();
      sample.from = from;
      sample.to = agent.id;
      sample.*value = quantity.value;
      sample.confidence = static_cast<float>(quantity.confidence);
      sample.age_ms = static_cast<std::uint32_t>(quantity.age_s * 1e3);
    };
    add(link.alpha_s, &wire::LinkSampleT::alpha_s);
    add(link.beta_s_per_byte, &wire::LinkSampleT::beta_s_per_byte);
  }
  receiver.reported_at_s = at_s;
  figures_.reported(reported);
}

void SeenLinks::saw(const TrueRound& round, bool star) {
  heartbeats(round);
  move_to(round.ends_s);
  uploads(round, star);
  if (star || round.members.size() > kPairedAgentsMax) return;
  pairs(round);
  for (const std::uint32_t to : round.members) {
    const TrueAgent& agent = federation_.agents[to];
    Receiver& receiver = receivers_[to];
    for (const std::uint32_t other : round.members) {
      if (other == to) continue;
      const TrueAgent& from = federation_.agents[other];
      const auto [last, fresh] = receiver.round_trip_at_s.try_emplace(from.id, round.ends_s);
      if (!fresh && round.ends_s - last->second < kMinRoundTrip_s) continue;
      last->second = round.ends_s;
      const double latency_s =
          federation_.peers_share_ports
              ? from.up.latency_s(round.began_s) + agent.down.latency_s(round.began_s)
              : std::max(from.peers.latency_s(round.began_s), agent.peers.latency_s(round.began_s));
      receiver.links.add(from.id, {.kind = TransferKind::round_trip,
                                   .bytes = 1,
                                   .seconds = 2 * latency_s,
                                   .at_s = round.ends_s});
    }
    if (round.ends_s - receiver.reported_at_s >= kReport_s) report(agent, receiver, round.ends_s);
  }
}

PlanLinks SeenLinks::links_of(const std::vector<std::string>& agents) const {
  return plan_links(figures_, agents, std::chrono::duration<double>(clock_.now()).count());
}

}  // namespace tributary
