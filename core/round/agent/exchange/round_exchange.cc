#include "core/round/agent/exchange/round_exchange.h"

#include <fmt/format.h>

#include <utility>

#include "core/round/common/plan/results_hash.h"

namespace tributary {

void RoundExchange::begin(AgentRound& round) {
  end();
  round_ = &round;
}

// Also resets prepared_: a callback of the store that arrives later compares the round's key and
// then does nothing.
void RoundExchange::end() {
  round_ = nullptr;
  exchange_.reset();
  input_final_ = false;
  parts_.ahead.clear();
  index_ = 0;
  prepared_ = false;
  results_hash_ = 0;
}

std::uint32_t RoundExchange::first_bucket() const {
  return round_ ? index_ * round_->plan().buckets_each() : 0;
}

void RoundExchange::withdraw(const Status& status, wire::AbortReason reason) {
  parts_.withdrawal.withdraw(*round_, reason, status);
}

// The coordinator ends an exchange among peers on the first withdrawal. If the session was lost
// before that message arrived, the other members would wait until the deadline.
void RoundExchange::withdraw_again() {
  if (!round_->withdrawn()) return;
  withdraw(unreachable_peer("exchange", "an earlier failure that the coordinator did not receive"));
}

// --- an exchange -------------------------------------------------------------------------------

std::span<const float> RoundExchange::input_of(const PlannedBucket& bucket) const {
  if (bucket.exchange == 0) return parts_.updates.input_of(bucket);
  return std::span<const float>(*parts_.ahead.input()).subspan(bucket.first_value, bucket.values);
}

// Encoders and the plan outlive the exchange.
Result<std::unique_ptr<PeerRound>> RoundExchange::make() const {
  const RoundPlan& plan = round_->plan();
  TRIBUTARY_TRY(parts_.peers.check(plan));
  TRIBUTARY_ASSIGN(const Routes routes, Routes::make(plan.collective(), plan.agents()));
  const ModelRule& rule = parts_.ahead.rule();
  const SharedFloats model = parts_.ahead.model();
  PeerInputs inputs;
  for (const PlannedBucket& bucket : plan.buckets_of(index_)) {
    inputs.buckets.push_back({.codec = bucket.codec.get(),
                              .encoder = &parts_.encoders.get(bucket, plan.key().epoch),
                              .round = plan.context(bucket, *round_->rank()),
                              .facts = &round_->cost().encoding});
    ExchangeBucket& input = inputs.buckets.back();
    if (!bucket.codec->reads_optimizer()) continue;
    if (const auto view = encoder_view(plan, bucket, rule, *model)) {
      input.optimizer = &inputs.views.emplace_back(*view);
    }
  }
  if (!inputs.views.empty()) inputs.held = {model, rule.save()};
  return std::make_unique<PeerRound>(plan, routes, *round_->rank(), parts_.peers.session(),
                                     std::move(inputs), parts_.peers.cache_of(plan),
                                     context_.config.execution);
}

bool RoundExchange::make_and_take_kept() {
  Result<std::unique_ptr<PeerRound>> made = make();
  if (!made.ok()) {
    withdraw(made.status());
    return false;
  }
  exchange_ = std::move(*made);
  began_at_ns_ = context_.now;
  for (PeerGroup::Early& early : parts_.peers.take_kept()) {
    // No exchange can end here, because its own buckets have not begun.
    static_cast<void>(take(early.from, early.frame, std::move(early.payload)));
  }
  return running();
}

// The values are held from now on, so a change of them makes a copy.
void RoundExchange::start() {
  if (!exchange_ && !make_and_take_kept()) return;
  input_final_ = true;
  if (index_ > 0) {
    exchange_->hold(parts_.ahead.input());
  } else {
    for (const SharedFloats& values : parts_.updates.hold()) exchange_->hold(values);
  }
}

void RoundExchange::start_early() {
  if (!exchange_) make_and_take_kept();
}

// The next bucket whose values are final, as its place in the exchange. A backward pass ends with
// the first values of the model.
std::optional<std::uint32_t> RoundExchange::next_bucket() const {
  if (exchange_->all_begun()) return std::nullopt;
  if (input_final_) return exchange_->first_left();
  const std::uint32_t last = exchange_->last_left();
  const PlannedBucket& bucket = round_->plan().buckets_of(index_)[last];
  if (bucket.first_value < parts_.updates.residual().missing(round_->key().round)) {
    return std::nullopt;
  }
  return last;
}

RoundExchange::Next RoundExchange::advance() {
  if (!has_more_to_begin()) return Next::nothing;
  const std::uint32_t place = *next_bucket();
  const std::uint32_t bucket = first_bucket() + place;
  const PlannedBucket& planned = round_->plan().buckets()[bucket];
  round_->work()[bucket].encoded = 1;
  PeerSends sends;
  const TimeNs began_at = context_.stopwatch_ns();
  const Status status = input_final_ ? exchange_->begin(place, input_of(planned), sends)
                                     : exchange_->begin_with_copy(place, input_of(planned), sends);
  round_->cost().encode_ns += context_.stopwatch_ns() - began_at;
  if (!status.ok()) {
    const bool own_fault = status.code() == StatusCode::not_finite;
    if (own_fault) parts_.updates.mark(planned.first_value, planned.values);
    if (own_fault && !planned.codec->conserves()) parts_.encoders.drop(planned);
    withdraw(status,
             own_fault ? wire::AbortReason::not_finite : wire::AbortReason::collective_failed);
    return Next::nothing;
  }
  round_->count_encoded(planned, context_.config.execution, exchange_->by_optimizer(place));
  if (!input_final_) ++round_->mechanisms().buckets_early;
  pass_on(sends);
  return take_results(bucket);
}

void RoundExchange::pass_on(PeerSends& sends) {
  for (PeerSend& send : sends) {
    const bool last_stage = exchange_->exchange().is_last_stage(send.piece);
    send.piece.bucket += first_bucket();
    Result<Bytes> frame = piece_frame(exchange_->id(), send.piece, last_stage, send.payload.view());
    if (!frame.ok()) return withdraw(frame.status());
    round_->cost().bytes_up += send.payload.size();
    context_.out.add(SendToPeer{.member = round_->plan().member(send.to),
                                .frame = std::move(*frame),
                                .payload = std::move(send.payload)});
  }
}

// --- events of peers ---------------------------------------------------------------------------

RoundExchange::Next RoundExchange::receive(const PeerFrameReceived& event) {
  if (!parts_.peers.is_current(event.session)) return Next::nothing;
  return take(event.from, event.frame, event.payload);
}

RoundExchange::Next RoundExchange::take(std::uint32_t from, ByteSpan frame, SharedSlice payload) {
  // A message of a past round is kept as well; the next exchange drops it.
  if (!running()) {
    parts_.peers.keep(from, frame, std::move(payload));
    return Next::nothing;
  }
  const std::optional<std::uint32_t> rank = round_->plan().rank(from);
  Result<Piece> piece = read_piece(exchange_->id(), rank.value_or(0), frame, payload.view());
  const std::uint32_t end = first_bucket() + round_->plan().buckets_each();
  const bool early = piece.ok() ? piece->bucket >= end && piece->bucket < round_->work().size()
                                : piece.status().code() == StatusCode::unavailable;
  const bool late =
      piece.ok() ? piece->bucket < first_bucket() : piece.status().code() == StatusCode::cancelled;
  if (late) return Next::nothing;
  if (early) {
    parts_.peers.keep(from, frame, std::move(payload));
    return Next::nothing;
  }
  const std::uint32_t bucket = piece.ok() ? piece->bucket : 0;
  Status status = piece.ok() ? Status() : piece.status();
  if (status.ok() && !rank) {
    status = unreachable_peer("a piece", "a piece of a member that does not take part");
  }
  PeerSends sends;
  const std::size_t bytes = payload.size();
  if (status.ok()) {
    piece->bucket -= first_bucket();
    status = exchange_->exchange().receive(*rank, *piece, std::move(payload), sends);
  }
  if (!status.ok()) {
    withdraw(std::move(status).at(fmt::format("member {}", from)));
    return Next::nothing;
  }
  round_->cost().bytes_down += bytes;
  pass_on(sends);
  return take_results(bucket);
}

void RoundExchange::lost(const PeerLost& event) {
  if (!parts_.peers.is_current(event.session)) return;
  parts_.peers.lost(event.member, event.why.text());
  // A member that has all results may leave before the others have them.
  const bool matters =
      running() && !exchange_->over() && round_->plan().rank(event.member).has_value();
  context_.out.note(matters ? LogLevel::warning : LogLevel::info, "peer_lost",
                    name(event.why.code()), event.why.text());
  if (!matters) return;
  withdraw(unreachable_peer(fmt::format("member {}", event.member), event.why.text()));
}

// --- results -----------------------------------------------------------------------------------

RoundExchange::Next RoundExchange::take_results(std::uint32_t number) {
  if (!running()) return Next::nothing;
  const PlannedBucket& bucket = round_->plan().buckets()[number];
  if (!exchange_->news(bucket.place)) return Next::nothing;
  BucketWork& work = round_->work()[number];
  work.combined = exchange_->combined(bucket);
  work.encoded = bucket.stages();
  work.of_all = true;
  if (!trains_beside_upload()) upload_results(bucket);
  return exchange_->over() ? finish() : Next::nothing;
}

void RoundExchange::upload_results(const PlannedBucket& bucket) {
  const BucketWork& work = round_->work()[bucket.index];
  for (std::uint32_t stage = 0; stage < bucket.stages(); ++stage) {
    parts_.upload.add_result(bucket.index, stage, work.combined[stage]);
  }
}

// The residual of each bucket for the case that the exchange counts.
Result<std::vector<ContributionPart>> RoundExchange::left_over() const {
  // A part without `if_committed` leaves zeros, because the codec has no error or its error is not
  // kept.
  std::vector<ContributionPart> parts;
  for (const PlannedBucket& bucket : round_->plan().buckets_of(index_)) {
    if (!bucket.keeps_residual()) continue;
    ContributionPart part{.bucket = bucket.index,
                          .first_value = bucket.first_value,
                          .values = bucket.values,
                          .if_committed = nullptr};
    if (bucket.keeps_error()) {
      auto left = std::make_shared<FloatVector>(bucket.values);
      TRIBUTARY_TRY(exchange_->exchange().left_over(bucket.place, *left));
      part.if_committed = std::move(left);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// True if a training follows the exchange and needs no commit. Then the uplink is free for the
// results after the exchange, and the pieces that peers wait for do not share it with them.
bool RoundExchange::trains_beside_upload() const {
  return index_ + 1 < round_->plan().exchanges() ||
         parts_.ahead.may_train_after(round_->plan().key().round);
}

RoundExchange::Next RoundExchange::finish() {
  Result<std::vector<ContributionPart>> parts = left_over();
  Status status = parts.ok() ? Status() : parts.status();
  exchange_.reset();  // releases its inputs
  input_final_ = false;
  round_->cost().exchange_ns = context_.now - began_at_ns_;
  // Only the last exchange of a round ends in a vote. Results of earlier ones are applied to the
  // copy of the model that the agent trains on next.
  const bool last = index_ + 1 == round_->plan().exchanges();
  if (status.ok() && !last) status = parts_.ahead.finish(*round_, index_);
  if (!status.ok()) {
    withdraw(status);
    return Next::nothing;
  }
  if (trains_beside_upload()) {
    for (const PlannedBucket& bucket : round_->plan().buckets_of(index_)) upload_results(bucket);
  }
  if (last) {
    prepare(std::move(*parts));
    return Next::nothing;
  }
  parts_.ahead.leave(*parts);
  ++index_;
  return Next::trains;
}

// The first phase of the commit. The agent reports the hash of the results only after the residual
// that they would leave is stored.
void RoundExchange::prepare(std::vector<ContributionPart> parts) {
  const RoundKey id = round_->key();
  ResultsHash hash;
  for (const BucketWork& work : round_->work()) hash.add(work.combined);
  results_hash_ = hash.finish();
  ResidualAccount& residual = parts_.updates.residual();
  for (const ContributionPart& part : parts) residual.open(id, *round_->member(), part);
  context_.store.push(ContributionRecord{.id = id,
                                         .agent_index = *round_->member(),
                                         .residual = nullptr,
                                         .residual_stamp = residual.stamp(),
                                         .parts = std::move(parts),
                                         .encoded = residual.shared()},
                      [this, id] {
                        if (!round_ || round_->key() != id) return;
                        prepared_ = true;
                        on_prepared_();
                      });
}

}  // namespace tributary
