#include "core/round/coordinator/attempt/bucket_aggregation.h"

#include <fmt/format.h>

#include <cassert>
#include <optional>
#include <utility>

#include "core/codec/aggregate/gather.h"
#include "core/codec/payload.h"
#include "core/collective/side_by_side.h"

namespace tributary {

BucketAggregation::BucketAggregation(const RoundPlan& plan, const PlannedBucket& bucket,
                                     const Execution& execution, std::span<float> residual,
                                     RoundStart start)
    : plan_(plan),
      bucket_(bucket),
      execution_(execution),
      residual_(residual),
      start_(std::move(start)),
      late_(bucket, plan.members()),
      results_(bucket.stages()),
      involved_(plan.members()) {}

// finite_only makes the aggregator refuse NaN and Inf by sender, before they reach a sum that other
// agents share.
StageCall BucketAggregation::call() const {
  return {.round = plan_.context(bucket_),
          .execution = execution_,
          .combined = spans_,
          .finite_only = true};
}

// Starts the next stage. Only the last stage has a residual: results of the stages before it decide
// how values are encoded and are no part of the sum.
Status BucketAggregation::begin() {
  received_ = late_.members();
  contributors_ = at_last_stage() ? late_.members() : Bitmap(plan_.members());
  if (!plan_.by_coordinator(bucket_, stage())) return {};
  aggregator_ = bucket_.codec->make_aggregator(stage(), bucket_.values);
  return aggregator_->begin(call(), at_last_stage() ? residual_ : std::span<float>());
}

bool BucketAggregation::takes_one() const {
  return bucket_.codec->stages()[stage()].combine == Combine::broadcast;
}

// A payload states how many agents it contains and, in a gather, which ones. An agent may send only
// its own.
Status BucketAggregation::check_sender(std::uint32_t member, ByteSpan payload) const {
  // The checksum is not compared here: the aggregator reads the whole payload and compares it then.
  TRIBUTARY_ASSIGN(
      const UncheckedPayload open,
      UncheckedPayload::open(*bucket_.codec, stage(), bucket_.values, execution_, payload));
  bool alone = open.header().contributors == 1;
  if (alone && !at_last_stage() && bucket_.codec->stages()[stage()].combine == Combine::gather) {
    const OpenPayload entries_of{.header = open.header(), .body = open.body()};
    TRIBUTARY_ASSIGN(const std::vector<GatherEntry> entries,
                     read_gather_entries(entries_of, plan_.agents(), open.body().size()));
    alone = entries.size() == 1 && entries[0].agent == plan_.rank(member);
  }
  if (alone) return {};
  return Status(StatusCode::mismatch, {.what = "contributors of an agent's payload",
                                       .expected = "only the agent",
                                       .got = "another agent, or several",
                                       .remedy = "send only what this agent has encoded"});
}

Status BucketAggregation::add(std::uint32_t member, ByteSpan payload) {
  assert(open() && !has(member));
  // Set before any check: a refused payload counts as received.
  received_.set(member);
  TRIBUTARY_TRY(check_sender(member, payload));
  TRIBUTARY_TRY(aggregator_->add(call(), payload));
  contributors_.set(member);
  involved_.set(member);
  return {};
}

Status BucketAggregation::add_standalone(std::uint32_t member, ByteSpan payload) {
  assert(open() && !has(member) && bucket_.allows_standalone);
  received_.set(member);
  TRIBUTARY_TRY(late_.add(member, call(), payload));
  if (at_last_stage()) contributors_.set(member);
  involved_.set(member);
  return {};
}

// The results of an exchange among peers are not aggregated here. They are opened once, so that a
// damaged result is refused before it is stored, and compared by hash later.
Status BucketAggregation::take_segment(const ResultSegment& segment, Bytes bytes) {
  Status status = results_.add(segment.stage, segment.segment, segment.segments, std::move(bytes));
  while (status.ok() && open() && !plan_.by_coordinator(bucket_, stage()) &&
         results_.complete(stage())) {
    Result<Bytes> whole = results_.join(stage());
    status = whole.ok() ? take_result(std::move(*whole)) : whole.status();
  }
  if (!status.ok()) drop();
  return status;
}

Status BucketAggregation::take_result(Bytes payload) {
  assert(!plan_.by_coordinator(bucket_, stage()) && open());
  const bool last = at_last_stage();
  if (last && bucket_.side_by_side) {
    TRIBUTARY_TRY(split_payloads(payload, plan_.agents()).status());
  } else {
    TRIBUTARY_TRY(
        UncheckedPayload::open(*bucket_.codec, stage(), bucket_.values, execution_, payload)
            .status());
  }
  combined_.push_back(std::make_shared<const Bytes>(std::move(payload)));
  spans_.emplace_back(*combined_.back());
  if (last) contributors_ = plan_.participants();
  return {};
}

Status BucketAggregation::close(std::uint32_t least) {
  assert(open());
  // Only the last stage needs the quorum. Earlier stages only prepare the encoding.
  if (contributors() < (at_last_stage() ? std::max(least, 1u) : 1u)) {
    drop();
    return {};
  }
  std::optional<OptimizerView> view;
  if (start_.rule && bucket_.codec->reads_optimizer()) {
    view = encoder_view(plan_, bucket_, *start_.rule, *start_.model);
  }
  StageCall closing = call();
  if (view) closing.optimizer = &*view;
  Bytes combined;
  if (Status status = finish(closing, combined); !status.ok()) {
    if (status.code() == StatusCode::not_finite) {
      drop_not_finite();
    } else {
      drop();
    }
    return status;
  }
  const bool last = at_last_stage();
  // It is kept until the next commit at least.
  release_unused(combined);
  combined_.push_back(std::make_shared<const Bytes>(std::move(combined)));
  spans_.emplace_back(*combined_.back());
  if (last) return {};
  before_ = contributors_;
  return begin();
}

// The aggregator has nothing to combine if all contributors of the last stage are late.
Status BucketAggregation::finish(const StageCall& call, Bytes& combined) {
  const bool with_late = at_last_stage() && !late_.empty();
  if (!with_late || aggregator_->contributors() > 0) {
    TRIBUTARY_TRY(aggregator_->finish(call, combined));
  }
  if (!with_late) return {};
  TRIBUTARY_ASSIGN(combined, late_.join_to(call, combined));
  return {};
}

CommittedBucket BucketAggregation::committed(double divisor) const {
  return {.bucket = bucket_.index,
          .divisor = divisor,
          .contributors = contributors_.count(),
          .combined = spans_};
}

void BucketAggregation::settle(bool committed) {
  if (finished() && aggregator_) aggregator_->settle(committed);
}

std::uint64_t BucketAggregation::bytes() const {
  std::uint64_t bytes = results_.bytes();
  for (const SharedBytes& combined : combined_) bytes += combined->size();
  return bytes;
}

}  // namespace tributary
