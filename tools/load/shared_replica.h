// The values that are equal for all agents of a load generator, stored once: the job, the model,
// the received aggregates, and the encoded updates.
//
// A thousand replicas would take a thousand times the model's memory, and a thousand encoders a
// thousand times the work. The coordinator cannot tell the difference.
//
// Every agent still receives and verifies each byte that it reports: received bytes are compared
// with those of other agents. A difference is an error (mismatch).
//
// Threads: all methods are thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/encoder_cache.h"
#include "core/round/common/machine/reassembly.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// A payload that every agent receives.
class SharedPayload {
 public:
  explicit SharedPayload(std::uint64_t bytes) : bytes_(bytes) {}

  // Adds a part. Returns an error if another agent received other bytes or a payload of another
  // size.
  Status take(std::uint64_t payload_bytes, std::uint64_t offset, ByteSpan part);
  // Returns null until the payload is complete.
  SharedBytes whole();

 private:
  std::mutex mutex_;
  Reassembly bytes_;
  SharedBytes whole_;
};

// The values are shared and must not be changed in place.
struct SharedModel {
  ModelId id;
  std::shared_ptr<FloatVector> values;  // null: none
};

// Identifies an update that several agents send: one of the synthetic updates, and the share that
// they keep.
struct SharedUpdate {
  std::uint32_t number = 0;
  double keep = 1;
  auto operator<=>(const SharedUpdate&) const = default;
};

// One attempt of one round.
struct SharedRound {
  // The plan as the first agent received it. Its weight and ratios are those of that agent.
  std::shared_ptr<const RoundPlan> plan;

  std::mutex mutex;  // protects the members below
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<SharedPayload>> combined;
  // By update, bucket and stage.
  std::map<std::tuple<SharedUpdate, std::uint32_t, std::uint32_t>, SharedBytes> encoded;
  std::optional<SharedModel> after;
};

class SharedReplica {
 public:
  // Agents take the synthetic updates in turn. They are few, so that each is encoded only once; a
  // codec whose payload depends on the sender gets one update per agent.
  SharedReplica(std::uint64_t parameters, std::uint32_t agents)
      : values_(parameters), agents_(agents) {}

  // Takes the job's definition. A known revision is ignored.
  Status take_job(const wire::Job& job);
  // Unpacks a plan, with the weight and ratios of the agent that received it. Codecs are shared.
  Result<std::shared_ptr<const RoundPlan>> plan_of(const wire::Plan& plan);
  // Returns the shared state of the plan's attempt.
  std::shared_ptr<SharedRound> round_of(const std::shared_ptr<const RoundPlan>& plan);

  // Returns the memory of an offered model; and the model, once all bytes have arrived.
  std::shared_ptr<SharedPayload> place_of(const wire::TransferOfferT& offer);
  Result<SharedModel> take_model(const wire::TransferOfferT& offer, const SharedBytes& bytes);

  // Returns the memory of a stage's combined payload, made on the first call.
  static std::shared_ptr<SharedPayload> place_of(SharedRound& round, std::uint32_t bucket,
                                                 std::uint32_t stage, std::uint64_t bytes);

  struct Sender {
    std::uint32_t number = 0;  // index among the agents that share the replica
    std::uint32_t rank = 0;
    double keep = 1;  // of this agent's own plan
  };
  // Returns the payload that the agent sends. `combined` holds the combined payloads of the earlier
  // stages. Null: the agent sends nothing.
  Result<SharedBytes> payload(SharedRound& round, const Sender& sender, std::uint32_t bucket,
                              const std::vector<SharedBytes>& combined);

  // Returns the model after the commit. It is computed once, by the code of every replica, from the
  // aggregates of the first agent that asks. The aggregates of the others are known to be equal.
  Result<SharedModel> apply(SharedRound& round, const wire::CommitT& commit,
                            const AgentRound& received);

 private:
  static constexpr std::uint32_t kUpdates = 2;

  std::uint32_t updates_of(const Codec& codec) const;
  std::span<const float> update(std::uint32_t number);
  void forget_shares(const SharedRound& round);

  const std::uint64_t values_;
  const std::uint32_t agents_;
  std::mutex mutex_;
  std::shared_ptr<const JobModel> job_;
  std::unique_ptr<ModelRule> rule_;
  SharedModel model_;
  FloatVector scratch_;
  CodecCache codecs_;
  std::vector<FloatVector> made_up_;
  std::map<SharedUpdate, EncoderCache> encoders_;  // of the newest round, or without a ratio
  std::shared_ptr<SharedRound> round_;             // the newest round
  std::pair<std::uint64_t, std::shared_ptr<SharedPayload>> offered_;  // by the hash of the bytes
};

}  // namespace tributary
