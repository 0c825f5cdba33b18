// One job of a coordinator, for unit tests of the objects that make up JobRun.
//
// The fixture has no federation: a test puts sessions into the state that it needs, calls the
// object under test, and reads messages and notes from the coordinator's actions.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/common/machine/packed_testing.h"
#include "core/round/common/machine/part_message.h"
#include "core/round/common/plan/plan_builder.h"
#include "core/round/common/plan/small_job_testing.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary::round_testing {

inline std::unique_ptr<wire::RoundId> wire_id_of(const RoundKey& key) {
  return std::make_unique<wire::RoundId>(wire_id(key));
}

// Describes the part of `payload` from `offset` on, at most `size` bytes.
inline wire::PartT part_of(const RoundKey& key, std::uint32_t bucket, std::uint32_t stage,
                           ByteSpan payload, std::uint64_t offset = 0,
                           std::uint64_t size = UINT32_MAX) {
  const ByteSpan rest = payload.subspan(offset);
  return *describe_part(key, bucket, stage, payload.size(), offset,
                        {.owner = nullptr, .bytes = rest.first(std::min(size, rest.size()))});
}

// The payload of a member for a bucket whose values are all `value`. `combined` holds the combined
// payloads of the earlier stages.
inline Bytes payload_of(const RoundPlan& plan, std::uint32_t bucket, std::uint32_t member,
                        float value, std::span<const ByteSpan> combined = {}) {
  const PlannedBucket& planned = plan.buckets()[bucket];
  const FloatVector values(planned.values, value);
  Bytes payload;
  const Status status =
      planned.codec->make_encoder(planned.values)
          ->encode({.round = plan.context(planned, *plan.rank(member)), .combined = combined},
                   values, payload);
  EXPECT_TRUE(status.ok()) << status.text();
  return payload;
}

class JobTest : public testing::Test {
 protected:
  explicit JobTest(wire::JobT job = small_job())
      : job_{.coordinator = coordinator_,
             .record = {.job = kSmallJob, .state_reason = {}, .definition = {}, .policy = {}},
             .model = job_model(std::move(job))} {
    coordinator_.now = 1'000 * kNsPerMs;
  }

  RoundPolicy& policy() { return job_.record.policy; }

  // --- agents ---
  // Adds an agent that works for the job and has nothing of it yet.
  AgentSession& add_new_agent(const std::string& agent_id) {
    const std::uint64_t number = ++last_session_;
    const ConversationTimes times = {.heartbeat_interval_ns = 1'000 * kNsPerMs,
                                     .heartbeat_timeout_ns = 5'000 * kNsPerMs,
                                     .ack_timeout_ns = 250 * kNsPerMs,
                                     .retries_max = 8};
    AgentSession& session = coordinator_.roster.add(std::make_unique<AgentSession>(
        agent_id, number, Conversation(number, number, times, coordinator_.now)));
    session.run = kSmallJob;
    return session;
  }
  // Adds an agent that has the job and the model of this version.
  AgentSession& add_agent(const std::string& agent_id, std::uint64_t version = 0) {
    AgentSession& session = add_new_agent(agent_id);
    session.job = kSmallJob;
    session.synced = true;
    session.version = session.commit_sent = version;
    return session;
  }
  // Adds agents "agent-000" and so on, which become the members of a new epoch.
  void open_epoch(std::uint32_t agents, std::uint64_t version = 0) {
    for (std::uint32_t i = 0; i < agents; ++i) add_agent(fmt::format("agent-{:03}", i), version);
    membership_.open(version + 1);
  }
  AgentSession& member(std::uint32_t index) { return *membership_.session_of(index); }

  // --- plans ---
  // The plan of a round according to the job's policy, for all members.
  std::shared_ptr<const RoundPlan> make_plan(std::uint64_t round,
                                             const std::function<void(PlanRequest&)>& change = {}) {
    PlanRequest request{.key = {.job = kSmallJob,
                                .round = round,
                                .epoch = membership_.epoch_number(),
                                .attempt = 0},
                        .model_hash = 1,
                        .participants = Bitmap(membership_.size(), true),
                        .weights = membership_.weights(),
                        .payload_bytes = 1u << 20,
                        .payloads_in_flight_max = 4,
                        .collective = policy().collective};
    if (policy().collective == wire::Collective::in_network) add_sums(request);
    if (change) change(request);
    const auto wire = build_plan(*job_.model, policy(), coordinator_.cache, request);
    EXPECT_TRUE(wire.ok()) << wire.status().text();
    const auto plan = RoundPlan::make(*wire, *job_.model, coordinator_.cache);
    EXPECT_TRUE(plan.ok()) << plan.status().text();
    return *plan;
  }

  // The epoch of an aggregator in the network for all members.
  void add_sums(PlanRequest& request) {
    const auto agents = static_cast<std::uint32_t>(membership_.size());
    const auto table = thc::network_table(*thc::network_codec(policy().codec, agents), agents);
    EXPECT_TRUE(table.ok()) << table.status().text();
    request.aggregator = "10.0.0.1:4650";
    request.sums.epoch = 1;
    request.sums.agents = agents;
    request.sums.slot_count = 16;
    request.sums.table = table->fingerprint;
    request.sums.wide = table->wide;
    request.sums.check_secret = 9;
  }

  // --- actions of the coordinator ---
  template <typename ActionT>
  std::vector<ActionT> actions() const {
    std::vector<ActionT> found;
    for (const Action& action : coordinator_.out) {
      if (const auto* one = std::get_if<ActionT>(&action)) found.push_back(*one);
    }
    return found;
  }
  // All messages of one kind that were sent to a session.
  template <typename MessageT>
  std::vector<MessageT> sent(const AgentSession& to) const {
    std::vector<MessageT> messages;
    for (const Send& send : actions<Send>()) {
      if (send.peer != to.conversation.peer()) continue;
      const Result<const wire::Frame*> opened = open_frame(send.frame);
      EXPECT_TRUE(opened.ok()) << opened.status().text();
      wire::FrameT frame;
      (*opened)->UnPackTo(&frame);
      if (frame.message.type != wire::MessageUnionTraits<MessageT>::enum_value) continue;
      messages.push_back(*static_cast<const MessageT*>(frame.message.value));
    }
    return messages;
  }
  // The reasons of all notes with this name.
  std::vector<std::string> noted(std::string_view name) const {
    std::vector<std::string> reasons;
    for (const Note& note : actions<Note>()) {
      if (note.name == name) reasons.emplace_back(note.reason);
    }
    return reasons;
  }
  void forget_actions() { coordinator_.out.clear(); }

  CoordinatorContext coordinator_;
  JobContext job_;
  Membership membership_{job_, 0};

 private:
  std::uint64_t last_session_ = 100;
};

}  // namespace tributary::round_testing
