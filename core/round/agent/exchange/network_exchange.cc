#include "core/round/agent/exchange/network_exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/collective/in_network/linear_check.h"
#include "core/round/common/plan/results_hash.h"

namespace tributary {

void NetworkExchange::begin(AgentRound& round) {
  end();
  round_ = &round;
  deadline_ns_ = context_.now + round.plan().wire().deadline_ms * kNsPerMs;
}

void NetworkExchange::end() {
  stop();
  round_ = nullptr;
  next_ = 0;
  check_ = {};
}

// Without an unfinished exchange the host has nothing to stop.
void NetworkExchange::stop() {
  const bool any =
      std::ranges::any_of(sending_, [](const auto& item) { return item.second.passed_on; });
  sending_.clear();
  if (any) context_.out.add(StopSums{.id = round_->key()});
}

void NetworkExchange::add(Outgoing::Payload payload) {
  if (round_->withdrawn()) return;
  sending_[payload.bucket] = {.payload = std::move(payload.bytes)};
  pass_on();
}

// A bucket may be encoded before an earlier one, because the stages before the last close in any
// order. The aggregator's slots require the same order at all agents.
void NetworkExchange::pass_on() {
  const RoundPlan& plan = round_->plan();
  for (; next_ < plan.buckets().size(); ++next_) {
    if (!plan.buckets()[next_].network) continue;
    const auto found = sending_.find(next_);
    if (found == sending_.end()) return;
    const SharedBytes& payload = found->second.payload;
    const ByteSpan levels = thc::network_levels(*payload);
    const wire::SumsInNetworkT& sums = plan.sums();
    round_->cost().bytes_up += levels.size();
    context_.out.add(SumInNetwork{.id = plan.key(),
                                  .bucket = next_,
                                  .aggregator = plan.aggregator(),
                                  .handle = sums.handle,
                                  .epoch = sums.epoch,
                                  .slot_count = sums.slot_count,
                                  .agent = static_cast<std::uint8_t>(*round_->rank()),
                                  .agents = static_cast<std::uint8_t>(sums.agents),
                                  .table = sums.table,
                                  .wide = sums.wide,
                                  .packet_values = sums.packet_values,
                                  .levels = SharedSlice(payload, levels),
                                  .deadline_ns = deadline_ns_});
    found->second.passed_on = true;
  }
}

void NetworkExchange::take(const NetworkSummed& event) {
  if (!round_ || round_->key() != event.id || round_->withdrawn()) return;
  const auto found = sending_.find(event.bucket);
  if (found == sending_.end() || !found->second.passed_on) return;
  round_->mechanisms().packets_sent += event.packets;
  round_->mechanisms().packets_repeated += event.repeats;
  if (!event.status.ok()) return withdraw(event.status);
  const PlannedBucket& bucket = round_->plan().buckets()[event.bucket];
  const SharedBytes own = std::move(found->second.payload);
  sending_.erase(found);
  Result<Bytes> result = thc::network_result(context_.config.execution, *own, *event.sums,
                                             round_->plan().agents(), *bucket.network);
  if (!result.ok()) return withdraw(result.status());
  const in_network::BucketCheck check(round_->plan().sums().check_secret, event.bucket);
  check_.sent = in_network::linear_plus(
      check_.sent, check.of_levels(thc::network_levels(*own), bucket.network->places));
  check_.got =
      in_network::linear_plus(check_.got, check.of_sums(*event.sums, bucket.network->wide));
  round_->cost().bytes_down += event.sums->size();
  ++round_->mechanisms().buckets_in_network;
  BucketWork& work = round_->work()[event.bucket];
  work.combined.push_back(std::make_shared<const Bytes>(std::move(*result)));
  parts_.upload.add_result(event.bucket, bucket.last_stage(), work.combined.back());
  if (complete()) summed_();
}

void NetworkExchange::withdraw(Status status) {
  stop();
  parts_.withdrawal.withdraw(*round_, wire::AbortReason::collective_failed,
                             std::move(status).at("sums in the network"));
}

bool NetworkExchange::complete() const {
  return std::ranges::all_of(round_->plan().buckets(), [this](const PlannedBucket& bucket) {
    return round_->work()[bucket.index].combined.size() == bucket.stages();
  });
}

std::uint64_t NetworkExchange::results_hash() const {
  ResultsHash hash;
  for (const BucketWork& work : round_->work()) hash.add(work.combined);
  return hash.finish();
}

}  // namespace tributary
