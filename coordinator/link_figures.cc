#include "coordinator/link_figures.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tributary {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Readings come without their sizes: heartbeats are small, and what a round's payloads took is
// told for one byte, which a train of any length stands for.
constexpr double kHeartbeatBytes = 1;
constexpr double kTrainBytes = 1e6;

}  // namespace

LinkFigures::LinkFigures(const Clock& clock, Metrics& metrics, Chronicle& chronicle)
    : clock_(clock), metrics_(metrics), chronicle_(chronicle), interval_began_(clock.now()) {}

void LinkFigures::round_published(const Reading& round, const LinkCounters& now) {
  const LinkCounters before = std::exchange(at_last_round_, now);
  const auto keep = [&](std::string_view name, std::uint64_t bytes) {
    chronicle_.metric({.name = name,
                       .value = static_cast<double>(bytes),
                       .job = round.job,
                       .round = round.round});
  };
  keep("wire_bytes_up", now.wire_bytes_in - before.wire_bytes_in);
  keep("wire_bytes_down", now.wire_bytes_out - before.wire_bytes_out);
}

void LinkFigures::count_refusals(const LinkCounters& now) {
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    const std::uint64_t fresh = now.refused[i] - std::exchange(refused_[i], now.refused[i]);
    if (fresh == 0) continue;
    metrics_.count("tributary_link_refused_total",
                   {{"reason", std::string(name(static_cast<RefusalReason>(i)))}},
                   static_cast<double>(fresh));
  }
}

double LinkFigures::now_s() const { return std::chrono::duration<double>(clock_.now()).count(); }

// Whoever is forgotten to make room has its rate kept once more in that second.
LinkFigures::Agent& LinkFigures::agent(const std::string& agent_id) {
  if (agents_.size() >= kAgentsMax && !agents_.contains(agent_id)) agents_.clear();
  return agents_[agent_id];
}

void LinkFigures::round_trip(const std::string& agent_id, double seconds) {
  metrics_.count("tributary_round_trips_total");
  metrics_.count("tributary_round_trip_s_total", {}, seconds);
  links_.add(agent_id, {.kind = TransferKind::round_trip,
                        .bytes = kHeartbeatBytes,
                        .seconds = seconds,
                        .at_s = now_s()});
  agent(agent_id).heard = true;
}

void LinkFigures::uplink(const std::string& agent_id, double seconds_per_byte) {
  links_.add(agent_id, {.kind = TransferKind::train,
                        .bytes = kTrainBytes,
                        .seconds = seconds_per_byte * kTrainBytes,
                        .at_s = now_s()});
  Agent& from = agent(agent_id);
  if (from.beta_kept && clock_.now() - from.beta_at < kBetaEvery) return;
  const LinkQuantity beta = links_.measured(agent_id, now_s()).beta_s_per_byte;
  if (!beta.known()) return;
  from.beta_at = clock_.now();
  from.beta_kept = true;
  chronicle_.link({.from = agent_id,
                   .to = {},
                   .method = wire::LinkMethod::passive,
                   .alpha_s = kUnknown,
                   .beta_s_per_byte = beta.value,
                   .confidence = beta.confidence});
}

void LinkFigures::keep_alphas() {
  interval_began_ = clock_.now();
  for (auto& [agent_id, agent] : agents_) {
    if (!std::exchange(agent.heard, false)) continue;
    const LinkQuantity alpha = links_.measured(agent_id, now_s()).alpha_s;
    if (!alpha.known()) continue;
    chronicle_.link({.from = {},
                     .to = agent_id,
                     .method = wire::LinkMethod::passive,
                     .alpha_s = alpha.value,
                     .beta_s_per_byte = kUnknown,
                     .confidence = alpha.confidence});
  }
}

void LinkFigures::set_gauges() {
  const std::optional<LinkEstimate> slowest = links_.slowest(now_s(), kTrusted);
  metrics_.set("tributary_slowest_link_alpha_s", slowest ? slowest->alpha_s : kUnknown);
  metrics_.set("tributary_slowest_link_beta_s_per_byte",
               slowest ? slowest->beta_s_per_byte : kUnknown);
}

void LinkFigures::look_around() {
  if (clock_.now() - interval_began_ < kAlphaEvery) return;
  close();
}

void LinkFigures::close() {
  keep_alphas();
  set_gauges();
}

}  // namespace tributary
