#include "core/round/agent/exchange/peer_round.h"

#include <cassert>
#include <utility>

#include "core/collective/side_by_side.h"

namespace tributary {

bool PeerGroup::keep(std::uint32_t from, ByteSpan frame, SharedSlice payload,
                     std::uint64_t bytes_max) {
  const std::uint64_t bytes = frame.size() + payload.size();
  if (early_bytes_ + bytes > bytes_max) return false;
  early_bytes_ += bytes;
  early_.push_back(
      {.from = from, .frame = Bytes(frame.begin(), frame.end()), .payload = std::move(payload)});
  return true;
}

std::deque<PeerGroup::Early> PeerGroup::take_early() {
  early_bytes_ = 0;
  return std::exchange(early_, {});
}

ExchangeCache& PeerExchangeCache::of(const RoundPlan& plan) {
  std::vector<std::shared_ptr<const Codec>> codecs;
  for (const PlannedBucket& bucket : plan.buckets()) codecs.push_back(bucket.codec);
  if (!cache_ || codecs != codecs_) cache_ = std::make_unique<ExchangeCache>();
  codecs_ = std::move(codecs);
  return *cache_;
}

Status PeerRound::begin(std::uint32_t bucket, std::span<const float> input, PeerSends& out) {
  assert(!all_begun() && (bucket == first_left() || bucket == last_left()));
  if (bucket == first_left_) {
    ++first_left_;
  } else {
    --end_left_;
  }
  return exchange_.begin(bucket, input, out);
}

Status PeerRound::begin_with_copy(std::uint32_t bucket, std::span<const float> input,
                                  PeerSends& out) {
  copies_[bucket].assign(input.begin(), input.end());
  return begin(bucket, copies_[bucket], out);
}

bool PeerRound::news(std::uint32_t bucket) {
  if (!exchange_.whole(bucket) || reported_[bucket]) return false;
  reported_[bucket] = true;
  return true;
}

std::vector<SharedBytes> PeerRound::combined(const PlannedBucket& bucket) const {
  std::vector<SharedBytes> kept;
  for (const ByteSpan stage : exchange_.combined(bucket.place)) {
    kept.push_back(std::make_shared<const Bytes>(stage.begin(), stage.end()));
  }
  const std::vector<SharedSlice> results = exchange_.results(bucket.place);
  std::vector<ByteSpan> spans;
  for (const SharedSlice& result : results) spans.push_back(result.view());
  kept.push_back(std::make_shared<const Bytes>(
      bucket.side_by_side ? join_payloads(spans) : Bytes(spans[0].begin(), spans[0].end())));
  return kept;
}

}  // namespace tributary
