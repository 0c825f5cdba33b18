// An agent's exchanges among peers: what it gives them and gets from them, and what it tells the
// coordinator of it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/copy_on_write.h"
#include "core/round/agent_impl.h"
#include "core/round/results_hash.h"

namespace tributary {
namespace {

// Of rounds that have not begun here: what faster members can have sent by then.
constexpr std::uint64_t kEarlyModelsMax = 4;
constexpr std::uint64_t kEarlyFixedBytes = 4u << 20;

Status unreachable(std::string what, std::string got) {
  return Status(StatusCode::unavailable, {.what = std::move(what),
                                          .expected = "a connection to every member",
                                          .got = std::move(got),
                                          .remedy = "this round goes by the coordinator"});
}

}  // namespace

void Agent::Impl::open_peers(const wire::Membership& membership) {
  if (membership.peer_session() == 0 || !membership.members()) return close_peers();
  peers_ = PeerGroup(membership.epoch(), membership.peer_session());
  OpenPeers open{
      .session = membership.peer_session(), .member = membership.agent_index(), .members = {}};
  for (const wire::Member* member : *membership.members()) {
    OpenPeers::Member& one = open.members.emplace_back();
    if (member->agent_id()) one.agent_id = member->agent_id()->str();
    if (const auto* key = member->public_key()) one.public_key.assign(key->begin(), key->end());
    if (member->endpoints() && member->endpoints()->size() > 0) {
      one.endpoint = member->endpoints()->Get(0)->address()->str();
    }
  }
  out_.emplace_back(std::move(open));
}

void Agent::Impl::close_peers() {
  if (peers_.session() != 0) out_.emplace_back(ClosePeers{});
  peers_ = {};
  peer_shelf_.clear();
}

// --- the exchange ------------------------------------------------------------------------------

std::uint32_t Agent::Impl::first_bucket() const {
  return round_->exchange * round_->plan().buckets_each();
}

bool Agent::Impl::exchanging() const { return round_ && round_->peers && !round_->withdrawn; }

Result<std::unique_ptr<PeerRound>> Agent::Impl::make_exchange() {
  const RoundPlan& plan = round_->plan();
  if (!peers_.of(plan.key().epoch)) return unreachable("peers of the epoch", "none");
  for (const auto& [member, why] : peers_.lost()) {
    if (plan.rank(member)) return unreachable(fmt::format("member {}", member), why);
  }
  TRIBUTARY_ASSIGN(const Routes routes, Routes::make(plan.collective(), plan.agents()));
  PeerInputs inputs;
  for (const PlannedBucket& bucket : plan.buckets_of(round_->exchange)) {
    inputs.buckets.push_back({.codec = bucket.codec.get(),
                              .encoder = &encoders_.get(bucket, plan.key().epoch),
                              .input = input_of(bucket),
                              .round = plan.context(bucket, *round_->rank())});
  }
  inputs.held = {residual_.shared(), update_};
  if (round_->ahead) inputs.held = {round_->ahead->input};
  return std::make_unique<PeerRound>(plan, routes, *round_->rank(), peers_.session(),
                                     std::move(inputs), peer_shelf_.of(plan), config_.execution);
}

void Agent::Impl::begin_exchange() {
  round_->residual_stored = false;
  Result<std::unique_ptr<PeerRound>> made = make_exchange();
  if (!made.ok()) return withdraw(wire::AbortReason::collective_failed, made.status());
  round_->peers = std::move(*made);
  for (PeerGroup::Early& early : peers_.take_early()) {
    take_piece(early.from, early.frame, std::move(early.payload));
  }
}

// One bucket at a time: others' payloads, and what is to be sent of this one, come in between.
void Agent::Impl::continue_exchange() {
  if (!exchanging() || round_->peers->all_begun()) return;
  PeerRound& peers = *round_->peers;
  const std::uint32_t bucket = first_bucket() + peers.begun();
  round_->work()[bucket].encoded = 1;
  PeerSends sends;
  const TimeNs began_at = config_.stopwatch ? config_.stopwatch() : 0;
  const Status status = peers.begin_next(sends);
  if (config_.stopwatch) round_->encode_ns += config_.stopwatch() - began_at;
  if (!status.ok()) return withdraw(wire::AbortReason::collective_failed, status);
  pass_on(sends);
  take_results(bucket);
}

void Agent::Impl::pass_on(PeerSends& sends) {
  for (PeerSend& send : sends) {
    const PeerRound& peers = *round_->peers;
    const bool last_stage = peers.exchange().is_last_stage(send.piece);
    send.piece.bucket += first_bucket();
    Result<Bytes> frame = piece_frame(peers.id(), send.piece, last_stage, send.payload.view());
    if (!frame.ok()) return withdraw(wire::AbortReason::collective_failed, frame.status());
    round_->bytes_up += send.payload.size();
    out_.emplace_back(SendToPeer{.member = round_->plan().member(send.to),
                                 .frame = std::move(*frame),
                                 .payload = std::move(send.payload)});
  }
}

void Agent::Impl::on(const PeerFrameReceived& event) {
  if (event.session != peers_.session()) return;  // of an epoch that is over
  take_piece(event.from, event.frame, event.payload);
}

void Agent::Impl::take_piece(std::uint32_t from, ByteSpan frame, SharedSlice payload) {
  if (!exchanging()) return keep_piece(from, frame, std::move(payload));
  const std::optional<std::uint32_t> rank = round_->plan().rank(from);
  Result<Piece> piece = read_piece(round_->peers->id(), rank.value_or(0), frame, payload.view());
  const std::uint32_t end = first_bucket() + round_->plan().buckets_each();
  const bool early = piece.ok() ? piece->bucket >= end && piece->bucket < round_->work().size()
                                : piece.status().code() == StatusCode::unavailable;
  const bool late =
      piece.ok() ? piece->bucket < first_bucket() : piece.status().code() == StatusCode::cancelled;
  if (late) return;
  if (early) return keep_piece(from, frame, std::move(payload));
  const std::uint32_t bucket = piece.ok() ? piece->bucket : 0;
  Status status = piece.ok() ? Status() : piece.status();
  if (status.ok() && !rank) status = unreachable("a piece", "one of a member without a part in it");
  PeerSends sends;
  const std::size_t bytes = payload.size();
  if (status.ok()) {
    piece->bucket -= first_bucket();
    status = round_->peers->exchange().receive(*rank, *piece, std::move(payload), sends);
  }
  if (!status.ok()) {
    return withdraw(wire::AbortReason::collective_failed,
                    std::move(status).at(fmt::format("member {}", from)));
  }
  round_->bytes_down += bytes;
  pass_on(sends);
  take_results(bucket);
}

// Of a round that is still to begin here, or of one that is over: that is told apart when the next
// one begins.
void Agent::Impl::keep_piece(std::uint32_t from, ByteSpan frame, SharedSlice payload) {
  const std::uint64_t bytes_max =
      kEarlyFixedBytes + kEarlyModelsMax * sizeof(float) * (job_ ? job_->values() : 0);
  if (peers_.keep(from, frame, std::move(payload), bytes_max)) return;
  peers_.take_early();
  peers_.lost(from, "it sends more than can wait here");
  note(LogLevel::warning, "peer_ahead", "resource_exhausted",
       fmt::format("more than {} bytes of members that are ahead", bytes_max));
}

void Agent::Impl::on(const PeerLost& event) {
  if (event.session != peers_.session()) return;
  peers_.lost(event.member, event.why.text());
  // Whoever has everything may go before the others have.
  const bool matters =
      exchanging() && !round_->peers->over() && round_->plan().rank(event.member).has_value();
  note(matters ? LogLevel::warning : LogLevel::info, "peer_lost", name(event.why.code()),
       event.why.text());
  if (!matters) return;
  withdraw(wire::AbortReason::collective_failed,
           unreachable(fmt::format("member {}", event.member), event.why.text()));
}

// --- what it comes to --------------------------------------------------------------------------

void Agent::Impl::take_results(std::uint32_t number) {
  if (!exchanging()) return;
  const PlannedBucket& bucket = round_->plan().buckets()[number];
  if (!round_->peers->news(bucket.place)) return;
  BucketWork& work = round_->work()[number];
  work.combined = round_->peers->combined(bucket);
  work.encoded = bucket.stages();
  work.contributed = true;
  if (round_->plan().uploader(number) == *round_->member()) {
    for (std::uint32_t stage = 0; stage < bucket.stages(); ++stage) {
      round_->outgoing.add(number, stage, work.combined[stage]);
    }
  }
  if (round_->peers->over()) finish_exchange();
}

// What is left of this exchange, by bucket, if it counts.
Result<std::vector<ContributionPart>> Agent::Impl::left_over_parts() {
  std::vector<ContributionPart> parts;
  for (const PlannedBucket& bucket : round_->plan().buckets_of(round_->exchange)) {
    if (!bucket.keeps_residual()) continue;
    ContributionPart part{.bucket = bucket.index,
                          .first_value = bucket.first_value,
                          .values = bucket.values,
                          .if_committed = nullptr};
    if (bucket.keeps_error()) {
      auto left = std::make_shared<FloatVector>(bucket.values);
      TRIBUTARY_TRY(round_->peers->exchange().left_over(bucket.place, *left));
      part.if_committed = std::move(left);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

void Agent::Impl::finish_exchange() {
  Result<std::vector<ContributionPart>> parts = left_over_parts();
  Status status = parts.ok() ? Status() : parts.status();
  round_->peers.reset();  // lets go of its inputs
  if (status.ok() && round_->plan().exchanges() > 1) status = go_ahead();
  if (!status.ok()) return withdraw(wire::AbortReason::collective_failed, status);
  if (round_->exchange + 1 == round_->plan().exchanges()) return prepare(std::move(*parts));

  auto input = std::make_shared<FloatVector>(job_->values(), 0.0f);
  for (const ContributionPart& part : *parts) {
    if (!part.if_committed) continue;
    std::ranges::copy(*part.if_committed,
                      input->begin() + static_cast<std::ptrdiff_t>(part.first_value));
  }
  round_->ahead->input = std::move(input);
  ++round_->exchange;
  train();
}

// Applies what the exchange came to, beside the model of the last commit, to which the agent goes
// back if the round comes to nothing.
Status Agent::Impl::go_ahead() {
  const RoundPlan& plan = round_->plan();
  if (!round_->ahead) {
    round_->ahead = std::make_unique<AheadOfCommit>();
    round_->ahead->model = model_;
    TRIBUTARY_ASSIGN(round_->ahead->rule, make_model_rule(job_->wire()));
    TRIBUTARY_TRY(round_->ahead->rule->restore(*rule_->save()));
  }
  const TimeNs began_at = config_.stopwatch ? config_.stopwatch() : 0;
  AheadOfCommit& ahead = *round_->ahead;
  const bool last = round_->exchange + 1 == plan.exchanges();
  FloatVector& model = own(ahead.model);
  ahead.rule->begin(plan.key().round);
  for (const PlannedBucket& bucket : plan.buckets_of(round_->exchange)) {
    const std::vector<ByteSpan> combined = round_->work()[bucket.index].spans(bucket.stages());
    const CommittedBucket counted{.bucket = bucket.index,
                                  .divisor = plan.divisor_of_all(),
                                  .contributors = plan.agents(),
                                  .combined = combined};
    TRIBUTARY_TRY(decode_bucket(plan, counted, config_.execution, scratch_));
    ahead.rule->apply(rule_step(plan, counted, scratch_), model);
    if (!last) encoders_.get(bucket, plan.key().epoch).settle(combined, true);
  }
  if (config_.stopwatch) round_->decode_ns += config_.stopwatch() - began_at;
  return {};
}

// The first phase of the commit: once what this agent would leave behind is stored, it says what
// the exchanges came to.
void Agent::Impl::prepare(std::vector<ContributionPart> parts) {
  const RoundKey id = round_->key();
  ResultsHash hash;
  for (const BucketWork& work : round_->work()) hash.add(work.combined);
  round_->results_hash = hash.finish();
  for (const ContributionPart& part : parts) residual_.open(id, *round_->member(), part);
  store_.push(ContributionRecord{.id = id,
                                 .agent_index = *round_->member(),
                                 .residual = residual_.shared(),
                                 .residual_stamp = residual_.stamp(),
                                 .parts = std::move(parts)},
              [this, id] {
                if (!round_ || round_->key() != id) return;
                round_->prepared = true;
                report();
              });
}

// The others wait for what it has to say, and a session that has ended may have taken it along.
void Agent::Impl::say_again_of_exchange() {
  if (std::exchange(round_->reported, false)) report();
  if (!round_->withdrawn) return;
  withdraw(wire::AbortReason::collective_failed,
           unreachable("exchange", "one that failed while the coordinator could not be told"));
}

}  // namespace tributary
