// The rules of exchange.fbs and transfer.fbs.
#include <fmt/format.h>

#include "schemas/checks.h"
#include "schemas/limits.h"

namespace tributary::wire {
namespace {

Status check_part_fields(const Part& part) {
  TRIBUTARY_TRY(round_id(part.id()));
  TRIBUTARY_TRY(below("bucket", part.bucket(), kBucketsMax));
  TRIBUTARY_TRY(below("stage", part.stage(), kStagesMax));
  TRIBUTARY_TRY(in_range("segments", part.segments(), 1, kSegmentsMax));
  TRIBUTARY_TRY(below("segment", part.segment(), part.segments()));
  TRIBUTARY_TRY(at_most("stage_bytes", part.stage_bytes(), kStageBytesMax));
  TRIBUTARY_TRY(at_most("payload_bytes", part.payload_bytes(), kPayloadBytesMax));
  // Both numbers are below their caps, so the sum cannot overflow.
  TRIBUTARY_TRY(at_most("offset", part.offset(), part.stage_bytes()));
  const std::uint64_t end = part.offset() + part.payload_bytes();
  TRIBUTARY_TRY(at_most("end of the part", end, part.stage_bytes()));
  // An empty part is only valid for an empty payload; otherwise parts could be sent without
  // progress.
  if (part.payload_bytes() > 0 || part.stage_bytes() == 0) return {};
  return broken("payload_bytes", "some, of a payload that is not empty", "0");
}

Status check_part(const Part* part) {
  TRIBUTARY_TRY(given("part", part));
  return check_part_fields(*part).at("part");
}

// Checks the set of contributors of a payload. Only the receiver knows the number of members.
Status check_contributors(std::uint32_t contributors,
                          const flatbuffers::Vector<std::uint8_t>* bits) {
  TRIBUTARY_TRY(in_range("contributors", contributors, 1, kMembersMax));
  if (size_of(bits) == 0) return {};
  TRIBUTARY_TRY(at_most("contributor_bits", bits, kMembersMax / 8));
  return equal("bits set in contributor_bits", bits_set(*bits), contributors);
}

// The commit states the number of agents, so a bitmap must have exactly as many bits.
Status check_contributor_set(const ContributorSet& set, std::uint32_t agents) {
  TRIBUTARY_TRY(bitmap("bits", set.bits(), agents));
  TRIBUTARY_TRY(in_range("contributors", set.contributors(), 1, agents));
  TRIBUTARY_TRY(equal("bits set", bits_set(*set.bits()), set.contributors()));
  return positive("divisor", set.divisor());
}

Status check_round_outcome(const RoundOutcome& round, std::uint32_t agents) {
  TRIBUTARY_TRY(given("round", round.round()));
  TRIBUTARY_TRY(
      each("contributor_sets", round.contributor_sets(), kContributorSetsMax,
           [&](const ContributorSet& set) { return check_contributor_set(set, agents); }));
  return each("outcomes", round.outcomes(), kOutcomesMax, [&](const Outcome& outcome) {
    TRIBUTARY_TRY(below("bucket", outcome.bucket(), kBucketsMax));
    TRIBUTARY_TRY(given("collective", outcome.collective()));
    return below("contributor_set", outcome.contributor_set(), size_of(round.contributor_sets()));
  });
}

Status check_gain(const GainCurve& gain) {
  TRIBUTARY_TRY(at_most("gain.ratios", gain.ratios(), kListItemsMax));
  return equal("gain.gains", size_of(gain.gains()), size_of(gain.ratios()));
}

Status check_trial(const Trial& trial) {
  TRIBUTARY_TRY(given("codec", trial.codec()));
  TRIBUTARY_TRY(given("round", trial.round()));
  TRIBUTARY_TRY(fraction("gain", trial.gain()));
  TRIBUTARY_TRY(in_range("values", trial.values(), 1, kModelValuesMax));
  TRIBUTARY_TRY(at_most("bytes", trial.bytes(), kStageBytesMax));
  TRIBUTARY_TRY(not_negative("encode_s", trial.encode_s()));
  return not_negative("decode_s", trial.decode_s());
}

Status check_ready(const flatbuffers::Vector<float>* ready_s) {
  TRIBUTARY_TRY(at_most("ready_s", ready_s, kListItemsMax));
  for (flatbuffers::uoffset_t i = 0; i < size_of(ready_s); ++i) {
    TRIBUTARY_TRY(not_negative("ready_s", static_cast<double>(ready_s->Get(i))));
  }
  return {};
}

Status check_mechanisms(const Mechanisms& mechanisms) {
  TRIBUTARY_TRY(not_negative("mantissa_bits_dropped", mechanisms.mantissa_bits_dropped()));
  const auto check_tally = [](const Tally& tally) { return given("of", tally.of()); };
  TRIBUTARY_TRY(
      each("buckets_by_codec", mechanisms.buckets_by_codec(), kExchangesMax, check_tally));
  TRIBUTARY_TRY(
      each("millibits_by_layer", mechanisms.millibits_by_layer(), kExchangesMax, check_tally));
  return each("buckets_by_device", mechanisms.buckets_by_device(), kExchangesMax, check_tally);
}

Status check_settlement(const Settlement& settlement) {
  TRIBUTARY_TRY(round_id(settlement.id()));
  TRIBUTARY_TRY(at_most("buckets", settlement.buckets(), kBucketsMax));
  return bitmap("contributed_bits", settlement.contributed_bits(), settlement.buckets());
}

}  // namespace

Status check(const Preliminary& preliminary) {
  TRIBUTARY_TRY(check_part(preliminary.part()));
  return below("agent_index", preliminary.agent_index(), kMembersMax);
}

Status check(const Update& update) {
  TRIBUTARY_TRY(check_part(update.part()));
  TRIBUTARY_TRY(below("agent_index", update.agent_index(), kMembersMax));
  TRIBUTARY_TRY(positive("weight", update.weight()));
  return check_contributors(update.contributors(), update.contributor_bits());
}

Status check(const Aggregate& aggregate) {
  TRIBUTARY_TRY(check_part(aggregate.part()));
  // -1 is the coordinator.
  if (aggregate.agent_index() < -1) {
    return broken("agent_index", "an index, or -1", fmt::format("{}", aggregate.agent_index()));
  }
  return check_contributors(aggregate.contributors(), aggregate.contributor_bits());
}

Status check(const Receipt& receipt) {
  TRIBUTARY_TRY(round_id(receipt.id()));
  TRIBUTARY_TRY(below("bucket", receipt.bucket(), kBucketsMax));
  TRIBUTARY_TRY(below("stage", receipt.stage(), kStagesMax));
  TRIBUTARY_TRY(below("segment", receipt.segment(), kSegmentsMax));
  TRIBUTARY_TRY(at_most("waiting_bytes", receipt.waiting_bytes(), kStageBytesMax));
  return at_most("received_bytes", receipt.received_bytes(), kStageBytesMax);
}

Status check(const Report& report) {
  TRIBUTARY_TRY(round_id(report.id()));
  TRIBUTARY_TRY(below("agent_index", report.agent_index(), kMembersMax));
  TRIBUTARY_TRY(each("metrics", report.metrics(), kListItemsMax));
  TRIBUTARY_TRY(not_negative("compute_s", report.compute_s()));
  TRIBUTARY_TRY(not_negative("encode_s", report.encode_s()));
  TRIBUTARY_TRY(not_negative("wait_s", report.wait_s()));
  TRIBUTARY_TRY(not_negative("decode_s", report.decode_s()));
  TRIBUTARY_TRY(not_negative("exchange_s", report.exchange_s()));
  TRIBUTARY_TRY(not_negative("update_norm", report.update_norm()));
  TRIBUTARY_TRY(not_negative("residual_norm", report.residual_norm()));
  TRIBUTARY_TRY(each("trials", report.trials(), kTrialsMax, check_trial));
  if (report.mechanisms()) {
    TRIBUTARY_TRY(check_mechanisms(*report.mechanisms()).at("mechanisms"));
  }
  if (report.rate_gain()) TRIBUTARY_TRY(check_gain(*report.rate_gain()).at("rate_gain"));
  TRIBUTARY_TRY(check_ready(report.ready_s()));
  if (report.sums_check()) {
    TRIBUTARY_TRY(check(*report.sums_check()).at("sums_check"));
  }
  return report.gain() ? check_gain(*report.gain()) : Status();
}

Status check(const Commit& commit) {
  TRIBUTARY_TRY(round_id(commit.id()));
  TRIBUTARY_TRY(in_range("agents", commit.agents(), 1, kMembersMax));
  TRIBUTARY_TRY(in_range("rounds", size_of(commit.rounds()), 1, kRoundsPerCommitMax));
  TRIBUTARY_TRY(equal("model_version", commit.model_version(), commit.id()->round()));
  // The rounds of a batch are consecutive and end with the commit's own round.
  std::uint64_t round = commit.id()->round() - size_of(commit.rounds());
  return each("rounds", commit.rounds(), kRoundsPerCommitMax, [&](const RoundOutcome& outcome) {
    TRIBUTARY_TRY(equal("round", outcome.round(), ++round));
    return check_round_outcome(outcome, commit.agents());
  });
}

Status check(const Applied& applied) {
  TRIBUTARY_TRY(round_id(applied.id()));
  return equal("model_version", applied.model_version(), applied.id()->round());
}

Status check(const Abort& abort) {
  TRIBUTARY_TRY(round_id(abort.id()));
  TRIBUTARY_TRY(in_range("first_round", abort.first_round(), 1, abort.id()->round()));
  return given("reason", abort.reason());
}

Status check(const TransferRequest& request) {
  TRIBUTARY_TRY(given("job", request.job()));
  TRIBUTARY_TRY(given("content", request.content()));
  TRIBUTARY_TRY(given("reason", request.reason()));
  return at_most("codecs", request.codecs(), kListItemsMax);
}

Status check(const TransferOffer& offer) {
  TRIBUTARY_TRY(given("transfer", offer.transfer()));
  TRIBUTARY_TRY(given("job", offer.job()));
  TRIBUTARY_TRY(given("content", offer.content()));
  TRIBUTARY_TRY(at_most("bytes", offer.bytes(), kTransferBytesMax));
  TRIBUTARY_TRY(in_range("part_bytes", offer.part_bytes(), 1, kPayloadBytesMax));
  // The first byte sent is at most the end, which means that nothing is sent.
  TRIBUTARY_TRY(at_most("from", offer.from(), offer.bytes()));
  return each("settled", offer.settled(), kRoundsPerCommitMax, check_settlement);
}

Status check(const TransferFetch& fetch) {
  TRIBUTARY_TRY(given("transfer", fetch.transfer()));
  return at_most("from", fetch.from(), kTransferBytesMax);
}

Status check(const TransferPart& part) {
  TRIBUTARY_TRY(given("transfer", part.transfer()));
  TRIBUTARY_TRY(at_most("offset", part.offset(), kTransferBytesMax));
  return in_range("payload_bytes", part.payload_bytes(), 1, kPayloadBytesMax);
}

}  // namespace tributary::wire
