// Makes and gives an agent's contribution to an attempt by the star: encodes each bucket stage by
// stage as the stages before it close, stores the residual that the contribution would leave, and
// only then uploads the last stage.
//
// The caller begins with a round that outlives the call of end(), in which this agent has a rank
// and its updates hold the round's update, or the end of it that a bucket needs. A bucket that
// cannot be encoded withdraws the agent from the attempt. What it works with is borrowed and
// outlives it.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/replica/local_updates.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/encoder_cache.h"
#include "core/round/agent/round/round_upload.h"
#include "core/round/agent/round/round_withdrawal.h"

namespace tributary {

class Contribution {
 public:
  // The inputs and the targets of a contribution; `scratch` is used within calls only.
  struct Parts {
    LocalUpdates& updates;
    EncoderCache& encoders;
    RoundUpload& upload;
    const RoundWithdrawal& withdrawal;
    FloatVector& scratch;
  };
  // `stored` is called when encoded buckets are stored and have gone to the upload.
  Contribution(AgentContext& context, const Parts& parts, std::function<void()> stored)
      : context_(context), parts_(parts), stored_(std::move(stored)) {}

  void begin(AgentRound& round);
  // Payloads that are not stored yet are not sent.
  void end();

  // --- while a round has begun ---
  // The whole update is there.
  void encode_all();
  // The end of the update is there, and the residual has changed with it.
  void encode_ready();
  // A stage of the bucket has closed.
  void encode_next(std::uint32_t bucket);
  // Whether the bucket's values are final.
  bool has_input(const PlannedBucket& bucket) const;

  // Everything that was encoded has been stored.
  bool all_stored() const { return !saving_ && unsent_.empty(); }

 private:
  // Payloads of last stages, by bucket.
  using LastPayloads = std::vector<std::pair<std::uint32_t, SharedBytes>>;

  void encode(std::uint32_t bucket);
  void encode_stages(std::uint32_t bucket);
  Status encode_stage(const PlannedBucket& bucket, BucketWork& work, std::uint32_t stage);
  Result<ContributionPart> part_of(const PlannedBucket& bucket, const StageCall& call,
                                   const Bytes& payload);
  void save();
  void saved();
  void send(const LastPayloads& payloads);

  AgentContext& context_;
  const Parts parts_;
  const std::function<void()> stored_;
  AgentRound* round_ = nullptr;            // null: none has begun
  bool residual_stored_ = false;           // as it is now
  bool saving_ = false;                    // a ContributionRecord is being stored
  std::vector<ContributionPart> unsaved_;  // what belongs to unsent_, where there is a residual
  LastPayloads unsent_;                    // to be stored first
  LastPayloads storing_;                   // are sent when that is done
};

}  // namespace tributary
