// What all agents of a load generator have alike, kept once for all of them: the job, the model,
// the aggregates that come back, and what is made of an update. A thousand replicas of a model are
// a thousand times its size, and a thousand encoders a thousand times their work; the coordinator
// can tell neither from here.
//
// Every agent has received, and verified, every byte that it says it has: what another agent has
// received before is compared with that.
//
// Threads: any.
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

// A payload that comes to every agent.
class SharedPayload {
 public:
  explicit SharedPayload(std::uint64_t bytes) : bytes_(bytes) {}

  // An error if another agent was sent other bytes, or a payload of another size.
  Status take(std::uint64_t payload_bytes, std::uint64_t offset, ByteSpan part);
  // Null until it is whole.
  SharedBytes whole();

 private:
  std::mutex mutex_;
  Reassembly bytes_;
  SharedBytes whole_;
};

// Nobody changes the values in place.
struct SharedModel {
  ModelId id;
  std::shared_ptr<FloatVector> values;  // null: none
};

// What several agents send alike: one of the made-up updates, and how much of it they keep.
struct SharedUpdate {
  std::uint32_t number = 0;
  double keep = 1;
  auto operator<=>(const SharedUpdate&) const = default;
};

// One attempt at a round.
struct SharedRound {
  // As the first agent was sent it: the weight and the shares are that agent's own.
  std::shared_ptr<const RoundPlan> plan;

  std::mutex mutex;  // of what follows
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<SharedPayload>> combined;
  // By what is encoded, bucket and stage.
  std::map<std::tuple<SharedUpdate, std::uint32_t, std::uint32_t>, SharedBytes> encoded;
  std::optional<SharedModel> after;
};

class SharedReplica {
 public:
  // Made-up updates, which agents take in turn: few enough to be encoded once in a while, and one
  // for each agent where a payload depends on who sends it.
  SharedReplica(std::uint64_t parameters, std::uint32_t agents)
      : values_(parameters), agents_(agents) {}

  Status take_job(const wire::Job& job);
  // A plan as one agent was sent it, with that agent's weight and shares. Codecs are shared.
  Result<std::shared_ptr<const RoundPlan>> plan_of(const wire::Plan& plan);
  std::shared_ptr<SharedRound> round_of(const std::shared_ptr<const RoundPlan>& plan);

  // The place of an offered model; and the model, once that is whole.
  std::shared_ptr<SharedPayload> place_of(const wire::TransferOfferT& offer);
  Result<SharedModel> take_model(const wire::TransferOfferT& offer, const SharedBytes& bytes);

  static std::shared_ptr<SharedPayload> place_of(SharedRound& round, std::uint32_t bucket,
                                                 std::uint32_t stage, std::uint64_t bytes);

  struct Sender {
    std::uint32_t number = 0;  // among those who share
    std::uint32_t rank = 0;
    double keep = 1;  // of its own plan's bucket, which is not the others'
  };
  // What it sends. `combined` are the stages before. Null: nothing.
  Result<SharedBytes> payload(SharedRound& round, const Sender& sender, std::uint32_t bucket,
                              const std::vector<SharedBytes>& combined);

  // The model after the commit: made once, by the code that every replica has, from the aggregates
  // that the first agent has received. The later ones have received the same.
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
  std::map<SharedUpdate, EncoderCache> encoders_;  // of the newest round, or without shares
  std::shared_ptr<SharedRound> round_;             // the newest
  std::pair<std::uint64_t, std::shared_ptr<SharedPayload>> offered_;  // by the bytes' hash
};

}  // namespace tributary
