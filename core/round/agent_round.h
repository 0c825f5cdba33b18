// A round as an agent sees it: what it has encoded, and what has come back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/round/codec_trials.h"
#include "core/round/conversation.h"
#include "core/round/outgoing.h"
#include "core/round/peer_round.h"
#include "core/round/reassembly.h"
#include "core/round/residual_account.h"
#include "core/round/round_plan.h"

namespace tributary {

// Encoders with what they remember. One that all agents must remember alike (conserves()) begins
// anew with every epoch, because members come with empty memories; a private memory stays.
class EncoderShelf {
 public:
  Encoder& get(const PlannedBucket& bucket, std::uint32_t epoch);
  Encoder* find(const PlannedBucket& bucket);
  void clear() { encoders_.clear(); }

 private:
  struct Kept {
    std::shared_ptr<const Codec> codec;
    std::uint64_t first_value = 0;
    std::uint32_t values = 0;
    std::uint32_t epoch = 0;
    std::unique_ptr<Encoder> encoder;
  };
  std::map<std::uint32_t, Kept> encoders_;  // by bucket
};

struct BucketWork {
  std::uint32_t encoded = 0;                     // stages
  bool failed = false;                           // could not be encoded
  bool contributed = false;                      // the last stage's payload was made
  std::vector<SharedBytes> combined;             // of the stages that are closed, in order
  std::map<std::uint32_t, Reassembly> arriving;  // by stage; may be ahead
  std::map<std::uint32_t, SharedBytes> ahead;    // whole, but of a stage behind a missing one

  std::vector<ByteSpan> spans(std::size_t count) const {
    std::vector<ByteSpan> all;
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(*combined[i]);
    return all;
  }
};

// Where a round has several exchanges: how far this agent has gone ahead of the last commit.
struct AheadOfCommit {
  std::shared_ptr<FloatVector> model;
  std::unique_ptr<ModelRule> rule;
  std::shared_ptr<FloatVector> input;  // what was left over, and then with the next update in it
};

class AgentRound {
 public:
  // It follows the round, unless it takes part.
  explicit AgentRound(std::shared_ptr<const RoundPlan> plan)
      : plan_(std::move(plan)), work_(plan_->buckets().size()) {}
  void take_part_as(std::uint32_t member) { member_ = member; }

  const RoundPlan& plan() const { return *plan_; }
  const std::shared_ptr<const RoundPlan>& shared_plan() const { return plan_; }
  const RoundKey& key() const { return plan_->key(); }
  std::optional<std::uint32_t> member() const { return member_; }  // none: it only follows
  std::optional<std::uint32_t> rank() const {
    return member_ ? plan_->rank(*member_) : std::nullopt;
  }
  std::vector<BucketWork>& work() { return work_; }
  const std::vector<BucketWork>& work() const { return work_; }

  // Takes a part of an aggregate. True when a stage of the bucket has become whole.
  Result<bool> take(const wire::Part& part, ByteSpan payload);
  // The part that is wanted next of a bucket, if its stages up to the last are not all there.
  std::optional<wire::ReceiptT> missing(std::uint32_t bucket) const;
  std::uint64_t bytes() const;

  Outgoing outgoing;
  bool working = false;  // its update is there, and is being encoded
  bool withdrawn = false;
  bool reported = false;
  TimeNs reported_at_ns = 0;
  TimeNs encode_ns = 0;
  TimeNs decode_ns = 0;        // of results, and of making the next model with them
  std::uint64_t bytes_up = 0;  // of payloads, also those that were sent again
  std::uint64_t bytes_down = 0;
  bool residual_stored = false;
  bool saving = false;  // a ContributionRecord is on its way
  // Of the last stage, by bucket.
  using LastPayloads = std::vector<std::pair<std::uint32_t, SharedBytes>>;
  std::vector<ContributionPart> unsaved;  // what belongs to `unsent`, where there is a residual
  LastPayloads unsent;                    // to be stored first
  LastPayloads storing;                   // are sent when that is done
  std::unique_ptr<PeerRound> peers;       // while it is under way
  std::uint64_t results_hash = 0;         // of what it came to
  std::uint32_t exchange = 0;             // of the round's
  std::unique_ptr<AheadOfCommit> ahead;
  bool prepared = false;              // and what is left behind is stored
  std::optional<CodecTrials> trials;  // that the plan asks for
  TimeNs ask_at_ns = kNever;
  TimeNs ask_wait_ns = 0;
  bool asks_by_commit = false;  // for what a commit needs

 private:
  std::shared_ptr<const RoundPlan> plan_;
  std::optional<std::uint32_t> member_;
  std::vector<BucketWork> work_;
};

}  // namespace tributary
