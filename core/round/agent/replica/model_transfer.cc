#include "core/round/agent/replica/model_transfer.h"

#include <utility>

namespace tributary {
namespace {

Status other_offer(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "offered model",
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have it sent again"});
}

}  // namespace

// A stored download that does not fit the job is dropped silently: the coordinator then sends the
// model from its first byte.
void ModelTransfer::restore(const std::optional<StoredDownload>& stored) {
  if (stored && stored->job == replica_.job_id() &&
      stored->bytes <= replica_.download_bytes_max() && stored->received.size() <= stored->bytes) {
    download_ = std::make_unique<ModelDownload>(*stored);
  }
}

void ModelTransfer::request(wire::TransferReason reason) {
  if (requested_ || transferring() || !session_.is_open()) return;
  requested_ = true;
  session_.ask([job = replica_.job_id(), reason] {
    wire::TransferRequestT request;
    request.job = job;
    request.content = wire::Content::model;
    request.reason = reason;
    return frame_with(std::move(request));
  });
}

// The offered size lies between the model's bytes and the bound on model plus rule state, so no
// offer can make the agent allocate more than its job needs.
bool ModelTransfer::fits(const wire::TransferOffer& offer) const {
  const JobModel* job = replica_.job();
  return job && offer.job() == job->job() && offer.layer_map_hash() == job->layer_map_hash() &&
         offer.content() == wire::Content::model &&
         (!offer.codec() || offer.codec()->size() == 0) &&
         offer.bytes() >= replica_.model_bytes() && offer.bytes() <= replica_.download_bytes_max();
}

bool ModelTransfer::receive(const wire::TransferOffer& offer, std::uint64_t message_id) {
  requested_ = false;
  if (!fits(offer)) {
    session_.refuse(message_id, wire::RefusalCode::mismatch,
                    other_offer("the job's, in plain float32", "another"));
    return false;
  }
  if (transferring()) session_.answer(download_->message_id());  // the new offer replaces it
  const bool goes_on = download_ && download_->hash() == offer.hash() &&
                       download_->bytes() == offer.bytes() &&
                       offer.from() <= download_->received_from_start();
  if (!goes_on) download_ = std::make_unique<ModelDownload>(offer.hash(), offer.bytes());
  // The offer continues a download that this agent does not have any more. Without the first bytes
  // the rest is of no use.
  if (!goes_on && offer.from() > 0) {
    session_.refuse(message_id, wire::RefusalCode::mismatch,
                    other_offer("its first bytes as well", "the rest of it"));
    request(wire::TransferReason::lost);
    return false;
  }
  session_.answer_later(message_id);
  download_->offered(context_.now, message_id, offer);
  return download_->complete();
}

bool ModelTransfer::receive(const wire::TransferPart& part, ByteSpan payload) {
  if (!transferring() || part.transfer() != download_->offer()->transfer) return false;
  const Result<std::uint64_t> taken = download_->take(context_.now, part, payload);
  if (!taken.ok()) {
    context_.out.refuse_frame("mismatch", taken.status().text());
    return false;
  }
  if (download_->complete()) return true;
  store_run();
  return false;
}

void ModelTransfer::ask_for_rest() {
  if (!download_ || !session_.is_open() || context_.now < download_->ask_at_ns()) return;
  session_.send(frame_with(download_->ask(context_.now)));
}

// Stores a run, so that the download continues after it if the agent restarts.
void ModelTransfer::store_run() {
  std::optional<DownloadRecord> record = download_->next_to_store(context_.now, replica_.job_id());
  if (!record) return;
  context_.store.push(std::move(*record), [this, hash = download_->hash()] {
    if (!download_ || download_->hash() != hash) return;
    download_->stored();
    store_run();
  });
}

void ModelTransfer::session_lost() {
  if (download_) download_->session_lost();
  requested_ = false;
}

void ModelTransfer::replica_stored() {
  if (download_) download_->forget_stored();
}

void ModelTransfer::describe(wire::HoldingT& holding) const {
  if (!download_) return;
  holding.download_hash = download_->hash();
  holding.download_bytes = download_->received_from_start();
}

}  // namespace tributary
