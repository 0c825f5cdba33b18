// What comes back of a round: aggregates, the commit, and the model after it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/checksum.h"
#include "core/base/copy_on_write.h"
#include "core/round/agent_impl.h"

namespace tributary {
namespace {

// Without a part of any aggregate for so long, an agent asks for what it lacks.
constexpr TimeNs kAskAfterAckTimeouts = 8;
// 30 s, where an acknowledgement may take 250 ms.
constexpr TimeNs kCommitOverdueAckTimeouts = 120;
constexpr TimeNs kAskWaitMaxNs = 30'000 * kNsPerMs;

RoundKey key_of(const wire::CommitT& commit) { return tributary::key_of(*commit.id); }

}  // namespace

void Agent::Impl::receive_aggregate(const wire::Aggregate& aggregate, ByteSpan payload) {
  commit_waits_since_ns_ = now_;
  const RoundKey key = tributary::key_of(*aggregate.part()->id());
  if (const auto next = next_rounds_.find(key); next != next_rounds_.end()) {
    next->second->bytes_down += payload.size();
    const Status status = next->second->take(*aggregate.part(), payload).status();
    return status.ok() ? void() : refuse_frame(name(status.code()), status.text());
  }
  if (!round_ || round_->key() != key) {
    // Of a round that is over here, or that has not begun: what is lacking later is asked for.
    return note(LogLevel::debug, "payload_late", "wrong_epoch", text(key));
  }
  round_->bytes_down += payload.size();
  const std::uint32_t bucket = aggregate.part()->bucket();
  const Result<bool> whole = round_->take(*aggregate.part(), payload);
  if (!whole.ok()) return refuse_frame(name(whole.status().code()), whole.status().text());
  aggregate_is_coming();
  if (!*whole) return;
  const auto closed = static_cast<std::uint32_t>(round_->work()[bucket].combined.size());
  round_->outgoing.cancel(bucket, closed - 1, upload());
  const bool encodes = has_input(round_->plan().buckets()[bucket]) && !round_->plan().by_peers();
  if (encodes && !round_->withdrawn) {
    encode(bucket);
    save_contributions();
    report();
  }
  if (commit_) try_commit();
}

// As long as something comes, what is missing is on its way: it is not asked for.
void Agent::Impl::aggregate_is_coming() {
  if (round_->ask_at_ns == kNever || !talk_) return;
  round_->ask_at_ns =
      now_ + std::max(round_->ask_wait_ns, kAskAfterAckTimeouts * talk_->times().ack_timeout_ns);
}

void Agent::Impl::receive_commit(const wire::Commit& commit) {
  if (!job_ || commit.id()->job() != job_->job() || !model_) return;
  if (commit.rounds()->size() != 1) return refuse_frame("unsupported", "a batch of rounds");
  if (commit.model_version() <= version_) {
    if (commit.model_version() == version_ && store_.empty()) {
      send_applied(tributary::key_of(*commit.id()), model_hash_);
    }
    return;
  }
  if (commit.model_version() != version_ + 1) {
    return refuse_frame("mismatch", "a commit of a round that is too far ahead");
  }
  if (!commit_) commit_waits_since_ns_ = now_;
  commit_ = std::make_unique<wire::CommitT>();
  commit.UnPackTo(commit_.get());
  try_commit();
}

// Applies the commit if its plan and all of its aggregates are here, and asks for what is not.
void Agent::Impl::try_commit() {
  if (!commit_ || !round_ || round_->key() != key_of(*commit_) || transfer_requested_) return;
  if (commit_->model_version != version_ + 1) return commit_.reset();
  const wire::RoundOutcomeT& outcome = *commit_->rounds[0];
  if (has_everything(outcome)) return apply_commit(outcome);
  if (!talk_ || std::exchange(round_->asks_by_commit, true)) return;
  // A commit overtakes aggregates. To those that took part they are on their way.
  const bool some = round_->member().has_value() || round_->bytes() > 0;
  round_->ask_wait_ns = kAskAfterAckTimeouts * talk_->times().ack_timeout_ns;
  round_->ask_at_ns = some ? now_ + round_->ask_wait_ns : now_;
}

// A commit whose plan or payloads do not come any more is replaced by the model after it.
TimeNs Agent::Impl::commit_overdue_ns() const {
  if (!commit_ || !talk_ || transfer_requested_ || (download_ && download_->offer())) return kNever;
  return commit_waits_since_ns_ + kCommitOverdueAckTimeouts * talk_->times().ack_timeout_ns;
}

void Agent::Impl::replace_overdue_commit() {
  if (now_ < commit_overdue_ns()) return;
  commit_waits_since_ns_ = now_;
  note(LogLevel::warning, "commit_overdue", "behind", "what belongs to it does not come");
  request_transfer(wire::TransferReason::behind);
}

bool Agent::Impl::has_everything(const wire::RoundOutcomeT& outcome) {
  bool all = true;
  for (const auto& one : outcome.outcomes) {
    if (one->bucket >= round_->work().size()) return false;
    BucketWork& work = round_->work()[one->bucket];
    if (work.combined.size() < round_->plan().buckets()[one->bucket].stages()) {
      all = false;
    } else if (hash64(*work.combined.back()) != one->result_hash) {
      refuse_frame("mismatch", "an aggregate that is not the commit's");
      work.combined.clear();
      all = false;
    }
  }
  return all;
}

void Agent::Impl::ask_for_missing() {
  if (!round_ || !talk_ || now_ < round_->ask_at_ns) return;
  constexpr std::size_t kAskedMax = 64;
  std::size_t asked = 0;
  const bool decided = commit_ && round_->key() == key_of(*commit_);
  for (std::uint32_t bucket = 0; bucket < round_->work().size() && asked < kAskedMax; ++bucket) {
    const bool counts =
        !decided || std::ranges::any_of(commit_->rounds[0]->outcomes, [&](const auto& outcome) {
          return outcome->bucket == bucket;
        });
    if (!counts) continue;
    if (std::optional<wire::ReceiptT> missing = round_->missing(bucket)) {
      talk_->send(now_, frame_with(std::move(*missing)), out_);
      ++asked;
    }
  }
  round_->ask_wait_ns =
      std::max(round_->ask_wait_ns, kAskAfterAckTimeouts * talk_->times().ack_timeout_ns);
  round_->ask_at_ns = now_ + round_->ask_wait_ns;
  round_->ask_wait_ns = 2 * std::min(round_->ask_wait_ns, kAskWaitMaxNs / 2);
}

// --- commit ------------------------------------------------------------------------------------

// The buckets in which this agent counts.
Bitmap Agent::Impl::contributed(const wire::RoundOutcomeT& outcome) const {
  Bitmap counted(round_->work().size());
  const UndecidedRound* mine = residual_.find(round_->key());
  std::optional<std::uint32_t> member = round_->member();
  if (mine) member = mine->agent_index;
  if (!member) return counted;
  for (const auto& one : outcome.outcomes) {
    const wire::ContributorSetT& set = *outcome.contributor_sets[one->contributor_set];
    if (Bitmap(set.bits, commit_->agents).test(*member)) counted.set(one->bucket);
  }
  return counted;
}

// Those who only follow remember the same as those who took part.
void Agent::Impl::settle_encoders(const wire::RoundOutcomeT& outcome, const Bitmap& counted) {
  std::vector<ByteSpan> none;
  // What came of exchanges before the last it knew when it went on.
  const std::uint32_t first = first_bucket();
  for (const PlannedBucket& bucket : std::span(round_->plan().buckets()).subspan(first)) {
    const bool committed = std::ranges::any_of(
        outcome.outcomes, [&](const auto& one) { return one->bucket == bucket.index; });
    const BucketWork& work = round_->work()[bucket.index];
    encoders_.get(bucket, round_->key().epoch)
        .settle(committed ? work.spans(bucket.stages()) : none,
                committed && counted.test(bucket.index));
  }
}

Status Agent::Impl::apply_outcome(const wire::RoundOutcomeT& outcome, FloatVector& model) {
  std::vector<CommittedBucket> buckets;
  for (const auto& one : outcome.outcomes) {
    const wire::ContributorSetT& set = *outcome.contributor_sets[one->contributor_set];
    const std::uint32_t stages = round_->plan().buckets()[one->bucket].stages();
    buckets.push_back({.bucket = one->bucket,
                       .divisor = set.divisor,
                       .contributors = set.contributors,
                       .combined = round_->work()[one->bucket].spans(stages)});
  }
  return apply_round(round_->plan(), buckets, config_.execution, *rule_, scratch_, model);
}

void Agent::Impl::apply_commit(const wire::RoundOutcomeT& outcome) {
  Status status;
  if (commit_->previous_hash == model_hash_ && round_->prepared && round_->ahead) {
    model_ = round_->ahead->model;  // it is there already
    rule_ = std::move(round_->ahead->rule);
  } else if (commit_->previous_hash == model_hash_) {
    const TimeNs began_at = config_.stopwatch ? config_.stopwatch() : 0;
    status = apply_outcome(outcome, own(model_));
    if (config_.stopwatch) round_->decode_ns += config_.stopwatch() - began_at;
  } else {
    status =
        Status(StatusCode::mismatch, {.what = "model before the commit",
                                      .expected = fmt::format("{:016x}", commit_->previous_hash),
                                      .got = fmt::format("{:016x}", model_hash_),
                                      .remedy = {}});
  }
  const std::uint64_t hash = model_hash_of(*model_);
  if (!status.ok() || hash != commit_->model_hash) {
    note(LogLevel::error, "replica_diverged", "mismatch",
         status.ok() ? "the model after the commit is another" : status.text());
    lose_model();
    return request_transfer(wire::TransferReason::diverged);
  }
  const Bitmap counted = contributed(outcome);
  settle_encoders(outcome, counted);
  residual_.settle(round_->key(), counted);
  committed(hash);
}

// It is neither that of its version nor that of the next: what is in memory of it is of no use.
void Agent::Impl::lose_model() {
  model_.reset();
  commit_.reset();
}

void Agent::Impl::committed(std::uint64_t hash) {
  const RoundKey id = round_->key();
  const TimeNs waited = round_->reported ? now_ - round_->reported_at_ns : 0;
  end_trials();
  report_repeats(id);
  before_.bytes_up = round_->bytes_up;
  before_.bytes_down = round_->bytes_down;
  before_.decode_s = static_cast<double>(round_->decode_ns) / 1e9;
  before_.wait_s = static_cast<double>(waited) / 1e9;
  model_hash_ = hash;
  version_ = id.round;
  residual_.belongs_to(version_);
  drop_round();
  commit_.reset();
  update_.reset();
  if (download_) download_->forget_stored();
  store_.push(replica_record(), [this, id, hash] { send_applied(id, hash); });
}

void Agent::Impl::send_applied(const RoundKey& id, std::uint64_t hash) {
  if (!talk_) return;
  talk_->ask(
      now_,
      [id, hash] {
        wire::AppliedT applied;
        applied.id = std::make_unique<wire::RoundId>(wire_id(id));
        applied.model_version = id.round;
        applied.model_hash = hash;
        return frame_with(std::move(applied));
      },
      out_);
}

}  // namespace tributary
