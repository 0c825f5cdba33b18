// A plan in the form in which both machines use it: with codec objects, and with each bucket's
// place in the model. Immutable after make(), so threads may share it.
//
// make() does not trust the message: every index, size and share is compared with the job and with
// this build's codecs before it is used. Decoding is part of it, because coordinator and agents
// must decode in the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/thc/network/network_sums.h"
#include "core/collective/result_segments.h"
#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/round_key.h"
#include "core/round/common/plan/job_model.h"
#include "schemas/frame.h"

namespace tributary {

// Checks that an agent may be asked to keep these shares of the values that `codec` encodes.
// Returns mismatch if not.
Status check_shares(const Codec& codec, wire::Collective collective,
                    std::span<const double> shares);

// Codecs by spec. Codecs are immutable, so one object per spec is enough. Holds at most 256; codecs
// in use stay alive. Not thread-safe.
class CodecCache {
 public:
  Result<std::shared_ptr<const Codec>> get(const std::string& spec);

 private:
  static constexpr std::size_t kCodecsMax = 256;
  std::map<std::string, std::shared_ptr<const Codec>> codecs_;
};

// One bucket of a round. With several exchanges per round, each exchange has all buckets of the
// model.
struct PlannedBucket {
  std::uint32_t index = 0;     // among the buckets of all exchanges
  std::uint32_t exchange = 0;  // the exchange of the round to which it belongs
  std::uint32_t place = 0;     // among the buckets of its exchange
  std::uint64_t first_value = 0;
  std::uint32_t values = 0;
  std::shared_ptr<const Codec> codec;
  std::uint32_t part_bytes = 0;
  double keep = 1;  // upper bound on this agent's share of the values (StageCall::keep)
  std::vector<LayerRun> layers;
  // Peers do not combine the payloads of the last stage; the result is the sequence of all payloads
  // (core/collective/side_by_side.h).
  bool side_by_side = false;
  // A late agent may send a standalone payload (standalone_payload.h).
  bool allows_standalone = false;
  // The table with which an aggregator in the network adds the payloads of the last stage; empty:
  // it does not.
  std::optional<thc::NetworkTable> network = {};

  std::uint32_t stages() const { return static_cast<std::uint32_t>(codec->stages().size()); }
  std::uint32_t last_stage() const { return stages() - 1; }
  // Upper bound on the size of a stage's payload. A larger claim is refused before any allocation.
  std::uint64_t stage_bytes_max(std::uint32_t agents) const;
  // True if values that are held back stay in the residual of their coordinates.
  bool keeps_residual() const { return codec->conserves(); }
  // True if the encoding error stays in the residual as well.
  bool keeps_error() const { return codec->keeps_error(); }
  // The number of a standalone payload in place of a stage's.
  std::uint32_t standalone_stage() const { return stages(); }
  // The stage whose payload a later round may count, so that its upload goes on when the stage has
  // closed; empty: none.
  std::optional<std::uint32_t> outliving_stage() const;
  // True if the other bucket has the same values and the same codec.
  bool same_as(const PlannedBucket& other) const {
    return first_value == other.first_value && values == other.values &&
           codec->spec() == other.codec->spec();
  }
};

// A validated plan.
class RoundPlan {
 public:
  // Returns mismatch if the plan contradicts the job or a codec of this build, and unsupported for
  // an unknown collective.
  static Result<std::shared_ptr<const RoundPlan>> make(const wire::PlanT& plan, const JobModel& job,
                                                       CodecCache& cache);

  const RoundKey& key() const { return key_; }
  const wire::PlanT& wire() const { return wire_; }
  // The buckets of all exchanges, one exchange after the other.
  const std::vector<PlannedBucket>& buckets() const { return buckets_; }
  // Number of exchanges of the whole model in the round, and the number of buckets of each.
  std::uint32_t exchanges() const { return wire_.exchanges_per_round; }
  std::uint32_t buckets_each() const {
    return static_cast<std::uint32_t>(buckets_.size()) / exchanges();
  }
  std::span<const PlannedBucket> buckets_of(std::uint32_t exchange) const {
    return std::span(buckets_).subspan(std::size_t{exchange} * buckets_each(), buckets_each());
  }
  const Bitmap& participants() const { return participants_; }
  // Number of participants: the agents in a codec's sense.
  std::uint32_t agents() const { return agents_; }
  std::uint32_t members() const { return wire_.agents; }
  // The place of a member among the participants, and the member at a place.
  std::optional<std::uint32_t> rank(std::uint32_t member) const;
  std::uint32_t member(std::uint32_t rank) const;
  wire::Collective collective() const { return collective_; }
  // The divisor of a result to which all participants contributed.
  double divisor_of_all() const;
  // True if the members have the results without the coordinator, from one another or from an
  // aggregator. A result then contains all participants, or no result exists.
  bool by_members() const { return by_peers() || in_network(); }
  // True if the members exchange pieces with one another.
  bool by_peers() const { return collective_ != wire::Collective::star && !in_network(); }
  // True if an aggregator in the network adds the last stage of at least one bucket.
  bool in_network() const { return collective_ == wire::Collective::in_network; }
  // True if the coordinator combines the payloads of this stage.
  bool by_coordinator(const PlannedBucket& bucket, std::uint32_t stage) const {
    if (in_network()) return !bucket.network || stage < bucket.last_stage();
    return !by_members();
  }
  // The epoch of the aggregator. Requires in_network().
  const wire::SumsInNetworkT& sums() const { return *summed_->sums; }
  const std::string& aggregator() const { return summed_->aggregator; }
  // Number of segments in which the members upload a result of this size.
  std::uint32_t segments(std::uint64_t bytes) const {
    return wire_.divides_results ? segments_of(bytes, agents_) : 1;
  }
  // The member that sends this segment of the bucket's results to the coordinator, and the segment
  // of a participant, which results of few segments lack. Members take turns. Requires
  // by_members().
  std::uint32_t uploader(std::uint32_t bucket, std::uint32_t segment = 0) const {
    return member((bucket % agents_ + segment) % agents_);
  }
  std::uint32_t segment_of(std::uint32_t bucket, std::uint32_t rank) const {
    return (rank + agents_ - bucket % agents_) % agents_;
  }
  bool conserves() const;

  // The context of a bucket's codec calls. `rank` matters only to an encoder.
  RoundContext context(const PlannedBucket& bucket, std::uint32_t rank = 0) const;

 private:
  RoundPlan() = default;

  RoundKey key_;
  wire::PlanT wire_;
  std::vector<PlannedBucket> buckets_;
  Bitmap participants_;
  std::uint32_t agents_ = 0;
  wire::Collective collective_ = wire::Collective::star;
  const wire::ExchangeT* summed_ = nullptr;  // in wire_: the exchange with the aggregator's epoch
};

// The result of one bucket in a committed round.
struct CommittedBucket {
  std::uint32_t bucket = 0;
  double divisor = 1;
  std::uint32_t contributors = 1;
  std::vector<ByteSpan> combined;  // combined payloads of all stages
};

// Writes the values of one agent's contribution: its payload of the last stage, or a standalone
// payload.
Status decode_contribution(const PlannedBucket& bucket, const StageCall& call, ByteSpan payload,
                           std::span<float> values);

// Writes the sum over a bucket's contributors. Returns the codec's error for a bad payload.
Status decode_bucket(const RoundPlan& plan, const CommittedBucket& committed,
                     const Execution& execution, FloatVector& sum);
// Whether decode_bucket_on_device() leaves the sum on the device if nothing fails: the codec has
// loops for it, and the result is one payload.
bool decodes_on_device(const RoundPlan& plan, const CommittedBucket& committed);
// The same to the stand-in of a vector on the device, as long as the bucket. `before_host` is
// called before the host writes the values itself.
Status decode_bucket_on_device(const RoundPlan& plan, const CommittedBucket& committed,
                               const Execution& execution, const std::function<void()>& before_host,
                               std::span<float> sum);

// The view of a bucket's optimizer before the round's step, or before the step of the bucket's
// exchange, for an encoder. `model` and `rule` are those of that time and must outlive the view.
// Empty if the rule has none. A value is judged as if all agents had the same weight.
std::optional<OptimizerView> encoder_view(const RoundPlan& plan, const PlannedBucket& bucket,
                                          const ModelRule& rule, std::span<const float> model);

}  // namespace tributary
