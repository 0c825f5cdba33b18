// Makes and sends an agent's contribution to an attempt by the star or in the network: encodes each
// bucket stage by stage as earlier stages close, stores the residual that the contribution would
// leave, and sends the last stage only after that.
//
// The caller begins with a round of the replica's model, which lives until end(). This agent must
// have a rank in it, and its updates must contain the round's update, or at least the part that a
// bucket needs. A bucket that cannot be encoded withdraws the agent from the attempt. All
// references must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/exchange/network_exchange.h"
#include "core/round/agent/participation/background_encoder.h"
#include "core/round/agent/participation/device_input.h"
#include "core/round/agent/replica/local_updates.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/encoder_cache.h"
#include "core/round/agent/round/round_upload.h"
#include "core/round/agent/round/round_withdrawal.h"

namespace tributary {

class Contribution {
 public:
  // The inputs and outputs of a contribution; `scratch` is used only within calls.
  struct Parts {
    const Replica& replica;
    LocalUpdates& updates;
    EncoderCache& encoders;
    RoundUpload& upload;
    NetworkExchange& network;  // takes the payloads that the coordinator does not add
    const RoundWithdrawal& withdrawal;
    FloatVector& scratch;
  };
  // `stored` is called when encoded buckets are stored and were passed to the upload.
  Contribution(AgentContext& context, const Parts& parts, std::function<void()> stored)
      : context_(context),
        parts_(parts),
        stored_(std::move(stored)),
        device_input_(parts.updates),
        background_(context, device_input_) {}

  // Begins a round.
  void begin(AgentRound& round);
  // Ends the round. Payloads that are not stored yet are not sent.
  void end();
  // The stage of the payload has closed before its upload was complete. If the bucket is the same
  // in the next round and its payload outlives this one, the upload continues there. Otherwise the
  // bucket's next payload is a standalone one, if the plan allows it.
  void cut_off(Outgoing::Payload payload);
  // The round that has begun ends without a commit. Perhaps its stages lacked the payloads that a
  // standalone one replaces, so the next attempt gets them.
  void failed();
  // The round that has begun is committed with these buckets of this agent. Their payloads are not
  // sent again.
  void committed(const Bitmap& counted);
  // Another job has begun.
  void forget();

  // --- while a round has begun ---
  // All buckets are to be encoded, some at a time, so that these are stored and sent while the next
  // ones are encoded. Requires the whole update.
  void start() { next_ = 0; }
  bool has_more() const {
    return round_ && !background_.running() && next_ < round_->work().size();
  }
  void encode_some();
  // Encodes the buckets whose values are final, after a part of the update was added to the
  // residual.
  void encode_ready();
  // Encodes the next stage of a bucket after a stage has closed.
  void encode_next(std::uint32_t bucket);
  // --- with AgentConfig::encodes_in_background ---
  // True while a bucket is being encoded.
  bool encoding() const { return background_.running(); }
  void take(const BackgroundDone& event);
  // Encodes all buckets that wait for it. Call it before the updates, the encoders or the round
  // change: in between, another thread reads them.
  void finish_encoding();
  // Continues with the next bucket if none is being encoded. After every event.
  void go_on();

  // True if the bucket's values are final.
  bool has_input(const PlannedBucket& bucket) const;

  // True if everything that was encoded is stored.
  bool all_stored() const { return !saving_ && unsent_.empty(); }

 private:
  using LastPayloads = std::vector<Outgoing::Payload>;
  // A payload whose upload a round has cut off.
  struct Carried {
    PlannedBucket bucket;
    Outgoing::Payload payload;
    // Number of updates in the residual that it encodes. A later one is encoded anew with the rest.
    std::uint64_t updates = 0;
  };

  // A stage that was encoded in the background; null: it is encoded within the call.
  using Encoded = BackgroundEncoder::Encoded;

  void encode(std::uint32_t bucket);
  void take_encoded();
  void encode_waiting();
  bool begin_in_background(const PlannedBucket& bucket, const BucketWork& work);
  bool encode_one(const PlannedBucket& bucket, BucketWork& work, Encoded* made);
  Result<Outgoing::Payload> make_payload(const PlannedBucket& bucket, const StageCall& call,
                                         Encoded* made);
  std::optional<Outgoing::Payload> take_carried(const PlannedBucket& bucket);
  Result<Outgoing::Payload> encode_payload(const PlannedBucket& bucket, const StageCall& call,
                                           Encoded* made);
  void drop_carried(std::uint32_t bucket);
  void encode_stages(std::uint32_t bucket);
  void drop_input(const PlannedBucket& bucket);
  Status encode_stage(const PlannedBucket& bucket, BucketWork& work, std::uint32_t stage,
                      Encoded* made);
  Result<ContributionPart> part_of(const PlannedBucket& bucket, const StageCall& call,
                                   const Outgoing::Payload& payload, Encoded* made);
  void save();
  void saved();
  void send(LastPayloads payloads);

  AgentContext& context_;
  const Parts parts_;
  const std::function<void()> stored_;
  DeviceInput device_input_;
  BackgroundEncoder background_;
  AgentRound* round_ = nullptr;               // null: none has begun
  std::size_t next_ = SIZE_MAX;               // the first bucket that start() has left to encode
  bool saving_ = false;                       // a ContributionRecord is being stored
  std::vector<ContributionPart> unsaved_;     // belong to unsent_, for buckets with a residual
  LastPayloads unsent_;                       // to be stored before they are sent
  LastPayloads storing_;                      // sent when the running record is stored
  std::map<std::uint32_t, Carried> carried_;  // by bucket
  std::set<std::uint32_t> late_;              // buckets whose last upload took longer than a round
  std::map<std::uint32_t, std::uint64_t> updates_encoded_;  // by bucket, in its last payload
  std::map<std::uint32_t, std::uint64_t> counted_last_;  // the last round that counted each bucket
};

}  // namespace tributary
