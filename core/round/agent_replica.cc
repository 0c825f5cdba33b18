// How an agent gets its job and its model.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/checksum.h"
#include "core/round/agent_impl.h"

namespace tributary {
namespace {

Status corrupt(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have it sent again"});
}

}  // namespace

// --- start -------------------------------------------------------------------------------------

Status Agent::Impl::restore(AgentState state) {
  if (!state.job) return {};
  job_record_ = *state.job;
  TRIBUTARY_ASSIGN(job_, JobModel::make(job_record_.definition));
  TRIBUTARY_ASSIGN(rule_, make_model_rule(job_->wire()));
  const std::uint64_t model_bytes = job_->values() * sizeof(float);
  if (state.download && state.download->job == job_->job() &&
      state.download->bytes <= model_bytes + rule_->state_bytes_max() &&
      state.download->received.size() <= state.download->bytes) {
    download_ = std::make_unique<ModelDownload>(*state.download);
  }
  if (!state.replica || state.replica->job != job_->job() ||
      state.replica->layer_map_hash != job_->layer_map_hash()) {
    residual_ = ResidualAccount(job_->values());
    return {};
  }
  ReplicaRecord& replica = *state.replica;  // let go of as it is copied: a model may be large
  if (replica.residual && replica.residual->size() != job_->values()) {
    return corrupt("residual of the agent's journal", fmt::format("{} values", job_->values()),
                   "another number");
  }
  for (const UndecidedRound& round : state.undecided) {
    for (const ContributionPart& part : round.parts) {
      if (part.first_value <= job_->values() && part.values <= job_->values() - part.first_value &&
          (!part.if_committed || part.if_committed->size() == part.values)) {
        continue;
      }
      return corrupt("contribution in the agent's journal", "values of the model", "others");
    }
  }
  residual_ = ResidualAccount(job_->values(), replica, std::move(state.undecided));
  replica.residual.reset();
  version_ = replica.model_version;
  model_hash_ = replica.model_hash;
  const bool intact = replica.model && replica.model->size() == job_->values() &&
                      model_hash_of(*replica.model) == replica.model_hash;
  // Without one, the coordinator sends it again.
  if (intact) model_ = std::make_shared<FloatVector>(*replica.model);
  replica.model.reset();
  if (intact && replica.rule_state) TRIBUTARY_TRY(rule_->restore(*replica.rule_state));
  return {};
}

ReplicaRecord Agent::Impl::replica_record() const {
  ReplicaRecord record{.job = job_->job(),
                       .layer_map_hash = job_->layer_map_hash(),
                       .epoch = epoch_,
                       .model_version = version_,
                       .model_hash = model_hash_,
                       .model = model_,
                       .rule_state = rule_->save(),
                       .residual = residual_.shared(),
                       .residual_stamp = residual_.stamp(),
                       .undecided = {}};
  for (const UndecidedRound& round : residual_.undecided()) record.undecided.push_back(round.id);
  return record;
}

// --- job ---------------------------------------------------------------------------------------

Status Agent::Impl::take_job(const wire::Job& job) {
  wire::JobT unpacked;
  job.UnPackTo(&unpacked);
  TRIBUTARY_ASSIGN(SharedBytes definition, keep_message(std::move(unpacked)));
  TRIBUTARY_ASSIGN(std::shared_ptr<const JobModel> model, JobModel::make(definition));
  if (model->values() > config_.model_bytes_max / sizeof(float)) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "model of the job",
                   .expected = fmt::format("at most {} bytes", config_.model_bytes_max),
                   .got = fmt::format("{} values", model->values()),
                   .remedy = "raise the agent's limit, or leave this device out"});
  }
  TRIBUTARY_ASSIGN(std::unique_ptr<ModelRule> rule, make_model_rule(model->wire()));
  const bool same =
      job_ && job_->job() == model->job() && job_->layer_map_hash() == model->layer_map_hash();
  job_ = std::move(model);
  job_record_ = {.job = job_->job(),
                 .revision = job_->revision(),
                 .change = 0,
                 .state = job.state(),
                 .definition = std::move(definition)};
  if (same) return {};
  close_peers();
  rule_ = std::move(rule);
  drop_round();
  next_rounds_.clear();
  commit_.reset();
  training_.reset();
  download_.reset();
  update_.reset();
  encoders_.clear();
  model_.reset();
  version_ = model_hash_ = 0;
  epoch_ = 0;
  residual_ = ResidualAccount(job_->values());
  return {};
}

void Agent::Impl::receive_job(const wire::Job& job, std::uint64_t message_id) {
  if (Status status = take_job(job); !status.ok()) {
    return refuse_message(message_id, wire::RefusalCode::unsupported, status);
  }
  talk_->answer_later(message_id);
  store_.push(job_record_, [this, message_id, session = talk_->session()] {
    if (talk_ && talk_->session() == session) answer(message_id);
  });
}

void Agent::Impl::receive_job_change(const wire::JobChange& change, std::uint64_t message_id) {
  answer(message_id);
  if (!job_ || change.job() != job_->job() || change.change() <= job_record_.change) return;
  job_record_.change = change.change();
  job_record_.state = change.state();
  store_.push(job_record_);
  note(LogLevel::info, "job_changed", wire::EnumNameJobState(change.state()),
       change.reason() ? change.reason()->str() : std::string());
}

// --- transfer ----------------------------------------------------------------------------------

void Agent::Impl::request_transfer(wire::TransferReason reason) {
  if (transfer_requested_ || (download_ && download_->offer()) || !talk_) return;
  transfer_requested_ = true;
  talk_->ask(
      now_,
      [job = job_->job(), reason, version = version_, hash = model_hash_] {
        wire::TransferRequestT request;
        request.job = job;
        request.content = wire::Content::model;
        request.reason = reason;
        request.have_version = version;
        request.have_hash = hash;
        return frame_with(std::move(request));
      },
      out_);
}

void Agent::Impl::receive_offer(const wire::TransferOffer& offer, std::uint64_t message_id) {
  transfer_requested_ = false;
  const bool ours =
      job_ && offer.job() == job_->job() && offer.layer_map_hash() == job_->layer_map_hash() &&
      offer.content() == wire::Content::model && (!offer.codec() || offer.codec()->size() == 0);
  const std::uint64_t model_bytes = ours ? job_->values() * sizeof(float) : 0;
  if (!ours || offer.bytes() < model_bytes ||
      offer.bytes() > model_bytes + rule_->state_bytes_max()) {
    return refuse_message(message_id, wire::RefusalCode::mismatch,
                          corrupt("offered model", "the job's, in plain float32", "another"));
  }
  if (download_ && download_->offer())
    answer(download_->message_id());  // it is not wanted any more
  const bool goes_on = download_ && download_->hash() == offer.hash() &&
                       download_->bytes() == offer.bytes() &&
                       offer.from() <= download_->received_from_start();
  if (!goes_on) download_ = std::make_unique<ModelDownload>(offer.hash(), offer.bytes());
  if (!goes_on && offer.from() > 0) {
    refuse_message(message_id, wire::RefusalCode::mismatch,
                   corrupt("offered model", "its first bytes as well", "the rest of it"));
    return request_transfer(wire::TransferReason::lost);
  }
  talk_->answer_later(message_id);
  download_->offered(now_, message_id, offer);
  if (download_->complete()) finish_download();
}

void Agent::Impl::receive_part(const wire::TransferPart& part, ByteSpan payload) {
  if (!download_ || !download_->offer() || part.transfer() != download_->offer()->transfer) return;
  const Result<std::uint64_t> taken = download_->take(now_, part, payload);
  if (!taken.ok()) return refuse_frame("mismatch", taken.status().text());
  if (download_->complete()) return finish_download();
  store_download();
}

void Agent::Impl::ask_for_download() {
  if (!download_ || !talk_ || now_ < download_->ask_at_ns()) return;
  talk_->send(now_, frame_with(download_->ask(now_)), out_);
}

// Keeps what has arrived, so that a restart need not fetch it again.
void Agent::Impl::store_download() {
  std::optional<DownloadRecord> record = download_->next_to_store(now_, job_->job());
  if (!record) return;
  store_.push(std::move(*record), [this, hash = download_->hash()] {
    if (!download_ || download_->hash() != hash) return;
    download_->stored();
    store_download();
  });
}

// Undecided rounds up to the offered model are told in the offer. The ones behind it stay open.
Status Agent::Impl::settle_by(const wire::TransferOfferT& offer) {
  std::vector<RoundKey> open;
  for (const UndecidedRound& round : residual_.undecided()) {
    if (round.id.round <= offer.model_version) open.push_back(round.id);
  }
  std::ranges::sort(open);
  std::map<std::uint64_t, const wire::SettlementT*> told;
  for (const RoundKey& key : open) {
    for (const auto& settlement : offer.settled) {
      if (settlement->id->round() != key.round) continue;
      const wire::SettlementT*& best = told[key.round];
      if (!best || key_of(*settlement->id) == key) best = settlement.get();
    }
    if (told[key.round]) continue;
    return Status(StatusCode::not_found, {.what = "what became of " + text(key),
                                          .expected = "the offer to say it",
                                          .got = "nothing",
                                          .remedy = "say Hello again, with what is undecided"});
  }
  for (const auto& [round, settlement] : told) {
    residual_.settle(key_of(*settlement->id),
                     settlement->committed
                         ? Bitmap(settlement->contributed_bits, settlement->buckets)
                         : Bitmap(settlement->buckets));
  }
  return {};
}

Status Agent::Impl::take_model(const ModelDownload& download) {
  const wire::TransferOfferT& offer = *download.offer();
  const ByteSpan bytes = download.content();
  if (hash64(bytes) != offer.hash)
    return corrupt("transferred bytes", "the offer's hash", "another");
  const std::uint64_t model_bytes = job_->values() * sizeof(float);
  auto model = std::make_shared<FloatVector>(job_->values());
  if (model_bytes > 0) std::memcpy(model->data(), bytes.data(), model_bytes);
  if (model_hash_of(*model) != offer.model_hash) {
    return corrupt("transferred model", "the offer's model hash", "another");
  }
  TRIBUTARY_TRY(settle_by(offer));
  TRIBUTARY_ASSIGN(std::unique_ptr<ModelRule> rule, make_model_rule(job_->wire()));
  TRIBUTARY_TRY(rule->restore(bytes.subspan(model_bytes)));
  rule_ = std::move(rule);
  model_ = std::move(model);
  model_hash_ = offer.model_hash;
  version_ = offer.model_version;
  residual_.belongs_to(version_);
  return {};
}

void Agent::Impl::finish_download() {
  const std::unique_ptr<const ModelDownload> download = std::move(download_);
  if (Status status = take_model(*download); !status.ok()) {
    refuse_message(download->message_id(), wire::RefusalCode::mismatch, status);
    if (status.code() == StatusCode::not_found) {
      hang_up("undecided", 0);
    } else {
      request_transfer(wire::TransferReason::lost);
    }
    return;
  }
  if (round_ && round_->key().round <= version_) drop_round();
  if (commit_ && commit_->model_version <= version_) commit_.reset();
  encoders_.clear();
  store_.push(replica_record(), [this, id = download->message_id(), session = talk_->session()] {
    if (talk_ && talk_->session() == session) answer(id);
  });
  try_commit();
}

}  // namespace tributary
