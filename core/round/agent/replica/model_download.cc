#include "core/round/agent/replica/model_download.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace tributary {
namespace {

// A model that downloads in less time is not stored, because a new download is cheaper than storing
// it twice.
constexpr TimeNs kStoreAfterNs = 500 * kNsPerMs;
// If no part arrives for this time, the rest is requested; the pauses grow. A part of the smallest
// size takes less time on a link of 0.1 Mbit/s.
constexpr TimeNs kAskAfterNs = 2'000 * kNsPerMs;
constexpr TimeNs kAskWaitMaxNs = 30'000 * kNsPerMs;

}  // namespace

ModelDownload::ModelDownload(const StoredDownload& stored)
    : hash_(stored.hash), received_(stored.bytes), stored_(stored.received.size()) {
  received_.take(0, stored.received);
}

void ModelDownload::offered(TimeNs now, std::uint64_t message_id,
                            const wire::TransferOffer& offer) {
  if (began_at_ns_ < 0) began_at_ns_ = now;
  message_id_ = message_id;
  again_.start(now, kAskAfterNs, 2 * kAskAfterNs);
  offer.UnPackTo(&offer_.emplace());
}

Result<std::uint64_t> ModelDownload::take(TimeNs now, const wire::TransferPart& part,
                                          ByteSpan payload) {
  again_.start(now, kAskAfterNs, 2 * kAskAfterNs);
  const std::uint64_t end = part.offset() + payload.size();
  if (part.offset() <= bytes() && payload.size() <= bytes() - part.offset()) {
    return received_.take(part.offset(), payload);
  }
  return Status(StatusCode::mismatch, {.what = "part of a model",
                                       .expected = fmt::format("one that ends by byte {}", bytes()),
                                       .got = fmt::format("one that ends at byte {}", end),
                                       .remedy = "send what was offered"});
}

std::optional<DownloadRecord> ModelDownload::next_to_store(TimeNs now, std::uint64_t job) {
  const std::uint64_t end = received_.from_start();
  // A complete download is stored as a ReplicaRecord instead.
  if (storing_to_ > 0 || end <= stored_ || complete() || now - began_at_ns_ < kStoreAfterNs) {
    return std::nullopt;
  }
  const ByteSpan run = content().subspan(stored_, end - stored_);
  storing_to_ = end;
  return DownloadRecord{.job = job,
                        .hash = hash_,
                        .bytes = bytes(),
                        .offset = stored_,
                        .data = std::make_shared<const Bytes>(run.begin(), run.end())};
}

wire::TransferFetchT ModelDownload::ask(TimeNs now) {
  again_.repeat(now, 0, kAskWaitMaxNs);
  wire::TransferFetchT fetch;
  fetch.transfer = offer_->transfer;
  fetch.from = received_from_start();
  return fetch;
}

void ModelDownload::stored() {
  stored_ = std::exchange(storing_to_, 0);
  if (std::exchange(stored_is_forgotten_, false)) stored_ = 0;
}

void ModelDownload::forget_stored() {
  stored_ = 0;
  stored_is_forgotten_ = storing_to_ > 0;
}

}  // namespace tributary
