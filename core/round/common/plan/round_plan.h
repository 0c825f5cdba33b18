// A plan as both machines work with it: its codecs made, its buckets placed in the model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/round_key.h"
#include "core/round/common/plan/job_model.h"
#include "schemas/frame.h"

namespace tributary {

// That an agent, or each of several, may be told to keep so much of what `codec` encodes.
Status check_shares(const Codec& codec, wire::Collective collective,
                    std::span<const double> shares);

// Codecs are immutable: one of each spec is enough.
class CodecCache {
 public:
  Result<std::shared_ptr<const Codec>> get(const std::string& spec);

 private:
  static constexpr std::size_t kCodecsMax = 256;
  std::map<std::string, std::shared_ptr<const Codec>> codecs_;
};

struct PlannedBucket {
  std::uint32_t index = 0;     // among those of all exchanges
  std::uint32_t exchange = 0;  // of the round, in which it is
  std::uint32_t place = 0;     // among those of its exchange
  std::uint64_t first_value = 0;
  std::uint32_t values = 0;
  std::shared_ptr<const Codec> codec;
  std::uint32_t part_bytes = 0;
  double keep = 1;  // of its values, at most: this agent's own share (StageCall::keep)
  std::vector<LayerRun> layers;
  // Peers do not combine the payloads of the last stage: what counts is all of them
  // (core/collective/side_by_side.h).
  bool side_by_side = false;

  std::uint32_t stages() const { return static_cast<std::uint32_t>(codec->stages().size()); }
  std::uint32_t last_stage() const { return stages() - 1; }
  // A payload that claims to be larger is a lie.
  std::uint64_t stage_bytes_max(std::uint32_t agents) const;
  // Whether what is held back is kept in the residual of its coordinates.
  bool keeps_residual() const { return codec->conserves(); }
  bool keeps_error() const { return codec->lossy() && codec->conserves() && codec->contracts(); }
};

class RoundPlan {
 public:
  static Result<std::shared_ptr<const RoundPlan>> make(const wire::PlanT& plan, const JobModel& job,
                                                       CodecCache& cache);

  const RoundKey& key() const { return key_; }
  const wire::PlanT& wire() const { return wire_; }
  // Of all exchanges, one after the other.
  const std::vector<PlannedBucket>& buckets() const { return buckets_; }
  // How often the whole model is exchanged in the round, and the buckets of one of these times.
  std::uint32_t exchanges() const { return wire_.exchanges_per_round; }
  std::uint32_t buckets_each() const {
    return static_cast<std::uint32_t>(buckets_.size()) / exchanges();
  }
  std::span<const PlannedBucket> buckets_of(std::uint32_t exchange) const {
    return std::span(buckets_).subspan(std::size_t{exchange} * buckets_each(), buckets_each());
  }
  const Bitmap& participants() const { return participants_; }
  std::uint32_t agents() const { return agents_; }  // participants: agents in a codec's sense
  std::uint32_t members() const { return wire_.agents; }
  // A member's place among the participants, and whose place that is.
  std::optional<std::uint32_t> rank(std::uint32_t member) const;
  std::uint32_t member(std::uint32_t rank) const;
  wire::Collective collective() const { return collective_; }
  // Of a result that all participants are in.
  double divisor_of_all() const;
  // The participants exchange among themselves: all of them are in the result, or there is none.
  bool by_peers() const { return collective_ != wire::Collective::star; }
  // By peers: who gives the bucket's result to the coordinator. They all have it; they take turns.
  std::uint32_t uploader(std::uint32_t bucket) const { return member(bucket % agents_); }
  bool conserves() const;

  // Of a bucket; `rank` is of no matter to who aggregates or decodes an aggregate.
  RoundContext context(const PlannedBucket& bucket, std::uint32_t rank = 0) const;

 private:
  RoundPlan() = default;

  RoundKey key_;
  wire::PlanT wire_;
  std::vector<PlannedBucket> buckets_;
  Bitmap participants_;
  std::uint32_t agents_ = 0;
  wire::Collective collective_ = wire::Collective::star;
};

// What a committed round did to one bucket.
struct CommittedBucket {
  std::uint32_t bucket = 0;
  double divisor = 1;
  std::uint32_t contributors = 1;
  std::vector<ByteSpan> combined;  // of all stages
};

// The sum over a bucket's contributors. An error also where it is not finite.
Status decode_bucket(const RoundPlan& plan, const CommittedBucket& committed,
                     const Execution& execution, FloatVector& sum);
RuleStep rule_step(const RoundPlan& plan, const CommittedBucket& committed,
                   std::span<const float> sum);

// Tells the rule when an exchange of the round begins. Buckets come in the order of their numbers.
class RuleSteps {
 public:
  RuleSteps(const RoundPlan& plan, ModelRule& rule) : plan_(plan), rule_(rule) {}
  void at(const PlannedBucket& bucket) { up_to(bucket.exchange + 1); }
  void finish() { up_to(plan_.exchanges()); }

 private:
  void up_to(std::uint32_t exchanges) {
    for (; begun_ < exchanges; ++begun_) rule_.begin(plan_.key().round);
  }
  const RoundPlan& plan_;
  ModelRule& rule_;
  std::uint32_t begun_ = 0;
};

// The model after the round: the one way, for the coordinator, for every replica, and for redo.
// `sum` is scratch.
Status apply_round(const RoundPlan& plan, const std::vector<CommittedBucket>& buckets,
                   const Execution& execution, ModelRule& rule, FloatVector& sum,
                   std::span<float> model);

}  // namespace tributary
