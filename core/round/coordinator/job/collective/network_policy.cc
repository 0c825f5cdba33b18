#include "core/round/coordinator/job/collective/network_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/common/plan/plan_builder.h"

namespace tributary {
namespace {

// Quota of a job, if the aggregator has as many slots. At 1 Gbit/s a round trip of 1 ms holds 120
// chunks, and a lost one keeps its slot for more than two round trips, in which the others go on.
constexpr std::uint32_t kJobSlots = 512;
constexpr std::uint32_t kJobSlotsMin = 8;
// Answers in a row that refuse an epoch. Each raises its number or lowers the quota.
constexpr std::uint32_t kEpochRefusalsMax = 16;
// A round waits for the aggregator's answer for this multiple of the acknowledgement timeout.
constexpr TimeNs kWaitAckTimeouts = 4;

}  // namespace

// The session in use, or else the first one of an aggregator.
AgentSession* NetworkPolicy::aggregator() const {
  Roster& roster = job_.coordinator.roster;
  if (AgentSession* const session = roster.by_session(session_); session && !session->leaving) {
    return session;
  }
  for (const auto& [number, session] : roster.all()) {
    if (session->is_aggregator() && !session->leaving) return session.get();
  }
  return nullptr;
}

std::string NetworkPolicy::why_not(const Membership& membership) const {
  const AgentSession* const session = aggregator();
  if (!session) return "no aggregator is connected";
  if (membership.size() < 2) return "there is only one agent";
  if (membership.size() > wire::kSummedAgentsMax) {
    return fmt::format("there are more than {} agents", wire::kSummedAgentsMax);
  }
  const auto build_of = [this](const Membership::Member& member) {
    const AgentSession* const agent = job_.coordinator.roster.by_agent(member.agent_id);
    return agent && !agent->build.empty() ? agent->build : std::string("unknown");
  };
  const bool small = session->packet_values > 0 && session->packet_values < wire::kPacketValuesMax;
  for (const Membership::Member& member : membership.members()) {
    if (!member.sums_in_network) {
      return fmt::format(
          "{} (build {}) cannot exchange with an aggregator; set in_network.listen there, after an "
          "update if its release does not have it",
          member.agent_id, build_of(member));
    }
    if (small && !member.sizes_packets) {
      return fmt::format(
          "{} (build {}) sends {} values in a packet, and the aggregator takes {} at most; update "
          "that agent",
          member.agent_id, build_of(member), wire::kPacketValuesMax, session->packet_values);
    }
  }
  return {};
}

bool NetworkPolicy::reachable(const Membership& membership, std::uint64_t round) const {
  return pause_.over(round) && why_not(membership).empty();
}

void NetworkPolicy::prepare(const RoundPolicy& policy, const Membership& membership,
                            const Bitmap& participants) {
  if (policy.collective != wire::Collective::in_network || !membership.epoch()) return;
  Required required{.members_epoch = membership.epoch_number(),
                    .codec = policy.codecs.empty() ? policy.codec : policy.codecs[0],
                    .contributors = membership.without_late(participants)};
  const std::uint32_t agents = required.agents();
  why_not_ = why_not(membership);
  if (why_not_.empty() && agents < std::max(2u, quorum_of(policy, participants.count()))) {
    why_not_ = fmt::format("{} agents are in time, fewer than the quorum", agents);
  }
  if (!why_not_.empty()) {
    state_ = State::none;
    return;
  }
  AgentSession& session = *aggregator();
  const bool same = required == required_ && session_ == session.conversation.session();
  if (state_ != State::none && same) return;
  const Result<std::string> codec = thc::network_codec(required.codec, agents);
  const Result<thc::NetworkTable> table =
      codec.ok() ? thc::network_table(*codec, agents) : Result<thc::NetworkTable>(codec.status());
  if (!table.ok()) {
    state_ = State::none;
    why_not_ = table.status().text();
    return;
  }
  required_ = std::move(required);
  table_ = *table;
  session_ = session.conversation.session();
  slots_ = std::min(kJobSlots, session.aggregator_slots);
  packet_values_ = session.packet_values;
  refusals_ = 0;
  // A change while the answer is awaited does not make the round wait longer.
  if (state_ != State::asked) {
    wait_ends_ns_ =
        job_.coordinator.now + kWaitAckTimeouts * job_.coordinator.config.ack_timeout_ms * kNsPerMs;
  }
  install();
}

void NetworkPolicy::install() {
  state_ = State::asked;
  why_not_ = "the aggregator has not installed the epoch yet";
  ++epoch_;
  aggregator()->conversation.ask(
      job_.coordinator.now,
      [job = job_.id(), handle = handle(), epoch = epoch_, agents = required_.agents(),
       table = table_, slots = slots_, packet_values = packet_values_] {
        wire::InstallEpochT install;
        install.job = job;
        install.handle = handle;
        install.epoch = epoch;
        install.agents = agents;
        install.granularity = table.granularity;
        install.places.assign(table.places.begin(), table.places.end());
        install.table = table.fingerprint;
        install.slot_count = slots;
        install.packet_values = packet_values;
        return frame_with(std::move(install));
      },
      job_.coordinator.out);
}

void NetworkPolicy::receive(const AgentSession& session, const wire::EpochInstalled& answer) {
  const bool current = state_ == State::asked && session.conversation.session() == session_ &&
                       answer.epoch() == epoch_;
  if (!current) return;
  CoordinatorContext& context = job_.coordinator;
  const std::string text = answer.text() ? answer.text()->str() : std::string();
  if (answer.installed()) {
    state_ = State::installed;
    why_not_.clear();
    return context.note(
        LogLevel::info, "epoch_installed", "in_network", session.agent_id,
        fmt::format("epoch {} of {} agents, {} slots", epoch_, required_.agents(), slots_),
        {.job = job_.id()});
  }
  const bool used = answer.epoch_highest() >= epoch_ && answer.epoch_highest() < UINT32_MAX;
  const bool fewer = !used && slots_ / 2 >= kJobSlotsMin;
  if (used) epoch_ = answer.epoch_highest();
  if (fewer) slots_ /= 2;
  if ((used || fewer) && ++refusals_ <= kEpochRefusalsMax) return install();
  state_ = State::refused;
  why_not_ = "the aggregator refuses: " + text;
  context.note(LogLevel::warning, "epoch_refused", "in_network", session.agent_id, text,
               {.job = job_.id()});
}

bool NetworkPolicy::left(const AgentSession& session) {
  if (session.conversation.session() != session_) return false;
  session_ = 0;
  const bool in_force = std::exchange(state_, State::none) == State::installed;
  why_not_ = "no aggregator is connected";
  return in_force;
}

void NetworkPolicy::end() {
  const std::uint16_t released = handle();
  job_.coordinator.sum_handles.release(job_.id());
  AgentSession* const session = job_.coordinator.roster.by_session(session_);
  if (state_ == State::none || !session) return;
  state_ = State::none;
  why_not_ = "the job is over";
  session->conversation.ask(
      job_.coordinator.now,
      [job = job_.id(), released] {
        wire::InstallEpochT install;
        install.job = job;
        install.handle = released;
        install.remove = true;
        return frame_with(std::move(install));
      },
      job_.coordinator.out);
}

bool NetworkPolicy::waits(std::uint64_t round) const {
  return state_ == State::asked && pause_.over(round) && job_.coordinator.now < wait_ends_ns_;
}

wire::Collective NetworkPolicy::choose(const CollectiveParticipants& participants,
                                       std::uint64_t round, std::string& reason) const {
  if (!pause_.over(round)) {
    reason = fmt::format("Use the star: in_network failed and is tried again in round {}",
                         pause_.from_round());
  } else if (state_ != State::installed) {
    reason = "Use the star: " + why_not_;
  } else if (participants.prompt != required_.agents()) {
    reason = "Use the star: the aggregator's epoch is for other agents";
  } else if (participants.some_late && round % kLateRounds == 0) {
    reason = "Use the star: late agents can only contribute by the star, every fourth round";
  } else {
    return wire::Collective::in_network;
  }
  return wire::Collective::star;
}

NetworkPolicy::Epoch NetworkPolicy::epoch() const {
  Epoch epoch;
  epoch.aggregator = job_.coordinator.roster.by_session(session_)->endpoint;
  epoch.sums.handle = handle();
  epoch.sums.epoch = epoch_;
  epoch.sums.agents = required_.agents();
  epoch.sums.slot_count = slots_;
  epoch.sums.packet_values = packet_values_;
  epoch.sums.table = table_.fingerprint;
  epoch.sums.wide = table_.wide;
  epoch.sums.check_secret = job_.coordinator.draw_check_secret();
  return epoch;
}

void NetworkPolicy::failed(std::uint64_t round) {
  pause_.failed(round);
  left_some_out();
}

// Slots hold parts of the sums of the attempt, so a new epoch is due after each.
void NetworkPolicy::left_some_out() {
  if (state_ == State::installed) state_ = State::none;
}

}  // namespace tributary
