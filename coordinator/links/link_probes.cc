#include "coordinator/links/link_probes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/round/common/machine/probe_padding.h"

namespace tributary {
namespace {

constexpr double kNsPerS = 1e9;
// Growth of the next train after one that was too short to time.
constexpr double kLonger = 4;
// Greatest share of a train's duration that the agent may spend on sending it. Above it the agent
// and not the link was the bottleneck.
constexpr double kSendingShareMax = 0.5;

std::size_t place_of(ProbeDirection direction) { return direction == ProbeDirection::down ? 1 : 0; }

// A train that was too short gives a lower bound on the rate. It stands in for an unknown rate, so
// that the next train is longer.
LinkQuantity rate_or_bound(const LinkQuantity& measured, double train_bytes_min) {
  if (measured.known() || train_bytes_min == 0) return measured;
  LinkQuantity quick = measured;
  quick.value = LinkProber::kTrain_s / train_bytes_min;
  return quick;
}

}  // namespace

std::string_view name(ProbeDirection direction) {
  static constexpr std::array<std::string_view, 3> kNames = {"round_trip", "up", "down"};
  return kNames[static_cast<std::size_t>(direction)];
}

std::string_view name(EchoFault fault) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "unasked", "late", "repeated", "other_train", "no_time", "bunched", "paused"};
  return kNames[static_cast<std::size_t>(fault)];
}

// Returns null if all entries belong to connected agents.
LinkProbes::Agent* LinkProbes::agent(double now_s, const Coordinator::AgentView& view) {
  auto found = agents_.find(view.agent_id);
  if (found == agents_.end()) {
    if (agents_.size() >= options_.agents_max) {
      const auto oldest = std::ranges::min_element(
          agents_, {}, [](const auto& each) { return each.second.last_seen_s; });
      if (oldest == agents_.end() || oldest->second.last_seen_s >= now_s) return nullptr;
      pending_.erase(oldest->first);
      agents_.erase(oldest);
    }
    found = agents_.emplace(view.agent_id, Agent(now_s, options_.prober)).first;
  }
  Agent& agent = found->second;
  agent.last_seen_s = now_s;
  // The counter starts again with a new session.
  const std::uint64_t before =
      agent.incarnation == view.incarnation && agent.payload_bytes <= view.payload_bytes
          ? agent.payload_bytes
          : 0;
  agent.prober.carried(now_s, static_cast<double>(view.payload_bytes - before));
  agent.incarnation = view.incarnation;
  agent.payload_bytes = view.payload_bytes;
  return &agent;
}

void LinkProbes::give_up(double now_s) {
  for (auto probe = pending_.begin(); probe != pending_.end();) {
    if (now_s - probe->second.sent_s < options_.patience_s) {
      ++probe;
      continue;
    }
    const auto agent = agents_.find(probe->first);
    if (agent != agents_.end()) agent->second.given_up_probe = probe->second.probe;
    ++given_up_;
    probe = pending_.erase(probe);
  }
}

std::size_t LinkProbes::pending_trains() const {
  return static_cast<std::size_t>(std::ranges::count_if(pending_, [](const auto& each) {
    return each.second.direction != ProbeDirection::round_trip;
  }));
}

// If both directions need a train, they take turns. The uplink comes first, because plans depend on
// it most.
ProbeDirection LinkProbes::train_direction(const Agent& agent, const MeasuredLinks& known) const {
  const auto needs_train = [&](const LinkQuantity& beta) {
    return beta.confidence < options_.prober.confidence_min ||
           beta.age_s > options_.prober.age_max_s;
  };
  const bool up = needs_train(known.up.beta_s_per_byte);
  const bool down = needs_train(known.down.beta_s_per_byte);
  return down && (agent.down_is_next || !up) ? ProbeDirection::down : ProbeDirection::up;
}

std::optional<ProbeLink> LinkProbes::next(double now_s, const std::string& agent_id, Agent& agent,
                                          const MeasuredLinks& known) {
  const ProbeDirection direction = train_direction(agent, known);
  MeasuredLink asked = direction == ProbeDirection::down ? known.down : known.up;
  asked.alpha_s = known.up.alpha_s;
  asked.beta_s_per_byte =
      rate_or_bound(asked.beta_s_per_byte, agent.train_bytes_min[place_of(direction)]);
  const std::optional<LinkProbe> next_probe = agent.prober.next(now_s, asked);
  if (!next_probe) return std::nullopt;
  const bool train = next_probe->kind == TransferKind::train;
  if (train) agent.down_is_next = direction == ProbeDirection::up;
  PendingProbe& probe = pending_[agent_id];
  probe = {.probe = ++last_probe_ == 0 ? ++last_probe_ : last_probe_,
           .direction = train ? direction : ProbeDirection::round_trip,
           .sent_s = now_s,
           .padding_bytes = next_probe->padding_bytes,
           .answered = 0,
           .parts = std::vector<ProbePart>(next_probe->parts),
           .answered_at_ns = std::vector<std::uint64_t>(next_probe->parts)};
  return ProbeLink{
      .agent_id = agent_id,
      .probe = probe.probe,
      .parts = next_probe->parts,
      .padding_bytes = probe.direction == ProbeDirection::down ? next_probe->padding_bytes : 0,
      .echo_padding_bytes = probe.direction == ProbeDirection::up ? next_probe->padding_bytes : 0};
}

// Starts after the agent that was probed last, so that agents late in the order are probed as well.
std::vector<ProbeLink> LinkProbes::due(
    double now_s, std::span<const Coordinator::AgentView> agents,
    const std::function<MeasuredLinks(const std::string&)>& known) {
  give_up(now_s);
  std::vector<ProbeLink> out;
  std::vector<std::pair<const Coordinator::AgentView*, Agent*>> connected;
  for (const Coordinator::AgentView& view : agents) {
    if (Agent* const found = agent(now_s, view)) connected.emplace_back(&view, found);
  }
  const auto first = std::ranges::find_if(
      connected, [&](const auto& each) { return each.first->agent_id > last_agent_; });
  std::rotate(connected.begin(), first, connected.end());
  for (const auto& [view, found] : connected) {
    // The prober decides only in next() whether the probe is a train, so both bounds must hold
    // before.
    if (pending_.size() >= options_.pending_max || pending_trains() >= options_.trains_max) {
      break;
    }
    if (pending_.contains(view->agent_id)) continue;
    std::optional<ProbeLink> probe = next(now_s, view->agent_id, *found, known(view->agent_id));
    if (!probe) continue;
    last_agent_ = view->agent_id;
    out.push_back(*std::move(probe));
  }
  return out;
}

LinkProbes::Outcome LinkProbes::take(double now_s, const ProbeEchoed& echo) {
  const auto agent = agents_.find(echo.agent_id);
  const auto found = pending_.find(echo.agent_id);
  if (found == pending_.end() || found->second.probe != echo.probe) {
    const bool late = agent != agents_.end() && agent->second.given_up_probe == echo.probe;
    return late ? EchoFault::late : EchoFault::unasked;
  }
  PendingProbe& probe = found->second;
  const bool padded = probe.direction == ProbeDirection::up;
  if (echo.count != probe.parts.size() || echo.index >= probe.parts.size() ||
      (padded && echo.bytes < probe.padding_bytes)) {
    return EchoFault::other_train;
  }
  if (probe.answered_at_ns[echo.index] != 0) return EchoFault::repeated;
  if (echo.answered_at_ns == 0) return EchoFault::no_time;
  probe.answered_at_ns[echo.index] = echo.answered_at_ns;
  ProbePart& part = probe.parts[echo.index];
  if (padded) {
    part = {.bytes = static_cast<double>(echo.bytes),
            .at_ns = echo.waited_for ? static_cast<std::uint64_t>(echo.at_ns) : 0};
  } else {
    part = {.bytes = static_cast<double>(probe.padding_bytes), .at_ns = echo.received_at_ns};
  }
  if (++probe.answered < probe.parts.size()) return {};
  const PendingProbe whole = std::move(probe);
  pending_.erase(found);
  if (agent != agents_.end()) agent->second.prober.answered();
  return finished(now_s, echo.agent_id, whole, echo);
}

LinkProbes::Outcome LinkProbes::finished(double now_s, const std::string& agent_id,
                                         const PendingProbe& probe, const ProbeEchoed& last) {
  if (probe.direction == ProbeDirection::round_trip) return round_trip(probe, last);
  std::optional<LinkTransfer> transfer = transfer_of(probe.parts);
  const auto agent = agents_.find(agent_id);
  const auto too_short = [&](EchoFault fault) {
    if (agent != agents_.end()) {
      agent->second.train_bytes_min[place_of(probe.direction)] =
          kLonger * static_cast<double>(probe.parts.size()) * probe.padding_bytes;
    }
    return fault;
  };
  if (!transfer) return too_short(EchoFault::bunched);
  if (probe.direction == ProbeDirection::up) {
    const std::uint64_t began = probe.answered_at_ns.front();
    const std::uint64_t ended = probe.answered_at_ns.back();
    if (ended < began) return EchoFault::no_time;
    if (static_cast<double>(ended - began) / kNsPerS > kSendingShareMax * transfer->seconds) {
      return too_short(EchoFault::paused);
    }
  }
  transfer->at_s = now_s;
  return Reading{.direction = probe.direction, .transfer = *transfer};
}

// Subtracts the time that the agent held the message, if it is known. An echo that waited to be
// read only makes the round trip longer.
LinkProbes::Outcome LinkProbes::round_trip(const PendingProbe& probe,
                                           const ProbeEchoed& echo) const {
  const double at_s = static_cast<double>(echo.at_ns) / kNsPerS;
  const double away_s = at_s - probe.sent_s;
  double held_s = 0;
  if (echo.received_at_ns != 0) {
    if (echo.answered_at_ns < echo.received_at_ns) return EchoFault::no_time;
    held_s = static_cast<double>(echo.answered_at_ns - echo.received_at_ns) / kNsPerS;
  }
  if (held_s >= away_s) return EchoFault::no_time;
  // The nominal size of a heartbeat, so that both kinds of reading are comparable.
  return Reading{
      .direction = ProbeDirection::round_trip,
      .transfer = {
          .kind = TransferKind::round_trip, .bytes = 1, .seconds = away_s - held_s, .at_s = at_s}};
}

double LinkProbes::probe_bytes(const std::string& agent_id) const {
  const auto found = agents_.find(agent_id);
  return found == agents_.end() ? 0 : found->second.prober.probe_bytes();
}

double LinkProbes::budget_bytes(const std::string& agent_id, double now_s) const {
  const auto found = agents_.find(agent_id);
  return found == agents_.end() ? 0 : found->second.prober.budget_bytes(now_s);
}

}  // namespace tributary
