// Fixtures for tests of an agent's parts without a federation: a context, a session, a small job
// and its plans, messages as the coordinator sends them, and the messages and records that came
// out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/common/plan/plan_builder.h"
#include "schemas/frame.h"

namespace tributary::round_testing {

inline constexpr std::uint64_t kSmallValues = 128;
inline constexpr std::uint32_t kBucketValues = 64;  // the least that a bucket can be planned with
inline constexpr std::uint64_t kSession = 5;
inline constexpr TimeNs kAckNs = 100 * kNsPerMs;

// A message as it stands in a frame.
template <typename Message>
class Packed {
 public:
  explicit Packed(const typename Message::NativeTableType& native) {
    builder_.Finish(Message::Pack(builder_, &native));
  }
  const Message& operator*() const {
    return *flatbuffers::GetRoot<Message>(builder_.GetBufferPointer());
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

inline wire::JobT small_job(std::uint64_t job = 1) {
  wire::JobT made;
  made.job = job;
  made.revision = 1;
  made.name = "small";
  made.state = wire::JobState::running;
  made.mode = wire::ExchangeMode::delta;
  made.rounds = 100;
  made.weighting = wire::Weighting::equal;
  made.model = std::make_unique<wire::ModelT>();
  made.model->kind = wire::ModelKind::built_in;
  made.model->name = "none";
  made.layer_map = wire_layers(*LayerMap::make({{.name = "v", .shape = {kSmallValues}}}));
  made.optimizer = std::make_unique<wire::OptimizerT>();
  made.optimizer->kind = wire::OptimizerKind::sgd;
  return made;
}

inline std::shared_ptr<FloatVector> all(float value) {
  return std::make_shared<FloatVector>(kSmallValues, value);
}

// One value for each bucket.
inline FloatVector by_bucket(float first, float second) {
  FloatVector values = *all(first);
  std::fill(values.begin() + kBucketValues, values.end(), second);
  return values;
}

// How a test's plan differs from the usual one.
struct Planned {
  std::string codec = "fp32";
  std::uint32_t members = 2;
  wire::Collective collective = wire::Collective::star;
  std::uint32_t exchanges = 1;
  std::uint32_t attempt = 0;
  std::vector<std::string> trials = {};
  double weight = 1;
};

// The parts of an agent that every other part needs.
struct AgentParts {
  AgentContext context;
  ClientSession session{context};
  Replica replica{context};
  CodecCache codecs;

  AgentParts() : context(config()) {}
  static AgentConfig config() {
    AgentConfig made;
    made.agent_id = "a";
    return made;
  }

  void open_session(std::uint64_t id = kSession) {
    session.open(id, {.heartbeat_interval_ns = 10 * kAckNs,
                      .heartbeat_timeout_ns = 100 * kAckNs,
                      .ack_timeout_ns = kAckNs,
                      .retries_max = 3});
  }
  // A replica of version `version` whose values are all `value`.
  void have_model(std::uint64_t version = 0, float value = 0) {
    ASSERT_TRUE(replica.take(*Packed<wire::Job>(small_job())).ok());
    const auto model = all(value);
    const ModelId id = {.version = version, .hash = model_hash_of(*model)};
    ASSERT_TRUE(replica.adopt({.id = id, .model = model, .rule_state = {}}).ok());
  }

  // Two buckets, in epoch 1.
  wire::PlanT plan(std::uint64_t round, const Planned& planned) {
    RoundPolicy policy;
    policy.codec = planned.codec;
    policy.bucket_values_max = kBucketValues;
    policy.collective = wire::Collective::star;
    const RoundKey key = {.job = 1, .round = round, .epoch = 1, .attempt = planned.attempt};
    Result<wire::PlanT> made = build_plan(*replica.job(), policy, codecs,
                                          {.key = key,
                                           .model_hash = replica.id().hash,
                                           .participants = Bitmap(planned.members, true),
                                           .weights = std::vector<double>(planned.members, 1.0),
                                           .payload_bytes = 1024,
                                           .collective = planned.collective,
                                           .exchanges_per_round = planned.exchanges,
                                           .trials = planned.trials,
                                           .trial_s = 1});
    EXPECT_TRUE(made.ok()) << made.status().text();
    made->weight = planned.weight;
    return std::move(*made);
  }
  std::shared_ptr<const RoundPlan> round_plan(std::uint64_t round, const Planned& planned = {}) {
    auto made = RoundPlan::make(plan(round, planned), *replica.job(), codecs);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return *made;
  }

  // Everything since the last call: what was sent, and the other actions.
  Actions take() { return context.out.take(); }
  // The messages of this kind among what was sent since the last call of take() or sent().
  template <typename MessageT>
  std::vector<MessageT> sent() {
    std::vector<MessageT> found;
    for (const Action& action : take()) {
      const auto* send = std::get_if<Send>(&action);
      if (!send) continue;
      Bytes aligned;
      const Result<const wire::Frame*> frame = open_frame(send->frame, aligned);
      EXPECT_TRUE(frame.ok()) << frame.status().text();
      wire::FrameT unpacked;
      (*frame)->UnPackTo(&unpacked);
      if (unpacked.message.type != wire::MessageUnionTraits<MessageT>::enum_value) continue;
      found.push_back(*static_cast<const MessageT*>(unpacked.message.value));
    }
    return found;
  }
  // Stores what waits to be stored, and returns it.
  std::vector<AgentRecordToStore> store_all() {
    std::vector<AgentRecordToStore> stored;
    while (!context.store.empty()) {
      Actions asked;
      context.store.pump(context.now, asked);
      auto& store = std::get<StoreAgent>(asked.front());
      stored.push_back(std::move(store.record));
      context.store.stored(context.now, Stored{.token = store.token, .status = {}},
                           context.out.all());
    }
    return stored;
  }
};

inline int notes(const Actions& actions, std::string_view name) {
  return static_cast<int>(std::ranges::count_if(actions, [&](const Action& action) {
    const auto* note = std::get_if<Note>(&action);
    return note && note->name == name;
  }));
}

template <typename Kind>
int count(const Actions& actions) {
  return static_cast<int>(std::ranges::count_if(
      actions, [](const Action& action) { return std::holds_alternative<Kind>(action); }));
}

}  // namespace tributary::round_testing
