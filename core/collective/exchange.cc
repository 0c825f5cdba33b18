#include "core/collective/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include "core/codec/error_feedback.h"
#include "core/codec/payload.h"

namespace tributary {
namespace {

// The error of a piece that does not belong at its place.
Status wrong_piece(const Piece& piece, std::string_view what, std::string expected,
                   std::string got) {
  return Status(StatusCode::mismatch,
                {.what = fmt::format("{} of stage {} of bucket {} from a peer", what, piece.stage,
                                     piece.bucket),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "this round uses the coordinator; compare the versions of both agents"});
}

Status check_contributors(const Piece& piece, ByteSpan payload, std::uint32_t expected) {
  const std::uint32_t got = contributors_stated(payload);
  if (got == expected) return {};
  return wrong_piece(piece, "contributors", fmt::format("{}", expected), fmt::format("{}", got));
}

// The code not_finite means that this member's own numbers cannot be sent. Those of another member
// make its piece a wrong one.
Status fault_of_peer(Status status) {
  if (status.code() != StatusCode::not_finite) return status;
  return Status(StatusCode::mismatch, status.fault());
}

}  // namespace

// The key contains the bucket only for aggregators that encode: their residual belongs to its
// values. All others are without memory between rounds and shared by buckets of one size.
Aggregator& ExchangeCache::aggregator(const Codec& codec, std::size_t stage, std::uint32_t values,
                                      std::uint32_t bucket) {
  const bool encodes =
      stage + 1 == codec.stages().size() && codec.aggregation() != Aggregation::sum;
  std::unique_ptr<Aggregator>& place = aggregators_[{&codec, stage, values, encodes ? bucket : 0}];
  if (!place) place = codec.make_aggregator(stage, values);
  return *place;
}

// A buffer of the largest size so far never has to grow while a payload is written into it.
Bytes ExchangeCache::buffer() {
  Bytes buffer = buffers_.take(largest_);
  buffer.clear();
  return buffer;
}

SharedSlice ExchangeCache::share(Bytes payload) {
  largest_ = std::max(largest_, payload.size());
  return buffers_.share(std::move(payload));
}

// Sizes the arrays of parts: one per child in a reduction, one per rank in a gather.
PeerExchange::PeerExchange(const Routes& routes, std::uint32_t rank,
                           std::vector<ExchangeBucket> buckets, ExchangeCache& cache,
                           const Execution& execution)
    : routes_(routes),
      rank_(rank),
      buckets_(std::move(buckets)),
      cache_(cache),
      execution_(execution),
      work_(buckets_.size()),
      open_(static_cast<std::uint32_t>(buckets_.size())) {
  assert(rank < routes.members());
  for (std::uint32_t i = 0; i < buckets_.size(); ++i) {
    std::vector<StageWork>& stages = work_[i].stages;
    stages.resize(buckets_[i].codec->stages().size());
    for (std::size_t s = 0; s < stages.size(); ++s) {
      switch (flow(buckets_[i], s)) {
        case StageFlow::reduced:
          stages[s].parts.resize(routes.up(routes.owner(i), rank).children.size());
          break;
        case StageFlow::gathered:
          stages[s].parts.resize(routes.members());
          break;
        case StageFlow::from_root:
          break;
      }
    }
  }
}

// Depends only on codec, stage and collective, so all members agree on it without a message.
StageFlow PeerExchange::flow(const ExchangeBucket& bucket, std::size_t stage) const {
  if (bucket.codec->stages()[stage].combine == Combine::broadcast) return StageFlow::from_root;
  if (routes_.spreads()) return StageFlow::gathered;
  const bool gathers = bucket.codec->aggregation() == Aggregation::gather;
  return last(bucket, stage) && gathers ? StageFlow::gathered : StageFlow::reduced;
}

// True if partial sums are decoded, added and encoded again at every hop.
bool PeerExchange::encodes_again(const ExchangeBucket& bucket, std::size_t stage) const {
  return last(bucket, stage) && bucket.codec->aggregation() == Aggregation::reduce &&
         flow(bucket, stage) == StageFlow::reduced;
}

StageCall PeerExchange::call_of(std::uint32_t bucket, std::span<const ByteSpan> combined) const {
  StageCall call = {.round = buckets_[bucket].round,
                    .execution = execution_,
                    .combined = combined,
                    .optimizer = buckets_[bucket].optimizer,
                    .facts = buckets_[bucket].facts};
  call.round.agent = rank_;
  call.round.agents = routes_.members();
  call.finite_only = true;
  return call;
}

std::vector<ByteSpan> PeerExchange::combined_before(const BucketWork& work,
                                                    std::size_t stage) const {
  std::vector<ByteSpan> all;
  for (std::size_t s = 0; s < stage; ++s) all.push_back(work.stages[s].result.view());
  return all;
}

Status PeerExchange::begin(std::uint32_t bucket, PeerSends& out) {
  assert(bucket < buckets_.size());
  // Pieces may have arrived before the input was final, so the first advance() may complete several
  // stages.
  if (std::exchange(work_[bucket].begun, true)) return {};
  return advance(bucket, out);
}

Status PeerExchange::begin(std::uint32_t bucket, std::span<const float> input, PeerSends& out) {
  assert(bucket < buckets_.size());
  if (!work_[bucket].begun) buckets_[bucket].input = input;
  return begin(bucket, out);
}

// Completes as many stages as possible. Pieces of later stages may have arrived already.
Status PeerExchange::advance(std::uint32_t bucket, PeerSends& out) {
  BucketWork& work = work_[bucket];
  if (!work.begun) return {};
  while (work.stage < work.stages.size()) {
    Result<bool> finished = work_on_stage(bucket, out);
    if (!finished.ok()) return std::move(finished).status().at(fmt::format("bucket {}", bucket));
    if (!*finished) return {};
    if (++work.stage == work.stages.size()) --open_;
  }
  return {};
}

// Returns true if the stage is complete.
Result<bool> PeerExchange::work_on_stage(std::uint32_t bucket, PeerSends& out) {
  BucketWork& work = work_[bucket];
  StageWork& stage = work.stages[work.stage];
  const StageFlow flow = this->flow(buckets_[bucket], work.stage);
  if (flow == StageFlow::reduced) {
    if (!stage.done && stage.arrived == stage.parts.size()) TRIBUTARY_TRY(reduce(bucket, out));
    return !stage.result.empty();
  }
  if (!stage.done) TRIBUTARY_TRY(send_own(bucket, flow, out));
  if (flow == StageFlow::from_root) return !stage.result.empty();
  if (stage.arrived < stage.parts.size()) return false;
  // Payloads that could only become one by another encoding stay separate.
  const bool stay = last(buckets_[bucket], work.stage) &&
                    buckets_[bucket].codec->aggregation() != Aggregation::sum;
  if (!stay) TRIBUTARY_TRY(combine_all(bucket));
  return true;
}

// --- up and down the tree ----------------------------------------------------------------------

Status PeerExchange::reduce(std::uint32_t bucket, PeerSends& out) {
  BucketWork& work = work_[bucket];
  StageWork& stage = work.stages[work.stage];
  const std::uint32_t owner = routes_.owner(bucket);
  Bytes payload = cache_.buffer();
  TRIBUTARY_TRY(combine_own_with_parts(bucket, payload));
  stage.done = true;
  // `done` is set only after the sum is complete. If it fails, the exchange is abandoned.
  // The children's payloads are no longer needed; their buffers return to the cache.
  stage.parts.clear();
  stage.arrived = 0;
  const SharedSlice shared = cache_.share(std::move(payload));
  const Piece piece = {.bucket = bucket,
                       .stage = static_cast<std::uint8_t>(work.stage),
                       .partial = owner != rank_,
                       .origin = rank_};
  const TreePlace up = routes_.up(owner, rank_);
  if (up.parent) {
    // A leaf's payload contains only its own values; other members' payloads contain children's,
    // too.
    if (routes_.combined_at(owner, rank_) == 1 && !encodes_again(buckets_[bucket], work.stage)) {
      work.own = shared;
    }
    out.push_back({.to = *up.parent, .piece = piece, .payload = shared});
    return {};
  }
  // The owner: its sum contains all members and is the result.
  stage.origin = rank_;
  stage.result = shared;
  send_down(piece, shared, out);
  return {};
}

Status PeerExchange::combine_own_with_parts(std::uint32_t bucket, Bytes& sum) {
  const ExchangeBucket& own_bucket = buckets_[bucket];
  BucketWork& work = work_[bucket];
  StageWork& stage = work.stages[work.stage];
  const std::vector<ByteSpan> before = combined_before(work, work.stage);
  const StageCall call = call_of(bucket, before);
  const bool again = encodes_again(own_bucket, work.stage);
  // A leaf sends its own payload and needs no aggregator, unless sums are encoded again.
  const bool leaf = stage.parts.empty() && routes_.owner(bucket) != rank_;
  if (leaf && !again) return own_bucket.encoder->encode(call, own_bucket.input, sum);

  const auto values = static_cast<std::uint32_t>(own_bucket.input.size());
  Aggregator& aggregator = cache_.aggregator(*own_bucket.codec, work.stage, values, bucket);
  if (again && own_bucket.codec->lossy()) work.left.assign(values, 0.0f);
  // `work.left` stays empty for a codec without loss. The aggregator writes into it what its
  // encoding of the sum loses, and this member keeps that in its residual.
  TRIBUTARY_TRY(aggregator.begin(call, work.left));
  // The aggregator may take values without an encoding; otherwise the member's payload is added
  // first, which fixes the order of the sum.
  TRIBUTARY_ASSIGN(const bool taken, aggregator.add_values(call, own_bucket.input));
  if (!taken) {
    Bytes own = cache_.buffer();
    TRIBUTARY_TRY(own_bucket.encoder->encode(call, own_bucket.input, own));
    if (!own.empty()) TRIBUTARY_TRY(aggregator.add(call, own));
    if (last(own_bucket, work.stage)) work.own = cache_.share(std::move(own));
  }
  for (const SharedSlice& part : stage.parts) {
    TRIBUTARY_TRY(fault_of_peer(aggregator.add(call, part.view())));
  }
  TRIBUTARY_TRY(aggregator.finish(call, sum));
  aggregator.settle(true);
  return {};
}

void PeerExchange::send_down(const Piece& piece, const SharedSlice& payload, PeerSends& out) const {
  for (const std::uint32_t child : routes_.down(piece.origin, rank_).children) {
    out.push_back({.to = child, .piece = piece, .payload = payload});
  }
}

// --- from a root, or from every member ---------------------------------------------------------

Status PeerExchange::send_own(std::uint32_t bucket, StageFlow flow, PeerSends& out) {
  const ExchangeBucket& own_bucket = buckets_[bucket];
  BucketWork& work = work_[bucket];
  StageWork& stage = work.stages[work.stage];
  const std::vector<ByteSpan> before = combined_before(work, work.stage);
  Bytes payload = cache_.buffer();
  TRIBUTARY_TRY(own_bucket.encoder->encode(call_of(bucket, before), own_bucket.input, payload));
  stage.done = true;
  const Piece piece = {
      .bucket = bucket, .stage = static_cast<std::uint8_t>(work.stage), .origin = rank_};
  if (flow == StageFlow::from_root && payload.empty()) return {};
  const SharedSlice shared = cache_.share(std::move(payload));
  if (last(own_bucket, work.stage)) work.own = shared;
  if (flow == StageFlow::from_root) {
    if (!stage.result.empty()) {
      return wrong_piece(piece, "root", "one root: this member",
                         fmt::format("what member {} sends as root", stage.origin));
    }
    stage.result = shared;
    stage.origin = rank_;
  } else {
    stage.parts[rank_] = shared;
    ++stage.arrived;
  }
  send_down(piece, shared, out);
  return {};
}

// Every member computes the sum that an owner would have computed, in the order of ranks, so all
// members get the same bits.
Status PeerExchange::combine_all(std::uint32_t bucket) {
  const ExchangeBucket& own_bucket = buckets_[bucket];
  BucketWork& work = work_[bucket];
  StageWork& stage = work.stages[work.stage];
  const std::vector<ByteSpan> before = combined_before(work, work.stage);
  const StageCall call = call_of(bucket, before);
  Aggregator& aggregator = cache_.aggregator(
      *own_bucket.codec, work.stage, static_cast<std::uint32_t>(own_bucket.input.size()), bucket);
  TRIBUTARY_TRY(aggregator.begin(call, {}));
  for (const SharedSlice& part : stage.parts) {
    // A member that has nothing to send in this stage sends no bytes.
    if (!part.empty()) TRIBUTARY_TRY(fault_of_peer(aggregator.add(call, part.view())));
  }
  Bytes sum = cache_.buffer();
  TRIBUTARY_TRY(aggregator.finish(call, sum));
  aggregator.settle(true);
  stage.result = cache_.share(std::move(sum));
  return {};
}

// --- arriving pieces ---------------------------------------------------------------------------

Status PeerExchange::check_place(const Piece& piece) const {
  if (piece.bucket >= buckets_.size()) {
    return wrong_piece(piece, "bucket", fmt::format("below {}", buckets_.size()),
                       fmt::format("{}", piece.bucket));
  }
  const std::size_t stages = work_[piece.bucket].stages.size();
  if (piece.stage >= stages) {
    return wrong_piece(piece, "stage", fmt::format("below {}", stages),
                       fmt::format("{}", piece.stage));
  }
  if (piece.origin >= routes_.members()) {
    return wrong_piece(piece, "origin", fmt::format("below {}", routes_.members()),
                       fmt::format("{}", piece.origin));
  }
  return {};
}

// Pieces may arrive for any bucket and stage, also before begin(). They are kept at their place,
// and advance() uses them when the stage is reached.
Status PeerExchange::receive(std::uint32_t from, const Piece& piece, SharedSlice payload,
                             PeerSends& out) {
  TRIBUTARY_TRY(check_place(piece));
  if (payload.empty()) return wrong_piece(piece, "payload", "some bytes", "none");
  TRIBUTARY_TRY(piece.partial ? take_partial(from, piece, std::move(payload))
                              : take_result(from, piece, std::move(payload), out));
  return advance(piece.bucket, out);
}

// Accepts a partial sum from a child in the owner's tree.
Status PeerExchange::take_partial(std::uint32_t from, const Piece& piece, SharedSlice payload) {
  StageWork& stage = work_[piece.bucket].stages[piece.stage];
  if (flow(buckets_[piece.bucket], piece.stage) != StageFlow::reduced || piece.origin != from) {
    return wrong_piece(piece, "way", "a payload that is not combined", "a partial sum");
  }
  const std::uint32_t owner = routes_.owner(piece.bucket);
  const TreePlace up = routes_.up(owner, rank_);
  const auto child = std::ranges::find(up.children, from);
  if (child == up.children.end()) {
    return wrong_piece(piece, "sender", "a member whose sums go by this one",
                       fmt::format("member {}", from));
  }
  if (stage.done) return {};
  SharedSlice& place = stage.parts[static_cast<std::size_t>(child - up.children.begin())];
  if (!place.empty()) return {};
  TRIBUTARY_TRY(check_contributors(piece, payload.view(), routes_.combined_at(owner, from)));
  place = std::move(payload);
  ++stage.arrived;
  return {};
}

// Accepts a result from the parent in the tree of its origin, and passes it on.
Status PeerExchange::take_result(std::uint32_t from, const Piece& piece, SharedSlice payload,
                                 PeerSends& out) {
  StageWork& stage = work_[piece.bucket].stages[piece.stage];
  const StageFlow flow = this->flow(buckets_[piece.bucket], piece.stage);
  // A result is accepted only over the edge of the tree on which it is expected. No member can
  // therefore replace another's payload.
  if (routes_.down(piece.origin, rank_).parent != from) {
    return wrong_piece(piece, "sender", "the member before this one",
                       fmt::format("member {}, of what member {} made", from, piece.origin));
  }
  if (flow == StageFlow::gathered) {
    SharedSlice& place = stage.parts[piece.origin];
    if (!place.empty()) return {};
    TRIBUTARY_TRY(check_contributors(piece, payload.view(), 1));
    send_down(piece, payload, out);
    place = std::move(payload);
    ++stage.arrived;
    return {};
  }
  if (!stage.result.empty()) {
    // A second result of the same origin is a repetition; one of another origin is an error.
    if (stage.origin == piece.origin) return {};
    return wrong_piece(piece, "root", fmt::format("member {} alone", stage.origin),
                       fmt::format("member {} as well", piece.origin));
  }
  if (flow == StageFlow::reduced) {
    const std::uint32_t owner = routes_.owner(piece.bucket);
    if (piece.origin != owner) {
      return wrong_piece(piece, "owner", fmt::format("member {}", owner),
                         fmt::format("member {}", piece.origin));
    }
    // The owner cannot have a complete sum without this member's part.
    if (!stage.done) {
      return wrong_piece(piece, "result", "one that this member's values are in", "one without");
    }
    TRIBUTARY_TRY(check_contributors(piece, payload.view(), routes_.members()));
  }
  send_down(piece, payload, out);
  stage.origin = piece.origin;
  stage.result = std::move(payload);
  return {};
}

// --- results -----------------------------------------------------------------------------------

bool PeerExchange::whole(std::uint32_t bucket) const {
  return work_[bucket].stage == work_[bucket].stages.size();
}

// Only the current stage of each bucket counts, since a later one cannot be awaited yet.
std::vector<std::uint32_t> PeerExchange::waiting_for() const {
  std::set<std::uint32_t> members;
  for (std::uint32_t i = 0; i < buckets_.size(); ++i) {
    const BucketWork& work = work_[i];
    if (whole(i)) continue;
    const StageWork& stage = work.stages[work.stage];
    const std::uint32_t owner = routes_.owner(i);
    switch (flow(buckets_[i], work.stage)) {
      case StageFlow::gathered:
        for (std::uint32_t m = 0; m < routes_.members(); ++m) {
          if (m != rank_ && stage.parts[m].empty()) members.insert(m);
        }
        break;
      case StageFlow::reduced: {
        if (stage.done) {
          if (const auto parent = routes_.down(owner, rank_).parent) members.insert(*parent);
          break;
        }
        const TreePlace up = routes_.up(owner, rank_);
        for (std::size_t c = 0; c < up.children.size(); ++c) {
          if (stage.parts[c].empty()) members.insert(up.children[c]);
        }
        break;
      }
      case StageFlow::from_root:
        break;  // only the codec knows who that is
    }
  }
  return {members.begin(), members.end()};
}

std::vector<ByteSpan> PeerExchange::combined(std::uint32_t bucket) const {
  assert(whole(bucket));
  return combined_before(work_[bucket], work_[bucket].stages.size() - 1);
}

std::vector<SharedSlice> PeerExchange::results(std::uint32_t bucket) const {
  assert(whole(bucket));
  const StageWork& stage = work_[bucket].stages.back();
  if (!stage.result.empty()) return {stage.result};
  return stage.parts;
}

Status PeerExchange::decode(std::uint32_t bucket, std::span<float> scratch,
                            std::span<float> sum) const {
  const std::vector<ByteSpan> before = combined(bucket);
  StageCall call = call_of(bucket, before);
  bool first = true;
  for (const SharedSlice& result : results(bucket)) {
    call.contributors = contributors_stated(result.view());
    if (std::exchange(first, false)) {
      TRIBUTARY_TRY(buckets_[bucket].codec->decode(call, result.view(), sum));
    } else {
      TRIBUTARY_TRY(buckets_[bucket].codec->decode_add(call, result.view(), scratch, sum));
    }
  }
  return {};
}

// Three cases: a lossless codec leaves nothing, a member that has encoded sums again has recorded
// its loss, and all others decode their own payload and subtract it from the input.
Status PeerExchange::left_over(std::uint32_t bucket, std::span<float> left) const {
  const ExchangeBucket& own_bucket = buckets_[bucket];
  const BucketWork& work = work_[bucket];
  if (!own_bucket.codec->lossy()) {
    std::ranges::fill(left, 0.0f);
    return {};
  }
  if (!work.left.empty()) {
    std::ranges::copy(work.left, left.begin());
    return {};
  }
  const std::vector<ByteSpan> before = combined(bucket);
  FloatVector decoded(left.size());
  TRIBUTARY_TRY(own_bucket.codec->decode(call_of(bucket, before), work.own.view(), decoded));
  keep_residual(execution_, own_bucket.input, decoded, left);
  return {};
}

}  // namespace tributary
